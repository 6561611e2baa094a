//! How reviewers agree, and the rows on which they do not.
//!
//! Agreement counts only decisions that were made before the reviewer was shown those of others. A row counts if both decided on the same
//! content; skipping is no decision. Kappa compares the kinds of decisions and the labels; disagreements compare the whole effect.

use std::collections::BTreeMap;

use callsieve_judge::agreement::{Kappa, agreement};
use serde::Serialize;
use serde_json::Value;

use super::export::Effect;
use super::line::{Line, Verdict};
use super::{History, Reviews};

/// How two reviewers agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairAgreement {
    /// The first reviewer.
    pub first: String,
    /// The second reviewer.
    pub second: String,
    /// Rows that both decided.
    pub n_rows: usize,
    /// Rows with the same kind of decision.
    pub n_equal: usize,
    /// Cohen's kappa with its 95 % interval; none without rows, or if both have one and the same class only.
    pub kappa: Option<Kappa>,
    /// The classes: rows and columns of `confusion`.
    pub classes: Vec<String>,
    /// The number of rows by the class of the first reviewer, then by that of the second.
    pub confusion: Vec<Vec<usize>>,
}

/// A row on which reviewers disagree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    /// The request id or list id.
    pub id: String,
    /// The decisions on it, by reviewer.
    pub decisions: Vec<Line>,
}

impl Reviews {
    /// Returns the agreement of each two reviewers.
    pub fn agreement(&self) -> Vec<PairAgreement> {
        let mut pairs = Vec::new();
        for (at, (first, one)) in self.by_reviewer.iter().enumerate() {
            for (second, other) in self.by_reviewer.iter().skip(at + 1) {
                pairs.push(pair(first, one, second, other));
            }
        }
        pairs
    }

    /// Returns the rows that a reviewer and others decided differently, by id. Rows that he has not decided are not among them.
    pub fn disagreements(&self, reviewer: &str) -> Vec<Disagreement> {
        let Some(own) = self.by_reviewer.get(reviewer) else { return Vec::new() };
        let mut found = Vec::new();
        for mine in own.iter().filter(|line| line.decision != Verdict::Skip) {
            let others = self.by_reviewer.iter().filter(|(name, _)| *name != reviewer);
            let others = others.filter_map(|(_, history)| history.get(&mine.id));
            let differs = |line: &&Line| {
                line.was == mine.was && line.decision != Verdict::Skip && Effect::of(line) != Effect::of(mine)
            };
            let others: Vec<&Line> = others.filter(differs).collect();
            if !others.is_empty() {
                let decisions = [mine].into_iter().chain(others).cloned().collect();
                found.push(Disagreement { id: mine.id.clone(), decisions });
            }
        }
        found
    }
}

fn pair(first: &str, one: &History, second: &str, other: &History) -> PairAgreement {
    let (one, other) = (one.blind(), other.blind());
    let mut classes = [BTreeMap::new(), BTreeMap::new()];
    for (id, line) in &one {
        let Some(other) = other.get(id).filter(|other| other.was == line.was) else { continue };
        if line.decision != Verdict::Skip && other.decision != Verdict::Skip {
            classes[0].insert((*id).to_owned(), class(line));
            classes[1].insert((*id).to_owned(), class(other));
        }
    }
    let found = agreement(&classes[0], &classes[1]);
    PairAgreement {
        first: first.to_owned(),
        second: second.to_owned(),
        n_rows: found.agreement.whole,
        n_equal: found.agreement.part,
        kappa: found.kappa,
        classes: found
            .classes
            .iter()
            .map(|(verdict, label)| format!("{verdict} {label}").trim_end().to_owned())
            .collect(),
        confusion: found.confusion,
    }
}

/// The class of a decision: its kind, and the label of a relabel. Accepting a label or an answer is that label or an answer, since the row
/// shows what another reviewer has decided once a run has applied it.
fn class(line: &Line) -> (&'static str, &str) {
    let kind = match (line.decision, &line.value) {
        (Verdict::Accept, Value::String(_)) => Verdict::Relabel,
        (Verdict::Accept, Value::Array(_)) => Verdict::Answer,
        (decision, _) => decision,
    };
    let label = if kind == Verdict::Relabel { line.value.as_str() } else { None };
    (kind.name(), label.unwrap_or_default())
}
