//! Puts each request into its BFCL category, by rule: functions offered, calls answered.
//!
//! | functions | calls | category |
//! |---|---|---|
//! | one | one | simple |
//! | several | one | multiple |
//! | one | several | parallel |
//! | several | several | `parallel_multiple` |
//!
//! A request without an answer is held for the judges of relevance, by what the log has
//! in place of one.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Settings;
use crate::conversation::{Message, Role};
use crate::engine::columns::{ANSWER, CATEGORY, FUNCTIONS, MESSAGES, RECORDED};
use crate::engine::error::Result;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::{Context, Contract, Evidence, Example, Reason, RowIx, Stage, TableId};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Row, View};
use crate::export::bfcl::Category;

static DECLINED: Reason = Reason::policy(
    "split/declined",
    "The logged model answered in prose: whether a function fits is for a judge.",
);
static CUT: Reason = Reason::policy("split/answer-cut", "The logged answer stops half-way.");
static FAILED: Reason = Reason::policy("split/request-failed", "The request failed, so there is no answer.");
static NOTHING: Reason = Reason::policy("split/no-answer", "The log holds no answer.");
static CALLS_BEFORE: Reason = Reason::policy(
    "split/calls-before",
    "The conversation before the question holds calls and results, for which a BFCL question has no place.",
);
static UNREADABLE: Reason =
    Reason::policy("split/answer-unreadable", "The logged answer means a call but cannot be read.");

/// The stage; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Split {}

impl Settings for Split {
    const NAME: &'static str = "split";
    const SUMMARY: &'static str =
        "Puts each answered request into its BFCL category and holds the others for the judges.";
    const LEFT: &'static str = "answered, in a category";

    fn examples() -> Vec<Example> {
        const ANSWERED: &str = r#"{"requests": [{"recorded": "calls", "answer": [{"ring": {}}]}]}"#;
        vec![
            Example::tables(DECLINED.code, r#"{"requests": [{"recorded": "declined"}]}"#, ANSWERED),
            Example::tables(CUT.code, r#"{"requests": [{"recorded": "cut"}]}"#, ANSWERED),
            Example::tables(FAILED.code, r#"{"requests": [{"recorded": "failed"}]}"#, ANSWERED),
            Example::tables(NOTHING.code, r#"{"requests": [{"recorded": "nothing"}]}"#, ANSWERED),
            Example::tables(UNREADABLE.code, r#"{"requests": [{"recorded": "unreadable"}]}"#, ANSWERED),
            Example::tables(
                CALLS_BEFORE.code,
                r#"{"requests": [{"messages": [{"role": "user", "content": "Ring."}, {"role": "assistant", "content": "", "calls": [{"name": "ring", "arguments": {}}]}, {"role": "user", "content": "Again."}], "recorded": "calls", "answer": [{"ring": {}}]}]}"#,
                ANSWERED,
            ),
        ]
    }
}

impl Stage for Split {
    fn contract(&self) -> Contract {
        Contract {
            table: TableId::Requests,
            reads: vec![MESSAGES, RECORDED, ANSWER, FUNCTIONS],
            writes: vec![CATEGORY],
            reasons: vec![&DECLINED, &CUT, &FAILED, &NOTHING, &UNREADABLE, &CALLS_BEFORE],
            merges: false,
            idempotent: true,
            sends_rows_out: false,
        }
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(1);
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let mut n_functions: FxHashMap<RowIx, usize> = FxHashMap::default();
        view.parent().for_each_batch(cx, |batch| {
            let lengths =
                batch.map_rows(|row| row.json::<Vec<Value>>(FUNCTIONS).map_or(0, |list| list.len()));
            n_functions.extend(batch.rows().iter().copied().zip(lengths));
            Ok(())
        })?;
        view.for_each_batch(cx, |batch| {
            for &row in batch.rows() {
                let cells = batch.row(row);
                match cells.json::<Vec<Value>>(ANSWER) {
                    Some(_) if has_calls(cells) => out.hold(row, &CALLS_BEFORE, Evidence::default())?,
                    Some(calls) => {
                        let n_functions = n_functions.get(&view.list_of(row)).copied().unwrap_or_default();
                        out.set(row, CATEGORY, Category::of_answer(n_functions, calls.len()).name())?;
                    }
                    None => out.hold(row, without_answer(cells.text(RECORDED)), Evidence::default())?,
                }
            }
            Ok(())
        })
    }
}

fn without_answer(recorded: Option<&str>) -> &'static Reason {
    match recorded {
        Some("declined") => &DECLINED,
        Some("cut") => &CUT,
        Some("failed") => &FAILED,
        Some("unreadable") => &UNREADABLE,
        _ => &NOTHING,
    }
}

/// An earlier message calls a function or brings a result.
fn has_calls(request: Row<'_>) -> bool {
    let messages: Vec<Message> = request.json(MESSAGES).unwrap_or_default();
    messages.iter().any(|message| message.role == Role::Tool || !message.calls.is_empty())
}
