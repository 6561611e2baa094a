//! One call as a clause in the imperative: "cancel order B-1042", "list the orders of that customer".

use serde_json::{Map, Value};

use super::phrase::{Phrase, PhrasePart};
use super::templates::{Templates, ValueForms};
use super::text::Text;
use super::values::{said, said_of_list};
use crate::bindings::{Bindings, Said};
use crate::place::Position;
use crate::program::{Argument, Step};
use crate::words::{singular, things, words};

/// A step with what its clause depends on.
#[derive(Debug, Clone, Copy)]
pub struct Clause<'a> {
    /// The step.
    pub step: &'a Step,
    /// Its number.
    pub nth: usize,
    /// The doc of its function.
    pub doc: Option<&'a Map<String, Value>>,
    /// The places that its arguments are taken from, by parameter.
    pub sources: &'a [(String, Source)],
    /// An argument that is left out, as if the user forgot it.
    pub omitted: Option<&'a str>,
}

/// The place in an earlier result that an argument is taken from.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its position in the lists of the result.
    pub position: Position,
    /// What it is a part of, if people would ask "of what?": the lesson, for the teacher of a lesson.
    pub owner: Option<String>,
}

/// Words clauses.
#[derive(Debug, Clone, Copy)]
pub struct Clauses<'a> {
    /// What a person wrote on functions and parameters.
    pub bindings: &'a Bindings,
    /// The templates.
    pub templates: &'a Templates,
}

/// The endings of names that stand for a thing: `order_id` is an order.
const ID_WORDS: [&str; 6] = ["id", "number", "code", "key", "name", "ids"];

/// First words of names that say how a value is used, and not what it is: `to_day` is a day.
const RELATIONS: [&str; 11] =
    ["after", "at", "before", "by", "for", "from", "in", "on", "since", "to", "until"];

impl Clauses<'_> {
    /// Returns how a user asks for a function; `None` if neither the bindings nor its doc say it.
    pub fn phrase(&self, function: &str, doc: Option<&Map<String, Value>>) -> Option<Phrase> {
        let written = self.bindings.function(function).and_then(|function| function.phrase.as_deref());
        let written = written.and_then(|written| Phrase::parse(written).ok());
        written.or_else(|| {
            let schema = doc.and_then(|doc| doc.get("parameters"));
            let required = schema.and_then(|schema| schema["required"].as_array()).into_iter().flatten();
            let things: Vec<(String, String)> = required
                .filter_map(Value::as_str)
                .filter(|parameter| is_key(parameter))
                .map(|parameter| (self.noun(function, parameter), parameter.to_owned()))
                .collect();
            let description = doc.and_then(|doc| doc.get("description")?.as_str()).unwrap_or_default();
            Phrase::of_doc(function, description, &things)
        })
    }

    /// Returns the clause. Every argument is in it, except one that is left out.
    pub fn text(&self, clause: &Clause<'_>) -> Text {
        let step = clause.step;
        let phrase = self.phrase(&step.function, clause.doc);
        let mut text = Text::default();
        let mut mentioned = Vec::new();
        let is_whole =
            phrase.is_some_and(|phrase| self.add(phrase.parts(), clause, (&mut text, &mut mentioned), false));
        if !is_whole {
            // A slot that the phrase requires has no value: the name of the function is always right.
            text = Text::plain(words(&step.function).join(" "));
            mentioned.clear();
        }
        let mut is_first = true;
        for (parameter, argument) in &step.arguments {
            if mentioned.contains(parameter) || clause.omitted == Some(parameter) {
                continue;
            }
            let forms = &self.templates.values;
            let (value, template) = match (argument, is_first) {
                (Argument::Literal { value, .. }, true) => {
                    (literal(clause, parameter, value, forms), &forms.argument)
                }
                (Argument::Literal { value, .. }, false) => {
                    (literal(clause, parameter, value, forms), &forms.more_arguments)
                }
                (Argument::Result(_), true) => {
                    (self.argument(clause, parameter, argument), &forms.linked_argument)
                }
                (Argument::Result(_), false) => {
                    (self.argument(clause, parameter, argument), &forms.more_linked_arguments)
                }
            };
            // "With doctor D-22": people have no ids of doctors.
            let name = if is_key(parameter) {
                self.noun(&step.function, parameter)
            } else {
                after_template(template, &words(parameter)).join(" ")
            };
            let name = Text::plain(name);
            text.append(Text::of_template(template, &[("name", &name), ("value", &value)]));
            is_first = false;
        }
        text.with_articles()
    }

    /// Adds parts; returns `false` if a slot that is not optional has no value. What is in brackets has no place for a value
    /// that the user forgot.
    fn add(
        &self,
        parts: &[PhrasePart],
        clause: &Clause<'_>,
        (text, mentioned): (&mut Text, &mut Vec<String>),
        is_inner: bool,
    ) -> bool {
        parts.iter().enumerate().all(|(nth, part)| match part {
            PhrasePart::Words(words) => {
                let before = nth.checked_sub(1).map(|before| &parts[before]);
                text.push(self.without_noun(words, before, clause));
                true
            }
            PhrasePart::Slot(parameter) if clause.omitted == Some(parameter) => {
                if is_inner {
                    return false;
                }
                let noun = Text::plain(self.noun(&clause.step.function, parameter));
                // "symbol {symbol}" is "a symbol".
                text.without_end(&format!("{} ", noun.text));
                text.without_article();
                text.append(Text::of_template(&self.templates.references.missing, &[("noun", &noun)]));
                true
            }
            PhrasePart::Slot(parameter) => clause.step.argument(parameter).is_some_and(|argument| {
                let of_argument = self.argument(clause, parameter, argument);
                // "the owner {owner_id}" with the noun "owner" is "the owner O-2".
                let noun = self.noun(&clause.step.function, parameter);
                if of_argument.text.split(' ').any(|word| word == noun) {
                    text.without_end(&format!("{noun} "));
                }
                if matches!(argument, Argument::Result(_)) {
                    text.without_article();
                }
                text.append(of_argument);
                mentioned.push(parameter.clone());
                true
            }),
            PhrasePart::Optional(inner) => {
                let (mut of_inner, mut of_mentioned) = (Text::default(), Vec::new());
                if self.add(inner, clause, (&mut of_inner, &mut of_mentioned), true) {
                    text.append(of_inner);
                    mentioned.append(&mut of_mentioned);
                }
                true
            }
        })
    }

    /// Words of a phrase without a noun that the linked value before them has already: "that insurance", not "that insurance insurance".
    fn without_noun<'w>(&self, words: &'w str, before: Option<&PhrasePart>, clause: &Clause<'_>) -> &'w str {
        let Some(PhrasePart::Slot(parameter)) = before else { return words };
        let is_linked = matches!(clause.step.argument(parameter), Some(Argument::Result(_)));
        if !is_linked || clause.omitted == Some(parameter) {
            return words;
        }
        let noun = self.noun(&clause.step.function, parameter);
        let rest = words.strip_prefix(' ').and_then(|words| words.strip_prefix(noun.as_str()));
        rest.filter(|rest| !rest.starts_with(char::is_alphanumeric)).unwrap_or(words)
    }

    /// An argument in a slot of a phrase.
    fn argument(&self, clause: &Clause<'_>, parameter: &str, argument: &Argument) -> Text {
        let bound = self.bindings.parameter(&clause.step.function, parameter);
        match argument {
            Argument::Literal { value, .. } => {
                let written = literal(clause, parameter, value, &self.templates.values);
                match bound.as_ref().map(|bound| (&bound.said, &bound.noun)) {
                    Some((Some(said), _)) => said.text(value, &written),
                    Some((None, Some(noun))) => Said::Form(format!("{noun} {{}}")).text(value, &written),
                    Some((None, None)) | None => written,
                }
            }
            Argument::Result(place) => {
                if let Some(linked) = bound.as_ref().and_then(|bound| bound.linked.clone()) {
                    return Text::plain(linked);
                }
                let source =
                    clause.sources.iter().find(|(name, _)| name == parameter).map(|(_, source)| source);
                let references = &self.templates.references;
                let template = match source.map(|source| source.position) {
                    Some(Position::First) => &references.first,
                    Some(Position::Last) => &references.last,
                    _ if place.step + 1 < clause.nth => &references.earlier,
                    _ => &references.only,
                };
                let noun = Text::plain(self.noun(&clause.step.function, parameter));
                let owner = source.and_then(|source| source.owner.as_deref());
                let Some((owner, of)) = owner.zip(references.of.as_deref()) else {
                    return Text::of_template(template, &[("noun", &noun)]);
                };
                let owner = Text::of_template(template, &[("noun", &Text::plain(owner))]);
                Text::of_template(of, &[("noun", &noun), ("owner", &owner)])
            }
        }
    }

    /// Returns what a value of a parameter is: "order" for `order_id`, "total price" for `total_price`.
    pub fn noun(&self, function: &str, parameter: &str) -> String {
        if let Some(noun) = self.bindings.parameter(function, parameter).and_then(|bound| bound.noun.clone())
        {
            return noun;
        }
        let mut of_name = words(parameter);
        // The day of an order is no "to day".
        if of_name.len() > 1 && RELATIONS.contains(&of_name[0].as_str()) {
            of_name.remove(0);
        }
        if of_name.len() > 1 && of_name.last().is_some_and(|last| ID_WORDS.contains(&last.as_str())) {
            of_name.pop();
        } else if of_name.len() == 1 && of_name[0] == "id" {
            of_name = things(function).last().map_or(of_name, |thing| vec![singular(thing)]);
        }
        of_name.join(" ")
    }
}

/// Whether a parameter has the key of a thing: `order_id`.
fn is_key(parameter: &str) -> bool {
    let of_name = words(parameter);
    of_name.len() > 1 && of_name.last().is_some_and(|last| ID_WORDS[..4].contains(&last.as_str()))
}

impl Clause<'_> {
    /// Whether the doc lists the values of a parameter.
    fn is_listed(&self, parameter: &str) -> bool {
        let schema = self.doc.and_then(|doc| doc.get("parameters")?.get("properties")?.get(parameter));
        schema.is_some_and(|schema| schema.get("enum").is_some())
    }
}

/// The words of a name without a first one that the template has before it: "with" of `with_genres` in "with {name} {value}".
fn after_template<'w>(template: &str, words: &'w [String]) -> &'w [String] {
    let before = template.split("{name}").next().and_then(|before| before.split_whitespace().last());
    match words {
        [first, rest @ ..] if !rest.is_empty() && before == Some(first.as_str()) => rest,
        _ => words,
    }
}

/// A value of the user.
fn literal(clause: &Clause<'_>, parameter: &str, value: &Value, forms: &ValueForms) -> Text {
    let written = if clause.is_listed(parameter) { said_of_list(value, forms) } else { said(value, forms) };
    Text::value(written, clause.nth, parameter)
}
