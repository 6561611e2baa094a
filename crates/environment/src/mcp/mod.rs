//! An environment that is an MCP server over standard input and output.
//!
//! The server is started for each episode, under the supervisor, with a HOME of its own. `session` speaks the protocol,
//! `result` makes observations of results. The end state is what a call of the settings returns, or files below HOME;
//! without either, there is no claim on it. docs/environments.md has the settings.

mod episode;
mod result;
mod session;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use callsieve_text::content_hash::content_hash;
use serde_json::{Map, Value, json};

use crate::call::{Call, Observation, Origin};
use crate::canonical::canonical;
use crate::environment::{Effect, Environment, Episode, Execution, Function, InitialState, run};
use crate::error::EnvironmentError;
use crate::process::{Launch, Process, Supervisor};
use crate::records;
use crate::schema;
use crate::state_file::default_state;
use episode::McpEpisode;
use session::{Refusal, Session};
pub use settings::{Load, McpSettings, StateCall};

/// Changes with every change of this module that changes a result.
const VERSION: u32 = 1;

/// An environment that is an MCP server.
pub struct Mcp {
    shared: Arc<Shared>,
    functions: Vec<Function>,
    initial_states: Vec<InitialState>,
    fingerprint: Value,
}

/// What all episodes share.
struct Shared {
    settings: McpSettings,
    supervisor: Supervisor,
    launch: Launch,
    /// Names of the functions.
    names: OnceLock<BTreeSet<String>>,
    /// Lines of all servers that were no answer.
    n_skipped: AtomicUsize,
    /// Servers that wait for another episode.
    waiting: Mutex<Vec<Session>>,
    /// The hash of the state of a new server, by the hash of what it loaded.
    start_states: Mutex<BTreeMap<u128, String>>,
}

impl Mcp {
    /// Starts the server once, and lists its tools.
    ///
    /// # Errors
    /// The server does not start, does not speak the protocol or has no tools, a file of states has a fault, or a setting
    /// is out of range.
    pub fn open(settings: &McpSettings, supervisor: &Supervisor) -> Result<Self, EnvironmentError> {
        settings.check()?;
        let initial_states = match &settings.states {
            None => vec![default_state()],
            Some(file) => file.states(&records::read(Path::new(&file.file))?),
        };
        let Some(first) = initial_states.first() else {
            return Err(settings.fault("the file of states has no record"));
        };
        let launch = Launch {
            command: settings.command.iter().map(Into::into).collect(),
            variables: settings.environment.clone(),
            memory_bytes: Some(settings.memory_bytes),
            network: settings.network,
            grace: Duration::from_millis(settings.shutdown_deadline_ms),
        };
        let (settings, supervisor) = (settings.clone(), supervisor.clone());
        let shared = Arc::new(Shared {
            settings,
            supervisor,
            launch,
            names: OnceLock::new(),
            n_skipped: AtomicUsize::new(0),
            waiting: Mutex::default(),
            start_states: Mutex::default(),
        });
        let (mut session, deadline) = shared.session(first)?;
        let tools = session.tools(deadline).map_err(|refusal| shared.fault("tools/list", &refusal))?;
        shared.stop(&mut session);
        let functions = shared.functions(&tools)?;
        shared.names.get_or_init(|| functions.iter().map(|function| function.name().to_owned()).collect());
        let states: Vec<&Value> = initial_states.iter().map(|state| &state.value).collect();
        let hash = |value: &Value| format!("{:032x}", content_hash(canonical(value)));
        let fingerprint = json!({
            "kind": "mcp",
            "version": VERSION,
            "settings": shared.settings.of_results(),
            "server": session.server,
            "files": shared.settings.hashes_of_command(),
            "tools": hash(&Value::Array(tools)),
            "states": hash(&json!(states)),
        });
        Ok(Self { shared, functions, initial_states, fingerprint })
    }

    /// Returns the number of lines of all servers so far that were no answer to a request.
    pub fn n_skipped_lines(&self) -> usize {
        self.shared.n_skipped.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn process_error(&self, what: String) -> EnvironmentError {
        EnvironmentError::Process { name: self.settings.name.clone(), what }
    }

    fn fault(&self, step: &str, refusal: &Refusal) -> EnvironmentError {
        self.process_error(format!("{step}: {}", refusal.text()))
    }

    /// Starts a server with an initial state; returns the deadline of the start as well.
    fn session(&self, state: &InitialState) -> Result<(Session, Instant), EnvironmentError> {
        let deadline = Instant::now() + Duration::from_millis(self.settings.start_deadline_ms);
        let start = |cause: std::io::Error| self.process_error(format!("the server does not start: {cause}"));
        let process =
            Process::start_with(&self.supervisor, &self.launch, |home| self.write_state(home, state))
                .map_err(start)?;
        let mut session = Session::open(process, self.settings.max_result_bytes, deadline)
            .map_err(|refusal| self.fault("initialize", &refusal))?;
        if matches!(self.settings.load, Some(Load::Calls)) {
            self.load_by_calls(&mut session, state)?;
        }
        Ok((session, deadline))
    }

    /// Starts an episode with a new server, or with a used one whose state is that of a new one.
    fn episode(
        self: &Arc<Self>,
        state: &InitialState,
        is_fresh: bool,
    ) -> Result<McpEpisode, EnvironmentError> {
        let of =
            |session: Session| McpEpisode { shared: Arc::clone(self), session, is_lost: false, is_fresh };
        if !self.settings.reuse || is_fresh {
            return Ok(of(self.session(state)?.0));
        }
        let loaded = content_hash(canonical(&state.value));
        let known = lock(&self.start_states).get(&loaded).cloned();
        let used = if known.is_some() { lock(&self.waiting).pop() } else { None };
        if let Some(used) = used {
            let mut episode = of(used);
            if self.load_again(&mut episode.session, state).is_ok() && episode.hash() == known {
                return Ok(episode);
            }
            self.stop(&mut episode.session);
        }
        let mut episode = of(self.session(state)?.0);
        if let Some(hash) = episode.hash() {
            lock(&self.start_states).entry(loaded).or_insert(hash);
        }
        Ok(episode)
    }

    /// Gives a used server an empty HOME and an initial state.
    fn load_again(&self, session: &mut Session, state: &InitialState) -> Result<(), EnvironmentError> {
        let fail = |cause: std::io::Error| self.process_error(format!("HOME cannot be emptied: {cause}"));
        session.process().empty_home().map_err(fail)?;
        self.write_state(session.process().home(), state).map_err(fail)?;
        if matches!(self.settings.load, Some(Load::Calls)) {
            self.load_by_calls(session, state)
        } else {
            Ok(())
        }
    }

    fn write_state(&self, home: &Path, state: &InitialState) -> std::io::Result<()> {
        use std::io::Write as _;
        let Some(Load::File(file)) = &self.settings.load else { return Ok(()) };
        let path = home.join(file);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let content = match &state.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        std::fs::File::create(path)?.write_all(content.as_bytes())
    }

    fn load_by_calls(&self, session: &mut Session, state: &InitialState) -> Result<(), EnvironmentError> {
        let fail = |what: String| {
            let name = self.settings.name.clone();
            EnvironmentError::State { name, state: state.name.clone(), what }
        };
        // The default state is empty.
        let calls = if state.value.is_array() { state.value.clone() } else { json!([]) };
        let calls: Vec<Call> = serde_json::from_value(calls).map_err(|error| fail(error.to_string()))?;
        for call in calls {
            let seen = self.call(session, &call).map_err(|refusal| fail(refusal.text()))?;
            if seen.failure.is_some() {
                return Err(fail(format!("{}: {}", call.name, seen.result)));
            }
        }
        Ok(())
    }

    fn call(&self, session: &mut Session, call: &Call) -> Result<Observation, Refusal> {
        let deadline = Instant::now() + Duration::from_millis(self.settings.call_deadline_ms);
        let parameters = json!({"name": call.name, "arguments": call.arguments});
        let result = session.request("tools/call", &parameters, deadline)?;
        Ok(result::observation(result, self.settings.max_depth))
    }

    fn functions(&self, tools: &[Value]) -> Result<Vec<Function>, EnvironmentError> {
        let mut functions: Vec<Function> = Vec::with_capacity(tools.len());
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            if name.is_empty() {
                return Err(self.process_error("tools/list: a tool has no name".to_owned()));
            }
            if functions.iter().any(|function| function.name() == name) {
                return Err(self.process_error(format!("tools/list: two tools are called {name}")));
            }
            let hint =
                tool.get("annotations").and_then(|hints| hints.get("readOnlyHint")).and_then(Value::as_bool);
            let effect =
                hint.map(|is_read_only| if is_read_only { Effect::ReadOnly } else { Effect::Writes });
            functions.push(Function { doc: schema::doc(name, tool), effect, class: None });
        }
        if functions.is_empty() {
            return Err(self.process_error("the server has no tools".to_owned()));
        }
        Ok(functions)
    }

    fn stop(&self, session: &mut Session) {
        session.stop();
        self.n_skipped.fetch_add(std::mem::take(&mut session.n_skipped), Ordering::Relaxed);
    }
}

impl Environment for Mcp {
    fn name(&self) -> &str {
        &self.shared.settings.name
    }

    fn origin(&self) -> Origin {
        Origin::Real
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn initial_states(&self) -> &[InitialState] {
        &self.initial_states
    }

    fn start(&self, state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError> {
        Ok(Box::new(self.shared.episode(state, false)?))
    }

    fn run_fresh(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        run(Box::new(self.shared.episode(state, true)?), calls)
    }

    fn fingerprint(&self) -> Value {
        self.fingerprint.clone()
    }

    fn conditions(&self) -> Map<String, Value> {
        let network = self.shared.supervisor.network(self.shared.settings.network);
        [("network".to_owned(), network.into())].into_iter().collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
