//! What people leave around the JSON when they paste it.
//!
//! Peels one layer off a text: `<tools>` tags, a markdown fence, an assignment, or
//! prose around one bracketed part. A text that could hold several answers (two
//! fences, two parts in prose) is left whole, so that nothing is dropped in
//! silence. Blanks and a byte-order mark are cut by the ladder in `parse`.

use std::ops::Range;

use super::outline::Outline;
use super::step::Step;

/// Pairs of tags that doc lists stand between in prompts.
const TAGS: [(&str, &str); 3] =
    [("<tools>", "</tools>"), ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"), ("[TOOL_LIST]", "[/TOOL_LIST]")];

/// The most bytes the left side of an assignment has.
const MAX_TARGET_BYTES: usize = 80;

/// What was peeled off, and where the text inside stands.
pub(super) fn peel(text: &str) -> Option<(Step, Range<usize>)> {
    tagged(text)
        .map(|inner| (Step::Tags, inner))
        .or_else(|| fenced(text).map(|inner| (Step::Fence, inner)))
        .or_else(|| assigned(text).map(|inner| (Step::Assignment, inner)))
}

/// The only bracketed part of a text that begins with something else.
pub(super) fn amid_prose(text: &str, outline: &Outline) -> Option<Range<usize>> {
    match outline.parts.as_slice() {
        [part] if outline.left_open.is_none() && part.len() < text.len() => Some(part.clone()),
        _ => None,
    }
}

fn tagged(text: &str) -> Option<Range<usize>> {
    TAGS.iter().filter(|(open, _)| text.starts_with(open) || !is_bracketed(text)).find_map(|(open, close)| {
        let start = text.find(open)? + open.len();
        let end = text[start..].find(close).map_or(text.len(), |at| start + at);
        (!text[end..].contains(open)).then_some(start..end)
    })
}

/// Between the fences, without the language after the first one.
fn fenced(text: &str) -> Option<Range<usize>> {
    const FENCE: &str = "```";
    if is_bracketed(text) {
        return None;
    }
    let open = text.find(FENCE)? + FENCE.len();
    let language = text[open..].find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len() - open);
    let start = open + language;
    let body = &text[start..];
    // Inside JSON a fence can only stand in a string, and never at the start of a line.
    let own_line = body.find("\n```").map(|at| at + 1);
    let end = start + own_line.or_else(|| body.rfind(FENCE)).unwrap_or(body.len());
    let after = text.get(end + FENCE.len()..).unwrap_or("");
    (!after.contains(FENCE)).then_some(start..end)
}

/// Whether a text begins like a value, so that a tag or a fence in it can only stand in a string.
fn is_bracketed(text: &str) -> bool {
    text.starts_with(['[', '{', '(', '"', '\''])
}

/// The right side of `tools = …`, `const tools: Tool[] = …;` or `tools: […]`.
fn assigned(text: &str) -> Option<Range<usize>> {
    let is_value = |rest: &str| rest.trim_start().starts_with(['[', '{', '(', '"', '\'']);
    let is_target = |target: &str| {
        target.len() <= MAX_TARGET_BYTES
            && target.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && target.chars().all(|c| c.is_alphanumeric() || " _.:,|<>[]".contains(c))
    };
    let start = [text.find('='), text.find(':')]
        .into_iter()
        .flatten()
        .find(|at| is_target(text[..*at].trim_end()) && is_value(&text[at + 1..]))?
        + 1;
    Some(start..text.trim_end_matches([';', ' ', '\n']).len().max(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::parse::outline::outline;

    fn inside(text: &str) -> Option<(Step, &str)> {
        peel(text).map(|(step, inner)| (step, text[inner].trim()))
    }

    #[test]
    fn a_fence_is_peeled_with_its_language_and_the_prose_around_it() {
        for text in ["```json\n[1]\n```", "Here:\n```\n[1]\n```\nThanks!", "```[1]```", "```python\n[1]"] {
            assert_eq!(inside(text), Some((Step::Fence, "[1]")), "{text}");
        }
    }

    #[test]
    fn a_fence_inside_a_string_does_not_end_the_text() {
        let text = "```json\n[\"use ```x``` here\"]\n```";
        assert_eq!(inside(text), Some((Step::Fence, "[\"use ```x``` here\"]")));
        assert_eq!(inside("[\"use ```x``` here\",]"), None);
    }

    #[test]
    fn two_fences_are_left_alone() {
        assert_eq!(inside("```json\n{}\n```\nand\n```json\n{}\n```"), None);
    }

    #[test]
    fn tags_are_peeled_wherever_they_stand() {
        assert_eq!(inside("You may call <tools> [1] </tools> as you like"), Some((Step::Tags, "[1]")));
        assert_eq!(inside("[TOOL_LIST] [1] [/TOOL_LIST]"), Some((Step::Tags, "[1]")));
        assert_eq!(inside("<tools>{}</tools><tools>{}</tools>"), None);
        assert_eq!(inside("[{'name': 'f', 'description': 'reads <tools> tags'}]"), None);
    }

    #[test]
    fn the_right_side_of_an_assignment_is_peeled() {
        for text in
            ["tools = [1]", "const tools: Tool[] = [1];", "self.tools: List[Any] = [1]", "functions: [1]"]
        {
            assert_eq!(inside(text), Some((Step::Assignment, "[1]")), "{text}");
        }
        for text in ["def f(x={})", "I said = nothing", "name: f"] {
            assert_eq!(inside(text), None, "{text}");
        }
    }

    #[test]
    fn one_part_amid_prose_is_found_and_two_are_not() {
        let find = |text: &str| amid_prose(text, &outline(text)).map(|part| text[part].to_owned());
        assert_eq!(find("Here's my list: [1, 2]. Thanks").as_deref(), Some("[1, 2]"));
        assert_eq!(find("Use {} or {}"), None);
        assert_eq!(find("Use {\"a\""), None);
    }
}
