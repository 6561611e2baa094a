//! The options of `evaluate` that ask a model, and what a person sees of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, bail};
use clap::ValueEnum;

use crate::cli::console::{self, count, counted};
use crate::environment::Environment;
use crate::evaluate::ask::{self, Ask, AskMode, Asked};
use crate::evaluate::dataset::Dataset;
use crate::evaluate::prices::Prices;
use crate::llm::client::Client;

/// Failed requests that are shown.
const MAX_SHOWN: usize = 3;

/// Options that ask a model.
#[derive(Debug, clap::Args)]
pub(super) struct AskArgs {
    /// Asks this model of the OpenAI-compatible server in `OPENAI_BASE_URL`, with the key in `OPENAI_API_KEY`, and scores
    /// its outputs.
    #[arg(long, value_name = "MODEL", requires = "save", conflicts_with = "compare")]
    ask: Option<String>,

    /// Result file of --ask; outputs that it has are not asked again.
    #[arg(long, value_name = "FILE", requires = "ask")]
    save: Option<PathBuf>,

    /// How functions are given to the model.
    #[arg(long, value_enum, default_value_t = Mode::Prompt, requires = "ask")]
    ask_mode: Mode,

    /// Asks only this category; can be repeated [default: all single-turn ones]
    #[arg(long, value_name = "NAME", requires = "ask")]
    category: Vec<String>,

    /// Asks at most this many entries of each category.
    #[arg(long, value_name = "N", requires = "ask")]
    limit: Option<usize>,

    /// Requests at once.
    #[arg(long, value_name = "N", default_value_t = ask::CONCURRENT, requires = "ask")]
    concurrency: usize,

    /// Temperature of the requests.
    #[arg(long, value_name = "X", default_value_t = ask::TEMPERATURE, requires = "ask")]
    temperature: f64,

    /// Cuts an output after this many tokens [default: the limit of the server]
    #[arg(long, value_name = "N", requires = "ask")]
    max_tokens: Option<u32>,

    /// Stops before the requests cost more, in US dollars.
    #[arg(long, value_name = "USD", requires = "ask")]
    max_cost: Option<f64>,

    /// Prices of models: TOML as configs/prices.toml, or the JSON registry of LiteLLM.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    /// In the system prompt of BFCL; the model writes calls as text.
    Prompt,
    /// As tools; the model has function calling.
    Fc,
}

impl AskArgs {
    /// Returns the prices of a file, or those of the program.
    pub(super) fn prices(&self) -> anyhow::Result<Prices> {
        Ok(self.prices.as_deref().map(Prices::read).transpose()?.unwrap_or_else(Prices::known))
    }

    /// Returns the result file, if a model is asked.
    pub(super) fn results(&self) -> Option<PathBuf> {
        self.save.clone()
    }

    /// Returns whether entries are left out on purpose.
    pub(super) fn is_partial(&self) -> bool {
        self.limit.is_some()
    }

    /// Asks for the outputs, if a model is given.
    pub(super) fn ask(&self, dataset: &Dataset, environment: &Environment) -> anyhow::Result<()> {
        let (Some(model), Some(save)) = (&self.ask, &self.save) else { return Ok(()) };
        let prices = self.prices()?;
        let settings = Ask {
            model: model.clone(),
            mode: match self.ask_mode {
                Mode::Prompt => AskMode::Prompt,
                Mode::Fc => AskMode::Calls,
            },
            save: save.clone(),
            categories: self.category.clone(),
            limit: self.limit,
            n_concurrent: self.concurrency,
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
        };
        if settings.max_cost.is_some() && prices.of(model).is_none() {
            bail!("--max-cost: the price of {model} is not known\nhint: give it with --prices FILE");
        }
        let client = Client::of(environment).context("cannot ask")?;
        let cancel = Arc::new(AtomicBool::new(false));
        let on_signal = Arc::clone(&cancel);
        ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed))
            .context("cannot listen for Ctrl-C")?;
        let bar = console::counting_bar("outputs");
        let asked =
            ask::ask(&client, dataset, &settings, &prices, &|| cancel.load(Ordering::Relaxed), |n, of| {
                bar.set_length(of as u64);
                bar.set_position(n as u64);
            });
        bar.finish_and_clear();
        report(&asked?, &settings, client.base())
    }
}

/// The user stopped it; what arrived is in the file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::cli) struct Interrupted(String);

/// Says what arrived; an error if outputs are missing.
fn report(asked: &Asked, settings: &Ask, server: &str) -> anyhow::Result<()> {
    let n = |n: usize| count(n as u64);
    let cost = asked.cost.map_or_else(String::new, |cost| format!(", {cost:.4} USD"));
    let known =
        if asked.known > 0 { format!(", {} were there before", n(asked.known)) } else { String::new() };
    console::print_status(&format!(
        "asked {} on {server}: {} arrived{known}, in {}{cost}",
        settings.model,
        counted(asked.arrived as u64, "output", "outputs"),
        settings.save.display()
    ));
    for (id, reason) in asked.unasked.iter().take(MAX_SHOWN) {
        console::print_status(&format!("warning: {id} is not asked: {reason}"));
    }
    if asked.unasked.len() > MAX_SHOWN {
        console::print_status(&format!("warning: {} entries in all are not asked", n(asked.unasked.len())));
    }
    if asked.is_complete() {
        return Ok(());
    }
    let missing = asked.n - asked.known - asked.arrived - asked.unasked.len();
    let mut what = format!("{} of {} outputs are missing", n(missing), n(asked.n));
    if let Some(stopped) = &asked.stopped {
        what += &format!(": {stopped}");
    }
    for (id, reason) in asked.failed.iter().take(MAX_SHOWN) {
        what += &format!("\n  {id}: {reason}");
    }
    if asked.failed.len() > MAX_SHOWN {
        what += &format!("\n  and {} more failed requests", n(asked.failed.len() - MAX_SHOWN));
    }
    let how = if asked.stopped.as_deref().is_some_and(|stopped| stopped.contains("refuses")) {
        "check OPENAI_BASE_URL, OPENAI_API_KEY and the name of the model, then run the same command"
    } else {
        "run the same command to ask for them; with --results FILE --partial, what arrived is scored"
    };
    if asked.stopped.as_deref() == Some("interrupted") {
        return Err(Interrupted(format!("{what}\nhint: {how}")).into());
    }
    bail!("{what}\nhint: {how}")
}
