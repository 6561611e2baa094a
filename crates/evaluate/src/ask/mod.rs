//! Asks a model on an OpenAI-compatible server for the outputs of a dataset, into a result file.
//!
//! The requests are those of BFCL's handler for such models: with the docs in the system prompt, or with function calling. An
//! output that arrived is on disk before anything else happens, so a stopped call goes on where it was. A failed request is
//! no output: it is reported, and asked again by the next call.
//!
//! With the official package, multi-turn entries are conversations (`multi_turn`), whose replies are in a file of their own
//! (`steps`) until the output is whole.

mod file;
mod multi_turn;
mod prompt;
mod steps;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::category::Scoring;
use super::dataset::{Category, Dataset};
use super::error::{Result, unfit, unwritable};
use super::official::{Facts, Package};
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
use multi_turn::Conversation;
pub use prompt::AskMode;
use steps::StepFile;

/// The default temperature, that of BFCL.
pub const TEMPERATURE: f64 = 0.001;

/// Requests at once, by default.
pub const CONCURRENT: usize = 8;

/// Which entries are asked, of which model, and where the outputs go.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ask {
    /// The name of the model on the server.
    pub model: String,
    /// How functions are given to it.
    pub mode: AskMode,
    /// The result file. Outputs that it has are not asked again.
    pub save: PathBuf,
    /// Only these categories; all that can be asked if empty.
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
        RetryPolicy::of_models(self.n_concurrent)
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
    /// Replies that arrived without tokens, so that their cost is not known.
    pub without_tokens: usize,
    /// Failed requests: id and reason.
    pub failed: Vec<(String, String)>,
    /// Entries that no request can be made of: id and reason.
    pub unasked: Vec<(String, String)>,
    /// Categories of the dataset that are never asked: name and reason.
    pub not_asked: Vec<(String, &'static str)>,
    /// What executed the calls of multi-turn entries.
    pub package: Option<Facts>,
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

/// Asks for the outputs that the file lacks. `progress` gets the outputs that are there, and how many are wanted. Multi-turn
/// entries need the package.
///
/// # Errors
/// If the file is of other requests, or cannot be written, or the dataset has no entry to ask, or the package does not start.
pub fn ask(
    client: &Client,
    dataset: &Dataset,
    package: Option<&Package>,
    ask: &Ask,
    prices: &Models,
    cancelled: Cancelled<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Asked> {
    check_categories(dataset, package.is_some(), ask)?;
    let mut asked = Asked::default();
    let not_asked = dataset.categories.iter().filter_map(|of| Some((of.name.clone(), never_asked(of)?)));
    asked.not_asked = not_asked.collect();
    // All entries, since the file may have outputs of categories that are not asked now.
    let (mut all, mut is_wanted) = (Vec::new(), Vec::new());
    for category in dataset.categories.iter().filter(|category| is_single_turn(category.scoring)) {
        let n_chosen = ask.n_chosen(category);
        for (at, entry) in category.entries.iter().enumerate() {
            asked.n += usize::from(at < n_chosen);
            match prompt::request(ask.mode, category, entry) {
                Ok(request) => {
                    all.push(Question::of(entry.id.clone(), body(ask, request)));
                    is_wanted.push(at < n_chosen);
                }
                Err(reason) if at < n_chosen => asked.unasked.push((entry.id.clone(), reason)),
                Err(_) => {}
            }
        }
    }
    let conversations = match package {
        Some(package) => multi_turn::conversations(package, dataset, ask, &mut asked)?,
        None => Vec::new(),
    };
    let mut hashes: HashMap<&str, &str> =
        all.iter().map(|question| (question.id.as_str(), question.request.as_str())).collect();
    hashes.extend(conversations.iter().map(|of| (of.id.as_str(), of.request.as_str())));
    let file = ResultFile::open(ask, &hashes)?;
    let steps = StepFile::open(&ask.save, &file.known)?;
    let wanted = all.iter().zip(&is_wanted).filter(|(_, is_wanted)| **is_wanted);
    let questions: Vec<&Question> = wanted.map(|(question, _)| question).collect();
    let n_wanted = questions.len() + conversations.len();
    let chosen: Vec<&Question> =
        questions.into_iter().filter(|question| !file.known.contains(&question.id)).collect();
    let talks: Vec<&Conversation<'_>> =
        conversations.iter().filter(|of| !file.known.contains(&of.id)).collect();
    asked.known = n_wanted - chosen.len() - talks.len();
    let price = prices.price(&ask.model);
    let tokens = [&file.tokens[..], &steps.tokens].concat();
    let budget = Budget::new(ask.max_cost).with_earlier(price, &tokens);
    if ask.max_cost.is_some() && n_wanted > asked.known && tokens.iter().any(Option::is_none) {
        // What earlier calls paid is not known, and one more request would tell no more.
        asked.stopped = Some(Stopped::NoTokens);
    }
    let bodies: Vec<Value> = chosen.iter().map(|question| question.body.clone()).collect();
    progress(asked.known, asked.n);
    let ledger =
        Ledger { ask, file, steps, price, budget, asked, failures: Failures::default(), broken: None };
    let mut call = Call { chosen: &chosen, ledger, progress };
    let ended = client.chat_each(&bodies, ask.n_concurrent, cancelled, &mut call);
    let Call { mut ledger, progress, .. } = call;
    match ended {
        Ok(()) => {
            let refused = ledger.budget.refused.map(|estimate| Stopped::Cost { estimate });
            ledger.asked.stopped = ledger.asked.stopped.or(refused);
        }
        Err(ClientError::Interrupted) => ledger.asked.stopped = Some(Stopped::Interrupted),
        Err(error) => ledger.asked.stopped = Some(Stopped::Client(error.to_string())),
    }
    if let Some(package) = package {
        ledger = multi_turn::converse(client, package, &talks, ledger, cancelled, progress);
    }
    if let Some((path, cause)) = ledger.broken {
        return Err(unwritable(&path, cause));
    }
    ledger.steps.remove_if_done(&ledger.file.known);
    let mut asked = ledger.asked;
    asked.cost = price.map(|_| ledger.budget.new);
    Ok(asked)
}

impl Ask {
    /// Returns how many entries of a category are asked, the first ones.
    fn n_chosen(&self, category: &Category) -> usize {
        let is_chosen = self.categories.is_empty() || self.categories.contains(&category.name);
        if is_chosen { self.limit.unwrap_or(usize::MAX) } else { 0 }
    }
}

fn is_single_turn(scoring: Scoring) -> bool {
    matches!(scoring, Scoring::Calls(..) | Scoring::Relevance(_))
}

fn is_multi_turn(category: &Category) -> bool {
    matches!(category.scoring, Scoring::Official(_)) && category.name.contains("multi_turn")
}

/// Returns why a category that the package scores is not asked.
fn never_asked(category: &Category) -> Option<&'static str> {
    match category.scoring {
        Scoring::Official(_) if category.name.contains("memory") => Some(
            "its questions are about a memory that earlier conversations fill, which --ask does not hold",
        ),
        Scoring::Official(_) if category.name.contains("web_search") => {
            Some("its functions search the web, and calls are executed without network")
        }
        _ => None,
    }
}

fn check_categories(dataset: &Dataset, has_package: bool, ask: &Ask) -> Result<()> {
    let can_be_asked = |of: &&Category| is_single_turn(of.scoring) || (has_package && is_multi_turn(of));
    let names: Vec<&str> =
        dataset.categories.iter().filter(can_be_asked).map(|category| category.name.as_str()).collect();
    let Some(unknown) = ask.categories.iter().find(|name| !names.contains(&name.as_str())) else {
        return Ok(());
    };
    let hint = format!("categories that can be asked: {}", names.join(", "));
    let of_dataset = dataset.categories.iter().find(|category| category.name == *unknown);
    if let Some(reason) = of_dataset.and_then(never_asked) {
        return Err(unfit(&dataset.path, format!("{unknown} cannot be asked: {reason}"), hint));
    }
    if !has_package
        && dataset.not_scored.iter().any(|(name, _)| name == unknown && name.contains("multi_turn"))
    {
        let hint = "`--engine official` asks multi-turn categories, since only the package bfcl-eval has their services";
        return Err(unfit(&dataset.path, format!("{unknown} cannot be asked here"), hint));
    }
    Err(unfit(&dataset.path, format!("no category \"{unknown}\" that can be asked"), hint))
}

/// Returns the body of a request with the settings of the call.
fn body(ask: &Ask, request: Map<String, Value>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(ask.model));
    body.extend(request);
    if let Some(temperature) = ask.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(max_tokens) = ask.max_tokens {
        body.insert("max_tokens".to_owned(), json!(max_tokens));
    }
    Value::Object(body)
}

impl Question {
    fn of(id: String, body: Value) -> Self {
        let text = body.to_string();
        let request = format!("{:032x}", content_hash(&text));
        Self { id, body, request, n_bytes: text.len() }
    }
}

/// What is known about the requests of a call, while they are sent.
struct Ledger<'c> {
    ask: &'c Ask,
    file: ResultFile,
    steps: StepFile,
    price: Option<Price>,
    budget: Budget,
    asked: Asked,
    failures: Failures,
    /// The file that cannot be written, and why.
    broken: Option<(PathBuf, std::io::Error)>,
}

/// The single-turn requests of a call.
struct Call<'c> {
    chosen: &'c [&'c Question],
    ledger: Ledger<'c>,
    progress: &'c mut dyn FnMut(usize, usize),
}

impl Exchange for Call<'_> {
    fn turn(&mut self, at: usize) -> Turn {
        let may_send = !self.ledger.has_stopped() && self.ledger.may_send(at, self.chosen[at]);
        if may_send { Turn::Send } else { Turn::Wait }
    }

    fn receive(&mut self, at: usize, reply: std::result::Result<ChatReply, ClientError>) -> ControlFlow<()> {
        let (question, ledger) = (self.chosen[at], &mut self.ledger);
        match reply {
            Ok(reply) => {
                if let Err(cause) = ledger.file.store(&file::row(ledger.ask, question, &reply)) {
                    ledger.broken = Some((ledger.ask.save.clone(), cause));
                    return ControlFlow::Break(());
                }
                ledger.asked.arrived += 1;
                ledger.arrived(at, &reply);
            }
            Err(error) => ledger.failed(at, &question.id, &error),
        }
        (self.progress)(ledger.asked.known + ledger.asked.arrived, ledger.asked.n);
        // Others under way would be refused as well.
        if matches!(ledger.asked.stopped, Some(Stopped::Refused | Stopped::Limited)) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Ledger<'_> {
    fn has_stopped(&self) -> bool {
        self.asked.stopped.is_some() || self.broken.is_some()
    }

    fn may_send(&mut self, at: usize, question: &Question) -> bool {
        let tokens = tokens::at_most(question.n_bytes);
        self.budget.may_send(at, self.price, tokens, self.ask.max_tokens)
    }

    fn arrived(&mut self, at: usize, reply: &ChatReply) {
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

    fn failed(&mut self, at: usize, id: &str, error: &ClientError) {
        let paid = if let ClientError::Billed { tokens, .. } = error { Some(*tokens) } else { None };
        self.budget.arrived(at, self.price, paid);
        // An answer that cannot be read, of which nobody says what it cost.
        if matches!(error, ClientError::Answer { .. }) && self.ask.max_cost.is_some() {
            self.asked.stopped.get_or_insert(Stopped::NoTokens);
        }
        self.asked.failed.push((id.to_owned(), error.to_string()));
        match self.failures.after(error) {
            Some(Hopeless::Refused) => self.asked.stopped = Some(Stopped::Refused),
            Some(Hopeless::Limited) => self.asked.stopped = Some(Stopped::Limited),
            Some(Hopeless::Failing) => _ = self.asked.stopped.get_or_insert(Stopped::Failing),
            None => {}
        }
    }
}
