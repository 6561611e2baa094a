//! `callsieve pairs`: all near-duplicate pairs within one file or between two.
//!
//! The join by words is exact: every pair above the threshold is reported. Pairs are printed in the order of the rows,
//! whatever the number of threads.

mod out;
mod rows;
mod vectors;
mod words;

use std::io;
use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;

use super::Ending;
use crate::cli::console::{self, counted};
use crate::embed::name::EmbedderName;
use crate::similarity::Stopped;
use crate::similarity::rouge::texts::Measure;
use crate::stages::Registry;
use crate::text::profile::Profile;
use crate::text::rouge::{Comparison, Threshold};
use rows::Rows;

/// Skipped rows that are named one by one; the others are only counted.
const MAX_NAMED: usize = 5;

/// Arguments of `pairs`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Supported inputs: JSON lines, JSON arrays, CSV, TSV, Parquet; also with .gz or .zst. A field that holds JSON is \
compared as text with sorted keys. Every pair above the threshold is reported, unless a graph search proposes the pairs (--search).

Output: one object per line, {\"a\", \"b\", \"score\"}: the ids of two rows, or their line numbers from 1; for word metrics \
also the \"tokenizer\". With --clusters one object per row: {\"id\", \"leader\"}, and the \"score\" if another row is the leader.

Exit codes: 0 all rows compared; 1 rows that cannot be read, the others are compared; 2 could not start.

Examples:
  callsieve pairs docs.jsonl --field function --id-field id
  callsieve pairs train.parquet benchmark.jsonl --field query --threshold 0.7
  callsieve pairs queries.csv --field text --clusters | jq -r 'select(.id == .leader).id'"
)]
pub(super) struct PairsArgs {
    /// File of rows to compare; `-` is standard input.
    a: PathBuf,

    /// Second file: compares the rows of the first file with its rows, not with one another.
    b: Option<PathBuf>,

    /// Similarity of two texts.
    #[arg(long, value_enum, default_value_t = Metric::RougeL)]
    metric: Metric,

    /// Least score of a pair, from 0 to 1: above it for word metrics, at or above it for cosine. Higher reports fewer
    /// pairs [default: 0.8, for cosine 0.9]
    #[arg(long, value_name = "T")]
    threshold: Option<Threshold>,

    /// Field to compare; dots lead into objects and lists, such as function.0.description.
    #[arg(long, value_name = "F")]
    field: String,

    /// Field with the id of a row, in both files [default: line numbers]
    #[arg(long, value_name = "I")]
    id_field: Option<String>,

    /// Tokenizer of word metrics: auto, rouge-score-v1, rouge-score-stemmed-v1 or unicode-v2. "auto" is unicode-v2 for
    /// pairs with a text in another script than Latin, and rouge-score-v1 for others.
    #[arg(long, value_name = "NAME", default_value_t)]
    tokenizer: Profile,

    /// Arithmetic of the comparison with the threshold. The floats of Google's rouge-score let some exact ties through.
    #[arg(long, value_enum, default_value_t = Compared::Exact)]
    comparison: Compared,

    /// Embedder for cosine: `hashed`, `local:DIR`, `local:hub:OWNER/NAME`, `endpoint:MODEL`, or `file:PATH` with a vector
    /// for each row (.npy, both files in order) or text (.parquet).
    #[arg(long, value_name = "NAME", default_value_t)]
    embedder: EmbedderName,

    /// Search for pairs of a high cosine. "auto" compares all rows, unless that takes much longer than a graph search,
    /// which may miss pairs.
    #[arg(long, value_enum, default_value_t = Search::Auto)]
    search: Search,

    /// Prints the leader of each row instead of pairs: the first row of its cluster.
    #[arg(long, conflicts_with = "b")]
    clusters: bool,

    /// Prints no summary.
    #[arg(long, short)]
    quiet: bool,
}

/// How alike two texts are.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Metric {
    /// ROUGE-L F1 of words.
    RougeL,
    /// ROUGE-L of lines (rougeLsum); the earlier row is the target.
    RougeLsum,
    /// Cosine of embeddings.
    Cosine,
}

/// How pairs of a high cosine are looked for.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Search {
    /// The faster of the two.
    Auto,
    /// Compares all rows.
    Exact,
    /// Compares the pairs that a graph search proposes.
    Approximate,
}

/// [`Comparison`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Compared {
    /// Exact fractions.
    Exact,
    /// Floats of Google's rouge-score.
    GoogleFloat,
}

pub(super) fn pairs(args: &PairsArgs, registry: &Registry) -> anyhow::Result<Ending> {
    let mut rows = Rows::read(args)?;
    let summary = match args.metric {
        Metric::RougeL => words::compare(args, Measure::Whole, &mut rows)?,
        Metric::RougeLsum => words::compare(args, Measure::Lines, &mut rows)?,
        Metric::Cosine => vectors::compare(args, &rows, registry.environment())?,
    };
    if !args.quiet {
        let rows = counted(rows.ids.len() as u64, "row", "rows");
        console::print_status(&format!("{rows} compared, {summary}"));
    }
    Ok(if rows.n_unreadable > 0 { Ending::GateFailed } else { Ending::Done })
}

impl PairsArgs {
    fn threshold(&self) -> Threshold {
        let default = match self.metric {
            Metric::RougeL | Metric::RougeLsum => 0.8,
            Metric::Cosine => 0.9,
        };
        self.threshold.unwrap_or_else(|| Threshold::try_from(default).expect("a number from 0 to 1"))
    }

    fn rouge_threshold(&self) -> Threshold {
        self.threshold().compared_by(match self.comparison {
            Compared::Exact => Comparison::Exact,
            Compared::GoogleFloat => Comparison::GoogleFloat,
        })
    }
}

/// The result of a join that only an error of its output can stop.
fn written<T>(joined: Result<T, Stopped<io::Error>>) -> anyhow::Result<T> {
    match joined {
        Ok(done) => Ok(done),
        Err(Stopped::Sink(error)) => Err(error.into()),
        Err(Stopped::Cancelled) => bail!("cancelled"),
    }
}
