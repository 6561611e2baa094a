//! Rounds of candidates: each is walked, sliced, checked and worded on its own; results are put together in their order.
//!
//! What the next round draws depends on the rounds before it alone. So the first instructions are the same however many are
//! wanted, and the number of threads changes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use callsieve_environment::call::Origin;
use callsieve_environment::environment::Environment;
use callsieve_environment::error::EnvironmentError;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::author::{Author, Proven};
use crate::bindings::Bindings;
use crate::checks::{Checker, Goal};
use crate::execute::Executed;
use crate::instruction::Instruction;
use crate::pool::Pools;
use crate::program::Program;
use crate::random::Random;
use crate::rejection::{Reason, Rejection};
use crate::stratum::{Counts, Shares, Stratum};
use crate::walk::{Shape, TrackRecord, Walker};
use crate::wording::templates::Templates;

/// Returns the number of candidates of the round after `n_candidates` candidates.
///
/// The first rounds are small: the shares of strata are wrong until it is known how many candidates of each are accepted, and a
/// set of a hundred instructions needs few hundred candidates. Later ones are large, so that all threads have work.
fn round_after(n_candidates: u64) -> u64 {
    (n_candidates / 4).clamp(32, 256)
}

/// What decides which instructions are made.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The seed.
    pub seed: u64,
    /// The share of each stratum.
    pub shares: Shares,
    /// The most calls of a chain, 2 to 8.
    pub most_calls: usize,
    /// The fewest and the most functions that are offered with an instruction.
    pub offered: [usize; 2],
    /// The share of accepted instructions that may call the same functions in the same order; at least 5 always may.
    pub most_alike: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seed: 0, shares: Shares::default(), most_calls: 5, offered: [4, 12], most_alike: 0.02 }
    }
}

/// Instructions that may always call the same functions.
const FEWEST_ALIKE: u64 = 5;

/// What two instructions must not share: the calls, and whether they are made. The same calls may be asked for where a value or
/// the function is missing. Calls that are made at once are the same in any order.
fn signatures(stratum: Stratum, program: &Program) -> Vec<String> {
    let is_of_its_own = stratum.has_no_call() || stratum == Stratum::MissingParameter;
    if is_of_its_own {
        return vec![format!("{}\n{}", stratum.name(), program.signature())];
    }
    let mut signatures = vec![program.signature()];
    if stratum.is_at_once() {
        signatures.push(format!("at once\n{}", program.signature_in_any_order()));
    }
    signatures
}

/// What became of a candidate.
pub type Outcome = Result<Box<Instruction>, Rejection>;

/// Counts candidates, and the functions that instructions call.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    strata: BTreeMap<Stratum, Counts>,
    called: HashSet<String>,
}

impl Tally {
    /// Counts a candidate.
    pub fn add(&mut self, candidate: &Made) {
        let Some(stratum) = candidate.stratum else { return };
        let counts = self.strata.entry(stratum).or_default();
        counts.add(candidate.outcome.is_ok());
        if let Ok(instruction) = &candidate.outcome {
            self.called.extend(instruction.program.steps.iter().map(|step| step.function.clone()));
        }
    }
}

/// A candidate of a round, judged.
#[derive(Debug)]
pub struct Made {
    /// Its kind; `None` if no stratum can be filled.
    pub stratum: Option<Stratum>,
    /// What became of it.
    pub outcome: Outcome,
}

/// A candidate of a round.
struct Candidate {
    /// Its kind; `None` if no stratum can be filled.
    stratum: Option<Stratum>,
    outcome: Outcome,
    /// The functions that its walk tried, and whether the call succeeded.
    tried: Vec<(usize, bool)>,
}

/// Makes instructions, round by round.
pub struct Generation<'a> {
    environment: &'a dyn Environment,
    bindings: &'a Bindings,
    templates: &'a Templates,
    settings: Settings,
    /// Strata that were asked for and need results, where nothing is executed.
    without_results: Vec<Stratum>,
    pools: Pools,
    progress: Progress,
}

/// What the rounds so far decide about the next.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    n_candidates: u64,
    counts: BTreeMap<Stratum, Counts>,
    /// What became of the calls of each function.
    records: Vec<TrackRecord>,
    /// The calls of accepted programs.
    signatures: HashSet<String>,
    /// How many accepted programs call the same functions in the same order.
    alike: HashMap<String, u64>,
    n_accepted: u64,
}

/// How much of an environment is reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Coverage {
    /// The number of functions.
    pub functions: usize,
    /// Functions that accepted programs call.
    pub reached: usize,
    /// The others, with what keeps them from being called.
    pub unreached: Vec<Unreached>,
    /// Candidates by stratum.
    pub strata: BTreeMap<Stratum, Counts>,
    /// Strata of which nothing could be made.
    pub unfilled: Vec<Stratum>,
    /// Strata that were asked for and need results, where nothing is executed.
    #[serde(default)]
    pub without_results: Vec<Stratum>,
}

/// A function that no accepted program calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unreached {
    /// Its name.
    pub function: String,
    /// Its required parameters that have no values: bindings can give them some.
    pub without_values: Vec<String>,
    /// Nobody says how a user asks for it: bindings can give it a phrase.
    #[serde(default)]
    pub without_phrase: bool,
}

impl Unreached {
    /// Returns why it is not called, and what a person can do.
    pub fn why(&self) -> String {
        match &self.without_values[..] {
            [] if self.without_phrase => {
                "neither its description nor its name begins with a verb: give it a phrase in the bindings"
                    .to_owned()
            }
            [] => "no call of it passed all checks".to_owned(),
            lacking => format!("no values for {}: name some in the bindings", lacking.join(", ")),
        }
    }
}

impl<'a> Generation<'a> {
    /// Starts with the first candidate.
    pub fn new(
        environment: &'a dyn Environment,
        bindings: &'a Bindings,
        templates: &'a Templates,
        mut settings: Settings,
    ) -> Self {
        let mut without_results = Vec::new();
        if environment.origin() == Origin::Unexecuted {
            settings.shares.0.retain(|stratum, share| {
                if stratum.needs_results() && *share > 0.0 {
                    without_results.push(*stratum);
                }
                !stratum.needs_results()
            });
        }
        let pools = Pools::new(environment, bindings);
        let progress =
            Progress { records: vec![TrackRecord::default(); pools.callables.len()], ..Progress::default() };
        Self { environment, bindings, templates, settings, without_results, pools, progress }
    }

    /// Goes on after the rounds of another generation with the same environment, bindings, templates and settings.
    #[must_use]
    pub fn after(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Returns what the rounds so far decide about the next.
    pub fn into_progress(self) -> Progress {
        self.progress
    }

    /// Returns the number of candidates so far.
    pub fn candidates(&self) -> u64 {
        self.progress.n_candidates
    }

    /// Makes the candidates of the next round, in their order; the first has the number [`candidates`](Self::candidates).
    ///
    /// Returns `None` if `cancelled` returns `true` meanwhile.
    ///
    /// # Errors
    /// The environment fails.
    pub fn next_round(
        &mut self,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Vec<Made>>, EnvironmentError> {
        let first = self.progress.n_candidates;
        let round = round_after(first);
        let weights = self.settings.shares.weights(&self.progress.counts, round);
        let made: Vec<Option<Candidate>> = (first..first + round)
            .into_par_iter()
            .map(|number| if cancelled() { Ok(None) } else { self.candidate(number, &weights).map(Some) })
            .collect::<Result<_, EnvironmentError>>()?;
        let Some(made) = made.into_iter().collect::<Option<Vec<Candidate>>>() else { return Ok(None) };
        self.progress.n_candidates += round;
        let judged = made
            .into_iter()
            .map(|candidate| Made { stratum: candidate.stratum, outcome: self.count(candidate) });
        Ok(Some(judged.collect()))
    }

    /// Makes one candidate.
    fn candidate(&self, number: u64, weights: &[(Stratum, u64)]) -> Result<Candidate, EnvironmentError> {
        let mut random = Random::new(self.settings.seed, number);
        let numbers: Vec<u64> = weights.iter().map(|(_, weight)| *weight).collect();
        let Some(drawn) = random.weighted(&numbers) else {
            let outcome = Err(Rejection::new(Reason::NoProgram, "no stratum can be filled"));
            return Ok(Candidate { stratum: None, outcome, tried: Vec::new() });
        };
        let stratum = weights[drawn].0;
        let (shape, goal) = self.shape(stratum, &mut random);
        let walker =
            Walker { environment: self.environment, pools: &self.pools, records: &self.progress.records };
        let walked = walker.walk(shape, &mut random)?;
        let outcome = match walked.program {
            Ok(program) => self.instruction(stratum, program, goal, &mut random)?,
            Err(rejection) => Err(rejection),
        };
        Ok(Candidate { stratum: Some(stratum), outcome, tried: walked.tried })
    }

    fn instruction(
        &self,
        stratum: Stratum,
        program: Program,
        goal: Goal,
        random: &mut Random,
    ) -> Result<Outcome, EnvironmentError> {
        let (program, executed) = match self.proven(stratum, program, goal)? {
            Ok(proven) => proven,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let proven = Proven { program: &program, executed: &executed, goal };
        Ok(self.author().write(stratum, proven, random).map(Box::new))
    }

    fn author(&self) -> Author<'_> {
        Author {
            environment: self.environment,
            bindings: self.bindings,
            templates: self.templates,
            pools: &self.pools,
            offered: self.settings.offered,
        }
    }

    /// Whether calls have results.
    fn is_executed(&self) -> bool {
        self.environment.origin() != Origin::Unexecuted
    }

    /// A program without what it does not need, as it ran. Without execution there is nothing to prove.
    fn proven(
        &self,
        stratum: Stratum,
        program: Program,
        goal: Goal,
    ) -> Result<Result<(Program, Executed), Rejection>, EnvironmentError> {
        let checker = Checker { environment: self.environment, pools: &self.pools };
        let is_executed = self.is_executed();
        let program = if is_executed { checker.sliced(program, goal)? } else { program };
        if stratum == Stratum::Chain && !program.has_dependency() {
            return Ok(Err(Rejection::new(Reason::UnneededCall, "only the last call was needed")));
        }
        if stratum == Stratum::ErrorRecovery
            && let Some(unneeded) = checker.repairs_nothing(&program)?
        {
            return Ok(Err(Rejection::new(Reason::UnneededCall, unneeded)));
        }
        if signatures(stratum, &program).iter().any(|one| self.progress.signatures.contains(one)) {
            return Ok(Err(Rejection::new(Reason::Duplicate, program.functions().join(", "))));
        }
        let executed = if is_executed { checker.check(&program, goal)? } else { Ok(checker.run(&program)?) };
        Ok(executed.map(|executed| (program, executed)))
    }

    /// The form of a program for a stratum, and what the user wants of it.
    fn shape(&self, stratum: Stratum, random: &mut Random) -> (Shape, Goal) {
        let most = self.settings.most_calls.max(2);
        // Half of the chains have two calls, a third have three.
        let weights: Vec<u64> = [50, 32, 12, 6, 3, 2, 1].into_iter().take(most - 1).collect();
        let long = 2 + random.weighted(&weights).unwrap_or_default();
        match stratum {
            // A missing function is the only one that is needed.
            Stratum::Single | Stratum::Irrelevance | Stratum::MissingFunction => {
                (Shape::Chain(1), Goal::Last)
            }
            Stratum::Chain | Stratum::MultiTurn => (Shape::Chain(long), Goal::Last),
            Stratum::Parallel => (Shape::SameFunction(2 + random.below(2)), Goal::Every),
            Stratum::MultipleTools => (Shape::Independent(2 + random.below(2)), Goal::Every),
            Stratum::MissingParameter => {
                (Shape::Chain(1 + random.below(if self.is_executed() { 2 } else { 1 })), Goal::Last)
            }
            Stratum::ErrorRecovery => (Shape::Recovery, Goal::Last),
        }
    }

    /// Puts a candidate to those before it: it may repeat one, or be one too many of its kind.
    fn count(&mut self, candidate: Candidate) -> Outcome {
        let Candidate { stratum, outcome, tried } = candidate;
        let progress = &mut self.progress;
        for (callable, worked) in tried {
            progress.records[callable].tried += 1;
            progress.records[callable].worked += u64::from(worked);
        }
        let Some(stratum) = stratum else { return outcome };
        if let Err(Rejection { reason: Reason::Nondeterministic, detail }) = &outcome
            && let Some(at) = detail.rsplit(' ').next().and_then(|name| self.pools.of_name(name))
        {
            self.progress.records[at].is_nondeterministic = true;
        }
        let outcome = outcome.and_then(|instruction| self.among_earlier(instruction));
        self.progress.counts.entry(stratum).or_default().add(outcome.is_ok());
        outcome
    }

    /// Accepts an instruction unless it repeats an earlier one, or is one too many of its kind.
    fn among_earlier(&mut self, instruction: Box<Instruction>) -> Outcome {
        let progress = &mut self.progress;
        let program = &instruction.program;
        let functions =
            program.steps.iter().map(|step| step.function.as_str()).collect::<Vec<_>>().join(", ");
        let is_nondeterministic =
            |name: &str| self.pools.of_name(name).is_some_and(|at| progress.records[at].is_nondeterministic);
        if let Some(name) = program.functions().into_iter().find(|name| is_nondeterministic(name)) {
            return Err(Rejection::new(Reason::Nondeterministic, format!("another program: {name}")));
        }
        let signatures = signatures(instruction.stratum, program);
        if signatures.iter().any(|one| progress.signatures.contains(one)) {
            return Err(Rejection::new(Reason::Duplicate, functions));
        }
        #[allow(clippy::cast_precision_loss)] // Far fewer instructions than 2^52.
        let limit = (progress.n_accepted as f64 * self.settings.most_alike).max(FEWEST_ALIKE as f64);
        let alike = progress.alike.entry(functions.clone()).or_default();
        #[allow(clippy::cast_precision_loss)]
        if *alike as f64 >= limit {
            return Err(Rejection::new(Reason::TooManyAlike, functions));
        }
        *alike += 1;
        progress.signatures.extend(signatures);
        progress.n_accepted += 1;
        for step in &program.steps {
            if let Some(at) = self.pools.of_name(&step.function) {
                progress.records[at].used += 1;
            }
        }
        Ok(instruction)
    }

    /// Returns how much of the environment the counted candidates reach.
    pub fn coverage(&self, tally: &Tally) -> Coverage {
        let author = self.author();
        let callables = self.pools.callables.iter().enumerate();
        let unreached = callables.filter(|(_, callable)| !tally.called.contains(&callable.name));
        let unreached = unreached.map(|(at, callable)| Unreached {
            function: callable.name.clone(),
            without_values: self.pools.without_values(at),
            without_phrase: author.has_no_phrase(&callable.name),
        });
        let unfilled =
            self.progress.counts.iter().filter(|(_, counts)| counts.is_closed() && counts.accepted == 0);
        Coverage {
            functions: self.pools.callables.len(),
            reached: tally.called.len(),
            unreached: unreached.collect(),
            strata: tally.strata.clone(),
            unfilled: unfilled.map(|(stratum, _)| *stratum).collect(),
            without_results: self.without_results.clone(),
        }
    }
}
