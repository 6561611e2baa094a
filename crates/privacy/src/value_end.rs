//! The end of a value: the closing quote, the first character that no password has, or the punctuation of a sentence.

use super::random::LEAST_RANDOM;
use super::secret::head;

/// Returns the end of a quoted value without whitespace.
pub(super) fn quoted(text: &str, from: usize, quote: char, least: usize) -> Option<usize> {
    let shown = head(&text[from..]);
    let length =
        shown.find(|c: char| c == quote || c.is_whitespace() || c == '\\' || c == '<' || c == '{')?;
    (length >= least && shown[length..].starts_with(quote)).then_some(from + length)
}

/// Returns the length in bytes of a password at the start of a text. Longer text is not a password.
pub(super) fn password_end(shown: &str) -> usize {
    let is_part = |c: char| {
        !c.is_whitespace() && !c.is_control() && !r#""'\`,;<>(){}[]&"#.contains(c) && !is_foreign_mark(c)
    };
    // Without spaces between words, a password of Latin letters ends where the script changes.
    let is_latin = shown.starts_with(|c: char| c.is_ascii());
    let is_of_sentence = |c: char| is_latin && is_unparted(c);
    shown.find(|c| !is_part(c) || is_of_sentence(c)).unwrap_or(shown.len())
}

/// Returns the end of a password from byte `from`. After an equals sign an ampersand begins the next parameter,
/// elsewhere it is part of the password.
pub(super) fn whole_password_end(text: &str, from: usize) -> usize {
    let shown = head(&text[from..]);
    let mut end = password_end(shown);
    // In a query string another parameter follows.
    let is_query = |behind: &str| {
        let next = behind.find(['&', '=', ' ', '\n', '"', '\'']).map(|at| behind.as_bytes()[at]);
        text[..from].ends_with('=') && next == Some(b'=')
    };
    while shown[end..]
        .strip_prefix('&')
        .is_some_and(|behind| behind.starts_with(char::is_alphanumeric) && !is_query(behind))
    {
        end += 1 + password_end(&shown[end + 1..]);
    }
    end
}

/// Non-ASCII quotes, dashes and marks that end a sentence, which are not typed in a password.
fn is_foreign_mark(c: char) -> bool {
    matches!(u32::from(c),
        0xa1 | 0xab | 0xb7 | 0xbb | 0xbf
        // Arabic, Armenian, Hebrew, Indian, Ethiopian, Khmer.
        | 0x060c | 0x061b | 0x061f | 0x06d4 | 0x0589 | 0x05be..=0x05c3 | 0x0964..=0x0965 | 0x1361..=0x1368 | 0x17d4..=0x17da
        // General, Chinese and Japanese, full width.
        | 0x2010..=0x205e | 0x3000..=0x3020 | 0x30fb | 0xfe10..=0xfe6b | 0xff01..=0xff0f | 0xff1a..=0xff20 | 0xff3b..=0xff40
        | 0xff5b..=0xff65)
}

/// Letters of scripts without spaces between words.
fn is_unparted(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff
        | 0xac00..=0xd7af | 0xf900..=0xfaff)
}

/// Returns the value without the stars or underscores that close an emphasis opened before it (`**…**`, `_…_`).
pub(super) fn without_emphasis<'t>(text: &str, from: usize, value: &'t str) -> &'t str {
    match text[..from].chars().next_back() {
        Some(mark @ ('*' | '_' | '~')) => value.trim_end_matches(mark),
        _ => value,
    }
}

/// Returns the value without the punctuation of its sentence; the padding of base64 is kept.
pub(super) fn without_punctuation(value: &str) -> &str {
    let bare = value.trim_end_matches(['.', '=', '!', '?', ':', '/', '-']);
    let padded = value.trim_end_matches(['.', '!', '?', ':']);
    let n_padding = padded.len().saturating_sub(bare.len());
    let is_padded = (1..=2).contains(&n_padding)
        && padded.len().is_multiple_of(4)
        && padded[bare.len()..].bytes().all(|byte| byte == b'=');
    if is_padded && bare.len() >= LEAST_RANDOM { padded } else { bare }
}
