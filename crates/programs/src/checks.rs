//! Checks of a program by execution: it runs, runs the same twice, and needs every call and every argument.

use callsieve_environment::call::Observation;
use callsieve_environment::environment::{Environment, InitialState};
use callsieve_environment::error::EnvironmentError;
use callsieve_environment::value_path::{Step as PathStep, ValuePath};
use serde_json::Value;

use crate::execute::{Executed, execute, execute_calls};
use crate::place::{Leaf, leaves, names, position, value_at};
use crate::pool::Pools;
use crate::program::{Argument, Program, ResultPath};
use crate::rejection::{Reason, Rejection};

/// What the user wants of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// The result of the last call, and the state at the end.
    Last,
    /// The result of every call.
    Every,
}

/// Other values of an argument that are tried.
const MOST_ALTERNATIVES: usize = 3;
/// Bytes of a result that a reader would go through.
pub const MOST_RESULT_BYTES: usize = 6_000;

/// Executes programs to check them.
pub struct Checker<'a> {
    /// Where they run.
    pub environment: &'a dyn Environment,
    /// The values that arguments can take.
    pub pools: &'a Pools,
}

/// A check: the program as it ran, or why it is rejected. The outer error is one of the environment.
pub type Checked = Result<Result<Executed, Rejection>, EnvironmentError>;

impl Checker<'_> {
    /// Runs a program in a fresh episode.
    ///
    /// # Errors
    /// The environment fails.
    pub fn run(&self, program: &Program) -> Result<Executed, EnvironmentError> {
        execute(self.environment, self.state(program), program)
    }

    fn state(&self, program: &Program) -> &InitialState {
        &self.environment.initial_states()[program.state]
    }

    /// Removes the calls without which the program ends the same, the latest first.
    ///
    /// # Errors
    /// The environment fails.
    pub fn sliced(&self, mut program: Program, goal: Goal) -> Result<Program, EnvironmentError> {
        if goal == Goal::Every {
            return Ok(program);
        }
        let mut whole = self.run(&program)?;
        for step in (0..program.steps.len().saturating_sub(1)).rev() {
            // What a call looks up may be in an earlier result already.
            if let Some(relinked) = relinked(&program, &whole, step)
                && let Some((shorter, executed)) = self.shorter(&relinked, &whole, step)?
            {
                (program, whole) = (shorter, executed);
                continue;
            }
            if let Some((shorter, executed)) = self.shorter(&program, &whole, step)? {
                (program, whole) = (shorter, executed);
            }
        }
        Ok(program)
    }

    /// The program without a step, if it ends the same.
    fn shorter(
        &self,
        program: &Program,
        whole: &Executed,
        step: usize,
    ) -> Result<Option<(Program, Executed)>, EnvironmentError> {
        if program.is_used(step) || program.steps[step].fails {
            return Ok(None);
        }
        let shorter = program.without(step);
        let executed = self.run(&shorter)?;
        let last = program.steps.len() - 1;
        let same = executed.is_as_expected(&shorter.steps) && executed.ends_as(whole, (last - 1, last));
        Ok(same.then_some((shorter, executed)))
    }

    /// A call of an error recovery without which the refused call succeeds as well when it is made again.
    ///
    /// # Errors
    /// The environment fails.
    pub fn repairs_nothing(&self, program: &Program) -> Result<Option<String>, EnvironmentError> {
        for step in 1..program.steps.len().saturating_sub(1) {
            let shorter = program.without(step);
            if self.run(&shorter)?.is_as_expected(&shorter.steps) {
                return Ok(Some(name_of(program, step)));
            }
        }
        Ok(None)
    }

    /// Checks a program. Returns it as it ran.
    ///
    /// # Errors
    /// The environment fails.
    pub fn check(&self, program: &Program, goal: Goal) -> Checked {
        let whole = self.run(program)?;
        if let Some(rejection) = unfit(program, &whole) {
            return Ok(Err(rejection));
        }
        let calls = whole.calls.iter().map(|(call, _)| call.clone()).collect();
        let again = execute_calls(self.environment, self.state(program), calls)?;
        if again != whole {
            let step = whole.calls.iter().zip(&again.calls).position(|(one, other)| one != other);
            let place = step.map_or("the state at the end".to_owned(), |step| name_of(program, step));
            return Ok(Err(Rejection::new(Reason::Nondeterministic, place)));
        }
        for check in [Self::nothing, Self::unneeded, Self::order, Self::coincidence, Self::ambiguous] {
            if let Some(rejection) = check(self, program, &whole, goal)? {
                return Ok(Err(rejection));
            }
        }
        Ok(Ok(whole))
    }

    /// A call whose result the user wants, and that returns nothing and changes nothing.
    fn nothing(&self, program: &Program, whole: &Executed, goal: Goal) -> Found {
        let last = program.steps.len() - 1;
        for (step, (_, seen)) in whole.calls.iter().enumerate() {
            let is_wanted = goal == Goal::Every || step == last;
            if !is_wanted || !is_empty(seen) {
                continue;
            }
            let changes =
                !program.is_used(step) && self.run(&program.without(step))?.state_hash != whole.state_hash;
            if !changes {
                return Ok(Some(Rejection::new(Reason::EmptyResult, name_of(program, step))));
            }
        }
        Ok(None)
    }

    /// Independent calls that return something else in the opposite order.
    fn order(&self, program: &Program, whole: &Executed, goal: Goal) -> Found {
        if goal == Goal::Last {
            return Ok(None);
        }
        let mut reversed = program.clone();
        reversed.steps.reverse();
        let executed = self.run(&reversed)?;
        let same = executed.calls.iter().rev().eq(&whole.calls) && executed.state_hash == whole.state_hash;
        Ok((!same).then(|| Rejection::new(Reason::OrderMatters, program.functions().join(", "))))
    }

    fn unneeded(&self, program: &Program, whole: &Executed, goal: Goal) -> Found {
        if goal == Goal::Every {
            return Ok(None);
        }
        for step in 0..program.steps.len() - 1 {
            if self.shorter(program, whole, step)?.is_some() {
                return Ok(Some(Rejection::new(Reason::UnneededCall, name_of(program, step))));
            }
        }
        Ok(None)
    }

    /// A reference to a field that is not what the parameter is, repeats what the user gave, or never changes.
    fn coincidence(&self, program: &Program, whole: &Executed, _goal: Goal) -> Found {
        for (nth, step) in program.steps.iter().enumerate() {
            for (parameter, place) in step.references() {
                let what = format!("{place} as {parameter} of {}", name_of(program, nth));
                let producer = &program.steps[place.step];
                let Some(result) = whole.result(place.step) else { continue };
                if !self.is_link(&step.function, parameter, place.step, &producer.function, result, place) {
                    return Ok(Some(Rejection::new(Reason::CoincidentalDependency, what)));
                }
                let value = value_at(&place.path, result);
                if producer.literals().any(|(_, literal)| Some(literal) == value) {
                    return Ok(Some(Rejection::new(Reason::EchoedValue, what)));
                }
                if !self.is_bound(&step.function, parameter)
                    && self.never_changes(program, place.step, &place.path, value)?
                {
                    return Ok(Some(Rejection::new(Reason::CoincidentalDependency, what)));
                }
            }
        }
        Ok(None)
    }

    /// Whether a person named where a parameter takes its values from. Then a field that never changes is a value all the
    /// same, such as an id that a seed of the environment decides.
    fn is_bound(&self, function: &str, parameter: &str) -> bool {
        let place = self.pools.place_of(function, parameter);
        place.is_some_and(|(callable, nth)| self.pools.callables[callable].parameters[nth].is_bound)
    }

    /// Whether a parameter takes its value from this field by its name and type.
    fn is_link(
        &self,
        function: &str,
        parameter: &str,
        step: usize,
        from: &str,
        result: &Value,
        place: &crate::program::ResultPath,
    ) -> bool {
        let Some((callable, nth)) = self.pools.place_of(function, parameter) else { return false };
        self.pools.links(step, from, result).of(callable, nth).contains(place)
    }

    /// Whether a field is the same for all other arguments of its call that were tried, and from another initial state as
    /// well: such as a currency that is always EUR. An element of a list is never, as which one is first depends on all of
    /// them. Where the call fails from every other state, nothing is known.
    fn never_changes(
        &self,
        program: &Program,
        step: usize,
        path: &ValuePath,
        value: Option<&Value>,
    ) -> Result<bool, EnvironmentError> {
        if path.steps.iter().any(|step| matches!(step, PathStep::Element(_))) {
            return Ok(false);
        }
        let producers = Program { state: program.state, steps: program.steps[..=step].to_vec() };
        for (parameter, literal) in program.steps[step].literals() {
            let others =
                self.pools.alternatives(program.state, &program.steps[step].function, parameter, literal);
            for other in others.iter().take(MOST_ALTERNATIVES) {
                let other = producers.with_literal(step, parameter, other);
                if self.field(&other, step, path)?.is_some_and(|found| Some(&found) != value) {
                    return Ok(false);
                }
            }
        }
        let mut is_same_elsewhere = false;
        for state in (0..self.environment.initial_states().len()).filter(|state| *state != program.state) {
            match self.field(&Program { state, ..producers.clone() }, step, path)? {
                Some(found) if Some(&found) != value => return Ok(false),
                found => is_same_elsewhere |= found.is_some(),
            }
        }
        Ok(is_same_elsewhere)
    }

    /// A field of a step's result, if all steps of the program run.
    fn field(
        &self,
        program: &Program,
        step: usize,
        path: &ValuePath,
    ) -> Result<Option<Value>, EnvironmentError> {
        let executed = self.run(program)?;
        let result = executed.result(step).filter(|_| executed.is_as_expected(&program.steps));
        Ok(result.and_then(|result| value_at(path, result)).cloned())
    }

    /// An argument for which no other value makes a difference.
    fn ambiguous(&self, program: &Program, whole: &Executed, _goal: Goal) -> Found {
        for (nth, step) in program.steps.iter().enumerate() {
            for (parameter, value) in step.literals() {
                let others = self.pools.alternatives(program.state, &step.function, parameter, value);
                let mut others = others.into_iter().take(MOST_ALTERNATIVES).peekable();
                if others.peek().is_none() {
                    continue;
                }
                let mut is_same = true;
                for other in others {
                    let executed = self.run(&program.with_literal(nth, parameter, &other))?;
                    is_same &= executed.unresolved.is_none()
                        && executed.calls.len() == whole.calls.len()
                        && executed.ends_as(whole, (nth, nth));
                    if !is_same {
                        break;
                    }
                }
                if is_same {
                    let what = format!("{parameter} of {}", name_of(program, nth));
                    return Ok(Some(Rejection::new(Reason::AmbiguousArgument, what)));
                }
            }
        }
        Ok(None)
    }
}

/// What a check found, if anything.
type Found = Result<Option<Rejection>, EnvironmentError>;

/// The program with the references to a step led to equal values of the same name in results before it; `None` if the step has
/// no reference, or one that no earlier result has.
fn relinked(program: &Program, whole: &Executed, step: usize) -> Option<Program> {
    let mut relinked = program.clone();
    let mut is_used = false;
    for (_, argument) in relinked.steps.iter_mut().flat_map(|later| &mut later.arguments) {
        let Argument::Result(place) = argument else { continue };
        if place.step != step {
            continue;
        }
        is_used = true;
        let value = whole.result(step).and_then(|result| value_at(&place.path, result))?;
        let name = names(&place.path).next_back();
        *place = (0..step).find_map(|earlier| {
            let result = whole.result(earlier)?;
            let is_same = |leaf: &Leaf<'_>| {
                leaf.value == value
                    && names(&leaf.path).next_back() == name
                    && position(&leaf.path, result).is_some()
            };
            let same = leaves(result).into_iter().find(is_same)?;
            Some(ResultPath { step: earlier, path: same.path })
        })?;
    }
    is_used.then_some(relinked)
}

/// A step as it is named in details: `2 cancel_order`.
fn name_of(program: &Program, step: usize) -> String {
    format!("{} {}", step + 1, program.steps[step].function)
}

/// Why a run of a program is no gold: a failure, or too much.
fn unfit(program: &Program, whole: &Executed) -> Option<Rejection> {
    if let Some((step, place)) = &whole.unresolved {
        let what = format!("{}: there is no {place}", name_of(program, *step));
        return Some(Rejection::new(Reason::Failed, what));
    }
    if let Some(step) = whole.failed_step(&program.steps) {
        let result = short(&whole.calls[step].1.result);
        return Some(Rejection::new(Reason::Failed, format!("{}: {result}", name_of(program, step))));
    }
    let huge = whole.calls.iter().position(|(_, seen)| seen.result.to_string().len() > MOST_RESULT_BYTES)?;
    Some(Rejection::new(Reason::HugeResult, name_of(program, huge)))
}

/// Whether a call returned nothing: an empty list, text or object, an object of such alone, or one whose lists are all empty.
pub fn is_empty(seen: &Observation) -> bool {
    fn nothing(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            Value::Array(elements) => elements.is_empty(),
            Value::Object(map) => {
                let mut lists = map.values().filter_map(Value::as_array).peekable();
                map.values().all(nothing) || (lists.peek().is_some() && lists.all(Vec::is_empty))
            }
            _ => false,
        }
    }
    nothing(&seen.result)
}

/// The start of a value as JSON, for details.
fn short(value: &Value) -> String {
    const MOST: usize = 160;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
