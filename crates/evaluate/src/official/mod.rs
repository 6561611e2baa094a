//! Scores outputs with the installed package `bfcl-eval`, in a process of its own without network.
//!
//! Multi-turn and agentic categories depend on simulated services that only the package has. Its checker evaluates the
//! calls of a model as Python, so the process has bounded memory and time, no network, and no variables but a few.
//! `driver.py` is the program that the package's Python runs: it reads outputs as JSON lines and writes a verdict for each.
//! `environments` has the services for a model that is asked.

pub(crate) mod environments;
mod process;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::category::Scoring;
use super::dataset::{Category, Entry};
use super::decoding::SystemDecoding;
use super::error::{EvaluateError, Result};
use super::results::{Output, ResultRow};
use super::score::{ABORT, NO_OUTPUT, Scored};
use callsieve_checker::decode::OutputFormat;
use callsieve_checker::{Checker, Language};
use process::Process;

/// The version of the package whose verdicts are known.
pub const VERSION: &str = "2026.3.23";

/// The distributions that scoring needs; those of vendors, which the package depends on, are left out.
const DISTRIBUTIONS: &str = "bfcl-eval==2026.3.23 tree_sitter==0.21.3 tree-sitter-java==0.21.0 \
                             tree-sitter-javascript==0.21.4 tenacity filelock mpmath";

/// Seconds that a verdict may take.
const TIMEOUT: u64 = 60;

/// An installed package.
#[derive(Debug, Clone)]
pub struct Package {
    folder: PathBuf,
    variables: Vec<(OsString, OsString)>,
    timeout: Duration,
}

/// What the process said about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// The version of the package.
    pub version: String,
    /// `none` if the system gives the process no network, otherwise how it is kept from it.
    pub network: String,
    /// `read-only`, except for a folder in memory, or `writable`.
    pub files: String,
}

/// An output to score.
pub(super) struct Job<'j> {
    pub(super) place: (usize, usize),
    pub(super) category: &'j Category,
    pub(super) entry: &'j Entry,
    pub(super) row: &'j ResultRow,
    /// Whether the system uses function calling.
    pub(super) is_calls: bool,
    /// How the outputs of the system are decoded.
    pub(super) decoding: SystemDecoding,
}

/// Why a process ended before its last output.
enum Stop {
    /// The output that it worked on has no verdict.
    Aborted(String),
    /// Something else wrote between the verdicts; the output is scored again by a new process.
    Disturbed,
}

impl Package {
    /// Returns the package in a virtual environment of Python.
    ///
    /// # Errors
    /// If the folder has no Python; the message has the command that installs the package.
    pub fn find(folder: &Path) -> Result<Self> {
        let this =
            Self { folder: folder.to_owned(), variables: Vec::new(), timeout: Duration::from_secs(TIMEOUT) };
        if !this.python().exists() {
            return Err(EvaluateError::Package {
                what: format!("there is no Python with bfcl-eval in {}", folder.display()),
                hint: format!("install it with: {}", install(folder)),
            });
        }
        Ok(this)
    }

    fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Gives the process these environment variables; it has no others. What an output executes can read them.
    #[must_use]
    pub fn with_variables(mut self, variables: Vec<(OsString, OsString)>) -> Self {
        self.variables = variables;
        self
    }

    /// Allows another time for a verdict.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Scores outputs, in order. An output at which the package stops, or needs too long, is wrong.
    pub(super) fn score(&self, checker: Checker, jobs: &[Job<'_>]) -> Result<(Vec<Scored>, Facts)> {
        let mut scored: Vec<Scored> = Vec::with_capacity(jobs.len());
        let mut facts = Facts::default();
        while scored.len() < jobs.len() {
            let rest = &jobs[scored.len()..];
            let stop = self.process(checker, rest, &mut scored, &mut facts)?;
            // The process is gone: the output it worked on has no verdict.
            if let (Some(Stop::Aborted(reason)), Some(job)) = (stop, jobs.get(scored.len())) {
                scored.push(aborted(job, &reason));
            }
        }
        Ok((scored, facts))
    }

    /// Starts a process and takes its verdicts; returns why it ended before the last one.
    fn process(
        &self,
        checker: Checker,
        jobs: &[Job<'_>],
        scored: &mut Vec<Scored>,
        facts: &mut Facts,
    ) -> Result<Option<Stop>> {
        let mut process = self.start()?;
        let input = process.take_input();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let Some(mut input) = input else { return };
                for (n, job) in jobs.iter().enumerate() {
                    // A process that has ended reads no more.
                    if writeln!(input, "{}", line(n, checker, job)).is_err() {
                        return;
                    }
                }
            });
            let ended = self.verdicts(&process, jobs, scored, facts);
            let errors = process.end(matches!(ended, Ok(None)));
            ended.map_err(|what| self.failed(format!("{what}{errors}")))
        })
    }

    fn start(&self) -> Result<Process> {
        let python = self.python();
        let started = Process::start(&python, &self.variables);
        started.map_err(|error| self.failed(format!("starting {}: {error}", python.display())))
    }

    fn failed(&self, what: String) -> EvaluateError {
        EvaluateError::Package { what, hint: format!("install it again with: {}", install(&self.folder)) }
    }

    /// Takes verdicts until all are there. `Ok` has the reason if an output has none; `Err` if the process cannot score.
    fn verdicts(
        &self,
        process: &Process,
        jobs: &[Job<'_>],
        scored: &mut Vec<Scored>,
        facts: &mut Facts,
    ) -> std::result::Result<Option<Stop>, String> {
        *facts = facts_of(process, self.timeout)?;
        for (n, job) in jobs.iter().enumerate() {
            let line = match process.next_line(self.timeout) {
                Ok(line) => line,
                Err(reason) => return Ok(Some(Stop::Aborted(reason))),
            };
            match serde_json::from_str::<Value>(&line) {
                Ok(verdict) if verdict["n"] == n && verdict["valid"].is_boolean() => {
                    scored.push(verdict_of(job, &verdict));
                }
                // It was written by what an output executed: a copy of the process, for example. Whether it was this output or
                // one before it shows in a new process.
                _ if n > 0 => return Ok(Some(Stop::Disturbed)),
                _ => {
                    let found: String = line.chars().take(200).collect();
                    return Ok(Some(Stop::Aborted(format!(
                        "expected verdict {n} of the process, found {found}"
                    ))));
                }
            }
        }
        Ok(None)
    }
}

/// Reads the first line of a process.
fn facts_of(process: &Process, timeout: Duration) -> std::result::Result<Facts, String> {
    let first = process.next_line(timeout).map_err(|reason| format!("bfcl-eval does not start: {reason}"))?;
    let first: Value = serde_json::from_str(&first)
        .map_err(|_| format!("bfcl-eval does not start: its first line is {first:?}"))?;
    let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
    Ok(Facts { version: text("version"), network: text("network"), files: text("files") })
}

/// Returns the shell command that installs the package into a folder.
pub fn install(folder: &Path) -> String {
    let (folder, pip) = (quoted(folder), quoted(&folder.join("bin/pip")));
    format!("python3 -m venv {folder} && {pip} install --no-deps {DISTRIBUTIONS}")
}

/// Returns a path as one word of a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,".contains(c);
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// Returns an output with its entry, as the driver reads it.
fn line(n: usize, checker: Checker, job: &Job<'_>) -> Value {
    let entry = job.entry;
    let mut question = entry.more.clone();
    question.insert("id".to_owned(), json!(entry.id));
    question.insert("question".to_owned(), (*entry.question).clone());
    if !entry.functions.is_null() {
        question.insert("function".to_owned(), (*entry.functions).clone());
    }
    let (format, has_tag) = job.category.format_of(entry);
    let format = match format {
        OutputFormat::Python => "python",
        OutputFormat::Java => "java",
        OutputFormat::JavaScript => "javascript",
        OutputFormat::Json => "json",
        OutputFormat::VerboseXml => "verbose_xml",
        OutputFormat::ConciseXml => "concise_xml",
    };
    let language = match job.category.scoring {
        Scoring::Calls(_, Language::Java) => "java",
        Scoring::Calls(_, Language::JavaScript) => "javascript",
        _ => "python",
    };
    let handler = job.decoding.handler.filter(|handler| handler.is_current());
    let handler = handler.map(|of| json!({"class": of.class, "is_function_calling": of.is_function_calling}));
    json!({
        "n": n, "category": super::category::current_name(&job.category.name), "entry": question,
        "ground_truth": *entry.ground_truth, "output": super::output::raw(&job.row.output), "is_calls": job.is_calls,
        "underscore_to_dot": checker.underscore_to_dot, "language": language, "format": format, "has_tag": has_tag,
        "handler": handler,
    })
}

fn scored(job: &Job<'_>) -> Scored {
    Scored {
        place: job.place,
        valid: false,
        error_type: None,
        error: Vec::new(),
        decoded: Value::Null,
        only_dots_differ: false,
        is_unparsed_call: false,
        is_error_text: false,
    }
}

fn aborted(job: &Job<'_>, reason: &str) -> Scored {
    Scored { error_type: Some(Cow::Borrowed(ABORT)), error: vec![json!(reason)], ..scored(job) }
}

fn verdict_of(job: &Job<'_>, verdict: &Value) -> Scored {
    if let Output::Failed(reason) = &job.row.output {
        let error = vec![json!(format!("The request failed: {reason}"))];
        return Scored { error_type: Some(Cow::Borrowed(NO_OUTPUT)), error, ..scored(job) };
    }
    let error = verdict["error"].as_array().cloned().unwrap_or_default();
    let error_type = match verdict["error_type"].as_str() {
        _ if verdict["aborted"] == true => Some(Cow::Borrowed(ABORT)),
        Some(name) => Some(Cow::Owned(name.to_owned())),
        None => None,
    };
    Scored {
        valid: verdict["valid"] == true,
        error_type,
        error,
        decoded: verdict["decoded"].clone(),
        ..scored(job)
    }
}

#[cfg(test)]
mod tests;
