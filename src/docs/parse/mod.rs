//! The ladder from a pasted text to a list of functions.
//!
//! Strict JSON is tried first and nearly always enough. Then an envelope is peeled
//! and the ladder begins anew; then Python literals, JSON5, values side by side, and
//! last a repair two repairers agree on. Every rung taken is noted, so a reader can
//! tell what was read from what was mended. A text that is cut off is never
//! completed. Time is linear in the text and depth is bounded before anything recurses.
//! Program source is read by `source`. Deliberately absent: YAML, which is a fault, and a
//! look for keys that stand twice in one object, of which the last counts.

mod envelope;
pub mod fault;
mod outline;
mod repair;
pub mod step;

use std::ops::Range;

use serde_json::Value;

use crate::docs::{dialect, source};
use crate::python;
use fault::{Fault, ParseFault};
use outline::{Outline, outline};
use repair::NotRepaired;
use step::Step;

/// How many envelopes and strings may stand inside one another.
const MAX_LAYERS: usize = 4;

/// How many brackets may stand inside one another; the strict reader has the same bound.
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
    let mut steps = Vec::new();
    let value = read(&Layer { text, base: Some(0), below: MAX_LAYERS }, &mut steps)?;
    let functions = dialect::functions(value, &mut steps)?;
    Ok(Parsed { functions, steps, faults: Vec::new() })
}

/// A text on its way down to a value.
struct Layer<'t> {
    text: &'t str,
    /// Where it begins in the text as sent, as long as it is a part of that.
    base: Option<usize>,
    /// How many more layers may stand below.
    below: usize,
}

/// One climb of the ladder.
fn read(layer: &Layer<'_>, steps: &mut Vec<Step>) -> Result<Value, Fault> {
    let layer = layer.without_margins(steps);
    let text = layer.text;
    if text.is_empty() {
        return Err(layer.fail(ParseFault::Empty, 0, "the text is empty"));
    }
    let strict = match serde_json::from_str(text) {
        Ok(value) => return settle(value, Step::StrictJson, &layer, steps),
        Err(error) => error,
    };
    if let Some(functions) = source::functions(text, steps) {
        return functions.map(Value::Array).map_err(|fault| layer.placed(fault));
    }
    if let Some((step, inner)) = envelope::peel(text) {
        steps.push(step);
        return read(&layer.part(inner)?, steps);
    }
    let outline = outline(text);
    if outline.depth > MAX_DEPTH {
        return Err(layer.fail(ParseFault::TooDeep, 0, format!("more than {MAX_DEPTH} brackets deep")));
    }
    if !text.starts_with(['[', '{', '(', '"', '\'', '#', '/']) {
        let Some(part) = envelope::amid_prose(text, &outline).filter(|_| !is_source_code(text)) else {
            return Err(layer.shapeless());
        };
        steps.push(Step::Prose);
        return read(&layer.part(part)?, steps);
    }
    if let Some((step, value)) = relaxed(text) {
        return settle(value, step, &layer, steps);
    }
    if let Some(inner) = unescaped(text) {
        steps.push(Step::EscapedJson);
        return read(&layer.inner(&inner)?, steps);
    }
    let (step, value) = match side_by_side(text, &outline) {
        Some(values) => (Step::Concatenated, values),
        None => (Step::Repaired, mended(&layer, &outline, &strict)?),
    };
    steps.push(step);
    Ok(value)
}

/// Takes a value that was read; a string is one more layer.
fn settle(value: Value, step: Step, layer: &Layer<'_>, steps: &mut Vec<Step>) -> Result<Value, Fault> {
    if let Value::String(inner) = value {
        steps.push(Step::JsonString);
        return read(&layer.inner(&inner)?, steps);
    }
    steps.push(step);
    Ok(value)
}

/// Reads what is complete but not JSON.
///
/// Some texts are both Python and JSON5 and differ only in what a backslash means, so the first quote decides
/// which is asked first: JSON has no single quotes, and Python's own printer prefers them.
fn relaxed(text: &str) -> Option<(Step, Value)> {
    let python = || python::literal(text).ok().map(|value| (Step::PythonLiteral, value));
    let json5 = || json5::from_str(text).ok().map(|value| (Step::Json5, value));
    match text.find(['"', '\'']) {
        Some(at) if text[at..].starts_with('"') => json5().or_else(python),
        _ => python().or_else(json5),
    }
}

/// The text with one layer of backslashes less, where the first quote carries one: `{\"name\": …}`.
fn unescaped(text: &str) -> Option<String> {
    let first = text.find('"')?;
    text[..first].ends_with('\\').then(|| serde_json::from_str(&format!("\"{text}\"")).ok()).flatten()
}

/// The values of a text in which each bracketed part is one.
fn side_by_side(text: &str, outline: &Outline) -> Option<Value> {
    if !outline.is_concatenated(text) {
        return None;
    }
    let value =
        |part: &str| serde_json::from_str(part).ok().or_else(|| relaxed(part).map(|(_, value)| value));
    outline.parts.iter().map(|part| value(&text[part.clone()])).collect()
}

/// What a broken text means, where it is all there and there is one answer.
fn mended(layer: &Layer<'_>, outline: &Outline, strict: &serde_json::Error) -> Result<Value, Fault> {
    let text = layer.text;
    if outline.left_open.is_some() || strict.is_eof() {
        let message = "the text ends before its brackets or strings do";
        return Err(layer.fail(ParseFault::Truncated, text.len(), message));
    }
    if let Some(at) = outline.ellipsis {
        return Err(layer.fail(ParseFault::Abbreviated, at, "\"...\" stands in place of a value"));
    }
    repair::agreed(text).map_err(|reason| {
        let fault = match reason {
            NotRepaired::Disagree => ParseFault::RepairsDisagree,
            NotRepaired::Beyond => ParseFault::NotJson,
        };
        layer.fail(fault, offset(text, strict.line(), strict.column()), strict.to_string())
    })
}

impl Layer<'_> {
    /// The text without a byte-order mark and blanks at both ends.
    fn without_margins(&self, steps: &mut Vec<Step>) -> Self {
        let is_margin = |c: char| c.is_whitespace() || c == '\u{feff}';
        let inner = self.text.trim_start_matches(is_margin);
        let start = self.text.len() - inner.len();
        if self.text[..start].contains('\u{feff}') && !steps.contains(&Step::ByteOrderMark) {
            steps.push(Step::ByteOrderMark);
        }
        Self {
            text: inner.trim_end_matches(is_margin),
            base: self.base.map(|base| base + start),
            below: self.below,
        }
    }

    /// A part of this text as the next layer.
    fn part(&self, range: Range<usize>) -> Result<Self, Fault> {
        let base = self.base.map(|base| base + range.start);
        Ok(Self { text: &self.text[range], base, below: self.one_below()? })
    }

    /// What stood in this text, decoded, as the next layer.
    fn inner<'i>(&self, text: &'i str) -> Result<Layer<'i>, Fault> {
        Ok(Layer { text, base: None, below: self.one_below()? })
    }

    fn one_below(&self) -> Result<usize, Fault> {
        let too_deep =
            || self.fail(ParseFault::TooDeep, 0, format!("more than {MAX_LAYERS} layers around the value"));
        self.below.checked_sub(1).ok_or_else(too_deep)
    }

    fn fail(&self, kind: ParseFault, at: usize, message: impl Into<String>) -> Fault {
        Fault { kind, at: self.base.map(|base| base + at), message: message.into() }
    }

    /// A fault of this text, its place counted in the text as sent.
    fn placed(&self, fault: Fault) -> Fault {
        Fault { at: fault.at.and_then(|at| Some(self.base? + at)), ..fault }
    }

    /// What a text is that does not even begin like a value.
    fn shapeless(&self) -> Fault {
        let fault = if self.text.chars().all(|c| c.is_control() || c.is_whitespace()) {
            ParseFault::ControlCharacters
        } else if is_source_code(self.text) {
            ParseFault::SourceCode
        } else if self.text.starts_with('<') {
            ParseFault::Html
        } else {
            ParseFault::NotJson
        };
        let beginning: String = self.text.chars().take(24).collect();
        self.fail(fault, 0, format!("the text begins with {beginning:?}"))
    }
}

/// Whether a line among the first opens a definition, as source does and prose does not.
fn is_source_code(text: &str) -> bool {
    const MAX_LINES: usize = 20;
    const OPENINGS: [&str; 6] = ["def ", "async def ", "class ", "function ", "async function ", "@"];
    let is_code = |line: &str| {
        line.starts_with("<func_start>")
            || line.starts_with("import ")
            || (line.starts_with("from ") && line.contains(" import "))
            || (OPENINGS.iter().any(|opening| line.starts_with(opening)) && line.contains(['(', ':', '{']))
    };
    text.lines().take(MAX_LINES).any(|line| is_code(line.trim_start()))
}

/// The byte at a line and column, both counted from one, as the strict reader counts them.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests;
