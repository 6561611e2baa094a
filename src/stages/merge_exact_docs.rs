//! Merges doc lists that are equal as JSON, in any notation and key order.
//!
//! Ingest interns the text of lists, so lists that were sent as the same text are one row already.
//! This stage merges lists that were written differently. For lists that differ slightly see
//! `merge_near_docs`.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;
use crate::cells::TypedCells as _;
use crate::columns::FUNCTIONS;
use crate::docs::canonical;
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Likeness, Reason, RowIx, TableId};

// Equal: all names in the two lists are the same.
static SAME: Reason =
    Reason::policy("docs/duplicate", "An earlier doc list is equal except for notation or key order.")
        .of_likeness(Likeness::Equal);

/// The stage; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MergeExactDocs {}

impl Settings for MergeExactDocs {
    const NAME: &'static str = "merge-exact-docs";
    const SUMMARY: &'static str =
        "Merges doc lists that are equal after keys are sorted and blanks are removed.";
    const FUNNEL_LABEL: &'static str = "equal docs merged";
    fn examples() -> Vec<Example> {
        vec![Example::tables(
            SAME.code,
            r#"{"doc_lists": [{"functions": [{"name": "now", "description": "Tells the time."}]}, {"functions": [{"description": "Tells the time.", "name": "now"}]}]}"#,
            r#"{"doc_lists": [{"functions": [{"name": "now", "description": "Tells the time."}]}, {"functions": [{"name": "now", "description": "Tells the date."}]}]}"#,
        )]
    }
}

impl Stage for MergeExactDocs {
    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists).reads([FUNCTIONS]).reasons([&SAME]).merges().partition(Partition::Key)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        Ok(())
    }

    fn keys(&self, view: &View<'_>, cx: &Context<'_>) -> Result<Option<Vec<(RowIx, u128)>>> {
        keys(view, cx).map(Some)
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let mut keys = keys(view, cx)?;
        keys.sort_unstable_by_key(|&(row, _)| view.position(row));
        let mut leaders: FxHashMap<u128, RowIx> = FxHashMap::default();
        for (row, key) in keys {
            let leader = *leaders.entry(key).or_insert(row);
            if leader != row {
                out.merge(row, leader, &SAME, Evidence::default())?;
            }
        }
        Ok(())
    }
}

/// Returns the hash of each list's canonical form.
fn keys(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<(RowIx, u128)>> {
    let mut keys: Vec<(RowIx, u128)> = Vec::new();
    view.for_each_batch(cx, |batch| {
        let batch_keys = batch.map_rows(|row| canonical::key(&row.functions()))?;
        keys.extend(batch.rows().iter().copied().zip(batch_keys));
        Ok(())
    })?;
    Ok(keys)
}
