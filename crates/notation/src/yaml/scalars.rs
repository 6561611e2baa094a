//! Scalars of YAML by the core schema.
//!
//! `no` is a word and `1.50` keeps its digits. Values without an equivalent in JSON (infinity, tags of other schemas)
//! return `None`.

use saphyr_parser::{ScalarStyle, Tag};
use serde_json::Value;

/// Returns the value of a scalar, if JSON has an equivalent.
pub(super) fn read(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Option<Value> {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Some(Value::from(text)),
        Some(_) => None,
        None if matches!(style, ScalarStyle::Plain) => plain(text),
        None => Some(Value::from(text)),
    }
}

/// Returns the value of an unquoted word in the core schema.
fn plain(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_infinite(text) => return None,
        _ => number(text).unwrap_or_else(|| Value::from(text)),
    })
}

fn is_infinite(text: &str) -> bool {
    let word = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    matches!(word.as_str(), ".inf" | ".nan")
}

/// Returns a number of the core schema, with its digits.
fn number(text: &str) -> Option<Value> {
    let (sign, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) if text.starts_with('-') => ("-", digits),
        Some(digits) => ("", digits),
        None => ("", text),
    };
    let radix =
        [("0x", 16), ("0o", 8)].into_iter().find_map(|(mark, radix)| Some((text.strip_prefix(mark)?, radix)));
    if let Some((digits, radix)) = radix {
        // `from_str_radix` accepts a sign, which is invalid after the prefix.
        let is_number = digits.starts_with(|c: char| c.is_digit(radix));
        return is_number.then(|| u64::from_str_radix(digits, radix).ok().map(Value::from)).flatten();
    }
    let (mantissa, exponent) = digits.find(['e', 'E']).map_or((digits, ""), |at| digits.split_at(at));
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, rest)| (whole, Some(rest)));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole)
        || !fraction.is_none_or(all_digits)
        || (whole.is_empty() && fraction.is_none_or(str::is_empty))
    {
        return None;
    }
    // JSON allows no leading zeros, and a number with them is usually a code: `00123`.
    if whole.len() > 1 && whole.starts_with('0') {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = match fraction {
        None => String::new(),
        Some("") => ".0".to_owned(),
        Some(digits) => format!(".{digits}"),
    };
    format!("{sign}{whole}{fraction}{exponent}").parse().ok().map(Value::Number)
}
