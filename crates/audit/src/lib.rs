//! The contamination audit: which rows of training sets overlap a benchmark, in what, by which method, how surely.
//!
//! A training row is a request with its docs (`ingest` with `rows = "all"`). The stage `drop-benchmark-overlap` compares it
//! with a benchmark that is indexed once: every hit is a link, and the surest hit of a row is its verdict. A row without a hit
//! is clean, one without anything to compare is unscorable, never clean. Here are the benchmark, the methods and the figures:
//!
//! - [`open`] finds benchmarks by name, [`benchmark`] reads and indexes them; [`facts`] is what a run records of one.
//! - [`item`]: what is compared; [`row`]: a training row with its hits; [`hit`]: objects, methods, verdicts.
//! - `shown`, `words`, `queries`: messages as a reader sees them, as numbered words; runs, templates, containment, ROUGE-L.
//! - [`thresholds`]: the settings of the rule; [`unscorable`]: what is too short for a method; [`duplicates`]: a set against itself.
//! - [`everyday`]: small talk and names of example functions, which prove nothing.
//! - [`embedding`], [`judge`]: vectors, and a language model on suspect pairs.
//! - `functions`: functions by name, parameters and text; `answers`: answers by their calls, which `known` reads in any text and `weight` weighs.
//! - `scope`: what of the benchmark a row is compared with; [`coverage`]: which entries are in groups of hits.
//! - [`outcome`] writes the results of a run, [`report`] counts them, [`page`] shows them; [`shuffle`] measures chance, [`frequent`] finds phrases of the training set.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod answers;
pub mod benchmark;
pub mod coverage;
pub mod duplicates;
pub mod embedding;
pub mod everyday;
pub mod facts;
pub mod frequent;
mod functions;
pub mod hit;
pub mod item;
pub mod judge;
mod known;
pub mod open;
pub mod outcome;
pub mod page;
mod pictures;
mod queries;
pub mod read_rows;
pub mod report;
pub mod row;
pub mod rows;
mod scope;
pub mod scores;
mod seen_functions;
mod shown;
pub mod shuffle;
mod statement;
pub mod thresholds;
pub mod unscorable;
mod weight;
mod words;

use std::io;
use std::path::{Path, PathBuf};

use callsieve_ingest::read::ReadError;
use callsieve_public_sets::SetError;

pub use thresholds::{DocThresholds, QueryThresholds};

/// Why a benchmark cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A file cannot be read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A file cannot be read as rows.
    #[error(transparent)]
    Input(#[from] ReadError),
    /// A Parquet file cannot be read.
    #[error(transparent)]
    Parquet(#[from] callsieve_engine::error::Error),
    /// A line of a benchmark is no entry.
    #[error("{}:{line}: no entry of a benchmark: {found}\nhint: `callsieve check {}` lists what is wrong with the file", path.display(), path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: usize,
        /// What was found.
        found: String,
    },
    /// A benchmark cannot be read.
    #[error(transparent)]
    Bench(#[from] benchmark::BenchError),
    /// A benchmark is empty.
    #[error(
        "no entry of a benchmark in {paths}\nhint: expected BFCL question files, or a file with one request or text a line; --field NAME names the text"
    )]
    NoEntry {
        /// The files.
        paths: String,
    },
    /// Nothing has this name.
    #[error(
        "benchmark {name}: found neither a file or folder nor a public set of this name\nhint: give the path of a question file or of a folder of them, or a set of `callsieve sets list`"
    )]
    NoBenchmark {
        /// The name as given.
        name: String,
    },
    /// A public set has no files here.
    #[error(
        "benchmark {set}: the public set is not on disk\nhint: `callsieve sets list` shows the command that adds it"
    )]
    NotOnDisk {
        /// Its id.
        set: String,
    },
    /// The folder of public sets cannot be used.
    #[error(transparent)]
    Sets(SetError),
}

type Result<T> = std::result::Result<T, AuditError>;

impl AuditError {
    fn read(path: &Path, cause: io::Error) -> Self {
        Self::Read { path: path.to_owned(), cause }
    }
}
