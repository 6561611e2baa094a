//! What is told at the end of `fix`: how many lists, which edits, which faults.

use std::collections::BTreeMap;

use super::outcome::Outcome;
use crate::console::{self, count};
use crate::docs::fix::Safety;

/// Counts over all lists of a file.
#[derive(Debug, Default)]
pub(super) struct Tally {
    unchanged: u64,
    changed: u64,
    unread: u64,
    /// Read, but a run would hold them back.
    open: u64,
    edits: BTreeMap<(&'static str, &'static str), Seen>,
    faults: BTreeMap<&'static str, Seen>,
}

/// How often something was seen, and in how many lists.
#[derive(Debug, Default)]
struct Seen {
    times: u64,
    lists: u64,
    last_list: u64,
}

impl Seen {
    fn add(&mut self, list: u64) {
        self.times += 1;
        self.lists += u64::from(self.last_list != list);
        self.last_list = list;
    }
}

impl Tally {
    /// Counts one list.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        let kind = match (&outcome.functions, outcome.is_changed()) {
            (None, _) => &mut self.unread,
            (Some(_), true) => &mut self.changed,
            (Some(_), false) => &mut self.unchanged,
        };
        *kind += 1;
        self.open += u64::from(outcome.functions.is_some() && !outcome.is_good());
        let list = self.lists();
        for edit in &outcome.edits {
            self.edits.entry((edit.reason, word(edit.safety))).or_default().add(list);
        }
        for fault in &outcome.faults {
            self.faults.entry(fault.reason).or_default().add(list);
        }
    }

    /// Whether there was something, and a run would hold none of it back.
    pub(super) fn is_good(&self) -> bool {
        self.lists() > 0 && self.unread == 0 && self.open == 0
    }

    /// The counts as text.
    pub(super) fn summary(&self) -> String {
        let mut text = format!(
            "{} doc list{}: {} fixed, {} as they were, {} not read\n",
            count(self.lists()),
            if self.lists() == 1 { "" } else { "s" },
            count(self.changed),
            count(self.unchanged),
            count(self.unread)
        );
        if self.open > 0 {
            text += &format!("{} of those read would be held back by a run\n", count(self.open));
        }
        let edits = self.edits.iter().map(|((reason, safety), seen)| seen.row(reason, safety));
        text += &section(&["edits", "safety", "times", "lists"], &edits.collect::<Vec<_>>());
        let faults = self.faults.iter().map(|(reason, seen)| seen.row(reason, ""));
        text += &section(&["faults", "", "times", "lists"], &faults.collect::<Vec<_>>());
        text
    }

    fn lists(&self) -> u64 {
        self.unchanged + self.changed + self.unread
    }
}

impl Seen {
    fn row(&self, reason: &str, safety: &str) -> Vec<String> {
        vec![reason.to_owned(), safety.to_owned(), count(self.times), count(self.lists)]
    }
}

fn section(header: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() { String::new() } else { format!("\n{}", console::table(header, rows, &[2, 3])) }
}

fn word(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => "safe",
        Safety::Unsafe => "unsafe",
        Safety::Suggest => "not made",
    }
}
