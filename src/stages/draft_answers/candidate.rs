//! Answers that could stand for a request, and which of them is the best.
//!
//! An answer that fits the docs is better than one that does not, then its rank counts, then who came first.

use serde_json::Value;

use super::docs::Docs;
use crate::answers::carry::ground_truth;
use crate::answers::fault::Uncarried;
use crate::answers::recorded::{Recorded, recorded};
use crate::cells::TypedCells as _;
use crate::columns::{FINISH_REASON, OUTCOME, STATUS};
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::RowIx;

/// How good an answer is; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Human,
    Worked,
    Recorded,
    SeveralSteps,
    Refuted,
    None,
}

/// An answer that could stand for a request.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) rank: Rank,
    pub(super) position: u32,
    pub(super) from: RowIx,
    pub(super) answer: Option<std::result::Result<Vec<Value>, Uncarried>>,
}

impl Candidate {
    /// It is an answer that fits the docs, and the log says nothing against it.
    pub(super) fn is_from_the_log(&self) -> bool {
        matches!(self.rank, Rank::Worked | Rank::Recorded) && matches!(self.answer, Some(Ok(_)))
    }

    /// Those of some placeholders that its answer holds, in whatever punctuation.
    pub(super) fn holding<'p>(&self, placeholders: &'p [String]) -> Vec<&'p str> {
        let Some(Ok(answer)) = &self.answer else { return Vec::new() };
        let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let answer: Vec<String> = answer.iter().map(|call| bare(&call.to_string())).collect();
        let is_held = |placeholder: &&str| answer.iter().any(|call| call.contains(&bare(placeholder)));
        placeholders.iter().map(String::as_str).filter(is_held).collect()
    }

    /// The least is the best.
    fn key(&self) -> (bool, bool, Rank, u32) {
        // What a person says stands, also where it does not fit: then nothing else is taken.
        (self.rank != Rank::Human, !matches!(self.answer, Some(Ok(_))), self.rank, self.position)
    }
}

/// The best answer so far, and those that the log speaks against.
#[derive(Default)]
pub(super) struct Best {
    candidate: Option<Candidate>,
    doubted: Vec<(Rank, Vec<Value>)>,
}

impl Best {
    pub(super) fn hear(&mut self, candidate: Candidate) {
        if let (Rank::Refuted | Rank::SeveralSteps, Some(Ok(answer))) = (candidate.rank, &candidate.answer) {
            self.doubted.push((candidate.rank, answer.clone()));
        }
        if self.candidate.as_ref().is_none_or(|known| candidate.key() < known.key()) {
            self.candidate = Some(candidate);
        }
    }

    /// The best answer. What failed for one of the twins is not taken from another that only did not look; what
    /// a person says stands.
    pub(super) fn answer(self) -> Option<Candidate> {
        let mut best = self.candidate?;
        let doubt = self
            .doubted
            .iter()
            .find(|(_, answer)| best.answer.as_ref().is_some_and(|best| best.as_ref() == Ok(answer)));
        if let (Some((rank, _)), true) = (doubt, best.rank != Rank::Human) {
            best.rank = *rank;
        }
        Some(best)
    }
}

/// The answer that the log has for a row, and of what kind it is.
pub(super) fn recorded_candidate(
    row: Row<'_>,
    head: RowIx,
    docs: &Docs<'_>,
    view: &View<'_>,
) -> (&'static str, Candidate) {
    let (kind, calls) = match recorded(row.response().as_ref(), row.text(FINISH_REASON), row.int(STATUS)) {
        Recorded::Calls(calls) => ("calls", Some(calls)),
        Recorded::Declined => ("declined", None),
        Recorded::Truncated => ("truncated", None),
        Recorded::Failed => ("failed", None),
        Recorded::Unreadable(_) => ("unreadable", None),
        Recorded::Empty => ("empty", None),
    };
    let rank = match (&calls, row.text(OUTCOME)) {
        (None, _) => Rank::None,
        (Some(_), Some("worked")) => Rank::Worked,
        (Some(_), Some("failed")) => Rank::Refuted,
        (Some(_), Some("goes-on")) => Rank::SeveralSteps,
        (Some(_), _) => Rank::Recorded,
    };
    let answer = calls.map(|calls| ground_truth(&docs.renamed(calls, row.ix(), view), docs.of(head)));
    // A twin that fits no better than the request's own record says nothing about it.
    let answer = if row.ix() == head || matches!(answer, Some(Ok(_))) { answer } else { None };
    let rank = if answer.is_none() { Rank::None } else { rank };
    (kind, Candidate { rank, position: view.position(row.ix()), from: row.ix(), answer })
}
