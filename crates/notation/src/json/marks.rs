//! Whitespace, punctuation and bare keys, in the forms that people type.

/// Returns the plain form of a full-width punctuation mark.
pub fn plain_mark(c: char) -> char {
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

/// Returns true for characters allowed between tokens: whitespace of any script and zero-width characters.
pub fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{00ad}' | '\u{180e}')
}

/// Returns the length of the whitespace at the start of a text.
pub fn blanks_len(text: &str) -> usize {
    text.find(|c| !is_blank(c)).unwrap_or(text.len())
}

/// Returns a key without quotes: a name, with the dots and dashes of headers, or a number.
pub fn bare_key(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
    let key = &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())];
    if key.starts_with(['.', '-']) { "" } else { key }
}
