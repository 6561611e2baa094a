//! Has a language model make the calls of instructions from their words alone, and drops those that lead elsewhere.
//!
//! A model that writes a request and its calls at once may write calls that the request does not ask for. So a model that sees the
//! request and the functions only makes the calls anew (`translating`): they must return the same and leave the same state. Where a
//! function is missing, no call must be made without it, and with it one of it must be.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::asking::{TOO_LONG, ask, usable};
use super::executing::{BUILT_IN, Executor};
use super::made::{self, MadeRow, made_rows};
use super::offered::{OfferedDocs, written};
use super::translating::{Led, Translated, translate_back};
use super::yields::{PASSED, YIELDS_NOTE, Yields};
use crate::columns::FUNCTIONS;
use crate::conversation::{Message, Role};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::environment::Environment as System;
use crate::instruct::record::Record;
use crate::prompts::acting::{self, STEPS, step_in};

use crate::prompts::texts::OfferedFunctions;

static OTHER_CALLS: Reason = Reason::policy(
    "instruction/other-calls",
    "Calls that a model makes from the request return something else than those of the instruction.",
);
static UNCOVERED: Reason = Reason::policy(
    "instruction/uncovered-wish",
    "The request has a wish beyond its calls that no offered function fulfils.",
);
static NOT_MISSING: Reason = Reason::policy(
    "instruction/function-not-missing",
    "A model that is offered the missing function does not call it, so the request does not need it.",
);
static NO_TRANSLATION: Reason = Reason::fault(
    "instruction/no-translation",
    "The language model gave no usable answer when the request was translated back.",
);

/// The stage and its settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TranslateBack {
    /// The name of the language model that makes the calls; best one that wrote none of the instructions. Without one, the stage does
    /// nothing.
    pub model: Option<String>,
    /// The environment of the instructions: its file, or the run folder of a collection of which nothing is executed.
    pub environment: Option<PathBuf>,
    /// Opens the environment.
    #[serde(skip)]
    #[schemars(skip)]
    executor: Executor,
}

/// Tables of an instruction that opens a door, of this kind and with these calls, and the replies of a model.
macro_rules! door {
    ($kind:literal, $calls:literal, $numbers:literal, $sample:literal, $replies:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "set_door", "description": "Opens or closes a door.", "parameters": {"type": "dict", "required": ["id", "state"], "properties": {"id": {"type": "string", "description": "Number."}, "state": {"type": "string", "description": "State."}}}}]}], "#,
            r#""requests": [{"messages": [{"role": "user", "content": "Get D-1 open."}], "program": {"instruction": "Get D-1 open.", "stratum": ""#,
            $kind,
            r#"", "style": "model", "wording": "m", "tier": "executed", "turns": [{"user": "Get D-1 open.", "calls": "#,
            $numbers,
            r#", "answer": "Done."}], "calls": "#,
            $calls,
            r#", "answer": "Done.", "answer_from": [], "together": false, "offered": ["set_door"], "environment": "doors", "origin": "declared", "state": "start", "end_state": null, "sample": "#,
            $sample,
            r#"}}], "replies": ["#,
            $replies,
            "]}"
        )
    };
}

/// The instruction with its call.
macro_rules! opened {
    ($replies:literal) => {
        door!(
            "single",
            r#"[{"name": "set_door", "arguments": {"id": "D-1", "state": "open"}, "result": {"id": "D-1", "state": "open"}, "references": {}, "provenance": {}}]"#,
            "[1]",
            r#"{"number": 0, "slot": 0, "level": "i1", "tools": ["doors"]}"#,
            $replies
        )
    };
}

/// A request for which a function is missing.
macro_rules! missing {
    ($replies:literal) => {
        door!(
            "missing-function",
            "[]",
            "[]",
            r#"{"number": 0, "slot": 0, "level": "i1", "tools": ["doors"], "withheld": {"name": "paint_door", "description": "Paints a door.", "parameters": {"type": "dict", "properties": {}}}}"#,
            $replies
        )
    };
}

const SAME: &str = opened!(
    r#"{"calls": [{"name": "set_door", "arguments": "{\"id\": \"D-1\", \"state\": \"open\"}"}]}, {"calls": []}"#
);

/// The same calls, and a wish that is left.
const BEYOND: &str = opened!(
    r#"{"calls": [{"name": "set_door", "arguments": "{\"id\": \"D-1\", \"state\": \"open\"}"}]}, {"uncovered": ["email me the receipt"], "calls": []}"#
);

impl Settings for TranslateBack {
    const NAME: &'static str = "translate-back";
    const SUMMARY: &'static str = "Has a language model make the calls from the words of instructions, and drops those that lead elsewhere.";
    const FUNNEL_LABEL: &'static str = "instructions whose words lead to their calls";

    fn examples() -> Vec<Example> {
        let examples = [
            Example::tables(OTHER_CALLS.code, opened!(r#"{"calls": []}"#), SAME),
            Example::tables(
                NOT_MISSING.code,
                missing!(r#"{"calls": []}, {"calls": []}"#),
                missing!(r#"{"calls": []}, {"calls": [{"name": "paint_door", "arguments": "{}"}]}"#),
            ),
            Example::tables(UNCOVERED.code, BEYOND, SAME),
            Example::tables(NO_TRANSLATION.code, opened!("null"), SAME),
        ];
        examples
            .into_iter()
            .map(|example| example.with_settings(r#"model = "m", environment = "built-in:doors""#))
            .collect()
    }

    fn for_examples() -> Self {
        Self { environment: Some(BUILT_IN.into()), ..Self::default() }
    }

    fn set_environment(&mut self, system: &System) {
        self.executor.set_system(system);
    }

    fn check(&self) -> std::result::Result<(), String> {
        match self.model.as_deref().map(str::trim) {
            Some("") => {
                Err("model is empty; expected the name of a model, as the server names it".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Stage for TranslateBack {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads(made::COLUMNS)
            .reads([FUNCTIONS])
            .not_idempotent()
            .reasons([&OTHER_CALLS, &UNCOVERED, &NOT_MISSING, &NO_TRANSLATION])
            .asks_about_made(self.model.as_deref())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        if self.model.is_some() {
            STEPS.fingerprint("prompt of calls", fingerprint);
            self.executor.fingerprint(self.environment.as_deref(), fingerprint)?;
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        match name {
            USAGE_NOTE => ModelUsage::joined(notes),
            YIELDS_NOTE => Yields::joined(notes),
            _ => None,
        }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let Some(model) = self.model.as_deref().map(str::trim) else { return Ok(()) };
        let docs = OfferedDocs::read(view, cx)?;
        let made = made_rows(view, cx)?;
        let environment = self.executor.open(self.environment.as_deref())?;
        let told = made.iter().map(|row| Translated {
            record: Arc::new(row.record.clone()),
            functions: written(docs.of(row.row)),
        });
        let told: Vec<Translated> = told.collect();
        let (mut led, mut usage) = translate_back(&told, model, &*environment, cx)?;
        usage.rows = made.len() as u64;
        let lacking: Vec<usize> = (0..told.len())
            .filter(|at| matches!(led[*at], Led::Same) && withheld(&told[*at].record).is_some())
            .collect();
        let (needed, of_needed) = are_needed(&lacking, &made, &docs, model, cx)?;
        usage.add(&ModelUsage { rows: 0, ..of_needed });
        let mut not_missing = vec![false; led.len()];
        for (at, needed) in lacking.into_iter().zip(needed) {
            match needed {
                Ok(is_needed) => not_missing[at] = !is_needed,
                Err(why) => led[at] = Led::Unanswered(why),
            }
        }
        let mut yields = Yields::default();
        for ((row, led), is_not_missing) in made.iter().zip(led).zip(not_missing) {
            let request = || Evidence::detail(json!({ "request": row.record.instruction }));
            let code = match led {
                Led::Same if is_not_missing => {
                    out.drop(row.row, &NOT_MISSING, request())?;
                    NOT_MISSING.code
                }
                Led::Same => PASSED,
                Led::Elsewhere(found) => {
                    out.drop(row.row, &OTHER_CALLS, Evidence::detail(found))?;
                    OTHER_CALLS.code
                }
                Led::Beyond(found) => {
                    out.drop(row.row, &UNCOVERED, Evidence::detail(found))?;
                    UNCOVERED.code
                }
                Led::Unanswered(why) => {
                    out.fail(row.row, &NO_TRANSLATION, &why)?;
                    NO_TRANSLATION.code
                }
            };
            yields.count(row.record.stratum.name(), model, code);
        }
        out.note(YIELDS_NOTE, json!(yields));
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }
}

/// The doc of the function that an instruction needs and that is not offered.
fn withheld(record: &Record) -> Option<&Value> {
    record.sample.as_ref()?.withheld.as_ref()
}

/// Whether each of these instructions makes a model call the missing function once it is offered, or why that is not known.
type Needed = Vec<std::result::Result<bool, String>>;

/// Offers the missing functions of instructions as well.
fn are_needed(
    lacking: &[usize],
    made: &[MadeRow],
    docs: &OfferedDocs<'_>,
    model: &str,
    cx: &Context<'_>,
) -> Result<(Needed, ModelUsage)> {
    let mut needed = Vec::new();
    let questions = |at: &usize| {
        let record = &made[*at].record;
        let mut functions = docs.values_of(made[*at].row);
        functions.extend(withheld(record).cloned());
        let said = [Message::text(Role::User, &record.instruction)];
        acting::question(&OfferedFunctions::of(&functions), &said, model).into_iter().collect()
    };
    let usage = ask(cx, model, lacking, questions, |at, samples, usage| {
        let name = withheld(&made[*at].record).map_or(&Value::Null, |function| &function["name"]);
        needed.push(match samples.into_iter().next() {
            Some(reply) => usable(reply, usage, step_in)
                .map(|step| step.calls.iter().any(|call| *name == call.name.as_str())),
            None => Err(TOO_LONG.to_owned()),
        });
        Ok(())
    })?;
    Ok((needed, usage))
}
