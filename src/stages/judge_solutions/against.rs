//! The win rate over the solutions of another run: who passes wins over who fails, and judges decide between two that pass.
//!
//! Each pair is shown in both orders; two votes that disagree after the swap are a tie.

use std::collections::BTreeMap;
use std::path::Path;

use callsieve_judge::passing::PassLabel;
use callsieve_judge::verdict::{Unreadable, read};
use callsieve_judge::votes::Decision;
use callsieve_judge::winning::{Comparison, Preference, SwappedVotes};
use serde_json::Value;

use super::super::asking::{ask, usable};
use super::figures::Judged;
use super::{Case, Message, ModelUsage};
use crate::conversation::Role;
use crate::engine::context::Context;
use crate::engine::error::{Error, Result};
use crate::instruct::solutions::RATES;
use crate::prompts::weighing::comparison;

/// Where a run has its solutions, below its folder.
const FOLDERS: [&str; 2] = ["dataset/solutions", "dataset/unverified/solutions"];

/// The solutions of another run, by the ids of instructions; `None` for one without a path that passes.
pub(super) struct Reference(BTreeMap<String, Option<String>>);

impl Reference {
    /// Reads the solutions of a run.
    ///
    /// # Errors
    /// It has none, or they cannot be read.
    pub(super) fn read(run: &Path) -> Result<Self> {
        if !run.is_dir() {
            return Err(Error::Setting(format!("{}: there is no such run folder", run.display())));
        }
        let mut all = BTreeMap::new();
        for folder in FOLDERS.map(|folder| run.join(folder)) {
            for line in lines(&folder.join(RATES))? {
                all.insert(id_of(&line), None);
            }
            for line in lines(&folder.join("openai.jsonl"))? {
                all.insert(id_of(&line), Some(path_text(&line["messages"])));
            }
        }
        if all.is_empty() {
            return Err(Error::Setting(format!(
                "{}: the run has no solutions\nhint: `callsieve annotate {} --model NAME` makes them",
                run.display(),
                run.display()
            )));
        }
        Ok(Self(all))
    }

    /// Everything that can change a comparison.
    pub(super) fn fingerprint(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

/// The lines of a file as JSON; none if there is no file.
fn lines(file: &Path) -> Result<Vec<Value>> {
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let text = crate::side_file::read_text(file)
        .map_err(|error| Error::Setting(format!("{}: {error}", file.display())))?;
    let line = |(at, line): (usize, &str)| {
        let read = serde_json::from_str(line);
        read.map_err(|error| Error::Setting(format!("{}:{}: {error}", file.display(), at + 1)))
    };
    text.lines().enumerate().map(line).collect()
}

fn id_of(line: &Value) -> String {
    line["id"].as_str().unwrap_or_default().to_owned()
}

/// The calls, results and answer after the last message of the user, of messages as OpenAI has them.
fn path_text(messages: &Value) -> String {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let start = messages.iter().rposition(|message| message["role"] == "user").map_or(0, |at| at + 1);
    let mut text = String::new();
    for message in &messages[start..] {
        let content = message["content"].as_str().unwrap_or_default();
        match message["role"].as_str() {
            Some("tool") => text += &format!("result: {content}\n"),
            _ if !content.is_empty() => text += &format!("{content}\n"),
            _ => {}
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let (name, arguments) = (function["name"].as_str(), function["arguments"].as_str());
            text += &format!("call: {} {}\n", name.unwrap_or_default(), arguments.unwrap_or_default());
        }
    }
    text
}

/// Compares cases with those of the reference that have the same id. Models are asked about pairs of which both pass.
///
/// # Errors
/// As [`ask`].
pub(super) fn compare(
    cases: &[Case<'_>],
    judged: &[Judged],
    reference: &Reference,
    models: &[String],
    cx: &Context<'_>,
) -> Result<(Vec<Comparison>, ModelUsage)> {
    let label = |passes: bool| Decision::Class(if passes { PassLabel::Pass } else { PassLabel::Fail });
    let mut pairs: Vec<(&Case<'_>, &str, Comparison)> = Vec::new();
    for (case, judged) in cases.iter().zip(judged) {
        let Some(other) = reference.0.get(&case.id) else { continue };
        let candidate = judged.execution.map_or(judged.decision, |_| label(case.passes));
        let comparison = Comparison { candidate, reference: label(other.is_some()), votes: Vec::new() };
        pairs.push((case, other.as_deref().unwrap_or("(no answer)"), comparison));
    }
    let mut all = ModelUsage::default();
    for model in models {
        let model = model.trim();
        let open: Vec<usize> = (0..pairs.len()).filter(|at| !pairs[*at].2.is_decided()).collect();
        let mut votes = Vec::new();
        let questions = |at: &usize| {
            let (case, other, _) = &pairs[*at];
            let (request, own) = (asked(&case.conversation), own_text(&case.conversation));
            let orders = [[own.as_str(), *other], [*other, own.as_str()]];
            let both: Vec<_> =
                orders.into_iter().filter_map(|order| comparison(request, order, model, (0, 1))).collect();
            // Half a pair is no vote.
            if both.len() == 2 { both } else { Vec::new() }
        };
        let usage = ask(cx, model, &open, questions, |_, samples, usage| {
            let mut read = samples.into_iter().map(|sample| {
                usable(sample, usage, |answer| {
                    read::<Preference>(&answer.text).map_err(|_| "the answer has no verdict")
                })
                .map_err(|_| Unreadable::NoVerdict)
            });
            let (first, second) = (read.next(), read.next());
            votes.push(SwappedVotes {
                candidate_first: first.unwrap_or(Err(Unreadable::NoVerdict)),
                reference_first: second.unwrap_or(Err(Unreadable::NoVerdict)),
            });
            Ok(())
        })?;
        all.add(&ModelUsage { rows: 0, ..usage });
        for (at, votes) in open.into_iter().zip(votes) {
            pairs[at].2.votes.push(votes);
        }
    }
    Ok((pairs.into_iter().map(|(.., comparison)| comparison).collect(), all))
}

/// The last message of the user.
fn asked(conversation: &[Message]) -> &str {
    conversation.iter().rfind(|message| message.role == Role::User).map_or("", |message| &message.content)
}

fn own_text(conversation: &[Message]) -> String {
    let messages = conversation.iter().map(crate::conversation::openai_message).collect();
    path_text(&Value::Array(messages))
}
