//! Converts Python's numbers to JSON numbers, digit for digit.

use std::fmt::Write as _;

use serde_json::Number;

use super::SyntaxError;
use super::cursor::{Cursor, error_at};

/// Maximum number of hexadecimal, octal and binary digits in a number. Converting them to decimal takes time that grows
/// with their square; decimal numbers may have any length.
const MAX_RADIX_DIGITS: usize = 4_096;

/// Reads the unsigned number that starts at the cursor.
pub(super) fn number(cursor: &mut Cursor<'_>) -> Result<Number, SyntaxError> {
    let start = cursor.offset();
    let written = cursor.take(written_len(cursor.rest()));
    let refuse = |message: &str| error_at(start, format!("{message} `{}`", shortened(written)));
    if written.ends_with(['j', 'J']) {
        return Err(refuse("complex number"));
    }
    let digits = without_underscores(written).ok_or_else(|| refuse("misplaced `_` in"))?;
    let json = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => radix_as_decimal(&digits[2..], 16),
        [b'0', b'o' | b'O', ..] => radix_as_decimal(&digits[2..], 8),
        [b'0', b'b' | b'B', ..] => radix_as_decimal(&digits[2..], 2),
        _ if digits.contains(['.', 'e', 'E']) => match digits.parse::<f64>() {
            Ok(float) if float.is_infinite() => return Err(refuse("number beyond any float")),
            Ok(_) => Some(float_as_json(&digits)),
            Err(_) => None,
        },
        _ => integer_as_json(&digits).map(str::to_owned),
    };
    json.and_then(|json| json.parse().ok()).ok_or_else(|| refuse("malformed number"))
}

/// Returns the negative number; zero stays an unsigned integer, as in Python.
pub(super) fn negated(number: Number) -> Number {
    if number.as_u64() == Some(0) {
        return number;
    }
    format!("-{number}").parse().expect("a minus before an unsigned JSON number is a valid JSON number")
}

/// Returns the length of the letters, digits, dots and exponent sign of a number, valid or not.
fn written_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_radix = matches!(bytes, [b'0', b'x' | b'X', ..]);
    let mut len = 0;
    while let Some(&byte) = bytes.get(len) {
        let is_sign =
            matches!(byte, b'+' | b'-') && !is_radix && len > 0 && matches!(bytes[len - 1], b'e' | b'E');
        if !is_sign && !byte.is_ascii_alphanumeric() && !matches!(byte, b'.' | b'_') {
            break;
        }
        len += 1;
    }
    len
}

/// Removes the underscores between digits; `None` if there is one elsewhere.
fn without_underscores(written: &str) -> Option<String> {
    if !written.contains('_') {
        return Some(written.to_owned());
    }
    let is_hex = matches!(written.as_bytes(), [b'0', b'x' | b'X', ..]);
    let is_digit = |c: char| if is_hex { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
    let may_precede = |part: &str| {
        part.ends_with(is_digit) || matches!(part.as_bytes(), [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B'])
    };
    let parts: Vec<&str> = written.split('_').collect();
    let well_placed = parts.windows(2).all(|pair| may_precede(pair[0]) && pair[1].starts_with(is_digit));
    well_placed.then(|| parts.concat())
}

/// Returns an integer for JSON: `012` is invalid in Python, but `00` is zero.
fn integer_as_json(digits: &str) -> Option<&str> {
    let significant = digits.trim_start_matches('0');
    match (significant.is_empty(), significant.len() == digits.len()) {
        (true, _) => Some("0"),
        (false, true) => Some(digits),
        (false, false) => None,
    }
}

/// Adds the digits that JSON requires on both sides of the dot: `.5` is `0.5` and `1.e3` is `1.0e3`.
fn float_as_json(digits: &str) -> String {
    let (mantissa, exponent) = digits.find(['e', 'E']).map_or((digits, ""), |at| digits.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        significant => significant,
    };
    match fraction {
        None => format!("{whole}{exponent}"),
        Some("") => format!("{whole}.0{exponent}"),
        Some(fraction) => format!("{whole}.{fraction}{exponent}"),
    }
}

/// Returns the decimal digits of a number in another base; `None` if it has none, too many, or an invalid one.
fn radix_as_decimal(digits: &str, radix: u32) -> Option<String> {
    /// Limbs have nine decimal digits each, the lowest first.
    const LIMB: u64 = 1_000_000_000;
    if digits.is_empty() || digits.len() > MAX_RADIX_DIGITS {
        return None;
    }
    let mut limbs = vec![0_u64];
    for digit in digits.chars() {
        let mut carry = u64::from(digit.to_digit(radix)?);
        for limb in &mut limbs {
            let sum = *limb * u64::from(radix) + carry;
            *limb = sum % LIMB;
            carry = sum / LIMB;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    let mut decimal = String::new();
    for limb in limbs.iter().rev() {
        let written =
            if decimal.is_empty() { write!(decimal, "{limb}") } else { write!(decimal, "{limb:09}") };
        written.expect("writing to a string cannot fail");
    }
    Some(decimal)
}

/// Returns the start of a number, for messages.
fn shortened(written: &str) -> &str {
    &written[..written.len().min(40)]
}
