//! Finds the wrapping around pasted JSON.
//!
//! Finds one layer around a text: tags such as `<tools>`, markdown fences, an assignment, or prose around bracketed
//! parts. Several fences or tags side by side each contain a value. Text inside brackets is ignored, so a tag in a
//! description stays text. `layer` removes whitespace and a byte-order mark.

use std::ops::Range;

use super::layer::{Layer, is_source_code};
use super::step::ParseStep;
use callsieve_notation::json::marks::plain_mark;
use callsieve_notation::json::outline::Outline;

/// Names of tags around doc lists in prompts, in angle or square brackets.
const TAGS: [&str; 14] = [
    "tools",
    "tool",
    "functions",
    "function",
    "function_list",
    "tool_list",
    "tool_definitions",
    "tool_description",
    "available_tools",
    "available_functions",
    "function_definitions",
    "apis",
    "api_list",
    "api",
];

/// The maximum length of the left side of an assignment.
const MAX_TARGET_BYTES: usize = 120;

/// The maximum length of a tag with its attributes.
const MAX_TAG_BYTES: usize = 120;

/// The wrapping of a text, and the places of the values inside.
#[derive(Debug, PartialEq)]
pub(super) struct Envelope {
    pub(super) step: ParseStep,
    pub(super) parts: Vec<Range<usize>>,
    /// Whether the closing mark is present.
    pub(super) is_closed: bool,
}

/// Returns the wrapping of a text, if it has one.
pub(super) fn peel(text: &str) -> Option<Envelope> {
    tagged(text).or_else(|| fenced(text))
}

/// A tag of [`TAGS`] and its place.
struct TagAt {
    range: Range<usize>,
    name: usize,
    is_end: bool,
}

/// Returns the parts between tags: those of the outermost pair, or of all pairs of one name side by side.
fn tagged(text: &str) -> Option<Envelope> {
    if is_bracketed(text) && tag_at(text, 0).is_none() {
        return None;
    }
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(open) = next_tag(text, at).filter(|tag| !tag.is_end) {
        let close = closing_tag(text, &open);
        let end = close.as_ref().map_or(text.len(), |close| close.start);
        parts.push(open.range.end..end);
        match close {
            Some(close) => at = close.end,
            None => return Some(Envelope { step: ParseStep::Tags, parts, is_closed: false }),
        }
    }
    // Empty pairs are mentions: "the functions between <tools></tools>".
    if parts.len() > 1 {
        parts.retain(|part| !text[part.clone()].trim().is_empty());
    }
    (!parts.is_empty()).then_some(Envelope { step: ParseStep::Tags, parts, is_closed: true })
}

/// Returns the tag that begins at a byte.
fn tag_at(text: &str, at: usize) -> Option<TagAt> {
    let rest = &text[at..];
    let close = match rest.as_bytes().first()? {
        b'<' => '>',
        b'[' => ']',
        _ => return None,
    };
    let near = &rest[..rest.floor_char_boundary(MAX_TAG_BYTES)];
    let end = near.find(close)?;
    let is_end = near[1..].starts_with('/');
    let inner = &near[1 + usize::from(is_end)..end];
    let name = inner.split([' ', '\n']).next().unwrap_or_default();
    let is_plain = close == '>' || inner == name;
    let name = TAGS.iter().position(|tag| is_plain && tag.eq_ignore_ascii_case(name))?;
    Some(TagAt { range: at..at + end + 1, name, is_end })
}

fn next_tag(text: &str, from: usize) -> Option<TagAt> {
    text[from..].match_indices(['<', '[']).find_map(|(at, _)| tag_at(text, from + at))
}

/// Returns the closing tag of a tag: the next one with its name.
fn closing_tag(text: &str, open: &TagAt) -> Option<Range<usize>> {
    let mut at = open.range.end;
    while let Some(tag) = next_tag(text, at) {
        if tag.is_end && tag.name == open.name {
            return Some(tag.range);
        }
        at = tag.range.end;
    }
    None
}

/// Returns the parts between fences, without the language after each opening fence.
fn fenced(text: &str) -> Option<Envelope> {
    const FENCE: &str = "```";
    if is_bracketed(text) {
        return None;
    }
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some(open) = text[from..].find(FENCE) {
        let open = from + open + FENCE.len();
        let info = text[open..]
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')))
            .unwrap_or(text.len() - open);
        let start = open + info;
        let body = &text[start..];
        // Inside JSON a fence can only be part of a string, and never at the start of a line.
        let own_line = body.find("\n```").map(|at| at + 1);
        let Some(end) = own_line.or_else(|| body.rfind(FENCE)) else {
            parts.push(start..text.len());
            return Some(Envelope { step: ParseStep::Fence, parts, is_closed: false });
        };
        parts.push(start..start + end);
        from = start + end + FENCE.len();
    }
    (!parts.is_empty()).then_some(Envelope { step: ParseStep::Fence, parts, is_closed: true })
}

/// Returns true if a text begins like a value, so that a tag or a fence in it can only be part of a string.
fn is_bracketed(text: &str) -> bool {
    text.starts_with(['[', '{', '(', '"', '\'', '｛', '［', '“', '‘', '＂'])
}

/// Returns the right side of `tools = …`, `export const tools: Tool[] = … as const;`, `tools: […]` or `return […]`.
///
/// The value has to be the whole rest of the text: `tags: [a]` before other lines is the first of many keys.
pub(super) fn assigned(text: &str) -> Option<Range<usize>> {
    let is_value = |rest: &str| {
        is_bracketed(rest.trim_start())
            || (rest.trim_start().starts_with('`') && !rest.trim_start().starts_with("```"))
    };
    let is_target = |target: &str| {
        target.len() <= MAX_TARGET_BYTES
            && target.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
            && target.chars().all(|c| c.is_alphanumeric() || " _.:,|<>[]$".contains(c))
    };
    let head = &text[..text.floor_char_boundary(MAX_TARGET_BYTES + 1)];
    let sign = [head.find('='), head.find(':'), head.find('：')]
        .into_iter()
        .flatten()
        .map(|at| (at, at + text[at..].chars().next().map_or(1, char::len_utf8)))
        .find(|(at, end)| {
            is_target(text[..*at].trim_end()) && is_value(text[*end..].trim_start_matches(['=', '>']))
        });
    let start = match sign {
        Some((_, end)) => text.len() - text[end..].trim_start_matches(['=', '>']).len(),
        None => ["return ", "export default ", "module.exports "].iter().find_map(|word| {
            (text.starts_with(word) && is_value(&text[word.len()..])).then_some(word.len())
        })?,
    };
    let tail = |c: char| c.is_whitespace() || matches!(c, ';' | ',');
    let end = without_typing(text.trim_end_matches(tail)).trim_end_matches(tail).len().max(start);
    let outline = Outline::of(&text[start..end]);
    let is_all =
        outline.left_open.is_some() || outline.parts.first().is_none_or(|part| start + part.end == end);
    is_all.then_some(start..end)
}

/// Returns the text without a TypeScript annotation after the value: `as const`, `satisfies Tool[]`.
fn without_typing(text: &str) -> &str {
    let Some(close) = text.rfind(['}', ']', ')', '"', '\'', '`']) else { return text };
    let words = if text.ends_with("[]") { text.trim_end_matches("[]") } else { text };
    let Some(at) = words.rfind(" as ").or_else(|| words.rfind(" satisfies ")) else { return text };
    let is_type = words[at..].chars().all(|c| c.is_alphanumeric() || " _.<>".contains(c));
    if is_type && (at <= close || text.ends_with("[]") || close < at) { &text[..at] } else { text }
}

/// Returns the bracketed parts of a prose text; if it is truncated, everything from its first bracket on.
pub(super) fn within_prose(layer: &Layer<'_>) -> Option<Vec<Range<usize>>> {
    let text = layer.text;
    if is_source_code(text) {
        return None;
    }
    let outline = layer.outline();
    let begins_with_value = is_bracketed(text);
    if let Some(open) = outline.left_open {
        let start = outline.parts.first().map_or(open, |part| part.start);
        return (!begins_with_value && start > 0).then(|| std::iter::once(start..text.len()).collect());
    }
    let is_prose = |gap: &str| {
        let has_marks = gap.contains(['}', ']']) || gap.contains("\":") || gap.contains("':");
        !(has_marks || begins_with_value && gap.contains(['"', '{', '[', ':', '=']))
    };
    let whole = outline.parts.first().is_none_or(|part| part.len() == text.len());
    (!whole && outline.gaps(text).all(is_prose))
        .then(|| without_mentions(text, &outline.parts))
        .or_else(|| full_width_part(text))
}

/// Removes parts without a value (`{city}`, `[name(x)]`) if others have one. An assigned part is kept: `tools = [a, b]`
/// refers to content that may be missing from the text.
fn without_mentions(text: &str, parts: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_assigned = |part: &Range<usize>| text[..part.start].trim_end().ends_with(['=', ':']);
    let holds_value =
        |part: &&Range<usize>| is_assigned(part) || text[(*part).clone()].contains(['"', '\'', ':']);
    let kept: Vec<_> = parts.iter().filter(holds_value).cloned().collect();
    if kept.is_empty() { parts.to_vec() } else { kept }
}

/// Returns the part from the first full-width bracket to the last.
fn full_width_part(text: &str) -> Option<Vec<Range<usize>>> {
    let is_one = |c: char, marks: &str| !c.is_ascii() && marks.contains(plain_mark(c));
    let start = text.find(|c| is_one(c, "{["))?;
    let end = text.rfind(|c| is_one(c, "}]"))?;
    let end = end + text[end..].chars().next().map_or(0, char::len_utf8);
    (start > 0 && start < end).then(|| std::iter::once(start..end).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use callsieve_notation::allowance::Allowance;

    fn inside(text: &str) -> Option<(ParseStep, Vec<&str>)> {
        peel(text).map(|envelope| {
            (envelope.step, envelope.parts.iter().map(|part| text[part.clone()].trim()).collect())
        })
    }

    #[test]
    fn a_fence_is_peeled_with_its_language_and_the_prose_around_it() {
        for text in ["```json\n[1]\n```", "Here:\n```\n[1]\n```\nThanks!", "```[1]```", "```python\n[1]"] {
            assert_eq!(inside(text), Some((ParseStep::Fence, vec!["[1]"])), "{text}");
        }
    }

    #[test]
    fn a_fence_inside_a_string_does_not_end_the_text() {
        let text = "```json\n[\"use ```x``` here\"]\n```";
        assert_eq!(inside(text), Some((ParseStep::Fence, vec!["[\"use ```x``` here\"]"])));
        assert_eq!(inside("[\"use ```x``` here\",]"), None);
    }

    #[test]
    fn each_of_several_fences_contains_a_value() {
        let text = "First:\n```json\n{}\n```\nand\n```json\n[]\n```";
        assert_eq!(inside(text), Some((ParseStep::Fence, vec!["{}", "[]"])));
    }

    #[test]
    fn tags_are_peeled_at_any_position() {
        assert_eq!(
            inside("You may call <tools> [1] </tools> as you like"),
            Some((ParseStep::Tags, vec!["[1]"]))
        );
        assert_eq!(inside("[TOOL_LIST] [1] [/TOOL_LIST]"), Some((ParseStep::Tags, vec!["[1]"])));
        assert_eq!(
            inside("<tool id=\"1\">{}</tool>\n<tool id=\"2\">[]</tool>"),
            Some((ParseStep::Tags, vec!["{}", "[]"]))
        );
        assert_eq!(
            inside("Within <tools></tools> tags: <tools>{}</tools>"),
            Some((ParseStep::Tags, vec!["{}"]))
        );
        assert_eq!(inside("[{'name': 'f', 'description': 'reads <tools> tags'}]"), None);
    }

    #[test]
    fn the_right_side_of_an_assignment_is_peeled() {
        for text in [
            "tools = [1]",
            "const tools: Tool[] = [1];",
            "self.tools: List[Any] = [1]",
            "functions: [1]",
            "export const tools = [1] as const;",
            "export default [1];",
            "tools := [1]",
            "$tools => [1],",
            "const tools = [1] satisfies Tool[];",
        ] {
            assert_eq!(assigned(text).map(|part| text[part].trim()), Some("[1]"), "{text}");
        }
        for text in ["def f(x={})", "I said = nothing", "name: f", "tags: [1]\nname: f"] {
            assert_eq!(assigned(text), None, "{text}");
        }
    }

    #[test]
    fn parts_in_prose_are_found() {
        let find = |text: &str| {
            let parts = within_prose(&Layer::new(text, &Allowance::of(text)))?;
            Some(parts.into_iter().map(|part| text[part].to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(find("Here's my list: [1, 2]. Thanks").unwrap(), ["[1, 2]"]);
        assert_eq!(find("[1, 2] is my list").unwrap(), ["[1, 2]"]);
        assert_eq!(find("Use {} or []").unwrap(), ["{}", "[]"]);
        assert_eq!(find("Fill {city} in: {\"a\": 1}. Answer [name(x)]").unwrap(), ["{\"a\": 1}"]);
        assert_eq!(find("Use {\"a\"").unwrap(), ["{\"a\""]);
        assert_eq!(find("{\"a\": 1} \"b\": 2}"), None);
        assert_eq!(find("{\"a\": 1}"), None);
    }
}
