//! Arguments about language models that `run` and `plan` share, and `toolsieve cache` and `toolsieve batch`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use clap::{Subcommand, ValueEnum};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::plan::{Loaded, load};
use super::{Ending, PipelineArgs};
use crate::cli::console::{self, Console, count, counted};
use crate::cli::layout::{Column, Table, paragraph, words};
use crate::environment::Environment;
use crate::llm::batch::{self, BatchForm, Imported};
use crate::llm::cache::ReplyCache;
use crate::llm::prices::Prices;
use crate::run::{ModelOptions, ModelPlan, Options, plan_requests};
use crate::stages::Registry;

/// Seconds of a day.
const DAY: u64 = 86_400;

/// How language models are asked.
#[derive(Debug, clap::Args)]
pub(super) struct ModelArgs {
    /// Stops asking a language model before its answers cost more than this, in US dollars. Rows without an answer are held.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,

    /// Prices of models: TOML as configs/prices.toml, or the JSON registry of LiteLLM.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,

    /// Number of requests to a language model at once.
    #[arg(long, value_name = "N", default_value_t = crate::llm::service::CONCURRENT, value_parser = at_once)]
    concurrency: usize,

    /// Sends no requests: answers of a language model come from the cache only.
    #[arg(long)]
    cache_only: bool,
}

fn at_once(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=1000).contains(n))
        .ok_or_else(|| "expected a number from 1 to 1000".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    let cost = text.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
    cost.ok_or_else(|| "expected US dollars, such as 2.50".to_owned())
}

fn prices_of(path: Option<&Path>) -> anyhow::Result<Option<Prices>> {
    Ok(path.map(Prices::read).transpose()?)
}

impl ModelArgs {
    /// Returns the options of a run.
    pub(super) fn options(&self) -> anyhow::Result<ModelOptions> {
        Ok(ModelOptions {
            cache_only: self.cache_only,
            n_concurrent: self.concurrency,
            max_cost: self.max_cost,
            prices: prices_of(self.prices.as_deref())?,
        })
    }
}

/// Runs a pipeline up to its language models in a scratch folder; nothing is sent.
pub(super) fn planned(
    args: &PipelineArgs,
    prices: Option<&Path>,
    registry: &Registry,
) -> anyhow::Result<ModelPlan> {
    let Loaded { pipeline, .. } = load(args, registry)?;
    let model = ModelOptions { prices: prices_of(prices)?, ..ModelOptions::default() };
    let options = Options::default().command(std::env::args()).model(model);
    let scratch = std::env::temp_dir().join(format!("toolsieve-plan-{}", std::process::id()));
    Ok(plan_requests(&pipeline, &scratch, &options, &Console::new(false))?)
}

/// Arguments of `cache`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The cache is replies.redb in TOOLSIEVE_CACHE [default: ~/.cache/toolsieve]. It holds replies of language \
models, and no requests; a reply may repeat words of a redacted request.

Examples:
  toolsieve cache stats
  toolsieve cache prune --model gpt-4.1-mini --older-than 90
  toolsieve cache export > replies.jsonl"
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

/// Arguments of `batch`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The answers of a batch go into the cache, from which the next `toolsieve run` takes them.

Examples:
  toolsieve batch export mylog.jsonl --set judge-queries.judge=rules-then-llm --set judge-queries.model=NAME > batch.jsonl
  toolsieve batch import answers.jsonl errors.jsonl"
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
    },
    /// Reads the answers of a batch into the cache. Failed requests and those without an answer are counted, and asked again later.
    Import {
        /// Files of answers and of errors, in any order: of OpenAI, vLLM or Anthropic; - for standard input.
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
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
        BatchAction::Export { pipeline, form, save } => {
            let plan = planned(&pipeline, None, registry)?;
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
                "{} written; the cache has the answers to {} more",
                counted(plan.pending.len() as u64, "request", "requests"),
                count(cached)
            ));
            Ok(Ending::Done)
        }
        BatchAction::Import { files } => import(&files, registry.environment()),
    }
}

fn import(files: &[PathBuf], environment: &Environment) -> anyhow::Result<Ending> {
    // All are there before the first is read.
    for path in files.iter().filter(|path| path.as_os_str() != "-") {
        File::open(path).with_context(|| format!("reading {}", path.display()))?;
    }
    let cache = ReplyCache::open(environment.caches())?;
    let mut all = Imported::default();
    let mut faults: BTreeMap<String, u64> = BTreeMap::new();
    for path in files {
        let reader: Box<dyn BufRead> = if path.as_os_str() == "-" {
            Box::new(BufReader::new(std::io::stdin().lock()))
        } else {
            Box::new(BufReader::new(File::open(path).with_context(|| format!("reading {}", path.display()))?))
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
    let mut stderr = std::io::stderr();
    // A closed terminal changes nothing: the answers are stored.
    let _ = writeln!(
        stderr,
        "{} into the cache, {} failed, {} unreadable",
        counted(all.n_stored, "answer", "answers"),
        count(all.n_failed),
        counted(all.n_unreadable, "line", "lines")
    );
    if all.n_stored + all.n_failed == 0 {
        bail!(
            "no line is an answer of a batch\nhint: give the output and error files of a batch whose requests `toolsieve batch export` wrote"
        );
    }
    Ok(if all.n_unreadable > 0 { Ending::GateFailed } else { Ending::Done })
}

/// Prints what the language models would be asked.
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
            match usage.estimated_cost {
                Some(cost) => format!("{cost:.4}"),
                None if usage.requests == usage.cached => "0".to_owned(),
                None => "unknown".to_owned(),
            },
        ]);
    }
    let mut text = table.fitted(console::Screen::of_stdout());
    let sources: std::collections::BTreeSet<&str> =
        plan.stages.iter().map(|(_, usage)| usage.prices.as_str()).collect();
    let sources: Vec<&str> = sources.into_iter().collect();
    let note = format!("Estimates; nothing was sent. Prices: {}.", sources.join(", "));
    text.append(paragraph("", 0, &words(&note), console::Screen::of_stdout()));
    console::print_painted(&text)
}

/// Returns the usage of each stage as JSON.
pub(super) fn plan_json(plan: &ModelPlan) -> Value {
    json!({"stages": plan.stages.iter().map(|(stage, usage)| json!({"stage": stage, "usage": usage})).collect::<Vec<_>>()})
}
