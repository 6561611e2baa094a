//! `toolsieve pairs`: every pair of rows whose texts are alike, of one file or of two.
//!
//! Exact: what is not told is not above the threshold. Pairs come in the order of the rows,
//! the same for any number of threads, some rows at a time.

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

/// Rows that take no part and are named one by one; of the others only the number is told.
const MAX_NAMED: usize = 5;

/// Arguments of `pairs`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Rows are lines of JSONL, elements of JSON, rows of CSV, TSV or Parquet; gzip and zstd are
seen. A field that holds JSON is compared by its text with keys sorted, so that their order counts for nothing.

Output: one object a line, {\"a\", \"b\", \"score\"}: the ids of two rows, or their lines from 1 on; of words
also the \"tokenizer\". With --clusters one a row, {\"id\", \"leader\"} where it stays and {\"id\", \"leader\", \"score\"}
where an earlier row stays for it.

Exit code 1: rows that cannot be read; the others are compared.

Examples:
  toolsieve pairs docs.jsonl --field function --id-field id
  toolsieve pairs train.parquet benchmark.jsonl --field query --threshold 0.7
  toolsieve pairs queries.csv --field text --clusters | jq -r 'select(.id == .leader).id'"
)]
pub(super) struct PairsArgs {
    /// File of rows; `-` is standard input.
    a: PathBuf,

    /// Another file, with whose rows those of the first are compared instead of with one another.
    b: Option<PathBuf>,

    /// How alike two texts are.
    #[arg(long, value_enum, default_value_t = Metric::RougeL)]
    metric: Metric,

    /// Score from 0 to 1 above which a pair is told, or from which on for a cosine. Higher tells fewer [default: 0.8,
    /// for a cosine 0.9]
    #[arg(long, value_name = "T")]
    threshold: Option<Threshold>,

    /// The field that is compared; dots lead into objects and lists, as in function.0.description.
    #[arg(long, value_name = "F")]
    field: String,

    /// The field with a row's id, of the second file too.
    #[arg(long, value_name = "I")]
    id_field: Option<String>,

    /// What a token is: auto, rouge-score-v1, rouge-score-stemmed-v1 or unicode-v2. "auto" is rouge-score-v1, and
    /// unicode-v2 for pairs where either text has letters of another script than Latin.
    #[arg(long, value_name = "NAME", default_value_t)]
    tokenizer: Profile,

    /// When a score is above the threshold: by fractions, or by the floats of rouge-score, which let some exact ties
    /// through.
    #[arg(long, value_enum, default_value_t = Compared::Exact)]
    comparison: Compared,

    /// What turns texts into vectors for a cosine: `hashed`, `local:DIR`, `local:hub:OWNER/NAME`, `endpoint:MODEL`, or
    /// `file:PATH` with a vector for each row (.npy, of both files in order) or text (.parquet).
    #[arg(long, value_name = "NAME", default_value_t)]
    embedder: EmbedderName,

    /// How pairs of a high cosine are looked for; "auto" compares all rows unless that takes far longer than a graph,
    /// which may miss some.
    #[arg(long, value_enum, default_value_t = Search::Auto)]
    search: Search,

    /// Tells for each row the earlier row that stays for it, instead of pairs.
    #[arg(long, conflicts_with = "b")]
    clusters: bool,

    /// Prints no summary.
    #[arg(long, short)]
    quiet: bool,
}

/// How alike two texts are.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Metric {
    /// ROUGE-L F1 of their words.
    RougeL,
    /// The same line by line (rougeLsum); the earlier row is the target.
    RougeLsum,
    /// Cosine of their vectors.
    Cosine,
}

/// How pairs of a high cosine are looked for.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Search {
    /// As takes least time.
    Auto,
    /// All rows are compared.
    Exact,
    /// A graph proposes pairs.
    Approximate,
}

/// [`Comparison`] on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Compared {
    /// By fractions.
    Exact,
    /// By floats.
    GoogleFloat,
}

pub(super) fn pairs(args: &PairsArgs, registry: &Registry) -> anyhow::Result<Ending> {
    let mut rows = Rows::read(args)?;
    let told = match args.metric {
        Metric::RougeL => words::compare(args, Measure::Whole, &mut rows)?,
        Metric::RougeLsum => words::compare(args, Measure::Lines, &mut rows)?,
        Metric::Cosine => vectors::compare(args, &rows, registry.environment())?,
    };
    if !args.quiet {
        let rows = counted(rows.ids.len() as u64, "row", "rows");
        console::print_status(&format!("{rows} compared, {told}"));
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

/// What a join that only its sink can stop ended by.
fn written<T>(joined: Result<T, Stopped<io::Error>>) -> anyhow::Result<T> {
    match joined {
        Ok(done) => Ok(done),
        Err(Stopped::Sink(error)) => Err(error.into()),
        Err(Stopped::Cancelled) => bail!("called off"),
    }
}
