//! Replaces personal values in the text of doc lists by the placeholders that `redact` assigned.
//!
//! A stage judges one table, so there are two stages. This one runs right after `redact`, with the
//! same settings. `redact` has searched the doc lists too and noted the places of all values: a
//! list without a note has none. If there is no note at all, this stage searches the lists.
//! Placeholders contain no quotes and no backslashes, so the text stays valid in any syntax.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Settings;
use super::redact::{
    EXAMPLES, LIST, Redact, TableFindings, assign_numbers, reserve_noted, rewrite, with_redacted_cell,
};
use crate::cells::TypedCells as _;
use crate::columns::{DOCS_PLACEHOLDERS, PLACEHOLDERS, TEXT};
use crate::engine::context::Context;
use crate::engine::contract::{Contract, Partition, Role};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{RowIx, TableId};
use crate::environment::Environment;
use crate::privacy::VERSION;
use crate::privacy::apply::{Finder, Replaced, fill, redact_text};
use crate::privacy::known::KnownValues;
use crate::privacy::numbers::Numbers;

/// The stage and its settings, which must be the same as those of `redact`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RedactDocs(pub Redact);

impl Settings for RedactDocs {
    const NAME: &'static str = "redact-docs";
    const SUMMARY: &'static str =
        "Replaces personal values and secrets in doc lists by the placeholders that redact assigned.";
    const FUNNEL_LABEL: &'static str = "personal values in docs replaced by rule";

    fn examples() -> Vec<Example> {
        EXAMPLES.iter().map(|(reason, fires, quiet)| Example::text(reason.code, fires, quiet)).collect()
    }

    fn set_environment(&mut self, environment: &Environment) {
        self.0.set_environment(environment);
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}

impl Stage for RedactDocs {
    fn contract(&self) -> Contract {
        // A list whose requests `redact` held is in no part.
        let is_whole = self.0.recogniser.name().is_on();
        Contract::of(TableId::DocLists)
            .partition(if is_whole { Partition::Whole } else { Partition::Rows })
            .reads([TEXT, PLACEHOLDERS, DOCS_PLACEHOLDERS])
            .writes([TEXT])
            .reasons(self.0.reasons(false))
            .role(Role::Redaction)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(3);
        fingerprint.version_of("privacy", VERSION);
        self.0.fingerprint_names(fingerprint)
    }

    fn prepare(&self) {
        self.0.prepare();
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let scanner = self.0.scanner()?;
        let mut numbers = Numbers::default();
        let mut noted: FxHashMap<RowIx, Vec<Replaced>> = FxHashMap::default();
        let mut was_searched = false;
        let children = view.children();
        // Also of requests that `redact` held: their lists may be shown, too.
        let every = |_: RowIx| true;
        children.stream(cx, every, |batch| {
            for &row in batch.rows() {
                let cells = batch.row(row);
                reserve_noted(cells.text(PLACEHOLDERS).unwrap_or_default(), &mut numbers);
                let spans = cells.docs_placeholders();
                was_searched |= spans.is_some();
                if let Some(spans) = spans.filter(|spans| !spans.is_empty()) {
                    noted.insert(view.origin_of(row), spans.into_iter().map(Replaced::from).collect());
                }
            }
            Ok(())
        })?;
        let lists = if was_searched {
            TableFindings::default()
        } else {
            TableFindings::collect(&view.whole(), cx, &scanner, &LIST)?
        };
        let known = KnownValues::of(|| lists.values());
        assign_numbers(&[&lists], &known, &mut numbers);
        let is_cancelled = || cx.cancelled();
        let finder = Finder::from(&scanner).with_known(&known).with_cancel(&is_cancelled);
        // A list whose requests were all held is held too, but what was found in it is replaced.
        let may_be_held = self.0.recogniser.name().is_on();
        let wanted = |row: RowIx| {
            if noted.contains_key(&row) {
                view.is_judged(row) || (may_be_held && !view.is_kept(row))
            } else {
                view.is_judged(row) && lists.holds(row, &known)
            }
        };
        rewrite(view, cx, wanted, out, |row| {
            let new = row.text(TEXT).and_then(|text| match noted.get(&row.ix()) {
                Some(noted) => fill(text, noted),
                None => redact_text(finder, &numbers, text),
            });
            with_redacted_cell(Opinion::keep(), TEXT, new, &mut Vec::new())
        })
    }
}
