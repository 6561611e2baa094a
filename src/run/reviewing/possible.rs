//! The decisions of the page that change a row, from the words of decision files.

use callsieve_review::item::Accept;
use callsieve_review::store::Verdict;
use serde_json::Value;

use super::Kind;
use crate::bfcl::category::Category;
use crate::decisions::{OF_AN_ENTRY, possible_decisions};
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
    pub(super) kind: Kind,
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

/// The reason of requests of which it is unclear whether a function fits.
const UNSURE: &str = "relevance/unsure";

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
            (Verdict::EditDoc, has("edit") || (facts.has_editable_list && !facts.is_sampled())),
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
                let has_answer = !self.answer.is_null();
                let words = possible_decisions(self.table, fate.reason.code, has_answer).iter().copied();
                // Without any answer the next stage would hold a request that is kept or labelled as relevant.
                let is_labelled = fate.reason.code == UNSURE && !has_answer && !self.has_copies;
                words.filter(|word| !is_labelled || !["keep", "relevant"].contains(word)).collect()
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
            (Kind::Decided, _) if self.table == TableId::DocLists => vec!["keep", "drop", "edit"],
            (Kind::Decided, _) => vec!["accept", "keep", "answer", "relevant", "irrelevant", "drop"],
            _ => OF_AN_ENTRY.to_vec(),
        }
    }

    fn is_sampled(&self) -> bool {
        matches!(self.kind, Kind::Sampled | Kind::Kept | Kind::Disputed)
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
        if words.contains(&"answer") && has_answer && self.is_answer_valid && self.kind == Kind::Held {
            return Some(Accept::Answer(self.answer.clone()));
        }
        words.contains(&"keep").then_some(Accept::Keep)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
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
            kind: Kind::Held,
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
    fn a_request_without_any_answer_is_not_kept_in_vain() {
        let possible = held_with(TableId::Requests, "relevance/unsure", &Value::Null, false);
        assert_eq!(possible.decisions, [Verdict::Drop, Verdict::Relabel, Verdict::Answer]);
        assert_eq!((possible.accept, possible.labels), (None, vec!["irrelevant".to_owned()]));
    }
}
