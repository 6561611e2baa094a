//! Checks where the arguments and the answer of an instruction come from.
//!
//! Every argument of a call is in the words of the user, or at a place of an earlier result; every value of the answer is at
//! a place of a result. The source says so for each; this stage looks whether it is true of the row as it is, also of rows
//! that another program wrote or changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use crate::columns::PROGRAM;
use crate::engine::contract::{Contract, Partition};
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::opinion::Opinion;
use crate::engine::stage::RowStage;
use crate::engine::view::Row;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::instruct::record::{Provenance, Record};

static UNKNOWN: Reason = Reason::policy(
    "provenance/unknown",
    "An argument of a call has no provenance: neither words of the user nor an earlier result.",
);
static OTHER_WORDS: Reason =
    Reason::policy("provenance/other-words", "The words that give an argument are not in the message.");
static OTHER_VALUE: Reason = Reason::policy(
    "provenance/other-value",
    "The place in an earlier result that gives an argument does not hold it.",
);
static UNGROUNDED: Reason = Reason::policy(
    "provenance/ungrounded-answer",
    "A place that gives a value of the answer is in no result.",
);

/// The tables of a request with two calls: the provenance of the first, that of the second, and the places of the answer.
macro_rules! locks {
    ($first:expr, $second:expr, $answer:expr) => {
        concat!(
            r#"{"requests": [{"messages": [{"role": "user", "content": "Open (R-1)."}], "program": {"instruction": "Open (R-1).", "stratum": "chain", "style": "ask", "wording": "template", "tier": "executed", "turns": [{"user": "Open (R-1).", "calls": [1, 2], "answer": ""}], "calls": [{"name": "get_lock", "arguments": {"id": "R-1"}, "result": {"id": "R-1", "key": 4}, "references": {}, "provenance": {"#,
            $first,
            r#"}}, {"name": "open_lock", "arguments": {"id": "R-1"}, "result": {"id": "R-1"}, "references": {}, "provenance": {"#,
            $second,
            r#"}}], "answer": "", "answer_from": ["#,
            $answer,
            r#"], "together": false, "offered": [], "environment": "locks", "origin": "declared", "state": "s", "end_state": null}}]}"#
        )
    };
}

/// Provenances of `id`: true and false words, a true and a false place.
macro_rules! words {
    ($start:literal, $end:literal) => {
        concat!(
            r#""id": {"from": "words", "turn": 1, "span": ["#,
            $start,
            ", ",
            $end,
            r#"], "words": "R-1", "source": "bindings"}"#
        )
    };
}
macro_rules! result {
    ($path:literal) => {
        concat!(r#""id": {"from": "result", "path": ""#, $path, "\"}")
    };
}

/// The stage. It has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CheckProvenance {}

impl Settings for CheckProvenance {
    const NAME: &'static str = "check-provenance";
    const SUMMARY: &'static str =
        "Drops instructions with an argument that the user did not give and no result holds.";
    const FUNNEL_LABEL: &'static str = "instructions with a source for every argument";

    fn examples() -> Vec<Example> {
        const KEPT: &str = locks!(words!(6, 9), result!("$1.id"), "");
        vec![
            Example::tables(UNKNOWN.code, locks!("", result!("$1.id"), ""), KEPT),
            Example::tables(OTHER_WORDS.code, locks!(words!(0, 3), result!("$1.id"), ""), KEPT),
            Example::tables(OTHER_VALUE.code, locks!(words!(6, 9), result!("$1.key"), ""), KEPT),
            Example::tables(
                UNGROUNDED.code,
                locks!(words!(6, 9), result!("$1.id"), "\"$2.price\""),
                locks!(words!(6, 9), result!("$1.id"), "\"$2.id\""),
            ),
        ]
    }
}

impl RowStage for CheckProvenance {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests).partition(Partition::Rows).reads([PROGRAM]).reasons([
            &UNKNOWN,
            &OTHER_WORDS,
            &OTHER_VALUE,
            &UNGROUNDED,
        ])
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(2);
        Ok(())
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        let Some(record) = row.json::<Record>(PROGRAM) else { return Opinion::keep() };
        match fault(&record) {
            Some((reason, detail)) => Opinion::drop(reason, Evidence::detail(detail)),
            None => Opinion::keep(),
        }
    }
}

/// The first argument or value of the answer without a true source.
fn fault(record: &Record) -> Option<(&'static Reason, Value)> {
    let of_calls = (0..record.calls.len()).find_map(|nth| {
        let call = &record.calls[nth];
        call.arguments.iter().find_map(|(name, value)| {
            let detail = |what: Value| json!({"call": nth + 1, "function": call.name, "argument": name, "found": what});
            match call.provenance.get(name) {
                None => Some((&UNKNOWN, detail(value.clone()))),
                Some(Provenance::Words { turn, span, words, .. }) => {
                    let found = record.said(*turn, *span);
                    (found.as_deref() != Some(words)).then(|| (&OTHER_WORDS, detail(json!(found))))
                }
                Some(Provenance::Doc { .. }) => None,
                // There is no result yet.
                Some(Provenance::Result { .. }) if !record.is_executed() => None,
                Some(Provenance::Result { path }) => {
                    let found = record.held(nth, path);
                    (found != Some(value)).then(|| (&OTHER_VALUE, detail(json!(found))))
                }
            }
        })
    });
    of_calls.or_else(|| {
        let place =
            record.answer_from.iter().find(|place| record.held(record.calls.len(), place).is_none())?;
        Some((&UNGROUNDED, json!({ "place": place })))
    })
}
