//! Texts from outside in messages: what a server or another program wrote, of any length.

use std::borrow::Cow;

/// Most characters of a text from outside in a message.
pub(crate) const MAX_OUTSIDE_CHARS: usize = 300;

/// Returns a text from outside as messages show it: no longer than `MAX_OUTSIDE_CHARS`, and a sign that there is more.
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_OUTSIDE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let whole = "é".repeat(MAX_OUTSIDE_CHARS);
        assert_eq!(shortened(&whole), whole);
        assert_eq!(shortened(&format!("{whole}é")), format!("{whole}…"));
    }
}
