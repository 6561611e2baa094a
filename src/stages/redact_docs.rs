//! Replaces personal values in doc lists, as sent, by the placeholders that `redact` gave them.
//!
//! A stage judges one table, so there are two. This one comes right after `redact`, with the same
//! settings, and numbers the values of doc lists as it did: they come first, and the placeholders
//! that stood in requests are noted there. Placeholders hold no quotes and no backslashes, so
//! the text stays readable in whatever syntax it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;
use super::redact::{EXAMPLES, Met, Redact, changed, rewrite, take_and_learn, take_noted, values_of_list};
use crate::engine::columns::{PLACEHOLDERS, TEXT};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::{Context, Contract, Opinion, Stage, TableId};
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::privacy::VERSION;
use crate::privacy::apply::redact_text;
use crate::privacy::numbers::Numbers;

/// The stage and its settings, which must be those of `redact`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RedactDocs(pub Redact);

impl Settings for RedactDocs {
    const NAME: &'static str = "redact-docs";
    const SUMMARY: &'static str =
        "Replaces personal values and secrets in doc lists by the placeholders that redact gave them.";
    const LEFT: &'static str = "docs without personal values";

    fn examples() -> Vec<Example> {
        EXAMPLES.iter().map(|(reason, fires, quiet)| Example::text(reason.code, fires, quiet)).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}

impl Stage for RedactDocs {
    fn contract(&self) -> Contract {
        Contract {
            table: TableId::DocLists,
            reads: vec![TEXT, PLACEHOLDERS],
            reads_if_there: vec![],
            writes: vec![TEXT],
            reasons: self.0.reasons(),
            merges: false,
            idempotent: true,
            sends_rows_out: false,
        }
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        fingerprint.part("privacy", &VERSION.to_le_bytes());
        self.0.fingerprint_names(fingerprint)
    }

    fn prepare(&self) {
        self.0.prepare();
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let scanner = self.0.scanner()?;
        let mut numbers = Numbers::default();
        view.children().for_each_batch(cx, |batch| {
            for &row in batch.rows() {
                take_noted(batch.row(row).text(PLACEHOLDERS).unwrap_or_default(), &mut numbers);
            }
            Ok(())
        })?;
        let lists = Met::collect(view, cx, |row, note| values_of_list(&scanner, row, note))?;
        take_and_learn(&[&lists], &mut numbers);
        rewrite(view, cx, &lists, out, |row, _| {
            let new = row.text(TEXT).and_then(|text| redact_text(&scanner, &numbers, text));
            changed(Opinion::keep(), TEXT, new)
        })
    }
}
