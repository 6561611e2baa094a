//! Has a language model do instructions anew, and keeps every way that it tries: solution paths with their observations.
//!
//! Each instruction gets some attempts (`attempts`), each a search for the calls and the answer (`callsieve_solve`): a chain of steps,
//! chains until a number of requests is used, or a depth-first tree (DFSDT). Calls are executed in the environment from the
//! initial state of the instruction; what that does not have, a model may stand in for (`simulator`), and each observation says where it
//! comes from. An attempt at an instruction whose own calls were executed is solved if its results and the state at the end are the same.

mod examples;
mod search;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callsieve_instruct::attempt::{Attempt, chosen};
use callsieve_solve::ending::{PathEnd, SearchEnd};
use callsieve_solve::settings::{Budget, Method, Prompts, Protocol, Semantics, Settings as SearchSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Settings;
use super::executing::{BUILT_IN, Executor};
use super::made::{self, MadeRow, made_rows, set_passing};
use super::yields::{PASSED, YIELDS_NOTE, Yields};
use crate::cells::TypedCells as _;
use crate::columns::{CHOSEN, FUNCTIONS, PASS_RATE, TRACES};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::error::{Error, Result};
use crate::engine::example::Example;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::rollout::follow;
use crate::engine::stage::Stage;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{Evidence, Reason, TableId};
use crate::environment::Environment as System;
use crate::environments::call::Origin;
use crate::environments::environment::Environment;
use crate::prompts::solving::{RESULTS, TRY_ANOTHER, Wire};
use search::{Attempting, World};

static UNSOLVED: Reason =
    Reason::policy("solution/unsolved", "No attempt of the model at the instruction passes.");
pub(crate) static NO_REPLY: Reason = Reason::fault(
    "solution/no-reply",
    "The language model gave no usable reply for a step, or the time of the stage was over.",
);

/// How a search goes on after a path without an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// One path.
    #[default]
    React,
    /// Further paths from the start, until one has an answer or `max_requests` is used (ReACT@N).
    ReactAtN,
    /// A depth-first tree: it goes on at the last step that may have another child (DFSDT).
    Dfsdt,
}

/// The rules of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// As the paper of ToolLLM describes the search.
    #[default]
    Paper,
    /// As the code of ToolBench searches, with its peculiarities.
    Toolbench,
}

/// What becomes of an instruction of which no attempt passes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unsolved {
    /// It is kept if its own calls were executed, and dropped if not.
    #[default]
    KeepExecuted,
    /// It is kept.
    Keep,
    /// It is dropped.
    Drop,
}

/// The stage and its settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Annotate {
    /// The name of the language model that does the instructions. Without one, the stage does nothing.
    pub model: Option<String>,
    /// The environment that executes calls: its file, or the run folder of a collection, in which nothing is executed.
    pub environment: Option<PathBuf>,
    /// A model that stands in for functions that the environment cannot execute: those of a collection, and calls that were not recorded.
    pub simulator: Option<String>,
    /// How a search goes on after a path without an answer.
    pub method: Way,
    /// How the model is asked: with tools, in a text (Thought, Action, Action Input), or with a JSON Schema of the answer.
    pub protocol: Wire,
    /// The rules of a search.
    pub rules: Rules,
    /// Whether a text without a call is the answer, as models have it that were trained for chat. Otherwise the model is told to call `Finish`.
    pub text_answers: bool,
    /// Attempts at each instruction, 1 to 64.
    pub attempts: u32,
    /// The most children of a step of a tree, 1 to 16. More try more ways.
    pub width: u32,
    /// The most calls of a path, 1 to 100; with the rules of ToolBench the parts of replies.
    pub depth: u32,
    /// The most requests of a search, 1 to 10,000.
    pub max_requests: u32,
    /// The most tokens of a search, of requests and replies together; 0 for any number.
    pub max_tokens: u64,
    /// The most seconds of the stage; 0 for any number. Searches that have not ended then are held, and the next run goes on with them.
    pub max_seconds: u64,
    /// The most characters of an observation.
    pub max_observation_chars: usize,
    /// What becomes of an instruction of which no attempt passes.
    pub unsolved: Unsolved,
    /// Opens the environment.
    #[serde(skip)]
    #[schemars(skip)]
    executor: Executor,
}

impl Default for Annotate {
    fn default() -> Self {
        Self {
            model: None,
            environment: None,
            simulator: None,
            method: Way::React,
            protocol: Wire::Tools,
            rules: Rules::Paper,
            text_answers: false,
            attempts: 1,
            width: 2,
            depth: 12,
            max_requests: 60,
            max_tokens: 0,
            max_seconds: 0,
            max_observation_chars: 4096,
            unsolved: Unsolved::KeepExecuted,
            executor: Executor::default(),
        }
    }
}

/// Searches that are under way at once: each waits for the slowest of its round, and those that a limit of cost or time leaves are whole.
const AT_ONCE: usize = 128;

/// From so many instructions on, of which none has a reply, the service is at fault and not an instruction.
const MIN_OPEN: u64 = 3;

/// What a model reads that calls a function that is not offered.
const UNKNOWN_FUNCTION: &str = "There is no function \"{name}\". Call one of the functions that are offered.";
/// What a model reads whose `Finish` cannot be read.
const FINISH_FAULT: &str =
    "Finish was not understood: {fault}. Call it again with return_type and final_answer.";
/// What a model reads after a text without a call.
const AFTER_TEXT: &str =
    "Go on with a call, and call Finish with the final answer when everything is done. {fault}";

impl Settings for Annotate {
    const NAME: &'static str = "annotate";
    const SUMMARY: &'static str =
        "Has a language model do instructions by calls, and keeps its attempts with what they observed.";
    const FUNNEL_LABEL: &'static str = "instructions with attempts of a model";

    fn examples() -> Vec<Example> {
        examples::all()
    }

    fn for_examples() -> Self {
        Self { environment: Some(BUILT_IN.into()), ..Self::default() }
    }

    fn set_environment(&mut self, system: &System) {
        self.executor.set_system(system);
    }

    fn check(&self) -> std::result::Result<(), String> {
        for (key, model) in [("model", &self.model), ("simulator", &self.simulator)] {
            if model.as_deref().is_some_and(|name| name.trim().is_empty()) {
                return Err(format!("{key} is empty; expected the name of a model, as the server names it"));
            }
        }
        for (key, value, most) in [
            ("attempts", self.attempts, 64),
            ("width", self.width, 16),
            ("depth", self.depth, 100),
            ("max_requests", self.max_requests, 10_000),
        ] {
            if !(1..=most).contains(&value) {
                return Err(format!("{key} must be from 1 to {most}, not {value}"));
            }
        }
        Ok(())
    }
}

impl Stage for Annotate {
    fn contract(&self) -> Contract {
        let models = self.model.iter().chain(self.model.as_ref().and(self.simulator.as_ref()));
        Contract::of(TableId::Requests)
            .reads(made::COLUMNS)
            .reads([FUNCTIONS])
            .writes([TRACES, CHOSEN, PASS_RATE])
            .not_idempotent()
            .reasons([&UNSOLVED, &NO_REPLY])
            .asks_about_made(models.map(String::as_str))
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(3);
        if self.model.is_some() {
            self.protocol.fingerprint(fingerprint);
            RESULTS.fingerprint("prompt of results", fingerprint);
            for (label, text) in
                [("unknown", UNKNOWN_FUNCTION), ("finish", FINISH_FAULT), ("after", AFTER_TEXT)]
            {
                fingerprint.built_in(label, text);
            }
            self.executor.fingerprint(self.environment.as_deref(), fingerprint)?;
        }
        Ok(())
    }

    fn join_notes(&self, name: &str, notes: Vec<Value>) -> Option<Value> {
        match name {
            USAGE_NOTE => ModelUsage::joined(notes),
            YIELDS_NOTE => Yields::joined(notes),
            IN_TEXT_NOTE => Some(json!(notes.iter().filter_map(Value::as_u64).sum::<u64>())),
            _ => None,
        }
    }

    fn check_ready(&self) -> Result<()> {
        if self.model.is_some() { self.open().map(drop) } else { Ok(()) }
    }

    fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
        let Some(model) = self.model.as_deref().map(str::trim) else { return Ok(()) };
        let docs = view.all_parents(cx, |list| list.functions())?;
        let made = made_rows(view, cx)?;
        let environment = self.open()?;
        let world = World {
            environment: &*environment,
            simulator: self.simulator.as_deref().map(str::trim),
            ends: (self.max_seconds > 0).then(|| Instant::now() + Duration::from_secs(self.max_seconds)),
        };
        let settings = self.search();
        let models: Vec<&str> = [model].into_iter().chain(world.simulator).collect();
        let mut usage = ModelUsage { model: models.join(", "), ..ModelUsage::default() };
        let mut yields = Yields::default();
        let mut n_in_text = 0;
        let n_rows = (AT_ONCE / self.attempts as usize).max(1);
        for some in made.chunks(n_rows) {
            let searches = some.iter().flat_map(|row| {
                let functions = docs.of(row.row).map_or(&[][..], Vec::as_slice);
                (0..self.attempts).map(move |number| (row, functions, number))
            });
            let searches = searches.map(|(row, functions, number)| {
                let asked = search::Asked {
                    wire: self.protocol,
                    model,
                    number,
                    of: self.attempts,
                    text_answers: self.text_answers,
                };
                Attempting::new(&row.record, functions, &world, settings.clone(), asked)
            });
            let (attempts, of_some) = follow(searches, cx)?;
            usage.add(&ModelUsage { rows: 0, ..of_some });
            let mut attempts = attempts.into_iter();
            for row in some {
                let own = attempts.by_ref().take(self.attempts as usize);
                let own: Vec<Attempt> = own.collect::<Result<_>>()?;
                n_in_text += own.iter().filter(|attempt| is_in_text(attempt)).count();
                let outcome = self.decide(row, &own, out)?;
                yields.count(row.record.stratum.name(), model, outcome);
            }
        }
        usage.rows = made.len() as u64;
        let n_open = yields.of(NO_REPLY.code);
        if n_open >= MIN_OPEN && n_open == made.len() as u64 {
            // The attempts of an earlier run are better than none.
            return Err(Error::Service(
                "no instruction has a reply of the model\nhint: check the name of the model, --max-cost and --cache-only".to_owned(),
            ));
        }
        if n_in_text > 0 {
            out.note(IN_TEXT_NOTE, json!(n_in_text));
        }
        out.note(YIELDS_NOTE, json!(yields));
        out.note(USAGE_NOTE, json!(usage));
        Ok(())
    }
}

impl Annotate {
    /// Opens the environment, which executes calls or has a model that stands in for its functions.
    fn open(&self) -> Result<Arc<dyn Environment>> {
        let environment = self.executor.open(self.environment.as_deref())?;
        if environment.origin() == Origin::Unexecuted && self.simulator.is_none() {
            return Err(Error::Setting(
                "nothing executes the calls of a collection\nhint: set simulator to a language model that stands in for its functions, or environment to one that executes them".to_owned(),
            ));
        }
        Ok(environment)
    }

    /// The settings of each search.
    fn search(&self) -> SearchSettings {
        let method = match self.method {
            Way::React => Method::React { attempts: 1 },
            Way::ReactAtN => Method::ReactAtN { requests: self.max_requests },
            Way::Dfsdt => Method::Dfsdt { width: self.width },
        };
        let prompts = Prompts {
            diversity: TRY_ANOTHER.to_owned(),
            unknown_function: UNKNOWN_FUNCTION.to_owned(),
            finish_fault: FINISH_FAULT.to_owned(),
            after_text: Some(AFTER_TEXT.to_owned()),
        };
        SearchSettings {
            semantics: match self.rules {
                Rules::Paper => Semantics::Paper,
                Rules::Toolbench => Semantics::Toolbench,
            },
            protocol: if self.protocol == Wire::Text { Protocol::Text } else { Protocol::Tools },
            budget: Budget {
                requests: self.max_requests,
                tokens: Some(self.max_tokens).filter(|tokens| *tokens > 0),
                micro_dollars: None,
            },
            depth: self.depth,
            max_observation_chars: self.max_observation_chars,
            ..SearchSettings::new(method, prompts)
        }
    }

    /// Gives a row its attempts, and decides on it. Returns what it counts as.
    fn decide(&self, row: &MadeRow, attempts: &[Attempt], out: &mut Verdict<'_>) -> Result<&'static str> {
        let chosen = chosen(attempts, &[]);
        let keeps = match self.unsolved {
            Unsolved::KeepExecuted => row.record.is_executed(),
            Unsolved::Keep => true,
            Unsolved::Drop => false,
        };
        let failed = attempts.iter().find_map(|attempt| match &attempt.end {
            SearchEnd::Failed(why) | SearchEnd::Stopped(why) => Some(why),
            _ => None,
        });
        if let Some(why) = failed.filter(|_| chosen.is_none()) {
            // An instruction that needs no attempt stays in the set, without the one that was broken off.
            if keeps {
                out.leave_open();
            } else {
                note(row, attempts, out)?;
                out.fail(row.row, &NO_REPLY, why)?;
            }
            return Ok(NO_REPLY.code);
        }
        note(row, attempts, out)?;
        if chosen.is_some() {
            return Ok(PASSED);
        }
        if !keeps {
            out.drop(row.row, &UNSOLVED, Evidence::detail(json!({ "attempts": ends(attempts) })))?;
        }
        Ok(UNSOLVED.code)
    }
}

/// The note of the number of attempts that end in texts without a call.
pub(crate) const IN_TEXT_NOTE: &str = "answered_in_text";

/// Whether an attempt has no answer, because its replies were texts without a call.
fn is_in_text(attempt: &Attempt) -> bool {
    attempt.answered.is_none() && attempt.tree.paths().any(|path| matches!(path.end, PathEnd::Texts))
}

/// Notes the attempts of a row.
fn note(row: &MadeRow, attempts: &[Attempt], out: &mut Verdict<'_>) -> Result<()> {
    out.set(row.row, TRACES, json!(attempts).to_string())?;
    set_passing(row.row, attempts, &[], out).map(|_| ())
}

/// How each attempt ended, with the ends of its paths.
fn ends(attempts: &[Attempt]) -> Vec<Value> {
    attempts
        .iter()
        .map(|attempt| {
            let paths: Vec<&str> = attempt.tree.paths().map(|path| path.end.code()).collect();
            json!({"solved": attempt.solved, "requests": attempt.spent.requests, "paths": paths})
        })
        .collect()
}
