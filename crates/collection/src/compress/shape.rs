//! What examples of responses have in common: their keys, what is empty everywhere, and what lists repeat.

use std::collections::BTreeMap;

use serde_json::Value;

use super::key_schema::KeySchema;
use crate::probe::body::has_content;

/// The fewest elements in which a value has to be equal to count as repeated.
const MIN_REPEATED: usize = 3;

/// The fewest keys of an object whose keys may be data.
const MIN_DATA_KEYS: usize = 24;

/// The most different keys of one object that are remembered; an object with more is a map.
const MAX_KEYS: usize = 512;

/// The shape of the values at one place.
#[derive(Debug, Default)]
pub(super) struct Shape {
    n_seen: usize,
    /// How many have content.
    n_filled: usize,
    n_objects: usize,
    n_lists: usize,
    /// The values of objects by key.
    members: BTreeMap<String, Shape>,
    /// The keys are too many to be names.
    is_map: bool,
    /// The elements of lists.
    element: Option<Box<Shape>>,
    /// The single value that all had so far; `None` after a second one.
    constant: Option<Value>,
}

impl Shape {
    /// Adds a value.
    pub(super) fn add(&mut self, value: &Value, levels: usize) {
        self.constant = match self.constant.take() {
            _ if value.is_array() || value.is_object() => None,
            None if self.n_seen == 0 => Some(value.clone()),
            other => other.filter(|constant| constant == value),
        };
        self.n_seen += 1;
        self.n_filled += usize::from(has_content(value));
        let Some(levels) = levels.checked_sub(1) else { return };
        match value {
            Value::Object(map) => {
                self.n_objects += 1;
                for (key, value) in map {
                    if self.members.len() < MAX_KEYS || self.members.contains_key(key) {
                        self.members.entry(key.clone()).or_default().add(value, levels);
                    } else {
                        self.is_map = true;
                    }
                }
            }
            Value::Array(items) => {
                self.n_lists += 1;
                let element = self.element.get_or_insert_default();
                for item in items {
                    element.add(item, levels);
                }
            }
            _ => {}
        }
    }

    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        self.members.get(key)
    }

    pub(super) fn element(&self) -> Option<&Self> {
        self.element.as_deref().filter(|element| element.n_seen > 0)
    }

    /// Returns which parts of such values are kept.
    pub(super) fn key_schema(&self) -> KeySchema {
        self.schema(false)
    }

    fn schema(&self, is_in_list: bool) -> KeySchema {
        if self.n_objects == self.n_seen && self.n_seen > 0 {
            if self.has_data_keys() {
                return KeySchema::Values(Box::default());
            }
            let filled = self.members.iter().filter(|(_, member)| member.n_filled > 0);
            return KeySchema::Object(
                filled.map(|(key, member)| (key.clone(), member.member_schema(is_in_list))).collect(),
            );
        }
        if self.n_lists == self.n_seen && self.n_seen > 0 {
            let element = self.element().map(|element| element.schema(true));
            return KeySchema::Array(Box::new(element.unwrap_or_default()));
        }
        KeySchema::Any
    }

    fn member_schema(&self, is_in_list: bool) -> KeySchema {
        if is_in_list && self.constant.is_some() && self.n_seen >= MIN_REPEATED {
            return KeySchema::Once;
        }
        self.schema(is_in_list)
    }

    /// Returns true for many keys that are each in few of the objects, or more than names could be.
    fn has_data_keys(&self) -> bool {
        let n_shared = self.members.values().filter(|member| member.n_seen > 1).count();
        let is_alike = || {
            let mut kinds = self.members.values().map(|member| (member.n_objects > 0, member.n_lists > 0));
            let first = kinds.next();
            kinds.all(|kind| Some(kind) == first)
        };
        let is_sparse = || self.n_objects == 1 || n_shared * 2 < self.members.len();
        self.is_map
            || self.members.len() >= MIN_DATA_KEYS
                && is_sparse()
                && self.members.values().all(|member| member.n_objects > 0)
                && is_alike()
    }
}
