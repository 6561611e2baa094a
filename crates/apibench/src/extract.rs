//! The API call in a response, cut out exactly as the published scripts do.
//!
//! A response looks like `<<<domain>>>: …, <<<api_call>>>: CALL, <<<api_provider>>>: …`. The scripts take the text between the first
//! `api_call` and the next `api_provider` (or the next `api_call`), skip to the second character after its first colon, and stop at
//! its last closing parenthesis. Code fences have no role. Positions count characters, as in Python.

use crate::hub::Hub;

/// The label before the call.
const CALL: &str = "api_call";
/// The label after the call.
const PROVIDER: &str = "api_provider";

/// Returns the text that the script of a hub parses as the API call, or `None` if the script rejects the format.
///
/// Without the label `api_call`, the scripts of Hugging Face and TensorFlow Hub parse the whole response, and that of `PyTorch` Hub
/// rejects it.
pub fn api_call(hub: Hub, response: &str) -> Option<&str> {
    let mut parts = response.split(CALL);
    let before = parts.next().unwrap_or_default();
    match parts.next() {
        Some(after) => Some(labelled(after.split(PROVIDER).next().unwrap_or_default())),
        None if hub == Hub::TorchHub => None,
        None => Some(before),
    }
}

/// Cuts `[colon + 2 : last parenthesis + 1]`. Without a colon, the cut starts at 2; without a parenthesis, the last character is
/// dropped, because the script then ends the slice at -1.
fn labelled(text: &str) -> &str {
    let colon = text.find(':').unwrap_or(0);
    let start = text[colon..].char_indices().nth(2).map_or(text.len(), |(at, _)| colon + at);
    let end = match text.rfind(')') {
        Some(at) => at + 1,
        None => text.char_indices().next_back().map_or(0, |(at, _)| at),
    };
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_call_ends_at_the_last_parenthesis_before_the_provider() {
        for (response, expected) in [
            ("<<<domain>>>: D, <<<api_call>>>: hub.load('x'), <<<api_provider>>>: P (2)", "hub.load('x')"),
            ("<<<api_call>>>: m = hub.load('x')\n<<<api_provider>>>: P", "m = hub.load('x')"),
            // The quote of the dictionary form stays, and so does a colon inside the call.
            ("{'api_call': \"hub.load('a:b')\", 'api_provider': 'P'}", "\"hub.load('a:b')"),
            ("api_call hub.load('x')", "ub.load('x')"),
            // Only the space before the colon is skipped, not the letter after it.
            ("api_call:hub.load('x')", "ub.load('x')"),
            ("<<<api_call>>>: hub.load\n", "hub.load"),
            ("<<<api_call>>>: a(1) <<<api_call>>>: b(2)", "a(1)"),
            ("api_call) : x", ""),
            ("api_call", ""),
            ("api_call:é(x)", "(x)"),
        ] {
            assert_eq!(api_call(Hub::TensorFlowHub, response), Some(expected), "{response}");
        }
    }

    #[test]
    fn a_response_without_the_label_is_parsed_whole_except_by_the_script_of_pytorch_hub() {
        let response = "Use hub.load('x').";
        assert_eq!(api_call(Hub::HuggingFace, response), Some(response));
        assert_eq!(api_call(Hub::TensorFlowHub, response), Some(response));
        assert_eq!(api_call(Hub::TorchHub, response), None);
    }

    proptest! {
        #[test]
        fn every_text_has_a_cut_that_is_part_of_it(response in "(api_call|api_provider|[:() é'a])*") {
            if let Some(cut) = api_call(Hub::HuggingFace, &response) {
                prop_assert!(response.contains(cut));
            }
        }
    }
}
