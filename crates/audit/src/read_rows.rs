//! What was read of the rows of each training set: what was not read is unscorable, never clean.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::row::Read;

/// The name of the note about what was read of each file, by the number of the input.
pub const READ_NOTE: &str = "read_of_files";

/// The name of the note about texts that many rows share.
pub const SHARED_NOTE: &str = "shared_texts";

/// A text that many rows of a training set share, such as the prompt of all of them, with a message of the benchmark that it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedText {
    /// The category of the entry.
    pub category: String,
    /// The entry.
    pub id: String,
    /// The rows that share the text, of the first ones.
    pub rows: usize,
    /// The rows that were looked at.
    pub of: usize,
    /// Whether it is contaminated or suspect.
    pub verdict: String,
}

/// The rows of a training set by what was read of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOfFile {
    /// All that were compared.
    pub rows: u64,
    /// Those with a message of the user.
    pub queries: u64,
    /// Those with function docs.
    pub docs: u64,
    /// Those with calls.
    pub calls: u64,
    /// Those with a text of somebody else that is not shared by many.
    pub texts: u64,
}

impl ReadOfFile {
    /// Counts a row.
    pub fn add(&mut self, read: Read) {
        self.rows += 1;
        self.queries += u64::from(read.queries);
        self.docs += u64::from(read.docs);
        self.calls += u64::from(read.calls);
        self.texts += u64::from(read.texts);
    }

    /// Returns what a note holds, by the number of the input; nothing if there is no note.
    pub fn of_note(note: Option<&Value>) -> BTreeMap<usize, Self> {
        note.and_then(|note| BTreeMap::deserialize(note).ok()).unwrap_or_default()
    }

    /// Adds up the notes of several parts.
    pub fn joined(notes: &[Value]) -> Option<Value> {
        let mut sum: BTreeMap<usize, Self> = BTreeMap::new();
        for note in notes {
            for (file, part) in Self::of_note(Some(note)) {
                let of_file = sum.entry(file).or_default();
                of_file.rows += part.rows;
                of_file.queries += part.queries;
                of_file.docs += part.docs;
                of_file.calls += part.calls;
                of_file.texts += part.texts;
            }
        }
        Some(json!(sum))
    }
}
