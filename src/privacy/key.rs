//! Secrets: keys of known services by their form (`vendors`), private keys, addresses of webhooks, passwords on a command line
//! (`forms`), and random values after a word such as `key` or `password` (`secret_words`).
//!
//! A random value alone is never enough: hashes of commits, ids of requests and UUIDs look the
//! same. One pass over the text (Aho-Corasick) looks for all starts, marks and words, of `token` too.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::context::is_joined_before;
use super::forms::{self, Form};
use super::secret_words::{self, Word};
use super::vendors::{INNERS, Inner, Letters, VENDORS, Vendor, WEBHOOKS};
use super::{Found, Kind, Standing};

/// In the middle of a `RapidAPI` key: 10 letters and digits, `msh`, 15, `p1`, 6, `jsn`, 11.
const RAPID_API: &str = "msh";
const RAPID_API_LENGTH: usize = 50;
const RAPID_API_MARKS: [(usize, &str); 3] = [(10, "msh"), (28, "p1"), (36, "jsn")];
/// What a JSON web token begins with, fewest bytes of one, and its parts: signed, and encrypted.
const JWT: &str = "eyJ";
const LEAST_JWT: usize = 20;
const JWT_PARTS: [usize; 2] = [3, 5];
/// Parts of values that stand for a secret.
const STAND_INS: [&str; 14] = [
    "your",
    "example",
    "xxxx",
    "placeholder",
    "dummy",
    "sample",
    "changeme",
    "insert",
    "1234567890",
    "abcdef123",
    "****",
    "redacted",
    "fake",
    "secret",
];
/// Parts of names in programs, which a password is not made of.
const PROGRAM_WORDS: [&str; 24] = [
    "pass", "secret", "config", "setting", "env", "process", "string", "user", "token", "key", "value",
    "field", "param", "input", "type", "request", "response", "auth", "login", "data", "text", "null",
    "none", "name",
];
/// Fewest characters of a random value, of one that no joint ties to its word, and of a password.
pub(super) const LEAST_RANDOM: usize = 16;
const LEAST_UNTIED: usize = 20;
const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 6..=64;
/// Fewest letters of one in base32.
const LEAST_BASE32: usize = 24;
/// Fewest bits a character of a random value: hex has up to 4, words with digits some 3.
const LEAST_ENTROPY: f64 = 2.8;
/// Fewest letters of either size, and fewest bits a character, of a key without digits.
const MIXED_LETTERS: usize = 5;
const MIXED_ENTROPY: f64 = 3.5;
/// Fewest bits a character of a long value that dashes part.
const LONG_ENTROPY: f64 = 4.4;
/// Bytes by which a long value is judged.
const MAX_JUDGED: usize = 512;
/// The stretches that [`Seen`] keeps, after one for each alphabet of `vendors`.
const BEHIND_WORD: usize = Letters::COUNT;
const JWT_PART: usize = BEHIND_WORD + 1;
const N_STRETCHES: usize = JWT_PART + JWT_PARTS[1];
/// Fewest zeros by which a placeholder of ours is known.
const LEAST_ZEROS: usize = 3;

static STARTS: LazyLock<(Vec<Start>, AhoCorasick)> = LazyLock::new(|| {
    let (mut starts, mut patterns) = (Vec::new(), Vec::new());
    let mut add = |pattern: &'static str, start: Start| {
        patterns.push(pattern);
        starts.push(start);
    };
    for vendor in VENDORS {
        add(vendor.start, Start::Vendor(vendor));
    }
    for inner in INNERS {
        add(inner.mark, Start::Inner(inner));
    }
    for &(mark, least) in WEBHOOKS {
        add(mark, Start::Webhook(least));
    }
    for (words, word) in secret_words::WORDS {
        for pattern in words {
            add(pattern, Start::Word(word));
        }
    }
    for (pattern, form) in forms::FORMS {
        add(pattern, Start::Form(form));
    }
    add(RAPID_API, Start::RapidApi);
    add(JWT, Start::Jwt);
    // All of them, also those that overlap: a short start must not hide a word.
    let matcher = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(patterns);
    (starts, matcher.expect("a list of some hundred short patterns"))
});

#[derive(Debug, Clone, Copy)]
enum Start {
    Vendor(&'static Vendor),
    Inner(&'static Inner),
    Webhook(usize),
    Word(Word),
    Form(Form),
    RapidApi,
    Jwt,
}

/// Finds keys and tokens.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let mut seen = Seen::default();
    for hit in STARTS.1.find_overlapping_iter(text) {
        let start = STARTS.0[hit.pattern().as_usize()];
        let value = match start {
            Start::Word(word) => behind_word(text, hit.start(), hit.end(), word, &mut seen),
            _ => sure(start, text, &hit.range(), &mut seen),
        };
        if let Some(value) = value {
            seen.done[usize::from(value.kind == Kind::Token)] = value.end;
            found.push(value);
        }
    }
}

/// A secret that its own form gives away.
fn sure(start: Start, text: &str, hit: &Range<usize>, seen: &mut Seen) -> Option<Found> {
    match start {
        Start::Vendor(vendor) => known(text, hit, vendor, seen),
        Start::Inner(inner) => around(text, hit, inner),
        Start::Webhook(least) => webhook(text, hit, least, seen),
        Start::Form(form) => forms::read(text, hit, form, seen),
        Start::RapidApi => rapid_api(text, hit.start),
        Start::Jwt => jwt(text, hit, seen),
        Start::Word(_) => None,
    }
}

/// A text without a secret of a known form, and without a word before one, holds none.
pub(super) fn may_hold(text: &str) -> bool {
    let mut seen = Seen::default();
    STARTS.1.find_overlapping_iter(text).any(|hit| match STARTS.0[hit.pattern().as_usize()] {
        Start::Word(word) => secret_words::tie(text, hit.start(), hit.end(), word).is_some(),
        start => sure(start, text, &hit.range(), &mut seen).is_some(),
    })
}

/// What was seen of a text, so that nothing is gone over again and again.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The last stretch of letters that a value may have, for each kind of stretch.
    stretches: [Range<usize>; N_STRETCHES],
    /// Where the last key and the last token end.
    done: [usize; 2],
    /// Where the next end of a private key is, from the byte it was looked for.
    pub(super) next_end: Option<(usize, Option<usize>)>,
}

impl Seen {
    /// The end of the stretch from byte `from`.
    fn end(&mut self, which: usize, bytes: &[u8], from: usize, is_part: impl Fn(u8) -> bool) -> usize {
        let stretch = &mut self.stretches[which];
        if !stretch.contains(&from) {
            let length = bytes[from..].iter().take_while(|&&byte| is_part(byte)).count();
            *stretch = from..from + length;
        }
        stretch.end
    }

    /// The end of the stretch of these letters from byte `from`.
    pub(super) fn end_of(&mut self, letters: Letters, bytes: &[u8], from: usize) -> usize {
        self.end(letters as usize, bytes, from, |byte| letters.has(byte))
    }

    /// A value of the kind that begins here is a part of the last one.
    fn is_part(&self, kind: Kind, from: usize) -> bool {
        from < self.done[usize::from(kind == Kind::Token)]
    }
}

/// The part of a value by which it is judged.
pub(super) fn head(value: &str) -> &str {
    &value[..value.floor_char_boundary(MAX_JUDGED)]
}

pub(super) fn secret(text: &str, span: Range<usize>, kind: Kind) -> Found {
    let value = &text[span.clone()];
    let standing = number(value).map_or(Standing::Personal, |number| Standing::Placeholder(Some(number)));
    Found::new(kind, span.start, span.end, value, standing)
}

fn known(text: &str, hit: &Range<usize>, vendor: &Vendor, seen: &mut Seen) -> Option<Found> {
    let bytes = text.as_bytes();
    if is_joined_before(bytes, hit.start) || seen.is_part(vendor.kind, hit.start) {
        return None;
    }
    let stretch = seen.end_of(vendor.letters, bytes, hit.end);
    let is_exact = vendor.most != usize::MAX;
    let padding: &[char] = if vendor.letters == Letters::Base64 { &['.', '-'] } else { &['.', '-', '='] };
    let body = text[hit.end..stretch].trim_end_matches(padding);
    let end = hit.end + body.len();
    let goes_on = bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    if body.len() < vendor.least
        || body.len() > vendor.most
        || (goes_on && (is_exact || vendor.letters == Letters::Hex))
    {
        return None;
    }
    let judged = head(body);
    let is_right = is_random(judged)
        || is_mixed(judged)
        || (is_uuid(judged) && !is_stand_in(judged))
        || (vendor.letters == Letters::Capitals && !is_stand_in(judged) && entropy(judged) >= LEAST_ENTROPY)
        || number(head(&text[hit.start..end])).is_some();
    is_right.then(|| secret(text, hit.start..end, vendor.kind))
}

/// A key around the mark that gives it away.
fn around(text: &str, mark: &Range<usize>, inner: &Inner) -> Option<Found> {
    let bytes = text.as_bytes();
    let (letters, least, most) = inner.before;
    let before =
        bytes[..mark.start].iter().rev().take(most + 1).take_while(|&&byte| letters.has(byte)).count();
    let (letters, fewest, longest) = inner.after;
    let behind = bytes[mark.end..].iter().take(longest + 1).take_while(|&&byte| letters.has(byte)).count();
    // Whatever is joined to it before is part of a path: `/bot123456:AA…`.
    let before = before.min(most);
    if before < least || !(fewest..=longest).contains(&behind) {
        return None;
    }
    let span = mark.start - before..mark.end + behind;
    let is_key = is_random(&text[span.clone()]);
    is_key.then(|| secret(text, span, Kind::Key))
}

/// An address that is a secret, from its scheme on.
fn webhook(text: &str, mark: &Range<usize>, least: usize, seen: &mut Seen) -> Option<Found> {
    /// Longest host and scheme.
    const MAX_HOST: usize = 80;
    let bytes = text.as_bytes();
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let host = bytes[..mark.start].iter().rev().take(MAX_HOST).take_while(|&&byte| is_host(byte)).count();
    let start = mark.start - host;
    let start = ["https://", "http://"]
        .iter()
        .find(|scheme| text[..start].ends_with(**scheme))
        .map_or(start, |scheme| start - scheme.len());
    // The path: base64 has its letters and its slash.
    let end = seen.end(Letters::Base64 as usize, bytes, mark.end, |byte| Letters::Base64.has(byte));
    let end = if bytes.get(end) == Some(&b'@') {
        end + 1
            + bytes[end + 1..].iter().take(MAX_JUDGED).take_while(|&&byte| Letters::Base64.has(byte)).count()
    } else {
        end
    };
    let path = text[mark.end..end].trim_end_matches(['/', '-', '=']);
    let end = mark.end + path.len();
    let is_secret = path.len() >= least
        && (is_random(head(path)) || is_mixed(head(path)) || number(head(&text[start..end])).is_some());
    is_secret.then(|| secret(text, start..end, Kind::Key))
}

/// A JSON web token of any length.
fn jwt(text: &str, hit: &Range<usize>, seen: &mut Seen) -> Option<Found> {
    let bytes = text.as_bytes();
    if is_joined_before(bytes, hit.start) || seen.is_part(Kind::Token, hit.start) {
        return None;
    }
    let is_body = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=');
    let (mut from, mut end, mut n_parts) = (hit.end, hit.end, 0);
    for part in 0..JWT_PARTS[1] {
        let stretch = seen.end(JWT_PART + part, bytes, from, is_body);
        if stretch == from {
            break;
        }
        n_parts += 1;
        end = stretch;
        if bytes.get(stretch) != Some(&b'.') {
            break;
        }
        from = stretch + 1;
    }
    let value = text[hit.start..end].trim_end_matches(['-', '=']);
    let goes_on = bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(|&byte| is_body(byte));
    let is_token = JWT_PARTS.contains(&n_parts) && !goes_on && value.len() >= LEAST_JWT + JWT.len();
    is_token.then(|| secret(text, hit.start..hit.start + value.len(), Kind::Token))
}

fn rapid_api(text: &str, mark: usize) -> Option<Found> {
    let start = mark.checked_sub(RAPID_API_MARKS[0].0)?;
    let word = text.get(start..start + RAPID_API_LENGTH)?;
    let is_key =
        word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()) && is_rapid_api(word);
    let is_whole = !is_joined_before(text.as_bytes(), start)
        && !text.as_bytes().get(start + RAPID_API_LENGTH).is_some_and(u8::is_ascii_alphanumeric);
    (is_key && is_whole).then(|| secret(text, start..start + RAPID_API_LENGTH, Kind::Key))
}

fn is_rapid_api(word: &str) -> bool {
    word.len() == RAPID_API_LENGTH
        && RAPID_API_MARKS.iter().all(|&(at, mark)| word.get(at..at + mark.len()) == Some(mark))
}

/// The value after a word: `key = "…"`, `"key": "…"`, `key is …`, `Bearer …`, `--password …`.
fn behind_word(text: &str, word_start: usize, word_end: usize, word: Word, seen: &mut Seen) -> Option<Found> {
    let tie = secret_words::tie(text, word_start, word_end, word)?;
    let kind = if word == Word::Token { Kind::Token } else { Kind::Key };
    let from = tie.from;
    if seen.is_part(kind, from) {
        return None;
    }
    let bytes = text.as_bytes();
    let least = if word == Word::Password { *PASSWORD_CHARS.start() } else { LEAST_RANDOM };
    let quoted = tie.quote.and_then(|quote| quoted(text, from, quote, least));
    let end = match (word, quoted) {
        (_, Some(end)) => end,
        (Word::Password, None) => from + whole_password_end(text, from),
        _ => seen
            .end(BEHIND_WORD, bytes, from, |byte| byte.is_ascii_alphanumeric() || b"-_./+=~".contains(&byte)),
    };
    if text[end..].starts_with('@') && quoted.is_none() {
        return None;
    }
    // What ends a sentence has a blank after it.
    // Directly after an equals sign or in quotes what ends it is part of it.
    let is_assigned = tie.quote.is_some() || text[..from].ends_with('=');
    let is_sentence = !is_assigned && text[end..].chars().next().is_none_or(char::is_whitespace);
    let is_whole = quoted.is_some() || (word == Word::Password && !is_sentence);
    let value = without_emphasis(text, from, &text[from..end]);
    let value = match word {
        _ if is_whole => value,
        // An exclamation mark is as often part of it.
        Word::Password => without_emphasis(text, from, value.trim_end_matches(['.', '?', ':'])),
        _ => without_emphasis(text, from, without_punctuation(value)),
    };
    let judged = head(value);
    let is_ours = || number(judged).is_some();
    let is_secret = match word {
        Word::Password if tie.is_loose => is_strong_password(value) || is_uuid(value) || is_ours(),
        Word::Password => is_password(value) || is_ours(),
        _ if tie.is_loose => {
            let is_id = tie.is_named && is_uuid(value);
            (value.len() >= LEAST_UNTIED && is_untied(judged)) || is_id || is_ours()
        }
        _ => {
            is_ours()
                || (tie.is_basic && is_basic(value))
                || (tie.is_named && is_uuid(value))
                || (value.len() >= LEAST_RANDOM && is_random(judged))
        }
    };
    is_secret.then(|| secret(text, from..from + value.len(), kind))
}

/// The end of a value in quotes that holds no blank.
fn quoted(text: &str, from: usize, quote: char, least: usize) -> Option<usize> {
    let shown = head(&text[from..]);
    let length =
        shown.find(|c: char| c == quote || c.is_whitespace() || c == '\\' || c == '<' || c == '{')?;
    (length >= least && shown[length..].starts_with(quote)).then_some(from + length)
}

/// Bytes of a password at the start of a text. What is longer is no password.
pub(super) fn password_end(shown: &str) -> usize {
    let is_part = |c: char| {
        !c.is_whitespace() && !c.is_control() && !r#""'\`,;<>(){}[]&"#.contains(c) && !is_foreign_mark(c)
    };
    // Where words are not parted a password of Latin letters ends where the script changes.
    let is_latin = shown.starts_with(|c: char| c.is_ascii());
    let is_of_sentence = |c: char| is_latin && is_unparted(c);
    shown.find(|c| !is_part(c) || is_of_sentence(c)).unwrap_or(shown.len())
}

/// Bytes of a password from byte `from`. Behind an equals sign an ampersand begins the next parameter, elsewhere it is part of it.
fn whole_password_end(text: &str, from: usize) -> usize {
    let shown = head(&text[from..]);
    let mut end = password_end(shown);
    // In a query another parameter follows.
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

/// Quotes, dashes and marks that end a sentence, outside ASCII: nobody types them in a password.
fn is_foreign_mark(c: char) -> bool {
    matches!(u32::from(c),
        0xa1 | 0xab | 0xb7 | 0xbb | 0xbf
        // Arabic, Armenian, Hebrew, Indian, Ethiopian, Khmer.
        | 0x060c | 0x061b | 0x061f | 0x06d4 | 0x0589 | 0x05be..=0x05c3 | 0x0964..=0x0965 | 0x1361..=0x1368 | 0x17d4..=0x17da
        // General, Chinese and Japanese, full width.
        | 0x2010..=0x205e | 0x3000..=0x3020 | 0x30fb | 0xfe10..=0xfe6b | 0xff01..=0xff0f | 0xff1a..=0xff20 | 0xff3b..=0xff40
        | 0xff5b..=0xff65)
}

/// Letters of scripts that put no blanks between words.
fn is_unparted(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff | 0x3400..=0x9fff
        | 0xac00..=0xd7af | 0xf900..=0xfaff)
}

/// The value without the stars or bars that close an emphasis (`**…**`, `_…_`) that is open before it.
fn without_emphasis<'t>(text: &str, from: usize, value: &'t str) -> &'t str {
    match text[..from].chars().next_back() {
        Some(mark @ ('*' | '_' | '~')) => value.trim_end_matches(mark),
        _ => value,
    }
}

/// The value without the punctuation of its sentence; the padding of base64 stays.
fn without_punctuation(value: &str) -> &str {
    let bare = value.trim_end_matches(['.', '=', '!', '?', ':', '/', '-']);
    let padded = value.trim_end_matches(['.', '!', '?', ':']);
    let n_padding = padded.len().saturating_sub(bare.len());
    let is_padded = (1..=2).contains(&n_padding)
        && padded.len().is_multiple_of(4)
        && padded[bare.len()..].bytes().all(|byte| byte == b'=');
    if is_padded && bare.len() >= LEAST_RANDOM { padded } else { bare }
}

/// Finds the password of a URL whose at-sign is here: `https://user:password@host`.
/// What is before the host begins at `start`.
pub(super) fn find_in_url(text: &str, start: usize, at: usize, found: &mut Vec<Found>) {
    let authority = &text[start..at];
    if authority
        .contains(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>' | '{' | '$'))
    {
        return;
    }
    let Some(colon) = authority.find(':') else { return };
    let from = start + colon + 1;
    let value = &text[from..at];
    let is_word = value.chars().all(char::is_alphabetic)
        && (value.to_lowercase().starts_with("pass") || value.len() < 4);
    if !value.is_empty() && !is_word && !is_stand_in(value) && value != "***" {
        found.push(secret(text, from..at, Kind::Key));
    }
}

pub(super) fn is_stand_in(value: &str) -> bool {
    let value = value.to_lowercase();
    STAND_INS.iter().any(|part| value.contains(part))
}

fn is_password(value: &str) -> bool {
    let has_letter = value.chars().any(char::is_alphabetic);
    let has_other = value.chars().any(|c| c.is_ascii_digit() || "!@#$%^*".contains(c));
    let n_chars = value.chars().count();
    // `!vault` is a tag of YAML.
    let is_tag =
        value.strip_prefix('!').is_some_and(|tag| tag.chars().all(|c| c.is_alphanumeric() || c == '-'));
    PASSWORD_CHARS.contains(&n_chars)
        && !is_tag
        && has_letter
        && (has_other || is_app_password(value) || is_word_pair(value))
        && !is_stand_in(value)
        && !value.starts_with(['$', '%'])
}

/// A password that no joint ties to its word: letters of both sizes or a sign, and a digit, and no address or version.
fn is_strong_password(value: &str) -> bool {
    let has = |is: fn(char) -> bool| value.chars().any(is);
    let is_mixed = has(char::is_lowercase) && (has(char::is_uppercase) || has(|c| "!@#$%^*?+~".contains(c)));
    let has_digit_for_letter = || {
        let bytes = value.as_bytes();
        bytes.windows(3).any(|three| {
            three[0].is_ascii_lowercase() && three[1].is_ascii_digit() && three[2].is_ascii_lowercase()
        })
    };
    is_app_password(value)
        || is_password(value)
            && value.chars().count() >= 8
            && has(|c| c.is_ascii_digit() || "!@#$%^*".contains(c))
            && (is_mixed || has_digit_for_letter())
            && !value.contains('/')
}

/// Words that one sign joins, of which one begins with a capital: `Hedgehog_in_fog`, and no name of a program's.
fn is_word_pair(value: &str) -> bool {
    let Some(sign) = value.chars().find(|c| matches!(c, '.' | '_' | '-' | '&')) else { return false };
    let words: Vec<&str> = value.split(sign).collect();
    let is_word = |word: &&str| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        (2..=12).contains(&word.len())
            && first.chars().all(char::is_alphabetic)
            && rest.chars().all(|c| c.is_alphabetic() && c.is_lowercase())
    };
    let has_capital = words.iter().any(|word| word.starts_with(char::is_uppercase));
    let lowered = value.to_lowercase();
    (2..=4).contains(&words.len())
        && words.iter().all(is_word)
        && has_capital
        && !PROGRAM_WORDS.iter().any(|word| lowered.contains(word))
}

/// What a service makes for one program: `jtrl-cxsa-hskm-xvuh`.
fn is_app_password(value: &str) -> bool {
    let is_group = |group: &str| group.len() == 4 && group.bytes().all(|byte| byte.is_ascii_lowercase());
    value.len() == 19 && value.split('-').count() == 4 && value.split('-').all(is_group)
}

/// A random value that no joint ties to its word: letters of both sizes and digits, or hex digits.
fn is_untied(value: &str) -> bool {
    let is_hex = value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let mixes = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let is_path = value.contains("//") || value.split('/').count() > 3;
    // As secrets of one-time passwords are written.
    let is_base32 = value.len() >= LEAST_BASE32
        && value.bytes().all(|byte| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte));
    is_random(value) && !is_path && (mixes || is_base32 || (is_hex && value.len() >= 2 * LEAST_RANDOM))
}

/// A user and a password in base64.
fn is_basic(value: &str) -> bool {
    let value = value.trim_end_matches('=');
    let read = STANDARD_NO_PAD.decode(head(value)).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    read.is_some_and(|pair| pair.contains(':') && pair.chars().all(|c| !c.is_control()))
}

/// A part of the value mixes letters and digits as no word does.
pub(super) fn is_random(value: &str) -> bool {
    let longest = value.split(['-', '_', '.', '/']).max_by_key(|part| part.len()).unwrap_or_default();
    let n_digits = longest.bytes().filter(u8::is_ascii_digit).count();
    let n_letters = longest.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_mixed_part = longest.len() >= LEAST_RANDOM / 2 && n_digits >= 2 && n_letters >= 2;
    (is_mixed_part || is_long_and_random(value))
        && !is_uuid(value)
        && !is_stand_in(value)
        && entropy(value) >= LEAST_ENTROPY
}

/// Long, of all letters and digits, and as mixed as chance: dashes part it by chance too.
fn is_long_and_random(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().filter(|byte| is(byte)).count() >= 3;
    value.len() >= 2 * LEAST_RANDOM
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
        && entropy(value) >= LONG_ENTROPY
}

/// Behind the start of a known key capitals and small letters without a digit are enough, as chance brings them.
fn is_mixed(body: &str) -> bool {
    let n_capitals = body.bytes().filter(u8::is_ascii_uppercase).count();
    let n_small = body.bytes().filter(u8::is_ascii_lowercase).count();
    !is_stand_in(body)
        && n_capitals >= MIXED_LETTERS
        && n_small >= MIXED_LETTERS
        && entropy(body) >= MIXED_ENTROPY
}

/// Five groups of hex digits are an id, even in parts of a longer word.
fn is_uuid(value: &str) -> bool {
    let sizes: Vec<usize> = value.split('-').map(str::len).collect();
    sizes == [8, 4, 4, 4, 12] && value.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Bits a byte, of the bytes as they are spread in the value.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let n_bytes = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let bits = |count: u32| {
        let share = f64::from(count) / n_bytes;
        -share * share.log2()
    };
    counts.into_iter().filter(|&count| count > 0).map(bits).sum()
}

/// The parts of a secret that say whose it is, and stay.
fn kept(value: &str) -> Vec<Range<usize>> {
    if is_rapid_api(value) {
        return RAPID_API_MARKS.iter().map(|&(at, mark)| at..at + mark.len()).collect();
    }
    if value.starts_with(forms::PEM) {
        return forms::pem_borders(value);
    }
    if let Some(end) = WEBHOOKS.iter().find_map(|(mark, _)| head(value).find(mark).map(|at| at + mark.len()))
    {
        return vec![Range { start: 0, end }];
    }
    let starts = VENDORS.iter().map(|vendor| vendor.start).chain([JWT]);
    let longest = starts.filter(|start| value.starts_with(start)).map(str::len).max();
    longest.map(|end| 0..end).into_iter().collect()
}

/// The characters of a secret that a placeholder replaces: letters and digits outside of what stays and of escapes.
fn body(value: &str) -> impl Iterator<Item = (usize, char)> {
    let kept = kept(value);
    value.char_indices().filter(move |&(at, c)| {
        c.is_alphanumeric() && !kept.iter().any(|range| range.contains(&at)) && !value[..at].ends_with('\\')
    })
}

/// The number of a placeholder of ours: zeros, and the number at the end.
pub(super) fn number(value: &str) -> Option<u64> {
    // Most words are asked for and hold no zero.
    memchr::memchr(b'0', value.as_bytes())?;
    let body: String = body(value).map(|(_, c)| c).collect();
    let digits = body.trim_start_matches('0');
    // A short one holds fewer zeros.
    let least = LEAST_ZEROS.min(body.len().saturating_sub(1)).max(1);
    let is_ours = body.len() - digits.len() >= least && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| if digits.is_empty() { Some(0) } else { digits.parse().ok() }).flatten()
}

/// The placeholder: of the same length, with the same prefix and separators, all else zeros and the number.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let places: Vec<usize> = body(written).map(|(at, _)| at).collect();
    let width = places.len();
    let capacity = 10_u64.checked_pow(u32::try_from(width.saturating_sub(LEAST_ZEROS)).unwrap_or(u32::MAX));
    let digits = capacity.map_or(number, |capacity| number % capacity).to_string();
    // A token can be wider than a format.
    let zeros = std::iter::repeat_n('0', width.saturating_sub(digits.len()));
    let mut digits = zeros.chain(digits.chars());
    let mut places = places.into_iter().peekable();
    let mut new = String::with_capacity(written.len());
    for (at, c) in written.char_indices() {
        let is_replaced = places.next_if_eq(&at).is_some();
        new.push(if is_replaced { digits.next().unwrap_or('0') } else { c });
    }
    new
}
