//! The last rung: a broken text is repaired only where two repairers agree.
//!
//! Either one alone turns some broken texts into something their writer never
//! meant, and does so in silence. They fail in different places, so a value both
//! arrive at is taken and anything else is a fault. Texts that are cut off never
//! come here: both would close the brackets and hide the loss.

use serde_json::Value;

/// Why a text was not repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotRepaired {
    /// At least one repairer gave up.
    Beyond,
    /// The two arrived at different values.
    Disagree,
}

/// The list or object that both repairers make of the text.
///
/// # Errors
/// Where one gives up, the two differ, or the result is a mere scalar (a repairer that quotes prose).
pub(super) fn agreed(text: &str) -> Result<Value, NotRepaired> {
    let first = jsonrepair_rs::jsonrepair(text).map_err(|_| NotRepaired::Beyond)?;
    let second = jsonfix::repair(text).map_err(|_| NotRepaired::Beyond)?;
    let [first, second] = [first, second].map(|text| serde_json::from_str::<Value>(&text));
    match (first, second) {
        (Ok(first), Ok(second)) if first != second => Err(NotRepaired::Disagree),
        (Ok(value @ (Value::Array(_) | Value::Object(_))), Ok(_)) => Ok(value),
        _ => Err(NotRepaired::Beyond),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_comma_is_put_in() {
        assert_eq!(
            agreed("{\"name\": \"f\"\n \"description\": \"d\"}"),
            Ok(json!({"name": "f", "description": "d"}))
        );
    }

    #[test]
    fn typographic_quotes_and_raw_newlines_are_read() {
        assert_eq!(agreed("{“name”: “f”}"), Ok(json!({"name": "f"})));
        assert_eq!(agreed("{\"d\": \"one\ntwo\"}"), Ok(json!({"d": "one\ntwo"})));
    }

    #[test]
    fn prose_is_not_a_repaired_string() {
        assert_eq!(agreed("just some words"), Err(NotRepaired::Beyond));
    }

    #[test]
    fn where_the_two_differ_nothing_is_taken() {
        assert_eq!(agreed("({'name': 'a'}, {'name': 'b'})"), Err(NotRepaired::Disagree));
    }
}
