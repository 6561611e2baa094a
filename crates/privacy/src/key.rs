//! Secrets: keys of known services by their form (`vendors`), private keys, webhook URLs, passwords on a command line
//! (`forms`), cookies of sessions (`cookies`), and random values after a word such as `key` or `password` (`secret_words`).
//!
//! A random value alone is never enough: commit hashes, request ids and UUIDs look the same. One pass over the text
//! (Aho-Corasick) finds all prefixes, marks and words, including those of `token`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::context::is_joined_before;
use super::cookies;
use super::forms::{self, Form};
use super::marked::{LEAST_MARKED, is_marked_secret};
use super::random::{
    LEAST_ENTROPY, LEAST_RANDOM, LEAST_UNTIED, PASSWORD_CHARS, entropy, is_basic, is_mixed, is_password,
    is_random, is_stand_in, is_strong_password, is_untied, is_uuid,
};
use super::scanned::{AFTER_WORD, JWT_PART, ScannedParts};
use super::secret::{
    JWT, JWT_PARTS, LEAST_JWT, MAX_JUDGED, RAPID_API, RAPID_API_LENGTH, RAPID_API_MARKS, head, is_rapid_api,
    number, secret,
};
use super::secret_words::{self, Tie, Word};
use super::value_end::{quoted, whole_password_end, without_emphasis, without_punctuation};
use super::vendors::{INNERS, Inner, Letters, VENDORS, Vendor, WEBHOOKS};
use super::{FoundValue, PrivacyKind};

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
    // All matches, including overlapping ones: a short prefix must not hide a word.
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
pub(super) fn find(text: &str, found: &mut Vec<FoundValue>) {
    let mut scanned = ScannedParts::default();
    for hit in STARTS.1.find_overlapping_iter(text) {
        let start = STARTS.0[hit.pattern().as_usize()];
        let value = match start {
            Start::Word(word) => after_word(text, hit.start(), hit.end(), word, &mut scanned),
            _ => sure(start, text, &hit.range(), &mut scanned),
        };
        if let Some(value) = value {
            scanned.done[usize::from(value.kind == PrivacyKind::Token)] = value.end;
            found.push(value);
        }
    }
    cookies::find(text, found);
}

/// Returns a secret that is identified by its form.
fn sure(start: Start, text: &str, hit: &Range<usize>, scanned: &mut ScannedParts) -> Option<FoundValue> {
    match start {
        Start::Vendor(vendor) => known(text, hit, vendor, scanned),
        Start::Inner(inner) => around(text, hit, inner),
        Start::Webhook(least) => webhook(text, hit, least, scanned),
        Start::Form(form) => forms::read(text, hit, form, scanned),
        Start::RapidApi => rapid_api(text, hit.start),
        Start::Jwt => jwt(text, hit, scanned),
        Start::Word(_) => None,
    }
}

/// Returns true if the text may contain a secret: it has a known form, or a word that announces one.
pub(super) fn may_hold(text: &str) -> bool {
    let mut scanned = ScannedParts::default();
    STARTS.1.find_overlapping_iter(text).any(|hit| match STARTS.0[hit.pattern().as_usize()] {
        Start::Word(word) => secret_words::tie(text, hit.start(), hit.end(), word).is_some(),
        start => sure(start, text, &hit.range(), &mut scanned).is_some(),
    }) || cookies::may_hold(text)
}

fn known(text: &str, hit: &Range<usize>, vendor: &Vendor, scanned: &mut ScannedParts) -> Option<FoundValue> {
    let bytes = text.as_bytes();
    if is_joined_before(bytes, hit.start) || scanned.is_part(vendor.kind, hit.start) {
        return None;
    }
    let stretch = scanned.end_of(vendor.letters, bytes, hit.end);
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

/// Returns the key around the mark that identifies it.
fn around(text: &str, mark: &Range<usize>, inner: &Inner) -> Option<FoundValue> {
    let bytes = text.as_bytes();
    let (letters, least, most) = inner.before;
    let before =
        bytes[..mark.start].iter().rev().take(most + 1).take_while(|&&byte| letters.has(byte)).count();
    let (letters, fewest, longest) = inner.after;
    let behind = bytes[mark.end..].iter().take(longest + 1).take_while(|&&byte| letters.has(byte)).count();
    // Any other text directly before it is part of a path: `/bot123456:AA…`.
    let before = before.min(most);
    if before < least || !(fewest..=longest).contains(&behind) {
        return None;
    }
    let span = mark.start - before..mark.end + behind;
    let is_key = is_random(&text[span.clone()]);
    is_key.then(|| secret(text, span, PrivacyKind::Key))
}

/// Returns a URL that is a secret, from its scheme on.
fn webhook(text: &str, mark: &Range<usize>, least: usize, scanned: &mut ScannedParts) -> Option<FoundValue> {
    /// Maximum length of scheme and host.
    const MAX_HOST: usize = 80;
    let bytes = text.as_bytes();
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let host = bytes[..mark.start].iter().rev().take(MAX_HOST).take_while(|&&byte| is_host(byte)).count();
    let start = mark.start - host;
    let start = ["https://", "http://"]
        .iter()
        .find(|scheme| text[..start].ends_with(**scheme))
        .map_or(start, |scheme| start - scheme.len());
    // The path: base64 includes its letters and slashes.
    let end = scanned.end(Letters::Base64 as usize, bytes, mark.end, |byte| Letters::Base64.has(byte));
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
    is_secret.then(|| secret(text, start..end, PrivacyKind::Key))
}

/// Returns a JSON web token of any length.
fn jwt(text: &str, hit: &Range<usize>, scanned: &mut ScannedParts) -> Option<FoundValue> {
    let bytes = text.as_bytes();
    if is_joined_before(bytes, hit.start) || scanned.is_part(PrivacyKind::Token, hit.start) {
        return None;
    }
    let is_body = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=');
    let (mut from, mut end, mut n_parts) = (hit.end, hit.end, 0);
    for part in 0..JWT_PARTS[1] {
        let stretch = scanned.end(JWT_PART + part, bytes, from, is_body);
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
    is_token.then(|| secret(text, hit.start..hit.start + value.len(), PrivacyKind::Token))
}

fn rapid_api(text: &str, mark: usize) -> Option<FoundValue> {
    let start = mark.checked_sub(RAPID_API_MARKS[0].0)?;
    let word = text.get(start..start + RAPID_API_LENGTH)?;
    let is_key =
        word.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()) && is_rapid_api(word);
    let is_whole = !is_joined_before(text.as_bytes(), start)
        && !text.as_bytes().get(start + RAPID_API_LENGTH).is_some_and(u8::is_ascii_alphanumeric);
    (is_key && is_whole).then(|| secret(text, start..start + RAPID_API_LENGTH, PrivacyKind::Key))
}

/// Returns the value after a word: `key = "…"`, `"key": "…"`, `key is …`, `Bearer …`, `--password …`.
fn after_word(
    text: &str,
    word_start: usize,
    word_end: usize,
    word: Word,
    scanned: &mut ScannedParts,
) -> Option<FoundValue> {
    let tie = secret_words::tie(text, word_start, word_end, word)?;
    let kind = if word == Word::Token { PrivacyKind::Token } else { PrivacyKind::Key };
    if scanned.is_part(kind, tie.from) {
        return None;
    }
    let bare = after_tie(text, &tie, word, scanned);
    let span = match word {
        Word::Password => bare,
        _ => with_marks(text, &tie, bare.as_ref()).or(bare),
    };
    span.map(|span| secret(text, span, kind))
}

/// Returns the place of a password, or of a key or token of letters, digits and the marks of base64.
fn after_tie(text: &str, tie: &Tie, word: Word, scanned: &mut ScannedParts) -> Option<Range<usize>> {
    let from = tie.from;
    let bytes = text.as_bytes();
    let least = if word == Word::Password { *PASSWORD_CHARS.start() } else { LEAST_RANDOM };
    let quoted = tie.quote.and_then(|quote| quoted(text, from, quote, least));
    let end = match (word, quoted) {
        (_, Some(end)) => end,
        (Word::Password, None) => from + whole_password_end(text, from),
        _ => scanned
            .end(AFTER_WORD, bytes, from, |byte| byte.is_ascii_alphanumeric() || b"-_./+=~".contains(&byte)),
    };
    if text[end..].starts_with('@') && quoted.is_none() {
        return None;
    }
    let is_sentence = is_sentence(text, tie, end);
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
        Word::Password if tie.announced.is_loose => is_strong_password(value) || is_uuid(value) || is_ours(),
        Word::Password => is_password(value) || is_ours(),
        _ if tie.announced.is_loose => {
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
    is_secret.then(|| from..from + value.len())
}

/// Returns the place of a key or token with the marks of passwords. It is longer than `bare`, the place of one without.
fn with_marks(text: &str, tie: &Tie, bare: Option<&Range<usize>>) -> Option<Range<usize>> {
    let from = tie.from;
    let quoted = tie.quote.and_then(|quote| quoted(text, from, quote, LEAST_MARKED));
    let end = quoted.unwrap_or_else(|| from + whole_password_end(text, from));
    let value = without_emphasis(text, from, &text[from..end]);
    let value = if quoted.is_none() && is_sentence(text, tie, end) {
        without_emphasis(text, from, value.trim_end_matches(['.', '?', ':']))
    } else {
        value
    };
    let is_longer = bare.is_none_or(|bare| bare.end < from + value.len());
    if !is_longer || value.len() < LEAST_MARKED || is_in_resource_name(text, from) {
        return None;
    }
    // A placeholder of the whole value has a number that its first part lacks.
    let is_ours = || {
        (bare.is_some() || tie.announced.is_specific) && !tie.announced.is_loose && number(value).is_some()
    };
    let is_secret = is_marked_secret(value, &text[from + value.len()..], tie.announced) || is_ours();
    is_secret.then(|| from..from + value.len())
}

/// Returns true in the name of a resource of a cloud: `arn:…:secret:Name-…`.
fn is_in_resource_name(text: &str, from: usize) -> bool {
    /// Maximum length of a resource name before the value.
    const MAX_NAME: usize = 96;
    let before = &text[text.floor_char_boundary(from.saturating_sub(MAX_NAME))..from];
    let name = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '='))
        .next()
        .unwrap_or_default();
    name.starts_with("arn:")
}

/// Returns true if a value up to `end` may have the punctuation of its sentence, which is followed by whitespace. Directly
/// after an equals sign or in quotes, trailing punctuation is part of the value.
fn is_sentence(text: &str, tie: &Tie, end: usize) -> bool {
    let is_assigned = tie.quote.is_some() || text[..tie.from].ends_with('=');
    !is_assigned && text[end..].chars().next().is_none_or(char::is_whitespace)
}

/// Finds the password of a URL with its at-sign at `at`: `https://user:password@host`.
/// The text before the host begins at `start`.
pub(super) fn find_in_url(text: &str, start: usize, at: usize, found: &mut Vec<FoundValue>) {
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
        found.push(secret(text, from..at, PrivacyKind::Key));
    }
}
