//! Examples of each reason, drawn by the seed of the run, with the texts that a reader compares: a merged row beside its
//! leader, a value before and after an edit, a held row beside its evidence.
//!
//! A draw depends only on seed and row, so equal runs draw the same rows. Texts are those of the end of the run, and are
//! quoted only after redaction, cut to a fixed length, and fewer are shown if there are many reasons: the size of a page does not depend on
//! that of the log. Of rows that
//! overlap a public set, text is quoted only if the licences of all sets that were compared allow that; the record is quoted
//! if the licence of its own set does. The report's file has one example a reason; these are on the page only.

pub(super) mod difference;
mod texts;

use std::collections::BTreeMap;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub use difference::{Marked, Piece};
pub(super) use texts::{Texts, described};

use self::difference::{compared, plain};
use super::quote;
use crate::engine::corpus::RowId;
use crate::engine::ledger::Event;
use crate::engine::vocabulary::{Action, TableId};
use crate::text::visible::visible;

/// The examples of a reason.
pub const MOST: usize = 10;

/// An example as a page shows it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shown {
    /// The id of the row, by which `why` finds it.
    pub row_id: String,
    /// What was measured, and how much.
    pub score: Option<(String, f64)>,
    /// The row's text, or the value before an edit.
    pub here: Marked,
    /// The text beside it: that of the leader, or the value after an edit.
    pub beside: Marked,
    /// What is beside it: the id of the leader, the place of an edit, the record of a public set.
    pub name: Option<String>,
    /// The evidence: what the stage found, or what a judge saw.
    pub evidence: Option<String>,
}

/// The most bytes that all examples together may take of a page: with the rest of it that is less than a megabyte, whatever the texts
/// and however many the reasons.
const MAX_BYTES: usize = 500_000;
/// Bytes of the markup of an example, and of a mark.
const MARKUP_BYTES: usize = 200;
const MARK_BYTES: usize = 11;

impl Shown {
    /// How many bytes of a page it takes, or a few more.
    fn bytes(&self) -> usize {
        // The longest entity has six bytes, and hidden characters are escaped.
        let text = |text: &str| {
            visible(text).len() + 5 * text.bytes().filter(|byte| b"&<>\"".contains(byte)).count()
        };
        let piece = |piece: &Piece| text(&piece.text) + if piece.is_different { MARK_BYTES } else { 0 };
        let pieces: usize = self.here.iter().chain(&self.beside).map(piece).sum();
        let others = [self.name.as_deref(), self.evidence.as_deref()].into_iter().flatten();
        MARKUP_BYTES + pieces + others.map(text).sum::<usize>()
    }
}

/// Leaves as many examples of each reason as all of them have room for; if there is not room for one each, the first reasons have one.
pub(super) fn bounded<'e>(reasons: impl IntoIterator<Item = &'e mut Vec<Shown>>) {
    let reasons: Vec<&mut Vec<Shown>> = reasons.into_iter().collect();
    let fits = |most: usize| {
        let of_reason = |all: &&mut Vec<Shown>| all.iter().take(most).map(Shown::bytes).sum::<usize>();
        reasons.iter().map(of_reason).sum::<usize>() <= MAX_BYTES
    };
    let most = (1..=MOST).rev().find(|&most| fits(most)).unwrap_or(1);
    let mut room = MAX_BYTES;
    for all in reasons {
        all.truncate(most);
        match room.checked_sub(all.iter().map(Shown::bytes).sum()) {
            Some(left) => room = left,
            None => all.clear(),
        }
    }
}

/// A row that was drawn.
#[derive(Debug, Clone)]
struct Drawn {
    into: Option<u128>,
    score: Option<(String, f64)>,
    evidence: Option<String>,
    patch: Option<String>,
}

/// The rows of a reason that are drawn so far: those with the smallest draws.
#[derive(Debug, Clone, Default)]
pub(super) struct Draws {
    rows: BTreeMap<(u64, u128), Drawn>,
}

impl Draws {
    /// Draws a row, if its draw is among the smallest.
    pub(super) fn add(&mut self, seed: u64, event: &Event<'_>) {
        let id = event.row_id.0;
        let key = (xxh3_64_with_seed(&id.to_le_bytes(), seed), id);
        let is_late =
            self.rows.len() == MOST && self.rows.last_key_value().is_some_and(|(last, _)| key > *last);
        // Of several edits of a row the first is shown.
        if is_late || self.rows.contains_key(&key) {
            return;
        }
        let drawn = Drawn {
            into: event.into.map(|into| into.0),
            score: event.score.map(|(metric, score)| (metric.to_owned(), score)),
            evidence: event.evidence.map(str::to_owned),
            patch: event.edit.map(|edit| edit.patch.to_owned()),
        };
        self.rows.insert(key, drawn);
        if self.rows.len() > MOST {
            self.rows.pop_last();
        }
    }

    /// The rows whose texts are needed.
    pub(super) fn rows(&self) -> impl Iterator<Item = u128> + '_ {
        self.rows.iter().flat_map(|((_, id), drawn)| [Some(*id), drawn.into]).flatten()
    }

    /// Returns the examples of rows of this table with this action and reason.
    pub(super) fn shown(&self, table: TableId, action: &str, reason: &str, texts: &Texts) -> Vec<Shown> {
        let shown = |(&(_, id), drawn): (&(u64, u128), &Drawn)| {
            let mut shown =
                Shown { row_id: RowId(id).to_string(), score: drawn.score.clone(), ..Shown::default() };
            let json = |text: &String| serde_json::from_str::<Value>(text).ok();
            if let Some(change) = drawn.patch.as_ref().and_then(json).as_ref().and_then(quote::change) {
                (shown.here, shown.beside) = compared(&change.before, &change.after);
                shown.name = Some(change.place);
                return shown;
            }
            let evidence =
                || drawn.evidence.as_ref().and_then(json).and_then(|found| quote::all(reason, &found));
            let text = |id: u128| texts.of(table, id);
            if !quote::is_overlap(reason) {
                shown.evidence = evidence();
            }
            if quote::is_overlap(reason) {
                shown.name = texts.record(id).or_else(evidence);
                let here = text(id).filter(|_| texts.may_quote_overlaps());
                match (here, texts.record_text(id)) {
                    (Some(here), Some(record)) => (shown.here, shown.beside) = compared(here, record),
                    (here, record) => {
                        shown.here = here.map(plain).unwrap_or_default();
                        shown.beside = record.map(plain).unwrap_or_default();
                    }
                }
            } else if let Some(into) = drawn.into {
                shown.name = Some(RowId(into).to_string());
                let (here, beside) = (text(id).unwrap_or_default(), text(into).unwrap_or_default());
                (shown.here, shown.beside) = compared(here, beside);
            } else {
                shown.here = text(id).map(plain).unwrap_or_default();
                if action == Action::Hold.name() {
                    shown.beside = texts.offered(table, id).map(plain).unwrap_or_default();
                }
            }
            shown
        };
        self.rows.iter().map(shown).collect()
    }
}
