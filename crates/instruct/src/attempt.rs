//! Attempts at the last turn of an instruction: the calls that somebody made for it, executed after those of the earlier turns.
//!
//! An attempt is *solved* if its calls return what those of the instruction return and leave the same state. That is known by
//! execution alone, for instructions whose own calls were executed; for others nothing is known but whether there is an answer.

use callsieve_bfcl::conversation::{Call as MadeCall, Message, Role};
use callsieve_environment::call::{Call, Observation};
use callsieve_environment::environment::{Environment, Execution};
use callsieve_environment::error::EnvironmentError;
use callsieve_judge::checks::{Finding, Level};
use callsieve_solve::ending::{PathEnd, SearchEnd};
use callsieve_solve::reply::Spent;
use callsieve_solve::tree::{CallKind, NodeId, Step, Tree};
use serde::{Deserialize, Serialize};

use crate::record::Record;
use crate::retrace::{calls_of, returns_among_others, returns_the_same, run_from_start};
use crate::source::messages;

/// The last turn of an instruction, to be done anew.
pub struct Task<'a> {
    record: &'a Record,
    environment: &'a dyn Environment,
    earlier: Vec<Call>,
}

impl<'a> Task<'a> {
    /// Returns the task of a record over its environment.
    pub fn new(record: &'a Record, environment: &'a dyn Environment) -> Self {
        let before = record.turns.split_last().map_or(&[][..], |(_, before)| before);
        let earlier = before
            .iter()
            .flat_map(|turn| calls_of(record, turn))
            .map(|call| Call::new(call.name.clone(), call.arguments.clone()))
            .collect();
        Self { record, environment, earlier }
    }

    /// Returns the conversation up to the last message of the user.
    pub fn opening(&self) -> Vec<Message> {
        let mut messages = messages(self.record);
        let end = messages.iter().rposition(|message| message.role == Role::User).map_or(0, |at| at + 1);
        messages.truncate(end);
        messages
    }

    /// Returns whether the calls of the instruction itself were executed, so that attempts can be compared with them.
    pub fn has_gold(&self) -> bool {
        self.record.is_executed()
    }

    /// Executes calls after those of the earlier turns. Returns the observation of the last one.
    ///
    /// # Errors
    /// The environment fails.
    pub fn execute(&self, calls: &[&MadeCall]) -> Result<Observation, EnvironmentError> {
        let name = calls.last().map_or("", |call| call.name.as_str());
        let seen = self.run(calls)?.observations.pop();
        Ok(seen.unwrap_or_else(|| Observation::unknown_function(name, self.environment.origin())))
    }

    /// Returns whether the calls of the last turn are known to change nothing: the state after them is that before.
    ///
    /// # Errors
    /// The environment fails.
    pub fn changes_nothing(&self) -> Result<bool, EnvironmentError> {
        Ok(self.has_gold()
            && self.record.end_state.is_some()
            && self.run(&[])?.state_hash == self.record.end_state)
    }

    /// Returns whether calls do what the last turn asks for; `None` if its own calls were not executed.
    ///
    /// # Errors
    /// The environment fails.
    pub fn is_solved(&self, calls: &[&MadeCall]) -> Result<Option<bool>, EnvironmentError> {
        if !self.has_gold() {
            return Ok(None);
        }
        let Some(turn) = self.record.turns.last() else { return Ok(None) };
        let expected = calls_of(self.record, turn);
        let execution = self.run(calls)?;
        let made: Vec<Call> = calls.iter().map(|call| executable(call)).collect();
        let seen = execution.observations.iter().skip(self.earlier.len());
        let made: Vec<(&Call, &Observation)> = made.iter().zip(seen).collect();
        let is_same_state = self.record.end_state.is_none() || execution.state_hash == self.record.end_state;
        let is_same = returns_the_same(self.record, &expected, &made)
            || self.record.end_state.is_some() && returns_among_others(&expected, &made);
        Ok(Some(is_same_state && is_same))
    }

    fn run(&self, calls: &[&MadeCall]) -> Result<Execution, EnvironmentError> {
        let calls: Vec<Call> =
            self.earlier.iter().cloned().chain(calls.iter().map(|call| executable(call))).collect();
        run_from_start(self.record, self.environment, &calls)
    }
}

/// A call as an environment executes it. Arguments that are no object are none.
fn executable(call: &MadeCall) -> Call {
    Call::new(call.name.clone(), call.arguments.as_object().cloned().unwrap_or_default())
}

/// One search for the calls of an instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// All its replies, with their calls and results.
    pub tree: Tree,
    /// Why it ended.
    pub end: SearchEnd,
    /// What it used.
    pub spent: Spent,
    /// The leaf of its first answered path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<NodeId>,
    /// Whether the calls of that path do what the instruction asks for; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solved: Option<bool>,
    /// The calls of the instruction are known to change nothing, so the answer is all that the user gets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes_nothing: bool,
}

impl Attempt {
    /// Returns whether the attempt counts as good: solved or, where that is not known, answered.
    pub fn passes(&self) -> bool {
        self.solved.unwrap_or(self.answered.is_some())
    }

    /// Returns the answer to the user; `None` if there is none.
    pub fn answer(&self) -> Option<&str> {
        match &self.tree.node(self.answered?)?.end {
            Some(PathEnd::Answered(answer)) => Some(answer),
            _ => None,
        }
    }

    /// Returns the messages of the answered path, the answer as the last one instead of the call of `Finish`; empty if there is none.
    pub fn messages(&self) -> Vec<Message> {
        let (Some(leaf), Some(answer)) = (self.answered, self.answer()) else { return Vec::new() };
        let mut messages = self.tree.messages(leaf);
        if let Some(last) = messages.iter_mut().rfind(|message| message.role == Role::Assistant) {
            last.calls.retain(|call| call.name != callsieve_solve::finish::NAME);
        }
        // The thought with which it finishes is none that a user reads, and two messages of the model in a row are no conversation.
        messages.pop_if(|last| last.role == Role::Assistant && last.calls.is_empty());
        messages.retain(|message| !is_nothing(message));
        messages.push(Message::text(Role::Assistant, answer));
        messages
    }

    /// Returns whether the answered path has several calls of functions, all in one reply.
    pub fn is_made_at_once(&self) -> bool {
        let path = self.answered.map(|leaf| self.tree.path(leaf)).unwrap_or_default();
        let in_reply = |calls: &[Step]| calls.iter().filter(|step| step.kind == CallKind::Function).count();
        let with_calls: Vec<usize> =
            path.into_iter().map(|node| in_reply(&node.calls)).filter(|n| *n > 0).collect();
        matches!(with_calls[..], [n] if n > 1)
    }

    /// Returns the calls of functions on the answered path, each with its result and whether it failed.
    pub fn calls(&self) -> Vec<(&MadeCall, &str, bool)> {
        let path = self.answered.map(|leaf| self.tree.path(leaf)).unwrap_or_default();
        let steps = path.into_iter().flat_map(|node| &node.calls);
        steps
            .filter(|step| step.kind == CallKind::Function)
            .filter_map(|step| {
                let seen = step.observation.as_ref()?;
                Some((&step.call, seen.text.as_str(), seen.is_error))
            })
            .collect()
    }
}

/// A message of the model in which nothing is left.
fn is_nothing(message: &Message) -> bool {
    message.role == Role::Assistant && message.calls.is_empty() && message.content.is_empty()
}

/// What is found in an attempt without a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Faults and suspicions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Functions that the instruction calls and the attempt does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// The reason for which judges reject its answer, though its calls are right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected_for: Option<String>,
}

impl Checked {
    /// Returns whether a finding is certain, or judges reject the answer.
    pub fn is_faulty(&self) -> bool {
        self.rejected_for.is_some() || self.findings.iter().any(|finding| finding.level == Level::Certain)
    }
}

/// Returns which attempts pass: those that are solved or, where that is not known, answered, without a certain fault. `checked` is empty if
/// nothing was checked.
pub fn passing(attempts: &[Attempt], checked: &[Checked]) -> Vec<bool> {
    let is_faulty = |at: usize| checked.get(at).is_some_and(Checked::is_faulty);
    attempts.iter().enumerate().map(|(at, attempt)| attempt.passes() && !is_faulty(at)).collect()
}

/// Returns the number of the attempt that is chosen: of those that pass, the one with the fewest findings, failed calls and calls, and of
/// equals the first. One that is known to be wrong never is. `checked` is empty if nothing was checked.
pub fn chosen(attempts: &[Attempt], checked: &[Checked]) -> Option<usize> {
    let passes = passing(attempts, checked);
    let flaws = |at: &usize| {
        let calls = attempts[*at].calls();
        let n_failed = calls.iter().filter(|(_, _, is_error)| *is_error).count();
        (checked.get(*at).map_or(0, |of| of.findings.len()), n_failed, calls.len())
    };
    (0..attempts.len()).filter(|at| passes[*at]).min_by_key(flaws)
}

/// Returns the share of attempts that pass, 0 to 1.
#[allow(clippy::cast_precision_loss)] // Attempts are few.
pub fn pass_rate(passes: &[bool]) -> f64 {
    passes.iter().filter(|passes| **passes).count() as f64 / passes.len().max(1) as f64
}
