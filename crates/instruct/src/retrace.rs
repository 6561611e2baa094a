//! Translation back: the calls that somebody else makes from the words of an instruction, executed and compared.
//!
//! Words may lead elsewhere than the calls that they are for. So a model that sees the words and the offered functions only makes calls,
//! one step at a time; each is executed from the initial state of the instruction. They need not be the same calls: what they
//! return, and the state at the end, must be.

use std::sync::Arc;

use callsieve_bfcl::conversation::{Call as MadeCall, Message, Role};
use callsieve_environment::call::{Call, Observation};
use callsieve_environment::environment::{Environment, Execution};
use callsieve_environment::error::EnvironmentError;
use serde_json::{Map, Value, json};

use crate::record::{CallRecord, Record, TurnRecord};
use crate::source::{call_id, result_text};

/// Calls of a turn beyond those of the instruction.
const MOST_MORE: usize = 2;
/// Characters of a result that a model gets.
const MOST_CHARS: usize = 4000;

/// What follows after some calls.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Somebody is asked for the next calls.
    Ask,
    /// The words lead to what the instruction has.
    Same,
    /// They lead elsewhere; what was expected and found.
    Other(Value),
}

/// A record whose words are translated back.
pub struct Retrace {
    record: Arc<Record>,
    /// The conversation so far.
    messages: Vec<Message>,
    /// The calls of all turns so far, as executed.
    made: Vec<Call>,
    /// The number of the current turn, from 0.
    turn: usize,
    /// The calls of earlier turns.
    n_before: usize,
    /// What happened when all calls so far ran.
    ran: Option<Execution>,
}

impl Retrace {
    /// Returns a record before its first call.
    pub fn new(record: Arc<Record>) -> Self {
        let mut this =
            Self { record, messages: Vec::new(), made: Vec::new(), turn: 0, n_before: 0, ran: None };
        this.say();
        this
    }

    /// The record.
    pub fn record(&self) -> &Arc<Record> {
        &self.record
    }

    /// Returns the conversation so far: messages of the user, calls with their results, answers of earlier turns.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns whether the current turn has calls.
    pub fn expects_calls(&self) -> bool {
        self.record.turns.get(self.turn).is_some_and(|turn| !turn.calls.is_empty())
    }

    /// Adds the message of the current turn.
    fn say(&mut self) {
        let text = self.record.turns.get(self.turn).map_or("", |turn| &turn.user);
        self.messages.push(Message::text(Role::User, text));
    }

    /// Takes the next calls, none if nothing is left to do.
    ///
    /// # Errors
    /// The environment fails.
    pub fn take(
        &mut self,
        calls: Vec<MadeCall>,
        environment: &dyn Environment,
    ) -> Result<Next, EnvironmentError> {
        let Some(turn) = self.record.turns.get(self.turn).cloned() else { return Ok(Next::Same) };
        let n_expected = turn.calls.len();
        if calls.is_empty() {
            let (is_same, found) = self.is_done(&turn, environment)?;
            return if is_same { self.end_turn(&turn, environment) } else { Ok(Next::Other(found)) };
        }
        let n_made = self.made.len() - self.n_before + calls.len();
        if n_expected == 0 || n_made > n_expected + MOST_MORE {
            let made = calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>();
            return Ok(Next::Other(
                json!({"turn": self.turn + 1, "expected_calls": n_expected, "next_calls": made}),
            ));
        }
        // Something more is asked for than the instruction has.
        if n_made > n_expected && self.is_done(&turn, environment)?.0 {
            let made = calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>();
            return Ok(Next::Other(json!({"turn": self.turn + 1, "more_calls": made})));
        }
        self.execute(calls, environment)?;
        Ok(Next::Ask)
    }

    /// Executes calls after those before, and adds them to the conversation with their results.
    fn execute(
        &mut self,
        calls: Vec<MadeCall>,
        environment: &dyn Environment,
    ) -> Result<(), EnvironmentError> {
        let first = self.made.len();
        self.ran = None;
        self.made.extend(calls.iter().map(|call| Call::new(call.name.clone(), arguments(call))));
        let seen = self.run(environment)?;
        let made: Vec<MadeCall> = (first + 1..)
            .zip(calls)
            .map(|(number, call)| MadeCall { id: Some(call_id(number)), ..call })
            .collect();
        let results = seen.observations.iter().skip(first).zip(&made).map(|(seen, call)| Message {
            call_id: call.id.clone(),
            name: Some(call.name.clone()),
            is_error: seen.failure.is_some(),
            ..Message::text(Role::Tool, shortened(&result_text(&seen.result)))
        });
        let results: Vec<Message> = results.collect();
        self.messages.push(Message { calls: made, ..Message::text(Role::Assistant, "") });
        self.messages.extend(results);
        Ok(())
    }

    /// Runs all calls so far, unless they ran already.
    fn run(&mut self, environment: &dyn Environment) -> Result<&Execution, EnvironmentError> {
        let ran = match self.ran.take() {
            Some(ran) => ran,
            None => run_from_start(&self.record, environment, &self.made)?,
        };
        Ok(self.ran.insert(ran))
    }

    /// Whether the calls of the turn return what those of the instruction do, and what was expected and found if not.
    fn is_done(
        &mut self,
        turn: &TurnRecord,
        environment: &dyn Environment,
    ) -> Result<(bool, Value), EnvironmentError> {
        self.run(environment)?;
        let expected = calls_of(&self.record, turn);
        let seen = self.ran.iter().flat_map(|ran| &ran.observations);
        let made: Vec<(&Call, &Observation)> = self.made.iter().zip(seen).skip(self.n_before).collect();
        let is_same = returns_the_same(&self.record, &expected, &made);
        let found = json!({
            "turn": self.turn + 1,
            "expected": expected.iter().map(|call| json!({ &call.name: call.arguments })).collect::<Vec<_>>(),
            "found": made.iter().map(|(call, seen)| {
                let failure = seen.failure.map(callsieve_environment::call::Failure::name);
                json!({ &call.name: call.arguments, "failure": failure })
            }).collect::<Vec<_>>(),
        });
        Ok((is_same, found))
    }

    /// Goes on with the next turn, or compares the state at the end.
    fn end_turn(
        &mut self,
        turn: &TurnRecord,
        environment: &dyn Environment,
    ) -> Result<Next, EnvironmentError> {
        self.turn += 1;
        self.n_before = self.made.len();
        if self.turn < self.record.turns.len() {
            self.messages.push(Message::text(Role::Assistant, turn.answer.clone()));
            self.say();
            return Ok(Next::Ask);
        }
        if !self.record.is_executed() || self.record.end_state.is_none() {
            return Ok(Next::Same);
        }
        let end_state = self.record.end_state.clone();
        if self.run(environment)?.state_hash == end_state {
            return Ok(Next::Same);
        }
        let made: Vec<Value> = self.made.iter().map(|call| json!({ &call.name: call.arguments })).collect();
        Ok(Next::Other(json!({"state_at_the_end": "another one", "found": made})))
    }
}

/// Runs calls from the initial state of an instruction.
///
/// # Errors
/// The environment fails.
pub(crate) fn run_from_start(
    record: &Record,
    environment: &dyn Environment,
    calls: &[Call],
) -> Result<Execution, EnvironmentError> {
    let states = environment.initial_states();
    let state = states.iter().find(|state| state.name == record.state).unwrap_or(&states[0]);
    environment.run_to_hash(state, calls)
}

/// Returns the calls of a turn of an instruction.
pub fn calls_of<'r>(record: &'r Record, turn: &TurnRecord) -> Vec<&'r CallRecord> {
    turn.calls.iter().filter_map(|number| record.calls.get(number.checked_sub(1)?)).collect()
}

/// Whether calls return what those of a turn of an instruction do: the last one the same, or all of them if they are made at once.
/// Where nothing was executed, they must be the same calls.
pub(crate) fn returns_the_same(
    record: &Record,
    expected: &[&CallRecord],
    made: &[(&Call, &Observation)],
) -> bool {
    if !record.is_executed() {
        return made.len() == expected.len()
            && expected.iter().all(|call| made.iter().any(|(made, _)| is_equal(made, call)));
    }
    let found = results(made);
    match expected.last() {
        None => made.is_empty(),
        Some(_) if record.together => found.len() == expected.len() && has_each(found, expected),
        Some(last) => found.last() == Some(&&last.result),
    }
}

/// Whether calls return what the expected ones do, and more: something was looked up besides.
pub(crate) fn returns_among_others(expected: &[&CallRecord], made: &[(&Call, &Observation)]) -> bool {
    !expected.is_empty() && has_each(results(made), expected)
}

/// The results of the calls that did not fail.
fn results<'o>(made: &[(&Call, &'o Observation)]) -> Vec<&'o Value> {
    made.iter().filter(|(_, seen)| seen.failure.is_none()).map(|(_, seen)| &seen.result).collect()
}

/// Whether each expected call has a result of its own.
fn has_each(mut found: Vec<&Value>, expected: &[&CallRecord]) -> bool {
    expected.iter().all(|call| {
        let at = found.iter().position(|result| **result == call.result);
        at.map(|at| found.swap_remove(at)).is_some()
    })
}

fn arguments(call: &MadeCall) -> Map<String, Value> {
    call.arguments.as_object().cloned().unwrap_or_default()
}

/// Whether two calls have the same arguments, texts in any case.
fn is_equal(made: &Call, call: &CallRecord) -> bool {
    let folded = |value: &Value| value.to_string().to_lowercase();
    made.name == call.name
        && made.arguments.len() == call.arguments.len()
        && call.arguments.iter().all(|(name, value)| {
            made.arguments.get(name).is_some_and(|own| own == value || folded(own) == folded(value))
        })
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
