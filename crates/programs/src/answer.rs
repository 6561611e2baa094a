//! Answers to the user: every value in them stands in what a call returned.

use std::collections::BTreeSet;

use callsieve_environment::value_path::{Step, ValuePath};
use serde_json::Value;

use crate::execute::Executed;
use crate::place::{self, Leaf, leaves};
use crate::program::ResultPath;
use crate::random::Random;
use crate::wording::templates::{Templates, capitalised};
use crate::wording::values::{said, said_of_list};
use crate::words::words;

/// An answer, with the places of its values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// Where each value stands, in the order of the text.
    pub values: Vec<ResultPath>,
}

/// Things of a list that an answer names.
const MOST_VALUES: usize = 20;
/// Fields of a result that an answer shows.
const MOST_FIELDS: usize = 12;
/// Names of an only field that say nothing.
const VAGUE: [&str; 4] = ["result", "value", "output", "answer"];
/// Characters of a value in an answer.
const MOST_CHARS: usize = 80;

/// How values are written.
#[derive(Debug, Clone, Copy)]
pub struct Writing<'a> {
    /// Forms of values.
    pub templates: &'a Templates,
    /// Values that docs list: `wheel_truing` of a list is "wheel truing".
    pub listed: &'a BTreeSet<String>,
}

impl Writing<'_> {
    /// Returns a value as an answer has it: numbers with four decimals at most.
    pub fn said(self, value: &Value) -> String {
        if let Some(number) = value.as_f64().filter(|_| value.is_f64()) {
            let rounded = (number * 1e4).round() / 1e4;
            #[allow(clippy::float_cmp)] // Whether anything was rounded.
            if rounded.is_finite() && rounded != 0.0 && rounded != number {
                return rounded.to_string();
            }
        }
        let is_listed = value.as_str().is_some_and(|text| self.listed.contains(text));
        let said = if is_listed { said_of_list } else { said };
        said(value, &self.templates.values)
    }
}

/// Words an answer from the results of some steps. `asks`: the last of them is a question, which yes or no can answer.
pub fn answer(
    executed: &Executed,
    steps: &[usize],
    asks: bool,
    writing: Writing<'_>,
    random: &mut Random,
) -> Answer {
    let templates = writing.templates;
    let mut values = Vec::new();
    let mut parts = Vec::new();
    let (mut is_unnamed, mut is_true) = (false, None);
    for &step in steps {
        let Some(result) = executed.result(step).filter(|_| executed.is_executed(step)) else { continue };
        let (mut shown, is_cut) = shown(result);
        if let [only] = &mut shown[..]
            && only.name.as_ref().is_some_and(|name| VAGUE.contains(&name.as_str()))
        {
            only.name = None;
        }
        let mut of_step = String::new();
        let mut last_list = None;
        for Shown { name, value, path, list } in shown {
            (is_unnamed, is_true) = (name.is_none(), value.as_bool());
            let value = writing.said(value);
            if !of_step.is_empty() {
                // The things of a list stand apart from what is beside it.
                let forms = &templates.values;
                of_step += if list == last_list { &forms.comma } else { &forms.semicolon };
            }
            of_step += &name.map_or_else(|| value.clone(), |name| format!("{name} {value}"));
            values.push(ResultPath { step, path });
            last_list = list;
        }
        let more = if is_cut { &templates.values.more } else { "" };
        if !of_step.is_empty() {
            parts.push(of_step + more);
        }
    }
    if !steps.iter().any(|&step| executed.is_executed(step)) {
        return Answer::default();
    }
    let answers = &templates.answers;
    let forms = match &values[..] {
        [] => &answers.done,
        [_] if is_unnamed => &answers.value,
        _ => &answers.fields,
    };
    if let ([_], Some(truth)) = (&values[..], is_true)
        && (asks || truth)
    {
        let forms = match (asks, truth) {
            (true, true) => &answers.yes,
            (true, false) => &answers.no,
            // `success` of something to do.
            (false, _) => &answers.done,
        };
        let text = random.one_of(forms).cloned().unwrap_or_default();
        return Answer { text, values: if asks { values } else { Vec::new() } };
    }
    let joined = parts.join(&templates.values.semicolon);
    let template = random.one_of(forms).map_or("", String::as_str);
    let text = template.replace("{values}", &joined).replace("{Values}", &capitalised(&joined));
    Answer { text, values }
}

/// A value that an answer shows.
struct Shown<'a> {
    /// Its name; none in a list of things.
    name: Option<String>,
    value: &'a Value,
    path: ValuePath,
    /// The place of the list whose things are named beside other values.
    list: Option<ValuePath>,
}

/// The values of a result that an answer shows, and whether there are more. Of a list of things their names; otherwise its
/// short values, with the names of the things of a list inside.
fn shown(result: &Value) -> (Vec<Shown<'_>>, bool) {
    let (path, inner) = the_list(result);
    if let Some(things) = inner.as_array() {
        let named = things.iter().enumerate().filter_map(|(nth, thing)| {
            let leaf = name_of(thing)?;
            let path = path_in(&path, nth, leaf.path);
            Some(Shown { name: None, value: leaf.value, path, list: None })
        });
        return (named.take(MOST_VALUES).collect(), things.len() > MOST_VALUES);
    }
    let (mut found, mut n_fields, mut is_cut) = (Vec::<Shown<'_>>::new(), 0, false);
    let mut named: Vec<ValuePath> = Vec::new();
    for leaf in leaves(result).into_iter().filter(|leaf| is_short(leaf.value)) {
        if let Some(list) = list_of_things(&leaf.path, result) {
            if !named.contains(&list) {
                is_cut |= add_things(&list, result, &mut found);
                named.push(list);
            }
            continue;
        }
        let name = place::names(&leaf.path).next_back().map(|name| words(name).join(" "));
        if found.iter().any(|known| (&known.name, known.value) == (&name, leaf.value)) {
            continue;
        }
        n_fields += 1;
        if n_fields > MOST_FIELDS {
            is_cut = true;
        } else {
            found.push(Shown { name, value: leaf.value, path: leaf.path, list: None });
        }
    }
    // The elements of a list have its name once.
    let mut last: Option<String> = None;
    for shown in &mut found {
        let is_element = shown.list.is_some() || matches!(shown.path.steps.last(), Some(Step::Element(_)));
        let name = shown.name.clone();
        if is_element && name == last {
            shown.name = None;
        }
        last = name;
    }
    (found, is_cut)
}

/// The place of the outermost list of several objects that a place is in.
fn list_of_things(path: &ValuePath, result: &Value) -> Option<ValuePath> {
    let ends = path.steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Element(_)));
    let lists = ends.map(|(end, _)| ValuePath { steps: path.steps[..end].to_vec() });
    let is_of_things = |list: &ValuePath| {
        let elements = place::value_at(list, result).and_then(Value::as_array);
        elements.is_some_and(|elements| elements.len() > 1 && elements.iter().all(Value::is_object))
    };
    lists.into_iter().find(is_of_things)
}

/// Adds the names of the things of a list; returns whether there are more.
fn add_things<'a>(list: &ValuePath, result: &'a Value, found: &mut Vec<Shown<'a>>) -> bool {
    let Some(things) = place::value_at(list, result).and_then(Value::as_array) else { return false };
    let name = place::names(list).next_back().map(|name| words(name).join(" "));
    let of_thing = |(nth, thing): (usize, &'a Value)| {
        let leaf = name_of(thing)?;
        let path = path_in(list, nth, leaf.path);
        Some(Shown { name: name.clone(), value: leaf.value, path, list: Some(list.clone()) })
    };
    found.extend(things.iter().enumerate().filter_map(of_thing).take(MOST_VALUES));
    things.len() > MOST_VALUES
}

/// The place of a value inside an element of a list.
fn path_in(list: &ValuePath, nth: usize, inside: ValuePath) -> ValuePath {
    let steps = list.steps.iter().cloned().chain([Step::Element(nth)]).chain(inside.steps);
    ValuePath { steps: steps.collect() }
}

/// The value that names a thing in a list: its name or title, otherwise its first short value.
fn name_of(thing: &Value) -> Option<Leaf<'_>> {
    const NAMES: [&str; 4] = ["name", "title", "subject", "content"];
    let mut short: Vec<Leaf<'_>> = leaves(thing).into_iter().filter(|leaf| is_short(leaf.value)).collect();
    let named = short
        .iter()
        .position(|leaf| place::names(&leaf.path).next_back().is_some_and(|name| NAMES.contains(&name)));
    let at = named.or((!short.is_empty()).then_some(0))?;
    Some(short.swap_remove(at))
}

/// The list that a result is, or that is its only member.
fn the_list(result: &Value) -> (ValuePath, &Value) {
    match result.as_object().map(|members| members.iter().collect::<Vec<_>>()).as_deref() {
        Some([(name, list)]) if list.is_array() => (ValuePath::default().member((*name).clone()), list),
        _ => (ValuePath::default(), result),
    }
}

fn is_short(value: &Value) -> bool {
    value.as_str().is_none_or(|text| {
        !text.trim().is_empty() && text.chars().count() <= MOST_CHARS && !text.contains(char::is_control)
    })
}

/// Returns a value of an answer that stands nowhere in the results, in the form of the answer.
pub fn ungrounded(answer: &Answer, executed: &Executed, writing: Writing<'_>) -> Option<String> {
    answer.values.iter().find_map(|place| {
        let value = executed.result(place.step).and_then(|result| place::value_at(&place.path, result));
        let written = value.map(|value| writing.said(value));
        let text = answer.text.to_lowercase();
        let is_there = written.is_some_and(|written| text.contains(&written.to_lowercase()));
        (!is_there).then(|| place.to_string())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_things_of_a_list_are_named_and_none_is_lost() {
        let texts = |result: &Value| {
            let (shown, is_cut) = shown(result);
            let text = |one: &Shown<'_>| {
                one.name
                    .as_ref()
                    .map_or_else(|| one.value.to_string(), |name| format!("{name} {}", one.value))
            };
            (shown.iter().map(text).collect::<Vec<_>>(), is_cut)
        };
        let bicycle = |id: &str| json!({"id": id, "brand": "Falter", "year": 2016});
        let result = json!({"owner": "Ada", "bicycles": [bicycle("B-1"), bicycle("B-2"), bicycle("B-3")]});
        let expected = [r#"owner "Ada""#, r#"bicycles "B-1""#, r#""B-2""#, r#""B-3""#];
        assert_eq!(texts(&result), (expected.map(str::to_owned).to_vec(), false));
        // Of one thing all fields.
        let result = json!({"owner": "Ada", "bicycles": [bicycle("B-1")]});
        let expected = [r#"owner "Ada""#, r#"id "B-1""#, r#"brand "Falter""#, "year 2016"];
        assert_eq!(texts(&result), (expected.map(str::to_owned).to_vec(), false));
        let many: Vec<Value> = (0..30).map(|nth| bicycle(&format!("B-{nth}"))).collect();
        let (shown, is_cut) = texts(&json!({"owner": "Ada", "bicycles": many}));
        assert_eq!((shown.len(), is_cut), (1 + MOST_VALUES, true));
    }
}
