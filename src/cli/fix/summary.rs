//! The summary at the end of `fix`: how many files, lists and functions, which edits, which faults.

use crate::cli::console::{self, count, counted};
use crate::docs::fix::Safety;
use crate::fix::{Counts, Occurrences};

/// A longer sentence continues on the next line.
const MAX_WIDTH: usize = 80;

/// The counts as text.
pub(super) fn summary(counts: &Counts) -> String {
    let mut text = String::new();
    if let Some(files) = counts.files {
        let n_skipped = files.skipped;
        let skipped = if n_skipped == 0 {
            String::new()
        } else {
            format!(", {} skipped", files_of_other_types(n_skipped))
        };
        text += &format!("{}{skipped}\n", counted(files.read, "file", "files"));
    }
    text += &sentence(
        &format!("{}:", with_functions(counts.lists(), counts.functions)),
        &format!(
            "{} fixed, {} unchanged, {} not read",
            count(counts.changed),
            count(counts.unchanged),
            count(counts.unread)
        ),
    );
    if counts.held > 0 {
        let held = with_functions(counts.held, counts.held_functions);
        text += &sentence(&held, &format!("would be {}", held_by(counts)));
    }
    let mut edits: Vec<_> =
        counts.edits.iter().map(|((reason, safety), found)| row(reason, word(*safety), found)).collect();
    edits.sort();
    text += &section(&["edits", "safety", "times", "lists"], &edits);
    let conversions = counts.conversions.iter().map(|(reason, found)| row(reason, "", found));
    text += &section(&["conversions", "", "times", "lists"], &conversions.collect::<Vec<_>>());
    let faults = counts.faults.iter().map(|(reason, found)| row(reason, "", found));
    text += &section(&["faults", "", "times", "lists"], &faults.collect::<Vec<_>>());
    text
}

/// Who does not take the lists that are held.
fn held_by(counts: &Counts) -> &'static str {
    let is_refused = counts.faults.keys().any(|reason| reason.starts_with("convert/"));
    if is_refused { "held by a run or refused by the API" } else { "held by a run" }
}

fn row(reason: &str, safety: &str, found: &Occurrences) -> Vec<String> {
    vec![reason.to_owned(), safety.to_owned(), count(found.times), count(found.lists)]
}

fn files_of_other_types(n_files: u64) -> String {
    counted(n_files, "file of another type", "files of other types")
}

fn with_functions(lists: u64, functions: u64) -> String {
    let lists = counted(lists, "doc list", "doc lists");
    format!("{lists} with {}", counted(functions, "function", "functions"))
}

/// A sentence on one line, or on two if one would be too wide.
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
    use crate::fix::FileCounts;

    #[test]
    fn counts_of_any_size_fit_the_width_of_a_terminal() {
        for n in [0, 1, 9_999, 123_456_789] {
            let mut counts = Counts::default();
            let mut files = FileCounts::default();
            (files.read, files.skipped) = (n, n);
            counts.files = Some(files);
            (counts.functions, counts.changed, counts.unchanged, counts.unread) = (n, n, n, n);
            (counts.held, counts.held_functions) = (n, n);
            let summary = summary(&counts);
            assert!(summary.lines().all(|line| line.len() <= MAX_WIDTH), "{summary}");
        }
        let mut counts = Counts::default();
        (counts.changed, counts.functions) = (1, 1);
        assert_eq!(summary(&counts), "1 doc list with 1 function: 1 fixed, 0 unchanged, 0 not read\n");
    }
}
