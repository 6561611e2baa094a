//! Drops doc lists whose functions are documented too vaguely to be called; calls `docs::quality`.
//!
//! A good doc has a name, a description, and a type and description for each parameter.
//! Faults that `fix_docs` can repair (types, wrappers, single gaps) are no reason to drop.
//! Single functions are never removed, because that would change what the requests were
//! sent with. A list is dropped when the share of bad functions reaches a limit; by default
//! all functions must be bad. A language model can judge instead, or only lists of which some functions
//! are bad.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::asking::{self, Judge, Judgement};
use crate::cells::TypedCells as _;
use crate::columns::FUNCTIONS;
use crate::docs::fix;
use crate::docs::quality::{Limits, QualityRule, RULES, fault};
use crate::docs::signature::signatures;
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::opinion::Opinion;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::engine::vocabulary::{Evidence, Reason, RowIx, TableId};
use crate::prompts::judging::{Asked, Ballot, DOCS};

static JUDGED_UNUSABLE: Reason = Reason::policy(
    "docs/judged-unusable",
    "A language model judged that no function of the list can be called by its text.",
);

static OPEN_VOTE: Reason = Reason::policy(
    "docs/open-vote",
    "The answers of the language model about the list disagree, or leave it open.",
);

static NO_JUDGEMENT: Reason =
    Reason::fault("docs/no-judgement", "The language model gave no usable answer about the list.");

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
    /// Who judges: `rules`, `llm` (a language model judges every list), or `rules-then-llm` (it judges the lists that the rules
    /// keep although some of their functions are bad).
    pub judge: Judge,
    /// The name of the language model on the server in `OPENAI_BASE_URL`.
    pub model: Option<String>,
    /// How often the model is asked about a list, an odd number from 1 to 15; more than half must agree. More holds more.
    pub samples: u32,
}

impl Default for JudgeDocs {
    fn default() -> Self {
        let Limits { undescribed_share, undescribed_min, min_description_words } = Limits::default();
        Self {
            bad_share: 1.0,
            undescribed_share,
            undescribed_min,
            min_description_words,
            judge: Judge::Rules,
            model: None,
            samples: asking::SAMPLES,
        }
    }
}

impl Settings for JudgeDocs {
    const NAME: &'static str = "judge-docs";
    const SUMMARY: &'static str = "Drops doc lists whose functions are documented too vaguely to be called.";
    const FUNNEL_LABEL: &'static str = "docs of good quality";

    fn examples() -> Vec<Example> {
        let of_rules = RULES.iter().map(|rule| Example::functions(rule.code, rule.fires, rule.quiet));
        of_rules.chain(examples_of_model()).collect()
    }

    fn check(&self) -> std::result::Result<(), String> {
        asking::check(self.judge, self.model.as_deref(), self.samples)?;
        if !(self.bad_share > 0.0 && self.bad_share <= 1.0) {
            return Err(format!("bad_share must be above 0 and up to 1, not {}", self.bad_share));
        }
        if !(0.0..=1.0).contains(&self.undescribed_share) {
            return Err(format!("undescribed_share must be from 0 to 1, not {}", self.undescribed_share));
        }
        Ok(())
    }
}

/// Returns the examples of the reasons of a language model.
fn examples_of_model() -> [Example; 3] {
    macro_rules! replies {
        ($replies:literal) => {
            concat!(
                r#"{"doc_lists": [{"functions": [{"name": "ring_bell", "description": "Rings a bell of the tower.", "#,
                r#""parameters": {"type": "dict", "required": [], "properties": {}}}]}], "replies": ["#,
                $replies,
                "]}"
            )
        };
    }
    const CLEAR: &str = replies!(
        r#"{"reason": "It rings.", "quote": "Rings a bell", "criterion": "clear", "verdict": "usable"}"#
    );
    const NOTHING: &str = replies!(
        r#"{"reason": "Which?", "quote": "ring_bell", "criterion": "unclear-purpose", "verdict": "unusable"}"#
    );
    const UNSURE: &str =
        replies!(r#"{"reason": "Hm.", "quote": "a bell", "criterion": "unsure", "verdict": "unsure"}"#);
    const SETTINGS: &str = "judge = \"llm\", model = \"m\"";
    [
        Example::tables(JUDGED_UNUSABLE.code, NOTHING, CLEAR).with_settings(SETTINGS),
        Example::tables(OPEN_VOTE.code, UNSURE, CLEAR).with_settings(SETTINGS),
        Example::tables(NO_JUDGEMENT.code, replies!("null"), CLEAR).with_settings(SETTINGS),
    ]
}

/// What the rules say about a list.
struct ByRules {
    opinion: Opinion,
    /// Some of its functions are bad.
    has_faults: bool,
}

impl Stage for JudgeDocs {
    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists)
            .reads([FUNCTIONS])
            .reasons(REASONS.iter())
            .reasons([&JUDGED_UNUSABLE, &OPEN_VOTE, &NO_JUDGEMENT])
            .partition(Partition::Rows)
            .asks(self.model.as_deref())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        fingerprint.version_of("fixes", fix::VERSION);
        if self.judge != Judge::Rules {
            DOCS.task.fingerprint("prompt", fingerprint);
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name == USAGE_NOTE { ModelUsage::joined(notes) } else { None }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let mut open: Vec<(RowIx, Vec<Value>)> = Vec::new();
        let mut n_rows = 0_u64;
        view.for_each_batch(cx, |batch| {
            n_rows += batch.rows().len() as u64;
            let by_rules = batch.map_rows(|row| self.by_rules(row))?;
            for (&row, ByRules { opinion, has_faults }) in batch.rows().iter().zip(by_rules) {
                let is_asked = match self.judge {
                    Judge::Rules => false,
                    Judge::Llm => true,
                    Judge::RulesThenLlm => has_faults && opinion.fate.is_none(),
                };
                if is_asked {
                    open.push((row, batch.row(row).functions()));
                } else {
                    out.opinion(row, opinion)?;
                }
            }
            Ok(())
        })?;
        let Some(model) = self.model.as_deref().filter(|_| self.judge != Judge::Rules) else { return Ok(()) };
        let mut judged: Vec<(RowIx, Judgement)> = Vec::new();
        let texts = |(_, functions): &(RowIx, Vec<Value>)| Asked::docs(functions);
        let asking = asking::Asking { model, samples: self.samples, soft_votes: None };
        let mut usage = asking::judge(cx, &open, asking, texts, |(row, _), judgement| {
            judged.push((*row, judgement));
        })?;
        for (row, Judgement { ballot, basis }) in judged {
            match ballot {
                Ballot::Decided(criterion) if criterion.verdict == "usable" => {}
                Ballot::Decided(_) => out.drop(row, &JUDGED_UNUSABLE, Evidence::detail(basis))?,
                Ballot::Open => out.hold(row, &OPEN_VOTE, Evidence::detail(basis))?,
                Ballot::Failed(message) => out.fail(row, &NO_JUDGEMENT, &message)?,
            }
        }
        usage.rows_without = n_rows - usage.rows;
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }
}

impl JudgeDocs {
    #[allow(clippy::cast_precision_loss)] // Counts of functions.
    fn by_rules(&self, row: Row<'_>) -> ByRules {
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
        let Some((_, first)) = bad.first() else {
            return ByRules { opinion: Opinion::keep(), has_faults: false };
        };
        if (bad.len() as f64) < self.bad_share * signatures.len() as f64 {
            return ByRules { opinion: Opinion::keep(), has_faults: true };
        }
        let faults: Vec<Value> =
            bad.iter().map(|(name, rule)| json!({ "function": name, "fault": rule.code })).collect();
        let detail = json!({ "functions": signatures.len(), "bad": faults });
        ByRules { opinion: Opinion::drop(reason(first), Evidence::detail(detail)), has_faults: true }
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
