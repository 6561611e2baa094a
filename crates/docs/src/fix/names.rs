//! Names that a Python call can use: identifiers, separated by dots in function names, no keywords.
//!
//! Answers are written as Python calls, so a parameter called `class` could never be set. `renaming` changes names of
//! parameters to valid ones.

/// The keywords of Python.
pub(super) const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The maximum length of a function name in the APIs of models, in characters.
pub(super) const MAX_NAME_CHARS: usize = 64;

/// Returns true if a call can use the name for a function.
pub(crate) fn is_function_name(name: &str) -> bool {
    name.split('.').all(is_parameter_name)
}

/// Returns true if a call can use the name for a parameter.
pub(crate) fn is_parameter_name(name: &str) -> bool {
    is_identifier(name) && !is_keyword(name)
}

pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

pub(crate) fn is_identifier(name: &str) -> bool {
    name.chars().all(is_word) && name.starts_with(|c: char| !c.is_ascii_digit())
}

pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_digit() || c.is_alphabetic()
}

/// Returns the name with each run of invalid characters replaced by one underscore; `None` if nothing else remains.
pub(super) fn identifier(name: &str) -> Option<String> {
    let words: Vec<_> = name.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let joined = words.join("_");
    let prefix = if joined.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    (!joined.is_empty()).then(|| format!("{prefix}{joined}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_with_minimal_changes() {
        for (name, expected) in [
            ("Get Weather (v2)", Some("Get_Weather_v2")),
            ("x-api-key", Some("x_api_key")),
            ("9lives", Some("_9lives")),
            ("_private", Some("_private")),
            ("…", None),
        ] {
            assert_eq!(identifier(name).as_deref(), expected, "{name}");
        }
    }
}
