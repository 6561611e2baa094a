//! What judges say about the answer of an instruction, and whether they agree.

use std::collections::{BTreeMap, BTreeSet};

use callsieve_judge::passing::{PassLabel, PassTally};
use callsieve_judge::votes::Decision;
use callsieve_review::item::JudgeView;
use serde::Deserialize;
use serde_json::Value;

/// The votes on the answer of an instruction, as `judge-solutions` writes them.
#[derive(Debug, Deserialize)]
pub(super) struct Judgements {
    /// The number of the attempt, from 0.
    pub(super) attempt: usize,
    decision: Decision<PassLabel>,
    models: BTreeMap<String, PassTally>,
}

impl Judgements {
    /// Whether two votes differ, of one model or of several.
    pub(super) fn disagree(&self) -> bool {
        let labels: BTreeSet<PassLabel> =
            self.models.values().flat_map(|tally| tally.votes.keys().copied()).collect();
        labels.len() > 1
    }

    /// Returns the votes as the page shows them: a line for each model.
    pub(super) fn view(&self) -> JudgeView {
        let line = |(model, tally): (&String, &PassTally)| {
            let votes = tally.votes.iter().map(|(label, n)| format!("{} {n}", word(*label)));
            let unreadable = (tally.unreadable > 0).then(|| format!("not readable {}", tally.unreadable));
            format!("{model}: {}", votes.chain(unreadable).collect::<Vec<_>>().join(", "))
        };
        JudgeView {
            model: self.models.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
            prompt: format!(
                "The instruction, its functions, and attempt {} with calls, results and answer.",
                self.attempt + 1
            ),
            reply: self.models.iter().map(line).collect::<Vec<_>>().join("\n"),
            verdict: match self.decision {
                Decision::Class(label) => word(label),
                Decision::Tie => "tie".to_owned(),
                Decision::NoVotes => "no votes".to_owned(),
            },
        }
    }
}

/// The word of a label in files.
fn word(label: PassLabel) -> String {
    serde_json::to_value(label).ok().as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn judges_disagree_if_two_votes_differ_and_an_unreadable_reply_is_no_vote() {
        let of = |models: Value| {
            let cell = json!({"attempt": 0, "rules": "tooleval", "decision": "tie", "models": models});
            serde_json::from_value::<Judgements>(cell).unwrap()
        };
        let tally = |votes: Value, unreadable: usize| json!({"votes": votes, "unreadable": unreadable});
        assert!(
            !of(json!({"a": tally(json!({"pass": 3}), 1), "b": tally(json!({"pass": 1}), 0)})).disagree()
        );
        assert!(!of(json!({"a": tally(json!({}), 3)})).disagree());
        assert!(of(json!({"a": tally(json!({"pass": 2, "fail": 1}), 0)})).disagree());
        let several = of(json!({"a": tally(json!({"pass": 1}), 0), "b": tally(json!({"fail": 1}), 2)}));
        assert!(several.disagree());
        let view = several.view();
        assert_eq!((view.model.as_str(), view.verdict.as_str()), ("a, b", "tie"));
        assert_eq!(view.reply, "a: pass 1\nb: fail 1, not readable 2");
    }
}
