//! The secrets of a client in what a server sends: found in every common encoding, and hidden.
//!
//! A server may repeat what it received: the key, or a secret of the address. All of a response is searched before anything else
//! reads it: texts of JSON with and without escapes, percent-encoding, hex, base64 and base32, texts in several parts, reversed
//! keys, and long beginnings and ends of keys. A short key that
//! may be a word is hidden where a text shows it as a key; a reply that has it elsewhere cannot be told from one that repeats
//! the key, so it fails. A key that servers without keys publish, such as `EMPTY`, protects nothing and stays as a word.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use reqwest::Url;
use serde_json::Value;

use super::decoded::decoded;
use callsieve_text::base32;

/// The replacement for a secret.
pub(super) const HIDDEN: &str = "***";

/// Length from which a secret is no word of a text, in bytes.
const MIN_ANYWHERE: usize = 8;
/// The same for one that mixes letters with digits or signs.
const MIN_MIXED: usize = 4;
/// Fewest letters of base64 by which a secret is known inside of a longer text.
const MIN_BASE64: usize = 8;
/// Bytes of a beginning or end of a secret by which it is known, at least; half of a longer secret.
const MIN_PART: usize = 12;
/// Bits of a letter of base32.
const BASE32_BITS: usize = base32::BITS as usize;
/// Bytes before a word in which a text can say that it is a key.
const NEAR: usize = 24;
/// Most times that the decoded text is searched: what is hidden may have been in an escape of another secret.
const MAX_ROUNDS: usize = 4;

/// Keys that documentation of servers without keys recommends, or that people type for such servers.
const PLACEHOLDERS: [&str; 32] = [
    "-",
    "_",
    "0",
    "1",
    "abc",
    "anything",
    "dummy",
    "empty",
    "fake",
    "foo",
    "key",
    "lm-studio",
    "local",
    "n/a",
    "na",
    "no",
    "no-key",
    "nokey",
    "none",
    "not-needed",
    "null",
    "ollama",
    "placeholder",
    "sk",
    "sk-xxx",
    "test",
    "token",
    "unused",
    "vllm",
    "x",
    "xx",
    "xxx",
];
/// Ends of a text after which a key follows.
const ANNOUNCING: [&str; 9] =
    ["bearer", "key", "token", "authorization", "auth", "secret", "password", "key provided", "credential"];
/// Parts of names of parameters whose values are secret.
const SECRET_PARAMETERS: [&str; 7] = ["key", "token", "secret", "sig", "pass", "auth", "code"];

/// How a secret is told from a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// It is no word: it is hidden wherever it is.
    Anywhere,
    /// It may be a word, but nobody else knows it.
    Word,
    /// It may be a word, and protects nothing.
    Placeholder,
}

/// The secrets of a client.
#[derive(Default)]
pub(super) struct Secrets {
    texts: Vec<(String, Style)>,
    finders: Option<Finders>,
}

struct Finders {
    /// Secrets and their hex digits in any case: the secret of each, and whether it is written as it is.
    any_case: AhoCorasick,
    any_case_of: Vec<(usize, Form)>,
    /// Parts of base64 and base32.
    base64: AhoCorasick,
}

/// How a pattern writes its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it is.
    Written,
    /// All of it, encoded or reversed.
    Encoded,
    /// Its beginning, after which more may follow.
    Start,
    /// Its end, before which more may be.
    End,
}

/// A text without secrets.
#[derive(Debug)]
pub(super) struct Hidden<T> {
    pub(super) value: T,
    /// Whether it has words that may be the key.
    pub(super) is_exposed: bool,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Secrets {
    /// Returns the secrets of a client: its key, and those in its address.
    pub(super) fn of(key: Option<&str>, url: Option<&Url>) -> Self {
        let of_url = url.into_iter().flat_map(|url| {
            let is_secret = |name: &str| {
                let name = name.to_lowercase();
                SECRET_PARAMETERS.iter().any(|part| name.contains(part))
            };
            let parameters = url.query_pairs().filter(move |(name, _)| is_secret(name));
            let parameters = parameters.map(|(_, value)| value.into_owned());
            parameters.chain(url.password().map(str::to_owned))
        });
        Self::of_texts(key.map(str::to_owned).into_iter().chain(of_url))
    }

    /// Returns secrets with these texts.
    pub(super) fn of_texts(texts: impl IntoIterator<Item = String>) -> Self {
        let all = texts.into_iter().filter(|text| !text.is_empty());
        let texts: Vec<(String, Style)> = all.map(|text| (text.clone(), style(&text))).collect();
        let finders = (!texts.is_empty()).then(|| Finders::of(&texts)).flatten();
        Self { texts, finders }
    }

    /// Hides the secrets in the body of a response.
    pub(super) fn hide_in(&self, body: Vec<u8>) -> Hidden<Vec<u8>> {
        if self.finders.is_none() || !self.may_have(&body) {
            return Hidden { value: body, is_exposed: false };
        }
        if let Some(hidden) = self.hide_in_json(&body) {
            return hidden.or(body);
        }
        // Files of batches have JSON in each line.
        let mut is_exposed = false;
        let lines: Vec<Cow<'_, [u8]>> = body
            .split_inclusive(|byte| *byte == b'\n')
            .map(|line| {
                let end = line.len() - usize::from(line.ends_with(b"\n"));
                let hidden = self.hide_in_json(&line[..end]).unwrap_or_else(|| {
                    let text = String::from_utf8_lossy(&line[..end]);
                    let hidden = self.hidden(&text);
                    let value = (hidden.value != text).then(|| hidden.value.into_bytes());
                    Hidden { value, is_exposed: hidden.is_exposed }
                });
                is_exposed |= hidden.is_exposed;
                match hidden.value {
                    Some(new) => Cow::Owned([&new, &line[end..]].concat()),
                    None => Cow::Borrowed(line),
                }
            })
            .collect();
        Hidden { value: lines.concat(), is_exposed }
    }

    /// Hides the secrets in a message, also where they may be words.
    pub(super) fn hide(&self, text: &str) -> String {
        let mut text = self.hidden(text).value;
        for (secret, _) in self.texts.iter().filter(|(_, style)| *style != Style::Anywhere) {
            let places: Vec<Range<usize>> = tokens(&text, secret).collect();
            text = without(&text, &places);
        }
        text
    }

    /// Returns false for most bodies without a secret: the search is fast.
    fn may_have(&self, body: &[u8]) -> bool {
        /// Longer bodies are vectors and files; what is in parts is not.
        const MAX_IN_PARTS: usize = 1 << 20;
        let Some(finders) = &self.finders else { return false };
        body.len() <= MAX_IN_PARTS
            || finders.any_case.is_match(body)
            || finders.base64.is_match(body)
            || memchr::memchr3(b'\\', b'%', b'&', body).is_some()
    }

    /// Hides the secrets in a JSON value; `None` if it is none.
    fn hide_in_json(&self, body: &[u8]) -> Option<Hidden<Option<Vec<u8>>>> {
        let mut value: Value = serde_json::from_slice(body).ok()?;
        let mut parts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut texts: Vec<&str> = Vec::new();
        collect("", &value, &mut texts, &mut parts);
        let mut is_exposed = false;
        let mut hidden: Vec<String> = texts
            .iter()
            .map(|text| {
                let hidden = self.hidden(text);
                is_exposed |= hidden.is_exposed;
                hidden.value
            })
            .collect();
        for places in parts.values().filter(|places| places.len() > 1) {
            self.hide_across(places, &mut hidden);
        }
        let is_changed = texts.iter().zip(&hidden).any(|(old, new)| old != new);
        let new = is_changed.then(|| {
            put_back(&mut value, &mut hidden.into_iter());
            value.to_string().into_bytes()
        });
        Some(Hidden { value: new, is_exposed })
    }

    /// Hides secrets whose parts are in several texts, one after the other.
    fn hide_across(&self, places: &[usize], texts: &mut [String]) {
        let whole: String = places.iter().map(|&at| texts[at].as_str()).collect();
        let mut found: Vec<Range<usize>> = self.places(&whole).0;
        // A shorter one may come about by chance.
        found.retain(|place| place.len() >= MIN_ANYWHERE);
        if found.is_empty() {
            return;
        }
        let mut start = 0;
        for &at in places {
            let end = start + texts[at].len();
            let here: Vec<Range<usize>> = found
                .iter()
                .filter(|place| place.start < end && place.end > start)
                .map(|place| place.start.max(start) - start..place.end.min(end) - start)
                .collect();
            texts[at] = without(&texts[at], &here);
            start = end;
        }
    }

    /// Hides the secrets in a text.
    fn hidden(&self, text: &str) -> Hidden<String> {
        let (places, mut is_exposed) = self.places(text);
        let mut value = without(text, &places);
        for _ in 0..MAX_ROUNDS {
            let Some(view) = decoded(&value) else { break };
            let (places, is_word) = self.places(&view.text);
            is_exposed |= is_word;
            if places.is_empty() {
                break;
            }
            let places: Vec<Range<usize>> = places.into_iter().map(|place| view.back(place)).collect();
            value = without(&value, &places);
        }
        Hidden { value, is_exposed }
    }

    /// Returns the places of secrets in a text, in order, and whether it has a word that may be the key.
    fn places(&self, text: &str) -> (Vec<Range<usize>>, bool) {
        let Some(finders) = &self.finders else { return (Vec::new(), false) };
        let mut places: Vec<Range<usize>> = Vec::new();
        let mut is_exposed = false;
        for hit in finders.any_case.find_overlapping_iter(text) {
            let (secret, form) = finders.any_case_of[hit.pattern().as_usize()];
            let (secret, style) = &self.texts[secret];
            let is_exact =
                &text[hit.range()] == secret || secret.len() >= MIN_ANYWHERE || form != Form::Written;
            match style {
                Style::Anywhere if is_exact => places.push(whole_part(text, &hit.range(), secret, form)),
                Style::Word | Style::Placeholder if is_exact && is_token(text, &hit.range()) => {
                    if is_announced(&text[..hit.start()]) {
                        places.push(hit.range());
                    } else {
                        is_exposed |= *style == Style::Word;
                    }
                }
                _ => {}
            }
        }
        let mut done = 0;
        for hit in finders.base64.find_iter(text) {
            if hit.end() <= done {
                continue;
            }
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
            let bytes = text.as_bytes();
            let before = bytes[..hit.start()].iter().rev().take_while(|byte| is_part(byte)).count();
            let behind = bytes[hit.end()..].iter().take_while(|byte| is_part(byte)).count();
            done = hit.end() + behind;
            places.push(hit.start() - before..done);
        }
        places.sort_by_key(|place| (place.start, place.end));
        (places, is_exposed)
    }
}

impl Hidden<Option<Vec<u8>>> {
    /// Returns the new body, or the old one if it has no secret.
    fn or(self, body: Vec<u8>) -> Hidden<Vec<u8>> {
        Hidden { value: self.value.unwrap_or(body), is_exposed: self.is_exposed }
    }
}

impl Finders {
    fn of(texts: &[(String, Style)]) -> Option<Self> {
        let (mut patterns, mut any_case_of, mut encoded) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (text, style)) in texts.iter().enumerate() {
            patterns.push(text.clone());
            any_case_of.push((at, Form::Written));
            let bearer = format!("Bearer {text}");
            if *style == Style::Anywhere {
                patterns.push(text.bytes().map(|byte| format!("{byte:02x}")).collect());
                any_case_of.push((at, Form::Encoded));
                patterns.push(text.chars().rev().collect());
                any_case_of.push((at, Form::Encoded));
                for (part, form) in parts_of(text) {
                    patterns.push(part.to_owned());
                    any_case_of.push((at, form));
                }
                encoded.extend(in_base64(text.as_bytes()));
                encoded.extend(in_base32(text.as_bytes()));
            }
            encoded.extend(in_base64(bearer.as_bytes()));
            encoded.extend(in_base32(bearer.as_bytes()));
        }
        let any_case = AhoCorasick::builder().ascii_case_insensitive(true).build(patterns).ok()?;
        Some(Self { any_case, any_case_of, base64: AhoCorasick::new(encoded).ok()? })
    }
}

/// Returns the letters of base64 that are the same wherever a secret is in the encoded bytes, in both alphabets.
fn in_base64(secret: &[u8]) -> Vec<String> {
    let of_offset = |offset: usize| {
        let bytes = [&[0; 2][..offset], secret].concat();
        let letters = BASE64_STANDARD_NO_PAD.encode(&bytes);
        let (first, last) = ((offset * 8).div_ceil(6), bytes.len() * 8 / 6);
        letters[first..last].to_owned()
    };
    let letters = (0..3).map(of_offset).filter(|letters| letters.len() >= MIN_BASE64);
    letters.flat_map(|letters| [letters.replace('+', "-").replace('/', "_"), letters]).collect()
}

/// Returns the letters of base32 that are the same wherever a secret is in the encoded bytes, in both cases.
fn in_base32(secret: &[u8]) -> Vec<String> {
    let of_offset = |offset: usize| {
        let bytes = [&[0; BASE32_BITS][..offset], secret].concat();
        // Only letters of which all bits are of the secret.
        let letters = (offset * 8).div_ceil(BASE32_BITS)..bytes.len() * 8 / BASE32_BITS;
        base32::encoded(&bytes)[letters].to_owned()
    };
    let letters = (0..BASE32_BITS).map(of_offset).filter(|letters| letters.len() >= MIN_BASE64);
    letters.flat_map(|letters| [letters.to_lowercase(), letters]).collect()
}

/// Returns the shortest beginning and end by which a secret is known.
fn parts_of(secret: &str) -> Vec<(&str, Form)> {
    let length = MIN_PART.max(secret.len().div_ceil(2));
    if length >= secret.len() {
        return Vec::new();
    }
    let start = &secret[..secret.ceil_char_boundary(length)];
    let end = &secret[secret.floor_char_boundary(secret.len() - length)..];
    vec![(start, Form::Start), (end, Form::End)]
}

/// Returns the place of all that a text has of a secret at the place of its beginning or end.
fn whole_part(text: &str, place: &Range<usize>, secret: &str, form: Form) -> Range<usize> {
    let same = |(one, other): &(u8, u8)| one.eq_ignore_ascii_case(other);
    match form {
        Form::Written | Form::Encoded => place.clone(),
        Form::Start => {
            let (rest, of_secret) = (text[place.end..].bytes(), secret[place.len()..].bytes());
            let more = rest.zip(of_secret).take_while(same).count();
            place.start..text.floor_char_boundary(place.end + more)
        }
        Form::End => {
            let (rest, of_secret) =
                (text[..place.start].bytes().rev(), secret[..secret.len() - place.len()].bytes().rev());
            let more = rest.zip(of_secret).take_while(same).count();
            text.ceil_char_boundary(place.start - more)..place.end
        }
    }
}

fn style(secret: &str) -> Style {
    let lowered = secret.to_lowercase();
    let is_mixed = secret.chars().any(char::is_alphabetic) && secret.chars().any(|c| !c.is_alphabetic());
    if PLACEHOLDERS.contains(&lowered.as_str()) {
        Style::Placeholder
    } else if secret.len() >= MIN_ANYWHERE || (is_mixed && secret.len() >= MIN_MIXED) {
        Style::Anywhere
    } else {
        Style::Word
    }
}

/// Returns whether no letter or digit is directly before or after a place.
fn is_token(text: &str, place: &Range<usize>) -> bool {
    !text[..place.start].ends_with(char::is_alphanumeric)
        && !text[place.end..].starts_with(char::is_alphanumeric)
}

fn tokens<'t>(text: &'t str, secret: &'t str) -> impl Iterator<Item = Range<usize>> {
    let places = text.match_indices(secret).map(|(at, found)| at..at + found.len());
    places.filter(|place| is_token(text, place))
}

/// Returns whether the text before a word says that it is a key.
fn is_announced(before: &str) -> bool {
    let near = before[before.floor_char_boundary(before.len().saturating_sub(NEAR))..].to_lowercase();
    let near = near.trim_end_matches([' ', ':', '=', '"', '\'', '`', '\\', '<', '(', '[']);
    ANNOUNCING.iter().any(|word| near.ends_with(word))
}

/// Returns a text with stars in the place of the ranges, which are in order and may overlap.
fn without(text: &str, places: &[Range<usize>]) -> String {
    let mut new = String::new();
    let mut done = 0;
    for place in places {
        if place.start >= done {
            new.push_str(&text[done..place.start]);
            new.push_str(HIDDEN);
        }
        done = done.max(place.end);
    }
    new + &text[done..]
}

/// Collects the names and texts of a value in order, and the places of texts with the same name.
fn collect<'v>(
    name: &'v str,
    value: &'v Value,
    texts: &mut Vec<&'v str>,
    parts: &mut BTreeMap<&'v str, Vec<usize>>,
) {
    match value {
        Value::String(text) => {
            parts.entry(name).or_default().push(texts.len());
            texts.push(text);
        }
        Value::Array(array) => array.iter().for_each(|value| collect(name, value, texts, parts)),
        Value::Object(object) => {
            for (name, value) in object {
                texts.push(name);
                collect(name, value, texts, parts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts names and texts in the places of those that were collected.
fn put_back(value: &mut Value, texts: &mut impl Iterator<Item = String>) {
    match value {
        Value::String(text) => *text = texts.next().unwrap_or_default(),
        Value::Array(array) => array.iter_mut().for_each(|value| put_back(value, texts)),
        Value::Object(object) => {
            let renamed = std::mem::take(object).into_iter().map(|(name, mut value)| {
                let name = texts.next().unwrap_or(name);
                put_back(&mut value, texts);
                (name, value)
            });
            *object = renamed.collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-ab/cd+efgh1234567890";

    fn of(key: &str) -> Secrets {
        Secrets::of(Some(key), None)
    }

    fn shown(key: &str, body: &str) -> (String, bool) {
        let hidden = of(key).hide_in(body.as_bytes().to_vec());
        (String::from_utf8(hidden.value).unwrap(), hidden.is_exposed)
    }

    #[test]
    fn a_key_is_hidden_in_every_encoding() {
        let escaped: String = KEY.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
        let percent: String = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let entities: String = KEY.bytes().map(|byte| format!("&#{byte};")).collect();
        let base64 = |text: String| BASE64_STANDARD_NO_PAD.encode(text);
        for body in [
            json!({ "a": format!("it is {KEY}") }).to_string(),
            r#"{"a": "it is sk-ab\/cd+efgh1234567890"}"#.to_owned(),
            format!(r#"{{"a": ["{escaped}"], "b": 1}}"#),
            format!(r#"{{"{escaped}": 1}}"#),
            // JSON in a text of JSON.
            json!({ "arguments": format!(r#"{{"key": "{escaped}"}}"#) }).to_string(),
            r"not JSON: sk-ab\/cd+efgh1234567890".to_owned(),
            format!("{{\"line\": 1}}\n{{\"line\": \"{escaped}\"}}\n"),
            format!("not JSON: {percent}"),
            json!({ "a": entities }).to_string(),
            json!({ "a": "sk-ab%252Fcd%252Befgh1234567890" }).to_string(),
            json!({ "a": KEY.to_uppercase() }).to_string(),
            json!({ "a": KEY.bytes().map(|byte| format!("{byte:02X}")).collect::<String>() }).to_string(),
            json!({ "a": base64(KEY.to_owned()) }).to_string(),
            json!({ "a": base64(format!("x{KEY}")) }).to_string(),
            json!({ "a": format!("Basic {}", base64(format!("me:{KEY}"))) }).to_string(),
            json!({"content": [{"type": "text", "text": "it is sk-ab/cd"}, {"type": "text", "text": "+efgh1234567890"}]})
                .to_string(),
        ] {
            let (shown, is_exposed) = shown(KEY, &body);
            assert!(shown.contains(HIDDEN) && !is_exposed, "{body}: {shown}");
            let (lowered, rest) = (shown.to_lowercase(), [escaped.as_str(), &percent, &entities]);
            assert!(!lowered.contains("cd+efgh") && !lowered.contains("+efgh12345"), "{body}: {shown}");
            assert!(rest.iter().all(|form| !shown.contains(*form)), "{body}: {shown}");
            let bytes = BASE64_STANDARD_NO_PAD.encode(&KEY[3..15]);
            assert!(!shown.contains(&bytes) && !lowered.contains("736b2d"), "{body}: {shown}");
        }
        for body in [json!({"a": "a\nb \\u0041 100%"}).to_string(), "a\nb\n".to_owned(), String::new()] {
            assert_eq!(shown(KEY, &body), (body, false));
        }
    }

    #[test]
    fn a_reversed_key_its_base32_and_long_parts_of_it_are_hidden() {
        let key = "sk-Qm9xT7vB5nR2yLw8Zk3m91Ab";
        for (body, expected) in [
            ("it is bA19m3kZ8wLy2Rn5Bv7Tx9mQ-ks.".to_owned(), "it is ***."),
            // Base32 of the key, of `x` and the key, and of `Bearer` and the key, in lower case.
            ("it is ONVS2ULNHF4FIN3WII2W4URSPFGHOOC2NMZW2OJRIFRA====.".to_owned(), "it is ***====."),
            ("it is PBZWWLKRNU4XQVBXOZBDK3SSGJ4UY5ZYLJVTG3JZGFAWE===.".to_owned(), "it is ***===."),
            (format!("it is {}.", &key[..20]), "it is ***."),
            (format!("it is {}…", &key[..14]), "it is ***…"),
            (format!("it ends in {}.", &key[12..]), "it ends in ***."),
            (format!("it is {}x.", &key[..26].to_uppercase()), "it is ***x."),
            (format!("it is {}.", &key[..11]), "it is sk-Qm9xT7vB."),
            (format!("it ends in {}.", &key[20..]), "it ends in k3m91Ab."),
        ] {
            assert_eq!(shown(key, &body), (expected.to_owned(), false), "{body}");
            assert_eq!(of(key).hide(&body), expected, "{body}");
            let json = json!({ "content": body }).to_string();
            let hidden: Value = serde_json::from_str(&shown(key, &json).0).unwrap();
            assert_eq!(hidden["content"], expected, "{body}");
        }
        let bearer: String = in_base32(format!("Bearer {key}").as_bytes()).concat();
        assert!(!shown(key, &bearer).0.contains(&bearer[..8]));
    }

    #[test]
    fn a_short_key_is_hidden_as_a_key_and_no_word_of_a_reply_is_replaced() {
        for (key, body, expected, is_exposed) in [
            ("k3y!", "you sent k3y! and xk3y!x", "you sent *** and x***x", false),
            ("hunter", "you sent Bearer hunter", "you sent Bearer ***", false),
            ("a", r#"[f(a=1, key="a")]"#, r#"[f(a=1, key="***")]"#, true),
            ("a", "api_key: a; cat", "api_key: ***; cat", false),
            ("hunter", "the hunter sent Bearer hunter", "the hunter sent Bearer ***", true),
            ("hunter", "two hunters", "two hunters", false),
            ("EMPTY", "the list is EMPTY; Bearer EMPTY", "the list is EMPTY; Bearer ***", false),
            ("x", "f(x=1) Authorization: x", "f(x=1) Authorization: ***", false),
            ("x", "Bearer eA", "Bearer eA", false),
            ("q7", "QmVhcmVyIHE3", "***", false),
        ] {
            assert_eq!(shown(key, body), (expected.to_owned(), is_exposed), "{key}: {body}");
            let body = json!({ "content": body }).to_string();
            let (json, is_json_exposed) = shown(key, &body);
            let json: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(
                (json["content"].as_str(), is_json_exposed),
                (Some(expected), is_exposed),
                "{key}: {body}"
            );
        }
        // A message may lose a word.
        assert_eq!(of("hunter").hide("no hunter, 2 hunters"), "no ***, 2 hunters");
        assert_eq!(of("x").hide("Incorrect API key: x."), "Incorrect API key: ***.");
    }

    #[test]
    fn secrets_of_the_address_are_hidden_and_other_parameters_not() {
        let url = Url::parse(
            "https://me:Zw4n%2Dzig@a.test/v1?api-version=2024-10-21&subscription-key=9f86d081884c7d65",
        );
        let secrets = Secrets::of(None, Some(&url.unwrap()));
        let text = "Zw4n%2Dzig 9f86d081884c7d65 2024-10-21 me";
        assert_eq!(secrets.hide(text), "*** *** 2024-10-21 me");
        assert_eq!(format!("{secrets:?}"), HIDDEN);
    }
}
