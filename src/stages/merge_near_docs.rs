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
use crate::text::rouge::Threshold;
use crate::text::tokens::{Tokenizer, Vocabulary};

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
    /// digits only, so lists that differ in other scripts alone are one to it. "unicode-v1" tells them apart.
    #[schemars(with = "String")]
    pub tokenizer: Tokenizer,
}

impl Default for MergeNearDocs {
    fn default() -> Self {
        Self { threshold: Threshold::try_from(0.8).expect("0.8 is a threshold"), tokenizer: Tokenizer::Rouge }
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
        fingerprint.version(1);
        fingerprint.part("fixes", &fix::VERSION.to_le_bytes());
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let mut vocabulary = Vocabulary::new();
        let mut lists: Vec<(RowIx, Vec<u32>)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            let compared =
                batch.map_rows(|row| compared(&row.json::<Vec<Value>>(FUNCTIONS).unwrap_or_default()));
            for (&row, (text, renames)) in batch.rows().iter().zip(compared) {
                lists.push((row, self.encode(&mut vocabulary, &text)));
                out.set(row, COMPARED, text)?;
                if let Some(renames) = renames {
                    out.set(row, RENAMES, renames)?;
                }
            }
            out.flush(batch.index())
        })?;
        lists.sort_unstable_by_key(|&(row, _)| view.position(row));
        let tokens = lists.iter().map(|(_, tokens)| tokens).collect();
        let merges =
            merge_into_leaders(&tokens, self.threshold, &|| cx.cancelled()).ok_or(Error::Interrupted)?;
        for (&(row, _), merge) in lists.iter().zip(merges) {
            if let Some(merge) = merge {
                out.merge(
                    row,
                    lists[merge.leader].0,
                    &NEAR_COPY,
                    Evidence::score(Metric::RougeLF1, merge.score),
                )?;
            }
        }
        Ok(())
    }
}

impl MergeNearDocs {
    fn encode(&self, vocabulary: &mut Vocabulary, text: &str) -> Vec<u32> {
        match self.tokenizer {
            Tokenizer::Rouge => vocabulary.encode_default(text),
            Tokenizer::Unicode => vocabulary.encode(Tokenizer::Unicode, text),
        }
    }
}

/// The text near copies are compared by, and the names that fixes change on the way: a call recorded against a
/// list that merges is carried to the leader by them.
fn compared(functions: &[Value]) -> (String, Option<String>) {
    let fixed = fix::fix(functions, fix::Safety::Unsafe);
    let renames = (!fixed.renames.is_empty()).then(|| json!(fixed.renames).to_string());
    (canonical::text(&fixed.functions), renames)
}
