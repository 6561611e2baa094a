//! Asks a model on an OpenAI-compatible server for the outputs of a dataset, into a result file.
//!
//! The requests are those of BFCL's handler for such models: with the docs in the system prompt, or with function calling. An
//! output that arrived is on disk before anything else happens, so a stopped call goes on where it was. A failed request is
//! no output: it is reported, and asked again by the next call.

mod prompt;

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::category::Scoring;
use super::dataset::Dataset;
use super::error::{Result, unfit, unreadable, unwritable};
use super::prices::Prices;
use crate::engine::context::Cancelled;
use crate::llm::Error as ClientError;
use crate::llm::chat::ChatReply;
use crate::llm::client::Client;
pub use prompt::AskMode;

/// The default temperature, that of BFCL.
pub const TEMPERATURE: f64 = 0.001;

/// Requests at once, by default.
pub const CONCURRENT: usize = 8;

/// The key of the hash of a request in a result row.
const REQUEST: &str = "request";

/// Which entries are asked, of which model, and where the outputs go.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The name of the model on the server.
    pub model: String,
    /// How functions are given to it.
    pub mode: AskMode,
    /// The result file. Outputs that it has are not asked again.
    pub save: PathBuf,
    /// Only these categories; all single-turn ones if empty.
    pub categories: Vec<String>,
    /// At most so many entries of each category.
    pub limit: Option<usize>,
    /// Requests at once.
    pub n_concurrent: usize,
    /// The temperature of the requests.
    pub temperature: f64,
    /// At most so many tokens in an output; as the server has it, if there is none.
    pub max_tokens: Option<u32>,
    /// Stops before the outputs of this call cost more, in US dollars.
    pub max_cost: Option<f64>,
}

/// What became of the requests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// Entries that were to be asked.
    pub n: usize,
    /// Outputs that were in the file before.
    pub known: usize,
    /// Outputs that arrived.
    pub arrived: usize,
    /// Failed requests: id and reason.
    pub failed: Vec<(String, String)>,
    /// Entries that no request can be made of: id and reason.
    pub unasked: Vec<(String, String)>,
    /// Dollars that the outputs of this call cost, if the price of the model is known.
    pub cost: Option<f64>,
    /// Why it ended early.
    pub stopped: Option<String>,
}

impl Asked {
    /// Returns whether all entries have an output, or can have none.
    pub fn is_complete(&self) -> bool {
        self.known + self.arrived + self.unasked.len() == self.n
    }
}

struct Question {
    id: String,
    body: Value,
    request: String,
}

/// Asks for the outputs that the file lacks. `progress` gets the outputs that are there, and how many are wanted.
///
/// # Errors
/// If the file is of other requests, or cannot be written, or the dataset has no entry to ask.
pub fn ask(
    client: &Client,
    dataset: &Dataset,
    ask: &Ask,
    prices: &Prices,
    cancelled: Cancelled<'_>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Asked> {
    let mut asked = Asked::default();
    let questions = questions(dataset, ask, &mut asked)?;
    let wanted: HashMap<&str, &str> =
        questions.iter().map(|question| (question.id.as_str(), question.request.as_str())).collect();
    let (mut file, known) = open(&ask.save, &wanted)?;
    asked.known = known.iter().filter(|id| wanted.contains_key(id.as_str())).count();
    let open: Vec<&Question> = questions.iter().filter(|question| !known.contains(&question.id)).collect();
    let bodies: Vec<Value> = open.iter().map(|question| question.body.clone()).collect();
    let price = prices.of(&ask.model);
    asked.cost = price.map(|_| 0.0);
    progress(asked.known, asked.n);
    let mut broken: Option<std::io::Error> = None;
    let ended = client.chat_each(&bodies, ask.n_concurrent, cancelled, |at, reply| {
        let question = open[at];
        match reply {
            Ok(reply) => {
                if let Err(error) = store(&mut file, &row(ask, question, &reply)) {
                    broken = Some(error);
                    return ControlFlow::Break(());
                }
                asked.arrived += 1;
                if let (Some(price), Some(cost)) = (price, asked.cost.as_mut()) {
                    *cost += price.cost(reply.input_tokens.unwrap_or(0), reply.output_tokens.unwrap_or(0));
                }
            }
            Err(error) => {
                let is_final =
                    matches!(error, ClientError::Refused { status: 401..=403, .. } | ClientError::Setting(_));
                asked.failed.push((question.id.clone(), error.to_string()));
                if is_final {
                    asked.stopped = Some("the server refuses this key or model".to_owned());
                    return ControlFlow::Break(());
                }
            }
        }
        progress(asked.known + asked.arrived, asked.n);
        if let (Some(most), Some(cost)) = (ask.max_cost, asked.cost)
            && asked.arrived > 0
        {
            // Requests under way will be paid too, at about the mean of those before.
            #[allow(clippy::cast_precision_loss)]
            let mean = cost / asked.arrived as f64;
            #[allow(clippy::cast_precision_loss)]
            let under_way = mean * ask.n_concurrent as f64;
            if cost + under_way > most && asked.known + asked.arrived < asked.n {
                asked.stopped = Some(format!("the next requests may pass --max-cost {most}"));
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    if let Some(cause) = broken {
        return Err(unwritable(&ask.save, cause));
    }
    match ended {
        Ok(()) => {}
        Err(ClientError::Interrupted) => asked.stopped = Some("interrupted".to_owned()),
        Err(error) => asked.stopped = Some(error.to_string()),
    }
    Ok(asked)
}

/// Returns the requests in the order of the dataset; entries that no request can be made of are noted.
fn questions(dataset: &Dataset, ask: &Ask, asked: &mut Asked) -> Result<Vec<Question>> {
    let is_asked = |scoring: Scoring| matches!(scoring, Scoring::Calls(..) | Scoring::Relevance(_));
    if let Some(unknown) = ask.categories.iter().find(|name| {
        !dataset.categories.iter().any(|category| category.name == **name && is_asked(category.scoring))
    }) {
        let names: Vec<&str> = dataset
            .categories
            .iter()
            .filter(|category| is_asked(category.scoring))
            .map(|category| category.name.as_str())
            .collect();
        let hint = format!("categories that can be asked: {}", names.join(", "));
        return Err(unfit(&dataset.path, format!("no single-turn category \"{unknown}\""), hint));
    }
    let mut questions = Vec::new();
    for category in dataset.categories.iter().filter(|category| is_asked(category.scoring)) {
        if !ask.categories.is_empty() && !ask.categories.contains(&category.name) {
            continue;
        }
        for entry in category.entries.iter().take(ask.limit.unwrap_or(usize::MAX)) {
            asked.n += 1;
            match prompt::request(ask.mode, category, entry) {
                Ok(request) => questions.push(question(ask, entry.id.clone(), request)),
                Err(reason) => asked.unasked.push((entry.id.clone(), reason)),
            }
        }
    }
    Ok(questions)
}

fn question(ask: &Ask, id: String, request: Map<String, Value>) -> Question {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(ask.model));
    body.extend(request);
    body.insert("temperature".to_owned(), json!(ask.temperature));
    if let Some(max_tokens) = ask.max_tokens {
        body.insert("max_tokens".to_owned(), json!(max_tokens));
    }
    let body = Value::Object(body);
    let request = format!("{:032x}", xxh3_128(body.to_string().as_bytes()));
    Question { id, body, request }
}

/// Returns an output in the form of BFCL result files.
fn row(ask: &Ask, question: &Question, reply: &ChatReply) -> Value {
    let calls: Vec<Value> = reply.calls.iter().map(|(name, arguments)| json!({ name: arguments })).collect();
    let result =
        if ask.mode == AskMode::Calls && !calls.is_empty() { json!(calls) } else { json!(reply.content) };
    let mut row = json!({
        "id": question.id, "result": result, "model": ask.model, "function_calling": ask.mode == AskMode::Calls,
        "input_token_count": reply.input_tokens, "output_token_count": reply.output_tokens, "latency": reply.latency,
        "finish_reason": reply.finish_reason,
    });
    row[REQUEST] = json!(question.request);
    row
}

/// Writes a row with its line feed at once, and has it on disk.
fn store(file: &mut File, row: &Value) -> std::io::Result<()> {
    file.write_all(format!("{row}\n").as_bytes())?;
    file.sync_data()
}

/// Opens a result file behind its last whole line, and returns the ids of its rows.
fn open(path: &Path, wanted: &HashMap<&str, &str>) -> Result<(File, HashSet<String>)> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).map_err(|cause| unwritable(parent, cause))?;
    }
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = opened.map_err(|cause| unwritable(path, cause))?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|cause| unreadable(path, cause))?;
    // A call that was killed may have left half a line.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let mut known = HashSet::new();
    for (line, row) in (1..).zip(text[..whole].lines()) {
        let row: Value = serde_json::from_str(row).unwrap_or_default();
        let (Some(id), Some(request)) = (row["id"].as_str(), row[REQUEST].as_str()) else {
            let what = format!("line {line} is no output of a call with --ask");
            return Err(unfit(path, what, "give another file with --save"));
        };
        if wanted.get(id).is_some_and(|wanted| *wanted != request) {
            let what = format!(
                "line {line} has the output of {id} to another request: of another model, mode, temperature or dataset"
            );
            return Err(unfit(path, what, "give another file with --save, or remove this one"));
        }
        known.insert(id.to_owned());
    }
    let ended = file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0)));
    ended.map_err(|cause| unwritable(path, cause))?;
    Ok((file, known))
}
