//! Texts to numbers, as Python's `int` and `float` read them: digits of any script, `_` between digits, spaces around.

use std::borrow::Cow;

use num_bigint::BigInt;
use unicode_general_category::{GeneralCategory, get_general_category};

/// Python converts no integer with more digits.
pub(super) const MAX_DIGITS: usize = 4300;

/// An integer has too many digits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooManyDigits;

/// Returns the integer that a text is (`int(text)`); `None` if it is none.
pub(crate) fn integer(text: &str) -> Result<Option<BigInt>, TooManyDigits> {
    let text = ascii(text);
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(&text);
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    if !unsigned.bytes().all(is_digit) {
        return Ok(None);
    }
    let Some(unsigned) = without_underscores(unsigned).filter(|digits| !digits.is_empty()) else {
        return Ok(None);
    };
    if unsigned.len() > MAX_DIGITS {
        return Err(TooManyDigits);
    }
    let magnitude: Option<BigInt> = unsigned.parse().ok();
    Ok(magnitude.map(|magnitude| if text.starts_with('-') { -magnitude } else { magnitude }))
}

/// Returns the float that a text is (`float(text)`); `None` if it is none. Large values are infinite.
pub(crate) fn float(text: &str) -> Option<f64> {
    without_underscores(&ascii(text))?.parse().ok()
}

/// Returns a text without spaces around it, with ASCII digits. The characters U+001C to U+001F are no spaces here.
fn ascii(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|char| digit(char).unwrap_or(char)).collect())
}

/// Returns the ASCII form of a decimal digit.
fn digit(char: char) -> Option<char> {
    let is_decimal = |char| get_general_category(char) == GeneralCategory::DecimalNumber;
    if char.is_ascii() || !is_decimal(char) {
        return None;
    }
    // The digits of a script follow each other, and so do those of the mathematical alphabets.
    let before = (1..50).take_while(|back| {
        let earlier = u32::from(char).checked_sub(*back).and_then(char::from_u32);
        earlier.is_some_and(is_decimal)
    });
    char::from_digit(u32::try_from(before.count()).ok()? % 10, 10)
}

/// Removes the underscores, if each is between two digits.
fn without_underscores(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let fits = |at: usize| bytes[at] != b'_' || (is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)));
    (0..bytes.len()).all(fits).then(|| Cow::Owned(text.replace('_', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_like_python() {
        for (text, expected) in [
            (" 5\n", Some(5)),
            ("\u{2003}-٣_٣\u{85}", Some(-33)),
            ("+007", Some(7)),
            ("𝟙𝟘", Some(10)),
            ("\u{1c}5", None),
            ("1__0", None),
            ("_1", None),
            ("²", None),
            ("- 5", None),
            ("0x1", None),
            ("+", None),
            ("", None),
        ] {
            assert_eq!(integer(text), Ok(expected.map(BigInt::from)), "{text:?}");
        }
        assert!(integer(&"0".repeat(MAX_DIGITS)).is_ok());
        assert_eq!(integer(&"0".repeat(MAX_DIGITS + 1)), Err(TooManyDigits));
    }

    #[test]
    fn floats_are_read_like_python() {
        for (text, expected) in [
            ("٣.٣", Some(3.3)),
            ("1_0.5e1_0", Some(10.5e10)),
            ("1.e5", Some(1e5)),
            ("-iNfinity\u{a0}", Some(f64::NEG_INFINITY)),
            ("1e400", Some(f64::INFINITY)),
            ("1_.5", None),
            ("1_e5", None),
            ("infinit", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(float(text), expected, "{text:?}");
        }
        assert!(float("-nan").is_some_and(f64::is_nan));
    }
}
