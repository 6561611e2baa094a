//! The basis of a relevance label, read from the column `relevance_basis`.
//!
//! A label that is supported by a person, a recorded answer or a rule about the form of the query
//! can be scored. A label from the text alone is an estimate with a known error rate; the export
//! separates it.

use serde_json::Value;

use super::Relevance;
use super::evidence::LogEvidence;
use super::low_quality;

/// The highest probability by the text at which a declined request is certainly irrelevant.
const MOST_BY_TEXT: f64 = 0.3;

/// Returns whether the label is supported by more than the text: by a person, a recorded answer, or a rule that does
/// not depend on the functions. Without a basis, returns `false`.
///
/// A request that was declined and whose text leaves both open is irrelevant, but its label is not shown.
pub fn is_shown(relevance: Relevance, basis: Option<&Value>) -> bool {
    let Some(basis) = basis else { return false };
    let by_rule = basis["low_quality"].as_str().is_some_and(low_quality::is_certain);
    let by_a_person = ["answered_by", "labelled_by"].iter().any(|key| basis.get(key).is_some());
    // Models decline what they could do, too, so a label of irrelevant needs a text that speaks for it.
    let text_allows = relevance == Relevance::Relevant
        || basis["by_text"].as_f64().is_none_or(|by_text| by_text <= MOST_BY_TEXT);
    by_rule
        || by_a_person
        || text_allows
            && LogEvidence::from_json(&basis["evidence"]).supports(relevance == Relevance::Relevant)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_label_is_supported_by_a_person_a_rule_of_form_or_a_recorded_answer() {
        let (called, declined) = (json!({"called": 1}), json!({"declined": 2}));
        for (relevance, basis, expected) in [
            (Relevance::Irrelevant, json!({"evidence": declined, "by_text": 0.29}), true),
            (Relevance::Irrelevant, json!({"evidence": declined, "by_text": 0.45}), false),
            (Relevance::Relevant, json!({"evidence": called, "by_text": 0.45}), true),
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
