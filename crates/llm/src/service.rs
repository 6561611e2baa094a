//! The language model of a run: answers from the cache, and from a server what the cache lacks.

mod sending;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::Error;
use super::budget::Budget;
use super::cache::{ReplyCache, RequestKey, StoredReply, now_ms};
use super::chat::{ChatReply, read_reply};
use super::claims::Owner;
use super::client::Client;
use super::failures::Failures;
use super::models::{Model, Models, Price};
use super::spending::Spending;
use super::tokens::{self, TokenCounter};
use callsieve_engine::context::Context;
use callsieve_engine::error::Error as RunError;
use callsieve_engine::language_model::{
    Answered, AnsweredCall, ChatAnswer, ChatRequest, LanguageModel, ModelUsage, TokenPrices, Unanswered,
};
use sending::{Sending, State};

/// Requests at once, by default.
pub const CONCURRENT: usize = 8;

/// The member of a body with the seed of a sample: servers that have seeds answer the same request alike.
const SEED: &str = "seed";

/// A request whose tokens are only estimated may have so many times fewer.
const ESTIMATE_OFF: u64 = 2;

/// A request that no cache answers, as a batch file needs it.
#[derive(Debug, Clone)]
pub struct PendingRequest {
    /// Its key in the cache.
    pub key: RequestKey,
    /// The body with the name of the model, as the model takes it.
    pub body: Map<String, Value>,
    /// Tokens of the request, counted or estimated.
    pub input_tokens: u64,
    /// Tokens of its longest answer.
    pub max_output: u64,
}

/// What happens to requests without an answer in the cache.
#[derive(Debug)]
pub enum Dispatch {
    /// They are sent.
    Send {
        /// The client of the server.
        client: Box<Client>,
        /// Requests at once.
        n_concurrent: usize,
        /// Stops before the answers of this run, and of earlier ones in its folder, cost more, in US dollars.
        max_cost: Option<f64>,
    },
    /// They stay without an answer.
    CacheOnly,
    /// They are collected, for a batch; see [`ChatService::take_pending`].
    Collect,
}

/// Answers requests from the cache and from a server.
pub struct ChatService {
    cache: ReplyCache,
    models: Models,
    tokens: TokenCounter,
    dispatch: Dispatch,
    /// US dollars that answers of this run, and of earlier ones in its folder, cost so far.
    spent: Mutex<f64>,
    /// What the calls of the run folder paid for, if there is one.
    spending: Option<Spending>,
    /// The requests whose cost this round has reported: a stage that asks the same saves nothing more.
    reported: Mutex<HashSet<RequestKey>>,
    pending: Mutex<Vec<PendingRequest>>,
    /// Requests whose answer an earlier run could not use are asked again.
    retries_unusable: bool,
    /// Requests with an unusable answer in this run, which does not ask again.
    unusable: Mutex<HashSet<RequestKey>>,
    /// Requests that failed in this run, with the message: it does not send them again where a step runs again.
    failed: Mutex<HashMap<RequestKey, String>>,
    /// What replies cost that arrived in this run. A run that fills up a set asks again for all rows in each round; its report is of the
    /// last round, in which these count as what arrived.
    paid: Mutex<HashMap<RequestKey, Paid>>,
    round: AtomicU32,
    /// The server has answered a request of this run.
    has_answered: AtomicBool,
    /// When the service was made, in milliseconds since 1970.
    opened_ms: u64,
    /// Who claims requests, once one is sent.
    owner: Mutex<Option<Arc<Owner>>>,
}

/// What a reply of this run took.
#[derive(Debug, Clone, Copy)]
struct Paid {
    /// The round in which it was counted last.
    round: u32,
    input_tokens: u64,
    output_tokens: u64,
    cost: Option<f64>,
    estimated_input: u64,
}

impl fmt::Debug for ChatService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatService").field("cache", &self.cache).finish_non_exhaustive()
    }
}

impl ChatService {
    /// Returns a service.
    pub fn new(cache: ReplyCache, models: Models, dispatch: Dispatch) -> Self {
        Self {
            cache,
            models,
            tokens: TokenCounter::default(),
            dispatch,
            spent: Mutex::new(0.0),
            spending: None,
            reported: Mutex::default(),
            pending: Mutex::default(),
            retries_unusable: false,
            unusable: Mutex::default(),
            failed: Mutex::default(),
            paid: Mutex::default(),
            round: AtomicU32::new(0),
            has_answered: AtomicBool::new(false),
            opened_ms: now_ms(),
            owner: Mutex::default(),
        }
    }

    /// Counts what the calls of a run folder paid for, `paid` US dollars until now, and notes there what this one pays for.
    #[must_use]
    pub fn with_spending(self, spending: Spending, paid: f64) -> Self {
        Self { spending: Some(spending), spent: Mutex::new(paid), ..self }
    }

    /// Asks requests again whose answer an earlier run could not use. Without it the answer is kept, and not paid for twice.
    #[must_use]
    pub fn retrying_unusable(self, retries_unusable: bool) -> Self {
        Self { retries_unusable, ..self }
    }

    /// Returns the models and their prices.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Returns the requests that were collected since the last call, each once, in the order in which they were asked.
    pub fn take_pending(&self) -> Vec<PendingRequest> {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl LanguageModel for ChatService {
    fn answer(&self, requests: &[ChatRequest], cx: &Context<'_>) -> Result<Answered, RunError> {
        let questions: Vec<Question<'_>> =
            requests.par_iter().map(|request| Question::of(request, &self.models)).collect();
        let mut answered = Answered {
            outcomes: vec![Err(Unanswered::NotSent); requests.len()],
            costs: vec![None; requests.len()],
            usage: ModelUsage { prices: self.models.source().to_owned(), ..ModelUsage::default() },
        };
        let usage = &mut answered.usage;
        usage.requests = requests.len() as u64;
        // Equal requests are sent once.
        let mut first_of = rustc_hash::FxHashMap::default();
        let mut missing: Vec<usize> = Vec::new();
        for (at, question) in questions.iter().enumerate() {
            // A reply can be long.
            if cx.cancelled() {
                return Err(RunError::Interrupted);
            }
            question.model().clone_into(&mut usage.model);
            if !usage.model_prices.contains_key(question.model()) {
                usage.model_prices.insert(question.model().to_owned(), question.token_prices());
            }
            if let Some(stored) = self.cache.get(question.key).map_err(run_error)?
                && !self.asks_again(question.key, &stored)
                && let Ok(reply) = read_reply(&stored.reply, 0.0)
            {
                if let Some(paid) = self.paid_in_earlier_round(question.key) {
                    self.is_first_reported(question.key);
                    count_paid(usage, question, paid);
                    answered.costs[at] = paid.cost;
                } else {
                    usage.cached += 1;
                    let (cost, paid_by) = self.cost_of_stored(question, &stored, &reply);
                    add(paid_by.sum_in(usage), cost);
                }
                answered.outcomes[at] = Ok(answer_of(reply));
            } else if *first_of.entry(question.key).or_insert(at) == at {
                missing.push(at);
            }
        }
        self.refuse_too_long(&questions, &mut missing, &mut answered);
        self.leave_out_failed(&questions, &mut missing, &mut answered);
        let usage = &mut answered.usage;
        let tokens: Vec<u64> = missing.par_iter().map(|&at| questions[at].n_tokens(&self.tokens)).collect();
        for (&at, &n_tokens) in missing.iter().zip(&tokens) {
            estimate(usage, &questions[at], n_tokens);
        }
        // The plan still counts them.
        let in_batch = match &self.dispatch {
            Dispatch::Send { .. } if !missing.is_empty() => self.cache.keys_under_way().map_err(run_error)?,
            _ => HashSet::new(),
        };
        let (mut sent, mut sent_tokens) = (missing.clone(), tokens.clone());
        if !in_batch.is_empty() {
            let is_sent = |at: &usize| !in_batch.contains(&questions[*at].key);
            for &at in missing.iter().filter(|at| !is_sent(at)) {
                answered.outcomes[at] = Err(Unanswered::InBatch);
            }
            let left = missing.iter().copied().zip(tokens.iter().copied()).filter(|(at, _)| is_sent(at));
            (sent, sent_tokens) = left.unzip();
        }
        match &self.dispatch {
            Dispatch::Send { client, n_concurrent, max_cost } if !sent.is_empty() => {
                self.send(
                    client,
                    *n_concurrent,
                    *max_cost,
                    &questions,
                    (&sent, &sent_tokens),
                    &mut answered,
                    cx,
                )?;
                self.remember_failed(&questions, &sent, &answered);
            }
            Dispatch::Send { .. } | Dispatch::CacheOnly => {}
            Dispatch::Collect => {
                let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
                pending.extend(
                    missing.iter().zip(&tokens).map(|(&at, &n_tokens)| questions[at].pending(n_tokens)),
                );
            }
        }
        for (at, question) in questions.iter().enumerate() {
            if let Some(&first) = first_of.get(&question.key)
                && first != at
            {
                let outcome = answered.outcomes[first].clone();
                answered.outcomes[at] = outcome;
                answered.usage.cached += u64::from(answered.outcomes[at].is_ok());
            }
        }
        let count = |is: fn(&Unanswered) -> bool| {
            answered
                .outcomes
                .iter()
                .filter_map(|outcome| outcome.as_ref().err())
                .filter(|why| is(why))
                .count() as u64
        };
        answered.usage.failed = count(|why| matches!(why, Unanswered::Failed(_)));
        answered.usage.not_sent = count(|why| !matches!(why, Unanswered::Failed(_)));
        Ok(answered)
    }

    fn mark_unusable(&self, requests: &[ChatRequest]) -> Result<(), RunError> {
        let keys: Vec<RequestKey> =
            requests.par_iter().map(|request| Question::of(request, &self.models).key).collect();
        self.unusable.lock().unwrap_or_else(PoisonError::into_inner).extend(&keys);
        self.cache.mark_unusable(&keys).map_err(run_error)
    }
}

impl ChatService {
    /// Begins another round of the run: replies that arrived in earlier ones are counted again, each once.
    pub fn begin_round(&self) {
        self.round.fetch_add(1, Ordering::Relaxed);
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Remembers what a reply took that arrived now.
    fn remember_paid(&self, key: RequestKey, paid: Paid) {
        let paid = Paid { round: self.round.load(Ordering::Relaxed), ..paid };
        self.paid.lock().unwrap_or_else(PoisonError::into_inner).insert(key, paid);
    }

    /// Whether the cost of a request is not reported yet in this round. It is from now on.
    fn is_first_reported(&self, key: RequestKey) -> bool {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).insert(key)
    }

    /// Returns what a stored reply cost, and who paid it; no cost if this round has reported it.
    fn cost_of_stored(
        &self,
        question: &Question<'_>,
        stored: &StoredReply,
        reply: &ChatReply,
    ) -> (Option<f64>, PaidBy) {
        let is_of_folder = self.spending.as_ref().is_some_and(|spending| spending.has(question.key));
        let (price, paid_by) = match stored.latency {
            _ if is_of_folder => (question.price(), PaidBy::ThisFolder),
            // Replies of batches have none.
            None => (question.known.map(|model| model.batch.unwrap_or(model.price)), PaidBy::Batch),
            Some(_) => (question.price(), PaidBy::Others),
        };
        let is_first = self.is_first_reported(question.key);
        (cost(price, reply).filter(|_| is_first), paid_by)
    }

    /// What a reply took that arrived in an earlier round, once a round.
    fn paid_in_earlier_round(&self, key: RequestKey) -> Option<Paid> {
        let round = self.round.load(Ordering::Relaxed);
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let paid = paid.get_mut(&key).filter(|paid| paid.round < round)?;
        paid.round = round;
        Some(*paid)
    }

    /// Whether a request is asked again although it has a reply: an earlier run could not use it, and this one retries.
    fn asks_again(&self, key: RequestKey, stored: &StoredReply) -> bool {
        // One that arrived since this run began is of this run, or of one at the same time, which gets the same result.
        let is_of_this_run = || {
            stored.stored_ms >= self.opened_ms
                || self.unusable.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
        };
        self.retries_unusable
            && stored.is_unusable
            && !matches!(self.dispatch, Dispatch::CacheOnly)
            && !is_of_this_run()
    }

    /// Leaves out the requests that the model would refuse for their length, with that as their outcome.
    fn refuse_too_long(&self, questions: &[Question<'_>], missing: &mut Vec<usize>, answered: &mut Answered) {
        let too_long: Vec<Option<String>> =
            missing.par_iter().map(|&at| questions[at].too_long(&self.tokens)).collect();
        let mut too_long = too_long.into_iter();
        missing.retain(|&at| match too_long.next().flatten() {
            Some(what) => {
                answered.outcomes[at] = Err(Unanswered::Failed(what));
                false
            }
            None => true,
        });
    }

    /// Leaves out the requests that failed before in this run, with that as their outcome.
    fn leave_out_failed(
        &self,
        questions: &[Question<'_>],
        missing: &mut Vec<usize>,
        answered: &mut Answered,
    ) {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        missing.retain(|&at| match failed.get(&questions[at].key) {
            Some(why) => {
                answered.outcomes[at] = Err(Unanswered::Failed(why.clone()));
                false
            }
            None => true,
        });
    }

    /// Remembers the requests that were sent and failed.
    fn remember_failed(&self, questions: &[Question<'_>], sent: &[usize], answered: &Answered) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.extend(sent.iter().filter_map(|&at| match &answered.outcomes[at] {
            Err(Unanswered::Failed(why)) => Some((questions[at].key, why.clone())),
            _ => None,
        }));
    }

    /// Returns the owner of the claims of this run.
    fn owner(&self) -> Result<Arc<Owner>, RunError> {
        let mut owner = self.owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = &*owner {
            return Ok(Arc::clone(owner));
        }
        let new = Arc::new(Owner::new(&self.cache).map_err(run_error)?);
        Ok(Arc::clone(owner.insert(new)))
    }

    #[allow(clippy::too_many_arguments)] // What is sent, and where the outcomes go.
    fn send(
        &self,
        client: &Client,
        n_concurrent: usize,
        max_cost: Option<f64>,
        questions: &[Question<'_>],
        (missing, tokens): (&[usize], &[u64]),
        answered: &mut Answered,
        cx: &Context<'_>,
    ) -> Result<(), RunError> {
        let bodies: Vec<Value> = missing.iter().map(|&at| Value::Object(questions[at].fitted())).collect();
        let spent = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let most = max_cost.map(|most| (most - spent).max(0.0));
        let owner = self.owner()?;
        let mut sending = Sending {
            service: self,
            questions,
            missing,
            tokens,
            budget: Budget::new(most),
            failures: Failures::default(),
            answered,
            stopped: None,
            client,
            cx,
            claims: owner.call(&self.cache),
            states: vec![State::Open; missing.len()],
            n_concurrent,
            saved: vec![None; missing.len()],
            n_ended: 0,
        };
        let ended = sending.run(&bodies);
        let (budget, stopped, saved) = sending.finish();
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += budget.new;
        if let Some(error) = stopped {
            return Err(error);
        }
        // In the order of the requests: a sum in the order of arrival would differ in its last digit.
        for &at in missing {
            add(&mut answered.usage.cost, answered.costs[at]);
        }
        for saved in saved {
            add(&mut answered.usage.saved_cost, saved);
        }
        if budget.refused.is_some() {
            for &at in missing {
                if answered.outcomes[at] == Err(Unanswered::NotSent) {
                    answered.outcomes[at] = Err(Unanswered::OverCost);
                }
            }
        }
        ended.map_err(run_error)
    }
}

/// Who paid for a reply in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PaidBy {
    /// An earlier call in the folder of the run.
    ThisFolder,
    /// A batch.
    Batch,
    /// A run in another folder.
    Others,
}

impl PaidBy {
    /// Returns the sum in which the cost of such a reply is.
    fn sum_in(self, usage: &mut ModelUsage) -> &mut Option<f64> {
        match self {
            Self::ThisFolder => &mut usage.paid_before,
            Self::Batch => &mut usage.batch_cost,
            Self::Others => &mut usage.saved_cost,
        }
    }
}

/// A request with its key.
struct Question<'r> {
    request: &'r ChatRequest,
    /// What is known of the model.
    known: Option<Model>,
    key: RequestKey,
    usual_output: u64,
    max_output: u64,
}

impl<'r> Question<'r> {
    fn of(request: &'r ChatRequest, models: &Models) -> Self {
        let known = models.get(&request.model);
        Self {
            key: RequestKey::of_model(&request.model, &request.body, request.sample),
            request,
            usual_output: known
                .map_or(request.usual_output, |model| model.usual_output(request.usual_output)),
            max_output: known.map_or(request.max_output, |model| model.max_output(request.max_output)),
            known,
        }
    }

    fn price(&self) -> Option<Price> {
        self.known.map(|model| model.price)
    }

    fn token_prices(&self) -> Option<TokenPrices> {
        self.price().map(|Price { input, output, .. }| TokenPrices { input, output })
    }

    /// The name of the model.
    fn model(&self) -> &str {
        &self.request.model
    }

    /// Returns the body as it is sent.
    fn fitted(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(self.model()));
        body.extend(self.request.body.clone());
        // Not part of the key, so that replies of earlier builds are found.
        body.insert(SEED.to_owned(), json!(self.request.sample));
        match self.known {
            Some(model) => model.fitted(body),
            None => body,
        }
    }

    /// Describes that the request is longer than the model reads.
    fn too_long(&self, counter: &TokenCounter) -> Option<String> {
        let context = self.known?.context?;
        // A token has at least a byte.
        let n_bytes: usize = self.request.body.values().map(|value| value.to_string().len()).sum();
        if n_bytes as u64 <= context {
            return None;
        }
        let n_tokens = self.n_tokens(counter);
        let most = if tokens::is_counted(self.model()) { context } else { ESTIMATE_OFF * context };
        (n_tokens > most)
            .then(|| format!("not sent: {n_tokens} tokens, and {} reads {context}", self.model()))
    }

    fn pending(&self, input_tokens: u64) -> PendingRequest {
        PendingRequest { key: self.key, body: self.fitted(), input_tokens, max_output: self.max_output }
    }

    fn n_tokens(&self, counter: &TokenCounter) -> u64 {
        counter.of_request(self.model(), &self.request.body)
    }
}

/// Counts a reply that arrived in an earlier round.
fn count_paid(usage: &mut ModelUsage, question: &Question<'_>, paid: Paid) {
    usage.arrived += 1;
    usage.input_tokens += paid.input_tokens;
    usage.output_tokens += paid.output_tokens;
    add(&mut usage.cost, paid.cost);
    estimate(usage, question, paid.estimated_input);
}

/// Adds what a request without an answer in the cache is estimated to take.
fn estimate(usage: &mut ModelUsage, question: &Question<'_>, n_tokens: u64) {
    let output = question.usual_output;
    usage.estimated_input_tokens += n_tokens;
    usage.estimated_output_tokens += output;
    let cost = |price: Price| price.cost(n_tokens, 0, output);
    add(&mut usage.estimated_cost, question.price().map(cost));
    add(&mut usage.estimated_batch_cost, question.known.and_then(|model| model.batch).map(cost));
}

fn run_error(error: Error) -> RunError {
    match error {
        Error::Interrupted => RunError::Interrupted,
        wrong @ Error::Setting(_) => RunError::Setting(wrong.to_string()),
        other => RunError::Service(other.to_string()),
    }
}

fn answer_of(reply: ChatReply) -> ChatAnswer {
    let sent = &reply.whole["choices"][0]["message"]["tool_calls"];
    let call = |(at, (name, arguments)): (usize, (String, Value))| AnsweredCall {
        id: sent[at]["id"].as_str().map(str::to_owned),
        name,
        arguments: arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned),
    };
    let mut answer = ChatAnswer::of_text(reply.content);
    answer.calls = reply.calls.into_iter().enumerate().map(call).collect();
    answer.reasoning = reply.reasoning;
    answer.finish_reason = reply.finish_reason;
    answer.model = reply.whole["model"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    (answer.input_tokens, answer.output_tokens) = (reply.input_tokens, reply.output_tokens);
    answer
}

fn cost(price: Option<Price>, reply: &ChatReply) -> Option<f64> {
    Some(price?.cost(reply.input_tokens?, reply.cached_tokens.unwrap_or(0), reply.output_tokens?))
}

fn add(sum: &mut Option<f64>, more: Option<f64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0.0) + more);
    }
}
