//! RFC 6902 patches that keep the order of keys.
//!
//! JSON says nothing about key order, people who read a doc do. So `apply`
//! settles what the RFC leaves open: a new key goes last, a replaced value stays
//! where it is, a key moved to another name in its own object is renamed where it
//! stands, and a key moved onto itself goes last. Any other RFC 6902 program
//! reads the same patches and gets the same document up to key order.
//! Deliberately absent: `copy`, which no rule writes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::notation::levels::is_within;

/// One operation of a patch; paths are JSON pointers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOp {
    /// Holds only where the value at `path` equals `value`.
    Test {
        /// Where.
        path: String,
        /// What must stand there.
        value: Value,
    },
    /// Puts a value at `path`: a new key last, an array element before the one at that index.
    Add {
        /// Where.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Takes the value at `path` away.
    Remove {
        /// Where.
        path: String,
    },
    /// Puts another value in the place of the one at `path`.
    Replace {
        /// Where.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Takes the value at `from` away and puts it at `path`.
    Move {
        /// Where the value stands.
        from: String,
        /// Where it goes.
        path: String,
    },
}

impl PatchOp {
    /// The place the operation is about; for a move, where the value stood before.
    pub fn path(&self) -> &str {
        match self {
            Self::Test { path, .. }
            | Self::Add { path, .. }
            | Self::Replace { path, .. }
            | Self::Remove { path }
            | Self::Move { from: path, .. } => path,
        }
    }

    /// All its pointers.
    pub fn pointers(&self) -> impl Iterator<Item = &str> {
        let goal = if let Self::Move { path, .. } = self { Some(path.as_str()) } else { None };
        std::iter::once(self.path()).chain(goal)
    }
}

/// Why a patch does not fit a document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Misfit {
    /// A `test` found another value: the patch was made for another document.
    #[error("another value stands at {path:?} than the patch expects")]
    OtherValue {
        /// The pointer of the `test`.
        path: String,
    },
    /// A value would nest deeper than the document may.
    #[error("at {path:?} the document would be more than {levels} levels deep")]
    TooDeep {
        /// Where the value would be.
        path: String,
        /// How many levels the document may have.
        levels: usize,
    },
    /// A path leads nowhere.
    #[error("nothing stands at {path:?}")]
    NoSuchPlace {
        /// The pointer that leads nowhere.
        path: String,
    },
}

/// Applies the operations in order.
///
/// # Errors
/// At the first operation that does not fit; the operations before it have been done by then, so apply to a
/// copy where the document must survive a misfit.
pub fn apply(document: &mut Value, patch: &[PatchOp]) -> Result<(), Misfit> {
    patch.iter().try_for_each(|op| apply_one(document, op))
}

/// Applies the operations in order to a document of at most `levels` levels, and leaves none that has more.
///
/// # Errors
/// As [`apply`]; also at the first operation that would put a value so deep.
pub fn apply_within(document: &mut Value, patch: &[PatchOp], levels: usize) -> Result<(), Misfit> {
    patch.iter().try_for_each(|op| {
        let (path, value) = match op {
            PatchOp::Add { path, value } | PatchOp::Replace { path, value } => (path, Some(value)),
            PatchOp::Move { from, path } => (path, find(document, from)),
            PatchOp::Test { path, .. } | PatchOp::Remove { path } => (path, None),
        };
        let below = levels.checked_sub(path.matches('/').count());
        if value.is_some_and(|value| !below.is_some_and(|below| is_within(value, below))) {
            return Err(Misfit::TooDeep { path: path.clone(), levels });
        }
        apply_one(document, op)
    })
}

/// Whether a text is a pointer as RFC 6901 has it: empty, or steps that begin with a slash each.
pub fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

/// Writes one step of a pointer: `/` and `~` inside a key are escaped.
pub fn token(key: &str) -> String {
    let mut token = String::with_capacity(key.len());
    push_token(&mut token, key);
    token
}

/// Writes one step of a pointer at the end of what is there.
pub fn push_token(pointer: &mut String, key: &str) {
    let mut rest = key;
    while let Some(at) = rest.find(['/', '~']) {
        pointer.push_str(&rest[..at]);
        pointer.push_str(if rest[at..].starts_with('~') { "~0" } else { "~1" });
        rest = &rest[at + 1..];
    }
    pointer.push_str(rest);
}

fn apply_one(document: &mut Value, op: &PatchOp) -> Result<(), Misfit> {
    match op {
        PatchOp::Test { path, value } => match find(document, path) {
            Some(found) if found == value => Ok(()),
            _ => Err(Misfit::OtherValue { path: path.clone() }),
        },
        PatchOp::Add { path, value } => add(document, path, value.clone()),
        PatchOp::Remove { path } => remove(document, path).map(drop),
        PatchOp::Replace { path, value } => {
            *find_mut(document, path).ok_or_else(|| nowhere(path))? = value.clone();
            Ok(())
        }
        PatchOp::Move { from, path } => {
            if renamed_in_place(document, from, path) {
                return Ok(());
            }
            let value = remove(document, from)?;
            add(document, path, value)
        }
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), Misfit> {
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let (parent, key) = split(path).ok_or_else(|| nowhere(path))?;
    match find_mut(document, parent) {
        Some(Value::Object(map)) => {
            map.insert(key, value);
            Ok(())
        }
        Some(Value::Array(list)) => {
            let at = if key == "-" { Some(list.len()) } else { index(&key) };
            let at = at.filter(|at| *at <= list.len()).ok_or_else(|| nowhere(path))?;
            list.insert(at, value);
            Ok(())
        }
        _ => Err(nowhere(path)),
    }
}

fn remove(document: &mut Value, path: &str) -> Result<Value, Misfit> {
    let (parent, key) = split(path).ok_or_else(|| nowhere(path))?;
    match find_mut(document, parent) {
        Some(Value::Object(map)) => map.shift_remove(&key),
        Some(Value::Array(list)) => index(&key).filter(|at| *at < list.len()).map(|at| list.remove(at)),
        _ => None,
    }
    .ok_or_else(|| nowhere(path))
}

/// Whether this was a move between two names of one object; if so it has been done.
fn renamed_in_place(document: &mut Value, from: &str, path: &str) -> bool {
    let (Some((parent, old)), Some((other_parent, new))) = (split(from), split(path)) else { return false };
    if parent != other_parent || old == new {
        return false;
    }
    let Some(Value::Object(map)) = find_mut(document, parent) else { return false };
    if !map.contains_key(&old) {
        return false;
    }
    map.shift_remove(&new);
    *map = rename_key(std::mem::take(map), &old, &new);
    true
}

/// The map with the key `old` called `new`, in the same place.
pub fn rename_key(map: Map<String, Value>, old: &str, new: &str) -> Map<String, Value> {
    map.into_iter()
        .map(|(key, value)| if key == old { (new.to_owned(), value) } else { (key, value) })
        .collect()
}

/// The value that a pointer leads to. The reader of `serde_json` makes two texts of each step on its way.
fn find<'v>(document: &'v Value, path: &str) -> Option<&'v Value> {
    steps(path)?.try_fold(document, |value, step| match value {
        Value::Object(map) => map.get(&*step),
        Value::Array(list) => list.get(index(&step)?),
        _ => None,
    })
}

fn find_mut<'v>(document: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    steps(path)?.try_fold(document, |value, step| match value {
        Value::Object(map) => map.get_mut(&*step),
        Value::Array(list) => list.get_mut(index(&step)?),
        _ => None,
    })
}

/// The keys of a pointer, unescaped; none of the pointer to the whole document.
fn steps(path: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let mut steps = path.split('/');
    // What stands before the first slash is no key.
    (steps.next() == Some("")).then(|| steps.map(unescaped))
}

fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') { Cow::from(step.replace("~1", "/").replace("~0", "~")) } else { Cow::from(step) }
}

/// The pointer of the parent and the last key, unescaped; nothing for the whole document, and for what is no pointer.
fn split(path: &str) -> Option<(&str, String)> {
    let (parent, last) = path.rsplit_once('/').filter(|_| is_pointer(path))?;
    Some((parent, unescaped(last).into_owned()))
}

/// An array index as RFC 6901 writes it: digits without a leading zero or sign.
fn index(key: &str) -> Option<usize> {
    let plain = key == "0" || key.starts_with(|c: char| ('1'..='9').contains(&c));
    plain.then(|| key.parse().ok()).flatten()
}

fn nowhere(path: &str) -> Misfit {
    Misfit::NoSuchPlace { path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn patched(document: &Value, patch: &Value) -> Result<String, Misfit> {
        let patch: Vec<PatchOp> = serde_json::from_value(patch.clone()).unwrap();
        let mut document = document.clone();
        apply(&mut document, &patch)?;
        Ok(document.to_string())
    }

    #[test]
    fn a_replaced_value_stays_in_its_place_and_a_new_key_goes_last() {
        let patch = json!([
            {"op": "test", "path": "/a", "value": 1},
            {"op": "replace", "path": "/a", "value": 2},
            {"op": "add", "path": "/c", "value": 3},
            {"op": "remove", "path": "/b"}
        ]);
        assert_eq!(patched(&json!({"a": 1, "b": 0}), &patch).unwrap(), r#"{"a":2,"c":3}"#);
    }

    #[test]
    fn a_key_moved_to_another_name_is_renamed_where_it_stands() {
        let patch = json!([{"op": "move", "from": "/p/class", "path": "/p/_class"}]);
        let document = json!({"p": {"class": 1, "z": 2}});
        assert_eq!(patched(&document, &patch).unwrap(), r#"{"p":{"_class":1,"z":2}}"#);
    }

    #[test]
    fn a_key_moved_onto_itself_goes_last() {
        let patch = json!([{"op": "move", "from": "/a", "path": "/a"}]);
        assert_eq!(patched(&json!({"a": 1, "b": 2}), &patch).unwrap(), r#"{"b":2,"a":1}"#);
    }

    #[test]
    fn keys_with_slashes_and_tildes_are_reached() {
        let place = format!("/{}", token("a/b~c"));
        let patch = json!([{"op": "replace", "path": place, "value": 2}]);
        assert_eq!(patched(&json!({"a/b~c": 1}), &patch).unwrap(), r#"{"a/b~c":2}"#);
    }

    #[test]
    fn a_patch_made_for_another_document_is_refused() {
        let patch = json!([{"op": "test", "path": "/a", "value": 1}, {"op": "remove", "path": "/a"}]);
        assert_eq!(patched(&json!({"a": 9}), &patch), Err(Misfit::OtherValue { path: "/a".into() }));
        let patch = json!([{"op": "remove", "path": "/x/y"}]);
        assert_eq!(patched(&json!({"a": 9}), &patch), Err(Misfit::NoSuchPlace { path: "/x/y".into() }));
    }

    #[test]
    fn what_is_no_pointer_leads_nowhere_and_the_empty_one_to_the_whole_document() {
        for path in ["x", "x/a", " ", "0"] {
            for op in ["add", "replace", "test", "remove"] {
                let patch = json!([{"op": op, "path": path, "value": 2}]);
                assert!(patched(&json!({"x": {"a": 1}}), &patch).is_err(), "{op} {path}");
            }
            for (from, path) in [(path, "/y"), ("/x", path)] {
                let patch = json!([{"op": "move", "from": from, "path": path}]);
                assert!(patched(&json!({"x": {"a": 1}}), &patch).is_err(), "move {from} {path}");
            }
        }
        let whole = json!([{"op": "add", "path": "", "value": 2}]);
        assert_eq!(patched(&json!({"x": 1}), &whole).unwrap(), "2");
    }

    #[test]
    fn no_patch_makes_a_document_deeper_than_it_may_be() {
        let within = |levels: usize, patch: Value| {
            let patch: Vec<PatchOp> = serde_json::from_value(patch).unwrap();
            let mut document = json!({"a": {"b": []}, "c": [[1]]});
            apply_within(&mut document, &patch, levels).map(|()| document.to_string())
        };
        let add = json!([{"op": "add", "path": "/a/b/-", "value": [2]}]);
        assert_eq!(within(4, add.clone()).unwrap(), r#"{"a":{"b":[[2]]},"c":[[1]]}"#);
        let too_deep = |path: &str, levels| Err(Misfit::TooDeep { path: path.into(), levels });
        assert_eq!(within(3, add), too_deep("/a/b/-", 3));
        let moved = json!([{"op": "move", "from": "/c", "path": "/a/b/0"}]);
        assert_eq!(within(5, moved.clone()).unwrap(), r#"{"a":{"b":[[[1]]]}}"#);
        assert_eq!(within(4, moved), too_deep("/a/b/0", 4));
        let replaced = json!([{"op": "replace", "path": "/a", "value": [[[]]]}]);
        assert_eq!(within(3, replaced), too_deep("/a", 3));
        // Each operation is shallow; together they are not.
        let inner = |at: usize| json!({"op": "add", "path": "/a".repeat(at), "value": {"a": {}}});
        let many: Vec<Value> = (1..2_000).map(inner).collect();
        assert_eq!(within(100, json!(many)), too_deep(&"/a".repeat(99), 100));
    }

    #[test]
    fn array_elements_are_added_before_an_index_or_at_the_end() {
        let patch = json!([
            {"op": "add", "path": "/0", "value": "first"},
            {"op": "add", "path": "/-", "value": "last"},
            {"op": "remove", "path": "/1"}
        ]);
        assert_eq!(patched(&json!(["old", "kept"]), &patch).unwrap(), r#"["first","kept","last"]"#);
        let patch = json!([{"op": "add", "path": "/9", "value": 0}]);
        assert_eq!(patched(&json!([]), &patch), Err(Misfit::NoSuchPlace { path: "/9".into() }));
    }

    fn arbitrary_op() -> impl Strategy<Value = PatchOp> {
        let place = || {
            prop::sample::select(vec!["/a", "/b", "/c", "/l/0", "/l/1", "/l/-", "/o/x", "/o/y", "/nowhere/z"])
        };
        prop_oneof![
            (place(), 0..3_i32).prop_map(|(p, v)| PatchOp::Test { path: p.into(), value: v.into() }),
            (place(), 0..3_i32).prop_map(|(p, v)| PatchOp::Add { path: p.into(), value: v.into() }),
            place().prop_map(|p| PatchOp::Remove { path: p.into() }),
            (place(), 0..3_i32).prop_map(|(p, v)| PatchOp::Replace { path: p.into(), value: v.into() }),
            (place(), place()).prop_map(|(f, p)| PatchOp::Move { from: f.into(), path: p.into() }),
        ]
    }

    proptest! {
        #[test]
        fn it_agrees_with_another_implementation_up_to_key_order(ops in prop::collection::vec(arbitrary_op(), 1..6)) {
            let start = json!({"a": 0, "b": 1, "l": [0, 1], "o": {"x": 2}});
            let theirs: json_patch::Patch = serde_json::from_value(serde_json::to_value(&ops).unwrap()).unwrap();
            let (mut ours, mut other) = (start.clone(), start);
            let result = apply(&mut ours, &ops);
            let other_result = json_patch::patch_unsafe(&mut other, &theirs);
            prop_assert_eq!(result.is_ok(), other_result.is_ok());
            if result.is_ok() {
                prop_assert_eq!(ours, other);
            }
        }
    }
}
