//! Batches of requests to a language model: submitted to the service of a server, and their answers taken into the cache.
//!
//! A request is in one batch at most, and an answer is stored before its batch is forgotten, so both functions can be stopped
//! at any moment and called again. The batches continue without this program.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::Duration;

use serde::de::IgnoredAny;

use super::Error;
use super::error::refuse;
use crate::engine;
use crate::engine::context::Cancelled;
use crate::environment::Environment;
use crate::llm::batch::service::{RemoteBatch, RequestCounts};
use crate::llm::batch::submitted::Submitted;
use crate::llm::batch::{Imported, MAX_BYTES, MAX_REQUESTS, files, line};
use crate::llm::cache::ReplyCache;
use crate::llm::client::{Client, RetryPolicy};
use crate::llm::models::{Models, Price};
use crate::llm::service::PendingRequest;

/// The file that only one process has locked while it submits or reads batches.
const LOCK: &str = "batches.lock";

/// The longest time of an upload or a download.
const DEADLINE: Duration = Duration::from_hours(1);

/// How requests are divided into batches, and what they may cost.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SubmitOptions {
    /// Most requests of one batch.
    pub max_requests: usize,
    /// Most bytes of one batch.
    pub max_bytes: usize,
    /// Most that the answers may cost, in US dollars: further requests are left out.
    pub max_cost: Option<f64>,
}

impl Default for SubmitOptions {
    fn default() -> Self {
        Self { max_requests: MAX_REQUESTS, max_bytes: MAX_BYTES, max_cost: None }
    }
}

/// What was submitted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Submission {
    /// The new batches: id on the server, model, requests.
    pub batches: Vec<(String, String, usize)>,
    /// Requests that are in batches under way.
    pub under_way: usize,
    /// Requests that were left out, because their answers could pass the limit of cost.
    pub over_cost: usize,
    /// The maximum cost of the answers, in US dollars; `None` if the price of a model is not known.
    pub max_cost: Option<f64>,
}

/// A batch that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct PolledBatch {
    /// Its id on the server; ours, if it is not there.
    pub id: String,
    /// The model.
    pub model: String,
    /// Its requests.
    pub n_requests: usize,
    /// Its state.
    pub state: BatchState,
}

/// The state of a batch.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BatchState {
    /// It was interrupted before the server had it: the next submit continues it.
    NotSubmitted,
    /// The server is at work, or waits to be.
    UnderWay {
        /// The state in the server's word.
        status: String,
        /// How many requests ended.
        counts: RequestCounts,
    },
    /// It ended, and its files lack answers that the server counts, or cannot be had yet. What is there is in the cache.
    Incomplete {
        /// The state in the server's word, and what is missing.
        status: String,
        /// How many requests ended.
        counts: RequestCounts,
    },
    /// It ended, and its answers are in the cache.
    Ended {
        /// The state in the server's word.
        status: String,
        /// Answers that were stored.
        n_stored: u64,
        /// Requests that failed.
        n_failed: u64,
        /// Requests without an answer.
        n_missing: u64,
        /// What the answers cost, in US dollars at the price of a batch; `None` if it is not known.
        cost: Option<f64>,
        /// Why it or its requests failed, the first reasons.
        reasons: Vec<String>,
    },
    /// The server does not know it or its files.
    Unknown(String),
}

/// Returns the client of the server for batches.
fn client(environment: &Environment) -> Result<Client, Error> {
    let server = environment.openai();
    if server.key.is_none() && server.base.is_none() {
        return refuse(
            "batches are submitted to api.openai.com, and OPENAI_API_KEY is not set\nhint: set it, or set OPENAI_BASE_URL for another server; \
             `callsieve batch export` writes a file without one",
        );
    }
    let policy = RetryPolicy { deadline: DEADLINE, ..RetryPolicy::default() };
    Client::with_policy(environment, policy).map_err(|error| Error::Request(error.to_string()))
}

/// Opens the cache while no other process has batches in its hands.
fn open(environment: &Environment) -> Result<(ReplyCache, File), Error> {
    let folder = environment.caches();
    let cache = ReplyCache::open(folder).map_err(|error| Error::Request(error.to_string()))?;
    let path = folder.join(LOCK);
    let lock = File::options().create(true).write(true).truncate(false).open(&path);
    let lock = lock.map_err(|cause| Error::Request(format!("opening {}: {cause}", path.display())))?;
    match lock.try_lock() {
        Ok(()) => Ok((cache, lock)),
        Err(_) => refuse(format!(
            "another `callsieve batch` is at work: {} is locked\nhint: wait until it ends",
            path.display()
        )),
    }
}

fn halfway(error: crate::llm::Error) -> Error {
    Error::Halfway(match error {
        crate::llm::Error::Interrupted => engine::error::Error::Interrupted,
        other => engine::error::Error::Setting(other.to_string()),
    })
}

fn is_refusal(error: &crate::llm::Error) -> bool {
    is_redirect(error)
        || matches!(error, crate::llm::Error::Refused { status, .. } if (400..500).contains(status) && ![408, 409, 425, 429].contains(status))
}

fn is_redirect(error: &crate::llm::Error) -> bool {
    matches!(error, crate::llm::Error::Redirected { .. })
}

/// Submits requests that are in no batch under way, and continues interrupted submissions.
///
/// # Errors
/// There is no key, the server refuses or cannot be reached, the cache cannot be written, or it is cancelled.
pub fn submit_batches(
    pending: &[PendingRequest],
    environment: &Environment,
    models: &Models,
    options: &SubmitOptions,
    cancelled: Cancelled<'_>,
) -> Result<Submission, Error> {
    let client = client(environment)?;
    let (cache, _lock) = open(environment)?;
    let mut submission = Submission::default();
    for record in cache.submitted().map_err(halfway)? {
        if record.server != client.base() || record.batch.is_some() {
            continue;
        }
        match &record.file {
            // No batch can be of a file that never arrived.
            None => cache.forget_submitted(&record.id).map_err(halfway)?,
            // An earlier call may have created it without receiving the response.
            Some(_) => create(&client, &cache, record, true, &mut submission, cancelled)?,
        }
    }
    let mut under_way = cache.keys_under_way().map_err(halfway)?;
    // A run at the same time sends them.
    under_way.extend(cache.keys_claimed().map_err(halfway)?);
    let (waiting, new): (Vec<&PendingRequest>, Vec<&PendingRequest>) =
        pending.iter().partition(|request| under_way.contains(&request.key));
    submission.under_way = waiting.len();
    let chosen = within_cost(&new, models, options.max_cost, &mut submission);
    for file in files(&chosen, options.max_requests.max(1), options.max_bytes) {
        let model = file[0].body["model"].as_str().unwrap_or_default();
        let keys = file.iter().map(|request| request.key).collect();
        let mut record = Submitted::new(client.base(), model, keys);
        cache.note_submitted(&record).map_err(halfway)?;
        let text: String = file.iter().map(|request| line(request)).collect();
        match client.upload(&format!("callsieve-{}.jsonl", record.id), &text, cancelled) {
            Ok(id) => record.file = Some(id),
            Err(error) => {
                cache.forget_submitted(&record.id).map_err(halfway)?;
                return Err(without_service(error));
            }
        }
        cache.note_submitted(&record).map_err(halfway)?;
        create(&client, &cache, record, false, &mut submission, cancelled)?;
    }
    Ok(submission)
}

fn without_service(error: crate::llm::Error) -> Error {
    if is_refusal(&error) && !is_redirect(&error) {
        let hint = "the server may have no batch service (`callsieve batch export` writes the requests for another one), or want smaller batches (--max-requests)";
        return Error::Request(format!("{error}\nhint: {hint}"));
    }
    halfway(error)
}

/// Returns the first requests whose answers cannot cost more than a limit, in order, and notes their maximum cost.
fn within_cost(
    requests: &[&PendingRequest],
    models: &Models,
    limit: Option<f64>,
    submission: &mut Submission,
) -> Vec<PendingRequest> {
    let price = |request: &PendingRequest| -> Option<Price> {
        let model = models.get(request.body["model"].as_str()?)?;
        Some(model.batch.unwrap_or(model.price))
    };
    let mut chosen = Vec::new();
    let (mut sum, mut is_known) = (0.0, true);
    for &request in requests {
        match price(request).map(|price| price.cost(request.input_tokens, 0, request.max_output)) {
            Some(cost) if limit.is_some_and(|limit| sum + cost > limit) => break,
            Some(cost) => sum += cost,
            None => is_known = false,
        }
        chosen.push(request.clone());
    }
    submission.over_cost = requests.len() - chosen.len();
    submission.max_cost = (is_known && !chosen.is_empty()).then_some(sum);
    chosen
}

/// Creates the batch of an uploaded file, unless it may exist and the server has it.
fn create(
    client: &Client,
    cache: &ReplyCache,
    mut record: Submitted,
    mut may_exist: bool,
    submission: &mut Submission,
    cancelled: Cancelled<'_>,
) -> Result<(), Error> {
    let file = record.file.clone().unwrap_or_default();
    let policy = RetryPolicy::default();
    for n_attempts in 1.. {
        let found =
            if may_exist { client.find_ours(&file, &record.id, cancelled).map_err(halfway)? } else { None };
        let created = match found {
            Some(batch) => Ok(batch),
            None => client.create_batch(&file, &record.id, cancelled),
        };
        match created {
            Ok(batch) => {
                record.batch = Some(batch.id.clone());
                cache.note_submitted(&record).map_err(halfway)?;
                submission.batches.push((batch.id, record.model, record.keys.len()));
                return Ok(());
            }
            Err(error) if is_refusal(&error) => {
                cache.forget_submitted(&record.id).map_err(halfway)?;
                return Err(without_service(error));
            }
            Err(error) => {
                let wait = if matches!(error, crate::llm::Error::Interrupted) {
                    None
                } else {
                    policy.wait_between(n_attempts)
                };
                let Some(wait) = wait else { return Err(halfway(error)) };
                sleep(wait, cancelled)?;
                may_exist = true;
            }
        }
    }
    Ok(())
}

/// Waits, and notices a cancellation.
///
/// # Errors
/// It is cancelled.
pub fn sleep(wait: Duration, cancelled: Cancelled<'_>) -> Result<(), Error> {
    const STEP: Duration = Duration::from_millis(50);
    let until = std::time::Instant::now() + wait;
    while std::time::Instant::now() < until {
        if cancelled() {
            return Err(halfway(crate::llm::Error::Interrupted));
        }
        std::thread::sleep(STEP.min(until.saturating_duration_since(std::time::Instant::now())));
    }
    Ok(())
}

/// Looks at all batches of the server, and takes the answers of those that ended into the cache. `models` has the prices.
///
/// # Errors
/// There is no key, the server cannot be reached, the cache cannot be written, or it is cancelled.
pub fn poll_batches(
    environment: &Environment,
    models: &Models,
    cancelled: Cancelled<'_>,
) -> Result<Vec<PolledBatch>, Error> {
    let client = client(environment)?;
    let (cache, _lock) = open(environment)?;
    let mut polled = Vec::new();
    for record in cache.submitted().map_err(halfway)? {
        if record.server == client.base() {
            polled.push(poll(&client, &cache, &record, models, cancelled)?);
        }
    }
    Ok(polled)
}

/// Returns the servers of batches under way, other than that of the environment, with their numbers of batches.
///
/// # Errors
/// The cache cannot be read.
pub fn other_servers(environment: &Environment) -> Result<BTreeMap<String, usize>, Error> {
    let client = client(environment)?;
    let cache = ReplyCache::open(environment.caches()).map_err(halfway)?;
    let mut servers = BTreeMap::new();
    for record in cache.submitted().map_err(halfway)? {
        if record.server != client.base() {
            *servers.entry(record.server).or_default() += 1;
        }
    }
    Ok(servers)
}

fn poll(
    client: &Client,
    cache: &ReplyCache,
    record: &Submitted,
    models: &Models,
    cancelled: Cancelled<'_>,
) -> Result<PolledBatch, Error> {
    let of = |id: &str, state: BatchState| PolledBatch {
        id: id.to_owned(),
        model: record.model.clone(),
        n_requests: record.keys.len(),
        state,
    };
    let Some(id) = &record.batch else { return Ok(of(&record.id, BatchState::NotSubmitted)) };
    let state = match client.find_batch(id, cancelled) {
        Ok(batch) if batch.has_ended() => ended(client, cache, record, &batch, models, cancelled),
        Ok(batch) => Ok(BatchState::UnderWay {
            status: batch.status,
            counts: batch.request_counts.unwrap_or_default(),
        }),
        Err(error) => Err(error),
    };
    match state {
        Ok(state) => Ok(of(id, state)),
        Err(error @ crate::llm::Error::Refused { status: 404, .. }) => {
            Ok(of(id, BatchState::Unknown(error.to_string())))
        }
        Err(error) => Err(halfway(error)),
    }
}

/// The status of a batch whose requests were all processed.
const COMPLETED: &str = "completed";

/// Returns where the last line begins, of which the end of line may be missing.
fn start_of_last_line(content: &[u8]) -> usize {
    content.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// Stores the answers of a batch that ended, then forgets it. One whose files are missing or cut is looked at again.
fn ended(
    client: &Client,
    cache: &ReplyCache,
    record: &Submitted,
    batch: &RemoteBatch,
    models: &Models,
    cancelled: Cancelled<'_>,
) -> Result<BatchState, crate::llm::Error> {
    let files: Vec<&String> = [&batch.output_file_id, &batch.error_file_id].into_iter().flatten().collect();
    let still = |what: &str| {
        let told = format!("{}, {what}; the next poll looks again, and --forget gives it up", batch.status);
        Ok(BatchState::Incomplete { status: told, counts: batch.request_counts.unwrap_or_default() })
    };
    let n_completed = batch.request_counts.map_or(0, |counts| counts.completed);
    if files.is_empty() && (batch.status == COMPLETED || n_completed > 0) {
        return still("without a file of answers yet");
    }
    let mut is_cut = false;
    let mut imported = Imported::of_model(&record.model);
    let mut reasons = batch.errors();
    let mut note = |what: String| {
        if !reasons.contains(&what) && reasons.len() < 3 {
            reasons.push(what);
        }
    };
    for file in files {
        let content = client.download_file(file, cancelled)?;
        let (whole, last) = content.split_at(start_of_last_line(&content));
        // The last line may have no end, but it is whole.
        is_cut |= !last.trim_ascii().is_empty() && serde_json::from_slice::<IgnoredAny>(last).is_err();
        for line in whole.split(|&byte| byte == b'\n').chain([last].into_iter().filter(|_| !is_cut)) {
            imported.take(line, &mut note);
            imported.flush_if_many(cache)?;
        }
    }
    imported.flush(cache)?;
    if is_cut {
        return still("with a file that ends inside an answer");
    }
    let n_answered = record.keys.iter().filter(|key| imported.answered().contains(key)).count() as u64;
    if n_answered < n_completed.min(record.keys.len() as u64) {
        return still("with files that lack answers");
    }
    cache.forget_submitted(&record.id)?;
    let n_missing = record.keys.len() as u64 - n_answered;
    Ok(BatchState::Ended {
        status: batch.status.clone(),
        n_stored: n_answered,
        n_failed: imported.n_failed.min(n_missing),
        n_missing,
        cost: imported.cost(models).filter(|_| n_answered > 0),
        reasons,
    })
}

/// Forgets a batch without its answers, by its id on the server or ours; its requests can be submitted again.
///
/// # Errors
/// There is no such batch, or the cache cannot be written.
pub fn forget_batch(environment: &Environment, id: &str) -> Result<(), Error> {
    let (cache, _lock) = open(environment)?;
    let records = cache.submitted().map_err(halfway)?;
    let is_named = |record: &&Submitted| record.id == id || record.batch.as_deref() == Some(id);
    let Some(record) = records.iter().find(is_named) else {
        return refuse(format!("no batch {id} is under way\nhint: `callsieve batch poll` lists them"));
    };
    cache.forget_submitted(&record.id).map_err(halfway)
}
