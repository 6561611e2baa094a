//! Checks the solution paths of instructions without a model: what the answer says, what was called, what that returned.
//!
//! An attempt with a certain fault does not pass, also if its calls are right: an answer with an id that stands nowhere, an action that
//! is claimed and was not done, a call written as text. Suspicions are kept beside the attempts, and decide nothing.

mod examples;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::made::{self, AttemptedRow, attempted_rows, set_passing};
use crate::cells::TypedCells as _;
use crate::columns::{CHOSEN, FUNCTIONS, PASS_RATE, SOLUTION_FINDINGS, TRACES};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::Result;
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::instruct::attempt::{Attempt, Checked};
use crate::instruct::record::{CallRecord, Record};
use crate::instruct::retrace::calls_of;
use callsieve_judge::checks::{Finding, Level, Needs, Reason as Fault, Solution, check};

macro_rules! faults {
    ($($name:ident = $code:literal, $sentence:literal;)*) => {
        $(static $name: Reason = Reason::policy($code, $sentence);)*
        /// The reasons, in the order of the faults.
        static REASONS: [&Reason; Fault::ALL.len()] = [$(&$name),*];
    };
}

faults! {
    UNGROUNDED = "solution/ungrounded-answer", "The answer has an id that stands in no message, result or argument.";
    GUESSED = "solution/guessed-argument", "An argument of a call stands in no message and no result before it.";
    CLAIM = "solution/claim-without-call", "The answer says that something was done, and no call that did it succeeded.";
    CALL_AS_TEXT = "solution/call-as-text", "The answer has a call written as text.";
    NOT_OFFERED = "solution/function-not-offered", "The path calls a function that is not offered.";
    UNPAIRED = "solution/unpaired-result", "A call has no result, or a result has no call.";
    LAST_FAILED = "solution/last-call-failed", "All calls failed, and the answer does not say so.";
    LACKS_RESULT = "solution/answer-lacks-result", "The answer has none of the values that were asked for.";
    DENIES = "solution/denies-success", "The calls did what is asked, and the answer says that it failed.";
    NOT_REFUSED = "solution/not-refused", "Nothing on offer does what is asked, and the answer neither says so nor asks.";
    EMPTY = "solution/empty-answer", "The answer has no text.";
    LOOP = "solution/loop", "The same call has the same result three times or more.";
    NO_CALL = "solution/no-call", "The request needs a call, and the path has none.";
    OTHER_FUNCTIONS = "solution/other-functions", "The path calls none of the functions that the request needs.";
    NEEDLESS = "solution/needless-call", "No call is right, and the path has one.";
}

/// The stage; it has no settings.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CheckSolutions {}

impl Settings for CheckSolutions {
    const NAME: &'static str = "check-solutions";
    const SUMMARY: &'static str =
        "Checks without a model whether answers of solution paths say what was done and observed.";
    const FUNNEL_LABEL: &'static str = "instructions with checked attempts";

    fn examples() -> Vec<Example> {
        examples::all()
    }
}

impl Stage for CheckSolutions {
    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests)
            .reads(made::COLUMNS)
            .reads([TRACES, FUNCTIONS])
            .writes([SOLUTION_FINDINGS, CHOSEN, PASS_RATE])
            .reasons(REASONS)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(6);
        Ok(())
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let rows = attempted_rows(view, cx)?;
        if rows.is_empty() {
            return Ok(());
        }
        let docs = view.all_parents(cx, |list| list.functions())?;
        for row in rows {
            let functions = docs.of(row.0.row).map_or(&[][..], Vec::as_slice);
            let checked: Vec<Checked> =
                row.1.iter().map(|attempt| checked(&row.0.record, attempt, functions)).collect();
            decide(&row, &checked, out)?;
        }
        Ok(())
    }
}

/// The most characters of an answer that are checked: nobody reads more, and checks of numbers grow faster than their text.
const MOST_CHARS: usize = 20_000;

/// What is found in an attempt; nothing in one without an answer.
fn checked(record: &Record, attempt: &Attempt, functions: &[Value]) -> Checked {
    let Some(answer) = attempt.answer() else { return Checked::default() };
    let end = answer.char_indices().nth(MOST_CHARS).map_or(answer.len(), |(end, _)| end);
    let answer = &answer[..end];
    let wanted = record.turns.last().map(|turn| calls_of(record, turn)).unwrap_or_default();
    let mut expected: Vec<String> = wanted.into_iter().map(|call| call.name.clone()).collect();
    expected.sort_unstable();
    expected.dedup();
    let mut messages = attempt.messages();
    messages.pop();
    let told: Vec<Value> = record
        .answer_from
        .iter()
        .filter_map(|place| record.held(record.calls.len(), place))
        .cloned()
        .collect();
    let arguments = |is_looked_up: bool| -> Vec<Value> {
        let of = |call: &CallRecord| {
            let is_so = |(name, _): &(&String, &Value)| call.references.contains_key(*name) == is_looked_up;
            call.arguments.iter().filter(is_so).map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        record.calls.iter().flat_map(of).collect()
    };
    let (looked_up, given) = (arguments(true), arguments(false));
    let report = check(&Solution {
        messages: &messages,
        answer,
        functions,
        needs: match (expected.is_empty(), record.is_without_call()) {
            (false, _) => Needs::Call,
            (true, true) => Needs::NoCall,
            (true, false) => Needs::Unknown,
        },
        expected_functions: &expected,
        looked_up: &looked_up,
        given: &given,
        told: &told,
        withheld: record.withheld.as_deref(),
        is_solved: attempt.solved == Some(true),
        changes_nothing: attempt.changes_nothing,
    });
    Checked { findings: report.findings, missed: report.coverage.missed, rejected_for: None }
}

/// Notes what was found, and chooses among the attempts that still pass.
fn decide((row, attempts): &AttemptedRow, checked: &[Checked], out: &mut Verdict<'_>) -> Result<()> {
    out.set(row.row, SOLUTION_FINDINGS, json!(checked).to_string())?;
    let chosen = set_passing(row.row, attempts, checked, out)?;
    // An instruction whose own calls were executed is right without an attempt.
    if chosen.is_some() || row.record.is_executed() {
        return Ok(());
    }
    let mut findings = checked.iter().flat_map(|of| &of.findings);
    match findings.find(|finding| finding.level == Level::Certain) {
        Some(finding) => out.drop(row.row, reason(finding), evidence(attempts, finding)),
        None => Ok(()),
    }
}

fn reason(finding: &Finding) -> &'static Reason {
    let at = Fault::ALL.iter().position(|fault| *fault == finding.reason).unwrap_or_default();
    REASONS[at]
}

fn evidence(attempts: &[Attempt], finding: &Finding) -> Evidence {
    let answer = attempts.iter().find_map(Attempt::answer);
    Evidence::detail(json!({"found": finding.evidence, "expected": finding.expected, "answer": answer}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_the_reason_of_its_code() {
        let codes = REASONS.map(|reason| reason.code);
        assert_eq!(codes, Fault::ALL.map(Fault::code));
    }
}
