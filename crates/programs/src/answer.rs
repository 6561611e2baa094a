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

/// Words an answer from the results of some steps.
pub fn answer(executed: &Executed, steps: &[usize], writing: Writing<'_>, random: &mut Random) -> Answer {
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
        let mut of_step = Vec::new();
        for Shown { name, value, path } in shown {
            (is_unnamed, is_true) = (name.is_none(), value.as_bool());
            let value = writing.said(value);
            of_step.push(name.map_or_else(|| value.clone(), |name| format!("{name} {value}")));
            values.push(ResultPath { step, path });
        }
        let more = if is_cut { &templates.values.more } else { "" };
        if !of_step.is_empty() {
            parts.push(of_step.join(&templates.values.comma) + more);
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
    if let ([_], Some(truth)) = (&values[..], is_true) {
        let forms = if truth { &answers.yes } else { &answers.no };
        let text = random.one_of(forms).cloned().unwrap_or_default();
        return Answer { text, values };
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
}

/// The values of a result that an answer shows, and whether there are more. Of a list of things their names; otherwise its
/// short values, with the elements of a list inside under one name.
fn shown(result: &Value) -> (Vec<Shown<'_>>, bool) {
    let (path, inner) = the_list(result);
    if let Some(things) = inner.as_array() {
        let named = things.iter().enumerate().filter_map(|(nth, thing)| {
            let leaf = name_of(thing)?;
            let mut place = path.clone();
            place.steps.push(Step::Element(nth));
            place.steps.extend(leaf.path.steps);
            Some(Shown { name: None, value: leaf.value, path: place })
        });
        return (named.take(MOST_VALUES).collect(), things.len() > MOST_VALUES);
    }
    let mut found: Vec<Shown<'_>> = Vec::new();
    for leaf in leaves(result).into_iter().filter(|leaf| is_short(leaf.value)) {
        let name = place::names(&leaf.path).next_back().map(|name| words(name).join(" "));
        if found.iter().all(|known| (&known.name, known.value) != (&name, leaf.value)) {
            found.push(Shown { name, value: leaf.value, path: leaf.path });
        }
    }
    let is_cut = found.len() > MOST_FIELDS;
    found.truncate(MOST_FIELDS);
    // The elements of a list have its name once.
    let mut last: Option<String> = None;
    for shown in &mut found {
        let is_element = matches!(shown.path.steps.last(), Some(Step::Element(_)));
        let name = shown.name.clone();
        if is_element && name == last {
            shown.name = None;
        }
        last = name;
    }
    (found, is_cut)
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
