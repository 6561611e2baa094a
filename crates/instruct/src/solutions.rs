//! The folder `solutions` of an instruction set: the chosen paths in the forms of training, preference pairs, pass rates.
//!
//! A path is written as the model went it: its thoughts, its calls, what they returned, its answer. The prompt of the search is left out, so
//! that a path looks like any other conversation. Paths without an answer are only in pairs and rates.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use callsieve_bfcl::conversation::{Call, Message, Role, openai_message};
use callsieve_engine::error::{At as _, Result};
use callsieve_judge::checks::Level;
use callsieve_solve::draw::draw;
use callsieve_solve::finish::{self, Finish};
use callsieve_solve::paths::{PreferencePair, preference_pairs};
use callsieve_solve::toolllama::{self, TrainingStep};
use callsieve_solve::training::prefixes;
use callsieve_text::figures::counted;
use callsieve_text::visible::visible_line;
use serde_json::{Map, Value, json};

use crate::attempt::{Attempt, Checked, chosen, pass_rate, passing};
use crate::form::{FORMS, Masked, Sample, masked, openai_tools};
use crate::record::{CallRecord, EXECUTED, Record};
use crate::sink::open;

/// The name of the folder.
pub const FOLDER: &str = "solutions";
/// The file of pass rates.
pub const RATES: &str = "pass-rates.jsonl";
/// The file of preference pairs.
const PAIRS: &str = "preference-pairs.jsonl";
/// The file of `ToolLLaMA`'s training steps, as the converter of ToolBench writes it.
const STEPS: &str = "toolllama-steps.json";
/// The file of drawn trees.
pub const TREES: &str = "trees.txt";
/// The form that keeps thoughts.
const WITH_THOUGHTS: &str = "openai.jsonl";

/// An instruction with its attempts.
pub(crate) struct Solved<'a> {
    pub(crate) id: &'a str,
    pub(crate) record: &'a Record,
    pub(crate) functions: Cow<'a, [Value]>,
    pub(crate) attempts: &'a [Attempt],
    /// What was found in them; empty if nothing was checked.
    pub(crate) checked: &'a [Checked],
}

impl Solved<'_> {
    /// Which attempts pass.
    fn passes(&self) -> Vec<bool> {
        passing(self.attempts, self.checked)
    }

    /// The chosen attempt.
    fn chosen(&self) -> Option<&Attempt> {
        self.attempts.get(chosen(self.attempts, self.checked)?)
    }

    /// The conversation of the chosen attempt.
    fn conversation(&self) -> Option<Vec<Message>> {
        let messages = self.chosen()?.messages();
        Some(messages.into_iter().filter(|message| message.role != Role::System).collect())
    }

    /// The record with the calls and the answer of the chosen attempt in its last turn.
    fn as_record(&self) -> Option<Record> {
        let attempt = self.chosen()?;
        let mut record = self.record.clone();
        let n_earlier = record
            .turns
            .split_last()
            .map_or(0, |(_, before)| before.iter().map(|turn| turn.calls.len()).sum::<usize>());
        record.calls.truncate(n_earlier);
        record.calls.extend(attempt.calls().into_iter().map(|(call, result, is_error)| CallRecord {
            name: call.name.clone(),
            arguments: call.arguments.as_object().cloned().unwrap_or_default(),
            result: serde_json::from_str(result).unwrap_or_else(|_| result.into()),
            failure: is_error.then(|| "error-result".to_owned()),
            references: std::collections::BTreeMap::new(),
            provenance: std::collections::BTreeMap::new(),
        }));
        let last = record.turns.last_mut()?;
        last.calls = (n_earlier + 1..=record.calls.len()).collect();
        attempt.answer()?.clone_into(&mut last.answer);
        record.answer.clone_from(&last.answer);
        record.answer_from.clear();
        record.together = n_earlier == 0 && attempt.is_made_at_once();
        // The calls have results, of which `origins` of the rates says where they come from.
        EXECUTED.clone_into(&mut record.tier);
        Some(record)
    }

    /// The line of its rate.
    fn rate(&self) -> Value {
        let first = self.attempts.first();
        let is_rejected = self.checked.iter().any(|of| of.rejected_for.is_some());
        let judged_by = match first.is_some_and(|one| one.solved.is_some()) {
            true if is_rejected => "execution and judges",
            true => "execution",
            false => "answer",
        };
        let passes = self.passes();
        let found = |level: Level| -> BTreeSet<&str> {
            let all = self.checked.iter().flat_map(|of| &of.findings);
            all.filter(|finding| finding.level == level).map(|finding| finding.reason.code()).collect()
        };
        let rejected = self.checked.iter().filter_map(|of| of.rejected_for.as_deref());
        let faults: BTreeSet<&str> = found(Level::Certain).into_iter().chain(rejected).collect();
        let spent = |of: fn(&Attempt) -> u64| self.attempts.iter().map(of).sum::<u64>();
        json!({
            "id": self.id,
            "instruction": self.record.instruction,
            "stratum": self.record.stratum.name(),
            "attempts": self.attempts.len(),
            "passed": passes.iter().filter(|passes| **passes).count(),
            "pass_rate": pass_rate(&passes),
            "judged_by": judged_by,
            "chosen": chosen(self.attempts, self.checked),
            "faults": faults,
            "suspicions": found(Level::Suspect),
            "origins": origins(self.attempts),
            "requests": spent(|one| u64::from(one.spent.requests)),
            "tokens": spent(|one| one.spent.tokens()),
        })
    }
}

/// Where the observations of attempts come from, each once.
fn origins(attempts: &[Attempt]) -> BTreeSet<&str> {
    let nodes = attempts.iter().flat_map(|attempt| attempt.tree.nodes());
    let steps = nodes.flat_map(|(_, node)| &node.calls);
    let origin = steps.filter_map(|step| Some(step.observation.as_ref()?.origin.as_str()));
    origin.filter(|origin| !origin.is_empty()).collect()
}

/// Writes the folder below one of the dataset; nothing if no instruction has attempts.
pub(crate) fn write(folder: &Path, all: &[Solved<'_>], masks_names: bool) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let folder = folder.join(FOLDER);
    for form in FORMS.iter().filter(|form| form.is_for_training) {
        let line = |solved: &Solved<'_>| {
            if form.file == WITH_THOUGHTS && !masks_names {
                return with_thoughts(solved);
            }
            let record = solved.as_record()?;
            let sample = Sample { id: solved.id, record: &record, functions: &solved.functions };
            if masks_names {
                let Masked { record, functions } = masked(&sample);
                return (form.line)(&Sample { id: solved.id, record: &record, functions: &functions });
            }
            (form.line)(&sample)
        };
        write_lines(&folder.join(form.file), all.iter().filter_map(line))?;
    }
    write_steps(&folder.join(STEPS), all)?;
    write_trees(&folder.join(TREES), all)?;
    write_lines(&folder.join(PAIRS), all.iter().flat_map(pairs))?;
    write_lines(&folder.join(RATES), all.iter().map(Solved::rate))
}

/// Writes lines; no file if there are none, since readers of JSON lines stop at an empty one.
fn write_lines(path: &Path, lines: impl Iterator<Item = Value>) -> Result<()> {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return Ok(());
    }
    let mut file = open(path)?;
    for line in lines {
        writeln!(file, "{line}").at("writing", path)?;
    }
    file.flush().at("writing", path)
}

/// Returns an attempt as a person reads it: how it ended, and its tree, two lines or more. `is_faulty`: a check found a certain fault.
pub fn drawn(number: usize, attempt: &Attempt, is_faulty: bool) -> String {
    let outcome = match (attempt.solved, attempt.answered) {
        (Some(true), _) if is_faulty => "the right calls, with a fault",
        (None, Some(_)) if is_faulty => "answered, with a fault",
        (Some(true), _) => "solved",
        (Some(false), Some(_)) => "answered, with other results or another state than the instruction has",
        (None, Some(_)) => "answered",
        (_, None) => "no answer",
    };
    let requests = counted(u64::from(attempt.spent.requests), "request", "requests");
    let tokens = counted(attempt.spent.tokens(), "token", "tokens");
    let line = |line: &str| format!("    {}\n", visible_line(line));
    let tree: String = draw(&attempt.tree).lines().map(line).collect();
    format!("attempt {number}  {outcome}; {requests}, {tokens}\n{tree}")
}

/// Writes the trees of all attempts, each instruction after an empty line.
fn write_trees(path: &Path, all: &[Solved<'_>]) -> Result<()> {
    let mut file = open(path)?;
    for (nth, solved) in all.iter().enumerate() {
        let gap = if nth > 0 { "\n" } else { "" };
        let turns = &solved.record.turns;
        let asked = turns.last().map_or(solved.record.instruction.as_str(), |turn| turn.user.as_str());
        let turn = if turns.len() > 1 { format!("turn {}: ", turns.len()) } else { String::new() };
        let (id, asked) = (visible_line(solved.id), visible_line(asked));
        writeln!(file, "{gap}{id}  {turn}{asked}").at("writing", path)?;
        for (number, attempt) in (1..).zip(solved.attempts) {
            let is_faulty = solved.checked.get(number - 1).is_some_and(Checked::is_faulty);
            file.write_all(drawn(number, attempt, is_faulty).as_bytes()).at("writing", path)?;
        }
    }
    file.flush().at("writing", path)
}

/// Writes the training steps of the chosen paths.
fn write_steps(path: &Path, all: &[Solved<'_>]) -> Result<()> {
    let steps: Vec<TrainingStep> = all.iter().filter_map(training_steps).flatten().collect();
    if steps.is_empty() {
        return Ok(());
    }
    let mut file = open(path)?;
    toolllama::write_file(&mut file, &steps).and_then(|()| file.flush()).at("writing", path)
}

/// A step for each reply of the chosen path. The system message is the one sentence that the form needs. `None` where the path has no answer, or
/// the docs have too many levels for the form.
fn training_steps(solved: &Solved<'_>) -> Option<Vec<TrainingStep>> {
    let attempt = solved.chosen()?;
    let mut functions = solved.functions.to_vec();
    functions.push(finish::function_doc());
    let system = Message::text(
        Role::System,
        format!("At each step, do what the user asks {}", toolllama::STEP_SENTENCE),
    );
    let with_system = |messages: Vec<Message>| {
        let own = messages.into_iter().filter(|message| message.role != Role::System);
        std::iter::once(system.clone()).chain(own).collect::<Vec<Message>>()
    };
    let prefixes: Vec<Vec<Message>> =
        prefixes(&attempt.tree, attempt.answered?).into_iter().map(with_system).collect();
    toolllama::steps(&solved.record.instruction, &prefixes, &functions).ok()
}

/// The line of OpenAI: messages with thoughts, and 1 in `loss_mask` for each message that a model learns to write: those that the model wrote in
/// this path, without those with a call that failed though the instruction's own do not.
fn with_thoughts(solved: &Solved<'_>) -> Option<Value> {
    let conversation = solved.conversation()?;
    // What comes before the last message of the user is no part of the path.
    let first = conversation.iter().rposition(|message| message.role == Role::User)? + 1;
    let mut made = solved.chosen()?.calls().into_iter();
    let fails_as_wanted = |call: &Call| {
        let is_it =
            |own: &CallRecord| own.name == call.name && call.arguments.as_object() == Some(&own.arguments);
        solved.record.calls.iter().any(|own| own.failure.is_some() && is_it(own))
    };
    let mut is_learned = |(at, message): (usize, &Message)| {
        if at < first || message.role != Role::Assistant {
            return 0;
        }
        let of_message: Vec<_> = made.by_ref().take(message.calls.len()).collect();
        let is_failed = |(call, _, is_error): &(&Call, &str, bool)| *is_error && !fails_as_wanted(call);
        u8::from(!of_message.iter().any(is_failed))
    };
    let loss_mask: Vec<u8> = conversation.iter().enumerate().map(&mut is_learned).collect();
    Some(json!({
        "id": solved.id,
        "messages": conversation.iter().map(openai_message).collect::<Vec<_>>(),
        "tools": openai_tools(&solved.functions),
        "loss_mask": loss_mask,
    }))
}

/// The pairs of an instruction: where an attempt went on from a step that led nowhere, and where one attempt passes and another fails.
fn pairs<'a>(solved: &'a Solved<'_>) -> impl Iterator<Item = Value> + 'a {
    let tools = openai_tools(&solved.functions);
    let line = move |pair: PreferencePair, kind: &str| {
        let (chosen, rejected) = (without_finish(pair.chosen), without_finish(pair.rejected));
        // Who gives up without a word has nothing that a model can learn to avoid.
        if chosen.is_empty() || rejected.is_empty() || chosen == rejected {
            return None;
        }
        let written = |messages: &[Message]| -> Vec<Value> {
            messages.iter().filter(|message| message.role != Role::System).map(openai_message).collect()
        };
        let members = [
            ("id", json!(solved.id)),
            ("from", json!(kind)),
            ("prompt", json!(written(&pair.shared))),
            ("chosen", json!(written(&chosen))),
            ("rejected", json!(written(&rejected))),
            ("tools", json!(tools)),
        ];
        Some(Value::Object(
            members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
        ))
    };
    let passing = solved.attempts.iter().zip(solved.passes()).filter(|(_, passes)| *passes);
    let mut lines: Vec<Value> = passing
        .flat_map(|(attempt, _)| preference_pairs(&attempt.tree))
        .filter_map(|pair| line(pair, "steps"))
        .collect();
    lines.extend(of_attempts(solved).and_then(|pair| line(pair, "attempts")));
    // Attempts that go the same way give the same pairs.
    let mut written = BTreeSet::new();
    lines.retain(|line| written.insert(line.to_string()));
    lines.into_iter()
}

/// A continuation as the other files have it: an answer is a text, and nobody calls `Finish`.
fn without_finish(messages: Vec<Message>) -> Vec<Message> {
    let without = |mut message: Message| {
        let ended = message.calls.iter().find(|call| call.name == finish::NAME);
        let ended = ended.and_then(|call| finish::read(&call.arguments).ok());
        message.calls.retain(|call| call.name != finish::NAME);
        match ended {
            Some(Finish::Answer(answer)) if message.calls.is_empty() => message.content = answer,
            _ => {}
        }
        message
    };
    let messages = messages.into_iter().map(without);
    messages.filter(|message| !message.content.is_empty() || !message.calls.is_empty()).collect()
}

/// The chosen attempt and the first that is known to be wrong, from the last message of the user on.
fn of_attempts(solved: &Solved<'_>) -> Option<PreferencePair> {
    let good = solved.chosen()?;
    let bad =
        solved.attempts.iter().find(|attempt| attempt.solved == Some(false) && attempt.answered.is_some())?;
    let shared: Vec<Message> = good.tree.opening().to_vec();
    let after = |attempt: &Attempt| attempt.messages().split_off(shared.len());
    let (chosen, rejected) = (after(good), after(bad));
    let node = callsieve_solve::tree::Tree::ROOT;
    (chosen != rejected).then_some(PreferencePair { node, shared, chosen, rejected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_calls_are_learned_only_if_the_instruction_fails_as_well() {
        let call = |name: &str, id: &str| json!({"name": name, "arguments": {"id": id}});
        let own = |name: &str, id: &str, failure: &Value| json!({"name": name, "arguments": {"id": id}, "result": null, "failure": failure, "references": {}, "provenance": {}});
        let record: Record = serde_json::from_value(json!({
            "instruction": "Open D-1.", "stratum": "error-recovery", "style": "ask", "wording": "template", "tier": "executed",
            "turns": [{"user": "Open D-1.", "calls": [1, 2], "answer": ""}],
            "calls": [own("open", "D-1", &json!("error-result")), own("unlock", "D-1", &Value::Null)],
            "answer": "", "answer_from": [], "together": false, "offered": ["open", "unlock"], "environment": "doors",
            "origin": "declared", "state": "start", "end_state": null
        }))
        .unwrap();
        let node = |parent: usize, name: &str, id: &str, is_error: bool| {
            let seen = json!({"text": "{}", "is_error": is_error});
            json!({"parent": parent, "request": parent + 1, "calls": [{"call": call(name, id), "kind": "function", "observation": seen}]})
        };
        let attempt: Attempt = serde_json::from_value(json!({
            "tree": {"semantics": "paper", "opening": [{"role": "user", "content": "Open D-1."}], "nodes": [
                {"request": 0},
                node(0, "open", "D-1", true),
                node(1, "open", "D-2", true),
                node(2, "unlock", "D-1", false),
                {"parent": 3, "request": 4, "calls": [{"call": {"name": "Finish", "arguments": {}}, "kind": "finish"}],
                    "end": {"answered": "It is open."}}
            ]},
            "end": "answered", "spent": {"requests": 4, "usage": {"tokens_in": 0, "tokens_out": 0, "micro_dollars": 0}}, "answered": 4
        }))
        .unwrap();
        let attempts = [attempt];
        let solved = Solved {
            id: "a",
            record: &record,
            functions: Cow::Owned(Vec::new()),
            attempts: &attempts,
            checked: &[],
        };
        let line = with_thoughts(&solved).unwrap();
        assert_eq!(line["loss_mask"], json!([0, 1, 0, 0, 0, 1, 0, 1]), "{line}");
    }
}
