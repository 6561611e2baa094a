//! The maximum depth of stored values: one limit for docs, arguments of calls and decisions.
//!
//! The readers of this program, and most others, refuse JSON of more than [`MAX_DEPTH`] levels. A stored value is
//! wrapped before it is read again: a list of functions is a key of a dataset's entry, an argument is in a call of a
//! message of a list or in a list of alternatives of a ground truth, and an edit is in a patch of a decision of a
//! record. So accepted values have fewer levels, and wrapping them needs no check.
//!
//! Readers of source limit the levels of the source; the resulting values may be deeper, with two levels for one. So
//! values are measured where they are accepted, not where they are read.

use serde_json::Value;

use super::MAX_DEPTH;

/// Levels reserved for wrapping a value. The deepest wrapping has seven.
const RESERVED: usize = 15;

/// Maximum levels of lists and objects of a stored value: a list of functions, the arguments of a call, an answer.
pub const MAX_KEPT: usize = MAX_DEPTH - RESERVED;

/// Returns true if a value has at most `levels` levels of lists and objects. The check stops at that depth.
pub fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(values) => are_within(values, levels),
        Value::Object(map) => levels > 0 && map.values().all(|value| is_within(value, levels - 1)),
        _ => true,
    }
}

/// Returns true if a list of these values has at most `levels` levels.
pub fn are_within(values: &[Value], levels: usize) -> bool {
    levels > 0 && values.iter().all(|value| is_within(value, levels - 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a number in this many lists.
    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |value, _| json!([value]))
    }

    #[test]
    fn levels_are_counted_like_by_the_json_reader() {
        assert!(is_within(&json!(1), 0) && !is_within(&json!([]), 0) && !is_within(&json!({}), 0));
        assert!(is_within(&json!({"a": [1, {}]}), 3) && !is_within(&json!({"a": [1, {}]}), 2));
        let is_read = |levels| serde_json::from_str::<Value>(&nested(levels).to_string()).is_ok();
        assert!(is_read(MAX_DEPTH) && !is_read(MAX_DEPTH + 1));
        for levels in [MAX_KEPT, MAX_DEPTH] {
            assert!(is_within(&nested(levels), levels) && !is_within(&nested(levels + 1), levels));
        }
    }
}
