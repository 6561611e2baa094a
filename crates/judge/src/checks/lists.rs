//! Sizes of lists in a text, and sums of their numbers.
//!
//! Sizes are counted from brackets, so that JSON, the `repr` of Python and texts that are cut off are read alike. Sums need JSON.

use std::collections::BTreeMap;

use serde_json::Value;

/// Returns the number of items of each list and each object in a text.
pub(super) fn sizes(text: &str) -> Vec<usize> {
    let (mut sizes, mut open) = (Vec::new(), Vec::<List>::new());
    let mut quote: Option<char> = None;
    let (mut before, mut is_escaped) = ('[', false);
    for c in text.chars() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match (quote, c) {
            (Some(_), '\\') => is_escaped = true,
            (Some(opening), _) if c == opening => quote = None,
            (Some(_), _) => continue,
            (None, '"' | '\'') if matches!(before, '[' | '{' | ',' | ':' | '(') => {
                quote = Some(c);
                mark(&mut open);
            }
            (None, '[' | '{') => {
                mark(&mut open);
                open.push(List::default());
            }
            (None, ']' | '}') => sizes.extend(open.pop().map(List::size)),
            (None, ',') => open.last_mut().into_iter().for_each(|list| list.commas += 1),
            (None, _) if !c.is_whitespace() => mark(&mut open),
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    sizes.extend(open.into_iter().map(List::size));
    sizes
}

/// A list that is being read.
#[derive(Default)]
struct List {
    commas: usize,
    has_item: bool,
}

impl List {
    fn size(self) -> usize {
        self.commas + usize::from(self.has_item)
    }
}

/// Marks that the innermost list has an item.
fn mark(open: &mut [List]) {
    if let Some(list) = open.last_mut() {
        list.has_item = true;
    }
}

/// Returns sum, mean and range of the numbers in each list of a JSON text, for each key if the items are objects.
pub(super) fn sums(text: &str) -> Vec<f64> {
    let mut sums = Vec::new();
    let mut open: Vec<Value> = serde_json::from_str(text).into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => {
                sums.extend(columns(&items).into_values().flat_map(|column| figures(&column)));
                open.extend(items);
            }
            Value::Object(entries) => open.extend(entries.into_iter().map(|(_, value)| value)),
            // Responses are often JSON inside a string.
            Value::String(inner) if inner.trim_start().starts_with(['[', '{']) => {
                open.extend(serde_json::from_str(&inner).ok().filter(|value: &Value| !value.is_string()));
            }
            _ => {}
        }
    }
    sums
}

fn columns(items: &[Value]) -> BTreeMap<&str, Vec<f64>> {
    let mut columns: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for item in items {
        match item {
            Value::Object(entries) => {
                for (key, value) in entries {
                    columns.entry(key).or_default().extend(value.as_f64());
                }
            }
            other => columns.entry("").or_default().extend(other.as_f64()),
        }
    }
    columns
}

#[allow(clippy::cast_precision_loss)] // A count of items.
fn figures(column: &[f64]) -> Vec<f64> {
    if column.len() < 2 {
        return Vec::new();
    }
    let sum: f64 = column.iter().sum();
    let (low, high) =
        column.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    vec![sum, sum / column.len() as f64, high - low]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_those_of_json_of_python_and_of_cut_texts() {
        for (text, expected) in [
            (r#"{"a": [1, 2, {"b": "x, y"}]}"#, vec![1, 3, 1]),
            ("['it', \"isn't\", 'a, b']", vec![3]),
            ("[]", vec![0]),
            ("[{'a': 1}, {'a': 2}, {'a'", vec![1, 1, 3, 1]),
            ("It's [1, 2].", vec![2]),
            ("no list", vec![]),
        ] {
            assert_eq!(sizes(text), expected, "{text}");
        }
    }

    #[test]
    fn sums_are_of_each_key() {
        let expected = [5.0, 2.5, 1.0];
        assert_eq!(sums(r#"[{"fare": 2, "name": "a"}, {"fare": 3}]"#), expected);
        assert_eq!(sums(r#"{"response": "[2, 3]"}"#), expected);
        assert_eq!(sums("[2, 3"), [0.0; 0]);
    }

    proptest! {
        #[test]
        fn the_size_of_a_list_of_json_is_its_length(items in prop::collection::vec(any::<i32>(), 0..9)) {
            prop_assert_eq!(sizes(&serde_json::to_string(&items).unwrap()), [items.len()]);
        }
    }
}
