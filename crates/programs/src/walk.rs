//! A walk: calls that are tried one after the other in an episode; those that succeed become a program.

use callsieve_environment::call::{Call, Failure, Observation};
use callsieve_environment::environment::{Environment, Episode};
use callsieve_environment::error::EnvironmentError;

use crate::execute::resolve;
use crate::place::{Position, position, value_at};
use crate::pool::{Callable, Links, Pools};
use crate::program::{Argument, Program, ResultPath, Step};
use crate::random::Random;
use crate::rejection::{Reason, Rejection};

/// Functions that are tried for one step.
const MOST_TRIES: usize = 10;
/// Episodes in which a call is looked for that is refused without the calls before it.
const MOST_REPAIRS: usize = 48;
/// Steps of an error recovery before the refused call is made again: itself and its repairs.
const MOST_RECOVERY_STEPS: usize = 3;
/// Percent of optional parameters with values that get one.
const OPTIONAL_PERCENT: usize = 30;
/// Percent of the arguments that could be taken from an earlier result and are.
const LINK_PERCENT: usize = 85;

/// The form of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// So many steps, each using an earlier result where one fits; the last one does.
    Chain(usize),
    /// So many calls of one function.
    SameFunction(usize),
    /// So many calls of different functions that use no earlier result.
    Independent(usize),
    /// A call that fails, calls that repair what it lacked, and the call again.
    Recovery,
}

/// Walks over an environment.
pub struct Walker<'a> {
    /// Where calls are tried.
    pub environment: &'a dyn Environment,
    /// The values that arguments can take.
    pub pools: &'a Pools,
    /// How often each function was tried before, and is in accepted programs.
    pub records: &'a [TrackRecord],
}

/// What became of the calls of a function.
#[derive(Debug, Clone, Copy, Default)]
pub struct TrackRecord {
    /// Calls that were tried.
    pub tried: u64,
    /// Those that succeeded.
    pub worked: u64,
    /// How often it is in accepted programs.
    pub used: u64,
    /// A call of it returned something else when it was made again, so it is not called any more.
    pub is_nondeterministic: bool,
}

impl TrackRecord {
    /// How often the function is drawn: more if it is in few programs, less if its calls fail.
    fn weight(self) -> u64 {
        if self.is_nondeterministic {
            return 0;
        }
        1 + 10_000 * (self.worked + 2) / ((self.tried + 4) * (1 + self.used))
    }
}

/// A walk that has ended.
pub struct Walked {
    /// The program of the wanted form, or why there is none.
    pub program: Result<Program, Rejection>,
    /// The functions that were tried, and whether the call succeeded.
    pub tried: Vec<(usize, bool)>,
}

/// The steps so far, with what they returned.
struct Walk<'e> {
    episode: Box<dyn Episode + 'e>,
    program: Program,
    calls: Vec<(Call, Observation)>,
    /// What later steps can take from each result; empty where none does.
    links: Vec<Links>,
    /// The functions that were tried, and whether the call succeeded.
    tried: Vec<(usize, bool)>,
}

impl<'a> Walker<'a> {
    /// Walks from one of the initial states.
    ///
    /// # Errors
    /// The environment fails.
    pub fn walk(&self, shape: Shape, random: &mut Random) -> Result<Walked, EnvironmentError> {
        let states = self.environment.initial_states();
        let state = random.below(states.len());
        let program = Program { state, steps: Vec::new() };
        let mut walk = Walk {
            episode: self.environment.start(&states[state])?,
            program,
            calls: Vec::new(),
            links: Vec::new(),
            tried: Vec::new(),
        };
        let walked = match shape {
            Shape::Chain(n_steps) => self.chain(&mut walk, n_steps, random)?,
            Shape::SameFunction(n_steps) => self.same_function(&mut walk, n_steps, random)?,
            Shape::Independent(n_steps) => self.independent(&mut walk, n_steps, random)?,
            Shape::Recovery => self.recovery(&mut walk, random)?,
        };
        walk.episode.stop()?;
        Ok(Walked { program: walked.map(|()| walk.program), tried: walk.tried })
    }

    fn chain(&self, walk: &mut Walk<'a>, n_steps: usize, random: &mut Random) -> Done {
        for nth in 0..n_steps {
            let is_last = nth + 1 == n_steps;
            let mut found = false;
            for _ in 0..MOST_TRIES {
                let Some(callable) = self.next_function(walk, n_steps, random) else { break };
                let Some(step) = self.step(walk, callable, n_steps > 1, random) else { continue };
                if is_last && nth > 0 && step.references().next().is_none() {
                    continue;
                }
                if walk.try_step(callable, step)? {
                    walk.find_links(self.pools);
                    found = true;
                    break;
                }
            }
            if !found {
                return Ok(Err(too_short(walk, n_steps)));
            }
        }
        Ok(Ok(()))
    }

    fn same_function(&self, walk: &mut Walk<'a>, n_steps: usize, random: &mut Random) -> Done {
        for _ in 0..MOST_TRIES {
            let Some(callable) = self.any_function(walk, random) else { break };
            for _ in 0..n_steps * 3 {
                if walk.calls.len() == n_steps {
                    return Ok(Ok(()));
                }
                let Some(step) = self.step(walk, callable, false, random) else { break };
                if step.arguments.is_empty() {
                    break;
                }
                walk.try_step(callable, step)?;
            }
            if walk.calls.len() == n_steps {
                return Ok(Ok(()));
            }
            if !walk.calls.is_empty() {
                break;
            }
        }
        Ok(Err(too_short(walk, n_steps)))
    }

    fn independent(&self, walk: &mut Walk<'a>, n_steps: usize, random: &mut Random) -> Done {
        for _ in 0..n_steps * MOST_TRIES {
            if walk.calls.len() == n_steps {
                break;
            }
            let Some(callable) = self.any_function(walk, random) else { break };
            if walk.program.functions().contains(&self.pools.callables[callable].name.as_str()) {
                continue;
            }
            if let Some(step) = self.step(walk, callable, false, random) {
                walk.try_step(callable, step)?;
            }
        }
        Ok(if walk.calls.len() == n_steps { Ok(()) } else { Err(too_short(walk, n_steps)) })
    }

    /// A call that the environment refuses, and the calls after which it is accepted. It is found from its end: calls that
    /// succeed, another on the same thing that succeeds after them, and is refused without them.
    fn recovery(&self, walk: &mut Walk<'a>, random: &mut Random) -> Done {
        for _ in 0..MOST_REPAIRS {
            walk.restart(self.environment)?;
            let n_repairs = 1 + random.below(MOST_RECOVERY_STEPS - 1);
            for _ in 0..n_repairs {
                if let Some((callable, step)) = self.on_the_same_thing(walk, true, random) {
                    walk.try_step(callable, step)?;
                }
            }
            let n_repaired = walk.program.steps.len();
            if n_repaired == 0 {
                continue;
            }
            let Some((callable, step)) = self.on_the_same_thing(walk, false, random) else { continue };
            if !walk.try_step(callable, step)? {
                continue;
            }
            let repaired = walk.program.steps[n_repaired].clone();
            let state = &self.environment.initial_states()[walk.program.state];
            let mut alone = self.environment.start(state)?;
            let seen = alone.call(&walk.calls[n_repaired].0)?;
            alone.stop()?;
            if seen.failure == Some(Failure::ErrorResult) {
                walk.program.steps.insert(0, Step { fails: true, ..repaired });
                return Ok(Ok(()));
            }
        }
        Ok(Err(Rejection::new(Reason::NoProgram, "no call was refused and then repaired")))
    }

    /// A call of another function than those so far, with their arguments where its parameters have the same names. The first
    /// call is free; a later one has at least one of these arguments. A call that repairs something changes something.
    fn on_the_same_thing(
        &self,
        walk: &Walk<'_>,
        repairs: bool,
        random: &mut Random,
    ) -> Option<(usize, Step)> {
        let state = walk.program.state;
        let steps = &walk.program.steps;
        let given = |name: &str| steps.iter().find_map(|step| step.argument(name));
        let weight = |(at, callable): (usize, &Callable)| {
            let is_of_same = steps.is_empty()
                || steps.iter().all(|step| step.arguments.is_empty())
                || callable.parameters.iter().any(|parameter| given(&parameter.name).is_some());
            let is_other = steps.iter().all(|step| step.function != callable.name);
            let fits = is_of_same && is_other && !(repairs && callable.is_read_only);
            if fits && self.pools.can_be_called(state, at) { self.records[at].weight() } else { 0 }
        };
        let weights: Vec<u64> = self.pools.callables.iter().enumerate().map(weight).collect();
        let callable = random.weighted(&weights)?;
        let mut step = self.step(walk, callable, false, random)?;
        for (parameter, argument) in &mut step.arguments {
            if let Some(same) = given(parameter) {
                *argument = same.clone();
            }
        }
        Some((callable, step))
    }

    /// A function for the next step of a chain: one that can use an earlier result, more often than others.
    fn next_function(&self, walk: &Walk<'_>, n_steps: usize, random: &mut Random) -> Option<usize> {
        if n_steps == 1 || walk.calls.is_empty() {
            return self.any_function(walk, random);
        }
        let state = walk.program.state;
        let is_linked = |callable: usize| walk.links.iter().any(|links| links.has(callable));
        let weights: Vec<u64> = (0..self.pools.callables.len())
            .map(|callable| match (is_linked(callable), self.pools.can_be_called(state, callable)) {
                (true, _) => self.records[callable].weight() * 40,
                (false, true) => self.records[callable].weight(),
                (false, false) => 0,
            })
            .collect();
        random.weighted(&weights)
    }

    /// A function whose required arguments the user can give.
    fn any_function(&self, walk: &Walk<'_>, random: &mut Random) -> Option<usize> {
        let state = walk.program.state;
        let weight = |callable: usize| {
            if self.pools.can_be_called(state, callable) { self.records[callable].weight() } else { 0 }
        };
        let weights: Vec<u64> = (0..self.pools.callables.len()).map(weight).collect();
        random.weighted(&weights)
    }

    /// A call of a function with arguments of the pools; `None` if a required one has no value.
    fn step(&self, walk: &Walk<'_>, callable: usize, may_link: bool, random: &mut Random) -> Option<Step> {
        let of_function = &self.pools.callables[callable];
        let mut arguments = Vec::new();
        for (nth, parameter) in of_function.parameters.iter().enumerate() {
            let links = if may_link { Self::links(walk, callable, nth) } else { Vec::new() };
            let literals = self.pools.literals(walk.program.state, callable, nth);
            if !parameter.is_required && !random.chance(OPTIONAL_PERCENT) {
                continue;
            }
            let takes_link = !links.is_empty() && (literals.is_empty() || random.chance(LINK_PERCENT));
            let argument = if takes_link {
                random.one_of(&links).cloned().map(Argument::Result)
            } else {
                let literal = random.one_of(literals).cloned();
                literal
                    .map(|literal| Argument::Literal { value: literal.value, taken_from: literal.taken_from })
            };
            match argument {
                Some(argument) => arguments.push((parameter.name.clone(), argument)),
                None if parameter.is_required => return None,
                None => {}
            }
        }
        Some(Step { function: of_function.name.clone(), arguments, fails: false })
    }

    /// The places of earlier results that a parameter can take its value from; not those that repeat what the user gave.
    fn links(walk: &Walk<'_>, callable: usize, parameter: usize) -> Vec<ResultPath> {
        const MOST_OF_STEP: usize = 4;
        let mut links = Vec::new();
        let steps = walk.program.steps.iter().zip(&walk.calls).zip(&walk.links);
        for ((step, (_, seen)), of_step) in steps {
            let repeats = |place: &ResultPath| {
                let value = value_at(&place.path, &seen.result);
                step.literals().any(|(_, literal)| Some(literal) == value)
            };
            let mut places: Vec<&ResultPath> =
                of_step.of(callable, parameter).iter().filter(|place| !repeats(place)).collect();
            // The only element of a list reads better than the first of many.
            places.sort_by_key(|place| position(&place.path, &seen.result) != Some(Position::Only));
            links.extend(places.into_iter().take(MOST_OF_STEP).cloned());
        }
        links
    }
}

/// The end of a part of a walk.
type Done = Result<Result<(), Rejection>, EnvironmentError>;

fn too_short(walk: &Walk<'_>, wanted: usize) -> Rejection {
    Rejection::new(Reason::NoProgram, format!("{} of {wanted} calls", walk.calls.len()))
}

impl<'e> Walk<'e> {
    /// Finds what later steps can take from the last result.
    fn find_links(&mut self, pools: &Pools) {
        if let (Some(step), Some((_, seen))) = (self.program.steps.last(), self.calls.last()) {
            self.links.push(pools.links(self.calls.len() - 1, &step.function, &seen.result));
        }
    }

    /// Starts the episode again, without steps.
    fn restart(&mut self, environment: &'e dyn Environment) -> Result<(), EnvironmentError> {
        if self.program.steps.is_empty() && self.tried.is_empty() {
            return Ok(());
        }
        self.program.steps.clear();
        self.calls.clear();
        let started = environment.start(&environment.initial_states()[self.program.state])?;
        std::mem::replace(&mut self.episode, started).stop()
    }

    /// Makes a call; it becomes a step if it succeeds and is no repetition.
    fn try_step(&mut self, callable: usize, step: Step) -> Result<bool, EnvironmentError> {
        let Ok(arguments) = resolve(&step, &self.calls) else { return Ok(false) };
        let call = Call::new(step.function.clone(), arguments);
        if self.calls.iter().any(|(earlier, _)| *earlier == call) {
            return Ok(false);
        }
        let seen = self.episode.call(&call)?;
        self.tried.push((callable, seen.failure.is_none()));
        if seen.failure.is_some() {
            return Ok(false);
        }
        self.calls.push((call, seen));
        self.program.steps.push(step);
        Ok(true)
    }
}
