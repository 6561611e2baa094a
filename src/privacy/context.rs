//! What stands around a value: whether it is part of a longer word, and which words say what it is.
//!
//! Texts come as people wrote them and as JSON or Python literals, so an escape (`\n`) before a
//! value is a blank, not a letter.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Bytes before a value in which a word can say what it is.
const NEAR_BEFORE: usize = 48;
/// Bytes behind it.
const NEAR_BEHIND: usize = 24;

/// Words that announce a telephone number. With `*` any ending goes.
const PHONE: &[&str] = &[
    "phone*",
    "telephone*",
    "tel",
    "mobile*",
    "cell",
    "cellphone*",
    "whatsapp",
    "whats",
    "sms",
    "fax",
    "call",
    "calling",
    "dial",
    "text",
    "texting",
    "contact",
    "reach",
    "ring",
    "hotline",
    "handy",
    "handynummer",
    "telefon*",
    "mobil",
    "rufnummer",
    "anrufen",
    "ruf",
    "téléphone",
    "portable",
    "appelle*",
    "appeler",
    "celular",
    "telefone",
    "teléfono",
    "llama*",
    "ligue",
    "ligar",
    "móvil",
];
/// The same in scripts that do not part words.
const PHONE_ANYWHERE: &[&str] = &[
    "电话",
    "電話",
    "手机",
    "手機",
    "拨打",
    "联系",
    "聯繫",
    "फ़ोन",
    "फोन",
    "मोबाइल",
    "携帯",
    "전화",
    "téléphone",
];
/// Words behind a number that tell what it was.
const PHONE_BEHIND: &[&str] = &["phone*", "mobile*", "cell", "cellphone*", "whatsapp", "whats", "telephone*"];
/// Words whose number is none of ours.
const OTHER_NUMBER: &[&str] = &[
    "order",
    "invoice",
    "ticket",
    "tracking",
    "track",
    "isbn",
    "imei",
    "ean",
    "upc",
    "sku",
    "part",
    "case",
    "serial",
    "ref",
    "reference",
    "model",
    "build",
    "version",
    "ver",
    "function",
    "id",
    "ids",
    "uid",
    "userid",
    "tweet",
    "order_id",
    "user_id",
    "timestamp",
    "ts",
    "zip",
    "zipcode",
    "postcode",
    "cep",
    "flight",
    "row",
    "rows",
    "strike",
    "lat",
    "lon",
    "latitude",
    "longitude",
    "near",
    "commit",
    "sum",
    "amount",
    "price",
];
/// Words that stand between such a word and its number.
const FILLER: &[&str] = &["number", "no", "nr", "num", "code", "is", "of"];
const SSN: &[&str] = &["ssn", "social", "taxpayer"];
const VERSION: &[&str] = &[
    "version", "ver", "release", "build", "upgrade", "section", "chapter", "oid", "chrome", "firmware", "v",
];
const ADDRESS: &[&str] =
    &["ip", "ips", "ipv4", "host*", "server", "ping", "address*", "addr", "subnet", "dns"];
const CARD: &[&str] = &["card*", "visa", "credit", "cc", "ccnum", "pan"];
/// Parts of keys that say something about their value.
const SAYING: &[&str] = &[
    "phone", "tel", "mobile", "cell", "whatsapp", "sms", "fax", "contact", "key", "token", "secret", "passw",
    "pwd", "pass", "ssn", "social", "ip", "host", "server", "card", "version", "order", "id", "auth",
    "number", "celular", "handy",
];

/// The key may say what its value is.
pub(super) fn says_something(key: &str) -> bool {
    static IN_ANY_CASE: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let parts = AhoCorasick::builder().ascii_case_insensitive(true).build(SAYING);
        parts.expect("a few short words")
    });
    IN_ANY_CASE.is_match(key)
}

/// What stands before byte `at` is an escape such as `\n` or `\u0041`; its length.
pub(super) fn escape_before(bytes: &[u8], at: usize) -> usize {
    if at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b't' | b'r' | b'f' | b'b') {
        return 2;
    }
    if at >= 6
        && bytes[at - 6] == b'\\'
        && bytes[at - 5] == b'u'
        && bytes[at - 4..at].iter().all(u8::is_ascii_hexdigit)
    {
        return 6;
    }
    0
}

/// A word goes on before byte `at`.
pub(super) fn is_joined_before(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_word(bytes[at - 1]) && escape_before(bytes, at) == 0
}

/// A word goes on at byte `at`.
pub(super) fn is_joined_behind(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|&byte| is_word(byte))
}

/// A number or identifier goes on behind byte `at`: a word, or a joint and a word.
pub(super) fn goes_on(bytes: &[u8], at: usize, joints: &[u8]) -> bool {
    is_joined_behind(bytes, at)
        || bytes.get(at).is_some_and(|byte| joints.contains(byte))
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
}

/// A number or identifier goes on before byte `at`.
pub(super) fn came_before(bytes: &[u8], at: usize, joints: &[u8]) -> bool {
    is_joined_before(bytes, at)
        || at >= 2
            && joints.contains(&bytes[at - 1])
            && bytes[at - 2].is_ascii_alphanumeric()
            && escape_before(bytes, at - 1) == 0
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn near_before(text: &str, at: usize) -> &str {
    let mut start = at.saturating_sub(NEAR_BEFORE);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let near = &text[start..at];
    near.rfind('\n').map_or(near, |line| &near[line + 1..])
}

fn near_behind(text: &str, at: usize) -> &str {
    let mut end = text.len().min(at + NEAR_BEHIND);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let near = &text[at..end];
    near.find('\n').map_or(near, |line| &near[..line])
}

/// The words of a text: letters, cut where the case rises (`phoneNumber`).
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let starts = was_lower && c.is_uppercase();
        if (!c.is_alphabetic() || starts) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn among(word: &str, list: &[&str]) -> bool {
    list.iter().any(|entry| entry.strip_suffix('*').map_or(word == *entry, |start| word.starts_with(start)))
}

fn has(text: &str, list: &[&str]) -> bool {
    words(text).iter().any(|word| among(word, list))
}

/// A word nearby says that a telephone number stands from `start` to `end`.
pub(super) fn announces_phone(text: &str, start: usize, end: usize) -> bool {
    let before = near_before(text, start);
    has(before, PHONE)
        || PHONE_ANYWHERE.iter().any(|word| before.contains(word))
        || has(near_behind(text, end), PHONE_BEHIND)
}

/// The word right before byte `at` names another kind of number.
pub(super) fn announces_other(text: &str, at: usize) -> bool {
    let before = near_before(text, at);
    let words = words(before);
    let mut last = words.iter().rev().skip_while(|word| among(word, FILLER));
    last.next().is_some_and(|word| among(word, OTHER_NUMBER)) || before.trim_end().ends_with('#')
}

/// A word nearby says that a social security number stands behind it.
pub(super) fn announces_ssn(text: &str, at: usize) -> bool {
    has(near_before(text, at), SSN)
}

/// A word nearby says that a version stands behind it.
pub(super) fn announces_version(text: &str, at: usize) -> bool {
    words(near_before(text, at)).iter().rev().take(2).any(|word| among(word, VERSION))
}

/// A word nearby says that an IP address stands behind it.
pub(super) fn announces_address(text: &str, at: usize) -> bool {
    has(near_before(text, at), ADDRESS)
}

/// A word nearby says that a card number stands behind it.
pub(super) fn announces_card(text: &str, at: usize) -> bool {
    has(near_before(text, at), CARD)
}
