//! The JSON object in the answer of a language model.
//!
//! Servers that follow a JSON Schema answer with the object alone. Others put it in a code fence, or text before and after it,
//! or thoughts in `<think>` tags before it. Nothing is repaired: an object that is cut off or damaged is no answer.

use serde_json::{Map, Value};

/// The end of a model's thoughts.
const END_OF_THOUGHTS: &str = "</think>";

/// Returns the object of an answer; `None` if there is no whole object, or there are several different ones.
pub fn object_in(answer: &str) -> Option<Map<String, Value>> {
    let text = answer.rsplit_once(END_OF_THOUGHTS).map_or(answer, |(_, text)| text).trim();
    if let Ok(object) = serde_json::from_str(text) {
        return Some(object);
    }
    let mut found: Option<Map<String, Value>> = None;
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        match objects.next() {
            Some(Ok(object)) => {
                rest = &rest[objects.byte_offset()..];
                if found.as_ref().is_some_and(|found| *found != object) {
                    return None;
                }
                found = Some(object);
            }
            _ => rest = &rest[1..],
        }
    }
    found
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
            format!("{plain}\n{plain}"),
        ] {
            assert_eq!(object_in(&answer).expect(&answer)["quote"], "a {b}", "{answer}");
        }
    }

    #[test]
    fn what_is_cut_off_damaged_or_ambiguous_is_no_answer() {
        for answer in [
            "",
            "yes",
            "[1]",
            r#"{"verdict": "yes", "quo"#,
            r#"{"verdict": "yes"} {"verdict": "no"}"#,
            "{verdict: yes}",
        ] {
            assert_eq!(object_in(answer), None, "{answer}");
        }
        // Braces of any number take linear time for each brace that opens no object.
        assert_eq!(object_in(&"{".repeat(2_000)), None);
    }
}
