//! Worker processes, one for each program that runs at the same time.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::settings::PythonSettings;
use crate::error::EnvironmentError;
use crate::process::{Launch, NoLine, Process, Supervisor};

/// The parts of the worker, as one text.
const WORKER: &str = concat!(include_str!("values.py"), include_str!("docs.py"), include_str!("worker.py"));

/// Prints the interpreter itself. A command such as `python3` may be a script that finds it by HOME, which workers change.
const WHICH: &str = "import sys; print(sys.executable)";

/// How much later than the worker the program gives up on a call.
const PATIENCE: Duration = Duration::from_secs(5);

/// Starts workers, and keeps those that wait for a program.
pub(super) struct Pool {
    name: String,
    supervisor: Supervisor,
    launch: Launch,
    settings: Value,
    start_deadline: Duration,
    call_deadline: Duration,
    program_deadline: Duration,
    max_bytes: usize,
    waiting: Mutex<Vec<Worker>>,
}

/// A worker process that has imported the modules.
pub(super) struct Worker {
    process: Process,
    call_deadline: Duration,
    program_deadline: Duration,
    max_bytes: usize,
}

impl Pool {
    pub(super) fn new(settings: &PythonSettings, supervisor: &Supervisor) -> Result<Self, EnvironmentError> {
        let mut variables = settings.environment.clone();
        for (name, value) in [("PYTHONHASHSEED", "0"), ("PYTHONUTF8", "1"), ("PYTHONDONTWRITEBYTECODE", "1")]
        {
            variables.insert(name.to_owned(), value.to_owned());
        }
        let launch = Launch {
            command: vec![interpreter(settings)?, "-c".into(), WORKER.into()],
            variables,
            memory_bytes: Some(settings.memory_bytes),
            network: settings.network,
            grace: Duration::ZERO,
        };
        Ok(Self {
            name: settings.name.clone(),
            supervisor: supervisor.clone(),
            launch,
            settings: settings.of_worker(),
            start_deadline: Duration::from_millis(settings.start_deadline_ms),
            call_deadline: Duration::from_millis(settings.call_deadline_ms),
            program_deadline: Duration::from_millis(settings.program_deadline_ms),
            // A byte of a state is at most six in an escape of JSON.
            max_bytes: settings.max_state_bytes.saturating_mul(8),
            waiting: Mutex::default(),
        })
    }

    pub(super) fn fault(&self, what: impl Into<String>) -> EnvironmentError {
        EnvironmentError::Process { name: self.name.clone(), what: what.into() }
    }

    /// Returns functions, states and versions, by a worker of its own: those of programs stay small, since every page of
    /// theirs costs at each fork.
    pub(super) fn describe(&self) -> Result<Value, EnvironmentError> {
        Ok(self.opened(true)?.1)
    }

    /// Returns a waiting worker, or a new one.
    pub(super) fn take(&self, is_new: bool) -> Result<Worker, EnvironmentError> {
        let waiting = || self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match if is_new { None } else { waiting() } {
            Some(worker) => Ok(worker),
            None => Ok(self.opened(false)?.0),
        }
    }

    /// Keeps a worker for the next program, unless it ended.
    pub(super) fn put_back(&self, mut worker: Worker) {
        if worker.process.is_running() {
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        }
    }

    fn opened(&self, describe: bool) -> Result<(Worker, Value), EnvironmentError> {
        let process = Process::start(&self.supervisor, &self.launch)
            .map_err(|cause| self.fault(format!("the supervisor does not start: {cause}")))?;
        let mut worker = Worker {
            process,
            call_deadline: self.call_deadline,
            program_deadline: self.program_deadline,
            max_bytes: self.max_bytes,
        };
        let request = json!({"op": "open", "describe": describe, "settings": self.settings});
        let deadline = Instant::now() + self.start_deadline;
        let answer = worker.exchange(&request, None, deadline).map_err(|what| self.fault(what))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(what) => Err(self.fault(what)),
            None => Ok((worker, answer)),
        }
    }
}

/// Returns the interpreter of the settings. It is started with the variables of the program, but runs no code of modules.
fn interpreter(settings: &PythonSettings) -> Result<OsString, EnvironmentError> {
    let name = settings.python.display();
    let output = Command::new(&settings.python).args(["-S", "-c", WHICH]).stdin(Stdio::null()).output();
    let output = output.map_err(|cause| settings.fault(&format!("cannot run {name}: {cause}")))?;
    let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if path.is_empty() || !output.status.success() {
        return Err(settings.fault(&format!("{name} is not a Python interpreter")));
    }
    Ok(path.into())
}

impl Worker {
    /// Sends a request, and returns the answer; the error says why there is none, and the worker is lost then.
    pub(super) fn ask(
        &mut self,
        request: &Value,
        program: Option<&Value>,
        n_answers: usize,
    ) -> Result<Value, String> {
        let n_calls = u32::try_from(n_answers).unwrap_or(u32::MAX);
        let most = self.call_deadline.saturating_mul(n_calls).min(self.program_deadline);
        self.exchange(request, program, Instant::now() + most + PATIENCE)
    }

    fn exchange(
        &mut self,
        request: &Value,
        program: Option<&Value>,
        deadline: Instant,
    ) -> Result<Value, String> {
        let mut text = request.to_string();
        text.push('\n');
        if let Some(program) = program {
            text.push_str(&program.to_string());
            text.push('\n');
        }
        if !self.process.write(text.as_bytes(), deadline) {
            return Err(self.ended("the worker does not read"));
        }
        match self.process.line(self.max_bytes, deadline) {
            Ok(line) => {
                serde_json::from_slice(&line).map_err(|error| format!("the worker answers no JSON: {error}"))
            }
            Err(NoLine::Timeout) => Err(self.ended("the worker does not answer in time")),
            Err(NoLine::Ended) => Err(self.ended("the worker ended")),
            Err(NoLine::TooLarge) => Err(self.ended("the answer of the worker is too large")),
        }
    }

    /// Ends the process, so that no later answer is taken for the next one's.
    fn ended(&mut self, what: &str) -> String {
        self.process.stop();
        match self.process.last_error() {
            Some(line) => format!("{what}: {line}"),
            None => what.to_owned(),
        }
    }
}
