//! The options of `evaluate` that ask a model, and what a person sees of it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, anyhow, bail};
use clap::ValueEnum;

use crate::cli::arguments::command_line;
use crate::cli::console::{self, count, counted};
use crate::environment::Environment;
use crate::evaluate::ask::{self, Ask, AskMode, Asked, Stopped};
use crate::evaluate::dataset::Dataset;
use crate::evaluate::official::Package;
use crate::llm::client::Client;
use crate::llm::models::Models;
use crate::run::Options;

/// Failed requests that are shown.
const MAX_SHOWN: usize = 3;

/// Options that ask a model.
#[derive(Debug, clap::Args)]
pub(super) struct AskArgs {
    /// Asks this model of the OpenAI-compatible server in `OPENAI_BASE_URL` (`https://api.openai.com/v1` if it is not set), with
    /// the key in `OPENAI_API_KEY`, and scores its outputs.
    #[arg(long, value_name = "MODEL", requires = "save", conflicts_with = "compare", help_heading = ASKING)]
    ask: Option<String>,

    /// Result file of --ask; outputs in it are not requested again.
    #[arg(long, value_name = "FILE", requires = "ask", help_heading = ASKING)]
    save: Option<PathBuf>,

    /// How the model gets the functions.
    #[arg(long, value_enum, default_value_t = Mode::Prompt, requires = "ask", help_heading = ASKING)]
    ask_mode: Mode,

    /// Asks only this category; can be repeated [default: all single-turn ones; with --engine official also multi-turn ones]
    #[arg(long, value_name = "NAME", requires = "ask", value_delimiter = ',', help_heading = ASKING)]
    category: Vec<String>,

    /// Asks at most this many entries of each category.
    #[arg(long, value_name = "N", requires = "ask", value_parser = clap::value_parser!(u64).range(1..), help_heading = ASKING)]
    limit: Option<u64>,

    /// Number of requests at once.
    #[arg(long, value_name = "N", default_value_t = ask::CONCURRENT as u64, requires = "ask", help_heading = ASKING,
        value_parser = clap::value_parser!(u64).range(1..=1000))]
    concurrency: u64,

    /// Temperature of the requests; `default` is that of the server, for models that accept no other.
    #[arg(long, value_name = "X", default_value_t = Temperature(Some(ask::TEMPERATURE)), requires = "ask", help_heading = ASKING)]
    temperature: Temperature,

    /// Maximum length of an output, in tokens [default: the limit of the server]
    #[arg(long, value_name = "N", requires = "ask", value_parser = clap::value_parser!(u64).range(1..), help_heading = ASKING)]
    max_tokens: Option<u64>,

    /// Stops before the outputs of the result file cost more, in US dollars.
    #[arg(long, value_name = "USD", requires = "ask", value_parser = dollars, help_heading = ASKING)]
    max_cost: Option<f64>,

    /// Models and their prices: TOML as configs/models.toml, or the JSON registry of LiteLLM.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

const ASKING: &str = "Asking a model";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Mode {
    /// In the system prompt of BFCL; the model writes calls as text.
    Prompt,
    /// As tools; the model has function calling.
    Fc,
}

/// A temperature, or that of the server.
#[derive(Debug, Clone, Copy)]
struct Temperature(Option<f64>);

/// The word for the temperature of the server.
const DEFAULT: &str = "default";

impl FromStr for Temperature {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == DEFAULT {
            return Ok(Self(None));
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number
            .map(|number| Self(Some(number)))
            .ok_or_else(|| format!("expected a number of at least 0, or `{DEFAULT}`"))
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(temperature) => temperature.fmt(f),
            None => f.write_str(DEFAULT),
        }
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number of at least 0".to_owned())
}

/// Outputs are missing; those that arrived are in the file.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum Unfinished {
    /// Requests failed, or were not sent.
    #[error("{0}")]
    Missing(String),
    /// The user stopped it.
    #[error("{0}")]
    Interrupted(String),
}

/// What the scores take into account after a model was asked.
#[derive(Default)]
pub(super) struct Finished {
    /// Some entries have no output, and cannot have one.
    pub(super) is_partial: bool,
    /// Some outputs are missing.
    pub(super) missing: Option<anyhow::Error>,
}

impl AskArgs {
    /// Returns the prices of a file, or those of the program.
    pub(super) fn prices(&self) -> anyhow::Result<Models> {
        Ok(self.prices.as_deref().map(Models::read).transpose()?.unwrap_or_else(Models::known))
    }

    /// Returns the file of prices, if one is given.
    pub(super) fn prices_file(&self) -> Option<PathBuf> {
        self.prices.clone()
    }

    /// Returns the result file, if a model is asked.
    pub(super) fn results(&self) -> Option<PathBuf> {
        self.save.clone()
    }

    fn settings(&self) -> Option<Ask> {
        Some(Ask {
            model: self.ask.clone()?,
            mode: match self.ask_mode {
                Mode::Prompt => AskMode::Prompt,
                Mode::Fc => AskMode::Calls,
            },
            save: self.save.clone()?,
            categories: self.category.clone(),
            limit: self.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            n_concurrent: usize::try_from(self.concurrency).unwrap_or(usize::MAX),
            temperature: self.temperature.0,
            max_tokens: self.max_tokens,
            max_cost: self.max_cost,
        })
    }

    /// Asks for the outputs, if a model is given.
    pub(super) fn ask(
        &self,
        dataset: impl FnOnce() -> anyhow::Result<Dataset>,
        package: Option<&Package>,
        prices: &Models,
        environment: &Environment,
    ) -> anyhow::Result<Finished> {
        let Some(settings) = self.settings() else { return Ok(Finished::default()) };
        if settings.max_cost.is_some() && prices.price(&settings.model).is_none() {
            bail!("--max-cost: the price of {} is unknown\nhint: add it with --prices FILE", settings.model);
        }
        let dataset = dataset()?;
        let client =
            Client::with_policy(environment, settings.policy()).context("cannot ask")?.renaming_limit();
        let cancel = Arc::new(AtomicBool::new(false));
        let on_signal = Arc::clone(&cancel);
        ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed))
            .context("cannot listen for Ctrl-C")?;
        console::print_status(&format!("asking {} on {}", settings.model, client.base()));
        let bar = console::counting_bar("outputs");
        let mut lines = console::lines_of("outputs");
        let asked = ask::ask(
            &client,
            &dataset,
            package,
            &settings,
            prices,
            &|| cancel.load(Ordering::Relaxed),
            &mut |n, of| {
                bar.set_length(of as u64);
                bar.set_position(n as u64);
                if let Some(line) = lines.as_mut().and_then(|lines| lines.set("outputs", n as u64, of as u64))
                {
                    console::print_status(&line);
                }
            },
        );
        bar.finish_and_clear();
        let asked = asked?;
        report(&asked, &settings, client.base());
        let is_partial =
            settings.limit.is_some() || !settings.categories.is_empty() || !asked.unasked.is_empty();
        let has_key = environment.openai().key.is_some();
        Ok(Finished { is_partial, missing: (!asked.is_complete()).then(|| missing(&asked, has_key)) })
    }
}

/// Prints what arrived.
fn report(asked: &Asked, settings: &Ask, server: &str) {
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
    if let Some(facts) = &asked.package {
        console::print_status(&format!(
            "multi-turn calls executed by bfcl-eval {}; network of its processes: {}; files: {}",
            facts.version, facts.network, facts.files
        ));
    }
    if asked.cost.is_some() && asked.without_tokens > 0 {
        let outputs = counted(asked.without_tokens as u64, "output has", "outputs have");
        console::print_status(&format!("warning: {outputs} no tokens, so the cost is higher"));
    }
    let is_chosen = |name: &String| settings.categories.is_empty() || settings.categories.contains(name);
    for (category, reason) in asked.not_asked.iter().filter(|(name, _)| is_chosen(name)) {
        console::print_status(&format!("warning: {category} is not asked: {reason}"));
    }
    for (id, reason) in asked.unasked.iter().take(MAX_SHOWN) {
        console::print_status(&format!("warning: {id} is not asked: {reason}"));
    }
    if asked.unasked.len() > MAX_SHOWN {
        console::print_status(&format!("warning: {} entries in total are not asked", n(asked.unasked.len())));
    }
}

/// Returns the error that outputs are missing, with the command that continues.
fn missing(asked: &Asked, has_key: bool) -> anyhow::Error {
    let n = |n: usize| count(n as u64);
    let missing = asked.n - asked.known - asked.arrived - asked.unasked.len();
    let mut what = format!("{} of {} outputs are missing", n(missing), n(asked.n));
    let stopped = asked.stopped.as_ref().map(|stopped| match stopped {
        Stopped::Interrupted => "interrupted".to_owned(),
        Stopped::Refused => "the server refuses this key, model or address".to_owned(),
        Stopped::Limited => "a limit of requests or the credit is used up".to_owned(),
        Stopped::Failing => "too many requests in a row failed".to_owned(),
        Stopped::Cost { estimate } => {
            format!("the next request may cost {estimate:.4} USD, and pass --max-cost")
        }
        Stopped::NoTokens => "the server reports no tokens, so --max-cost cannot be kept".to_owned(),
        Stopped::Client(fault) => fault.clone(),
    });
    if let Some(stopped) = stopped {
        what += &format!(": {stopped}");
    }
    for (id, reason) in asked.failed.iter().take(MAX_SHOWN) {
        what += &format!("\n  {id}: {reason}");
    }
    if asked.failed.len() > MAX_SHOWN {
        what += &format!("\n  and {} more failed requests", n(asked.failed.len() - MAX_SHOWN));
    }
    let command = Options::default().command(command_line()).resume_command();
    let hint = match &asked.stopped {
        Some(Stopped::Refused) => {
            let key = if has_key { "OPENAI_API_KEY" } else { "OPENAI_API_KEY (it is not set)" };
            format!("check OPENAI_BASE_URL, {key} and the name of the model; to continue, run `{command}`")
        }
        Some(Stopped::Limited) => {
            format!("wait, lower --concurrency, or check the credit; to continue, run `{command}`")
        }
        Some(Stopped::Cost { .. }) => {
            "the same command with a higher --max-cost continues, and --max-tokens makes outputs cheaper; --partial scores \
             what is there"
                .to_owned()
        }
        Some(Stopped::NoTokens) => "leave out --max-cost".to_owned(),
        _ if asked.failed.first().is_some_and(|(_, reason)| reason.contains("temperature")) => {
            format!("--temperature {DEFAULT} leaves it to the server")
        }
        _ => format!("to continue, run `{command}`; with --partial it also scores the outputs that arrived"),
    };
    let message = format!("{what}\nhint: {hint}");
    match asked.stopped {
        Some(Stopped::Interrupted) => Unfinished::Interrupted(message).into(),
        // Nothing has begun.
        Some(Stopped::Refused | Stopped::Limited) if asked.arrived == 0 => anyhow!(message),
        _ => Unfinished::Missing(message).into(),
    }
}
