//! The source `programs`: rows that are made by executing programs in an environment.
//!
//! Each candidate is an item: it gives a request, or a line with the reason for which it was rejected. The candidates are the
//! same however many instructions are wanted, so a larger number adds to those of a smaller one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_engine::columns::{
    EXTERNAL_ID, FILE, FOLLOWING_MESSAGES, LINE, LOG_FORMAT, MESSAGES, PROGRAM, RECORD, RESPONSE, STRATUM,
    TEXT, WANTED,
};
use callsieve_engine::context::Context;
use callsieve_engine::error::{Error, Result};
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_engine::kind::KindSettings;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::raw::{DocListRow, InputsRead, Intake, LineRow, RequestRow, RowCells, SourcePlace};
use callsieve_engine::source::Source;
use callsieve_engine::vocabulary::ColumnSpec;
use callsieve_environment::environment::Environment;
use callsieve_programs::bindings::Bindings;
pub use callsieve_programs::generate::Coverage;
use callsieve_programs::generate::{Generation, Made, Outcome, Progress, Settings, Tally};
use callsieve_programs::stratum::Shares;
use callsieve_programs::wording::templates::Templates;
use callsieve_system::environment::Environment as System;
use callsieve_system::side_file;
use callsieve_text::content_hash::content_hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::environment::{functions_file, of_collection, open, within_collection};
use crate::record::{CallRecord, Record};
use crate::redaction::Redaction;

/// The note of the source on how much of its environment is reached.
pub const COVERAGE: &str = "coverage";

/// The note of the source on how calls were executed: the origin of results, the network, and in how many instructions
/// personal values were replaced; null if nobody looked.
pub const CONDITIONS: &str = "conditions";

/// The source and its settings.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Programs {
    /// The file that describes the environment; see docs/environments.md. Without one nothing is executed, and the
    /// instructions over `collection` are unverified.
    pub environment: PathBuf,
    /// A collection: only its functions are used. Either its run folder, or the pipeline file (`.toml`) that makes it, which
    /// is run first, into a folder beside the run.
    pub collection: Option<PathBuf>,
    /// A file with sources of values and phrases of functions; see docs/instructions.md.
    pub bindings: Option<PathBuf>,
    /// A file of templates, for another wording or another language. Without it, the built-in English ones.
    pub wording: Option<PathBuf>,
    /// The number of instructions that are wanted.
    pub accept: usize,
    /// The most candidates that are made for them; 0 for 50 times as many, and at least 5,000.
    pub max_candidates: u64,
    /// Instructions that are made in addition, because later stages drop some. A run that exports too few is repeated with
    /// more by itself.
    pub spare: usize,
    /// The share of each stratum.
    pub strata: Shares,
    /// The most calls of a chain, 2 to 8.
    pub most_calls: usize,
    /// The fewest and the most functions that are offered with an instruction.
    pub offered: [usize; 2],
    /// The share of instructions that may call the same functions in the same order. Higher accepts more; five always may.
    pub most_alike: f64,
    /// Replaces personal values in messages, calls, results and states by placeholders. What was replaced cannot be executed
    /// again.
    pub redact: bool,
    /// What the program has from its surroundings.
    #[serde(skip)]
    #[schemars(skip)]
    system: System,
    /// What the source made that this one makes more than.
    #[serde(skip)]
    #[schemars(skip)]
    earlier: Earlier,
    /// What it made, for a source that makes more.
    #[serde(skip)]
    #[schemars(skip)]
    made: Earlier,
}

/// Rounds of candidates that need not be executed again.
type Earlier = Arc<Mutex<Option<Rounds>>>;

/// Candidates in their order, and what they decide about the next.
#[derive(Debug)]
struct Rounds {
    candidates: Vec<Made>,
    progress: Progress,
}

/// Returns the rounds, and leaves none.
fn taken(rounds: &Earlier) -> Option<Rounds> {
    rounds.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Default for Programs {
    fn default() -> Self {
        let usual = Settings::default();
        Self {
            environment: PathBuf::new(),
            collection: None,
            bindings: None,
            wording: None,
            accept: 100,
            max_candidates: 0,
            spare: 0,
            strata: usual.shares,
            most_calls: usual.most_calls,
            offered: usual.offered,
            most_alike: usual.most_alike,
            redact: false,
            system: System::default(),
            earlier: Earlier::default(),
            made: Earlier::default(),
        }
    }
}

impl KindSettings for Programs {
    const NAME: &'static str = "programs";
    const SUMMARY: &'static str = "instructions that are made by executing programs in an environment";

    fn set_environment(&mut self, environment: &System) {
        self.system = environment.clone();
    }

    fn check(&self) -> std::result::Result<(), String> {
        self.strata.check()?;
        if !(2..=8).contains(&self.most_calls) {
            return Err(format!("most_calls must be 2 to 8, not {}", self.most_calls));
        }
        if self.accept == 0 {
            return Err("accept must be at least 1".to_owned());
        }
        let [fewest, most] = self.offered;
        if fewest == 0 || fewest > most {
            return Err(format!(
                "offered must be two numbers from 1, the smaller first, not [{fewest}, {most}]"
            ));
        }
        if !(0.0..=1.0).contains(&self.most_alike) {
            return Err(format!("most_alike must be 0 to 1, not {}", self.most_alike));
        }
        Ok(())
    }
}

/// Whether a collection is named by the pipeline that makes it.
fn is_pipeline(collection: &Path) -> bool {
    !collection.is_dir() && collection.extension().is_some_and(|extension| extension == "toml")
}

/// What the source works with, opened.
struct Opened {
    environment: Arc<dyn Environment>,
    bindings: Bindings,
    templates: Templates,
}

impl Programs {
    /// The run folder of the collection; `None` if there is none, or a pipeline makes it.
    fn collection_run(&self) -> Option<&Path> {
        self.collection.as_deref().filter(|path| !is_pipeline(path))
    }

    /// The files that it reads, the environment or the collection first.
    fn own_files(&self) -> Vec<PathBuf> {
        let environment = Some(&self.environment).filter(|file| !file.as_os_str().is_empty()).cloned();
        let functions = self.collection_run().map(functions_file);
        let others = [&self.bindings, &self.wording].into_iter().flatten().cloned();
        environment.into_iter().chain(functions).chain(others).collect()
    }

    /// What executes calls.
    fn whole_environment(&self) -> Result<Arc<dyn Environment>> {
        match (self.environment.as_os_str().is_empty(), self.collection_run()) {
            (true, None) => Err(Error::Setting(
                "no environment is named\nhint: give the file that describes it as `environment` under [ingest]; docs/environments.md shows one".to_owned(),
            )),
            (true, Some(run)) => of_collection(run),
            (false, _) => open(&self.environment, &self.system),
        }
    }

    fn opened(&self) -> Result<Opened> {
        let environment = self.whole_environment()?;
        let bindings = match &self.bindings {
            Some(file) => {
                Bindings::read(file, &*environment).map_err(|error| Error::Setting(error.to_string()))?
            }
            None => Bindings::default(),
        };
        // Bindings are for the whole environment.
        let environment = match self.collection_run() {
            Some(run) if !self.environment.as_os_str().is_empty() => within_collection(environment, run)?,
            _ => environment,
        };
        let templates = match &self.wording {
            Some(file) => Templates::read(file).map_err(|error| Error::Setting(error.to_string()))?,
            None => Templates::english(),
        };
        Ok(Opened { environment, bindings, templates })
    }

    /// The most candidates that are made.
    fn most_candidates(&self) -> u64 {
        const PER_INSTRUCTION: u64 = 50;
        const FEWEST: u64 = 5_000;
        match self.max_candidates {
            0 => (self.accept as u64 + self.spare as u64).saturating_mul(PER_INSTRUCTION).max(FEWEST),
            most => most,
        }
    }

    fn settings(&self, seed: u64) -> Settings {
        Settings {
            seed,
            shares: self.strata.clone(),
            most_calls: self.most_calls,
            offered: self.offered,
            most_alike: self.most_alike,
        }
    }
}

impl Source for Programs {
    fn with_spare(&self, spare: u64) -> Option<Arc<dyn Source>> {
        Some(Arc::new(Self {
            spare: usize::try_from(spare).ok()?,
            earlier: Arc::new(Mutex::new(taken(&self.made))),
            made: Earlier::default(),
            ..self.clone()
        }))
    }

    fn earlier_pipeline(&self) -> Option<&Path> {
        self.collection.as_deref().filter(|path| is_pipeline(path))
    }

    fn with_earlier_run(&self, run: PathBuf) -> Option<Arc<dyn Source>> {
        self.earlier_pipeline()?;
        Some(Arc::new(Self { collection: Some(run), ..self.clone() }))
    }

    fn check(&self) -> Result<()> {
        // What a pipeline makes is checked when it is made.
        if self.earlier_pipeline().is_some() && self.environment.as_os_str().is_empty() {
            return Ok(());
        }
        self.opened().map(|_| ())
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(3);
        let opened = self.opened()?;
        fingerprint.add_part("environment", opened.environment.fingerprint().to_string().as_bytes());
        for (label, file) in [("bindings", &self.bindings), ("wording", &self.wording)] {
            let text = match file {
                Some(file) => side_file::read(file).map_err(|error| Error::Setting(error.to_string()))?,
                None => Vec::new(),
            };
            fingerprint.add_part(label, &text);
        }
        let settings = Self {
            environment: PathBuf::new(),
            collection: None,
            bindings: None,
            wording: None,
            max_candidates: self.most_candidates(),
            ..self.clone()
        };
        let settings = serde_json::to_string(&settings).map_err(|error| Error::Setting(error.to_string()))?;
        fingerprint.add_part("settings", settings.as_bytes());
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        vec![
            EXTERNAL_ID,
            FILE,
            LINE,
            RECORD,
            LOG_FORMAT,
            MESSAGES,
            RESPONSE,
            FOLLOWING_MESSAGES,
            PROGRAM,
            STRATUM,
            WANTED,
            TEXT,
        ]
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        self.own_files().iter().map(|file| InputFile::read(file, &|| false)).collect()
    }

    fn read(&self, into: &mut Intake, cx: &Context<'_>) -> Result<InputsRead> {
        let Opened { environment, bindings, templates } = self.opened()?;
        let mut generation = Generation::new(&*environment, &bindings, &templates, self.settings(cx.seed));
        let mut made: Vec<Made> = Vec::new();
        if let Some(rounds) = taken(&self.earlier) {
            generation = generation.after(rounds.progress);
            made = rounds.candidates;
        }
        let wanted = (self.accept + self.spare) as u64;
        let states = environment.initial_states().iter().map(|state| &state.value);
        let mut redaction = self.redact.then(|| Redaction::new(states));
        let (mut n_taken, mut shown, mut tally) = (0_usize, 0, Tally::default());
        let is_done =
            |records: u64, n_taken: usize| records == wanted || n_taken as u64 == self.most_candidates();
        loop {
            for candidate in made.iter().skip(n_taken) {
                if is_done(into.records(), n_taken) {
                    break;
                }
                n_taken += 1;
                tally.add(candidate);
                self.take(n_taken as u64, &candidate.outcome, &*environment, redaction.as_mut(), into)?;
            }
            cx.progress.advance(into.records() - shown);
            shown = into.records();
            if is_done(into.records(), n_taken) {
                break;
            }
            let round = generation
                .next_round(&|| cx.cancelled())
                .map_err(|error| Error::Setting(error.to_string()))?;
            made.extend(round.ok_or(Error::Interrupted)?);
        }
        let mut conditions = environment.conditions();
        conditions.insert("origin".to_owned(), environment.origin().name().into());
        let redacted = redaction.map(|redaction| redaction.n_redacted());
        conditions.insert("redacted".to_owned(), json!(redacted));
        let coverage = serde_json::to_value(generation.coverage(&tally)).unwrap_or_default();
        let rounds = Rounds { candidates: made, progress: generation.into_progress() };
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(rounds);
        Ok(InputsRead {
            inputs: self.inputs()?,
            items: n_taken as u64,
            notes: [(COVERAGE.to_owned(), coverage), (CONDITIONS.to_owned(), conditions.into())].into(),
            ..InputsRead::default()
        })
    }
}

impl Programs {
    /// Gives a candidate its row or its line.
    fn take(
        &self,
        number: u64,
        outcome: &Outcome,
        environment: &dyn Environment,
        redaction: Option<&mut Redaction>,
        into: &mut Intake,
    ) -> Result<()> {
        let place = SourcePlace { file: 0, line: number, record: number };
        match outcome {
            Ok(instruction) => {
                let record = Record::of(instruction, environment);
                let record = match redaction {
                    Some(redaction) => redaction.redact(record),
                    None => record,
                };
                into.request(self.row(place, &record, environment))
            }
            Err(rejection) => into.line(LineRow {
                place,
                n_lines: 1,
                unreadable: false,
                ends_file: false,
                reason: rejection.reason.code(),
                detail: rejection.detail.clone(),
            }),
        }
    }

    /// The row of an instruction.
    fn row(&self, place: SourcePlace, record: &Record, environment: &dyn Environment) -> RequestRow {
        let functions: Vec<Value> = environment
            .functions()
            .iter()
            .filter(|function| record.offered.iter().any(|name| name == function.name()))
            .map(|function| tool_doc(&function.doc))
            .collect();
        let list = Value::Array(functions).to_string();
        let mut messages = messages(record);
        let following = messages.split_off(messages.len().min(2));
        let response = messages.pop().filter(|message| message.role == Role::Assistant);
        let program = json!(record).to_string();
        let text = |value: &Vec<Message>| Some(json!(value).to_string());
        let number = i64::try_from(place.record).unwrap_or(i64::MAX);
        let cells = RowCells::default()
            .with(EXTERNAL_ID, Some(format!("p{number:06}")))
            .with(FILE, Some(0_i64))
            .with(LINE, Some(number))
            .with(RECORD, Some(number))
            .with(LOG_FORMAT, Some(Self::NAME.to_owned()))
            .with(MESSAGES, text(&messages))
            .with(RESPONSE, response.map(|response| json!(response).to_string()))
            .with(
                FOLLOWING_MESSAGES,
                Some(&following).filter(|following| !following.is_empty()).and_then(text),
            )
            .with(STRATUM, Some(record.stratum.name().to_owned()))
            .with(WANTED, i64::try_from(self.accept).ok());
        RequestRow {
            content_key: content_hash(format!("{number}\n{program}")),
            place,
            // Rows are in the order of their candidates.
            time_ms: Some(number),
            log_format: Self::NAME,
            list: DocListRow {
                content_key: content_hash(&list),
                cells: RowCells::default().with(TEXT, Some(list)),
            },
            joined: None,
            cells: cells.with(PROGRAM, Some(program)),
        }
    }
}

/// A function as it is offered: its name, its description, its parameters.
pub(crate) fn tool_doc(doc: &Map<String, Value>) -> Value {
    let keys = ["name", "description", "parameters"];
    keys.into_iter()
        .filter_map(|key| Some((key.to_owned(), doc.get(key)?.clone())))
        .collect::<Map<_, _>>()
        .into()
}

/// Returns the conversation of a record: turns of the user, calls with their results joined by id, answers.
pub fn messages(record: &Record) -> Vec<Message> {
    let mut messages = Vec::new();
    for turn in &record.turns {
        messages.push(Message::text(Role::User, turn.user.clone()));
        let groups: Vec<&[usize]> =
            if record.together { vec![&turn.calls] } else { turn.calls.chunks(1).collect() };
        for group in groups.into_iter().filter(|group| !group.is_empty()) {
            let calls: Vec<(usize, &CallRecord)> =
                group.iter().filter_map(|&number| Some((number, record.calls.get(number - 1)?))).collect();
            let made = calls.iter().map(|(number, call)| Call {
                id: Some(call_id(*number)),
                name: call.name.clone(),
                arguments: Value::Object(call.arguments.clone()),
            });
            messages.push(Message { calls: made.collect(), ..Message::text(Role::Assistant, "") });
            let results = calls.iter().filter(|_| record.is_executed());
            messages.extend(results.map(|(number, call)| Message {
                call_id: Some(call_id(*number)),
                name: Some(call.name.clone()),
                is_error: call.failure.is_some(),
                ..Message::text(Role::Tool, result_text(&call.result))
            }));
        }
        if record.is_executed() || !turn.answer.is_empty() {
            messages.push(Message::text(Role::Assistant, turn.answer.clone()));
        }
    }
    messages
}

/// The id of a call, by its number from 1.
pub(crate) fn call_id(number: usize) -> String {
    format!("call_{number}")
}

/// A result as the text of a message: a text as it is, anything else as JSON.
pub fn result_text(result: &Value) -> String {
    result.as_str().map_or_else(|| result.to_string(), str::to_owned)
}
