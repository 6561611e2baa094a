//! The results of a rule: changes with their old values, and findings.
//!
//! A `Change` is built by naming keys under one pointer; it writes a `test` of the old value before every operation
//! that removes one. A change that only adds tests the function's name instead, so that no patch fits another doc by
//! accident.

use serde_json::{Map, Value};

use super::renames::Renamed;
use super::walk::VisitedDocs;
use crate::patch::PatchOp;

/// A patch, and the names it changes.
pub(super) type Decided = (Vec<PatchOp>, Vec<Renamed>);

/// The results of a rule for a list of functions.
#[derive(Debug)]
pub(super) struct Opinion<'a> {
    /// The list before any change of this rule.
    pub(super) functions: VisitedDocs<'a>,
    /// The changes, in order.
    pub(super) changes: Vec<Decided>,
    /// The findings: pointer and message.
    pub(super) findings: Vec<(String, String)>,
}

impl<'a> Opinion<'a> {
    /// Creates an empty opinion.
    pub(super) fn new(functions: VisitedDocs<'a>) -> Self {
        Self { functions, changes: Vec::new(), findings: Vec::new() }
    }

    /// Proposes a change.
    pub(super) fn change(&mut self, change: Change) {
        self.rename(change, Vec::new());
    }

    /// Proposes a change that renames something.
    pub(super) fn rename(&mut self, change: Change, renamed: Vec<Renamed>) {
        let mut ops = change.ops;
        if ops.iter().all(|op| !matches!(op, PatchOp::Test { .. })) {
            let function = change.pointer.split('/').nth(1).unwrap_or_default();
            let name = function.parse().ok().and_then(|at: usize| self.functions.get(at)?.get("name"));
            if let Some(name) = name {
                ops.insert(0, PatchOp::Test { path: format!("/{function}/name"), value: name.clone() });
            }
        }
        self.changes.push((ops, renamed));
    }

    /// Reports an issue that is not fixed.
    pub(super) fn find(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.findings.push((at.into(), message.into()));
    }
}

/// A patch under construction, for keys below one pointer.
#[derive(Debug)]
pub(super) struct Change {
    pointer: String,
    ops: Vec<PatchOp>,
}

impl Change {
    /// Creates an empty change. Keys in later calls are pointers relative to `pointer`, without the first slash.
    pub(super) fn at(pointer: &str) -> Self {
        Self { pointer: pointer.to_owned(), ops: Vec::new() }
    }

    /// Replaces the value `before`.
    pub(super) fn replace(mut self, key: &str, before: &Value, after: impl Into<Value>) -> Self {
        let path = self.tested(key, before);
        self.ops.push(PatchOp::Replace { path, value: after.into() });
        self
    }

    /// Appends a new key.
    pub(super) fn add(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.ops.push(PatchOp::Add { path: self.path(key), value: value.into() });
        self
    }

    /// Sets the value of a key, existing or new.
    pub(super) fn set(self, map: &Map<String, Value>, key: &str, value: impl Into<Value>) -> Self {
        match map.get(key) {
            Some(before) => self.replace(key, before, value),
            None => self.add(key, value),
        }
    }

    /// Sets the value of a key; if it is new, the keys of `wanted` are put in that order.
    pub(super) fn set_in_order(
        self,
        map: &Map<String, Value>,
        key: &str,
        value: impl Into<Value>,
        wanted: &[&str],
    ) -> Self {
        let change = self.set(map, key, value);
        if map.contains_key(key) {
            return change;
        }
        change.order(map.keys().map(String::as_str).chain([key]), wanted)
    }

    /// Removes a key.
    pub(super) fn remove(mut self, key: &str, before: &Value) -> Self {
        let path = self.tested(key, before);
        self.ops.push(PatchOp::Remove { path });
        self
    }

    /// Renames a key in place.
    pub(super) fn rename(mut self, key: &str, before: &Value, to: &str) -> Self {
        let from = self.tested(key, before);
        self.ops.push(PatchOp::Move { from, path: self.path(to) });
        self
    }

    /// Puts the keys of `wanted` in that order with the fewest moves, each to the end; `keys` are the object's keys
    /// after the change so far.
    pub(super) fn order<'k>(mut self, keys: impl Iterator<Item = &'k str>, wanted: &[&str]) -> Self {
        let present: Vec<_> = keys.filter(|key| wanted.contains(key)).collect();
        let ordered: Vec<_> = wanted.iter().filter(|key| present.contains(key)).collect();
        let settled = present.iter().fold(0, |n, key| n + usize::from(ordered.get(n) == Some(&key)));
        for key in &ordered[settled..] {
            let path = self.path(key);
            self.ops.push(PatchOp::Move { from: path.clone(), path });
        }
        self
    }

    /// Returns true if the change does nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    fn path(&self, key: &str) -> String {
        format!("{}/{key}", self.pointer)
    }

    fn tested(&mut self, key: &str, before: &Value) -> String {
        let path = self.path(key);
        self.ops.push(PatchOp::Test { path: path.clone(), value: before.clone() });
        path
    }
}
