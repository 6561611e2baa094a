//! Asks a model on an OpenAI-compatible server for the outputs of a dataset, into a result file.
//!
//! The requests are those of BFCL's handler for such models: with the docs in the system prompt, or with function calling. An
//! output that arrived is on disk before anything else happens, so a stopped call goes on where it was. A failed request is
//! no output: it is reported, and asked again by the next call.

mod file;
mod prompt;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::category::Scoring;
use super::dataset::Dataset;
use super::error::{Result, unfit, unwritable};
use callsieve_engine::context::Cancelled;
use callsieve_llm::Error as ClientError;
use callsieve_llm::budget::Budget;
use callsieve_llm::chat::{ChatReply, Exchange, Turn};
use callsieve_llm::client::{Client, RetryPolicy};
pub use callsieve_llm::failures::{Failures, Hopeless};
use callsieve_llm::models::{Models, Price};
use callsieve_llm::tokens;
use callsieve_text::content_hash::content_hash;
use file::ResultFile;
pub use prompt::AskMode;

/// The default temperature, that of BFCL.
pub const TEMPERATURE: f64 = 0.001;

/// Requests at once, by default.
pub const CONCURRENT: usize = 8;

/// The longest wait for a part of a reply. Servers send nothing before the whole reply, which can take minutes.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Which entries are asked, of which model, and where the outputs go.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// The temperature of the requests; the server's own if `None`.
    pub temperature: Option<f64>,
    /// Longest output in tokens; the server's own limit if `None`.
    pub max_tokens: Option<u64>,
    /// Stops before the outputs of the file cost more, in US dollars.
    pub max_cost: Option<f64>,
}

impl Ask {
    /// Returns the policy of a client for these requests.
    pub fn policy(&self) -> RetryPolicy {
        RetryPolicy {
            timeout: TIMEOUT,
            deadline: 3 * TIMEOUT,
            max_concurrent: self.n_concurrent.max(1),
            ..RetryPolicy::default()
        }
    }
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
    /// Outputs that arrived without tokens, so that their cost is not known.
    pub without_tokens: usize,
    /// Failed requests: id and reason.
    pub failed: Vec<(String, String)>,
    /// Entries that no request can be made of: id and reason.
    pub unasked: Vec<(String, String)>,
    /// Dollars that the outputs of this call cost, if the price of the model is known.
    pub cost: Option<f64>,
    /// Why it ended early.
    pub stopped: Option<Stopped>,
}

/// Why no further request was sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Stopped {
    /// The user stopped it.
    Interrupted,
    /// The server refuses the key, the model or the address.
    Refused,
    /// The server refuses all attempts because a limit of requests, or the credit, is used up.
    Limited,
    /// Several requests in a row failed.
    Failing,
    /// The next request may pass the limit of cost.
    Cost {
        /// The estimated cost of that request, in US dollars.
        estimate: f64,
    },
    /// There is a limit of cost, and the server reports no tokens.
    NoTokens,
    /// The client failed.
    Client(String),
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
    n_bytes: usize,
}

/// Asks for the outputs that the file lacks. `progress` gets the outputs that are there, and how many are wanted.
///
/// # Errors
/// If the file is of other requests, or cannot be written, or the dataset has no entry to ask.
pub fn ask(
    client: &Client,
    dataset: &Dataset,
    ask: &Ask,
    prices: &Models,
    cancelled: Cancelled<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Asked> {
    check_categories(dataset, ask)?;
    let mut asked = Asked::default();
    // All entries, since the file may have outputs of categories that are not asked now.
    let (mut all, mut is_wanted) = (Vec::new(), Vec::new());
    for category in dataset.categories.iter().filter(|category| can_be_asked(category.scoring)) {
        let is_chosen = ask.categories.is_empty() || ask.categories.contains(&category.name);
        let n_chosen = if is_chosen { ask.limit.unwrap_or(usize::MAX) } else { 0 };
        for (at, entry) in category.entries.iter().enumerate() {
            asked.n += usize::from(at < n_chosen);
            match prompt::request(ask.mode, category, entry) {
                Ok(request) => {
                    all.push(question(ask, entry.id.clone(), request));
                    is_wanted.push(at < n_chosen);
                }
                Err(reason) if at < n_chosen => asked.unasked.push((entry.id.clone(), reason)),
                Err(_) => {}
            }
        }
    }
    let hashes = all.iter().map(|question| (question.id.as_str(), question.request.as_str())).collect();
    let file = ResultFile::open(ask, &hashes)?;
    let mut chosen: Vec<&Question> = all
        .iter()
        .zip(&is_wanted)
        .filter(|(_, is_wanted)| **is_wanted)
        .map(|(question, _)| question)
        .collect();
    let n_chosen = chosen.len();
    chosen.retain(|question| !file.known.contains(&question.id));
    asked.known = n_chosen - chosen.len();
    let price = prices.price(&ask.model);
    let budget = Budget::new(ask.max_cost).with_earlier(price, &file.tokens);
    let bodies: Vec<Value> = chosen.iter().map(|question| question.body.clone()).collect();
    progress(asked.known, asked.n);
    let mut call = Call {
        ask,
        chosen: &chosen,
        file,
        price,
        budget,
        asked,
        failures: Failures::default(),
        broken: None,
        progress,
    };
    let ended = client.chat_each(&bodies, ask.n_concurrent, cancelled, &mut call);
    let Call { budget, mut asked, broken, .. } = call;
    if let Some(cause) = broken {
        return Err(unwritable(&ask.save, cause));
    }
    asked.cost = price.map(|_| budget.new);
    match ended {
        Ok(()) => asked.stopped = asked.stopped.or(budget.refused.map(|estimate| Stopped::Cost { estimate })),
        Err(ClientError::Interrupted) => asked.stopped = Some(Stopped::Interrupted),
        Err(error) => asked.stopped = Some(Stopped::Client(error.to_string())),
    }
    Ok(asked)
}

fn can_be_asked(scoring: Scoring) -> bool {
    matches!(scoring, Scoring::Calls(..) | Scoring::Relevance(_))
}

fn check_categories(dataset: &Dataset, ask: &Ask) -> Result<()> {
    let names: Vec<&str> = dataset
        .categories
        .iter()
        .filter(|category| can_be_asked(category.scoring))
        .map(|category| category.name.as_str())
        .collect();
    let Some(unknown) = ask.categories.iter().find(|name| !names.contains(&name.as_str())) else {
        return Ok(());
    };
    let hint = format!("categories that can be asked: {}", names.join(", "));
    Err(unfit(&dataset.path, format!("no single-turn category \"{unknown}\""), hint))
}

fn question(ask: &Ask, id: String, request: Map<String, Value>) -> Question {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(ask.model));
    body.extend(request);
    if let Some(temperature) = ask.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(max_tokens) = ask.max_tokens {
        body.insert("max_tokens".to_owned(), json!(max_tokens));
    }
    let body = Value::Object(body);
    let text = body.to_string();
    let request = format!("{:032x}", content_hash(&text));
    Question { id, body, request, n_bytes: text.len() }
}

/// The requests of one call, while they are sent.
struct Call<'c> {
    ask: &'c Ask,
    chosen: &'c [&'c Question],
    file: ResultFile,
    price: Option<Price>,
    budget: Budget,
    asked: Asked,
    failures: Failures,
    /// Why the file cannot be written.
    broken: Option<std::io::Error>,
    progress: &'c mut dyn FnMut(usize, usize),
}

impl Exchange for Call<'_> {
    fn turn(&mut self, at: usize) -> Turn {
        let may_send = self.asked.stopped.is_none()
            && self.budget.may_send(
                at,
                self.price,
                tokens::at_most(self.chosen[at].n_bytes),
                self.ask.max_tokens,
            );
        if may_send { Turn::Send } else { Turn::Wait }
    }

    fn receive(&mut self, at: usize, reply: std::result::Result<ChatReply, ClientError>) -> ControlFlow<()> {
        let question = self.chosen[at];
        match reply {
            Ok(reply) => {
                if let Err(cause) = self.file.store(self.ask, question, &reply) {
                    self.broken = Some(cause);
                    return ControlFlow::Break(());
                }
                self.arrived(at, &reply);
            }
            Err(error) => {
                self.budget.arrived(at, self.price, None);
                self.failed(question, &error);
            }
        }
        (self.progress)(self.asked.known + self.asked.arrived, self.asked.n);
        // Others under way would be refused as well.
        if matches!(self.asked.stopped, Some(Stopped::Refused | Stopped::Limited)) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Call<'_> {
    fn arrived(&mut self, at: usize, reply: &ChatReply) {
        self.asked.arrived += 1;
        self.failures.ended();
        let cached = reply.cached_tokens.unwrap_or(0);
        let tokens =
            reply.input_tokens.zip(reply.output_tokens).map(|(input, output)| (input, cached, output));
        self.budget.arrived(at, self.price, tokens);
        if tokens.is_none() {
            self.asked.without_tokens += 1;
            if self.ask.max_cost.is_some() {
                self.asked.stopped.get_or_insert(Stopped::NoTokens);
            }
        }
    }

    fn failed(&mut self, question: &Question, error: &ClientError) {
        self.asked.failed.push((question.id.clone(), error.to_string()));
        match self.failures.after(error) {
            Some(Hopeless::Refused) => self.asked.stopped = Some(Stopped::Refused),
            Some(Hopeless::Limited) => self.asked.stopped = Some(Stopped::Limited),
            Some(Hopeless::Failing) => _ = self.asked.stopped.get_or_insert(Stopped::Failing),
            None => {}
        }
    }
}
