//! `callsieve retrieve`: the functions of a collection that fit a request, and how well that works.

use std::path::PathBuf;

use anyhow::bail;
use serde_json::json;

use super::Ending;
use super::arguments::{threads, use_threads};
use super::run::cancelled_by_signal;
use crate::cli::console::{self, Paint, Painted, Screen};
use crate::cli::layout::{Column, Table};
use crate::embed::name::EmbedderName;
use crate::engine::disk::write_atomic;
use crate::environment::Environment;
use crate::jobs::retrieve::{Index, Ranking, best, evaluate, known_queries, pairs};
use crate::retrieval::measures::CUTS;
use crate::text::figures::{count, counted};
use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// Arguments of `retrieve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve retrieve out/collection \"the weather of tomorrow in Oslo\"
  callsieve retrieve out/collection --evaluate queries.jsonl             NDCG, recall, MRR
  callsieve retrieve out/collection --evaluate queries.jsonl --pairs train.jsonl
  callsieve retrieve out/collection --by both --embedder local:models/minilm \"book a table\"

A line of queries.jsonl: {\"query\": \"…\", \"relevant\": [\"name of a function\"]}; query files of ToolBench are read, too.")]
pub(super) struct RetrieveArgs {
    /// The run folder of a collection, of `callsieve collect`.
    #[arg(value_name = "RUN")]
    run: PathBuf,

    /// The request.
    #[arg(value_name = "TEXT", required_unless_present = "evaluate", conflicts_with = "evaluate")]
    text: Option<String>,

    /// How functions are ranked: by words (BM25), by embeddings, or by both, fused by their ranks.
    #[arg(long, value_name = "RANKING", default_value = "bm25")]
    by: By,

    /// The embedder: hashed, local:DIR, local:hub:OWNER/NAME, endpoint:MODEL and others
    #[arg(long, value_name = "EMBEDDER", default_value = "hashed")]
    embedder: EmbedderName,

    /// The most functions that are printed (1 to 1000)
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    top: u64,

    /// File of queries with the functions that fit, to measure the ranking. May be repeated.
    #[arg(long, value_name = "FILE")]
    evaluate: Vec<PathBuf>,

    /// Writes training pairs of these queries to a file: each with a function that fits and four that rank high and do not.
    #[arg(long, value_name = "FILE", requires = "evaluate")]
    pairs: Option<PathBuf>,

    /// Prints JSON.
    #[arg(long)]
    json: bool,

    /// Number of threads, up to 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
}

/// [`Ranking`] on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum By {
    Bm25,
    Embeddings,
    Both,
}

pub(super) fn retrieve(args: &RetrieveArgs, environment: &Environment) -> anyhow::Result<Ending> {
    use_threads(args.threads)?;
    let cancel = cancelled_by_signal()?;
    let cancelled = || cancel.load(std::sync::atomic::Ordering::Relaxed);
    let ranking = match args.by {
        By::Bm25 => Ranking::Bm25,
        By::Embeddings => Ranking::Embeddings,
        By::Both => Ranking::Fused,
    };
    let index = Index::open(&args.run, ranking, &args.embedder, environment, &cancelled)?;
    let Some(text) = &args.text else {
        measure(args, &index, &cancelled)?;
        return Ok(Ending::Done);
    };
    let Some(scores) = index.scores(&[text.as_str()], &cancelled)?.pop() else {
        bail!("no scores for the request")
    };
    let top = usize::try_from(args.top).unwrap_or(usize::MAX);
    let functions = index.functions();
    let found: Vec<usize> = best(&scores, top);
    if args.json {
        let lines = found.iter().map(|at| {
            let function = &functions[*at];
            let line = json!({"name": function.name, "tool": function.tool, "original_name": function.original_name,
                "score": (scores[*at] * 1e4).round() / 1e4, "description": function.description});
            format!("{line}\n")
        });
        console::write_json(&lines.collect::<String>())?;
        return Ok(Ending::Done);
    }
    if found.is_empty() {
        console::print_status(&format!(
            "none of {} shares a word with the request; --by embeddings compares meanings",
            counted(functions.len() as u64, "function", "functions")
        ));
        return Ok(Ending::Done);
    }
    let mut text = Painted::new("");
    for at in found {
        let function = &functions[at];
        let described = shortened(&visible_line(&function.description), MOST_DESCRIBED);
        text.add(Paint::Plain, &format!("{:>7.3}  ", scores[at]));
        text.add(Paint::Title, &visible_line(&function.name));
        text.add(Paint::Plain, &format!("  {}\n", visible_line(&function.tool)));
        if !described.is_empty() {
            text.add(Paint::Plain, &format!("         {described}\n"));
        }
    }
    console::print_painted(&text)?;
    Ok(Ending::Done)
}

/// Characters of a description on the screen.
const MOST_DESCRIBED: usize = 70;

fn measure(args: &RetrieveArgs, index: &Index, cancelled: &(dyn Fn() -> bool + Sync)) -> anyhow::Result<()> {
    let queries = known_queries(&args.evaluate, index)?;
    if queries.is_empty() {
        bail!("no query in the files of --evaluate");
    }
    let measures = evaluate(index, &queries, cancelled)?;
    let n_missing: usize = queries.iter().map(|query| query.n_missing).sum();
    let n_without = queries.iter().filter(|query| query.functions.is_empty()).count();
    if args.json {
        let by_cut = |values: &[f64]| {
            CUTS.iter()
                .zip(values)
                .map(|(cut, value)| (cut.to_string(), json!(value)))
                .collect::<serde_json::Map<_, _>>()
        };
        let line = json!({"queries": measures.queries, "functions": index.functions().len(), "ndcg": by_cut(&measures.ndcg),
            "recall": by_cut(&measures.recall), "mrr": measures.mrr, "missing_functions": n_missing, "queries_without_function": n_without});
        console::write_json(&format!("{line}\n"))?;
    } else {
        let mut table =
            Table::new([Column::number("first"), Column::number("NDCG"), Column::number("recall")]);
        for ((cut, ndcg), recall) in CUTS.iter().zip(measures.ndcg).zip(measures.recall) {
            table.row([
                cut.to_string(),
                format!("{:.1} %", ndcg * 100.0),
                format!("{:.1} %", recall * 100.0),
            ]);
        }
        let mut text = table.fitted(Screen::of_stdout());
        let summary = format!(
            "\nMRR       {:.1} %\nqueries   {} over {}; {} that fit are not in the collection, {} have none there\n",
            measures.mrr * 100.0,
            count(measures.queries as u64),
            counted(index.functions().len() as u64, "function", "functions"),
            counted(n_missing as u64, "function", "functions"),
            counted(n_without as u64, "query", "queries"),
        );
        text.add(Paint::Plain, &summary);
        console::print_painted(&text)?;
    }
    if let Some(path) = &args.pairs {
        let pairs = pairs(index, &queries, cancelled)?;
        let lines: String = pairs.iter().map(|pair| format!("{pair}\n")).collect();
        write_atomic(path, lines.as_bytes())?;
        console::print_status(&format!(
            "{} in {}",
            counted(pairs.len() as u64, "pair", "pairs"),
            path.display()
        ));
    }
    Ok(())
}
