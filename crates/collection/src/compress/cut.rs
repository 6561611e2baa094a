//! Cuts of a value that keep it valid JSON: fewer elements, fewer members, shorter texts, fewer levels.

use serde_json::{Map, Value};

/// The end of a text that was cut.
const ELLIPSIS: char = '…';

/// The limits of a cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// The most elements of a list and members of an object.
    items: usize,
    /// The most characters of a text, without the ellipsis.
    chars: usize,
    /// The most levels of lists and objects; deeper ones are empty.
    depth: usize,
}

/// Cuts from the least to the most. Their number is fixed, so trying them takes linear time.
pub(super) const CUTS: [Cut; 22] = [
    cut(512, 4_000, 32),
    cut(256, 2_000, 32),
    cut(192, 1_500, 32),
    cut(128, 1_000, 32),
    cut(96, 750, 32),
    cut(64, 500, 32),
    cut(48, 400, 32),
    cut(32, 300, 16),
    cut(24, 250, 16),
    cut(16, 200, 16),
    cut(12, 150, 16),
    cut(10, 120, 16),
    cut(8, 100, 16),
    cut(6, 80, 16),
    cut(5, 64, 16),
    cut(4, 48, 16),
    cut(3, 40, 8),
    cut(2, 32, 8),
    cut(2, 24, 4),
    cut(1, 24, 4),
    cut(1, 16, 2),
    cut(1, 8, 1),
];

const fn cut(items: usize, chars: usize, depth: usize) -> Cut {
    Cut { items, chars, depth }
}

impl Cut {
    /// Returns a cut of the depth only.
    pub(super) const fn of_depth(depth: usize) -> Self {
        cut(usize::MAX, usize::MAX, depth)
    }

    /// Returns the cut with texts as long as those of another one.
    pub(super) const fn with_texts_of(self, other: Self) -> Self {
        Self { chars: other.chars, ..self }
    }

    pub(super) fn apply(self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(shortened(text, self.chars)),
            Value::Array(_) | Value::Object(_) if self.depth == 0 => smallest(value),
            Value::Array(items) => {
                let below = self.below();
                items.iter().take(self.items).map(|item| below.apply(item)).collect()
            }
            Value::Object(map) => {
                let below = self.below();
                let members = map.iter().take(self.items.saturating_mul(MEMBERS_PER_ITEM));
                Value::Object(members.map(|(key, value)| (key.clone(), below.apply(value))).collect())
            }
            other => other.clone(),
        }
    }

    fn below(self) -> Self {
        Self { depth: self.depth - 1, ..self }
    }
}

/// Members of an object are different things, elements of a list are alike; so more of them are kept.
const MEMBERS_PER_ITEM: usize = 4;

fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        // A text that is one character longer would not be shorter with an ellipsis.
        Some((at, last)) if at + last.len_utf8() == text.len() => text.to_owned(),
        Some((at, _)) => {
            let mut short = text[..at].to_owned();
            short.push(ELLIPSIS);
            short
        }
    }
}

/// Returns the smallest value of a kind: an empty list, object or text; other values cannot be cut.
pub(super) fn smallest(value: &Value) -> Value {
    match value {
        Value::String(_) => Value::String(String::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Map::new()),
        other => other.clone(),
    }
}
