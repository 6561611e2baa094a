//! RFC 6902 patches that keep the order of keys.
//!
//! Key order means nothing in JSON but matters to readers of a doc. So `apply` defines what the RFC leaves open: a new
//! key is appended, a replaced value keeps its position, a key moved within its own object is renamed in place, and a
//! key moved onto itself becomes the last one. Any other RFC 6902 implementation reads the same patches and produces
//! the same document, up to key order.
//! Deliberately absent: `copy`, which no rule needs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use callsieve_notation::levels::is_within;

/// One patch operation; paths are JSON pointers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOp {
    /// Fails unless the value at `path` equals `value`.
    Test {
        /// The pointer.
        path: String,
        /// The expected value.
        value: Value,
    },
    /// Inserts a value at `path`: a new key is appended, an array element is inserted before that index.
    Add {
        /// The pointer.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Removes the value at `path`.
    Remove {
        /// The pointer.
        path: String,
    },
    /// Replaces the value at `path`.
    Replace {
        /// The pointer.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Moves the value at `from` to `path`.
    Move {
        /// The old pointer of the value.
        from: String,
        /// The new pointer of the value.
        path: String,
    },
}

impl PatchOp {
    /// Returns the pointer that the operation is about; for a move, the old pointer.
    pub fn path(&self) -> &str {
        match self {
            Self::Test { path, .. }
            | Self::Add { path, .. }
            | Self::Replace { path, .. }
            | Self::Remove { path }
            | Self::Move { from: path, .. } => path,
        }
    }

    /// Returns all pointers of the operation.
    pub fn pointers(&self) -> impl Iterator<Item = &str> {
        let goal = if let Self::Move { path, .. } = self { Some(path.as_str()) } else { None };
        std::iter::once(self.path()).chain(goal)
    }
}

/// Why a patch does not fit a document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Misfit {
    /// A `test` found a different value: the patch was made for another document.
    #[error("the value at {path:?} is not the one that the patch expects")]
    OtherValue {
        /// The pointer of the `test`.
        path: String,
    },
    /// The document would exceed its maximum depth.
    #[error("at {path:?} the document would be more than {levels} levels deep")]
    TooDeep {
        /// The pointer of the value.
        path: String,
        /// The maximum number of levels.
        levels: usize,
    },
    /// A path does not exist.
    #[error("the document has no value at {path:?}")]
    NoSuchPlace {
        /// The pointer that does not exist.
        path: String,
    },
}

/// Applies the operations in order.
///
/// # Errors
/// At the first operation that does not fit. Earlier operations have been applied by then, so use a copy if the
/// document must survive.
pub fn apply(document: &mut Value, patch: &[PatchOp]) -> Result<(), Misfit> {
    patch.iter().try_for_each(|op| apply_one(document, op))
}

/// Applies the operations in order, as [`apply`] does. Keys of one object that are renamed one after the other are renamed in
/// one pass, so thousands of them take linear time.
///
/// # Errors
/// As [`apply`].
pub fn apply_all<'o>(document: &mut Value, ops: impl IntoIterator<Item = &'o PatchOp>) -> Result<(), Misfit> {
    let mut pending = PendingRenames::default();
    let applied = ops.into_iter().try_for_each(|op| {
        if pending.take(document, op) {
            return Ok(());
        }
        // Anything else can move the elements of an array that the object is in.
        let leaves_places = matches!(op, PatchOp::Test { .. } | PatchOp::Replace { .. });
        if !leaves_places || pending.concern(op) {
            pending.finish(document);
        }
        // A rename that could not wait with the others may begin a row of its own.
        if pending.take(document, op) { Ok(()) } else { apply_one(document, op) }
    });
    pending.finish(document);
    applied
}

/// Renames of keys of one object that are not made yet. No old or new name of one is that of another.
#[derive(Default)]
struct PendingRenames {
    parent: String,
    new_names: HashMap<String, String>,
    taken: HashSet<String>,
}

impl PendingRenames {
    /// Adds an operation if it is a rename in place that can wait; returns true if it was added.
    fn take(&mut self, document: &Value, op: &PatchOp) -> bool {
        let PatchOp::Move { from, path } = op else { return false };
        let (Some((parent, old)), Some((other_parent, new))) = (split(from), split(path)) else {
            return false;
        };
        let fits = parent == other_parent
            && old != new
            && (self.new_names.is_empty() || self.parent == parent)
            && ![&old, &new]
                .into_iter()
                .any(|name| self.taken.contains(name) || self.new_names.contains_key(name));
        let Some(Value::Object(map)) = find(document, parent).filter(|_| fits) else { return false };
        if !map.contains_key(&old) || map.contains_key(&new) {
            return false;
        }
        parent.clone_into(&mut self.parent);
        self.taken.insert(new.clone());
        self.new_names.insert(old, new);
        true
    }

    /// Whether an operation is about a renamed key, the object or something around it.
    fn concern(&self, op: &PatchOp) -> bool {
        !self.new_names.is_empty()
            && op.pointers().any(|pointer| match pointer.strip_prefix(self.parent.as_str()) {
                None => self.parent.starts_with(pointer),
                Some("") => true,
                Some(inner) => match inner.strip_prefix('/') {
                    None => false,
                    Some(inner) => {
                        let key = unescaped(inner.split('/').next().unwrap_or_default());
                        self.new_names.contains_key(&*key) || self.taken.contains(&*key)
                    }
                },
            })
    }

    fn finish(&mut self, document: &mut Value) {
        if self.new_names.is_empty() {
            return;
        }
        if let Some(Value::Object(map)) = find_mut(document, &self.parent) {
            let renamed = std::mem::take(map).into_iter().map(|(key, value)| {
                let key = self.new_names.remove(&key).unwrap_or(key);
                (key, value)
            });
            *map = renamed.collect();
        }
        *self = Self::default();
    }
}

/// Applies the operations in order and keeps the document within `levels` levels.
///
/// # Errors
/// As [`apply`]; also at the first operation that would exceed the levels.
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

/// Returns true if a text is a pointer as defined in RFC 6901: empty, or steps that each begin with a slash.
pub fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

/// Returns one step of a pointer, with `/` and `~` escaped.
pub fn token(key: &str) -> String {
    let mut token = String::with_capacity(key.len());
    push_token(&mut token, key);
    token
}

/// Appends one step to a pointer.
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
            *find_mut(document, path).ok_or_else(|| no_such_place(path))? = value.clone();
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
    let (parent, key) = split(path).ok_or_else(|| no_such_place(path))?;
    match find_mut(document, parent) {
        Some(Value::Object(map)) => {
            map.insert(key, value);
            Ok(())
        }
        Some(Value::Array(list)) => {
            let at = if key == "-" { Some(list.len()) } else { index(&key) };
            let at = at.filter(|at| *at <= list.len()).ok_or_else(|| no_such_place(path))?;
            list.insert(at, value);
            Ok(())
        }
        _ => Err(no_such_place(path)),
    }
}

fn remove(document: &mut Value, path: &str) -> Result<Value, Misfit> {
    let (parent, key) = split(path).ok_or_else(|| no_such_place(path))?;
    match find_mut(document, parent) {
        Some(Value::Object(map)) => map.shift_remove(&key),
        Some(Value::Array(list)) => index(&key).filter(|at| *at < list.len()).map(|at| list.remove(at)),
        _ => None,
    }
    .ok_or_else(|| no_such_place(path))
}

/// Renames the key if this is a move within one object; returns true if it was.
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

/// Returns the map with keys renamed one after the other, each in the same position.
pub fn rename_keys(mut map: Map<String, Value>, renames: &[(&str, &str)]) -> Map<String, Value> {
    if renames.is_empty() {
        return map;
    }
    let new_names: HashMap<&str, &str> = renames.iter().copied().collect();
    let names: HashSet<&str> = renames.iter().map(|(_, new)| *new).collect();
    let is_apart = |new: &&str| !new_names.contains_key(*new) && !map.contains_key(*new);
    // Where no name is used twice, the order makes no difference, and one pass is enough.
    if new_names.len() == renames.len() && names.len() == renames.len() && names.iter().all(is_apart) {
        let renamed = map.into_iter().map(|(key, value)| match new_names.get(key.as_str()) {
            Some(new) => ((*new).to_owned(), value),
            None => (key, value),
        });
        return renamed.collect();
    }
    for (old, new) in renames {
        map = rename_key(map, old, new);
    }
    map
}

/// Returns the map with the key `old` renamed to `new`, in the same position.
pub fn rename_key(map: Map<String, Value>, old: &str, new: &str) -> Map<String, Value> {
    map.into_iter()
        .map(|(key, value)| if key == old { (new.to_owned(), value) } else { (key, value) })
        .collect()
}

/// Returns the value at a pointer. The method of `serde_json` allocates two strings for each step.
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

/// Returns the unescaped keys of a pointer; the pointer to the whole document has none.
fn steps(path: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let mut steps = path.split('/');
    // The text before the first slash is not a key.
    (steps.next() == Some("")).then(|| steps.map(unescaped))
}

fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') { Cow::from(step.replace("~1", "/").replace("~0", "~")) } else { Cow::from(step) }
}

/// Returns the parent's pointer and the last key, unescaped; `None` for the whole document and for invalid pointers.
fn split(path: &str) -> Option<(&str, String)> {
    let (parent, last) = path.rsplit_once('/').filter(|_| is_pointer(path))?;
    Some((parent, unescaped(last).into_owned()))
}

/// Returns an array index as RFC 6901 writes it: digits without a leading zero or sign.
fn index(key: &str) -> Option<usize> {
    let plain = key == "0" || key.starts_with(|c: char| ('1'..='9').contains(&c));
    plain.then(|| key.parse().ok()).flatten()
}

fn no_such_place(path: &str) -> Misfit {
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
    fn a_key_moved_within_its_object_is_renamed_in_place() {
        let patch = json!([{"op": "move", "from": "/p/class", "path": "/p/_class"}]);
        let document = json!({"p": {"class": 1, "z": 2}});
        assert_eq!(patched(&document, &patch).unwrap(), r#"{"p":{"_class":1,"z":2}}"#);
    }

    proptest! {
        #[test]
        fn renames_in_one_pass_give_what_one_after_the_other_gives(ops in prop::collection::vec((0..9_u8, "[a-e]", "[a-h]", "[pq]"), 0..12)) {
            let ops: Vec<PatchOp> = ops.into_iter().map(|(kind, one, other, parent)| {
                let (path, to) = (format!("/{parent}/{one}"), format!("/{parent}/{other}"));
                match kind {
                    0 | 1 => PatchOp::Move { from: path, path: to },
                    2 => PatchOp::Add { path: to, value: json!(1) },
                    3 => PatchOp::Remove { path },
                    4 => PatchOp::Replace { path: to, value: json!(2) },
                    5 => PatchOp::Test { path, value: json!(1) },
                    6 => PatchOp::Remove { path: format!("/list/{}", u8::from(one < other)) },
                    7 => PatchOp::Move { from: format!("/list/1/{one}"), path: format!("/list/1/{other}") },
                    _ => PatchOp::Move { from: format!("/{parent}"), path: format!("/{other}") },
                }
            }).collect();
            let document = json!({"p": {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, "q": {"a": {"b": 1}, "b": 2},
                "list": [{"a": 1}, {"a": 2, "b": 3, "c": 4}, {"a": 5, "b": 6}]});
            let (mut one, mut all) = (document.clone(), document);
            prop_assert_eq!(apply(&mut one, &ops), apply_all(&mut all, &ops));
            prop_assert_eq!(one.to_string(), all.to_string());
        }

        #[test]
        fn renamed_keys_are_those_renamed_one_by_one(renames in prop::collection::vec(("[a-d]", "[a-h]"), 0..6)) {
            let map = || json!({"a": 1, "b": 2, "c": 3, "d": 4}).as_object().unwrap().clone();
            let renames: Vec<(&str, &str)> = renames.iter().map(|(old, new)| (old.as_str(), new.as_str())).collect();
            let one_by_one = renames.iter().fold(map(), |map, (old, new)| rename_key(map, old, new));
            prop_assert_eq!(json!(rename_keys(map(), &renames)).to_string(), json!(one_by_one).to_string());
        }
    }

    #[test]
    fn a_key_moved_onto_itself_becomes_the_last() {
        let patch = json!([{"op": "move", "from": "/a", "path": "/a"}]);
        assert_eq!(patched(&json!({"a": 1, "b": 2}), &patch).unwrap(), r#"{"b":2,"a":1}"#);
    }

    #[test]
    fn slashes_and_tildes_in_keys_are_unescaped() {
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
    fn invalid_pointers_are_refused_and_the_empty_pointer_is_the_whole_document() {
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
    fn no_patch_exceeds_the_maximum_depth() {
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
        // Each operation is shallow, but together they exceed the maximum.
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
