//! Keys that stand twice in one object.
//!
//! The last value counts, as every reader of JSON and Python has it; that another one was
//! written is for people to know. A second time with an equal value is passed over: whichever
//! of the two is meant, the object is the same.

use serde_json::map::Entry;
use serde_json::{Map, Value};

/// A key that stands twice in one object with different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeated {
    /// The key.
    pub(crate) key: String,
    /// The byte where it stands again.
    pub(crate) at: usize,
}

/// Puts a member into an object, and takes note of its key where another value had it.
pub(crate) fn insert(
    map: &mut Map<String, Value>,
    key: String,
    value: Value,
    at: usize,
    noted: &mut Vec<Repeated>,
) {
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
