//! How deep values that are kept may nest: one bound for docs, for the arguments of calls and for what people write.
//!
//! The readers of this program, and those of others, refuse JSON of more than [`MAX_DEPTH`] levels. What is kept is wrapped
//! before it is read again: a list of functions is a key of a dataset's entry, an argument is in a call of a message of a
//! list or in a list of alternatives of a ground truth, and an edit is in a patch of a decision of a record. So what is taken in has fewer levels,
//! and whoever wraps it needs no check.
//!
//! Readers of source bound the levels of what they read; what they make of it may be deeper, with two levels for one. So
//! values are measured where they are accepted, not where they are read.

use serde_json::Value;

use super::MAX_DEPTH;

/// Levels that are left for what values are wrapped in. The deepest of these takes seven.
const RESERVED: usize = 15;

/// Levels of lists and objects that a kept value may have: a list of functions, the arguments of a call, an answer.
pub(crate) const MAX_KEPT: usize = MAX_DEPTH - RESERVED;

/// Whether a value has at most so many levels of lists and objects. It looks no deeper than that.
pub(crate) fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(values) => are_within(values, levels),
        Value::Object(map) => levels > 0 && map.values().all(|value| is_within(value, levels - 1)),
        _ => true,
    }
}

/// The same of a list of these values.
pub(crate) fn are_within(values: &[Value], levels: usize) -> bool {
    levels > 0 && values.iter().all(|value| is_within(value, levels - 1))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A number in so many lists.
    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |value, _| json!([value]))
    }

    #[test]
    fn levels_are_counted_as_the_reader_of_json_counts_them() {
        assert!(is_within(&json!(1), 0) && !is_within(&json!([]), 0) && !is_within(&json!({}), 0));
        assert!(is_within(&json!({"a": [1, {}]}), 3) && !is_within(&json!({"a": [1, {}]}), 2));
        let is_read = |levels| serde_json::from_str::<Value>(&nested(levels).to_string()).is_ok();
        assert!(is_read(MAX_DEPTH) && !is_read(MAX_DEPTH + 1));
        for levels in [MAX_KEPT, MAX_DEPTH] {
            assert!(is_within(&nested(levels), levels) && !is_within(&nested(levels + 1), levels));
        }
    }
}
