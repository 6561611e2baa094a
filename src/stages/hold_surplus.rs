//! Holds instructions beyond the number that is wanted, the last candidates first.
//!
//! A source that makes rows makes some more than are wanted, because stages drop rows. This stage comes last. The number is
//! that of the source, which every row has; rows of logs have none and are kept. Rows that a person drops do not count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Settings;
use crate::columns::WANTED;
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition};
use crate::engine::decision::DecisionKind;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, RowIx, TableId};

/// The reason.
pub static SURPLUS: Reason =
    Reason::policy("instruct/surplus", "As many instructions as are wanted come before it.");

/// The stage. It has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HoldSurplus {}

impl Settings for HoldSurplus {
    const NAME: &'static str = "hold-surplus";
    const SUMMARY: &'static str = "Holds instructions beyond the number that is wanted.";
    const FUNNEL_LABEL: &'static str = "instructions that are wanted";

    fn examples() -> Vec<Example> {
        vec![Example::tables(
            SURPLUS.code,
            r#"{"requests": [{"wanted": 1, "messages": [{"role": "user", "content": "Close the gate."}]}, {"wanted": 1, "messages": [{"role": "user", "content": "Open the lock."}]}]}"#,
            r#"{"requests": [{"wanted": 2, "messages": [{"role": "user", "content": "Close the gate."}]}, {"wanted": 2, "messages": [{"role": "user", "content": "Open the lock."}]}]}"#,
        )]
    }
}

impl Stage for HoldSurplus {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .partition(Partition::Whole)
            .reads([WANTED])
            .reasons([&SURPLUS])
            .decisions([DecisionKind::Drop])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, verdict: &mut Verdict<'_>) -> Result<()> {
        let mut rows: Vec<(RowIx, Option<i64>)> = Vec::new();
        view.for_each_batch(cx, |batch| {
            // A row that a person drops leaves its place to another.
            let counted = batch.map_rows(|row| {
                row.decision(DecisionKind::Drop).is_none().then(|| (row.ix(), row.int(WANTED)))
            })?;
            rows.extend(counted.into_iter().flatten());
            Ok(())
        })?;
        rows.sort_by_key(|(row, _)| view.position(*row));
        for (nth, (row, wanted)) in (1_i64..).zip(rows) {
            if wanted.is_some_and(|wanted| nth > wanted) {
                verdict.hold(row, &SURPLUS, Evidence::detail(json!(nth)))?;
            }
        }
        Ok(())
    }
}
