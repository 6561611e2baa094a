//! Figures of judges: pass rates with intervals, and their agreement with execution.

use std::collections::{BTreeMap, BTreeSet};

use callsieve_judge::agreement::{Agreement, agreement};
use callsieve_judge::passing::{AnswerStatus, PassLabel, PassRate, PassTally, pass_rate};
use callsieve_judge::votes::Decision;
use callsieve_judge::winning::WinRate;
use serde::Serialize;

/// The name of the note.
pub(super) const FIGURES_NOTE: &str = "judged";

/// A judged answer.
pub(super) struct Judged {
    pub(super) id: String,
    /// The votes of each model.
    pub(super) votes: BTreeMap<String, PassTally>,
    /// What each model decides.
    pub(super) decisions: BTreeMap<String, Decision<PassLabel>>,
    /// What they decide together.
    pub(super) decision: Decision<PassLabel>,
    /// What execution says, if it says anything.
    pub(super) execution: Option<bool>,
}

/// The figures of a stage.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    /// Answers that were judged.
    n: usize,
    /// The pass rate by the votes of all models together.
    pass_rate: PassRate,
    /// For each model, how many of its votes could be read, and how many not.
    readable: BTreeMap<String, Readable>,
    /// The share that execution says is solved, where it says anything.
    executed: Option<(usize, usize)>,
    /// For each model and for all together (`committee`), the agreement with execution, where both decide.
    agreement_with_execution: BTreeMap<String, Agreement<PassLabel>>,
    /// The same with people, where a file of their verdicts is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    agreement_with_people: Option<BTreeMap<String, Agreement<PassLabel>>>,
    /// The win rate over another run, where one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) win_rate: Option<WinRate>,
}

/// Votes of a model.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
struct Readable {
    votes: usize,
    unreadable: usize,
}

/// The name of all models together.
const COMMITTEE: &str = "committee";

impl Figures {
    /// Returns the figures of judged answers; `people` are verdicts of people by the ids of instructions.
    pub(super) fn of(judged: &[Judged], people: Option<&BTreeMap<String, AnswerStatus>>) -> Self {
        let joined: Vec<PassTally> = judged.iter().map(|one| together(&one.votes)).collect();
        let mut readable = BTreeMap::<String, Readable>::new();
        for (model, tally) in judged.iter().flat_map(|one| &one.votes) {
            let of_model = readable.entry(model.clone()).or_default();
            of_model.votes += tally.votes.values().sum::<usize>();
            of_model.unreadable += tally.unreadable;
        }
        let execution: BTreeMap<String, PassLabel> =
            judged.iter().filter_map(|one| Some((one.id.clone(), label(one.execution?)))).collect();
        let n_solved = execution.values().filter(|label| **label == PassLabel::Pass).count();
        Self {
            n: judged.len(),
            pass_rate: pass_rate(&joined),
            readable,
            executed: (!execution.is_empty()).then_some((n_solved, execution.len())),
            agreement_with_execution: agreements(judged, &execution),
            agreement_with_people: people.map(|people| agreements(judged, &by_people(people))),
            win_rate: None,
        }
    }
}

/// The labels of people's verdicts.
fn by_people(people: &BTreeMap<String, AnswerStatus>) -> BTreeMap<String, PassLabel> {
    let label = |status: &AnswerStatus| match status {
        AnswerStatus::Solved => PassLabel::Pass,
        AnswerStatus::Unsolved => PassLabel::Fail,
        AnswerStatus::Unsure => PassLabel::Unsure,
    };
    people.iter().map(|(id, status)| (id.clone(), label(status))).collect()
}

/// The agreement of each model, and of all together, with what others say of the same answers. Ties are left out.
fn agreements(
    judged: &[Judged],
    truth: &BTreeMap<String, PassLabel>,
) -> BTreeMap<String, Agreement<PassLabel>> {
    if truth.is_empty() {
        return BTreeMap::new();
    }
    let of = |decision: &dyn Fn(&Judged) -> Option<Decision<PassLabel>>| {
        let known = judged.iter().filter(|one| truth.contains_key(&one.id));
        let decided: BTreeMap<String, PassLabel> = known
            .filter_map(|one| match decision(one)? {
                Decision::Class(label) => Some((one.id.clone(), label)),
                Decision::Tie | Decision::NoVotes => None,
            })
            .collect();
        agreement(&decided, truth)
    };
    let models: BTreeSet<&String> = judged.iter().flat_map(|one| one.decisions.keys()).collect();
    let mut all: BTreeMap<String, Agreement<PassLabel>> = models
        .iter()
        .map(|model| ((*model).clone(), of(&|one| one.decisions.get(*model).copied())))
        .collect();
    if models.len() > 1 {
        all.insert(COMMITTEE.to_owned(), of(&|one| Some(one.decision)));
    }
    all
}

fn label(is_solved: bool) -> PassLabel {
    if is_solved { PassLabel::Pass } else { PassLabel::Fail }
}

/// All votes on an answer, of whatever model.
fn together(votes: &BTreeMap<String, PassTally>) -> PassTally {
    let mut all = PassTally { votes: BTreeMap::new(), unreadable: 0 };
    for tally in votes.values() {
        all.unreadable += tally.unreadable;
        for (label, n) in &tally.votes {
            *all.votes.entry(*label).or_default() += n;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(id: &str, label: PassLabel, execution: Option<bool>) -> Judged {
        let decision = Decision::Class(label);
        Judged {
            id: id.to_owned(),
            votes: [("m".to_owned(), PassTally { votes: [(label, 1)].into(), unreadable: 0 })].into(),
            decisions: [("m".to_owned(), decision)].into(),
            decision,
            execution,
        }
    }

    #[test]
    fn judges_are_measured_where_execution_decides() {
        let all = [
            judged("a", PassLabel::Pass, Some(true)),
            judged("b", PassLabel::Pass, Some(false)),
            judged("c", PassLabel::Fail, Some(false)),
            judged("d", PassLabel::Fail, None),
        ];
        let figures = Figures::of(&all, Some(&[("d".to_owned(), AnswerStatus::Unsolved)].into()));
        assert_eq!((figures.n, figures.executed, figures.pass_rate.passed), (4, Some((1, 3)), 2));
        let of_model = &figures.agreement_with_execution["m"];
        assert_eq!((of_model.agreement.part, of_model.agreement.whole), (2, 3));
        assert!(!figures.agreement_with_execution.contains_key(COMMITTEE));
        let people = figures.agreement_with_people.unwrap();
        assert_eq!((people["m"].agreement.part, people["m"].agreement.whole), (1, 1));
    }
}
