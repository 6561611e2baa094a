//! The JSON object in the answer of a language model.
//!
//! Servers that follow a JSON Schema answer with the object alone. Others put it in a code fence, or text before and after it,
//! or thoughts in `<think>` tags before it. The judged texts may have such tags and objects too, and a model may repeat them: an
//! answer that is JSON is read as it is, tags inside its texts are text, and of two different objects none is taken. Nothing is
//! repaired: an object that is cut off or damaged is no answer. The search takes bounded time, whatever the answer.

use serde_json::{Map, Value};

/// The tags around a model's thoughts, which are the beginning of its answer.
const THOUGHTS: (&str, &str) = ("<think>", "</think>");

/// Most bytes that are read in vain. An answer has few braces that begin no object; one with hundreds of thousands is no answer,
/// and reading from each of them to the deepest level would take seconds.
const MAX_IN_VAIN: usize = 1 << 18;

/// Returns the object of an answer; `is_cut` if it ended at its longest length.
///
/// Only thoughts with both tags are left out. A closing tag alone does not say whether the model wrote it or repeated it, so the
/// objects before it count as well.
///
/// # Errors
/// Why there is none: the answer is cut off, has no whole object, or several different ones.
pub fn object_in(answer: &str, is_cut: bool) -> Result<Map<String, Value>, &'static str> {
    let text = answer.trim();
    if let Ok(object) = serde_json::from_str(text) {
        return Ok(object);
    }
    let mut found: Option<Map<String, Value>> = None;
    let mut search = Search { in_vain: 0 };
    let mut rest = search.without_thoughts(text);
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        match search.object_at(rest) {
            Some((object, length)) => {
                rest = &rest[length..];
                if found.as_ref().is_some_and(|found| *found != object) {
                    return Err("the answer has several different JSON objects");
                }
                found = Some(object);
            }
            None => rest = &rest[1..],
        }
    }
    found.ok_or(if is_cut { "the answer is cut off" } else { "the answer is no JSON object" })
}

/// A search for objects that ends after a bounded number of bytes.
struct Search {
    /// Bytes that were read in vain.
    in_vain: usize,
}

impl Search {
    /// Returns the text after the thoughts at its beginning; nothing if they do not end. A tag inside an object is not their end.
    fn without_thoughts<'t>(&mut self, text: &'t str) -> &'t str {
        let (open, close) = THOUGHTS;
        let Some(mut rest) = text.strip_prefix(open) else { return text };
        while let Some(at) = rest.find(['{', '<']) {
            rest = &rest[at..];
            if let Some(answer) = rest.strip_prefix(close) {
                return answer;
            }
            rest = &rest[self.object_at(rest).map_or(1, |(_, length)| length)..];
        }
        ""
    }

    /// Returns the object with which a text begins, and its length; none once too much was read in vain.
    fn object_at(&mut self, text: &str) -> Option<(Map<String, Value>, usize)> {
        // Of an object the first sign after the brace is a quote or the other brace.
        let begins = |rest: &str| rest.trim_ascii_start().starts_with(['"', '}']);
        if self.in_vain > MAX_IN_VAIN || !text.strip_prefix('{').is_some_and(begins) {
            return None;
        }
        let mut objects = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
        match objects.next()? {
            Ok(object) => Some((object, objects.byte_offset())),
            Err(error) => {
                self.in_vain += bytes_before(text, error.line(), error.column());
                None
            }
        }
    }
}

/// Returns the bytes before a place in a text, which is given by its line and column, both from one.
fn bytes_before(text: &str, line: usize, column: usize) -> usize {
    let lines = memchr::memchr_iter(b'\n', text.as_bytes());
    let start = line.checked_sub(2).and_then(|nth| lines.into_iter().nth(nth)).map_or(0, |at| at + 1);
    start + column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_is_found_alone_in_a_fence_between_words_and_after_thoughts() {
        let plain = r#"{"verdict": "yes", "quote": "a {b}"}"#;
        for answer in [
            plain.to_owned(),
            format!("```json\n{plain}\n```"),
            format!("Here it is: {plain} I hope it helps."),
            format!("<think>{{\"verdict\": \"no\"}} or not?</think>\n{plain}"),
            format!("<think>\n</think>\n\n{plain}"),
            format!("The template wrote the first tag.</think>\n{plain}"),
            format!("{plain}\n{plain}"),
        ] {
            assert_eq!(object_in(&answer, false).expect(&answer)["quote"], "a {b}", "{answer}");
        }
    }

    #[test]
    fn a_tag_that_is_quoted_neither_hides_the_answer_nor_gives_another() {
        let quoting =
            r#"{"reason": "They wrote </think> {\"verdict\": \"no\"} and <think>.", "verdict": "yes"}"#;
        for answer in [
            quoting.to_owned(),
            format!("```json\n{quoting}\n```"),
            format!("My verdict: {quoting}"),
            format!("<think>Hm.</think>{quoting}"),
            format!(r#"<think>Not {{"verdict": "no </think> {{}}"}}.</think>{quoting}"#),
            format!("<think>They wrote {quoting}, so no.</think>{quoting} That is all about </think>."),
        ] {
            assert_eq!(object_in(&answer, false).expect(&answer)["verdict"], "yes", "{answer}");
        }
        let (yes, no) = (r#"{"verdict": "yes"}"#, r#"{"verdict": "no"}"#);
        for answer in [
            format!("{yes}\nThe message also has </think> {no}"),
            format!("```json\n{yes}\n```\nIt has:\n</think>\n\n```json\n{no}\n```"),
            format!("It has </think>{no}, but: {yes}"),
            format!("<think>Hm.</think>{yes} It has </think>{no}"),
            format!("<think>It has </think>{no}. So it is yes.</think>{yes}"),
        ] {
            assert_eq!(
                object_in(&answer, false),
                Err("the answer has several different JSON objects"),
                "{answer}"
            );
        }
    }

    #[test]
    fn an_answer_of_nested_braces_is_read_for_a_bounded_number_of_bytes() {
        for nested in [
            format!("{}{}", "[".repeat(300_000), "{\"a\":".repeat(100_000)),
            "{\"a\":\n".repeat(100_000),
            "{\"a\":[".repeat(100_000),
            format!("<think>{}", "{\"a\":".repeat(100_000)),
            "{ ".repeat(300_000),
        ] {
            let mut search = Search { in_vain: 0 };
            let mut rest = search.without_thoughts(&nested);
            while let Some(at) = rest.find('{') {
                assert!(search.object_at(&rest[at..]).is_none());
                rest = &rest[at + 1..];
            }
            // Not more than one attempt after the bound, to the deepest level.
            assert!(search.in_vain <= MAX_IN_VAIN + 1024, "{}", search.in_vain);
            assert_eq!(object_in(&nested, false), Err("the answer is no JSON object"));
        }
        // What stops an attempt is behind the bytes that it has read.
        let mut search = Search { in_vain: 0 };
        assert!(search.object_at("{\"a\":\n 1,\n x}").is_none());
        assert_eq!(search.in_vain, "{\"a\":\n 1,\n x".len());
        // An object after many braces is still found.
        let answer = format!("{}{{\"verdict\": \"yes\"}}", "{x} ".repeat(50_000));
        assert_eq!(object_in(&answer, false).unwrap()["verdict"], "yes");
    }

    #[test]
    fn what_is_cut_off_damaged_or_ambiguous_is_no_answer() {
        for answer in [
            "",
            "yes",
            "[1]",
            r#"{"verdict": "yes", "quo"#,
            r#"<think>{"verdict": "yes"} or"#,
            "{verdict: yes}",
        ] {
            assert_eq!(object_in(answer, false), Err("the answer is no JSON object"), "{answer}");
            assert_eq!(object_in(answer, true), Err("the answer is cut off"), "{answer}");
        }
        let two = r#"{"verdict": "yes"} {"verdict": "no"}"#;
        assert_eq!(object_in(two, false), Err("the answer has several different JSON objects"));
        // Braces of any number take linear time for each brace that opens no object.
        assert!(object_in(&"{".repeat(2_000), false).is_err());
        assert!(object_in(&format!("<think>{}", "<{".repeat(2_000)), false).is_err());
    }
}
