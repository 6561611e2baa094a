//! Arguments about language models that `run` and `plan` share, and `callsieve cache`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::bail;
use clap::Subcommand;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::PipelineArgs;
use super::arguments::command_line;
use super::plan::{Loaded, load};
use super::run::Watching;
use crate::cli::console::{self, count, counted};
use crate::cli::layout::{Column, Table, paragraph, words};
use crate::engine::language_model::ModelUsage;
use crate::environment::Environment;
use crate::llm::cache::ReplyCache;
use crate::llm::models::Models;
use crate::report::asked;
use crate::report::model::Report;
use crate::run::{ModelOptions, ModelPlan, Options, plan_requests};
use crate::stages::Registry;

/// Seconds of a day.
const DAY: u64 = 86_400;

/// How language models are asked.
#[derive(Debug, clap::Args)]
pub(super) struct ModelArgs {
    /// Stops asking a language model before its answers cost more than this, in US dollars, with those that earlier runs in the same
    /// folder paid for. Rows without an answer are held.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,

    /// Models and their prices: TOML as configs/models.toml, or the JSON registry of LiteLLM.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,

    /// Number of requests to a language model at once.
    #[arg(long, value_name = "N", default_value_t = crate::llm::service::CONCURRENT, value_parser = at_once)]
    concurrency: usize,

    /// Sends no requests: answers of a language model come from the cache only.
    #[arg(long)]
    cache_only: bool,

    /// Asks a language model again where its answer could not be used; it is paid for again. Without this the answer in the cache
    /// counts.
    #[arg(long, conflicts_with = "cache_only")]
    retry_unusable: bool,
}

fn at_once(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=1000).contains(n))
        .ok_or_else(|| "expected a number from 1 to 1000".to_owned())
}

pub(super) fn dollars(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
    cost.ok_or_else(|| "expected US dollars, such as 2.50".to_owned())
}

pub(super) fn prices_of(path: Option<&Path>) -> anyhow::Result<Option<Models>> {
    Ok(path.map(Models::read).transpose()?)
}

impl ModelArgs {
    /// Whether a limit of cost is given.
    pub(super) fn limits_cost(&self) -> bool {
        self.max_cost.is_some()
    }

    /// Says how many requests of a run were not sent because of the limit of cost; `None` if all were.
    pub(super) fn over_cost(&self, report: &Report) -> Option<String> {
        let most = self.max_cost?;
        let n_not_sent: u64 = report.language_models.values().map(|usage| usage.not_sent).sum();
        (n_not_sent > 0 && !self.cache_only).then(|| {
            format!(
                "stopped by --max-cost {most}: {} to language models\nhint: what earlier runs in the folder paid counts; the same command with a higher --max-cost goes on, and answers that are paid are in the cache",
                counted(n_not_sent, "request was not sent", "requests were not sent")
            )
        })
    }

    /// Returns the options of a run.
    pub(super) fn options(&self) -> anyhow::Result<ModelOptions> {
        Ok(ModelOptions {
            cache_only: self.cache_only,
            n_concurrent: self.concurrency,
            max_cost: self.max_cost,
            prices: prices_of(self.prices.as_deref())?,
            retry_unusable: self.retry_unusable,
        })
    }
}

/// Runs a pipeline up to its language models in a scratch folder; nothing is sent. The folder is removed also if it is cancelled.
pub(super) fn planned(
    args: &PipelineArgs,
    (prices, retry_unusable): (Option<&Path>, bool),
    registry: &Registry,
    cancel: Arc<AtomicBool>,
) -> anyhow::Result<ModelPlan> {
    let Loaded { pipeline, .. } = load(args, registry)?;
    let model = ModelOptions { prices: prices_of(prices)?, retry_unusable, ..ModelOptions::default() };
    let options = Options::default().command(command_line()).model(model);
    let scratch = std::env::temp_dir().join(format!("callsieve-plan-{}", std::process::id()));
    Ok(plan_requests(&pipeline, &scratch, &options, &Watching::new(cancel))?)
}

/// Arguments of `cache`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The cache is replies.redb in CALLSIEVE_CACHE [default: ~/.cache/callsieve]. It holds replies of language \
models, and no requests; a reply may repeat words of a redacted request.

Examples:
  callsieve cache stats
  callsieve cache prune --model gpt-4.1-mini --older-than 90
  callsieve cache export > replies.jsonl"
)]
pub(super) struct CacheArgs {
    #[command(subcommand)]
    action: CacheAction,
}

#[derive(Debug, Subcommand)]
enum CacheAction {
    /// Shows how many replies of each model are stored.
    Stats {
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Removes replies: all, those of a model, or those that are older.
    Prune {
        /// Only replies of this model.
        #[arg(long, value_name = "NAME")]
        model: Option<String>,
        /// Only replies that are older than this many days.
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u64>,
        /// Removes all replies.
        #[arg(long, conflicts_with_all = ["model", "older_than"])]
        all: bool,
    },
    /// Prints all replies as JSON lines.
    Export,
}

pub(super) fn cache(args: &CacheArgs, environment: &Environment) -> anyhow::Result<()> {
    let folder = environment.caches();
    let path = ReplyCache::path_in(folder);
    if !path.exists() {
        console::print_status(&format!("no replies are stored: {} does not exist", path.display()));
        if matches!(args.action, CacheAction::Stats { json: true }) {
            console::write_json(&format!("{}\n", json!({"path": path, "bytes": 0, "models": {}})))?;
        }
        return Ok(());
    }
    let mut cache = ReplyCache::open(folder)?;
    match &args.action {
        CacheAction::Stats { json } => {
            let (stats, bytes) = (cache.stats()?, std::fs::metadata(&path)?.len());
            if *json {
                let text = json!({"path": path, "bytes": bytes, "models": stats});
                return Ok(console::write_json(&format!("{text}\n"))?);
            }
            let mut table = Table::new(vec![
                Column::text("model"),
                Column::number("replies"),
                Column::number("bytes"),
                Column::text("first"),
                Column::text("last"),
            ]);
            for (model, stats) in &stats {
                table.row([
                    model.clone(),
                    count(stats.replies),
                    count(stats.bytes),
                    day(stats.first),
                    day(stats.last),
                ]);
            }
            let mut text = table.fitted(console::Screen::of_stdout());
            text.add(
                console::Paint::Plain,
                &format!("{} in {}\n", counted(bytes, "byte", "bytes"), path.display()),
            );
            console::print_painted(&text)?;
        }
        CacheAction::Prune { model, older_than, all } => {
            if model.is_none() && older_than.is_none() && !all {
                bail!("no replies are selected\nhint: use --model NAME, --older-than DAYS, or --all");
            }
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let before = older_than.map(|days| now.saturating_sub(days.saturating_mul(DAY)));
            let n = cache.remove(|reply| {
                model.as_ref().is_none_or(|model| reply.model == *model)
                    && before.is_none_or(|before| reply.stored < before)
            })?;
            console::print_status(&format!("removed {}", counted(n, "reply", "replies")));
        }
        CacheAction::Export => {
            let mut unprinted = Ok(());
            cache.each(|key, reply, _| {
                if unprinted.is_ok() {
                    let line = json!({"key": key.to_string(), "model": reply.model, "stored": reply.stored,
                        "latency": reply.latency, "reply": reply.reply});
                    unprinted = console::write_json(&format!("{line}\n"));
                }
                Ok(())
            })?;
            unprinted?;
        }
    }
    Ok(())
}

fn day(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    time.map_or_else(|| "-".to_owned(), |time| time.to_string().chars().take(10).collect())
}

/// Prints the planned requests to language models.
pub(super) fn print_plan(plan: &ModelPlan) -> std::io::Result<()> {
    let mut table = Table::new(vec![
        Column::text("stage"),
        Column::text("model"),
        Column::number("rows"),
        Column::number("requests"),
        Column::number("cached"),
        Column::number("tokens in"),
        Column::number("out"),
        Column::number("USD"),
        Column::number("in a batch"),
    ]);
    for (stage, usage) in &plan.stages {
        table.row([
            stage.clone(),
            usage.model.clone(),
            count(usage.rows),
            count(usage.requests),
            count(usage.cached),
            count(usage.estimated_input_tokens),
            count(usage.estimated_output_tokens),
            cost(usage.estimated_cost, usage),
            cost(usage.estimated_batch_cost, usage),
        ]);
    }
    let mut text = table.fitted(console::Screen::of_stdout());
    let prices = asked::prices(plan.stages.iter().map(|(_, usage)| usage));
    let note = format!("Estimates; nothing was sent. {prices}");
    text.append(paragraph("", 0, &words(&note), console::Screen::of_stdout()));
    console::print_painted(&text)
}

fn cost(estimated: Option<f64>, usage: &ModelUsage) -> String {
    match estimated {
        Some(cost) => format!("{cost:.4}"),
        None if usage.requests == usage.cached => "0".to_owned(),
        None => "not known".to_owned(),
    }
}

/// Returns the usage of each stage as JSON.
pub(super) fn plan_json(plan: &ModelPlan) -> Value {
    json!({"stages": plan.stages.iter().map(|(stage, usage)| json!({"stage": stage, "usage": usage})).collect::<Vec<_>>()})
}
