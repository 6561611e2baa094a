//! Has a language model name the keys of results that nobody needs, once for each function.
//!
//! Results of APIs are long (ToolLLM, Qin et al., 2023, A.2). A model sees the doc of a function and one of its results, the same for all
//! rows, so its answer is asked for once and kept. The forms for training leave these keys out, except where a later call or an
//! answer uses their values; `programs.jsonl` keeps whole results. Without a usable answer results stay whole.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::asking::{ask, usable};
use super::made::{self, made_rows};
use crate::cells::TypedCells as _;
use crate::columns::{FUNCTIONS, PROGRAM};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Reason, TableId};
use crate::prompts::choosing::{KEYS, keys_in, question};

static COMPRESSED: Reason = Reason::policy(
    "results/compressed",
    "A language model named keys of a result that nobody needs; the forms for training leave them out.",
);

/// The stage and its settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompressResults {
    /// The name of the language model. Without one, the stage does nothing.
    pub model: Option<String>,
}

/// Tables of an instruction with a call, and the reply of a model.
macro_rules! bell {
    ($reply:literal) => {
        concat!(
            r#"{"doc_lists": [{"functions": [{"name": "find_bell", "description": "Finds a bell.", "parameters": {"type": "dict", "required": [], "properties": {}}}]}], "#,
            r#""requests": [{"messages": [{"role": "user", "content": "Find a bell."}], "program": {"instruction": "Find a bell.", "stratum": "single", "style": "ask", "wording": "template", "tier": "executed", "turns": [{"user": "Find a bell.", "calls": [1], "answer": "It is Big."}], "#,
            r#""calls": [{"name": "find_bell", "arguments": {}, "result": {"name": "Big", "hash": "f00"}, "references": {}, "provenance": {}}], "answer": "It is Big.", "answer_from": ["$1.name"], "together": false, "offered": ["find_bell"], "environment": "bells", "origin": "declared", "state": "s", "end_state": null}}], "#,
            r#""replies": ["#,
            $reply,
            "]}"
        )
    };
}

impl Settings for CompressResults {
    const NAME: &'static str = "compress-results";
    const SUMMARY: &'static str =
        "Has a language model name the keys of results that nobody needs, once for each function.";
    const FUNNEL_LABEL: &'static str = "instructions with results to train on";

    fn examples() -> Vec<Example> {
        let (fires, quiet) = (bell!(r#"{"useless": ["hash"]}"#), bell!(r#"{"useless": []}"#));
        vec![Example::tables(COMPRESSED.code, fires, quiet).with_settings(r#"model = "m""#)]
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.model.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err("model is empty; expected the name of a model, as the server names it".to_owned());
        }
        Ok(())
    }
}

/// A function with one of its results.
struct Seen {
    function: Value,
    result: Value,
}

impl Stage for CompressResults {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads(made::COLUMNS)
            .reads([FUNCTIONS])
            .writes([PROGRAM])
            .not_idempotent()
            .reasons([&COMPRESSED])
            .asks_about_made(self.model.as_deref())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        if self.model.is_some() {
            KEYS.fingerprint("prompt", fingerprint);
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        if name == USAGE_NOTE { ModelUsage::joined(notes) } else { None }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let Some(model) = self.model.as_deref().map(str::trim) else { return Ok(()) };
        let docs = view.all_parents(cx, |list| list.functions())?;
        let made = made_rows(view, cx)?;
        let mut seen: BTreeMap<&str, Seen> = BTreeMap::new();
        for row in &made {
            for call in row.record.calls.iter().filter(|call| call.failure.is_none()) {
                let function =
                    docs.of(row.row).and_then(|all| all.iter().find(|one| one["name"] == *call.name));
                if let (Some(function), true) = (function, has_keys(&call.result))
                    && !seen.contains_key(call.name.as_str())
                {
                    seen.insert(&call.name, Seen { function: function.clone(), result: call.result.clone() });
                }
            }
        }
        let seen: Vec<(&str, Seen)> = seen.into_iter().collect();
        let mut useless: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let questions =
            |(_, of): &(&str, Seen)| question(&of.function, &of.result, model).into_iter().collect();
        let usage = ask(cx, model, &seen, questions, |(name, of), replies, usage| {
            let read = replies
                .into_iter()
                .next()
                .map(|reply| usable(reply, usage, |answer| keys_in(answer, &of.result)));
            if let Some(Ok(keys)) = read {
                useless.insert(name, keys);
            }
            Ok(())
        })?;
        out.note(USAGE_NOTE, json!(usage));
        for row in &made {
            let mut record = row.record.clone();
            for call in &row.record.calls {
                if let Some(keys) = useless.get(call.name.as_str()).filter(|keys| !keys.is_empty()) {
                    record.useless_keys.insert(call.name.clone(), keys.clone());
                }
            }
            row.set_program(&record, &COMPRESSED, out)?;
        }
        Ok(())
    }
}

/// Whether a result has keys that could be left out.
fn has_keys(result: &Value) -> bool {
    match result {
        Value::Object(members) => members.len() > 1 || members.values().any(has_keys),
        Value::Array(elements) => elements.iter().any(has_keys),
        _ => false,
    }
}
