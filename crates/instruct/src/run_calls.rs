//! Executes the calls of a record that were proposed, and slices those that are not needed.

use callsieve_environment::environment::Environment;
use callsieve_environment::error::EnvironmentError;
use callsieve_programs::answer::{Answer, Writing, answer};
use callsieve_programs::bindings::Bindings;
use callsieve_programs::checks::{Checker, Goal, MOST_RESULT_BYTES, is_empty};
use callsieve_programs::execute::{Executed, execute};
use callsieve_programs::pool::Pools;
use callsieve_programs::program::{Argument, Program, ResultPath, Step, TakenFrom};
use callsieve_programs::random::Random;
use callsieve_programs::stratum::Stratum;
use callsieve_programs::wording::templates::Templates;
use serde_json::{Value, json};

use crate::record::{CallRecord, EXECUTED, Provenance, Record};

/// Why the calls of a record are no gold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failed {
    /// A call fails.
    Call,
    /// A place in a result is not there.
    Unresolved,
    /// A call returns nothing and changes nothing.
    Empty,
    /// A call returns more than a reader would go through.
    Huge,
    /// Two runs differ.
    Nondeterministic,
}

/// Executes records over an environment.
pub struct Runner<'a> {
    environment: &'a dyn Environment,
    pools: Pools,
    templates: Templates,
    seed: u64,
    most_bytes: usize,
}

impl<'a> Runner<'a> {
    /// Returns a runner over an environment. `seed` draws the forms of answers.
    pub fn new(environment: &'a dyn Environment, seed: u64) -> Self {
        let pools = Pools::new(environment, &Bindings::default());
        Self { environment, pools, templates: Templates::english(), seed, most_bytes: MOST_RESULT_BYTES }
    }

    /// Sets the most bytes of a result.
    #[must_use]
    pub fn with_most_bytes(self, most_bytes: usize) -> Self {
        Self { most_bytes, ..self }
    }

    /// Runs the calls of a record in two fresh episodes. Returns the record with arguments, results, answer and end state.
    ///
    /// # Errors
    /// Why the calls are no gold, with the call; the outer error is one of the environment.
    pub fn executed(&self, record: &Record) -> Result<Result<Record, (Failed, Value)>, EnvironmentError> {
        let program = self.program(record);
        let run = || execute(self.environment, &self.environment.initial_states()[program.state], &program);
        let first = run()?;
        if let Some(failed) = self.unfit(&program, &first) {
            return Ok(Err(failed));
        }
        let again = run()?;
        if again != first {
            let step = first.calls.iter().zip(&again.calls).position(|(one, other)| one != other);
            let place = step.map_or_else(|| json!("the state at the end"), |step| name_of(&program, step));
            return Ok(Err((Failed::Nondeterministic, json!({ "call": place }))));
        }
        if let Some(step) = self.empty(&program, &first)? {
            return Ok(Err((Failed::Empty, json!({ "call": name_of(&program, step) }))));
        }
        Ok(Ok(self.with_results(record, &first)))
    }

    /// A call that the user wants, and that returns nothing and changes nothing.
    fn empty(&self, program: &Program, whole: &Executed) -> Result<Option<usize>, EnvironmentError> {
        for (step, (_, seen)) in whole.calls.iter().enumerate() {
            if !is_empty(seen) {
                continue;
            }
            let is_used = program.is_used(step);
            let state = &self.environment.initial_states()[program.state];
            let changes = !is_used
                && execute(self.environment, state, &program.without(step))?.state_hash != whole.state_hash;
            if !changes {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Returns the record without the calls that are not needed for the last result and the state at the end; the record must
    /// have been executed. Calls of which all are wanted stay, and so do those of conversations.
    ///
    /// # Errors
    /// The environment fails.
    pub fn sliced(&self, record: &Record) -> Result<Option<Record>, EnvironmentError> {
        if record.together || record.calls.len() < 2 || record.turns.len() > 1 {
            return Ok(None);
        }
        let program = self.program(record);
        let checker = Checker { environment: self.environment, pools: &self.pools };
        let shorter = checker.sliced(program, Goal::Last)?;
        if shorter.steps.len() == record.calls.len() {
            return Ok(None);
        }
        let state = &self.environment.initial_states()[shorter.state];
        let executed = execute(self.environment, state, &shorter)?;
        let mut new = record.clone();
        new.calls = shorter.steps.iter().map(|step| call_of(step, &record.calls)).collect();
        if let Some(turn) = new.turns.last_mut() {
            turn.calls = (1..=new.calls.len()).collect();
        }
        if new.calls.len() == 1 && new.stratum == Stratum::Chain {
            new.stratum = Stratum::Single;
        }
        Ok(Some(self.with_results(&new, &executed)))
    }

    /// Why a run is no gold: a failure, or too much.
    fn unfit(&self, program: &Program, whole: &Executed) -> Option<(Failed, Value)> {
        if let Some(step) = whole.failed_step(&program.steps) {
            let seen = &whole.calls[step].1;
            let failure = seen.failure.map(callsieve_environment::call::Failure::name);
            let result: String = seen.result.to_string().chars().take(200).collect();
            return Some((
                Failed::Call,
                json!({"call": name_of(program, step), "failure": failure, "result": result}),
            ));
        }
        // A failed call has no result: that is why a later one finds nothing in it.
        if let Some((step, place)) = &whole.unresolved {
            return Some((Failed::Unresolved, json!({"call": name_of(program, *step), "place": place})));
        }
        let huge =
            whole.calls.iter().position(|(_, seen)| seen.result.to_string().len() > self.most_bytes)?;
        Some((Failed::Huge, json!({ "call": name_of(program, huge) })))
    }

    /// The program of the calls of a record.
    fn program(&self, record: &Record) -> Program {
        let states = self.environment.initial_states();
        let state = states.iter().position(|state| state.name == record.state).unwrap_or_default();
        let step = |call: &CallRecord| Step {
            function: call.name.clone(),
            arguments: call
                .arguments
                .iter()
                .map(|(name, value)| (name.clone(), argument(call, name, value)))
                .collect(),
            fails: false,
        };
        Program { state, steps: record.calls.iter().map(step).collect() }
    }

    fn is_read_only(&self, function: &str) -> bool {
        self.pools.of_name(function).is_some_and(|at| self.pools.callables[at].is_read_only)
    }

    /// The record with what its calls returned.
    fn with_results(&self, record: &Record, executed: &Executed) -> Record {
        let mut new = record.clone();
        for (call, (made, seen)) in new.calls.iter_mut().zip(&executed.calls) {
            call.arguments.clone_from(&made.arguments);
            call.result.clone_from(&seen.result);
        }
        let number = record.sample.as_ref().map_or(0, |sample| sample.number * 32 + sample.slot);
        let mut random = Random::new(self.seed, number);
        let writing = Writing { templates: &self.templates, listed: &self.pools.listed };
        for turn in &mut new.turns {
            let mut steps = turn.calls.iter().map(|number| number - 1);
            let shown = if record.together { steps.collect() } else { Vec::from_iter(steps.next_back()) };
            let asks = shown.last().is_some_and(|&step| self.is_read_only(&record.calls[step].name));
            let Answer { text, values } = answer(executed, &shown, asks, writing, &mut random);
            turn.answer = text;
            new.answer.clone_from(&turn.answer);
            new.answer_from = values.iter().map(ToString::to_string).collect();
        }
        EXECUTED.clone_into(&mut new.tier);
        new.end_state.clone_from(&executed.state_hash);
        new
    }
}

fn argument(call: &CallRecord, name: &str, value: &Value) -> Argument {
    let place = call.references.get(name).and_then(|place| place.parse::<ResultPath>().ok());
    match place {
        Some(place) => Argument::Result(place),
        None => Argument::Literal { value: value.clone(), taken_from: TakenFrom::Bindings },
    }
}

/// The record of a step of a sliced program: the call that it was, with its new references.
fn call_of(step: &Step, calls: &[CallRecord]) -> CallRecord {
    let literals = |call: &&CallRecord| {
        call.name == step.function
            && step.literals().all(|(name, value)| call.arguments.get(name) == Some(value))
    };
    let mut call = calls.iter().find(literals).cloned().unwrap_or_else(|| CallRecord {
        name: step.function.clone(),
        arguments: serde_json::Map::new(),
        result: Value::Null,
        failure: None,
        references: std::collections::BTreeMap::new(),
        provenance: std::collections::BTreeMap::new(),
    });
    for (name, place) in step.references() {
        call.references.insert(name.to_owned(), place.to_string());
        call.provenance.insert(name.to_owned(), Provenance::Result { path: place.to_string() });
    }
    call
}

fn name_of(program: &Program, step: usize) -> Value {
    json!(format!("{} {}", step + 1, program.steps[step].function))
}

#[cfg(test)]
mod tests {
    use callsieve_environment::declared::Declared;

    use super::*;

    const SHOP: &str = include_str!("../../../raw/repair-shop.toml");

    #[test]
    fn a_call_that_refers_to_a_failed_one_is_not_the_reason() {
        let environment = Declared::read("repair-shop.toml", SHOP).unwrap();
        let runner = Runner::new(&environment, 1);
        let ran = |order: &str, place: &str| {
            let record: Record = serde_json::from_value(json!({
                "instruction": "", "stratum": "chain", "style": "model", "wording": "m", "tier": "unexecuted",
                "turns": [{"user": "", "calls": [1, 2], "answer": ""}],
                "calls": [
                    {"name": "get_order", "arguments": {"order_id": order}, "result": null, "references": {}, "provenance": {}},
                    {"name": "find_orders", "arguments": {"bicycle_id": place}, "result": null,
                     "references": {"bicycle_id": place}, "provenance": {}}],
                "answer": "", "answer_from": [], "together": false, "offered": [], "environment": "e",
                "origin": "declared", "state": "", "end_state": null
            }))
            .unwrap();
            runner.executed(&record).unwrap().err().map(|(failed, detail)| (failed, detail["call"].clone()))
        };
        assert_eq!(ran("R-2001", "$1.bicycle_id"), None);
        assert_eq!(ran("R-2001", "$1.bicycle"), Some((Failed::Unresolved, json!("2 find_orders"))));
        assert_eq!(ran("R-1", "$1.bicycle_id"), Some((Failed::Call, json!("1 get_order"))));
    }
}
