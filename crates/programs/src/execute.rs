//! Runs a program in a fresh episode, and resolves what its arguments take from earlier results.

use callsieve_environment::call::{Call, Observation, Origin};
use callsieve_environment::environment::{Environment, Execution, InitialState};
use callsieve_environment::error::EnvironmentError;
use serde_json::{Map, Value};

use crate::place::value_at;
use crate::program::{Argument, Program, Step};

/// A program as it ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Executed {
    /// The calls with the arguments they were made with, and what they returned. Fewer than steps if one stopped it.
    pub calls: Vec<(Call, Observation)>,
    /// Why it stopped before its last step: the step, and the place in an earlier result that is not there.
    pub unresolved: Option<(usize, String)>,
    /// The hash of the state at the end; `None` if the environment shows none.
    pub state_hash: Option<String>,
}

impl Executed {
    /// Returns the result of a step.
    pub fn result(&self, step: usize) -> Option<&Value> {
        self.calls.get(step).map(|(_, observation)| &observation.result)
    }

    /// Returns `false` for a step of which only the doc is known.
    pub fn is_executed(&self, step: usize) -> bool {
        self.calls.get(step).is_some_and(|(_, seen)| seen.origin != Origin::Unexecuted)
    }

    /// Returns the first step that failed and was not expected to.
    pub fn failed_step(&self, steps: &[Step]) -> Option<usize> {
        self.calls.iter().zip(steps).position(|((_, seen), step)| seen.failure.is_some() != step.fails)
    }

    /// Returns `true` if every step ran, and failed where it was expected to only.
    pub fn is_as_expected(&self, steps: &[Step]) -> bool {
        self.unresolved.is_none() && self.calls.len() == steps.len() && self.failed_step(steps).is_none()
    }

    /// Returns `true` if another execution returned the same results from its step `from` on, and the same end state.
    pub fn ends_as(&self, other: &Self, from: (usize, usize)) -> bool {
        let (own, others) = (self.calls.iter().skip(from.0), other.calls.iter().skip(from.1));
        own.map(|(_, seen)| seen).eq(others.map(|(_, seen)| seen)) && self.state_hash == other.state_hash
    }
}

/// Runs all steps in a fresh episode. A failed call does not stop it; an argument that cannot be resolved does.
///
/// # Errors
/// The environment cannot be started or has ended.
pub fn execute(
    environment: &dyn Environment,
    state: &InitialState,
    program: &Program,
) -> Result<Executed, EnvironmentError> {
    if !program.has_dependency() {
        // All arguments are known, so it is one request to a process.
        let calls = program.steps.iter().filter_map(|step| {
            resolve(step, &[]).ok().map(|arguments| Call::new(step.function.clone(), arguments))
        });
        return execute_calls(environment, state, calls.collect());
    }
    let mut episode = environment.start(state)?;
    let mut calls: Vec<(Call, Observation)> = Vec::with_capacity(program.steps.len());
    let mut unresolved = None;
    for (nth, step) in program.steps.iter().enumerate() {
        match resolve(step, &calls) {
            Ok(arguments) => {
                let call = Call { name: step.function.clone(), arguments };
                let observation = episode.call(&call)?;
                calls.push((call, observation));
            }
            Err(place) => {
                unresolved = Some((nth, place));
                break;
            }
        }
    }
    let state_hash = episode.state_hash()?;
    episode.stop()?;
    Ok(Executed { calls, unresolved, state_hash })
}

/// Runs calls whose arguments are known in a fresh episode. If they return what an execution of a program returned that made
/// the same calls, the program would resolve to the same arguments again.
///
/// # Errors
/// As for [`execute`].
pub fn execute_calls(
    environment: &dyn Environment,
    state: &InitialState,
    calls: Vec<Call>,
) -> Result<Executed, EnvironmentError> {
    let Execution { observations, state_hash, .. } = environment.run_to_hash(state, &calls)?;
    let calls = calls.into_iter().zip(observations).collect();
    Ok(Executed { calls, unresolved: None, state_hash })
}

/// Returns the arguments with what they take from earlier results.
///
/// # Errors
/// The place in an earlier result that is not there.
pub fn resolve(step: &Step, earlier: &[(Call, Observation)]) -> Result<Map<String, Value>, String> {
    let value = |argument: &Argument| match argument {
        Argument::Literal { value, .. } => Ok(value.clone()),
        Argument::Result(place) => {
            let result = earlier.get(place.step).filter(|(_, observation)| observation.failure.is_none());
            let found = result.and_then(|(_, observation)| value_at(&place.path, &observation.result));
            found.cloned().ok_or_else(|| place.to_string())
        }
    };
    step.arguments.iter().map(|(name, argument)| Ok((name.clone(), value(argument)?))).collect()
}
