//! Executes the calls that a language model proposed, in the environment of the instructions.
//!
//! The calls run in order, in two fresh episodes; an argument that is a place in an earlier result is filled in by name. An instruction
//! whose calls fail, return nothing, or return something else the second time is dropped. One that runs gets its results, an
//! answer made of them, and the tier `executed`.

use std::path::PathBuf;

use callsieve_programs::checks::MOST_RESULT_BYTES;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Settings;
use super::executing::{BUILT_IN, Executor, failed};
use super::made::{self, made_rows};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::environment::Environment as System;
use crate::instruct::record::UNEXECUTED;
use crate::instruct::run_calls::{Failed, Runner};

static EXECUTED: Reason = Reason::policy("calls/executed", "The calls were executed, and got their results.");
static FAILED: Reason = Reason::policy("calls/failed", "A call fails in the environment.");
static UNRESOLVED: Reason = Reason::policy(
    "calls/unresolved-reference",
    "A place in an earlier result that gives an argument is not there.",
);
static EMPTY: Reason = Reason::policy("calls/empty-result", "A call returns nothing, and changes nothing.");
static HUGE: Reason =
    Reason::policy("calls/huge-result", "A call returns more than a reader would go through.");
static NONDETERMINISTIC: Reason =
    Reason::policy("calls/nondeterministic", "Two runs of the calls in new episodes differ.");

/// Tables of an instruction over the doors of the examples, with these calls.
macro_rules! doors {
    ($calls:expr, $numbers:literal, $together:literal) => {
        concat!(
            r#"{"requests": [{"messages": [{"role": "user", "content": "Open D-1, then look at D-2."}], "#,
            r#""program": {"instruction": "Open D-1, then look at D-2.", "stratum": "chain", "style": "model", "wording": "m", "tier": "unexecuted", "turns": [{"user": "Open D-1, then look at D-2.", "calls": "#,
            $numbers,
            r#", "answer": ""}], "calls": ["#,
            $calls,
            r#"], "answer": "", "answer_from": [], "together": "#,
            $together,
            r#", "offered": ["get_door", "set_door"], "environment": "doors", "origin": "declared", "state": "start", "end_state": null}}]}"#
        )
    };
}

/// A call of `get_door` with an id, or a place of one.
macro_rules! get {
    ($id:literal, $references:literal) => {
        concat!(
            r#"{"name": "get_door", "arguments": {"id": ""#,
            $id,
            r#""}, "result": null, "references": "#,
            $references,
            r#", "provenance": {}}"#
        )
    };
}

/// A call of `set_door` with an id and a state.
macro_rules! set {
    ($id:literal, $state:literal) => {
        concat!(
            r#"{"name": "set_door", "arguments": {"id": ""#,
            $id,
            r#"", "state": ""#,
            $state,
            r#""}, "result": null, "references": {}, "provenance": {}}"#
        )
    };
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecuteCalls {
    /// The file of the environment. Without one, the stage does nothing, and the instructions stay unverified.
    pub environment: Option<PathBuf>,
    /// The most bytes of a result, as JSON.
    pub max_result_bytes: usize,
    /// Opens the environment.
    #[serde(skip)]
    #[schemars(skip)]
    executor: Executor,
}

impl Default for ExecuteCalls {
    fn default() -> Self {
        Self { environment: None, max_result_bytes: MOST_RESULT_BYTES, executor: Executor::default() }
    }
}

impl Settings for ExecuteCalls {
    const NAME: &'static str = "execute-calls";
    const SUMMARY: &'static str =
        "Executes the calls that a language model proposed, and drops those that fail.";
    const FUNNEL_LABEL: &'static str = "instructions whose calls run";

    fn examples() -> Vec<Example> {
        const KEPT: &str = doors!(concat!(set!("D-1", "open"), ", ", get!("D-2", "{}")), "[1, 2]", "false");
        vec![
            Example::tables(EXECUTED.code, KEPT, doors!(get!("D-7", "{}"), "[1]", "false")),
            Example::tables(FAILED.code, doors!(get!("D-7", "{}"), "[1]", "false"), KEPT),
            Example::tables(
                UNRESOLVED.code,
                doors!(concat!(get!("D-1", "{}"), ", ", get!("$1.next", r#"{"id": "$1.next"}"#)), "[1, 2]", "false"),
                KEPT,
            ),
            Example::tables(EMPTY.code, doors!(r#"{"name": "find_doors", "arguments": {"state": "open"}, "result": null, "references": {}, "provenance": {}}"#, "[1]", "false"), KEPT),
            Example::tables(HUGE.code, doors!(r#"{"name": "find_doors", "arguments": {"state": "closed"}, "result": null, "references": {}, "provenance": {}}"#, "[1]", "false"), doors!(get!("D-1", "{}"), "[1]", "false"))
                .with_settings(r#"environment = "built-in:doors", max_result_bytes = 50"#),
            Example::tables(
                NONDETERMINISTIC.code,
                doors!(r#"{"name": "draw_lots", "arguments": {}, "result": null, "references": {}, "provenance": {}}"#, "[1]", "false"),
                KEPT,
            ),
        ]
    }

    fn for_examples() -> Self {
        Self { environment: Some(BUILT_IN.into()), ..Self::default() }
    }

    fn set_environment(&mut self, system: &System) {
        self.executor.set_system(system);
    }
}

impl Stage for ExecuteCalls {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests).reads(made::COLUMNS).writes(made::COLUMNS).reasons([
            &EXECUTED,
            &FAILED,
            &UNRESOLVED,
            &EMPTY,
            &HUGE,
            &NONDETERMINISTIC,
        ])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        if self.environment.is_some() {
            self.executor.fingerprint(self.environment.as_deref(), fingerprint)?;
        }
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        if self.environment.is_none() {
            return Ok(());
        }
        let made = made_rows(view, cx)?;
        let environment = self.executor.open(self.environment.as_deref())?;
        let runner = Runner::new(&*environment, cx.seed).with_most_bytes(self.max_result_bytes);
        let proposed: Vec<_> =
            made.iter().filter(|row| row.record.tier == UNEXECUTED && !row.record.calls.is_empty()).collect();
        let ran: Vec<_> = proposed
            .par_iter()
            .map(|row| {
                if cx.cancelled() {
                    Err(Error::Interrupted)
                } else {
                    runner.executed(&row.record).map_err(failed)
                }
            })
            .collect::<Result<_>>()?;
        for (row, ran) in proposed.into_iter().zip(ran) {
            match ran {
                Ok(record) => row.set(&record, &EXECUTED, out)?,
                Err((why, mut detail)) => {
                    if let Some(detail) = detail.as_object_mut() {
                        detail.insert("instruction".to_owned(), json!(row.record.instruction));
                    }
                    out.drop(row.row, reason(why), Evidence::detail(detail))?;
                }
            }
        }
        Ok(())
    }
}

fn reason(why: Failed) -> &'static Reason {
    match why {
        Failed::Call => &FAILED,
        Failed::Unresolved => &UNRESOLVED,
        Failed::Empty => &EMPTY,
        Failed::Huge => &HUGE,
        Failed::Nondeterministic => &NONDETERMINISTIC,
    }
}
