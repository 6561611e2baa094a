//! Text of an instruction: each call as executed, with where its arguments come from; the trees of its attempts.

use callsieve_judge::checks::Level;
use serde_json::{Map, Value};

use super::text::Texts;
use crate::instruct::attempt::{Attempt, Checked};
use crate::instruct::record::{CallRecord, Provenance, Record, TEMPLATE};
use crate::instruct::retrace::calls_of;
use crate::instruct::solutions::drawn;
use crate::run::why::RequestHistory;
use crate::text::visible::visible_line;

impl Texts {
    /// The facts of an instruction, and its calls.
    pub(super) fn program(self, record: &Record) -> String {
        let mut text = format!(
            "  made      {} by {}, {} in {}, state {}\n",
            record.stratum.name(),
            record.style,
            record.origin,
            visible_line(&record.environment),
            visible_line(&record.state)
        );
        if record.wording != TEMPLATE {
            let person = record.person.as_deref().map(|person| format!(", as {}", visible_line(person)));
            text += &format!("  words     {}{}\n", visible_line(&record.wording), person.unwrap_or_default());
        }
        text.extend(record.withheld.iter().map(|name| format!("  withheld  {}\n", visible_line(name))));
        for (at, call) in record.calls.iter().enumerate() {
            text += &self.call(at + 1, call);
        }
        text
    }

    /// The attempts of models at a request, with what was found in them and what judges say.
    pub(super) fn attempts(self, request: &RequestHistory) -> String {
        let record = request.sent.as_ref().and_then(|sent| sent.program.as_ref());
        let turns = record.map_or(0, |record| record.turns.len());
        let mut text = String::new();
        for (at, attempt) in request.attempts.iter().enumerate() {
            let checked = request.checked.get(at);
            text += &drawn(at + 1, attempt, checked.is_some_and(Checked::is_faulty));
            if turns > 1 {
                text += &format!(
                    "  turn      the last one, turn {turns}; the turns before it are as in the instruction\n"
                );
            }
            if let (Some(record), Some(false), Some(_)) = (record, attempt.solved, attempt.answered) {
                let (made, missing) = differences(attempt, record);
                text.extend(made.iter().map(|call| format!("  only here {}\n", self.shown(call))));
                text.extend(missing.iter().map(|call| format!("  missing   {}\n", self.shown(call))));
            }
            text.extend(attempt.answer().map(|answer| format!("  answer    {}\n", self.shown(answer))));
            for finding in checked.into_iter().flat_map(|of| &of.findings) {
                let level = if finding.level == Level::Certain { "fault" } else { "suspicion" };
                let evidence = match finding.evidence.as_str() {
                    "" => format!("{}: expected {}", finding.reason.code(), finding.expected),
                    found => format!("{}: \"{found}\"", finding.reason.code()),
                };
                text += &format!("  {level:9} {}\n", self.shown(&evidence));
            }
            let rejected = checked.and_then(|of| of.rejected_for.as_deref());
            text.extend(rejected.map(|reason| format!("  fault     {reason}: judges reject the answer\n")));
        }
        let cell = request.verdicts.as_ref().and_then(|cell| serde_json::from_str(cell.as_str()).ok());
        text + &cell.as_ref().map(verdicts).unwrap_or_default()
    }

    fn call(self, number: usize, call: &CallRecord) -> String {
        let label = format!("call {number}");
        let mut text = format!("  {label:9} {}\n", visible_line(&call.name));
        for (parameter, value) in &call.arguments {
            let from = call.provenance.get(parameter).map_or_else(String::new, origin);
            text += &format!(
                "            {}={}{}\n",
                visible_line(parameter),
                self.shown(&value.to_string()),
                visible_line(&from)
            );
        }
        match &call.failure {
            Some(failure) => text += &format!("            failed: {}\n", visible_line(failure)),
            None => text += &format!("            -> {}\n", self.shown(&call.result.to_string())),
        }
        text
    }
}

/// The calls of an attempt that the last turn of the instruction does not have, and those that it has alone, as a person writes them. A call
/// that both have twice is compared twice.
fn differences(attempt: &Attempt, record: &Record) -> (Vec<String>, Vec<String>) {
    let written = |name: &str, arguments: &Map<String, Value>| {
        let argument = |(name, value): (&String, &Value)| format!("{name}={value}");
        format!("{name}({})", arguments.iter().map(argument).collect::<Vec<_>>().join(", "))
    };
    let none = Map::new();
    let made = attempt.calls().into_iter();
    let mut made: Vec<String> =
        made.map(|(call, ..)| written(&call.name, call.arguments.as_object().unwrap_or(&none))).collect();
    let wanted = record.turns.last().map(|turn| calls_of(record, turn)).unwrap_or_default();
    let mut missing = Vec::new();
    for call in wanted.into_iter().map(|call| written(&call.name, &call.arguments)) {
        match made.iter().position(|other| *other == call) {
            Some(at) => drop(made.remove(at)),
            None => missing.push(call),
        }
    }
    (made, missing)
}

/// What language models say of an attempt, from the cell of the column.
fn verdicts(cell: &Value) -> String {
    let votes = |(model, tally): (&String, &Value)| {
        let of = tally["votes"].as_object().into_iter().flatten();
        let of: Vec<String> = of.map(|(label, n)| format!("{n} {label}")).collect();
        let unreadable = tally["unreadable"].as_u64().filter(|n| *n > 0);
        let of = of.into_iter().chain(unreadable.map(|n| format!("{n} unreadable"))).collect::<Vec<_>>();
        format!("{}: {}", visible_line(model), visible_line(&of.join(", ")))
    };
    let models = cell["models"].as_object().into_iter().flatten().map(votes).collect::<Vec<_>>();
    let number = cell["attempt"].as_u64().map(|at| at + 1).unwrap_or_default();
    format!("judged    attempt {number}; votes of {}\n", models.join("; "))
}

/// Where an argument comes from.
fn origin(provenance: &Provenance) -> String {
    match provenance {
        Provenance::Words { turn, words, source, .. } => {
            format!("  from \"{words}\" in turn {turn}, taken from {source}")
        }
        Provenance::Doc { source } => format!("  from its doc ({source})"),
        Provenance::Result { path } => format!("  from {path}"),
    }
}
