//! The decisions of the page that change a row, from the words of decision files.

use callsieve_review::item::{Accept, Job};
use callsieve_review::store::Verdict;
use serde_json::Value;

use super::Kind;
use super::evidence::Earlier;
use super::item::{DISPUTED, KEPT, UNVERIFIED};
use crate::bfcl::category::Category;
use crate::decisions::{OF_AN_ENTRY, decisions_on_held};
use crate::engine::fate::Fate;
use crate::engine::vocabulary::{Action, TableId};
use crate::relevance::Relevance;

/// What can be decided on a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Possible {
    pub(super) decisions: Vec<Verdict>,
    pub(super) accept: Option<Accept>,
    pub(super) labels: Vec<String>,
}

/// What is known about a row.
pub(super) struct Facts<'a> {
    pub(super) job: Job,
    pub(super) kind: Kind,
    /// Why it was on the page when a reviewer decided on it last, if one did.
    pub(super) earlier: Option<&'a Earlier>,
    pub(super) table: TableId,
    pub(super) fate: Option<Fate>,
    /// The recorded or drafted answer; null without one.
    pub(super) answer: &'a Value,
    /// Whether that answer fits the docs.
    pub(super) is_answer_valid: bool,
    pub(super) category: Option<&'a str>,
    /// Whether a request with a call was merged into it.
    pub(super) has_copies: bool,
    /// Whether the doc list of a request can be edited.
    pub(super) has_editable_list: bool,
}

/// The labels of a relabel, in the order of their digits on the page.
const LABELS: [&str; 2] = ["relevant", "irrelevant"];

impl Possible {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let words = facts.words();
        let has = |word: &str| words.contains(&word);
        let labels: Vec<String> = LABELS.into_iter().filter(|label| has(label)).map(str::to_owned).collect();
        let accept = facts.accept(&words);
        let possible = [
            (Verdict::Accept, accept.is_some()),
            (Verdict::Drop, has("drop")),
            (Verdict::Relabel, !labels.is_empty()),
            (Verdict::Answer, has("answer")),
            (Verdict::EditDoc, has("edit") || (facts.has_editable_list && facts.may_edit_list())),
        ];
        let decisions = possible.into_iter().filter(|(_, is)| *is).map(|(verdict, _)| verdict).collect();
        Self { decisions, accept, labels }
    }
}

impl Facts<'_> {
    /// The decisions that can change the row, in the words of decision files.
    fn words(&self) -> Vec<&'static str> {
        match (self.kind, self.fate) {
            (Kind::Held, Some(fate)) => {
                decisions_on_held(self.table, fate.reason.code, !self.answer.is_null(), self.has_copies)
            }
            // A stage that may be overruled keeps the row. Functions that cannot be read may be written again.
            (Kind::Sampled, Some(fate)) => {
                let is_parse = self.table == TableId::DocLists && fate.reason.code.starts_with("parse/");
                // A list that is kept beside its near duplicate is merged by a later stage.
                let is_merged_list = self.table == TableId::DocLists && fate.action == Action::Merge;
                match (is_parse, fate.reason.binding || is_merged_list) {
                    (true, _) => vec!["edit"],
                    (false, true) => Vec::new(),
                    (false, false) => vec!["keep"],
                }
            }
            (Kind::Kept | Kind::Disputed, _) => vec!["drop"],
            (Kind::Decided, _) => self.words_again(),
            _ => OF_AN_ENTRY.to_vec(),
        }
    }

    /// The decisions on a row for which a decision was applied: those that it had before, as another one replaces the first.
    fn words_again(&self) -> Vec<&'static str> {
        let Some(Earlier { reason, is_keep }) = self.earlier else {
            return match (self.job, self.table) {
                (Job::Audit, _) => vec!["keep", "drop"],
                (Job::Instructions, _) => vec!["drop"],
                (_, TableId::DocLists) => vec!["keep", "drop", "edit"],
                (_, TableId::Requests) => {
                    vec!["accept", "keep", "answer", "relevant", "irrelevant", "drop"]
                }
            };
        };
        if [KEPT.0, DISPUTED.0].contains(&reason.as_str()) {
            return vec!["drop"];
        }
        if reason == UNVERIFIED.0 {
            return OF_AN_ENTRY.to_vec();
        }
        let mut words = decisions_on_held(self.table, reason, !self.answer.is_null(), self.has_copies);
        // A stage had dropped or merged it.
        if *is_keep && !words.contains(&"keep") {
            words.push("keep");
        }
        words
    }

    /// Whether an edit of its doc list is of use to the request.
    fn may_edit_list(&self) -> bool {
        self.job == Job::Log && !matches!(self.kind, Kind::Sampled | Kind::Kept | Kind::Disputed)
    }

    fn accept(&self, words: &[&str]) -> Option<Accept> {
        let label = match self.category.and_then(Category::from_name) {
            Some(Category::Irrelevance) => Some(Relevance::Irrelevant.name()),
            Some(Category::Relevance) => Some(Relevance::Relevant.name()),
            _ => None,
        };
        let has_answer = !self.answer.is_null();
        if words.contains(&"accept") {
            match label {
                Some(label) => return Some(Accept::Label(label.to_owned())),
                // A run would not apply another one.
                None if has_answer && self.is_answer_valid => {
                    return Some(Accept::Answer(self.answer.clone()));
                }
                None => {}
            }
        }
        // A held answer that fits the docs may be right: it only lacks confirmation.
        let is_held = matches!(self.kind, Kind::Held | Kind::Decided);
        if words.contains(&"answer") && has_answer && self.is_answer_valid && is_held {
            return Some(Accept::Answer(self.answer.clone()));
        }
        words.contains(&"keep").then_some(Accept::Keep)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decisions::possible_decisions;
    use crate::stages::Registry;

    fn held(table: TableId, code: &str, answer: &Value) -> Possible {
        held_with(table, code, answer, true)
    }

    fn held_with(table: TableId, code: &str, answer: &Value, has_copies: bool) -> Possible {
        let registry = Registry::standard();
        let reasons = registry.reasons();
        let (_, reason) = reasons.iter().find(|(_, reason)| reason.code == code).unwrap();
        let fate = Fate { action: Action::Hold, stage: 0, reason, into: None };
        Possible::of(&Facts {
            job: Job::Log,
            kind: Kind::Held,
            earlier: None,
            table,
            fate: Some(fate),
            answer,
            is_answer_valid: true,
            category: None,
            has_copies,
            has_editable_list: false,
        })
    }

    #[test]
    fn every_word_that_can_change_a_held_row_is_a_decision_of_the_page() {
        for (_, reason) in Registry::standard().reasons() {
            for table in [TableId::Requests, TableId::DocLists] {
                for answer in [Value::Null, json!([{"f": {}}])] {
                    let possible = held(table, reason.code, &answer);
                    for word in possible_decisions(table, reason.code, !answer.is_null()) {
                        let is_there = match *word {
                            "keep" | "accept" => possible.decisions.contains(&Verdict::Accept),
                            "drop" => possible.decisions.contains(&Verdict::Drop),
                            "answer" => possible.decisions.contains(&Verdict::Answer),
                            "edit" => possible.decisions.contains(&Verdict::EditDoc),
                            label => possible.labels.iter().any(|known| known == label),
                        };
                        assert!(is_there, "{} {word}: {possible:?}", reason.code);
                    }
                    assert!(!possible.decisions.is_empty(), "{}", reason.code);
                    assert_eq!(possible.accept.is_some(), possible.decisions.contains(&Verdict::Accept));
                }
            }
        }
    }

    #[test]
    fn accepting_means_the_answer_if_there_is_one_and_keeping_otherwise() {
        let answer = json!([{"f": {"a": [1]}}]);
        let accept = |table, code, answer| held(table, code, answer).accept;
        assert_eq!(
            accept(TableId::Requests, "relevance/unsure", &answer),
            Some(Accept::Answer(answer.clone()))
        );
        assert_eq!(accept(TableId::Requests, "relevance/unsure", &Value::Null), Some(Accept::Keep));
        assert_eq!(accept(TableId::Requests, "split/no-answer", &Value::Null), None);
        assert_eq!(accept(TableId::DocLists, "docs/open-vote", &Value::Null), Some(Accept::Keep));
    }

    #[test]
    fn a_decided_row_has_the_decisions_that_it_had_before() {
        use TableId::{DocLists, Requests};
        use Verdict::{Accept, Answer, Drop, EditDoc, Relabel};

        let answer = json!([{"f": {"a": [1]}}]);
        let decided = |job, table, earlier: Option<(&str, bool)>| {
            let earlier = earlier.map(|(reason, is_keep)| Earlier { reason: reason.to_owned(), is_keep });
            let possible = Possible::of(&Facts {
                job,
                kind: Kind::Decided,
                earlier: earlier.as_ref(),
                table,
                fate: None,
                answer: &answer,
                is_answer_valid: true,
                category: None,
                has_copies: false,
                has_editable_list: true,
            });
            possible.decisions
        };
        for (job, table, earlier, expected) in [
            (Job::Instructions, Requests, Some(("kept", false)), vec![Drop]),
            (Job::Instructions, Requests, Some(("instruct/surplus", false)), vec![Accept, Drop]),
            (Job::Instructions, Requests, None, vec![Drop]),
            (Job::Audit, Requests, Some(("overlap/benchmark-suspect", true)), vec![Accept, Drop]),
            (Job::Audit, Requests, None, vec![Accept, Drop]),
            (
                Job::Log,
                Requests,
                Some(("answer/not-in-enum", false)),
                vec![Accept, Drop, Relabel, Answer, EditDoc],
            ),
            (Job::Log, Requests, Some(("spam/noise", true)), vec![Accept, Drop, EditDoc]),
            (Job::Log, DocLists, Some(("docs/open-vote", false)), vec![Accept, Drop, EditDoc]),
        ] {
            assert_eq!(decided(job, table, earlier), expected, "{earlier:?}");
        }
    }

    #[test]
    fn a_request_without_any_answer_is_not_kept_in_vain() {
        let possible = held_with(TableId::Requests, "relevance/unsure", &Value::Null, false);
        assert_eq!(possible.decisions, [Verdict::Drop, Verdict::Relabel, Verdict::Answer]);
        assert_eq!((possible.accept, possible.labels), (None, vec!["irrelevant".to_owned()]));
    }
}
