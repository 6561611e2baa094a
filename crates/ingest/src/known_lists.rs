//! Doc lists that the step has already stored: where one is sent again, its text is neither written compactly nor stored.
//!
//! A log sends a few lists in all of its requests, and a training set offers the same functions in many rows. A list is known by the
//! hash of its JSON as it was sent, from the moment on when a row with its text was stored; until then each row has the text. So
//! the result does not depend on how far ahead lines are parsed.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use serde_json::Value;

/// The most lists that are known; others are read each time.
const MOST_KNOWN: usize = 1 << 18;

/// The lists that are stored.
#[derive(Debug, Default)]
pub struct KnownLists {
    /// By the content hash of the JSON as it was sent.
    lists: RwLock<FxHashMap<u128, KnownList>>,
    /// The outlines of all lists, each once, by their JSON.
    outlines: Mutex<FxHashMap<String, Arc<Value>>>,
}

/// A list that is stored.
#[derive(Debug, Clone)]
pub(crate) struct KnownList {
    /// The content hash of the text that is stored.
    pub(crate) key: u128,
    /// The list with the keys of its functions and without their values.
    pub(crate) outline: Arc<Value>,
}

/// What is known of the doc list of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum SentList {
    /// Nothing: the docs were not looked up, or are no JSON list of objects.
    #[default]
    NotLookedUp,
    /// It was not stored yet.
    New {
        /// The content hash of its JSON as it was sent.
        sent: u128,
        /// Its outline.
        outline: Arc<Value>,
    },
    /// It is stored with this content hash, and the request has no text of it.
    Stored(u128),
}

impl KnownLists {
    /// Returns the list whose JSON has this hash.
    pub(crate) fn get(&self, sent: u128) -> Option<KnownList> {
        self.lists.read().unwrap_or_else(PoisonError::into_inner).get(&sent).cloned()
    }

    /// Adds a list whose text was stored.
    pub(crate) fn add(&self, sent: u128, outline: Arc<Value>, key: u128) {
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        if lists.len() < MOST_KNOWN {
            lists.entry(sent).or_insert(KnownList { key, outline });
        }
    }

    /// Returns the one outline in memory that is equal to this.
    pub(crate) fn shared(&self, outline: &Value) -> Arc<Value> {
        let text = outline.to_string();
        let mut outlines = self.outlines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = outlines.get(&text) {
            return Arc::clone(known);
        }
        let new = Arc::new(outline.clone());
        if outlines.len() < MOST_KNOWN {
            outlines.insert(text, Arc::clone(&new));
        }
        new
    }
}
