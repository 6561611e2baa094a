//! The text of a value in Python, as `repr` writes it.

use std::fmt::Write as _;
use std::sync::LazyLock;

use num_bigint::BigInt;
use unicode_general_category::{GeneralCategory, get_general_category};

use super::value::PyValue;

/// Most digits of an integer that Python writes.
const MAX_DIGITS: u32 = 4300;

/// The text in the place of an integer that Python does not write.
pub(super) const LONG_INTEGER: &str = "<an integer of more than 4300 digits>";

/// Returns the digits of an integer; Python and readers of JSON in Python refuse those of a longer one.
pub(super) fn integer(value: &BigInt) -> String {
    if is_long(value) { LONG_INTEGER.to_owned() } else { value.to_string() }
}

/// Returns whether an integer has more digits than Python writes.
pub(super) fn is_long(value: &BigInt) -> bool {
    static LEAST: LazyLock<BigInt> = LazyLock::new(|| BigInt::from(10).pow(MAX_DIGITS));
    // A digit has more than three bits.
    value.bits() > u64::from(3 * MAX_DIGITS) && value.magnitude() >= LEAST.magnitude()
}

impl PyValue {
    /// Returns the text that Python's `repr` gives; another text in the place of an integer at which it fails.
    pub fn repr(&self) -> String {
        let mut text = String::new();
        self.write_repr(&mut text);
        text
    }

    fn write_repr(&self, text: &mut String) {
        match self {
            Self::None => text.push_str("None"),
            Self::Bool(true) => text.push_str("True"),
            Self::Bool(false) => text.push_str("False"),
            Self::Int(value) => text.push_str(&integer(value)),
            Self::Float(value) => text.push_str(&float(*value)),
            Self::Complex(real, imaginary) => text.push_str(&complex(*real, *imaginary)),
            Self::Str(value) => string(value, text),
            Self::Bytes(value) => bytes(value, text),
            Self::List(elements) => {
                text.push('[');
                sequence(elements, text);
                text.push(']');
            }
            Self::Tuple(elements) => {
                text.push('(');
                sequence(elements, text);
                text.push_str(if elements.len() == 1 { ",)" } else { ")" });
            }
            Self::Dict(members) => {
                text.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        text.push_str(", ");
                    }
                    key.write_repr(text);
                    text.push_str(": ");
                    value.write_repr(text);
                }
                text.push('}');
            }
        }
    }
}

fn sequence(elements: &[PyValue], text: &mut String) {
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            text.push_str(", ");
        }
        element.write_repr(text);
    }
}

/// Returns the shortest text of a float: with an exponent below 1e-4 and from 1e16 on.
pub(super) fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{value}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

fn complex(real: f64, imaginary: f64) -> String {
    let part = |value: f64| float(value).trim_end_matches(".0").to_owned();
    if real == 0.0 && real.is_sign_positive() {
        return format!("{}j", part(imaginary));
    }
    let sign = if imaginary.is_sign_negative() || imaginary.is_nan() { "" } else { "+" };
    format!("({}{sign}{}j)", part(real), part(imaginary))
}

/// Writes a text in single quotes, or in double ones if it has single ones and no double ones.
fn string(value: &str, text: &mut String) {
    let quote = if value.contains('\'') && !value.contains('"') { '"' } else { '\'' };
    text.push(quote);
    for char in value.chars() {
        match char {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            char if char == quote => {
                text.push('\\');
                text.push(char);
            }
            ' '..='~' => text.push(char),
            char if is_printable(char) => text.push(char),
            char => {
                let code = u32::from(char);
                let _ = match code {
                    0..=0xFF => write!(text, "\\x{code:02x}"),
                    0x100..=0xFFFF => write!(text, "\\u{code:04x}"),
                    _ => write!(text, "\\U{code:08x}"),
                };
            }
        }
    }
    text.push(quote);
}

/// Returns whether Python shows a character as it is: no separator but the space, no control, format, private or
/// unassigned character.
fn is_printable(char: char) -> bool {
    !matches!(
        get_general_category(char),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}

fn bytes(value: &[u8], text: &mut String) {
    let quote = if value.contains(&b'\'') && !value.contains(&b'"') { b'"' } else { b'\'' };
    text.push('b');
    text.push(char::from(quote));
    for &byte in value {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            byte if byte == quote => {
                text.push('\\');
                text.push(char::from(byte));
            }
            b' '..=b'~' => text.push(char::from(byte)),
            byte => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text.push(char::from(quote));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_like_python() {
        for (value, expected) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e-5, "1.5e-05"),
            (0.0001, "0.0001"),
            (-0.0, "-0.0"),
            (1e300, "1e+300"),
            (123_456_789.125, "123456789.125"),
        ] {
            assert_eq!(float(value), expected);
        }
        assert_eq!(PyValue::Complex(1.0, -2.5).repr(), "(1-2.5j)");
        assert_eq!(PyValue::Complex(0.0, 3.0).repr(), "3j");
    }

    #[test]
    fn texts_are_quoted_like_python() {
        for (value, expected) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("it's \"so\"", "'it\\'s \"so\"'"),
            ("a\\b\n\u{7f}", "'a\\\\b\\n\\x7f'"),
            ("é 北 \u{a0}\u{200b}\u{feff}", "'é 北 \\xa0\\u200b\\ufeff'"),
            ("\u{1F600}\u{10FFFF}", "'\u{1F600}\\U0010ffff'"),
        ] {
            assert_eq!(PyValue::text(value).repr(), expected);
        }
        assert_eq!(PyValue::Bytes(b"a'\xff".to_vec()).repr(), "b\"a'\\xff\"");
        assert_eq!(PyValue::Tuple(vec![PyValue::None]).repr(), "(None,)");
    }
}
