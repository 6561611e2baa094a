//! Calls that an answer contains as text.
//!
//! Certain: markers of call formats, an offered function with arguments in brackets, a JSON object with an offered name and
//! arguments. A suspicion: such an object with a name that is not on offer.

use std::ops::Range;

use serde_json::{Map, Value};

use super::mentions::lower;
use super::path::Path;
use super::{Finding, Level, Reason};

/// Markers of call formats, in lower case.
const MARKERS: [&str; 8] = [
    "<tool_call>",
    "<function=",
    "<function_call>",
    "<|tool_call",
    "[tool_calls]",
    "<invoke name=",
    "<|python_tag|>",
    "action input:",
];
const NAME_KEYS: [&str; 5] = ["name", "function", "tool", "tool_name", "function_name"];
const ARGUMENT_KEYS: [&str; 5] = ["arguments", "parameters", "args", "params", "input"];
/// Most braces from which an object is read.
const MAX_OBJECTS: usize = 64;

const EXPECTED: &str = "a call of the message, not text";

pub(super) fn findings(path: &Path) -> Vec<Finding> {
    let chars: Vec<char> = path.solution.answer.chars().collect();
    let mut found: Vec<(Range<usize>, Level)> = Vec::new();
    found.extend(markers(&chars));
    for name in path.offered.iter().copied().chain(path.solution.withheld) {
        found.extend(bracketed(&chars, name));
    }
    found.extend(objects(&chars, path));
    found.sort_by_key(|(span, level)| (span.start, *level));
    found
        .into_iter()
        .map(|(span, level)| {
            let evidence: String = chars[span.clone()].iter().collect();
            Finding::of(Reason::CallAsText, level, evidence, EXPECTED).at(span)
        })
        .collect()
}

fn markers(chars: &[char]) -> Vec<(Range<usize>, Level)> {
    let found = MARKERS.iter().flat_map(|marker| places(chars, marker));
    found.map(|span| (span, Level::Certain)).collect()
}

/// Returns the places of a text in lower case.
fn places(chars: &[char], text: &str) -> Vec<Range<usize>> {
    let wanted: Vec<char> = text.chars().collect();
    let matches = |at: &usize| {
        chars[*at..].iter().zip(&wanted).all(|(c, wanted)| c == wanted || c.to_ascii_lowercase() == *wanted)
    };
    let starts = 0..(chars.len() + 1).saturating_sub(wanted.len().max(1));
    starts.filter(matches).map(|at| at..at + wanted.len()).collect()
}

/// `name(argument=1)`, `name({..})`, `name()`, but not a name with a remark: `search (see above)`.
fn bracketed(chars: &[char], name: &str) -> Vec<(Range<usize>, Level)> {
    if name.is_empty() {
        return Vec::new();
    }
    let calls = places(chars, &format!("{name}(")).into_iter().filter_map(|span| {
        let is_whole = span.start == 0
            || !(chars[span.start - 1].is_alphanumeric() || matches!(chars[span.start - 1], '_' | '.'));
        let is_exact = chars[span.clone()].iter().take(name.chars().count()).copied().eq(name.chars());
        let close = chars[span.end..].iter().position(|c| *c == ')')?;
        let inner = &chars[span.end..span.end + close];
        let has_arguments = inner.iter().all(|c| c.is_whitespace())
            || inner.iter().any(|c| matches!(c, '=' | '"' | '\'' | '{' | ':'));
        (is_whole && is_exact && has_arguments).then_some((span.start..span.end + close + 1, Level::Certain))
    });
    calls.collect()
}

fn objects(chars: &[char], path: &Path) -> Vec<(Range<usize>, Level)> {
    let mut found = Vec::new();
    let (mut at, mut n_tried) = (0, 0);
    while let Some(offset) = chars[at..].iter().position(|c| *c == '{') {
        at += offset;
        n_tried += 1;
        if n_tried > MAX_OBJECTS {
            break;
        }
        let text: String = chars[at..].iter().collect();
        let mut stream = serde_json::Deserializer::from_str(&text).into_iter::<Map<String, Value>>();
        let Some(Ok(object)) = stream.next() else {
            at += 1;
            continue;
        };
        let end = at + text[..stream.byte_offset()].chars().count();
        if let Some(name) = call_name(&object) {
            let level = if path.offered.contains(name) { Level::Certain } else { Level::Suspect };
            found.push((at..end, level));
        }
        at = end;
    }
    found
}

/// Returns the name of the function if an object is a call.
fn call_name(object: &Map<String, Value>) -> Option<&str> {
    let entry = |keys: &[&str]| keys.iter().find_map(|key| object.get(*key));
    let has_arguments =
        entry(&ARGUMENT_KEYS).is_some_and(|arguments| arguments.is_object() || arguments.is_string());
    let is_doc = object.contains_key("description");
    let nested = object.get("function").and_then(Value::as_object);
    if let Some(call) = nested.filter(|call| call.contains_key("arguments")) {
        return call.get("name").and_then(Value::as_str);
    }
    entry(&NAME_KEYS)
        .and_then(Value::as_str)
        .filter(|name| has_arguments && !is_doc && is_function_name(name))
}

fn is_function_name(name: &str) -> bool {
    !name.is_empty() && !lower(&name.chars().collect::<Vec<_>>()).contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::Solution;

    fn found(answer: &str) -> Vec<(String, Level)> {
        let functions = [json!({"name": "get_tide"})];
        let solution = Solution { messages: &[], answer, functions: &functions, ..Solution::default() };
        findings(&Path::of(&solution)).into_iter().map(|finding| (finding.evidence, finding.level)).collect()
    }

    #[test]
    fn calls_in_every_form_are_found() {
        for (answer, evidence, level) in [
            ("Now get_tide(port=\"Oban\").", "get_tide(port=\"Oban\")", Level::Certain),
            ("get_tide()", "get_tide()", Level::Certain),
            (
                r#"é {"name": "get_tide", "arguments": {}} ok"#,
                r#"{"name": "get_tide", "arguments": {}}"#,
                Level::Certain,
            ),
            (
                r#"{"tool": "sail", "args": {"a": 1}}"#,
                r#"{"tool": "sail", "args": {"a": 1}}"#,
                Level::Suspect,
            ),
            ("<tool_call>", "<tool_call>", Level::Certain),
            ("Action: x\nAction Input: {}", "Action Input:", Level::Certain),
        ] {
            assert_eq!(found(answer), [(evidence.to_owned(), level)], "{answer}");
        }
    }

    #[test]
    fn texts_about_functions_and_other_objects_are_no_calls() {
        for answer in [
            "I used get_tide (see above).",
            "forget_tide(port=1)",
            "get_tide(no arguments here)",
            r#"{"name": "Oban", "height": 3}"#,
            r#"{"name": "get_tide", "description": "x", "parameters": {}}"#,
            "{{{{{",
        ] {
            assert_eq!(found(answer), [], "{answer}");
        }
    }
}
