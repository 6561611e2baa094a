//! Blanks, punctuation and bare keys, in the forms that people type.

/// The plain mark that a full-width one stands for.
pub(crate) fn plain_mark(c: char) -> char {
    match c {
        '，' | '、' => ',',
        '：' => ':',
        '；' => ';',
        '｛' => '{',
        '｝' => '}',
        '［' | '【' => '[',
        '］' | '】' => ']',
        '（' => '(',
        '）' => ')',
        '＝' => '=',
        other => other,
    }
}

/// Whether a character may stand between tokens: blanks of any script and characters without width.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{00ad}' | '\u{180e}')
}

/// How many bytes of blanks a text begins with.
pub(crate) fn blanks_len(text: &str) -> usize {
    text.find(|c| !is_blank(c)).unwrap_or(text.len())
}

/// A key without quotes: a name, with the dots and dashes of headers, or a number.
pub(crate) fn bare_key(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    let key = &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())];
    if key.starts_with(['.', '-']) { "" } else { key }
}
