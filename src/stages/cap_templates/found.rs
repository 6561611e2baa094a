//! What the stage found, for the funnel and the reports.

use serde::{Deserialize, Serialize};

use crate::stages::Notes;

/// Characters of a template that are shown.
const SHOWN: usize = 160;

/// Returns the beginning of a template.
pub(super) fn shown(form: &str) -> String {
    let mut shown: String = form.chars().take(SHOWN).collect();
    if shown.len() < form.len() {
        shown.push('…');
    }
    shown
}

/// The name of the note with [`Found`].
pub const NOTE: &str = "templates";

/// What a run found: the content of the note.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// All requests that the stage read.
    pub requests: u64,
    /// Requests dropped.
    pub dropped: u64,
    /// Templates in the rhythm of a machine.
    pub of_machines: Part,
    /// Templates without such a rhythm that at least ten different requests fill.
    pub of_all: Part,
    /// The largest of both.
    pub named: Vec<Named>,
}

/// A number of templates, and of the requests that fill them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Templates.
    pub templates: u64,
    /// Requests.
    pub requests: u64,
}

impl Found {
    /// Returns what a stage found, from its notes.
    pub fn of(notes: &Notes) -> Option<Self> {
        notes.get(NOTE).and_then(|note| Self::deserialize(note).ok())
    }
}

impl Part {
    pub(super) fn add(&mut self, requests: u64) {
        self.templates += 1;
        self.requests += requests;
    }
}

/// A template by name.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Its text with `{}` in place of each value.
    pub template: String,
    /// Its requests.
    pub requests: u64,
    /// Those of them that a machine sent.
    pub of_machines: u64,
    /// Those of them that were dropped.
    pub dropped: u64,
}
