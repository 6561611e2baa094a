//! Finds functions as agent libraries print them into prompts.
//!
//! ```text
//! ring: Rings a bell, args: {'bell': {'title': 'Bell', 'type': 'string'}}
//! ring(bell: str) -> str - Rings a bell.
//! Tool Name: ring      (with the lines `Tool Arguments: {…}` and `Tool Description: Rings a bell.`)
//! > Tool Name: ring    (with the lines `Tool Description: Rings a bell.` and `Tool Args: {…}`)
//! ```
//!
//! The text has to begin with the first function, and every function has to have all parts: where one is missing, the
//! text is in another form. This file only finds the parts; the parser chain reads the arguments like any other text.

use std::ops::Range;

use super::step::ParseStep;

/// A function in a text.
#[derive(Debug, PartialEq)]
pub(super) struct Printed<'t> {
    pub(super) name: &'t str,
    pub(super) description: &'t str,
    /// The place of the arguments, or of the signature.
    pub(super) arguments: Range<usize>,
}

/// The lines of one function, each with its label, in the order of the library.
struct Labels {
    step: ParseStep,
    name: &'static str,
    description: &'static str,
    arguments: &'static str,
}

const LABELS: [Labels; 2] = [
    Labels {
        step: ParseStep::CrewAi,
        name: "Tool Name:",
        description: "Tool Description:",
        arguments: "Tool Arguments:",
    },
    Labels {
        step: ParseStep::LlamaIndex,
        name: "> Tool Name:",
        description: "Tool Description:",
        arguments: "Tool Args:",
    },
];

/// The words before the arguments in one line.
const ARGUMENTS: &str = ", args: {";

/// The mark before the description, after a signature.
const DASH: &str = " - ";

/// Returns the functions whose parts have labels at the beginnings of lines.
pub(super) fn labelled(text: &str) -> Option<(ParseStep, Vec<Printed<'_>>)> {
    let labels = LABELS.iter().find(|labels| text.starts_with(labels.name))?;
    let starts = label_places(text, labels.name);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let functions = starts.iter().zip(ends).map(|(start, end)| labelled_function(text, *start..end, labels));
    Some((labels.step, functions.collect::<Option<_>>()?))
}

fn labelled_function<'t>(text: &'t str, range: Range<usize>, labels: &Labels) -> Option<Printed<'t>> {
    let place = |label: &str| match label_places(&text[range.clone()], label).as_slice() {
        [at] => Some(range.start + at),
        _ => None,
    };
    let parts = [labels.name, labels.description, labels.arguments];
    let places = [range.start, place(labels.description)?, place(labels.arguments)?];
    let part = |n: usize| {
        let next = places.into_iter().filter(|at| *at > places[n]).min();
        trimmed(text, places[n] + parts[n].len()..next.unwrap_or(range.end))
    };
    let name = &text[part(0)];
    is_name(name).then(|| Printed { name, description: &text[part(1)], arguments: part(2) })
}

/// Returns the places of a label at the beginning of a line.
fn label_places(text: &str, label: &str) -> Vec<usize> {
    text.match_indices(label).map(|(at, _)| at).filter(|at| *at == 0 || text[..*at].ends_with('\n')).collect()
}

/// Returns the functions that end with their arguments: `name: description, args: {…}`, `name(…) - description, args: {…}`.
/// A description may have several lines, the arguments have one.
pub(super) fn described(text: &str) -> Option<Vec<Printed<'_>>> {
    let mut functions = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let head = at..at + text[at..].find(ARGUMENTS)?;
        let start = head.end + ARGUMENTS.len() - 1;
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        // Only the last line may be cut off, which the reader of the arguments reports.
        let is_whole = end == text.len() || text[start..end].trim_end().ends_with('}');
        let (name, description) = headed(&text[head]).filter(|_| is_whole)?;
        functions.push(Printed { name, description, arguments: trimmed(text, start..end) });
        at = text.len() - text[end..].trim_start().len();
    }
    (!functions.is_empty()).then_some(functions)
}

/// Returns the name and the description before the arguments.
fn headed(head: &str) -> Option<(&str, &str)> {
    let name = name_at(head);
    let rest = &head[name.len()..];
    let description = match rest.strip_prefix(':') {
        Some(rest) => rest,
        None if rest.starts_with('(') => rest.split_once(DASH)?.1,
        None => rest.strip_prefix(DASH)?,
    };
    is_name(name).then_some((name, description.trim()))
}

/// Returns the functions that begin with a signature: `name(…) -> … - description`. Lines without one go on with the
/// description. With arguments after it, they are read instead.
pub(super) fn signed(text: &str) -> Option<Vec<Printed<'_>>> {
    signature_length(text.lines().next()?).filter(|_| !text.contains(ARGUMENTS))?;
    let mut signatures: Vec<(Range<usize>, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(length) = signature_length(line) {
            signatures.push((at..at + length, at + length + DASH.len()));
        }
        at += line.len();
    }
    let ends = signatures.iter().skip(1).map(|(signature, _)| signature.start).chain([text.len()]);
    let functions = signatures.iter().zip(ends).map(|((signature, description), end)| Printed {
        name: name_at(&text[signature.start..]),
        description: text[*description..end].trim(),
        arguments: signature.clone(),
    });
    Some(functions.collect())
}

/// Returns the length of the signature that a line begins with; a description has to follow.
fn signature_length(line: &str) -> Option<usize> {
    let name = name_at(line);
    let length = line.find(DASH).filter(|_| is_name(name) && line[name.len()..].starts_with('('))?;
    let signature = &line[..length];
    let is_closed = signature.ends_with(')') || signature.contains(") -> ");
    (is_closed && !line[length + DASH.len()..].trim().is_empty()).then_some(length)
}

/// Returns the name that a text begins with.
fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || ['_', '-', '.'].contains(&c)));
    &text[..end.unwrap_or(text.len())]
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.end - part.trim_start().len();
    start..start + part.trim().len()
}
