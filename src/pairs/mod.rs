//! Near-duplicate pairs of the rows of one file, or of two; no run needed.
//!
//! The join by words is exact: every pair above the threshold is found. Pairs come in the order of the rows, whatever the
//! number of threads. [`pairs`] finds all of them, or the leader of each row. What is found while files are read and compared
//! goes to a [`PairsSink`].

mod rows;
mod vectors;
mod words;

use std::io;
use std::path::PathBuf;

use crate::embed::EmbedError;
use crate::embed::name::EmbedderName;
use crate::environment::Environment;
use crate::ingest::column::ColumnError;
use crate::similarity::cosine::rows::Unfit;
use crate::similarity::cosine::search::Search as GraphSearch;
use crate::similarity::rouge::texts::Measure;
use crate::similarity::{Merge, Pair, Stopped};
use crate::text::profile::Profile;
use crate::text::rouge::Threshold;
use rows::Rows;
pub use rows::SkippedRows;

/// Pairs that are passed on at a time.
const PAIRS_AT_A_TIME: usize = 4_096;

/// What is compared, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PairsOptions {
    /// File of rows; `-` is standard input.
    pub a: PathBuf,
    /// A second file: then the rows of the first are compared with its rows, not with one another.
    pub b: Option<PathBuf>,
    /// The field to compare; dots lead into objects and lists.
    pub field: String,
    /// The field with the id of a row, in both files; without one it is the line number.
    pub id_field: Option<String>,
    /// The similarity of two texts.
    pub metric: Metric,
    /// Least score of a pair: above it for word metrics, at or above it for cosine. Higher finds fewer pairs.
    pub threshold: Threshold,
    /// The tokenizer of word metrics.
    pub tokenizer: Profile,
    /// The embedder for cosine.
    pub embedder: EmbedderName,
    /// The search for pairs of a high cosine.
    pub search: Search,
    /// Finds the leader of each row of the only file instead of pairs: the first row of its cluster.
    pub clusters: bool,
}

impl PairsOptions {
    /// Returns the options that compare a field of the rows of one file, with the usual threshold of the metric.
    pub fn new(a: PathBuf, field: String, metric: Metric) -> Self {
        Self {
            a,
            b: None,
            field,
            id_field: None,
            metric,
            threshold: metric.usual_threshold(),
            tokenizer: Profile::default(),
            embedder: EmbedderName::default(),
            search: Search::default(),
            clusters: false,
        }
    }
}

/// How alike two texts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// ROUGE-L F1 of words.
    RougeL,
    /// ROUGE-L of lines (rougeLsum); the earlier row is the target.
    RougeLsum,
    /// Cosine of embeddings.
    Cosine,
}

impl Metric {
    /// Returns the threshold that is used where none is given.
    fn usual_threshold(self) -> Threshold {
        let usual = match self {
            Self::RougeL | Self::RougeLsum => 0.8,
            Self::Cosine => 0.9,
        };
        Threshold::try_from(usual).expect("a number from 0 to 1")
    }
}

/// How pairs of a high cosine are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Search {
    /// The faster of the two.
    #[default]
    Auto,
    /// Compares all rows.
    Exact,
    /// Compares the pairs that a graph search proposes, which may miss some.
    Approximate,
}

/// Two rows that are alike; or a row and its leader, which may be the row itself.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FoundPair<'r> {
    /// The id of the earlier row, or of the row with a leader; JSON.
    pub a: &'r str,
    /// The id of the later row, or of the leader; JSON.
    pub b: &'r str,
    /// Their score; `None` for a row that is its own leader.
    pub score: Option<f64>,
    /// The tokenizer of a word metric.
    pub tokenizer: Option<&'static str>,
}

/// Takes what is found.
pub trait PairsSink {
    /// Some rows of a file are not compared, and why.
    fn skipped(&mut self, _rows: &SkippedRows<'_>) {}

    /// Texts with so many tokens are going to be compared, in about so many bytes of memory.
    fn begin(&mut self, _n_tokens: u64, _n_bytes: u64) {}

    /// Takes pairs, in the order of the rows.
    ///
    /// # Errors
    /// They cannot be written; the comparison ends.
    fn pairs(&mut self, pairs: &[FoundPair<'_>]) -> io::Result<()>;
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PairsReport {
    /// Rows with a text.
    pub n_rows: u64,
    /// Rows that cannot be read.
    pub n_unreadable: u64,
    /// Pairs; with clusters, rows that have an earlier leader.
    pub n_found: u64,
    /// Rows whose text has no token, so that ROUGE compares them with nothing; 0 for cosine.
    pub n_without_tokens: u64,
    /// What only a comparison by cosine has.
    pub cosine: Option<CosineReport>,
}

/// What only a comparison by cosine has.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CosineReport {
    /// The id of the embedder.
    pub embedder: String,
    /// The ids of the rows of the first file that are in no pair because of their vectors, JSON, and what is wrong with these.
    pub unfit_a: Vec<(String, Unfit)>,
    /// Those of the second file.
    pub unfit_b: Vec<(String, Unfit)>,
    /// What an approximate search found of a sample of the pairs.
    pub search: Option<GraphSearch>,
}

/// Why rows are not compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PairsError {
    /// There is nothing to compare, or this build cannot compare it. The message may end with a hint.
    #[error("{0}")]
    Input(String),
    /// A file cannot be read.
    #[error(transparent)]
    Read(#[from] ColumnError),
    /// The embedder cannot be used.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The sink failed.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Finds pairs of rows, or the leader of each row.
///
/// # Errors
/// A file cannot be read, no row has a text, the embedder cannot be used, or the sink fails.
pub fn pairs(
    options: &PairsOptions,
    environment: &Environment,
    sink: &mut dyn PairsSink,
) -> Result<PairsReport, PairsError> {
    let mut rows = Rows::read(options, sink)?;
    let (n_rows, n_unreadable) = (rows.ids.len() as u64, rows.n_unreadable);
    let ((n_found, n_without_tokens), cosine) = match options.metric {
        Metric::RougeL => (words::compare(options, Measure::Whole, &mut rows, sink)?, None),
        Metric::RougeLsum => (words::compare(options, Measure::Lines, &mut rows, sink)?, None),
        Metric::Cosine => {
            let (n_found, cosine) = vectors::compare(options, &rows, environment, sink)?;
            ((n_found, 0), Some(cosine))
        }
    };
    Ok(PairsReport { n_rows, n_unreadable, n_found, n_without_tokens, cosine })
}

/// The result of a join that only its sink can stop.
fn joined<T>(joined: Result<T, Stopped<io::Error>>) -> Result<T, PairsError> {
    match joined {
        Ok(done) => Ok(done),
        Err(Stopped::Sink(error)) => Err(error.into()),
        Err(Stopped::Cancelled) => unreachable!("nobody cancels it"),
    }
}

/// Passes pairs on; `b` counts from the row `n_first` on.
fn pass_pairs(
    rows: &Rows,
    n_first: usize,
    pairs: &[Pair],
    tokenizer: impl Fn(usize, usize) -> Option<&'static str>,
    sink: &mut dyn PairsSink,
) -> io::Result<()> {
    let found = |pair: &Pair| {
        let (a, b) = (pair.a as usize, n_first + pair.b as usize);
        FoundPair { a: &rows.ids[a], b: &rows.ids[b], score: Some(pair.score), tokenizer: tokenizer(a, b) }
    };
    pairs
        .chunks(PAIRS_AT_A_TIME)
        .try_for_each(|pairs| sink.pairs(&pairs.iter().map(found).collect::<Vec<_>>()))
}

/// Passes each row on with the leader of its cluster, and returns the number of rows with an earlier one.
fn pass_leaders(
    rows: &Rows,
    merges: &[Option<Merge>],
    tokenizer: impl Fn(usize, usize) -> Option<&'static str>,
    sink: &mut dyn PairsSink,
) -> io::Result<u64> {
    let found = |(at, merge): &(usize, &Option<Merge>)| {
        let leader = merge.map_or(*at, |merge| merge.leader);
        let (score, tokenizer) = (merge.map(|merge| merge.score), merge.and_then(|_| tokenizer(*at, leader)));
        FoundPair { a: &rows.ids[*at], b: &rows.ids[leader], score, tokenizer }
    };
    let merges: Vec<(usize, &Option<Merge>)> = merges.iter().enumerate().collect();
    for merges in merges.chunks(PAIRS_AT_A_TIME) {
        sink.pairs(&merges.iter().map(found).collect::<Vec<_>>())?;
    }
    Ok(merges.iter().filter(|(_, merge)| merge.is_some()).count() as u64)
}
