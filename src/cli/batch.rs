//! `callsieve batch`: requests to a language model for a batch service, and its answers into the cache.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::{Subcommand, ValueEnum};

use super::model::{dollars, planned, prices_of};
use super::run::cancelled_by_signal;
use super::{Ending, PipelineArgs};
use crate::cli::console::{self, count, counted};
use crate::environment::Environment;
use crate::llm::batch::{self, BatchForm, Imported, MAX_REQUESTS};
use crate::llm::cache::ReplyCache;
use crate::llm::models::Models;
use crate::run::{
    self, BatchState, Error, PolledBatch, SubmitOptions, check_output, expand, forget_batch, other_servers,
    poll_batches, submit_batches,
};
use crate::side_file;
use crate::stages::Registry;

/// Arguments of `batch`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The answers of a batch go into the cache, from which the next `callsieve run` takes them.

Examples:
  callsieve batch export mylog.jsonl --set judge-queries.judge=rules-then-llm --set judge-queries.model=NAME > batch.jsonl
  callsieve batch import answers.jsonl errors.jsonl
  callsieve batch submit mylog.jsonl --set judge-queries.judge=rules-then-llm --set judge-queries.model=NAME
  callsieve batch poll --wait"
)]
pub(super) struct BatchArgs {
    #[command(subcommand)]
    action: BatchAction,
}

#[derive(Debug, Subcommand)]
enum BatchAction {
    /// Writes the requests of a run that the cache does not answer, for a batch service.
    Export {
        #[command(flatten)]
        pipeline: PipelineArgs,
        /// Form of the requests.
        #[arg(long, value_enum, default_value_t = Form::Openai)]
        form: Form,
        /// Where to write them [default: standard output]
        #[arg(long, value_name = "FILE")]
        save: Option<PathBuf>,
        /// Includes requests whose answer in the cache could not be used; it is paid for again.
        #[arg(long)]
        retry_unusable: bool,
    },
    /// Reads the answers of a batch into the cache. Failed requests and those without an answer are counted, and asked again later.
    Import {
        /// Files of answers and of errors, in any order: of OpenAI, vLLM or Anthropic; - for standard input.
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// The model that was asked, for `callsieve cache` [default: the name in each answer, which may have a date]
        #[arg(long, value_name = "NAME")]
        model: Option<String>,
        /// Models and their prices: TOML as configs/models.toml, or the JSON registry of LiteLLM.
        #[arg(long, value_name = "FILE")]
        prices: Option<PathBuf>,
    },
    /// Sends the requests of a run that the cache does not answer to the batch service of the server. A request that is
    /// in a batch under way is not sent again.
    Submit {
        #[command(flatten)]
        pipeline: PipelineArgs,
        /// Most that the answers of this call may cost, in US dollars. Further requests are left for another call.
        #[arg(long, value_name = "USD", value_parser = dollars)]
        max_cost: Option<f64>,
        /// Models and their prices: TOML as configs/models.toml, or the JSON registry of LiteLLM.
        #[arg(long, value_name = "FILE")]
        prices: Option<PathBuf>,
        /// Most requests of one batch.
        #[arg(long, value_name = "N", default_value_t = MAX_REQUESTS as u64, value_parser = clap::value_parser!(u64).range(1..))]
        max_requests: u64,
        /// Includes requests whose answer in the cache could not be used; it is paid for again.
        #[arg(long)]
        retry_unusable: bool,
        #[command(flatten)]
        waiting: Waiting,
    },
    /// Shows the batches under way, and reads the answers of those that ended into the cache.
    Poll {
        #[command(flatten)]
        waiting: Waiting,
        /// Forgets a batch without its answers, so that its requests can be submitted again.
        #[arg(long, value_name = "ID", conflicts_with = "wait")]
        forget: Option<String>,
        /// Models and their prices: TOML as configs/models.toml, or the JSON registry of LiteLLM.
        #[arg(long, value_name = "FILE")]
        prices: Option<PathBuf>,
    },
}

/// Whether to wait for batches.
#[derive(Debug, clap::Args)]
struct Waiting {
    /// Waits until all batches have ended.
    #[arg(long)]
    wait: bool,
    /// Seconds between two looks at the batches.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "wait", value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
}

/// The form of a batch file.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// JSON lines, as OpenAI and vLLM's run-batch read them.
    Openai,
    /// One JSON object, the body of Anthropic's message batches; without the JSON Schema of the answers.
    Anthropic,
}

pub(super) fn batch(args: BatchArgs, registry: &Registry) -> anyhow::Result<Ending> {
    match args.action {
        BatchAction::Export { pipeline, form, save, retry_unusable } => {
            if let Some(path) = &save {
                let named: Vec<PathBuf> = pipeline.paths.iter().chain(&pipeline.input).cloned().collect();
                let mut inputs = expand(&named)?.files;
                inputs.extend(pipeline.decisions.iter().cloned());
                check_output("--save", path, &inputs)?;
            }
            let plan = planned(&pipeline, (None, retry_unusable), registry, cancelled_by_signal()?)?;
            let form = match form {
                Form::Openai => BatchForm::OpenAi,
                Form::Anthropic => BatchForm::Anthropic,
            };
            let text = batch::written(&plan.pending, form);
            match &save {
                Some(path) => crate::engine::disk::write_output(path, text.as_bytes())
                    .with_context(|| format!("writing {}", path.display()))?,
                None => console::write_json(&text)?,
            }
            let cached: u64 = plan.stages.iter().map(|(_, usage)| usage.cached).sum();
            console::print_status(&format!(
                "{}; {} are answered by the cache",
                counted(plan.pending.len() as u64, "request", "requests"),
                count(cached)
            ));
            Ok(Ending::Done)
        }
        BatchAction::Import { files, model, prices } => {
            let models = prices_of(prices.as_deref())?.unwrap_or_else(Models::known);
            import(&files, model.as_deref(), &models, registry.environment())
        }
        BatchAction::Submit { pipeline, max_cost, prices, max_requests, retry_unusable, waiting } => {
            let options = SubmitOptions {
                max_requests: usize::try_from(max_requests).unwrap_or(usize::MAX),
                max_cost,
                ..SubmitOptions::default()
            };
            let cancel = cancelled_by_signal()?;
            let plan =
                planned(&pipeline, (prices.as_deref(), retry_unusable), registry, Arc::clone(&cancel))?;
            let models = prices_of(prices.as_deref())?.unwrap_or_else(Models::known);
            submit(&plan.pending, &models, (&options, &waiting), registry.environment(), &cancel)
        }
        BatchAction::Poll { forget: Some(id), .. } => {
            forget_batch(registry.environment(), &id)?;
            console::print_status(&format!("batch {id} is forgotten; its requests can be submitted again"));
            Ok(Ending::Done)
        }
        BatchAction::Poll { waiting, forget: None, prices } => {
            let models = prices_of(prices.as_deref())?.unwrap_or_else(Models::known);
            poll(&waiting, &models, registry.environment())
        }
    }
}

fn import(
    files: &[PathBuf],
    model: Option<&str>,
    models: &Models,
    environment: &Environment,
) -> anyhow::Result<Ending> {
    // All are there before the first is read.
    for path in files.iter().filter(|path| path.as_os_str() != "-") {
        side_file::open(path).with_context(|| format!("reading {}", path.display()))?;
    }
    let cache = ReplyCache::open(environment.caches())?;
    let mut all = model.map_or_else(Imported::default, Imported::of_model);
    let mut faults: BTreeMap<String, u64> = BTreeMap::new();
    for path in files {
        let reader: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(BufReader::new(std::io::stdin().lock()))
        } else {
            Box::new(BufReader::new(
                side_file::open(path).with_context(|| format!("reading {}", path.display()))?,
            ))
        };
        for (number, line) in (1..).zip(reader.split(b'\n')) {
            let line = line.with_context(|| format!("reading {}", path.display()))?;
            let place = format!("{}:{number}", path.display());
            all.take(&line, &mut |what| {
                let n = faults.entry(what.clone()).or_default();
                *n += 1;
                if *n == 1 {
                    console::print_status(&format!("{place}: {what}"));
                }
            });
            all.flush_if_many(&cache)?;
        }
    }
    all.flush(&cache)?;
    console::print_status(&format!(
        "{} into the cache, {} failed, {} unreadable{}",
        counted(all.n_stored, "answer", "answers"),
        count(all.n_failed),
        counted(all.n_unreadable, "line", "lines"),
        match all.n_repeated {
            0 => String::new(),
            n => format!(", {} left out: their requests have an answer", count(n)),
        }
    ));
    if all.n_stored > 0 {
        console::print_status(&match all.cost_of_stored(models) {
            Ok(cost) => format!("these answers cost {cost:.4} USD at the prices of a batch"),
            Err(model) => format!(
                "what these answers cost is unknown: {} has no price\nhint: --model NAME or --prices FILE",
                if model.is_empty() { "their model" } else { model }
            ),
        });
    }
    if all.n_stored + all.n_failed + all.n_repeated == 0 {
        bail!(
            "no line is an answer of a batch\nhint: give the output and error files of a batch whose requests `callsieve batch export` wrote"
        );
    }
    Ok(if all.n_unreadable > 0 { Ending::GateFailed } else { Ending::Done })
}

/// Batches that go on after the call was stopped.
#[derive(Debug, thiserror::Error)]
#[error(
    "{error}\nhint: batches that were created go on; `callsieve batch poll` reads their answers, and the same command continues"
)]
struct GoOn {
    #[source]
    error: Error,
}

fn submit(
    pending: &[crate::llm::service::PendingRequest],
    models: &Models,
    (options, waiting): (&SubmitOptions, &Waiting),
    environment: &Environment,
    cancel: &AtomicBool,
) -> anyhow::Result<Ending> {
    if options.max_cost.is_some()
        && let Some(model) = pending
            .iter()
            .filter_map(|request| request.body["model"].as_str())
            .find(|model| models.get(model).is_none())
    {
        bail!("--max-cost: the price of {model} is not known\nhint: give it with --prices FILE");
    }
    let cancelled = || cancel.load(Ordering::Relaxed);
    let done = submit_batches(pending, environment, models, options, &cancelled).map_err(resumable)?;
    for (id, model, n_requests) in &done.batches {
        console::print_status(&format!(
            "{id}: {} to {model}",
            counted(*n_requests as u64, "request", "requests")
        ));
    }
    if let Some(cost) = done.max_cost {
        console::print_status(&format!("the answers cost at most {cost:.4} USD"));
    }
    let left = [
        (done.under_way, "in batches under way before"),
        (done.over_cost, "left out: their answers could pass --max-cost"),
    ];
    for (n, what) in left.into_iter().filter(|(n, _)| *n > 0) {
        console::print_status(&format!("{} {what}", counted(n as u64, "request", "requests")));
    }
    if done.batches.is_empty() && done.under_way == 0 {
        console::print_status(
            "nothing to submit: the cache has all answers, or the limit of cost allows none",
        );
        return Ok(Ending::Done);
    }
    if waiting.wait {
        return poll_until(waiting, models, environment, &cancelled);
    }
    console::print_status(
        "hint: `callsieve batch poll` reads the answers once they are there; then run again",
    );
    Ok(Ending::Done)
}

fn resumable(error: Error) -> anyhow::Error {
    match error {
        Error::Halfway(_) if !error.is_bug() => GoOn { error }.into(),
        error => error.into(),
    }
}

fn poll(waiting: &Waiting, models: &Models, environment: &Environment) -> anyhow::Result<Ending> {
    let cancel = cancelled_by_signal()?;
    poll_until(waiting, models, environment, &|| cancel.load(Ordering::Relaxed))
}

/// Looks at the batches once, or until all have ended.
/// How often a batch that ended without all its answers is looked at while others are waited for: a server may need a moment.
const LOOKS_AT_INCOMPLETE: u32 = 5;

fn poll_until(
    waiting: &Waiting,
    models: &Models,
    environment: &Environment,
    cancelled: crate::engine::context::Cancelled<'_>,
) -> anyhow::Result<Ending> {
    let mut is_whole = true;
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    let mut n_seen = 0;
    let mut n_incomplete = 0;
    loop {
        let polled = poll_batches(environment, models, cancelled).map_err(resumable)?;
        n_seen += polled.len();
        let mut is_any_open = false;
        let mut is_any_incomplete = false;
        for batch in &polled {
            let text = described(batch);
            // While it waits, only what changed.
            if shown.get(&batch.id) != Some(&text) {
                console::print_data(&format!("{text}\n"))?;
                shown.insert(batch.id.clone(), text);
            }
            match &batch.state {
                BatchState::UnderWay { .. } => is_any_open = true,
                BatchState::Incomplete { .. } => is_any_incomplete = true,
                BatchState::Ended { n_missing: 0, .. } => {}
                BatchState::Ended { reasons, .. } => {
                    is_whole = false;
                    for reason in reasons {
                        console::print_status(&format!("{}: {reason}", batch.id));
                    }
                }
                _ => is_whole = false,
            }
        }
        n_incomplete += u32::from(is_any_incomplete);
        is_any_open |= is_any_incomplete && n_incomplete < LOOKS_AT_INCOMPLETE;
        if waiting.wait && is_any_open {
            run::sleep(Duration::from_secs(waiting.interval), cancelled).map_err(resumable)?;
            continue;
        }
        is_whole &= !is_any_incomplete;
        if n_seen == 0 {
            console::print_status("no batches are under way");
        }
        break;
    }
    for (server, n) in other_servers(environment)? {
        console::print_status(&format!(
            "{} under way on {server}\nhint: set OPENAI_BASE_URL to it",
            counted(n as u64, "batch is", "batches are")
        ));
    }
    if !is_whole {
        console::print_status("hint: `callsieve batch submit` sends requests without an answer again");
    }
    Ok(if is_whole { Ending::Done } else { Ending::GateFailed })
}

fn described(batch: &PolledBatch) -> String {
    let PolledBatch { id, model, n_requests, state } = batch;
    let requests = counted(*n_requests as u64, "request", "requests");
    let state = match state {
        BatchState::NotSubmitted => {
            "its submission was interrupted; `callsieve batch submit` continues it".to_owned()
        }
        BatchState::UnderWay { status, counts } | BatchState::Incomplete { status, counts } => {
            let failed = match counts.failed {
                0 => String::new(),
                n => format!(", {} failed", count(n)),
            };
            format!("{status}, {} answered{failed}", count(counts.completed))
        }
        BatchState::Ended { status, n_stored, n_failed, n_missing, cost, .. } => {
            let mut text = format!("{status}, {} into the cache", counted(*n_stored, "answer", "answers"));
            if *n_failed > 0 {
                text += &format!(", {} failed", count(*n_failed));
            }
            if n_missing > n_failed {
                text += &format!(", {} without an answer", count(n_missing - n_failed));
            }
            if let Some(cost) = cost {
                text += &format!(", {cost:.4} USD");
            }
            text
        }
        BatchState::Unknown(what) => {
            format!("not found: {what}; with another key or server it may be, or --forget {id} gives it up")
        }
    };
    format!("{id}: {requests} to {model}: {state}")
}
