//! The JSON object in the answer of a language model.
//!
//! Servers that follow a JSON Schema answer with the object alone. Others put it in a code fence, or text before and after it,
//! or thoughts in `<think>` tags before it. The judged texts may have such tags and objects too, and a model may repeat them: an
//! answer that is JSON is read as it is, tags inside its texts are text, and of two different objects none is taken. Nothing is
//! repaired: an object that is cut off or damaged is no answer.

use serde_json::{Map, Value};

/// The tags around a model's thoughts, which are the beginning of its answer.
const THOUGHTS: (&str, &str) = ("<think>", "</think>");

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
    let mut rest = without_thoughts(text);
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        match object_at(rest) {
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

/// Returns the text after the thoughts at its beginning; nothing if they do not end. A tag inside an object is not their end.
fn without_thoughts(text: &str) -> &str {
    let (open, close) = THOUGHTS;
    let Some(mut rest) = text.strip_prefix(open) else { return text };
    while let Some(at) = rest.find(['{', '<']) {
        rest = &rest[at..];
        if let Some(answer) = rest.strip_prefix(close) {
            return answer;
        }
        rest = &rest[object_at(rest).map_or(1, |(_, length)| length)..];
    }
    ""
}

/// Returns the object with which a text begins, and its length.
fn object_at(text: &str) -> Option<(Map<String, Value>, usize)> {
    if !text.starts_with('{') {
        return None;
    }
    let mut objects = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let object = objects.next()?.ok()?;
    Some((object, objects.byte_offset()))
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
