//! Text formatting with `%`: the conversions `s`, `r`, `d`, `i`, `f`, `x`, `o`, `c` and `%`, with flags, width and
//! precision.

use num_bigint::BigInt;
use num_traits::{FromPrimitive as _, Signed as _, ToPrimitive as _};

use super::arithmetic::{integer, refused, too_large};
use crate::decode::DecodeError;
use crate::value::PyValue;

/// Largest width and precision.
const MAX_WIDTH: usize = 10_000;

/// A conversion: `%-08.2f`.
#[derive(Debug, Default)]
struct Conversion {
    is_left: bool,
    is_zero: bool,
    sign: Option<char>,
    width: usize,
    precision: Option<usize>,
}

/// Returns a text with its conversions replaced by the values: a tuple of them, or one.
///
/// # Errors
/// If the numbers of conversions and values differ, a value has the wrong type, or the conversion is not supported.
pub(super) fn formatted(format: &str, values: &PyValue) -> Result<PyValue, DecodeError> {
    let values = match values {
        PyValue::Tuple(values) => values.as_slice(),
        // A value by name needs a dict; without a conversion a dict is not an error.
        PyValue::Dict(_) => return Err(refused()),
        one => std::slice::from_ref(one),
    };
    let mut values = values.iter();
    let mut text = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        let (conversion, kind, after) = conversion(after)?;
        rest = after;
        let written = match kind {
            '%' => {
                text.push('%');
                continue;
            }
            kind => {
                let value = values.next().ok_or_else(|| type_error("not enough values for the text"))?;
                converted(&conversion, kind, value)?
            }
        };
        let missing = conversion.width.saturating_sub(written.chars().count());
        if conversion.is_left {
            text.push_str(&written);
        }
        text.extend(std::iter::repeat_n(' ', missing));
        if !conversion.is_left {
            text.push_str(&written);
        }
    }
    text.push_str(rest);
    if values.next().is_some() {
        return Err(type_error("more values than the text has conversions"));
    }
    Ok(PyValue::Str(text))
}

fn type_error(detail: &str) -> DecodeError {
    DecodeError::new("TypeError", detail)
}

/// Reads a conversion after its `%`. Returns it with its letter and the text after it.
fn conversion(text: &str) -> Result<(Conversion, char, &str), DecodeError> {
    let mut conversion = Conversion::default();
    let mut rest = text;
    while let Some(flag) = rest.chars().next().filter(|char| matches!(char, '-' | '0' | '+' | ' ')) {
        match flag {
            '-' => conversion.is_left = true,
            '0' => conversion.is_zero = true,
            '+' => conversion.sign = Some('+'),
            _ => conversion.sign = conversion.sign.or(Some(' ')),
        }
        rest = &rest[1..];
    }
    (conversion.width, rest) = number(rest)?;
    if let Some(after) = rest.strip_prefix('.') {
        let (precision, after) = number(after)?;
        conversion.precision = Some(precision);
        rest = after;
    }
    let kind = rest.chars().next().ok_or_else(|| DecodeError::new("ValueError", "incomplete format"))?;
    Ok((conversion, kind, &rest[kind.len_utf8()..]))
}

fn number(text: &str) -> Result<(usize, &str), DecodeError> {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let number = if digits.is_empty() { Some(0) } else { digits.parse().ok() };
    number.filter(|number| *number <= MAX_WIDTH).map(|number| (number, rest)).ok_or_else(too_large)
}

fn converted(conversion: &Conversion, kind: char, value: &PyValue) -> Result<String, DecodeError> {
    let text = match kind {
        's' => value.as_str().map_or_else(|| value.repr(), str::to_owned),
        'r' => value.repr(),
        'c' => match (value, integer(value)) {
            (PyValue::Str(text), _) if text.chars().count() == 1 => return Ok(text.clone()),
            (_, Some(code)) => {
                let char = code.to_u32().and_then(char::from_u32);
                return char
                    .map(String::from)
                    .ok_or_else(|| DecodeError::new("OverflowError", "no such character"));
            }
            _ => return Err(type_error("%c needs one character")),
        },
        'd' | 'i' | 'x' | 'o' | 'f' => return numeric(conversion, kind, value),
        _ => return Err(refused()),
    };
    Ok(conversion.precision.map_or(text.clone(), |n| text.chars().take(n).collect()))
}

fn numeric(conversion: &Conversion, kind: char, value: &PyValue) -> Result<String, DecodeError> {
    let (is_negative, mut digits) = if kind == 'f' {
        let value = match value {
            PyValue::Float(value) => Some(*value),
            other => integer(other).and_then(|whole| whole.to_f64()),
        };
        let value = value.ok_or_else(|| type_error("%f needs a number"))?;
        if !value.is_finite() {
            return Err(refused());
        }
        (value.is_sign_negative(), format!("{:.*}", conversion.precision.unwrap_or(6), value.abs()))
    } else {
        let whole = match value {
            PyValue::Float(value) if matches!(kind, 'd' | 'i') => BigInt::from_f64(value.trunc()),
            other => integer(other),
        };
        let whole = whole.ok_or_else(|| type_error("a conversion needs an integer"))?;
        let magnitude = whole.magnitude();
        let digits = match kind {
            'x' => magnitude.to_str_radix(16),
            'o' => magnitude.to_str_radix(8),
            _ => magnitude.to_str_radix(10),
        };
        let missing = conversion.precision.unwrap_or(0).saturating_sub(digits.len());
        (whole.is_negative(), "0".repeat(missing) + &digits)
    };
    let sign = if is_negative { Some('-') } else { conversion.sign };
    if conversion.is_zero && !conversion.is_left {
        let missing = conversion.width.saturating_sub(digits.len() + usize::from(sign.is_some()));
        digits = "0".repeat(missing) + &digits;
    }
    Ok(sign.into_iter().collect::<String>() + &digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_written_like_python() {
        for (format, value, expected) in [
            ("%s!", PyValue::text("a"), Some("a!")),
            ("%5d|%-4d|%04d", PyValue::Tuple(vec![PyValue::Int(7.into()); 3]), Some("    7|7   |0007")),
            ("%.2f%%", PyValue::Float(1.005), Some("1.00%")),
            ("%+d", PyValue::Int(3.into()), Some("+3")),
            ("%x %r", PyValue::Tuple(vec![PyValue::Int(255.into()), PyValue::text("a")]), Some("ff 'a'")),
            ("%d", PyValue::Float(2.9), Some("2")),
            ("%.2s", PyValue::text("abc"), Some("ab")),
            ("%s", PyValue::List(vec![PyValue::None]), Some("[None]")),
            ("%d", PyValue::text("a"), None),
            ("%s", PyValue::Tuple(Vec::new()), None),
            ("a", PyValue::text("b"), None),
            ("%", PyValue::text("b"), None),
            ("%99999d", PyValue::Int(1.into()), None),
        ] {
            let written = formatted(format, &value).ok();
            assert_eq!(written.as_ref().and_then(PyValue::as_str), expected, "{format}");
        }
    }
}
