//! Decides if a value with marks among its letters and digits is a secret: `Kx4!mR9#tB2`, `Kx4m-R9tB-2Qw7`.
//!
//! A word for a key or a token announces such a value as a word for a password does. But keys have names, paths, versions and
//! references as values more often than passwords do, so marks that these have too need more letters and digits.

use super::address::FILE_ENDINGS;
use super::random::{LEAST_RANDOM, is_program_name, is_stand_in};
use super::secret::MAX_JUDGED;

/// Minimum number of characters of such a value, and of one without a digit.
pub(super) const LEAST_MARKED: usize = 8;
const LEAST_WITHOUT_DIGIT: usize = 12;
/// Marks of passwords and generated secrets. Names and numbers have the second ones too: `Issue#12`, `Q&A`, `me@host`.
const SURE_MARKS: &str = "!$^*?~";
const NAME_MARKS: &str = "#%&@|";
/// Minimum number of letters and digits in parts that mix them, if other marks join them.
const LEAST_MIXED: usize = 8;
/// Minimum number of parts with a letter and a digit, if these only follow each other.
const LEAST_PARTS: usize = 3;
/// Minimum number of letters of a word in a name.
const LEAST_LETTERS_OF_WORD: usize = 3;
/// Starts of a reference to a secret.
const REFERENCES: [&str; 24] = [
    "/",
    "./",
    "../",
    "~/",
    "@/",
    "os.",
    "process.",
    "env.",
    "env:",
    "env/",
    "$env",
    "vault:",
    "vault/",
    "op:",
    "ssm:",
    "secrets/",
    "secrets.",
    "projects/",
    "arn:",
    "file:",
    "data:",
    "self.",
    "this.",
    "var.",
];
/// Endings of files, beside those of web pages.
const FILES: [&str; 12] =
    ["pem", "key", "crt", "cer", "p12", "pfx", "env", "yaml", "yml", "toml", "ini", "py"];
/// Names of keys on a keyboard.
const KEYBOARD: [&str; 8] = ["ctrl", "shift", "alt", "cmd", "option", "meta", "super", "control"];

/// What a word says about the value after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Announced {
    /// Whether the word is only near the value.
    pub(super) is_loose: bool,
    /// Whether it names a secret and nothing else: `api_key`, `client_secret`, not `key`.
    pub(super) is_specific: bool,
}

/// Returns true for a secret with marks. `behind` is the text after it.
pub(super) fn is_marked_secret(value: &str, behind: &str, announced: Announced) -> bool {
    let n_chars = value.chars().count();
    let body = value.trim_end_matches(['!', '?']);
    let has = |is: fn(char) -> bool| value.chars().any(is);
    let is_part = |c: char| c.is_alphanumeric();
    if n_chars < LEAST_MARKED || value.len() >= MAX_JUDGED || body.chars().all(is_part) {
        return false;
    }
    let (has_digit, is_cased) =
        (has(|c| c.is_ascii_digit()), has(char::is_uppercase) && has(char::is_lowercase));
    let n_sure = body.chars().filter(|&c| SURE_MARKS.contains(c)).count();
    let n_hard = n_sure + body.chars().filter(|&c| NAME_MARKS.contains(c)).count();
    let mixed = body.split(|c| !is_part(c)).filter(|part| is_mixed(part)).map(str::len).sum::<usize>();
    let is_specific = announced.is_specific;
    let is_secret = match (has_digit, is_cased) {
        _ if announced.is_loose => {
            has_digit && is_cased && (n_hard > 0 || is_specific) && mixed >= LEAST_MIXED
        }
        (true, true) if n_hard > 0 => {
            n_sure > 0 || n_hard > 1 || mixed > 0 || n_numbered(body) > 1 || is_specific
        }
        (true, true) => {
            // Names in programs and paths: `settings.Token2`, `Kiln/Prod2`.
            let is_joined_by = |mark: char| body.chars().all(|c| is_part(c) || c == mark);
            let is_name = || {
                mixed < LEAST_MIXED / 2 && (is_program_name(value) || body.contains('/') || is_joined_by('.'))
            };
            mixed >= LEAST_MIXED
                || n_numbered(body) >= LEAST_PARTS
                || is_specific && !is_name() && !body.contains("::")
        }
        (true, false) => {
            has(char::is_alphabetic) && n_hard > 0 && mixed > 0 && (is_specific || mixed >= LEAST_MIXED)
        }
        (false, _) => is_cased && is_specific && n_sure > 0 && n_hard > 1 && n_chars >= LEAST_WITHOUT_DIGIT,
    };
    is_secret && !is_stand_in(value) && !is_reference(value, behind, n_hard) && !is_other(value)
}

/// Returns true for letters and digits that change twice or more, as in no word with a number: `t4Lm`, `8Zr2`. Words around a
/// number are a name: `Base64Key`.
fn is_mixed(part: &str) -> bool {
    let mut n_changes = 0;
    let mut was_digit = None;
    for is_digit in part.chars().map(char::is_numeric) {
        n_changes += usize::from(was_digit.is_some_and(|was| was != is_digit));
        was_digit = Some(is_digit);
    }
    let is_word = |letters: &str| {
        letters.chars().count() >= LEAST_LETTERS_OF_WORD && !letters.chars().skip(1).any(char::is_uppercase)
    };
    let mut words = part.split(char::is_numeric).filter(|letters| !letters.is_empty());
    n_changes >= 2 && !words.all(is_word)
}

/// Returns the number of parts with both letters and digits.
fn n_numbered(body: &str) -> usize {
    let parts = body.split(|c: char| !c.is_alphanumeric());
    parts.filter(|part| part.contains(char::is_alphabetic) && part.contains(char::is_numeric)).count()
}

/// Returns true for a place where a secret is, or the start of one: a variable, a path, a call.
fn is_reference(value: &str, behind: &str, n_hard: usize) -> bool {
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'));
    let is_variable = value.strip_prefix('$').is_some_and(is_name)
        || value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(is_name);
    let goes_on = behind.starts_with(['(', '[']) && n_hard == 0
        || behind.starts_with(['{', '(', '<']) && value.ends_with(['$', '#', '%', '=']);
    let lowered = value.to_lowercase();
    is_variable
        || goes_on
        || value.contains("://")
        || value.contains("%20")
        // The middle of a shortened secret is not shown.
        || value.contains("...")
        || value.contains("***")
        || REFERENCES.iter().any(|start| lowered.starts_with(start))
}

/// Returns true for an e-mail address or host, a file, or a shortcut of a keyboard.
fn is_other(value: &str) -> bool {
    let is_ending = |ending: &str| {
        (2..=24).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    let host = value.rsplit_once('@').map(|(_, host)| host.split(['/', ':', '?']).next().unwrap_or_default());
    let is_host = host.and_then(|host| host.rsplit_once('.')).is_some_and(|(_, top)| is_ending(top));
    let ending = value.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    let is_file = ending
        .is_some_and(|ending| FILE_ENDINGS.contains(&ending.as_str()) || FILES.contains(&ending.as_str()));
    let is_shortcut = || {
        value.split(['+', '-']).any(|part| KEYBOARD.contains(&part.to_lowercase().as_str()))
            && value.len() < 2 * LEAST_RANDOM
    };
    is_host || is_file || is_shortcut()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Announced = Announced { is_loose: false, is_specific: false };
    const API_KEY: Announced = Announced { is_loose: false, is_specific: true };
    const NEAR: Announced = Announced { is_loose: true, is_specific: true };

    #[test]
    fn a_value_with_both_cases_digits_and_marks_is_a_secret() {
        for value in
            ["Gx4!mR9#tB2", "Harbour!2024x", "bQ7&hT3%wN5", "nV6.Kd2:Yp8=Ls4", "p9Fw~7Jc^2Rz", "Td5@Wm8/Gk3"]
        {
            assert!(is_marked_secret(value, "", KEY) && is_marked_secret(value, " ", API_KEY), "{value}");
        }
        for value in ["Lantern-Reef_47", "Room#4512", "hk4#qz7m"] {
            assert!(!is_marked_secret(value, "", KEY) && is_marked_secret(value, "", API_KEY), "{value}");
        }
        assert!(is_marked_secret("Gx4mR9!tB2vK7", "", NEAR) && !is_marked_secret("Harbour!2024x", "", NEAR));
    }

    #[test]
    fn names_paths_references_and_versions_are_none() {
        for (value, behind) in [
            ("Ab3!", ""),
            ("$API_TOKEN2", ""),
            ("%Api_Token2%", ""),
            ("os.environ/Kiln_KEY_2", ""),
            ("process.env.KilnToken2", ""),
            ("self.readToken2", "("),
            ("tokens.V2.read", "(user)"),
            ("https://kiln.io/Docs/v2", ""),
            ("/srv/Kiln-2/t4Lm/8Zr2", ""),
            ("Keys-t4Lm-8Zr2.pem", ""),
            ("Mira.t4Lm8Zr2@quillpost.net", ""),
            ("Your-Key!2x4y6", ""),
            ("Ctrl+Shift+F5", ""),
            ("2026-09-09T06:00:00Z", ""),
            ("Gx4mR9tB2!", ""),
            ("KILN_API_KEY", ""),
            ("sk-...Gx4m", ""),
            ("K8s/Kiln-Db/Prod2", ""),
            ("Vault.Prod2", ""),
        ] {
            assert!(!is_marked_secret(value, behind, API_KEY), "{value}");
        }
        for value in [
            "Level-2-Bonus",
            "Llama-3.1-8B-Q4_K_M",
            "Issue#1234",
            "Photos/2024/IMG_1234",
            "us-East-1b",
            "Base64Key/Utf8Name",
        ] {
            assert!(!is_marked_secret(value, "", KEY), "{value}");
        }
    }
}
