//! The services of multi-turn entries for a model that is asked: docs of functions, and the results of calls.
//!
//! Each entry has a process of its own, isolated as for scoring, so that no output reaches another entry. The results of calls
//! are sent to a server, so `environments.py` evaluates only calls of the services with plain values.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ChildStdin;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::process::Process;
use super::{Facts, Package, facts_of};
use crate::dataset::Entry;
use crate::error::Result;

/// How much longer than the usual time a process may take that starts, or repeats calls: a busy machine is no fault of an output.
const PATIENCE: u32 = 5;

/// The functions of an entry.
#[derive(Debug, Deserialize)]
pub(crate) struct Docs {
    /// Those of the first turn.
    pub(crate) functions: Value,
    /// What later turns add, by the number of the turn.
    pub(crate) added: BTreeMap<String, Added>,
    /// The calls of a turn after which the package ends the conversation.
    pub(crate) max_steps: usize,
}

/// The functions that a turn adds, and the message that announces them.
#[derive(Debug, Deserialize)]
pub(crate) struct Added {
    pub(crate) functions: Vec<Value>,
    /// For a model without function calling.
    pub(crate) prompt: String,
    /// For a model with function calling.
    pub(crate) calls: String,
}

/// What an output did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Executed {
    /// It calls nothing, so its turn is over.
    Nothing,
    /// The results of its calls, and the message about them for a model without function calling.
    Calls { results: Vec<String>, message: String },
}

/// The services of an entry, in the state after the calls so far.
pub(crate) struct Environment<'p> {
    package: &'p Package,
    entry: Value,
    model: String,
    is_calls: bool,
    session: Session,
    outputs: Vec<Value>,
}

impl Package {
    /// Returns the functions of entries, or why they have none, and what the process said about itself.
    ///
    /// # Errors
    /// If the process does not start.
    pub(crate) fn docs(&self, entries: &[&Entry]) -> Result<(Vec<std::result::Result<Docs, String>>, Facts)> {
        let (mut session, facts) = Session::start(self)?;
        let docs = |entry: &&Entry| {
            let answer = session.ask(json!({"do": "docs", "entry": question(entry)}), self.patience())?;
            Docs::deserialize(&answer).map_err(|error| error.to_string())
        };
        Ok((entries.iter().map(docs).collect(), facts))
    }

    fn patience(&self) -> Duration {
        self.timeout * PATIENCE
    }

    /// Starts the services of an entry. `model` is part of the names of the package's objects, which some results show.
    ///
    /// # Errors
    /// If the process does not start, or the services do not.
    pub(crate) fn open(
        &self,
        entry: &Entry,
        model: &str,
        is_calls: bool,
    ) -> std::result::Result<Environment<'_>, String> {
        let model: String = model.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let model = if model.starts_with(|c: char| c.is_ascii_digit()) { format!("_{model}") } else { model };
        let entry = question(entry);
        let session = Session::open(self, &entry, &model)?;
        Ok(Environment { package: self, entry, model, is_calls, session, outputs: Vec::new() })
    }
}

/// Returns an entry as the package reads it.
fn question(entry: &Entry) -> Value {
    let mut question = entry.more.clone();
    question.insert("id".to_owned(), json!(entry.id));
    Value::Object(question)
}

impl Environment<'_> {
    /// Executes the calls of an output. If the process ends, another one gets all outputs once more.
    ///
    /// # Errors
    /// If the second process ends as well.
    pub(crate) fn step(&mut self, output: &Value) -> std::result::Result<Executed, String> {
        self.outputs.push(output.clone());
        let answer = self.session.ask(self.job(output), self.package.timeout).or_else(|_| self.again())?;
        if answer["calls"].is_null() {
            return Ok(Executed::Nothing);
        }
        let results = answer["results"].as_array().into_iter().flatten();
        Ok(Executed::Calls {
            results: results.map(|result| result.as_str().unwrap_or_default().to_owned()).collect(),
            message: answer["message"].as_str().unwrap_or_default().to_owned(),
        })
    }

    /// Gives all outputs to another process, and returns the answer to the last one.
    fn again(&mut self) -> std::result::Result<Value, String> {
        self.session = Session::open(self.package, &self.entry, &self.model)?;
        let mut answer = Value::Null;
        for output in &self.outputs {
            answer = self.session.ask(self.job(output), self.package.patience())?;
        }
        Ok(answer)
    }

    fn job(&self, output: &Value) -> Value {
        json!({"do": "step", "output": output, "is_calls": self.is_calls})
    }
}

/// A process that answers line by line.
struct Session {
    /// `None` once it has ended.
    process: Option<Process>,
    input: Option<ChildStdin>,
    n_asked: u64,
}

impl Session {
    fn start(package: &Package) -> Result<(Self, Facts)> {
        let mut process = package.start()?;
        let facts = match facts_of(&process, package.patience()) {
            Ok(facts) => facts,
            Err(what) => {
                let errors = process.end(false);
                return Err(package.failed(format!("{what}{errors}")));
            }
        };
        let input = process.take_input();
        Ok((Self { process: Some(process), input, n_asked: 0 }, facts))
    }

    fn open(package: &Package, entry: &Value, model: &str) -> std::result::Result<Self, String> {
        let (mut session, _) = Self::start(package).map_err(|error| error.to_string())?;
        session.ask(json!({"do": "open", "entry": entry, "model": model}), package.patience())?;
        Ok(session)
    }

    /// Sends a job and returns its answer, or why there is none.
    fn ask(&mut self, mut job: Value, timeout: Duration) -> std::result::Result<Value, String> {
        let (Some(process), Some(input)) = (&self.process, &mut self.input) else {
            return Err("the process ended".to_owned());
        };
        job["n"] = json!(self.n_asked);
        writeln!(input, "{job}").map_err(|_| "the process ended".to_owned())?;
        let line = process.next_line(timeout)?;
        let answer: Value = serde_json::from_str(&line).unwrap_or_default();
        if answer["n"] != self.n_asked {
            let found: String = line.chars().take(200).collect();
            return Err(format!("expected answer {} of the process, found {found}", self.n_asked));
        }
        self.n_asked += 1;
        match answer["error"][0].as_str() {
            Some(error) if answer["aborted"] == true => Err(error.to_owned()),
            _ => Ok(answer),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Without input it ends by itself.
        self.input = None;
        if let Some(process) = self.process.take() {
            process.end(true);
        }
    }
}
