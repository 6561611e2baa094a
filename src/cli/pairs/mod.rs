//! `callsieve pairs`: all near-duplicate pairs within one file or between two, one JSON object per line.

mod out;

use std::path::PathBuf;

use clap::ValueEnum;

use super::Ending;
use crate::cli::console::{self, counted};
use crate::embed::name::EmbedderName;
use crate::pairs::{self, PairsError, PairsOptions, PairsReport};
use crate::stages::Registry;
use crate::text::profile::Profile;
use crate::text::rouge::{Comparison, Threshold};
use out::Lines;

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
    let options = args.options();
    let report = pairs::pairs(&options, registry.environment(), &mut Lines { args });
    let report = report.map_err(|error| match error {
        PairsError::Write(error) => anyhow::Error::from(error),
        error => error.into(),
    })?;
    if let Some(cosine) = &report.cosine {
        out::report(cosine, args.quiet);
    }
    if report.n_without_tokens > 0 {
        let rows = counted(report.n_without_tokens, "row has", "rows have");
        console::print_status(&format!(
            "warning: {rows} no token and are in no pair; --metric cosine compares them"
        ));
    }
    if !args.quiet {
        console::print_status(&summary(&options, &report));
    }
    Ok(if report.n_unreadable > 0 { Ending::GateFailed } else { Ending::Done })
}

/// The number of rows, and what was found.
fn summary(options: &PairsOptions, report: &PairsReport) -> String {
    let rows = counted(report.n_rows, "row", "rows");
    let merged = || counted(report.n_found, "is", "are");
    let (found, threshold) = (counted(report.n_found, "pair", "pairs"), options.threshold);
    let found = match (&report.cosine, options.clusters) {
        (None, false) => format!("{found} above {threshold}"),
        (None, true) => format!("{} merged into an earlier one", merged()),
        (Some(cosine), false) => format!("{found} from {threshold} on by {}", cosine.embedder),
        (Some(cosine), true) => format!("{} merged into an earlier one by {}", merged(), cosine.embedder),
    };
    format!("{rows} compared, {found}")
}

impl PairsArgs {
    fn options(&self) -> PairsOptions {
        let metric = match self.metric {
            Metric::RougeL => pairs::Metric::RougeL,
            Metric::RougeLsum => pairs::Metric::RougeLsum,
            Metric::Cosine => pairs::Metric::Cosine,
        };
        let mut options = PairsOptions::new(self.a.clone(), self.field.clone(), metric);
        options.threshold = self.threshold.unwrap_or(options.threshold);
        if metric != pairs::Metric::Cosine {
            options.threshold = options.threshold.compared_by(match self.comparison {
                Compared::Exact => Comparison::Exact,
                Compared::GoogleFloat => Comparison::GoogleFloat,
            });
        }
        options.search = match self.search {
            Search::Auto => pairs::Search::Auto,
            Search::Exact => pairs::Search::Exact,
            Search::Approximate => pairs::Search::Approximate,
        };
        options.b.clone_from(&self.b);
        options.id_field.clone_from(&self.id_field);
        options.tokenizer = self.tokenizer;
        options.embedder = self.embedder.clone();
        options.clusters = self.clusters;
        options
    }
}
