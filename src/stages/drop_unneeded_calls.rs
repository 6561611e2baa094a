//! Removes calls without which an instruction ends the same.
//!
//! A model calls more than is needed: it looks up what the user gave. A call is removed if without it the last result and the state at
//! the end stay the same; its words may still be in the request, which then asks for something on the way.

use std::path::PathBuf;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
use crate::engine::vocabulary::{Reason, TableId};
use crate::environment::Environment as System;
use crate::instruct::record::EXECUTED;
use crate::instruct::run_calls::Runner;

static UNNEEDED: Reason = Reason::policy(
    "calls/unneeded",
    "Without some of its calls, the instruction ends with the same result and state; they were removed.",
);

/// Tables of an instruction over the doors of the examples, with these calls.
macro_rules! doors {
    ($calls:expr, $numbers:literal, $together:literal) => {
        concat!(
            r#"{"requests": [{"messages": [{"role": "user", "content": "Open D-1, then look at D-2."}], "#,
            r#""program": {"instruction": "Open D-1, then look at D-2.", "stratum": "chain", "style": "model", "wording": "m", "tier": "executed", "turns": [{"user": "Open D-1, then look at D-2.", "calls": "#,
            $numbers,
            r#", "answer": ""}], "calls": ["#,
            $calls,
            r#"], "answer": "", "answer_from": [], "together": "#,
            $together,
            r#", "offered": ["get_door", "set_door"], "environment": "doors", "origin": "declared", "state": "start", "end_state": null, "sample": {"number": 0, "slot": 0, "level": "i1", "tools": ["doors"]}}}]}"#
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
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DropUnneededCalls {
    /// The file of the environment. Without one, the stage does nothing.
    pub environment: Option<PathBuf>,
    /// Opens the environment.
    #[serde(skip)]
    #[schemars(skip)]
    executor: Executor,
}

impl Settings for DropUnneededCalls {
    const NAME: &'static str = "drop-unneeded-calls";
    const SUMMARY: &'static str = "Removes calls without which an instruction ends the same.";
    const FUNNEL_LABEL: &'static str = "instructions without calls that are not needed";

    fn examples() -> Vec<Example> {
        vec![Example::tables(
            UNNEEDED.code,
            doors!(concat!(get!("D-1", "{}"), ", ", get!("D-2", "{}")), "[1, 2]", "false"),
            doors!(concat!(set!("D-1", "open"), ", ", get!("D-2", "{}")), "[1, 2]", "false"),
        )]
    }

    fn for_examples() -> Self {
        Self { environment: Some(BUILT_IN.into()), ..Self::default() }
    }

    fn set_environment(&mut self, system: &System) {
        self.executor.set_system(system);
    }
}

impl Stage for DropUnneededCalls {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests).reads(made::COLUMNS).writes(made::COLUMNS).reasons([&UNNEEDED])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
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
        let runner = Runner::new(&*environment, cx.seed);
        // What a program made is without such calls already.
        let written: Vec<_> =
            made.iter().filter(|row| row.record.tier == EXECUTED && row.record.sample.is_some()).collect();
        let sliced: Vec<_> = written
            .par_iter()
            .map(|row| {
                if cx.cancelled() {
                    Err(Error::Interrupted)
                } else {
                    runner.sliced(&row.record).map_err(failed)
                }
            })
            .collect::<Result<_>>()?;
        for (row, sliced) in written.into_iter().zip(sliced) {
            if let Some(record) = sliced {
                row.set(&record, &UNNEEDED, out)?;
            }
        }
        Ok(())
    }
}
