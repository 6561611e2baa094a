//! Text of an instruction: each call as executed, with where its arguments come from; the trees of its attempts.

use callsieve_solve::draw::draw;

use super::text::Texts;
use crate::instruct::attempt::Attempt;
use crate::instruct::record::{CallRecord, Provenance, Record, TEMPLATE};
use crate::text::figures::counted;
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

/// An attempt of a model: how it ended, and its tree.
pub(super) fn attempted(number: usize, attempt: &Attempt) -> String {
    let outcome = match (attempt.solved, attempt.answered) {
        (Some(true), _) => "solved",
        (Some(false), Some(_)) => "answered, with other results or another state than the instruction has",
        (None, Some(_)) => "answered",
        (_, None) => "no answer",
    };
    let requests = counted(u64::from(attempt.spent.requests), "request", "requests");
    let tokens = counted(attempt.spent.tokens(), "token", "tokens");
    let tree: String =
        draw(&attempt.tree).lines().map(|line| format!("    {}\n", visible_line(line))).collect();
    format!("attempt {number}  {outcome}; {requests}, {tokens}\n{tree}")
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
