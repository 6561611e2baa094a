//! Secrets: keys of known services by their prefix, and random values behind a word such as `key` or `password`.
//!
//! A random value alone is never enough: hashes of commits, ids of requests and UUIDs look the
//! same. One pass over the text (Aho-Corasick) looks for prefixes and words, of `token` too.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::context::is_joined_before;
use super::{Found, Kind, Standing, token};

/// How the body of a secret looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Letters, digits, `-` and `_`.
    Plain,
    /// Capitals and digits, exactly as many as `least`.
    Capitals,
    /// Three parts with dots between.
    Jwt,
}

/// A secret that is known by its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) start: &'static str,
    /// Fewest bytes behind the start.
    pub(super) least: usize,
    pub(super) shape: Shape,
    pub(super) kind: Kind,
}

const fn plain(start: &'static str, least: usize) -> Rule {
    Rule { start, least, shape: Shape::Plain, kind: Kind::Key }
}

const fn capitals(start: &'static str) -> Rule {
    Rule { start, least: 16, shape: Shape::Capitals, kind: Kind::Key }
}

/// Longer starts stand before those they begin with.
const RULES: &[Rule] = &[
    plain("sk-ant-api03-", 20),
    plain("sk-ant-", 20),
    plain("sk-proj-", 20),
    plain("sk-", 20),
    plain("sk_live_", 16),
    plain("sk_test_", 16),
    plain("rk_live_", 16),
    plain("pk_live_", 16),
    capitals("AKIA"),
    capitals("ASIA"),
    plain("ghp_", 30),
    plain("gho_", 30),
    plain("ghu_", 30),
    plain("ghs_", 30),
    plain("ghr_", 30),
    plain("github_pat_", 30),
    plain("glpat-", 16),
    plain("xoxb-", 20),
    plain("xoxp-", 20),
    plain("xoxa-", 20),
    plain("xoxr-", 20),
    plain("xoxs-", 20),
    plain("AIza", 30),
    plain("hf_", 30),
    plain("npm_", 30),
    plain("gsk_", 30),
];
/// In the middle of a `RapidAPI` key: 10 letters and digits, `msh`, 15, `p1`, 6, `jsn`, 11.
const RAPID_API: &str = "msh";
const RAPID_API_LENGTH: usize = 50;
const RAPID_API_MARKS: [(usize, &str); 3] = [(10, "msh"), (28, "p1"), (36, "jsn")];
/// Words before a key.
const KEY_WORDS: &[&str] = &["key", "Key", "KEY", "ecret", "ECRET", "appid", "APPID", "redential"];
/// Words before a password, which may be short.
const PASSWORD_WORDS: &[&str] = &["assword", "ASSWORD", "asswd", "ASSWD", "pwd", "PWD", "assphrase"];
/// Between a word and its value, after quotes and blanks.
const JOINTS: [&str; 8] = ["=>", "=", "：", ":", "is ", "was ", "是", "为"];
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
/// Fewest characters of a random value, and of a password.
const LEAST_RANDOM: usize = 16;
const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 6..=64;
/// Fewest bits a character of a random value: hex has up to 4, words with digits some 3.
const LEAST_ENTROPY: f64 = 2.8;
/// Fewest letters of either size, and fewest bits a character, of a key without digits.
const MIXED_LETTERS: usize = 5;
const MIXED_ENTROPY: f64 = 3.5;
/// Bytes by which a long value is judged, and most of a JSON web token.
const MAX_JUDGED: usize = 512;
const MAX_JWT: usize = 1 << 16;
/// The stretches that [`Seen`] keeps.
const PLAIN: usize = 0;
const CAPITALS: usize = 1;
const WITH_DOTS: usize = 2;
const BEHIND_WORD: usize = 3;
/// Fewest zeros by which a placeholder of ours is known.
const LEAST_ZEROS: usize = 3;

static STARTS: LazyLock<(Vec<Start>, AhoCorasick)> = LazyLock::new(|| {
    let mut starts: Vec<Start> = RULES.iter().chain(token::RULES).map(|rule| Start::Rule(*rule)).collect();
    let mut patterns: Vec<&str> = RULES.iter().chain(token::RULES).map(|rule| rule.start).collect();
    let words = [(KEY_WORDS, Word::Key), (PASSWORD_WORDS, Word::Password), (token::WORDS, Word::Token)];
    for (list, word) in words {
        starts.extend(list.iter().map(|_| Start::Word(word)));
        patterns.extend(list);
    }
    starts.push(Start::RapidApi);
    patterns.push(RAPID_API);
    let matcher = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(patterns);
    (starts, matcher.expect("a short list of short patterns"))
});

#[derive(Debug, Clone, Copy)]
enum Start {
    Rule(Rule),
    Word(Word),
    RapidApi,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Key,
    Password,
    Token,
}

/// Finds keys and tokens.
pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let (starts, matcher) = &*STARTS;
    let mut seen = Seen::default();
    for hit in matcher.find_iter(text) {
        let value = match starts[hit.pattern().as_usize()] {
            Start::Rule(rule) => known(text, hit.start(), rule, &mut seen),
            Start::Word(word) => behind_word(text, hit.end(), word, &mut seen),
            Start::RapidApi => rapid_api(text, hit.start()),
        };
        if let Some(value) = value {
            seen.done[usize::from(value.kind == Kind::Token)] = value.end;
            found.push(value);
        }
    }
}

/// A text without the start of a key or a word before one holds none.
pub(super) fn may_hold(text: &str) -> bool {
    STARTS.1.is_match(text)
}

/// What was seen of a text, so that nothing is gone over again and again.
#[derive(Debug, Default)]
struct Seen {
    /// The last stretch of letters that a value may have, for each kind of stretch.
    stretches: [Range<usize>; 4],
    /// Where the last key and the last token end.
    done: [usize; 2],
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

    /// A value of the kind that begins here is a part of the last one.
    fn is_part(&self, kind: Kind, from: usize) -> bool {
        from < self.done[usize::from(kind == Kind::Token)]
    }
}

/// The part of a value by which it is judged.
fn head(value: &str) -> &str {
    &value[..value.floor_char_boundary(MAX_JUDGED)]
}

fn secret(text: &str, span: Range<usize>, kind: Kind) -> Found {
    let value = &text[span.clone()];
    let standing = number(value).map_or(Standing::Personal, |number| Standing::Placeholder(Some(number)));
    Found::new(kind, span.start, span.end, value, standing)
}

fn known(text: &str, start: usize, rule: Rule, seen: &mut Seen) -> Option<Found> {
    let bytes = text.as_bytes();
    if is_joined_before(bytes, start) || seen.is_part(rule.kind, start) {
        return None;
    }
    let from = start + rule.start.len();
    let is_body = |byte: u8| match rule.shape {
        Shape::Plain => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
        Shape::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        Shape::Jwt => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'='),
    };
    let which = match rule.shape {
        Shape::Plain => PLAIN,
        Shape::Capitals => CAPITALS,
        Shape::Jwt => WITH_DOTS,
    };
    let stretch = seen.end(which, bytes, from, is_body);
    if rule.shape == Shape::Jwt && stretch - from > MAX_JWT {
        return None;
    }
    let body = text[from..stretch].trim_end_matches(['.', '-', '=']);
    let end = from + body.len();
    let is_right = match rule.shape {
        Shape::Plain => {
            body.len() >= rule.least
                && (is_random(head(body))
                    || is_mixed(head(body))
                    || number(head(&text[start..end])).is_some())
        }
        Shape::Capitals => {
            body.len() == rule.least
                && !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric)
                && !is_stand_in(body)
        }
        Shape::Jwt => {
            body.len() >= rule.least
                && body.split('.').count() == 3
                && body.split('.').all(|part| !part.is_empty())
        }
    };
    is_right.then(|| secret(text, start..end, rule.kind))
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

/// The value behind a word: `key = "…"`, `"key": "…"`, `key is …`, `Bearer …`.
fn behind_word(text: &str, word_end: usize, word: Word, seen: &mut Seen) -> Option<Found> {
    let rest = text.get(word_end..)?;
    let is_header = matches!(&text[..word_end], before if before.ends_with("earer") || before.ends_with("EARER") || before.ends_with("Basic"));
    let behind = rest.trim_start_matches(['"', '\'', '\\', ']', '`']);
    let behind = behind.trim_start_matches([' ', '\t']);
    let value = match JOINTS.iter().find_map(|joint| behind.strip_prefix(joint)) {
        Some(value) => value,
        None if is_header && rest.starts_with(' ') => behind,
        None => return None,
    };
    let value = value.trim_start_matches([' ', '\t', '"', '\'', '\\', '`']);
    let from = text.len() - value.len();
    // Far from its word it belongs to another.
    if from - word_end > 12 {
        return None;
    }
    let kind = if word == Word::Token { Kind::Token } else { Kind::Key };
    if seen.is_part(kind, from) {
        return None;
    }
    let end = match word {
        Word::Password => {
            let is_part =
                |c: char| !c.is_whitespace() && !c.is_control() && !r#""'\`,;<>(){}[]&"#.contains(c);
            // What is longer is no password.
            let shown = head(value);
            from + shown.find(|c| !is_part(c)).unwrap_or(shown.len())
        }
        _ => seen.end(BEHIND_WORD, text.as_bytes(), from, |byte| {
            byte.is_ascii_alphanumeric() || b"-_./+=~".contains(&byte)
        }),
    };
    if text[end..].starts_with('@') {
        return None;
    }
    let value = text[from..end].trim_end_matches(['.', '=', '!', '?', ':']);
    let is_ours = || number(head(value)).is_some();
    let is_secret = match word {
        Word::Password => is_password(value) || is_ours(),
        _ => value.len() >= LEAST_RANDOM && (is_random(head(value)) || is_ours()),
    };
    is_secret.then(|| secret(text, from..from + value.len(), kind))
}

/// Finds the password of a URL whose at-sign is here: `https://user:password@host`.
/// What stands before the host begins at `start`.
pub(super) fn find_in_url(text: &str, start: Option<usize>, at: usize, found: &mut Vec<Found>) {
    let Some(start) = start else { return };
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

fn is_stand_in(value: &str) -> bool {
    let value = value.to_lowercase();
    STAND_INS.iter().any(|part| value.contains(part))
}

fn is_password(value: &str) -> bool {
    let has_letter = value.chars().any(char::is_alphabetic);
    let has_other = value.chars().any(|c| c.is_ascii_digit() || "!@#$%^*".contains(c));
    let n_chars = value.chars().count();
    PASSWORD_CHARS.contains(&n_chars)
        && has_letter
        && has_other
        && !is_stand_in(value)
        && !value.starts_with(['$', '%'])
}

/// A part of the value mixes letters and digits as no word does.
fn is_random(value: &str) -> bool {
    let longest = value.split(['-', '_', '.', '/']).max_by_key(|part| part.len()).unwrap_or_default();
    let n_digits = longest.bytes().filter(u8::is_ascii_digit).count();
    let n_letters = longest.bytes().filter(u8::is_ascii_alphabetic).count();
    longest.len() >= LEAST_RANDOM / 2
        && n_digits >= 2
        && n_letters >= 2
        && !is_uuid(value)
        && !is_stand_in(value)
        && entropy(value) >= LEAST_ENTROPY
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
    let rule = RULES.iter().chain(token::RULES).find(|rule| value.starts_with(rule.start));
    rule.map(|rule| 0..rule.start.len()).into_iter().collect()
}

/// The number of a placeholder of ours: zeros, and the number at the end.
fn number(value: &str) -> Option<u64> {
    let kept = kept(value);
    let body: String = value
        .char_indices()
        .filter(|(at, c)| c.is_alphanumeric() && !kept.iter().any(|range| range.contains(at)))
        .map(|(_, c)| c)
        .collect();
    let digits = body.trim_start_matches('0');
    let is_ours =
        body.len() - digits.len() >= LEAST_ZEROS && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| digits.parse().ok()).flatten()
}

/// The placeholder: of the same length, with the same prefix and separators, all else zeros and the number.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let kept = kept(written);
    let is_body = |at: usize, c: char| c.is_alphanumeric() && !kept.iter().any(|range| range.contains(&at));
    let width = written.char_indices().filter(|&(at, c)| is_body(at, c)).count();
    let capacity = 10_u64.checked_pow(u32::try_from(width.saturating_sub(LEAST_ZEROS)).unwrap_or(u32::MAX));
    let digits = format!("{:0width$}", capacity.map_or(number, |capacity| number % capacity));
    let mut digits = digits.chars();
    let new = |(at, c): (usize, char)| if is_body(at, c) { digits.next().unwrap_or('0') } else { c };
    written.char_indices().map(new).collect()
}
