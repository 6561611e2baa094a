//! Whether a value is made by chance, or is a password that somebody chose.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::secret::head;

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
pub(super) const LEAST_UNTIED: usize = 20;
pub(super) const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 6..=64;
/// Fewest letters of one in base32.
const LEAST_BASE32: usize = 24;
/// Fewest bits a character of a random value: hex has up to 4, words with digits some 3.
pub(super) const LEAST_ENTROPY: f64 = 2.8;
/// Fewest letters of either size, and fewest bits a character, of a key without digits.
const MIXED_LETTERS: usize = 5;
const MIXED_ENTROPY: f64 = 3.5;
/// Fewest bits a character of a long value that dashes part.
const LONG_ENTROPY: f64 = 4.4;

pub(super) fn is_stand_in(value: &str) -> bool {
    let value = value.to_lowercase();
    STAND_INS.iter().any(|part| value.contains(part))
}

pub(super) fn is_password(value: &str) -> bool {
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
pub(super) fn is_strong_password(value: &str) -> bool {
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
pub(super) fn is_untied(value: &str) -> bool {
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
pub(super) fn is_basic(value: &str) -> bool {
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
pub(super) fn is_mixed(body: &str) -> bool {
    let n_capitals = body.bytes().filter(u8::is_ascii_uppercase).count();
    let n_small = body.bytes().filter(u8::is_ascii_lowercase).count();
    !is_stand_in(body)
        && n_capitals >= MIXED_LETTERS
        && n_small >= MIXED_LETTERS
        && entropy(body) >= MIXED_ENTROPY
}

/// Five groups of hex digits are an id, even in parts of a longer word.
pub(super) fn is_uuid(value: &str) -> bool {
    let sizes: Vec<usize> = value.split('-').map(str::len).collect();
    sizes == [8, 4, 4, 4, 12] && value.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Bits a byte, of the bytes as they are spread in the value.
pub(super) fn entropy(value: &str) -> f64 {
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
