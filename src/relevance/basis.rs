//! What a judgement rests on, read from the column `relevance_basis`.
//!
//! A label that a person, the log's answers or a rule of form shows can be scored. One that
//! rests on the text alone is a guess with a known share of errors, and is kept apart.

use serde_json::Value;

use super::Relevance;
use super::evidence::Evidence;
use super::low_quality;

/// Something other than the text shows the label: a person, an answer of the log that speaks for it, or a rule that
/// holds whatever the functions are. A basis that is not there shows nothing.
pub fn is_shown(relevance: Relevance, basis: Option<&Value>) -> bool {
    let Some(basis) = basis else { return false };
    let by_rule = basis["low_quality"].as_str().is_some_and(low_quality::is_certain);
    let by_a_person = ["answered_by", "labelled_by"].iter().any(|key| basis.get(key).is_some());
    by_rule
        || by_a_person
        || Evidence::from_json(&basis["evidence"]).supports(relevance == Relevance::Relevant)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_label_is_shown_by_a_person_a_rule_of_form_or_an_answer_that_speaks_for_it() {
        let (called, declined) = (json!({"called": 1}), json!({"declined": 2}));
        for (relevance, basis, expected) in [
            (Relevance::Irrelevant, json!({"evidence": declined}), true),
            (Relevance::Irrelevant, json!({"evidence": called}), false),
            (Relevance::Irrelevant, json!({"evidence": {"declined": 0, "called": 0}}), false),
            (Relevance::Irrelevant, json!({}), false),
            (Relevance::Relevant, json!({"evidence": called}), true),
            (Relevance::Relevant, json!({"evidence": declined}), false),
            (Relevance::Relevant, json!({"answered_by": "a person"}), true),
            (Relevance::Irrelevant, json!({"labelled_by": "a person"}), true),
            (Relevance::LowQuality, json!({"low_quality": "placeholder"}), true),
            (Relevance::LowQuality, json!({"low_quality": "lone-word"}), false),
            (Relevance::LowQuality, json!({"low_quality": "lone-word", "evidence": declined}), true),
        ] {
            assert_eq!(is_shown(relevance, Some(&basis)), expected, "{relevance:?} {basis}");
        }
        assert!(!is_shown(Relevance::Irrelevant, None));
    }
}
