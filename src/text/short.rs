//! Shortens texts for display.

/// Returns at most `max_chars` characters of a text; an ellipsis marks a shortened one.
pub fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
