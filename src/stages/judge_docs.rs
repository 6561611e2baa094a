//! Drops doc lists whose functions are documented too vaguely to be called; calls `docs::quality`.
//!
//! A good doc has a name, a description, and a type and description for each parameter.
//! Faults that `fix_docs` can repair (types, wrappers, single gaps) are no reason to drop.
//! Single functions are never removed, because that would change what the requests were
//! sent with. A list is dropped when the share of bad functions reaches a limit; by default
//! all functions must be bad.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::cells::TypedCells as _;
use crate::columns::FUNCTIONS;
use crate::docs::fix;
use crate::docs::quality::{Limits, QualityRule, RULES, fault};
use crate::docs::signature::signatures;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{Evidence, Reason, TableId};

static REASONS: LazyLock<Vec<Reason>> =
    LazyLock::new(|| RULES.iter().map(|rule| Reason::policy(rule.code, rule.what)).collect());

fn reason(rule: &QualityRule) -> &'static Reason {
    REASONS.iter().find(|reason| reason.code == rule.code).expect("every rule has a reason")
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeDocs {
    /// Minimum share of bad functions, above 0 and up to 1, at which a list is dropped. Lower drops more.
    pub bad_share: f64,
    /// Maximum share of parameters without a description, from 0 to 1; a function with a larger share is bad. Lower
    /// drops more.
    pub undescribed_share: f64,
    /// Minimum number of parameters for the check of `undescribed_share`. Lower drops more.
    pub undescribed_min: usize,
    /// Minimum number of content words in the description of a function whose name means nothing. Higher drops more.
    pub min_description_words: usize,
}

impl Default for JudgeDocs {
    fn default() -> Self {
        let Limits { undescribed_share, undescribed_min, min_description_words } = Limits::default();
        Self { bad_share: 1.0, undescribed_share, undescribed_min, min_description_words }
    }
}

impl Settings for JudgeDocs {
    const NAME: &'static str = "judge-docs";
    const SUMMARY: &'static str = "Drops doc lists whose functions are documented too vaguely to be called.";
    const FUNNEL_LABEL: &'static str = "docs of good quality";

    fn examples() -> Vec<Example> {
        RULES.iter().map(|rule| Example::functions(rule.code, rule.fires, rule.quiet)).collect()
    }

    fn check(&self) -> std::result::Result<(), String> {
        if !(self.bad_share > 0.0 && self.bad_share <= 1.0) {
            return Err(format!("bad_share must be above 0 and up to 1, not {}", self.bad_share));
        }
        if !(0.0..=1.0).contains(&self.undescribed_share) {
            return Err(format!("undescribed_share must be from 0 to 1, not {}", self.undescribed_share));
        }
        Ok(())
    }
}

impl RowStage for JudgeDocs {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists).reads([FUNCTIONS]).reasons(REASONS.iter()).partition(Partition::Rows)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        fingerprint.version_of("fixes", fix::VERSION);
        Ok(())
    }

    #[allow(clippy::cast_precision_loss)] // Counts of functions.
    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let functions = row.functions();
        let limits = Limits {
            undescribed_share: self.undescribed_share,
            undescribed_min: self.undescribed_min,
            min_description_words: self.min_description_words,
        };
        let signatures = signatures(&functions);
        let bad: Vec<(&str, &QualityRule)> = signatures
            .iter()
            .filter_map(|signature| Some((signature.name.as_str(), fault(signature, limits)?)))
            .collect();
        let Some((_, first)) = bad.first() else { return Opinion::keep() };
        if (bad.len() as f64) < self.bad_share * signatures.len() as f64 {
            return Opinion::keep();
        }
        let faults: Vec<Value> =
            bad.iter().map(|(name, rule)| json!({ "function": name, "fault": rule.code })).collect();
        Opinion::drop(
            reason(first),
            Evidence::detail(json!({ "functions": signatures.len(), "bad": faults })),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_out_of_range_are_refused() {
        let check = |settings: &str| toml::from_str::<JudgeDocs>(settings).unwrap().check();
        assert_eq!(check("bad_share = 0.5"), Ok(()));
        assert!(check("bad_share = 0.0").is_err());
        assert!(check("undescribed_share = 1.5").is_err());
    }
}
