//! Merges doc lists that nearly say the same: ROUGE-L F1 above a threshold.
//!
//! Compared is the canonical JSON of each list as `fix_docs` would leave it with all its
//! fixes allowed, so that two spellings of a type do not make two lists differ, and no two
//! lists are above the threshold after they are fixed. The text is kept as the column
//! `compared`, so that anyone can work the scores out again. Each merged list has its score
//! with the list that stays; no chains. Equal lists are the work of `merge_exact_docs`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::docs::{canonical, fix};
use crate::engine::columns::{COMPARED, FUNCTIONS, RENAMES};
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::{Context, Contract, Evidence, Metric, Reason, RowIx, Stage, TableId};
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::similarity::rouge::leaders::merge_into_leaders;
use crate::similarity::rouge::texts::Texts;
use crate::text::profile::Profile;
use crate::text::rouge::{Comparison, Threshold};

static NEAR_COPY: Reason =
    Reason::policy("docs/near-copy", "An earlier doc list differs in a few words only.");

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeNearDocs {
    /// ROUGE-L F1 from 0 to 1 above which two lists are one. Higher keeps more lists.
    #[schemars(with = "f64")]
    pub threshold: Threshold,
    /// What is a token. "rouge-score-v1" is what the figures of others are made with; it sees ASCII letters and
    /// digits only, so lists that differ in other scripts alone are one to it. "unicode-v2" tells them apart. "auto"
    /// takes the former, and the latter where either list has letters of which the former keeps less than half.
    #[schemars(with = "String")]
    pub tokenizer: Profile,
    /// When a score is above the threshold: "exact" compares fractions, so that 4/5 is not above 0.8;
    /// "google-float" compares the floats of rouge-score, which lets some ties through by rounding.
    pub comparison: Comparison,
}

impl Default for MergeNearDocs {
    fn default() -> Self {
        Self {
            threshold: Threshold::try_from(0.8).expect("0.8 is a threshold"),
            tokenizer: Profile::default(),
            comparison: Comparison::default(),
        }
    }
}

impl Settings for MergeNearDocs {
    const NAME: &'static str = "merge-near-docs";
    const SUMMARY: &'static str =
        "Merges doc lists whose ROUGE-L F1 with an earlier one is above a threshold.";
    const LEFT: &'static str = "after merging similar docs (ROUGE-L)";
    fn examples() -> Vec<Example> {
        vec![Example::tables(
            NEAR_COPY.code,
            r#"{"doc_lists": [{"functions": [{"name": "now", "description": "Tells the time of day in a given city."}]}, {"functions": [{"name": "now", "description": "Tells the time of day in the given city."}]}]}"#,
            r#"{"doc_lists": [{"functions": [{"name": "now", "description": "Tells the time of day in a given city."}]}, {"functions": [{"name": "ring", "description": "Rings the bell of a church until somebody comes."}]}]}"#,
        )]
    }
}

impl Stage for MergeNearDocs {
    fn contract(&self) -> Contract {
        Contract {
            table: TableId::DocLists,
            reads: vec![FUNCTIONS],
            reads_if_there: vec![],
            writes: vec![COMPARED, RENAMES],
            reasons: vec![&NEAR_COPY],
            merges: true,
            idempotent: true,
            sends_rows_out: false,
        }
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        fingerprint.part("fixes", &fix::VERSION.to_le_bytes());
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let mut lists: Vec<(RowIx, String)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let compared =
                batch.map_rows(|row| compared(&row.json::<Vec<Value>>(FUNCTIONS).unwrap_or_default()))?;
            for (&row, (text, renames)) in batch.rows().iter().zip(compared) {
                out.set(row, COMPARED, text.clone())?;
                lists.push((row, text));
                if let Some(renames) = renames {
                    out.set(row, RENAMES, renames)?;
                }
            }
            out.flush(batch.index())
        })?;
        lists.sort_unstable_by_key(|&(row, _)| view.position(row));
        let (rows, lists): (Vec<RowIx>, Vec<String>) = lists.into_iter().unzip();
        let cancelled = || cx.cancelled();
        let texts = Texts::encode_unless(&lists, self.tokenizer, &cancelled).ok_or(Error::Interrupted)?;
        drop(lists);
        let threshold = self.threshold.compared_by(self.comparison);
        let merges = merge_into_leaders(&texts, threshold, &cancelled).ok_or(Error::Interrupted)?;
        for (at, merge) in merges.into_iter().enumerate() {
            if let Some(merge) = merge {
                let metric = Metric::RougeLF1(texts.tokenizer_of(at, merge.leader));
                out.merge(rows[at], rows[merge.leader], &NEAR_COPY, Evidence::score(metric, merge.score))?;
            }
        }
        Ok(())
    }
}

/// The text near copies are compared by, and the names that fixes change on the way: a call recorded against a
/// list that merges is carried to the leader by them.
fn compared(functions: &[Value]) -> (String, Option<String>) {
    let (fixed, renames) = fix::mended(functions, fix::Safety::Unsafe);
    let renames = (!renames.is_empty()).then(|| json!(renames).to_string());
    (canonical::text(&fixed), renames)
}
