//! Pass rates after `ToolEval` and `StableToolBench`.
//!
//! A judge decides whether the task can be solved and whether the answer solves it; a truth table makes a label of the two. `ToolEval`'s
//! program flips a coin for an unsure label and breaks ties at random; here both stay classes of their own, and the rate has bounds.
//! Source: `ToolLLM` (arXiv 2307.16789), appendix A.5, and the program of its repository; `StableToolBench` (arXiv 2403.07714).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::verdict::{Unreadable, Verdict};
use crate::votes::{Decision, Rate, Tally};

/// Whether a task can be solved with the functions on offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Solvability {
    /// It can be solved.
    Solvable,
    /// It cannot be solved.
    Unsolvable,
    /// The judge is not sure.
    Unsure,
}

/// Whether an answer solves its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerStatus {
    /// The answer solves the task.
    Solved,
    /// The answer does not, or there is none.
    Unsolved,
    /// The judge is not sure.
    Unsure,
}

impl Verdict for Solvability {
    const WORDS: &'static [(&'static str, Self)] =
        &[("solvable", Self::Solvable), ("unsolvable", Self::Unsolvable), ("unsure", Self::Unsure)];
}

impl Verdict for AnswerStatus {
    const WORDS: &'static [(&'static str, Self)] =
        &[("solved", Self::Solved), ("unsolved", Self::Unsolved), ("unsure", Self::Unsure)];
}

/// Whether a path passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassLabel {
    /// It passes.
    Pass,
    /// It fails.
    Fail,
    /// The verdicts do not decide.
    Unsure,
}

/// The rules that make a label of two verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// `ToolEval`'s program: a path that gives up on a solvable task fails, whatever it tried.
    #[default]
    ToolEval,
    /// The paper: a path that gives up on a solvable task passes if it tried all functions and none helped.
    Paper,
}

/// What a label is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Whether the task can be solved.
    pub solvability: Solvability,
    /// Whether the answer solves it.
    pub status: AnswerStatus,
    /// Whether the path gave up after it tried all functions and none helped; only [`Rules::Paper`] uses it.
    pub exhausted: bool,
}

impl Rules {
    /// Returns the label of a path.
    pub const fn label(self, judgement: Judgement) -> PassLabel {
        use AnswerStatus::{Solved, Unsolved, Unsure};
        let excused = matches!(self, Self::Paper) && judgement.exhausted;
        match (judgement.status, judgement.solvability) {
            (Solved, _) | (Unsolved | Unsure, Solvability::Unsolvable) => PassLabel::Pass,
            (Unsolved, Solvability::Solvable) if excused => PassLabel::Pass,
            (Unsolved, Solvability::Solvable) => PassLabel::Fail,
            (Unsolved | Unsure, _) => PassLabel::Unsure,
        }
    }
}

/// The votes on one path; each sample of a judge is a label or an unreadable reply.
pub type PassTally = Tally<PassLabel>;

/// Returns the votes on a path from samples of two verdicts each: with either unreadable, the sample is unreadable.
pub fn tally(
    rules: Rules,
    exhausted: bool,
    samples: impl IntoIterator<Item = (Result<Solvability, Unreadable>, Result<AnswerStatus, Unreadable>)>,
) -> PassTally {
    // Solved implies solvable, so that verdict is not needed then.
    Tally::of(samples.into_iter().map(|sample| match sample {
        (_, Ok(AnswerStatus::Solved)) => Ok(PassLabel::Pass),
        (solvability, status) => {
            let (solvability, status) = (solvability?, status?);
            Ok::<_, Unreadable>(rules.label(Judgement { solvability, status, exhausted }))
        }
    }))
}

/// A pass rate over items, with its classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassRate {
    /// Items that pass.
    pub passed: usize,
    /// Items that fail.
    pub failed: usize,
    /// Items with most votes for unsure.
    pub unsure: usize,
    /// Items whose votes are tied.
    pub tied: usize,
    /// Items without a readable reply.
    pub without_votes: usize,
    /// Unreadable replies of all items.
    pub unreadable: usize,
    /// Passes of all items: what is undecided counts as a fail. The low bound.
    pub if_undecided_fails: Rate,
    /// Passes of the items that pass or fail.
    pub of_decided: Rate,
    /// All items but the fails: what is undecided counts as a pass. The high bound.
    pub if_undecided_passes: Rate,
}

/// Returns the pass rate of some items.
pub fn pass_rate<'t>(items: impl IntoIterator<Item = &'t PassTally>) -> PassRate {
    let mut counts: BTreeMap<Decision<PassLabel>, usize> = BTreeMap::new();
    let mut unreadable = 0;
    for item in items {
        *counts.entry(item.decision()).or_default() += 1;
        unreadable += item.unreadable;
    }
    let count = |decision| counts.get(&decision).copied().unwrap_or(0);
    let (passed, failed) = (count(Decision::Class(PassLabel::Pass)), count(Decision::Class(PassLabel::Fail)));
    let whole = counts.values().sum();
    PassRate {
        passed,
        failed,
        unsure: count(Decision::Class(PassLabel::Unsure)),
        tied: count(Decision::Tie),
        without_votes: count(Decision::NoVotes),
        unreadable,
        if_undecided_fails: Rate::of(passed, whole),
        of_decided: Rate::of(passed, passed + failed),
        if_undecided_passes: Rate::of(whole - failed, whole),
    }
}

/// `SoPR`, the solvable pass rate: the mean over runs of the mean over answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolvablePassRate {
    /// The mean of the runs, from 0 to 1; 0 without runs.
    pub mean: f64,
    /// The rate of each run that has answers.
    pub runs: Vec<f64>,
}

/// Points of an unsure answer; a solved one has 1.
const UNSURE_POINTS: f64 = 0.5;

/// Returns `SoPR` of some runs of a judge over the answers to solvable tasks.
#[allow(clippy::cast_precision_loss)] // Counts of answers.
pub fn solvable_pass_rate(runs: &[Vec<AnswerStatus>]) -> SolvablePassRate {
    let points = |status: &AnswerStatus| match status {
        AnswerStatus::Solved => 1.0,
        AnswerStatus::Unsure => UNSURE_POINTS,
        AnswerStatus::Unsolved => 0.0,
    };
    let of_run = |run: &Vec<AnswerStatus>| run.iter().map(points).sum::<f64>() / run.len() as f64;
    let runs: Vec<f64> = runs.iter().filter(|run| !run.is_empty()).map(of_run).collect();
    SolvablePassRate { mean: runs.iter().sum::<f64>() / runs.len().max(1) as f64, runs }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STATUS: [AnswerStatus; 3] = [AnswerStatus::Solved, AnswerStatus::Unsolved, AnswerStatus::Unsure];
    const SOLVABILITY: [Solvability; 3] =
        [Solvability::Solvable, Solvability::Unsolvable, Solvability::Unsure];

    fn labels(rules: Rules, exhausted: bool) -> Vec<PassLabel> {
        let pairs = STATUS
            .iter()
            .flat_map(|status| SOLVABILITY.iter().map(move |solvability| (*status, *solvability)));
        pairs.map(|(status, solvability)| rules.label(Judgement { solvability, status, exhausted })).collect()
    }

    #[test]
    fn the_truth_table_has_nine_rows_and_the_rules_differ_in_one() {
        use PassLabel::{Fail, Pass, Unsure};
        let published = [Pass, Pass, Pass, Fail, Pass, Unsure, Unsure, Pass, Unsure];
        assert_eq!(labels(Rules::ToolEval, false), published);
        assert_eq!(labels(Rules::ToolEval, true), published);
        assert_eq!(labels(Rules::Paper, false), published);
        let mut excused = published;
        excused[3] = Pass;
        assert_eq!(labels(Rules::Paper, true), excused);
    }

    #[test]
    fn a_rate_counts_each_class_and_has_bounds() {
        let solvable = Ok(Solvability::Solvable);
        let (solved, unsolved, unsure) =
            (Ok(AnswerStatus::Solved), Ok(AnswerStatus::Unsolved), Ok(AnswerStatus::Unsure));
        let unreadable = Err(Unreadable::NoVerdict);
        let item = |votes: &[Result<AnswerStatus, Unreadable>]| {
            tally(Rules::ToolEval, false, votes.iter().map(|vote| (solvable, *vote)))
        };
        let items = [
            item(&[solved, solved, unsolved, unreadable]),
            item(&[unsolved, unsolved, unsolved, solved]),
            item(&[solved, solved, unsolved, unsolved]),
            item(&[unsure, unsure, unsure, solved]),
            item(&[unreadable, unreadable]),
        ];
        let rate = pass_rate(&items);
        assert_eq!(
            [rate.passed, rate.failed, rate.unsure, rate.tied, rate.without_votes, rate.unreadable],
            [1, 1, 1, 1, 1, 3]
        );
        assert_eq!(
            [rate.if_undecided_fails.part, rate.of_decided.part, rate.if_undecided_passes.part],
            [1, 1, 4]
        );
        assert_eq!(
            [rate.if_undecided_fails.whole, rate.of_decided.whole, rate.if_undecided_passes.whole],
            [5, 2, 5]
        );
    }

    #[test]
    fn a_solved_sample_needs_no_solvability() {
        let sample = (Err(Unreadable::NoVerdict), Ok(AnswerStatus::Solved));
        assert_eq!(tally(Rules::ToolEval, false, [sample]).decision(), Decision::Class(PassLabel::Pass));
    }

    #[test]
    fn the_solvable_pass_rate_is_the_mean_of_runs() {
        let rate = solvable_pass_rate(&[
            vec![AnswerStatus::Solved, AnswerStatus::Unsure],
            vec![AnswerStatus::Unsolved],
            vec![],
        ]);
        assert_eq!(rate, SolvablePassRate { mean: 0.375, runs: vec![0.75, 0.0] });
        assert_eq!(solvable_pass_rate(&[]), SolvablePassRate { mean: 0.0, runs: vec![] });
    }

    proptest! {
        #[test]
        fn bounds_enclose_and_classes_add_up(votes in prop::collection::vec(prop::collection::vec(0_usize..4, 0..6), 0..9)) {
            let of = |vote: &usize| STATUS.get(*vote).copied().ok_or(Unreadable::NoVerdict);
            let items: Vec<PassTally> = votes
                .iter()
                .map(|item| tally(Rules::ToolEval, false, item.iter().map(|vote| (Ok(Solvability::Solvable), of(vote)))))
                .collect();
            let rate = pass_rate(&items);
            let classes = rate.passed + rate.failed + rate.unsure + rate.tied + rate.without_votes;
            prop_assert_eq!(classes, items.len());
            prop_assert!(rate.if_undecided_fails.share <= rate.if_undecided_passes.share);
        }
    }
}
