//! What language models' instructions became, by stratum, model and reason: the note `yields` of stages that ask for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The name of the note.
pub const YIELDS_NOTE: &str = "yields";
/// The outcome of an instruction that passed.
pub const PASSED: &str = "passed";

/// Instructions by stratum, by model, and by what became of them: [`PASSED`] or the code of a reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Yields(pub BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>);

impl Yields {
    /// Counts an instruction.
    pub(super) fn count(&mut self, stratum: &str, model: &str, outcome: &str) {
        self.add(stratum, model, outcome, 1);
    }

    /// Returns how many instructions have an outcome.
    pub(super) fn of(&self, outcome: &str) -> u64 {
        let models = self.0.values().flat_map(BTreeMap::values);
        models.filter_map(|outcomes| outcomes.get(outcome)).sum()
    }

    fn add(&mut self, stratum: &str, model: &str, outcome: &str, n: u64) {
        let of_stratum = self.0.entry(stratum.to_owned()).or_default();
        *of_stratum.entry(model.to_owned()).or_default().entry(outcome.to_owned()).or_default() += n;
    }

    /// Joins the notes of the parts of a stage; `None` if one of them is no such note.
    pub(super) fn joined(notes: Vec<Value>) -> Option<Value> {
        let mut sum = Self::default();
        for note in notes {
            let Self(strata) = serde_json::from_value(note).ok()?;
            for (stratum, models) in strata {
                for (model, outcomes) in models {
                    for (outcome, n) in outcomes {
                        sum.add(&stratum, &model, &outcome, n);
                    }
                }
            }
        }
        Some(json!(sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notes_of_parts_add_up() {
        let mut one = Yields::default();
        one.count("single", "m", PASSED);
        one.count("single", "m", "wording/refusal");
        let joined = Yields::joined(vec![json!(one), json!(one)]).unwrap();
        assert_eq!(joined, json!({"single": {"m": {"passed": 2, "wording/refusal": 2}}}));
        assert_eq!(Yields::joined(vec![json!(3)]), None);
    }
}
