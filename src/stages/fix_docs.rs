//! Brings doc lists to the BFCL schema with the fewest edits; calls `docs::fix`.
//!
//! Each edit is a patch that names its rule. An edit that needs a guess is only suggested,
//! unless the pipeline allows it. A list that still does not fit the schema is held, with
//! the problem as evidence.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::cells::TypedCells as _;
use crate::columns::{FUNCTIONS, RENAMES};
use crate::docs::fix::{self, FixRule, Fixed};
use crate::docs::patch::PatchOp;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{self, Evidence, Reason, TableId};
use crate::notation::levels::{MAX_KEPT, is_within};

/// Binding: the official evaluator cannot process a list that is held here, so no person may overrule these reasons.
static REASONS: LazyLock<Vec<Reason>> =
    LazyLock::new(|| fix::rules().map(|rule| Reason::policy(rule.code, rule.what).binding()).collect());

/// Findings that break the official evaluator. Other findings also occur in the official data.
pub(crate) const BLOCKING: &[&str] = &[
    "schema/unreadable-parameters",
    "schema/unreadable-property",
    "schema/combined-schemas",
    "schema/unknown-type",
    "schema/illegal-name",
    "schema/duplicate-name",
    TOO_DEEP,
];
/// The fixed list nests too deep for a cell, so no fix is applied.
const TOO_DEEP: &str = "schema/too-deep";

fn reason(rule: &FixRule) -> &'static Reason {
    REASONS.iter().find(|reason| reason.code == rule.code).expect("every rule has a reason")
}

/// The stage and its settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FixDocs {
    /// Whether to apply edits that fill a gap with a guess; the ledger marks them as `unsafe`. If `false`, lists that
    /// need such an edit are held.
    pub allow_unsafe: bool,
}

impl Settings for FixDocs {
    const NAME: &'static str = "fix-docs";
    const SUMMARY: &'static str =
        "Brings doc lists to the BFCL schema with the fewest edits, each a patch that names its rule.";
    const FUNNEL_LABEL: &'static str = "docs that fit the BFCL schema";

    fn examples() -> Vec<Example> {
        let example = |rule: &fix::FixRule| {
            let example = Example::functions(rule.code, rule.fires, rule.quiet);
            // A safe edit may settle by itself what an unsafe one would guess.
            if rule.safety == fix::Safety::Unsafe {
                example.with_settings("allow_unsafe = true")
            } else {
                example
            }
        };
        fix::rules().map(example).collect()
    }
}

impl RowStage for FixDocs {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists)
            .partition(Partition::Rows)
            .reads([FUNCTIONS])
            .writes([FUNCTIONS, RENAMES])
            .reasons(REASONS.iter())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        fingerprint.version_of("fixes", fix::VERSION);
        Ok(())
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let allow = if self.allow_unsafe { fix::Safety::Unsafe } else { fix::Safety::Safe };
        let Fixed { functions, edits, proposals, findings, renames } = fix::fix(&row.functions(), allow);
        let evidence =
            |finding: &fix::Finding| Evidence::detail(json!({ "at": finding.at, "found": finding.message }));
        if let Some(finding) = findings.iter().find(|finding| finding.rule.code == TOO_DEEP) {
            return Opinion::hold(reason(finding.rule), evidence(finding));
        }
        let found = findings.iter().find(|finding| BLOCKING.contains(&finding.rule.code));
        let mut opinion = match (found, proposals.first()) {
            (Some(finding), _) => Opinion::hold(reason(finding.rule), evidence(finding)),
            (None, Some(proposal)) => Opinion::hold(reason(proposal.rule), would_be(&proposal.patch)),
            (None, None) => Opinion::keep(),
        };
        opinion.edits.extend(edits.iter().map(|edit| ledger_edit(edit, None)));
        opinion
            .edits
            .extend(proposals.iter().map(|edit| ledger_edit(edit, Some(vocabulary::Safety::Suggest))));
        let list = Value::Array(functions);
        opinion.edits.extend(findings.iter().map(|finding| finding_edit(finding, &list)));
        if !edits.is_empty() {
            opinion = opinion.with(FUNCTIONS, list.to_string());
        }
        if !renames.is_empty() {
            opinion = opinion.with(RENAMES, json!(renames).to_string());
        }
        opinion
    }
}

/// Returns the evidence of a suggested edit; only the places of a patch that nests too deep to be read back.
fn would_be(patch: &[PatchOp]) -> Evidence {
    let shown = json!(patch);
    if is_within(&shown, MAX_KEPT) {
        return Evidence::detail(json!({ "would_be": shown }));
    }
    let places: Vec<&str> = patch.iter().map(PatchOp::path).collect();
    Evidence::detail(json!({ "at": places, "found": "the change nests too deep to be shown" }))
}

/// Converts a finding to an edit of the ledger: a patch with a `test` operation, which changes nothing.
fn finding_edit(finding: &fix::Finding, list: &Value) -> vocabulary::Edit {
    let value = list.pointer(&finding.at).unwrap_or(&Value::Null);
    vocabulary::Edit {
        column: FUNCTIONS,
        reason: reason(finding.rule),
        safety: vocabulary::Safety::Suggest,
        patch: json!([{"op": "test", "path": finding.at, "value": value}]).to_string(),
    }
}

/// Converts an edit to one of the ledger; `safety` replaces the safety of the rule.
fn ledger_edit(edit: &fix::Edit, safety: Option<vocabulary::Safety>) -> vocabulary::Edit {
    let own = match edit.rule.safety {
        fix::Safety::Safe => vocabulary::Safety::Safe,
        fix::Safety::Unsafe => vocabulary::Safety::Unsafe,
        fix::Safety::Suggest => vocabulary::Safety::Suggest,
    };
    vocabulary::Edit {
        column: FUNCTIONS,
        reason: reason(edit.rule),
        safety: safety.unwrap_or(own),
        patch: serde_json::to_string(&edit.patch).expect("a patch is plain data"),
    }
}
