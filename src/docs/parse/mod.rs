//! The ladder from a pasted text to a list of functions.
//!
//! Strict JSON is tried first and nearly always enough. Then an envelope is peeled
//! and the ladder begins anew; then Python literals, JSON5, values side by side, slips
//! with one meaning, and last a repair two repairers agree on. Every rung taken is noted,
//! so a reader can tell what was read from what was mended. What was read in spite of a
//! fault (a cut end, an ellipsis, a key that stands twice) carries that fault; nothing is
//! completed in silence. Program source is read by `source`. Time is linear in the text, depth is bounded before
//! anything recurses, and all that is made of one text shares an `Allowance` of memory.

mod encoded;
mod envelope;
pub mod fault;
mod layer;
mod loose;
mod outline;
mod records;
mod repair;
pub mod step;
pub(crate) mod strict;
pub(crate) mod trail;
pub(crate) mod yaml;
mod yaml_end;

use std::ops::Range;

use serde_json::Value;

use crate::allowance::{Allowance, ELEMENT_BYTES};
use crate::docs::{dialect, source};
use crate::python;
use envelope::Envelope;
use fault::{Fault, ParseFault};
use layer::Layer;
use loose::{Loose, StopKind};
use outline::{MAX_PARTS, Outline};
use repair::NotRepaired;
use step::Step;
use trail::Trail;

/// How many brackets may stand inside one another; other strict readers have the same bound.
const MAX_DEPTH: usize = 127;

/// The functions of a text, and how they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// Objects with a name, as they were sent.
    pub functions: Vec<Value>,
    /// The rungs that were used, in order.
    pub steps: Vec<Step>,
    /// What is wrong with the text in spite of which the functions were read: nobody may take them for sure.
    pub faults: Vec<Fault>,
}

impl Parsed {
    /// The functions, where no fault stands beside them.
    ///
    /// # Errors
    /// The first fault in spite of which they were read.
    pub fn sure(self) -> Result<Vec<Value>, Fault> {
        match self.faults.into_iter().next() {
            Some(fault) => Err(fault),
            None => Ok(self.functions),
        }
    }
}

/// Reads the functions of a text.
///
/// ```
/// let parsed = toolsieve::docs::parse::parse("tools = [{'name': 'now', 'parameters': None}]").unwrap();
/// assert_eq!(parsed.functions[0]["name"], "now");
/// assert_eq!(parsed.steps.iter().map(|step| step.code()).collect::<Vec<_>>(), ["assignment", "python-literal"]);
/// ```
///
/// # Errors
/// Where the text cannot be read without guessing, or holds something else than functions.
pub fn parse(text: &str) -> Result<Parsed, Fault> {
    let mut trail = Trail::default();
    let allowance = Allowance::of(text);
    let layer = Layer::new(text, &allowance);
    let value = read(&layer, &mut trail)?;
    let Trail { mut steps, mut faults } = trail;
    match dialect::readable_functions(value, &mut steps, &mut faults, &allowance) {
        _ if allowance.is_exceeded() => Err(layer.too_large()),
        Ok(functions) => Ok(Parsed { functions, steps, faults }),
        // What is missing from a text that was cut or left unread is no fault of its own.
        Err(fault) => Err(if faults.is_empty() { fault } else { faults.swap_remove(0) }),
    }
}

/// A way to read a text. `None` where the text is not for it.
type Rung = fn(&Layer<'_>, &mut Trail) -> Option<Result<Value, Fault>>;

/// In the order they are tried: what is exact before what mends, what mends before what guesses.
const RUNGS: [Rung; 13] = [
    strict_json,
    program_source,
    assignment,
    yaml_documents,
    enveloped,
    bounded,
    encoded,
    literal,
    side_by_side,
    mended,
    repaired,
    readable_records,
    amid_prose,
];

/// One climb of the ladder.
fn read(layer: &Layer<'_>, trail: &mut Trail) -> Result<Value, Fault> {
    let layer = layer.without_margins(trail);
    if layer.text.is_empty() {
        return Err(layer.fail(ParseFault::Empty, 0, "the text is empty"));
    }
    let too_large = || layer.allowance.is_exceeded().then(|| Err(layer.too_large()));
    let taken = RUNGS.iter().find_map(|rung| rung(&layer, trail).or_else(too_large));
    taken.unwrap_or_else(|| Err(layer.unread()))
}

fn strict_json(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    match strict::read_within(layer.text, layer.allowance) {
        Ok(strict) => {
            trail.repeated(layer, &strict.repeated);
            Some(settle(strict.value, Step::StrictJson, layer, trail))
        }
        Err(error) => {
            layer.not_strict.set(Some(error));
            None
        }
    }
}

fn program_source(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    let functions = source::functions(layer.text, &mut trail.steps, layer.allowance)?;
    Some(functions.map(Value::Array).map_err(|fault| layer.placed(fault)))
}

fn assignment(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    let part = envelope::assigned(layer.text)?;
    trail.step(Step::Assignment);
    Some(read_parts(layer, &[part], trail))
}

fn enveloped(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    let Envelope { step, parts, is_closed } = envelope::peel(layer.text)?;
    trail.step(step);
    if let (false, Some(last)) = (is_closed, parts.last())
        && !Outline::of(&layer.text[last.clone()]).is_one_part()
    {
        let message = "the end of what surrounds the value is missing";
        trail.fault(layer.fail(ParseFault::Truncated, layer.text.len(), message));
    }
    Some(read_parts(layer, &parts, trail))
}

/// Refuses what would be too deep for the readers that recurse, and what falls into too many parts.
fn bounded(layer: &Layer<'_>, _: &mut Trail) -> Option<Result<Value, Fault>> {
    if layer.outline().parts.len() == MAX_PARTS {
        return Some(Err(layer.too_large()));
    }
    let is_too_deep = layer.outline().depth > MAX_DEPTH;
    is_too_deep
        .then(|| Err(layer.fail(ParseFault::TooDeep, 0, format!("more than {MAX_DEPTH} brackets deep"))))
}

fn encoded(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    let (step, inner) = encoded::decode(layer.text)?;
    trail.step(step);
    Some(layer.inner(&inner).and_then(|inner| read(&inner, trail)))
}

/// Reads what is complete but not JSON.
///
/// Some texts are both Python and JSON5 and differ only in what a backslash means, so the first quote decides
/// which is asked first: JSON has no single quotes, and Python's own printer prefers them.
fn literal(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    if !layer.begins_like_a_value() {
        return None;
    }
    let first_quote = layer.text.find(['"', '\'']).map(|at| layer.text.as_bytes()[at]);
    let loose = match (first_quote == Some(b'"')).then(|| loose::read(layer.text, layer.allowance)) {
        Some(Ok(loose)) if loose.notes.is_clean() && !loose.notes.is_python => {
            return Some(loose_value(loose, layer, trail));
        }
        other => other,
    };
    if let Ok(literal) = python::read_within(layer.text, layer.allowance) {
        trail.repeated(layer, &literal.repeated);
        if let Some(at) = literal.doubtful_joint {
            trail.fault(layer.fail(
                ParseFault::RepairsDisagree,
                at,
                "two strings without a comma between them",
            ));
        }
        return Some(settle(literal.value, Step::PythonLiteral, layer, trail));
    }
    match loose.unwrap_or_else(|| loose::read(layer.text, layer.allowance)) {
        Ok(loose) if loose.notes.is_clean() => Some(loose_value(loose, layer, trail)),
        other => {
            layer.loose.set(Some(other));
            None
        }
    }
}

/// Reads the values of a text in which each bracketed part is one.
fn side_by_side(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    let outline = layer.outline();
    if !outline.is_concatenated(layer.text) {
        return None;
    }
    let mut noted = Trail::default();
    let mut values = Vec::new();
    for part in &outline.parts {
        layer.allowance.take(ELEMENT_BYTES).then_some(())?;
        values.push(records::exact(layer, part.clone(), &mut noted)?);
    }
    trail.step(Step::Concatenated);
    trail.faults.extend(noted.faults);
    Some(Ok(Value::Array(values)))
}

/// Takes the tolerant reader's value; where that rests on a likely guess, only if a repairer comes to the same.
fn mended(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    if !layer.begins_like_a_value() {
        return None;
    }
    match layer.loose.take().unwrap_or_else(|| loose::read(layer.text, layer.allowance)) {
        Ok(loose) => {
            if let (Some(at), None) = (loose.notes.likely, loose.notes.cut)
                && !repair::confirms(layer.text, &loose.value)
            {
                trail.fault(layer.fail(
                    ParseFault::RepairsDisagree,
                    at,
                    "this can be mended in more than one way",
                ));
            }
            Some(loose_value(loose, layer, trail))
        }
        Err(stop) => match stop.kind {
            StopKind::Program => Some(Err(layer.fail(ParseFault::SourceCode, stop.at, stop.message))),
            StopKind::TooLarge => None,
            StopKind::TooDeep => Some(Err(layer.fail(ParseFault::TooDeep, stop.at, stop.message))),
            StopKind::Beyond => {
                layer.stop.set(Some(stop));
                None
            }
        },
    }
}

/// Takes what two repairers agree on, or with a fault what the better one makes of the text.
///
/// A text that is cut off never comes to them: both would close the brackets and hide the loss.
fn repaired(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    if !layer.begins_like_a_value() || layer.is_cut() || layer.outline().ellipsis.is_some() {
        return None;
    }
    let value = match repair::agreed(layer.text) {
        Ok(value) => value,
        Err(NotRepaired::Disagree(value)) => {
            let (at, message) = layer.stopped_at();
            trail.fault(layer.fail(ParseFault::RepairsDisagree, at, message));
            value
        }
        Err(NotRepaired::Beyond) => return None,
    };
    trail.step(Step::Repaired);
    Some(Ok(value))
}

/// Reads the records that can be read, each on its own, and names those that cannot.
fn readable_records(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    let values = records::readable(layer, trail)?;
    trail.step(Step::Concatenated);
    Some(Ok(Value::Array(values)))
}

fn yaml_documents(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    if layer.begins_like_a_value() && !layer.text.starts_with('#') {
        return None;
    }
    let yaml = yaml::read(layer.text, layer.allowance)?;
    trail.repeated(layer, &yaml.repeated);
    if let Some(message) = yaml_end::missing(&yaml, layer.text, layer.is_ended) {
        trail.fault(layer.fail(ParseFault::Truncated, layer.text.len(), message));
    }
    trail.step(Step::Yaml);
    Some(Ok(yaml.value))
}

/// Reads the bracketed parts of a text that is prose otherwise.
fn amid_prose(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, Fault>> {
    let parts = envelope::amid_prose(layer)?;
    let mut below = Trail::default();
    let value = read_parts(layer, &parts, &mut below);
    let holds_objects = |value: &Value| match value {
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
        other => other.is_object(),
    };
    // Brackets in prose may be anything; only docs are worth a fault.
    if parts.len() > 1
        && !value
            .as_ref()
            .is_ok_and(|value| value.as_array().is_some_and(|all| all.iter().all(holds_objects)))
    {
        return None;
    }
    if layer.is_cut() && !value.as_ref().is_ok_and(holds_objects) {
        return None;
    }
    trail.step(Step::Prose);
    trail.extend(below);
    Some(value)
}

/// Reads one part as the text it is, or several as values side by side.
fn read_parts(layer: &Layer<'_>, parts: &[Range<usize>], trail: &mut Trail) -> Result<Value, Fault> {
    if let [part] = parts {
        return read(&layer.part(part.clone())?, trail);
    }
    trail.step(Step::Concatenated);
    let mut values = Vec::new();
    for part in parts {
        let mut below = Trail::default();
        values.push(read(&layer.part(part.clone())?, &mut below)?);
        if !layer.allowance.take(ELEMENT_BYTES) {
            return Err(layer.too_large());
        }
        trail.extend_once(below);
    }
    Ok(Value::Array(values))
}

/// Takes a value that was read; a string is one more layer.
fn settle(value: Value, step: Step, layer: &Layer<'_>, trail: &mut Trail) -> Result<Value, Fault> {
    if let Value::String(inner) = value {
        trail.step(Step::JsonString);
        return read(&layer.inner(&inner)?, trail);
    }
    trail.step(step);
    Ok(value)
}

/// The value of a text that is JSON5 without a slip, for readers that meet one amid other notation.
pub(crate) fn json5(text: &str) -> Option<Value> {
    let Loose { value, notes } = loose::read(text, &Allowance::of(text)).ok()?;
    (notes.is_clean() && !notes.is_python && notes.n_values == 1 && notes.no_value.is_none()).then_some(value)
}

/// Takes the tolerant reader's value with the faults it was read in spite of.
fn loose_value(loose: Loose, layer: &Layer<'_>, trail: &mut Trail) -> Result<Value, Fault> {
    let Loose { value, notes } = loose;
    let faults = [
        (notes.cut, ParseFault::Truncated, "the text ends before its brackets or strings do"),
        (notes.ellipsis, ParseFault::Abbreviated, "\"...\" stands in place of a value"),
        (
            notes.ambiguous,
            ParseFault::RepairsDisagree,
            "a quote or a comma is missing, and it is not sure where",
        ),
        (notes.no_value, ParseFault::NoJsonValue, "a word that JSON has no value for was read as null"),
    ];
    for (at, kind, message) in faults {
        if let Some(at) = at {
            trail.fault(layer.fail(kind, at, message));
        }
    }
    trail.repeated(layer, &notes.repeated);
    let step = match () {
        () if notes.n_values > 1 => Step::Concatenated,
        () if !notes.is_clean() => Step::Mended,
        () if notes.is_python => Step::PythonLiteral,
        () => Step::Json5,
    };
    settle(value, step, layer, trail)
}

#[cfg(test)]
mod tests;
