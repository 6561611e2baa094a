//! `callsieve apibench`: scores of Gorilla's `APIBench`, as its published scripts count them.

use std::path::{Path, PathBuf};

use callsieve_apibench::dataset::{
    LineFault, Records, by_number, read_database, read_questions, read_responses,
};
use callsieve_apibench::rates::Rate;
use callsieve_apibench::{Database, Hub, Match, Rates, Rules};
use serde_json::json;

use super::Ending;
use crate::cli::console::{self, Painted, Screen, counted};
use crate::cli::layout::{Column, Table};

/// Arguments of `apibench`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve apibench responses.jsonl --hub torch-hub --database torchhub_api.jsonl --questions torchhub_eval.json
  callsieve apibench responses.jsonl --hub hugging-face --database huggingface_api.jsonl \\
      --questions huggingface_eval.json --rules careful --json

The files are those of github.com/ShishirPatil/gorilla: data/api/, data/apibench/ and eval/eval-data/. docs/evaluate.md describes the rules.
Code in responses is parsed and never run.")]
pub(super) struct ApibenchArgs {
    /// Responses of a model, JSON lines with `question_id` and `text`.
    responses: PathBuf,

    /// The hub.
    #[arg(long, value_name = "HUB")]
    hub: HubName,

    /// The APIs of the hub, JSON lines.
    #[arg(long, value_name = "FILE")]
    database: PathBuf,

    /// The questions with their right APIs, JSON lines.
    #[arg(long, value_name = "FILE")]
    questions: PathBuf,

    /// How a call is compared: as the published scripts do, or with the API itself instead of its domain.
    #[arg(long, value_name = "RULES", default_value = "published")]
    rules: RulesName,

    /// Prints one JSON object: the rates, and what each response is.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum HubName {
    TorchHub,
    HuggingFace,
    TensorFlowHub,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum RulesName {
    /// The first matching entry of the database has the domain of the question.
    Published,
    /// The call is that of the right API, with equal values.
    Careful,
}

pub(super) fn apibench(args: &ApibenchArgs) -> anyhow::Result<Ending> {
    let database = records(&args.database, read_database)?;
    let questions = records(&args.questions, read_questions)?;
    let responses = records(&args.responses, read_responses)?;
    let hub = match args.hub {
        HubName::TorchHub => Hub::TorchHub,
        HubName::HuggingFace => Hub::HuggingFace,
        HubName::TensorFlowHub => Hub::TensorFlowHub,
    };
    let rules = match args.rules {
        RulesName::Published => Rules::Published,
        RulesName::Careful => Rules::Careful,
    };
    let (database, questions) = (Database::new(hub, database), by_number(&questions));
    let found: Vec<Match> =
        responses.iter().map(|response| database.compare(response, &questions, rules)).collect();
    let rates = Rates::of(&found);
    let n_faults = database.faults().count();
    if n_faults > 0 {
        let entries = counted(n_faults as u64, "entry", "entries");
        console::print_status(&format!("note: {entries} of the database have no call that can be compared"));
    }
    if args.json {
        let outcome = |found: &Match| match found {
            Match::Correct { .. } => "correct",
            Match::WrongApi { .. } => "wrong-api",
            Match::Hallucinated => "hallucinated",
            Match::Unreadable(_) => "unreadable",
        };
        let outcomes: Vec<_> = responses
            .iter()
            .zip(&found)
            .map(|(response, found)| json!({"question_id": response.question_id, "outcome": outcome(found)}))
            .collect();
        let line = json!({"hub": hub.name(), "rates": rates, "accuracy": rates.accuracy(),
            "hallucination": rates.hallucination(), "responses": outcomes});
        console::write_json(&format!("{line}\n"))?;
    } else {
        console::print_painted(&table(&rates, Screen::of_stdout()))?;
    }
    Ok(Ending::Done)
}

/// Reads the lines of a file. Lines that cannot be read are named, and left out.
fn records<T>(path: &Path, read: fn(&str, &str) -> Records<T>) -> anyhow::Result<Vec<T>> {
    let shown = path.display().to_string();
    let text = crate::side_file::read_text(path).map_err(|error| anyhow::anyhow!("{shown}: {error}"))?;
    let Records { records, faults } = read(&shown, &text);
    anyhow::ensure!(
        !records.is_empty(),
        "{shown}: no line could be read{}\nhint: it has to be JSON lines of APIBench",
        faults.first().map(|fault| format!("; {fault}")).unwrap_or_default()
    );
    if let Some(first) = faults.first() {
        let lines = counted(faults.len() as u64, "line", "lines");
        let others = if faults.len() > 1 { ", and others" } else { "" };
        console::print_status(&format!("warning: {lines} left out: {}{others}", LineFault::to_string(first)));
    }
    Ok(records)
}

fn table(rates: &Rates, screen: Screen) -> Painted {
    let mut text = Painted::default();
    let mut table =
        Table::new([Column::text("responses"), Column::number("number"), Column::text("share, 95 %")]);
    let shown = |rate: Rate| {
        let (from, to) = rate.interval;
        format!("{:.2} % ({:.1} to {:.1})", rate.share * 100.0, from * 100.0, to * 100.0)
    };
    let n = |n: usize| n.to_string();
    table.row(["correct", &n(rates.correct), &shown(rates.accuracy())]);
    table.row(["another API of the hub", &n(rates.wrong_api), &shown(rates.wrong())]);
    table.row(["no API of the hub (hallucination)", &n(rates.hallucinated), &shown(rates.hallucination())]);
    table.row(["no call that can be read", &n(rates.unreadable), ""]);
    table.row(["all", &n(rates.responses), ""]);
    text.append(table.fitted(screen));
    text
}
