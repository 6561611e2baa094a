//! Reads lists in which some records are broken, and reports these.
//!
//! A record is an element of the outermost list, a line, or one of several values side by side. An unreadable record is
//! a fault with its number and place, so the list is never mistaken for complete.

use std::ops::Range;

use serde_json::Value;

use super::fault::ParseFaultKind;
use super::layer::Layer;
use super::trail::Trail;
use callsieve_notation::allowance::ELEMENT_BYTES;
use callsieve_notation::json::outline::{MAX_PARTS, Outline};
use callsieve_notation::json::{loose, strict};
use callsieve_notation::python;

/// Returns the value of a part that is exact in some notation.
pub(super) fn exact(layer: &Layer<'_>, part: Range<usize>, trail: &mut Trail) -> Option<Value> {
    let text = &layer.text[part.clone()];
    let note = |repeated: &[_], trail: &mut Trail| {
        if let (false, Ok(below)) = (repeated.is_empty(), layer.slice(part)) {
            below.note_repeated(repeated, trail);
        }
    };
    if let Ok(strict) = strict::read_within(text, layer.allowance) {
        note(&strict.repeated, trail);
        return Some(strict.value);
    }
    if let Ok(literal) = python::read_within(text, layer.allowance)
        && literal.doubtful_joint.is_none()
    {
        note(&literal.repeated, trail);
        return Some(literal.value);
    }
    let loose = loose::read(text, layer.allowance)
        .ok()
        .filter(|loose| loose.notes.is_clean() && loose.notes.no_value.is_none())?;
    note(&loose.notes.repeated, trail);
    Some(loose.value)
}

/// Returns the readable records if some, but not all, can be read.
pub(super) fn readable(layer: &Layer<'_>, trail: &mut Trail) -> Option<Vec<Value>> {
    let parts = lines(layer.text).or_else(|| elements(layer))?;
    let mut noted = Trail::default();
    let mut values = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let text = &layer.text[part.clone()];
        layer.allowance.take(ELEMENT_BYTES).then_some(())?;
        if let Some(value) = exact(layer, part.clone(), &mut noted).or_else(|| mended(layer, text)) {
            values.push(value);
            continue;
        }
        let stop = loose::read(text, layer.allowance).err();
        let (at, why) =
            stop.map_or((0, "it is broken in more than one way".to_owned()), |stop| (stop.at, stop.message));
        let message = format!("function {number} cannot be read: {why}");
        noted.fault(layer.fail(ParseFaultKind::UnreadableRecord, part.start + at, message));
    }
    // A text with mostly unreadable parts is not a list of records.
    if values.len() < 2 || values.len() * 2 < parts.len() {
        return None;
    }
    trail.extend(noted);
    Some(values)
}

/// Returns the value of a part with slips that have only one meaning.
fn mended(layer: &Layer<'_>, text: &str) -> Option<Value> {
    let loose::Loose { value, notes } = loose::read(text, layer.allowance).ok()?;
    let is_sure = [notes.cut, notes.likely, notes.ambiguous, notes.ellipsis, notes.no_value]
        .iter()
        .all(Option::is_none);
    (is_sure && notes.repeated.is_empty()).then_some(value)
}

/// Returns the lines of a text with one record per line.
fn lines(text: &str) -> Option<Vec<Range<usize>>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let record = line.trim().trim_end_matches(',');
        if !record.is_empty() {
            let at = start + (line.len() - line.trim_start().len());
            lines.push(at..at + record.len());
        }
        start += line.len();
    }
    let is_record = |range: &&Range<usize>| {
        text[(*range).clone()].starts_with('{') && text[(*range).clone()].ends_with('}')
    };
    ((2..MAX_PARTS).contains(&lines.len()) && lines.iter().filter(is_record).count() * 2 > lines.len())
        .then_some(lines)
}

/// Returns the elements of the outermost list, and any stray text between them.
fn elements(layer: &Layer<'_>) -> Option<Vec<Range<usize>>> {
    let outer = layer.text.strip_prefix('[')?;
    let inner = outer.trim_end().strip_suffix(']').unwrap_or(outer);
    let outline = Outline::of(inner);
    let mut parts = Vec::new();
    let mut end = 0;
    for part in outline.parts.iter().cloned().chain(outline.left_open.map(|start| start..inner.len())) {
        parts.extend(stray(inner, end..part.start));
        end = part.end;
        parts.push(part.start + 1..part.end + 1);
    }
    parts.extend(stray(inner, end..inner.len()));
    Some(parts)
}

/// Returns the text between two elements if it is more than whitespace and commas.
fn stray(text: &str, gap: Range<usize>) -> Option<Range<usize>> {
    let is_gap = |c: char| c.is_whitespace() || c == ',';
    (!text[gap.clone()].trim_matches(is_gap).is_empty()).then_some(gap.start + 1..gap.end + 1)
}
