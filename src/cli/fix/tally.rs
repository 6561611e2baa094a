//! The summary at the end of `fix`: how many files, lists and functions, which edits, which faults.

use std::collections::BTreeMap;

use super::files::Listing;
use super::outcome::Outcome;
use crate::cli::console::{self, count, counted};
use crate::docs::fix::Safety;

/// A sentence that is longer goes on in the next line.
const MAX_WIDTH: usize = 80;

/// Counts over all lists.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Files read and files skipped, where there may be several.
    files: Option<(u64, u64)>,
    /// Functions of the lists that were read.
    functions: u64,
    unchanged: u64,
    changed: u64,
    unread: u64,
    /// Read, but a run would hold them back, or the API refuses them.
    held: Held,
    edits: BTreeMap<(&'static str, &'static str), Seen>,
    conversions: BTreeMap<&'static str, Seen>,
    faults: BTreeMap<&'static str, Seen>,
}

#[derive(Debug, Default)]
struct Held {
    lists: u64,
    functions: u64,
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

    fn row(&self, reason: &str, safety: &str) -> Vec<String> {
        vec![reason.to_owned(), safety.to_owned(), count(self.times), count(self.lists)]
    }
}

impl Tally {
    /// No counts yet, of these files.
    pub(super) fn new(listing: &Listing) -> Self {
        let files = listing.is_named().then_some((listing.files.len() as u64, listing.n_skipped));
        Self { files, ..Self::default() }
    }

    /// Counts one list.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        let kind = match (outcome.n_functions, outcome.is_changed()) {
            (None, _) => &mut self.unread,
            (Some(_), true) => &mut self.changed,
            (Some(_), false) => &mut self.unchanged,
        };
        *kind += 1;
        if let Some(n_functions) = outcome.n_functions {
            self.functions += n_functions as u64;
            if !outcome.is_good() {
                self.held.lists += 1;
                self.held.functions += n_functions as u64;
            }
        }
        let list = self.lists();
        for edit in &outcome.edits {
            self.edits.entry((edit.reason, word(edit.safety))).or_default().add(list);
        }
        for change in outcome.conversions.iter().flatten() {
            self.conversions.entry(change.reason).or_default().add(list);
        }
        for fault in &outcome.faults {
            self.faults.entry(fault.reason).or_default().add(list);
        }
    }

    /// Whether there was something, and none of it would be held back or refused.
    pub(super) fn is_good(&self) -> bool {
        self.lists() > 0 && self.unread == 0 && self.held.lists == 0
    }

    /// The counts as text.
    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        if let Some((n_files, n_skipped)) = self.files {
            let skipped =
                if n_skipped == 0 { String::new() } else { format!(", {} skipped", others(n_skipped)) };
            text += &format!("{}{skipped}\n", counted(n_files, "file", "files"));
        }
        text += &sentence(
            &format!("{}:", with_functions(self.lists(), self.functions)),
            &format!(
                "{} fixed, {} unchanged, {} not read",
                count(self.changed),
                count(self.unchanged),
                count(self.unread)
            ),
        );
        if self.held.lists > 0 {
            let held = with_functions(self.held.lists, self.held.functions);
            text += &sentence(&held, &format!("would be {}", self.held_by()));
        }
        let edits = self.edits.iter().map(|((reason, safety), seen)| seen.row(reason, safety));
        text += &section(&["edits", "safety", "times", "lists"], &edits.collect::<Vec<_>>());
        let conversions = self.conversions.iter().map(|(reason, seen)| seen.row(reason, ""));
        text += &section(&["conversions", "", "times", "lists"], &conversions.collect::<Vec<_>>());
        let faults = self.faults.iter().map(|(reason, seen)| seen.row(reason, ""));
        text += &section(&["faults", "", "times", "lists"], &faults.collect::<Vec<_>>());
        text
    }

    /// Who does not take the lists that are held.
    fn held_by(&self) -> &'static str {
        let is_refused = self.faults.keys().any(|reason| reason.starts_with("convert/"));
        if is_refused { "held by a run or refused by the API" } else { "held by a run" }
    }

    fn lists(&self) -> u64 {
        self.unchanged + self.changed + self.unread
    }
}

fn others(n_files: u64) -> String {
    counted(n_files, "file of another type", "files of other types")
}

fn with_functions(lists: u64, functions: u64) -> String {
    let lists = counted(lists, "doc list", "doc lists");
    format!("{lists} with {}", counted(functions, "function", "functions"))
}

/// A sentence in one line, or in two where one would be too wide.
fn sentence(start: &str, end: &str) -> String {
    let gap = if start.len() + 1 + end.len() <= MAX_WIDTH { " " } else { "\n  " };
    format!("{start}{gap}{end}\n")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_any_size_fit_the_width_of_a_terminal() {
        for n in [0, 1, 9_999, 123_456_789] {
            let held = Held { lists: n, functions: n };
            let tally = Tally {
                files: Some((n, n)),
                functions: n,
                changed: n,
                unchanged: n,
                unread: n,
                held,
                ..Tally::default()
            };
            let summary = tally.summary();
            assert!(summary.lines().all(|line| line.len() <= MAX_WIDTH), "{summary}");
        }
        let tally = Tally { changed: 1, functions: 1, ..Tally::default() };
        assert_eq!(tally.summary(), "1 doc list with 1 function: 1 fixed, 0 unchanged, 0 not read\n");
    }
}
