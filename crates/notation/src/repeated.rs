//! Keys that occur twice in one object.
//!
//! The last value counts, as in all readers of JSON and Python; that there was another one is reported. A repetition
//! with an equal value is ignored, as the object is the same with either.

use serde_json::map::Entry;
use serde_json::{Map, Value};

/// A key that occurs twice in one object with different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The key.
    pub key: String,
    /// The byte of its second occurrence.
    pub at: usize,
}

/// Inserts a member into an object, and records its key if it had another value.
pub fn insert(map: &mut Map<String, Value>, key: String, value: Value, at: usize, noted: &mut Vec<Repeated>) {
    match map.entry(key) {
        Entry::Vacant(vacant) => {
            vacant.insert(value);
        }
        Entry::Occupied(mut occupied) => {
            if *occupied.get() != value {
                noted.push(Repeated { key: occupied.key().clone(), at });
            }
            occupied.insert(value);
        }
    }
}
