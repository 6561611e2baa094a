//! A telephone number that the user writes over several messages: `0660`, then `392 84 72`, and a call with all of it.
//!
//! Alone, the digits of a message are no number. A call that has them one after the other as one telephone number shows that
//! they are, so each message gets its part of the placeholder.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::original::Original;
use super::{LeafOf, OriginalPart, Piece};
use crate::PrivacyKind;
use crate::walk::Place;

/// Digits of a part, and digits of a whole number.
const DIGITS: std::ops::RangeInclusive<usize> = 2..=14;
const LEAST_WHOLE: usize = 7;
/// Maximum number of runs of digits in the messages, and of comparisons for one number.
const MAX_RUNS: usize = 256;
const MAX_STEPS: usize = 4096;

/// Digits of a message, with the separators of telephone numbers between them.
struct Digits {
    leaf: usize,
    place: Range<usize>,
    letters: Vec<char>,
}

/// Adds the parts of telephone numbers that are spread over messages of the user.
pub(super) fn find(originals: &[Original], leaves: &mut [LeafOf]) {
    let is_spread = |original: &&Original| {
        original.kind == PrivacyKind::Phone && !original.is_asked && original.letters.len() >= LEAST_WHOLE
    };
    if !originals.iter().any(|original| is_spread(&original)) {
        return;
    }
    let mut runs = runs(leaves);
    for original in originals.iter().filter(is_spread) {
        let mut row = Vec::new();
        let mut steps = 0;
        if !cover(original, 0, &runs, &mut row, &mut steps) {
            continue;
        }
        for &(at, from) in &row {
            let Digits { leaf, place, letters } = &runs[at];
            let leaf = &mut leaves[*leaf];
            let part = OriginalPart { original, from, to: from + letters.len() };
            let text = part.fill(&leaf.text[place.clone()]);
            leaf.found.retain(|value| value.end <= place.start || place.end <= value.start);
            leaf.found.push(part.found(place.start, place.end, Piece { text, is_lost: false }));
            leaf.found.sort_by_key(|value| value.start);
        }
        let used: Vec<usize> = row.iter().map(|(at, _)| *at).collect();
        let mut at = 0..;
        runs.retain(|_| at.next().is_some_and(|at| !used.contains(&at)));
    }
}

/// Returns the runs of digits in the messages that are free or telephone numbers of their own.
fn runs(leaves: &[LeafOf]) -> Vec<Digits> {
    static RUN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[0-9](?:[ .\-/()\u{a0}]{0,3}[0-9])*").expect("a valid pattern"));
    let mut runs = Vec::new();
    for (at, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.place == Place::Question) {
        for run in RUN.find_iter(&leaf.text) {
            let letters: Vec<char> = run.as_str().chars().filter(char::is_ascii_digit).collect();
            let place = run.range();
            let mut meeting =
                leaf.found.iter().filter(|value| value.start < place.end && place.start < value.end);
            let is_free = meeting.all(|value| {
                value.kind == PrivacyKind::Phone && place.start <= value.start && value.end <= place.end
            });
            if is_free && DIGITS.contains(&letters.len()) && runs.len() < MAX_RUNS {
                runs.push(Digits { leaf: at, place, letters });
            }
        }
    }
    runs
}

/// Lays runs of later and later messages from letter `from` to the end of the number.
fn cover(
    original: &Original,
    from: usize,
    runs: &[Digits],
    row: &mut Vec<(usize, usize)>,
    steps: &mut usize,
) -> bool {
    let rest = &original.letters[from..];
    if rest.is_empty() {
        return row.len() > 1;
    }
    let last = row.last().map(|(at, _)| runs[*at].leaf);
    for (at, run) in runs.iter().enumerate() {
        *steps += 1;
        if *steps > MAX_STEPS {
            return false;
        }
        if last.is_some_and(|last| run.leaf <= last) || !rest.starts_with(&run.letters) {
            continue;
        }
        row.push((at, from));
        if cover(original, from + run.letters.len(), runs, row, steps) {
            return true;
        }
        row.pop();
    }
    false
}
