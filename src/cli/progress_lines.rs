//! Lines on a step that takes long, where standard error is no terminal: a bar cannot be drawn, and a log shall show that the program works.
//!
//! The first line comes after some seconds, so short steps have none; then the pauses double up to a minute.

use std::time::{Duration, Instant};

use crate::text::figures::{count, seconds, share_of};

/// The time until the first line.
const FIRST: Duration = Duration::from_secs(5);
/// The longest time between two lines.
const LONGEST: Duration = Duration::from_mins(1);

/// The progress of one step.
#[derive(Debug)]
pub(super) struct ProgressLines {
    start: Instant,
    next: Duration,
    pause: Duration,
    what: &'static str,
    done: u64,
    total: Option<u64>,
}

impl ProgressLines {
    /// Begins a step now, with its number of rows if it is known.
    pub(super) fn new(what: &'static str, total: Option<u64>) -> Self {
        Self { start: Instant::now(), next: FIRST, pause: FIRST, what, done: 0, total }
    }

    /// Counts more of the step, and returns the line that is due now, if one is.
    pub(super) fn advance(&mut self, n: u64) -> Option<String> {
        self.done += n;
        self.due_at(self.start.elapsed())
    }

    /// Sets how much of what is done, and returns the line that is due now, if one is.
    pub(super) fn set(&mut self, what: &'static str, done: u64, total: u64) -> Option<String> {
        (self.what, self.done, self.total) = (what, done, Some(total));
        self.due_at(self.start.elapsed())
    }

    fn due_at(&mut self, elapsed: Duration) -> Option<String> {
        if elapsed < self.next {
            return None;
        }
        self.pause = (2 * self.pause).min(LONGEST);
        self.next = elapsed + self.pause;
        let done = count(self.done);
        let of = match self.total {
            Some(total) if self.done <= total => {
                format!("{done} of {} {} ({})", count(total), self.what, share_of(self.done, total))
            }
            _ => format!("{done} {}", self.what),
        };
        Some(format!("{:>11}  {of}", seconds(elapsed.as_secs_f64())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rarer_and_short_steps_have_none() {
        let mut lines = ProgressLines::new("rows", Some(1000));
        lines.done = 250;
        let due: Vec<u64> = (0..200).filter(|at| lines.due_at(Duration::from_secs(*at)).is_some()).collect();
        assert_eq!(due, [5, 15, 35, 75, 135, 195]);
        lines.next = FIRST;
        let line = lines.due_at(Duration::from_secs(5)).unwrap();
        assert_eq!(line.trim(), format!("5.00 s  250 of 1,000 rows ({})", share_of(250, 1000)));
        // A step that counts more than its rows has no share of them.
        (lines.done, lines.next) = (1001, FIRST);
        assert!(lines.due_at(FIRST).unwrap().ends_with("  1,001 rows"));
    }
}
