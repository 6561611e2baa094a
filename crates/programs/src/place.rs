//! Values without parts inside a JSON value, with their places.

use callsieve_environment::value_path::{Step, ValuePath};
use serde_json::Value;

/// A value without parts, with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf<'a> {
    /// Its place.
    pub path: ValuePath,
    /// The value.
    pub value: &'a Value,
}

/// Leaves of a value that are returned at most.
const MOST_LEAVES: usize = 300;
/// Depth below which leaves are not looked for.
const MOST_DEPTH: usize = 8;

/// Returns the leaves of a value in its order: numbers, texts and booleans; at most 300, of at most 8 levels.
pub fn leaves(value: &Value) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    add_leaves(value, &mut ValuePath::default(), &mut found);
    found
}

fn add_leaves<'a>(value: &'a Value, at: &mut ValuePath, found: &mut Vec<Leaf<'a>>) {
    if found.len() >= MOST_LEAVES || at.steps.len() > MOST_DEPTH {
        return;
    }
    let mut enter = |step: Step, inner: &'a Value| {
        at.steps.push(step);
        add_leaves(inner, at, found);
        at.steps.pop();
    };
    match value {
        Value::Null => {}
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(nth, inner)| enter(Step::Element(nth), inner));
        }
        Value::Object(map) => map.iter().for_each(|(name, inner)| enter(Step::Member(name.clone()), inner)),
        _ => found.push(Leaf { path: at.clone(), value }),
    }
}

/// Returns the value at a place that names one value.
pub fn value_at<'a>(path: &ValuePath, value: &'a Value) -> Option<&'a Value> {
    path.steps.iter().try_fold(value, |value, step| match step {
        Step::Member(name) => value.get(name),
        Step::Element(nth) => value.get(nth),
        Step::Each | Step::Keys => None,
    })
}

/// Returns `true` if a place is one of those that a path with `[*]` names.
pub fn is_one_of(place: &ValuePath, path: &ValuePath) -> bool {
    place.steps.len() == path.steps.len()
        && place
            .steps
            .iter()
            .zip(&path.steps)
            .all(|(step, pattern)| *pattern == Step::Each || step == pattern)
}

/// Returns the names on the way to a place, outer first.
pub fn names(path: &ValuePath) -> impl DoubleEndedIterator<Item = &str> {
    path.steps.iter().filter_map(|step| match step {
        Step::Member(name) => Some(name.as_str()),
        _ => None,
    })
}

/// Which element of a list a place is in, as people say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// It is in no list, or in the only element of one.
    Only,
    /// In the first of several.
    First,
    /// In the last of several.
    Last,
}

/// Returns the position of a place in the lists of a value; `None` if it is in the middle of one, or in two with several
/// elements each, which no short phrase names.
pub fn position(path: &ValuePath, value: &Value) -> Option<Position> {
    let (mut inner, mut found) = (value, Position::Only);
    for step in &path.steps {
        if let (Step::Element(nth), Value::Array(elements)) = (step, inner)
            && elements.len() > 1
        {
            let is_first_list = found == Position::Only;
            found = match *nth {
                0 => Position::First,
                nth if nth + 1 == elements.len() => Position::Last,
                _ => return None,
            };
            if !is_first_list {
                return None;
            }
        }
        inner = match step {
            Step::Member(name) => inner.get(name)?,
            Step::Element(nth) => inner.get(nth)?,
            Step::Each | Step::Keys => return None,
        };
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_one_of_a_path_with_stars() {
        let value = json!({"orders": [{"id": 1}]});
        let leaf = leaves(&value).remove(0);
        assert_eq!(leaf.path.to_string(), "orders[0].id");
        assert!(is_one_of(&leaf.path, &"orders[*].id".parse().unwrap()));
        assert!(!is_one_of(&leaf.path, &"orders[*]".parse().unwrap()));
        assert!(!is_one_of(&leaf.path, &"orders[*].name".parse().unwrap()));
        assert_eq!(names(&leaf.path).collect::<Vec<_>>(), ["orders", "id"]);
    }

    #[test]
    fn the_first_the_last_and_the_only_element_can_be_said() {
        let value =
            json!({"one": [{"id": 1}], "all": [{"id": 1}, {"id": 2}, {"id": 3}], "two": [[1, 2], [3, 4]]});
        let of = |path: &str| position(&path.parse().unwrap(), &value);
        assert_eq!(of("one[0].id"), Some(Position::Only));
        assert_eq!(of("all[0].id"), Some(Position::First));
        assert_eq!(of("all[1].id"), None);
        assert_eq!(of("all[2].id"), Some(Position::Last));
        assert_eq!(of("two[0][0]"), None);
        assert_eq!(of("none"), None);
    }

    proptest! {
        #[test]
        fn the_path_of_a_leaf_leads_to_it(value in callsieve_testkit::arbitrary::json_value()) {
            for leaf in leaves(&value) {
                prop_assert_eq!(value_at(&leaf.path, &value), Some(leaf.value));
            }
        }
    }
}
