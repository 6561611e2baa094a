//! The marks that loggers write in place of text that they did not keep: truncated and hidden strings.
//!
//! A truncated text is never partly read. The marks are long enough not to occur by chance.

use memchr::memmem;
use serde_json::Value;

use crate::reasons::{CONTENT_NOT_STORED, ItemFault, TRUNCATED};
use callsieve_bfcl::conversation::Message;

/// A substring of all marks. Hardly any other text holds it, so most texts are searched once.
const SIGN: &[u8] = b"litellm";

/// Marks of a truncated string.
const CUT: &[&str] = &[
    "(litellm_truncated ",
    "{\"litellm_truncated\":",
    "truncated by litellm, this logger does not support large content",
    "[truncated by litellm]",
];

/// The replacement of a hidden text.
const HIDDEN: &str = "redacted-by-litellm";

/// Returns the mark of truncation in a text, if there is one.
pub(super) fn cut_mark(text: &str) -> Option<&'static str> {
    memmem::find(text.as_bytes(), SIGN)?;
    CUT.iter().copied().find(|mark| text.contains(mark))
}

/// Returns `true` if the logger hid the text.
pub(super) fn is_hidden(text: &str) -> bool {
    text == HIDDEN
}

/// Returns the fault of messages whose text the logger did not keep, if any.
pub(super) fn missing_text(messages: &[Message]) -> Option<ItemFault> {
    messages.iter().find_map(|message| {
        if is_hidden(&message.content) {
            return Some(ItemFault::new(CONTENT_NOT_STORED, "a message was hidden by the logger"));
        }
        let mark = cut_mark(&message.content)
            .or_else(|| message.calls.iter().find_map(|call| cut_mark_within(&call.arguments)));
        mark.map(|mark| ItemFault::new(TRUNCATED, format!("a message holds the mark {mark:?}")))
    })
}

fn cut_mark_within(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => cut_mark(text),
        Value::Array(list) => list.iter().find_map(cut_mark_within),
        Value::Object(fields) => fields.values().find_map(cut_mark_within),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callsieve_bfcl::conversation::Role;

    #[test]
    fn truncated_and_hidden_texts_are_distinguished_from_texts_about_them() {
        let reason = |text: &str| missing_text(&[Message::text(Role::User, text)]).map(|fault| fault.reason);
        assert_eq!(reason("a... (litellm_truncated 12 chars) ...b"), Some(TRUNCATED));
        assert_eq!(reason("[truncated by litellm]...b"), Some(TRUNCATED));
        assert_eq!(reason("redacted-by-litellm"), Some(CONTENT_NOT_STORED));
        assert_eq!(reason("What does litellm_truncated mean?"), None);
    }
}
