//! The parser chain: the parsers of a text, in the order they are tried.
//!
//! Each parser reads a text in one way or does not apply to it. Exact parsers come before those that repair slips, and
//! these before those that guess. A parser that unwraps or decodes a layer runs the chain again on the inner text, so
//! it is read as if it had been sent alone.

use std::ops::Range;

use serde_json::{Value, json};

use super::envelope::{self, Envelope};
use super::fault::{ParseFault, ParseFaultKind};
use super::layer::Layer;
use super::printed::{self, Printed};
use super::step::ParseStep;
use super::trail::Trail;
use super::{cut_yaml, encoded, records};
use crate::source;
use callsieve_notation::allowance::ELEMENT_BYTES;
use callsieve_notation::json::loose::{self, Loose, StopKind};
use callsieve_notation::json::outline::{MAX_PARTS, Outline};
use callsieve_notation::json::repair::{self, NotRepaired};
use callsieve_notation::json::strict;
use callsieve_notation::{MAX_DEPTH, python, yaml};

/// One way to read a text; `None` if it does not apply.
type Parser = fn(&Layer<'_>, &mut Trail) -> Option<Result<Value, ParseFault>>;

/// All parsers in the order they are tried: exact ones, repairs of slips, guesses.
const PARSERS: [Parser; 16] = [
    strict_json,
    labelled_prints,
    program_source,
    printed_signatures,
    assignment,
    yaml_documents,
    printed_lines,
    enveloped,
    bounded,
    encoded,
    literal,
    side_by_side,
    mended,
    repaired,
    readable_records,
    within_prose,
];

/// Reads a text with the first parser that applies.
pub(super) fn read(layer: &Layer<'_>, trail: &mut Trail) -> Result<Value, ParseFault> {
    let layer = layer.without_margins(trail);
    if layer.text.is_empty() {
        return Err(layer.fail(ParseFaultKind::Empty, 0, "the text is empty"));
    }
    let too_large = || layer.allowance.is_exceeded().then(|| Err(layer.too_large()));
    let taken = PARSERS.iter().find_map(|parser| parser(&layer, trail).or_else(too_large));
    taken.unwrap_or_else(|| Err(layer.unread()))
}

fn strict_json(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    match strict::read_within(layer.text, layer.allowance) {
        Ok(strict) => {
            layer.note_repeated(&strict.repeated, trail);
            Some(settle(strict.value, ParseStep::StrictJson, layer, trail))
        }
        Err(error) => {
            layer.not_strict.set(Some(error));
            None
        }
    }
}

/// Reads functions that libraries print with a label for each part.
fn labelled_prints(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let (step, functions) = printed::labelled(layer.text)?;
    Some(printed_functions(layer, step, functions, trail))
}

/// Reads functions that `LangChain` prints with their arguments. YAML is tried first, as its values may end like this.
fn printed_lines(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let functions = printed::described(layer.text)?;
    Some(printed_functions(layer, ParseStep::LangChain, functions, trail))
}

fn printed_functions(
    layer: &Layer<'_>,
    step: ParseStep,
    functions: Vec<Printed<'_>>,
    trail: &mut Trail,
) -> Result<Value, ParseFault> {
    trail.step(step);
    let function = |printed: Printed<'_>| {
        let mut below = Trail::default();
        let arguments = read(&layer.slice(printed.arguments)?, &mut below)?;
        if !layer.allowance.take(ELEMENT_BYTES + printed.name.len() + printed.description.len()) {
            return Err(layer.too_large());
        }
        trail.extend_once(below);
        Ok(json!({"name": printed.name, "description": printed.description, "parameters": arguments}))
    };
    functions.into_iter().map(function).collect::<Result<_, _>>().map(Value::Array)
}

/// Reads functions that `LangChain` prints as a signature and a description.
fn printed_signatures(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let functions = signed(layer, &printed::signed(layer.text)?)?;
    trail.step(ParseStep::LangChain);
    Some(Ok(functions))
}

/// Reads printed signatures; `None` if one of them is none.
fn signed(layer: &Layer<'_>, printed: &[Printed<'_>]) -> Option<Value> {
    let signatures: Vec<_> = printed.iter().map(|one| &layer.text[one.arguments.clone()]).collect();
    let signatures = signatures.join("\n");
    layer.allowance.take(signatures.len()).then_some(())?;
    let source = source::functions(&signatures, &mut Vec::new(), layer.allowance)?.ok()?;
    let mut functions = source.functions;
    let names = functions.iter().map(|function| function.get("name").and_then(Value::as_str));
    if !source.faults.is_empty() || !names.eq(printed.iter().map(|one| Some(one.name))) {
        return None;
    }
    for (function, one) in functions.iter_mut().zip(printed) {
        layer.allowance.take(one.description.len()).then_some(())?;
        function.as_object_mut()?.insert("description".to_owned(), one.description.into());
    }
    Some(Value::Array(functions))
}

fn program_source(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let source = source::functions(layer.text, &mut trail.steps, layer.allowance)?;
    Some(source.map_err(|fault| layer.placed(fault)).map(|source| {
        source.faults.into_iter().for_each(|fault| trail.fault(layer.placed(fault)));
        Value::Array(source.functions)
    }))
}

fn assignment(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let part = envelope::assigned(layer.text)?;
    trail.step(ParseStep::Assignment);
    Some(read_parts(layer, &[part], trail))
}

fn enveloped(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let Envelope { step, parts, is_closed } = envelope::peel(layer.text)?;
    trail.step(step);
    if let (false, Some(last)) = (is_closed, parts.last())
        && !Outline::of(&layer.text[last.clone()]).is_one_part()
    {
        let message = "the end of what surrounds the value is missing";
        trail.fault(layer.fail(ParseFaultKind::Truncated, layer.text.len(), message));
    }
    Some(read_parts(layer, &parts, trail))
}

/// Refuses texts too deep for the recursive readers, and texts with too many parts.
fn bounded(layer: &Layer<'_>, _: &mut Trail) -> Option<Result<Value, ParseFault>> {
    if layer.outline().parts.len() == MAX_PARTS {
        return Some(Err(layer.too_large()));
    }
    let is_too_deep = layer.outline().depth > MAX_DEPTH;
    is_too_deep
        .then(|| Err(layer.fail(ParseFaultKind::TooDeep, 0, format!("more than {MAX_DEPTH} brackets deep"))))
}

fn encoded(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let (step, inner) = encoded::decode(layer.text)?;
    trail.step(step);
    Some(layer.inner(&inner).and_then(|inner| read(&inner, trail)))
}

/// Reads a complete literal that is not JSON.
///
/// Some texts are valid Python and valid JSON5 and differ only in the meaning of a backslash. The first quote decides
/// which is tried first: JSON has no single quotes, and Python's own printer prefers them.
fn literal(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
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
        layer.note_repeated(&literal.repeated, trail);
        if let Some(at) = literal.doubtful_joint {
            trail.fault(layer.fail(
                ParseFaultKind::AmbiguousRepair,
                at,
                "two strings without a comma between them",
            ));
        }
        return Some(settle(literal.value, ParseStep::PythonLiteral, layer, trail));
    }
    match loose.unwrap_or_else(|| loose::read(layer.text, layer.allowance)) {
        Ok(loose) if loose.notes.is_clean() => Some(loose_value(loose, layer, trail)),
        other => {
            layer.loose.set(Some(other));
            None
        }
    }
}

/// Reads a text with several bracketed values side by side.
fn side_by_side(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
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
    trail.step(ParseStep::Concatenated);
    trail.faults.extend(noted.faults);
    Some(Ok(Value::Array(values)))
}

/// Reads a text with the tolerant reader; a likely guess is accepted only if a repairer has the same result.
fn mended(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    if !layer.begins_like_a_value() {
        return None;
    }
    match layer.loose.take().unwrap_or_else(|| loose::read(layer.text, layer.allowance)) {
        Ok(loose) => {
            if let (Some(at), None) = (loose.notes.likely, loose.notes.cut)
                && !repair::confirms(layer.text, &loose.value)
            {
                trail.fault(layer.fail(
                    ParseFaultKind::AmbiguousRepair,
                    at,
                    "this can be repaired in more than one way",
                ));
            }
            Some(loose_value(loose, layer, trail))
        }
        Err(stop) => match stop.kind {
            StopKind::Program => Some(Err(layer.fail(ParseFaultKind::SourceCode, stop.at, stop.message))),
            StopKind::TooLarge => None,
            StopKind::TooDeep => Some(Err(layer.fail(ParseFaultKind::TooDeep, stop.at, stop.message))),
            StopKind::Beyond => {
                layer.stop.set(Some(stop));
                None
            }
        },
    }
}

/// Reads a broken text if two repairers agree; otherwise returns the better repair with a fault.
///
/// A truncated text is never repaired here: both repairers would close the brackets and hide the loss.
fn repaired(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    if !layer.begins_like_a_value() || layer.is_cut() || layer.outline().ellipsis.is_some() {
        return None;
    }
    let value = match repair::agreed(layer.text) {
        Ok(value) => value,
        Err(NotRepaired::Disagree(value)) => {
            let (at, message) = layer.stopped_at();
            trail.fault(layer.fail(ParseFaultKind::AmbiguousRepair, at, message));
            value
        }
        Err(NotRepaired::Beyond) => return None,
    };
    trail.step(ParseStep::Repaired);
    Some(Ok(value))
}

/// Reads each record of a list that can be read, and reports the others.
fn readable_records(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let values = records::readable(layer, trail)?;
    trail.step(ParseStep::Concatenated);
    Some(Ok(Value::Array(values)))
}

fn yaml_documents(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    if layer.begins_like_a_value() && !layer.text.starts_with('#') {
        return None;
    }
    let yaml = yaml::read(layer.text, layer.allowance)?;
    layer.note_repeated(&yaml.repeated, trail);
    if let Some(message) = cut_yaml::missing(&yaml, layer.text, layer.is_ended) {
        trail.fault(layer.fail(ParseFaultKind::Truncated, layer.text.len(), message));
    }
    trail.step(ParseStep::Yaml);
    Some(Ok(yaml.value))
}

/// Reads the bracketed parts of a prose text.
fn within_prose(layer: &Layer<'_>, trail: &mut Trail) -> Option<Result<Value, ParseFault>> {
    let parts = envelope::within_prose(layer)?;
    let mut below = Trail::default();
    let value = read_parts(layer, &parts, &mut below);
    let holds_objects = |value: &Value| match value {
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
        other => other.is_object(),
    };
    // Brackets in prose may be anything; only docs justify a fault.
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
    trail.step(ParseStep::Prose);
    trail.extend(below);
    Some(value)
}

/// Reads one part as the whole text, or several as values side by side.
fn read_parts(layer: &Layer<'_>, parts: &[Range<usize>], trail: &mut Trail) -> Result<Value, ParseFault> {
    if let [part] = parts {
        return read(&layer.slice(part.clone())?, trail);
    }
    trail.step(ParseStep::Concatenated);
    let mut values = Vec::new();
    for part in parts {
        let mut below = Trail::default();
        values.push(read(&layer.slice(part.clone())?, &mut below)?);
        if !layer.allowance.take(ELEMENT_BYTES) {
            return Err(layer.too_large());
        }
        trail.extend_once(below);
    }
    Ok(Value::Array(values))
}

/// Accepts a value; a string is read as one more layer.
fn settle(value: Value, step: ParseStep, layer: &Layer<'_>, trail: &mut Trail) -> Result<Value, ParseFault> {
    if let Value::String(inner) = value {
        trail.step(ParseStep::JsonString);
        return read(&layer.inner(&inner)?, trail);
    }
    trail.step(step);
    Ok(value)
}

/// Accepts the tolerant reader's value, and records the faults in it.
fn loose_value(loose: Loose, layer: &Layer<'_>, trail: &mut Trail) -> Result<Value, ParseFault> {
    let Loose { value, notes } = loose;
    let faults = [
        (notes.cut, ParseFaultKind::Truncated, "the text ends before its brackets or strings do"),
        (notes.ellipsis, ParseFaultKind::Abbreviated, "\"...\" replaces a value"),
        (
            notes.ambiguous,
            ParseFaultKind::AmbiguousRepair,
            "a quote or a comma is missing, and its place is ambiguous",
        ),
        (notes.no_value, ParseFaultKind::NotAJsonValue, "a word without a JSON value was read as null"),
    ];
    for (at, kind, message) in faults {
        if let Some(at) = at {
            trail.fault(layer.fail(kind, at, message));
        }
    }
    layer.note_repeated(&notes.repeated, trail);
    let step = match () {
        () if notes.n_values > 1 => ParseStep::Concatenated,
        () if !notes.is_clean() => ParseStep::Mended,
        () if notes.is_python => ParseStep::PythonLiteral,
        () => ParseStep::Json5,
    };
    settle(value, step, layer, trail)
}
