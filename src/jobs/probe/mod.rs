//! Calls of the functions of a collection: requests to hosts that the user allows, and a record of every answer.
//!
//! [`plan`] decides what is called; [`prepare`] and [`PreparedProbe::execute`] call it, in the order of names and one after the other. Each answer is written
//! before the next request is sent, and a call that is recorded is not made again, so a stopped probe continues. Recorded answers
//! are an environment of the kind `recorded` (`recorded.toml`), and a log for the rules of `callsieve-collection`'s `probe`. The
//! same answers give the same bytes, except the times in the log. Answers are data: they are not redacted.

mod files;
mod options;
mod plan;
mod record;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::collection::probe::{ProbeRules, Request, Verdict, Verdicts};
use crate::engine::context::Cancelled;
use crate::engine::error::{Error, Result};
use crate::engine::layout::MARKER;
use crate::llm;
pub use crate::llm::calls::{AllowedHost, CallLimits, SecretHeader};
use crate::llm::calls::{AllowedHosts, Caller, Request as Sent};
use files::{Journal, SETTINGS, recorded_calls};
pub use options::{Method, ProbeOptions};
pub(crate) use plan::read_tools;
pub use plan::{NotCalled, PlannedFunction, plan};
use record::CallKey;
pub use record::RecordedCall;

/// A function of the collection, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbedFunction {
    /// The function.
    pub planned: PlannedFunction,
    /// What became of it.
    pub outcome: FunctionOutcome,
}

/// What became of a function.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionOutcome {
    /// It was called now.
    Called(Box<RecordedCall>),
    /// It was called earlier.
    Recorded(Box<RecordedCall>),
    /// It would be called.
    Planned,
    /// It was not called.
    NotCalled(NotCalled),
}

/// What a probe did.
#[derive(Debug, Clone)]
pub struct ProbeReport {
    /// Every function of the collection, by name.
    pub functions: Vec<ProbedFunction>,
    /// The calls of the environment.
    pub n_usable: usize,
    /// The settings file of the environment.
    pub environment: PathBuf,
    /// The verdicts of the built-in rules on the functions that were called, by tool and name.
    pub verdicts: BTreeMap<(String, String), Verdict>,
    /// The user stopped it.
    pub is_interrupted: bool,
}

impl ProbeReport {
    /// Returns the calls of the functions, made now or earlier.
    pub fn calls(&self) -> impl Iterator<Item = &RecordedCall> {
        self.functions.iter().filter_map(|function| match &function.outcome {
            FunctionOutcome::Called(call) | FunctionOutcome::Recorded(call) => Some(&**call),
            FunctionOutcome::Planned | FunctionOutcome::NotCalled(_) => None,
        })
    }
}

/// The recorded calls by what makes each the same call.
type Known = BTreeMap<CallKey, RecordedCall>;

/// Returns the plan with the calls that are recorded already, and those that would exceed the most calls.
///
/// # Errors
/// The folder is no finished collection, or its recorded calls cannot be read.
pub fn preview(options: &ProbeOptions) -> Result<Vec<ProbedFunction>> {
    let recorded = if options.fresh { Vec::new() } else { recorded_calls(&options.out)? };
    let known = known(&recorded, options);
    let mut left = options.max_calls;
    let preview = plan(options)?.into_iter().map(|planned| {
        let outcome = outcome_before(&planned, &known, &mut left).unwrap_or(FunctionOutcome::Planned);
        ProbedFunction { planned, outcome }
    });
    Ok(preview.collect())
}

/// A probe that can begin: its folder is locked.
pub struct PreparedProbe {
    options: ProbeOptions,
    planned: Vec<PlannedFunction>,
    caller: Caller,
    journal: Journal,
    known: Known,
    /// How many calls may still be made.
    left: usize,
    is_interrupted: bool,
}

/// Prepares calls to the functions of a collection that the options allow; nothing is sent.
///
/// # Errors
/// The folder is no finished collection, none of its functions is allowed, or the folder of the calls cannot be used.
pub fn prepare(options: &ProbeOptions) -> Result<PreparedProbe> {
    let planned = plan(options)?;
    if planned.iter().all(|function| function.request.is_err()) {
        return Err(Error::Setting(nothing_to_call(options, &planned)));
    }
    if options.out.join(MARKER).exists() {
        let out = options.out.display();
        let message = format!("{out} is a run folder\nhint: give another folder with --out");
        return Err(Error::Setting(message));
    }
    let hosts = AllowedHosts::new(options.hosts.clone());
    let caller = Caller::new(hosts, options.headers.clone(), options.limits.clone());
    let caller = caller.map_err(|error| setting(&error))?;
    let journal = Journal::open(&options.out, options.fresh)?;
    let known = known(journal.calls(), options);
    let (left, options) = (options.max_calls, options.clone());
    Ok(PreparedProbe { options, planned, caller, journal, known, left, is_interrupted: false })
}

impl PreparedProbe {
    /// Calls the functions one after the other, and writes the answers. `each` is called for every function before the next one
    /// is begun. If the user stops it, that is no error: the report says so.
    ///
    /// # Errors
    /// A file cannot be read or written. What was recorded until then is kept.
    pub fn execute(
        mut self,
        each: &dyn Fn(&ProbedFunction),
        cancelled: Cancelled<'_>,
    ) -> Result<ProbeReport> {
        let mut functions = Vec::with_capacity(self.planned.len());
        for planned in std::mem::take(&mut self.planned) {
            let outcome = self.outcome(&planned, cancelled)?;
            let function = ProbedFunction { planned, outcome };
            each(&function);
            functions.push(function);
        }
        let n_usable = self.journal.finish(&self.options.run, &functions)?;
        let verdicts = verdicts(self.journal.calls());
        let environment = self.options.out.join(SETTINGS);
        Ok(ProbeReport { functions, n_usable, environment, verdicts, is_interrupted: self.is_interrupted })
    }

    fn outcome(&mut self, planned: &PlannedFunction, cancelled: Cancelled<'_>) -> Result<FunctionOutcome> {
        if let Some(outcome) = outcome_before(planned, &self.known, &mut self.left) {
            return Ok(outcome);
        }
        let call = match &planned.request {
            Ok(request) if !self.is_interrupted => self.call(planned, request, cancelled)?,
            _ => None,
        };
        let Some(call) = call else {
            self.is_interrupted = true;
            return Ok(FunctionOutcome::NotCalled(NotCalled::new("interrupted", "stopped before this call")));
        };
        self.journal.add(call.clone())?;
        Ok(FunctionOutcome::Called(Box::new(call)))
    }

    /// Makes one call; `None` if the user stopped it.
    fn call(
        &self,
        planned: &PlannedFunction,
        request: &Request,
        cancelled: Cancelled<'_>,
    ) -> Result<Option<RecordedCall>> {
        let sent = Sent {
            method: &request.method,
            address: &request.address,
            headers: &request.headers,
            body: request.body.as_ref().map(|(kind, body)| (kind.as_str(), body.as_str())),
        };
        match self.caller.send(&sent, cancelled) {
            Ok(outcome) => Ok(Some(RecordedCall::new(&planned.tool, &planned.function, request, outcome))),
            Err(llm::Error::Interrupted) => Ok(None),
            Err(error) => Err(setting(&error)),
        }
    }
}

fn setting(error: &llm::Error) -> Error {
    Error::Setting(error.to_string())
}

fn known(calls: &[RecordedCall], options: &ProbeOptions) -> Known {
    let kept = calls.iter().filter(|call| !options.retry || !call.is_temporary());
    kept.map(|call| (call.key(), call.clone())).collect()
}

/// Returns what became of a function without a call now; `None` if it is to be called.
fn outcome_before(planned: &PlannedFunction, known: &Known, left: &mut usize) -> Option<FunctionOutcome> {
    let request = match &planned.request {
        Ok(request) => request,
        Err(not) => return Some(FunctionOutcome::NotCalled(not.clone())),
    };
    let key = CallKey::of(&planned.tool, &planned.function, request);
    if let Some(call) = known.get(&key) {
        return Some(FunctionOutcome::Recorded(Box::new(call.clone())));
    }
    let Some(fewer) = left.checked_sub(1) else {
        let detail = "--max-calls is reached; the same command again continues";
        return Some(FunctionOutcome::NotCalled(NotCalled::new("max-calls", detail)));
    };
    *left = fewer;
    None
}

fn verdicts(calls: &[RecordedCall]) -> BTreeMap<(String, String), Verdict> {
    let verdicts = Verdicts::of(&ProbeRules::built_in(), &RecordedCall::probes(calls), []);
    let named = verdicts.functions.into_iter();
    named.map(|function| ((function.tool, function.function), function.verdict)).collect()
}

/// Returns the message about a collection of which nothing may be called.
fn nothing_to_call(options: &ProbeOptions, planned: &[PlannedFunction]) -> String {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for not in planned.iter().filter_map(|function| function.request.as_ref().err()) {
        *reasons.entry(&not.detail).or_default() += 1;
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(detail, n)| (std::cmp::Reverse(*n), *detail));
    let most = reasons.first().map_or("it has no function", |(detail, _)| detail);
    format!(
        "no function of {} can be called: {most}\nhint: --dry-run lists the functions with their reasons",
        options.run.display()
    )
}
