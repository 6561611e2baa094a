//! Converts the text of a Java or JavaScript argument to a value (`java_type_converter`, `js_type_converter`).
//!
//! The evaluator reads collections with regular expressions, not with a parser. The same patterns are used here, with
//! Python's classes of characters written out, on an engine that takes linear time. A text that has another form than
//! the declared type stays a text, and may still equal an alternative that is one.

mod java;
mod javascript;
pub(super) mod number;

pub(super) use java::java;
pub(super) use javascript::javascript;

use std::sync::LazyLock;

use regex::Regex;

use super::verdict::EvaluatorException;

/// A pattern that is compiled at its first use.
type Pattern = LazyLock<Regex>;

/// Compiles a pattern. `~` is a space, `#` a digit and `@` a character of a word, as Python's `\s`, `\d` and `\w`.
fn pattern(text: &str) -> Regex {
    let text = text
        .replace(
            '~',
            r"[\t-\r\x1c-\x20\u{85}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}]",
        )
        .replace('#', r"\p{Nd}")
        .replace('@', r"[\p{L}\p{N}_]");
    Regex::new(&text).expect("the patterns of the converters are constants, and a test compiles each")
}

/// Returns whether Python's `str.strip` removes a character.
fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&char)
}

/// Returns a text without spaces at both ends (`str.strip`).
fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns a text without its first and last character (`[1:-1]`).
fn inner(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}

/// Returns whether a text begins and ends with a quote. One quote alone does both.
fn is_quoted(text: &str, quote: char) -> bool {
    text.starts_with(quote) && text.ends_with(quote)
}

/// Returns the fault of an integer with more digits than Python converts.
fn too_many_digits() -> EvaluatorException {
    EvaluatorException::new("ValueError", format!("an integer has more than {} digits", number::MAX_DIGITS))
}

/// Returns the fault of a type that the converters do not know.
fn unsupported(declared: &str) -> EvaluatorException {
    EvaluatorException::new("ValueError", format!("the converter does not know the type {declared:?}"))
}
