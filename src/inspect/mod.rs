//! Inspects an unknown log: its format, what a run would find in it, and how to set the run up.
//!
//! Each file is split into lines once, to count them. A sample of the lines is parsed by the same code as in a run, so
//! the findings match those of a run. `sample` samples lines, `lines`, `requests` and `lists` examine them, and `look`
//! holds the result. `columns` guesses column names if no log format matches, `hints` advises the user, and `draft`
//! writes a pipeline. `inspect` writes no files and shows no values of the log except models, times and the words that
//! several different requests share; of other texts only the form is shown (`form`).

mod columns;
mod docs_file;
mod draft;
mod estimate;
mod form;
mod hints;
pub mod lines;
mod lists;
pub mod look;
mod requests;
mod sample;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::engine::error::Result;
use crate::ingest::log_formats::Columns;
use crate::ingest::request_filter::RequestFilter;
use lines::Lines;
use look::{Guess, Look};

pub use draft::{draft, pipeline_name};

/// The extent of an inspection.
#[derive(Debug, Clone, Copy)]
pub struct Closeness {
    /// Inspected lines of all files together: half from the beginning, half spread over the file. Higher is slower and
    /// more reliable.
    pub rows: usize,
    /// The seed of the sample; the same seed samples the same lines.
    pub seed: u64,
}

impl Default for Closeness {
    fn default() -> Self {
        Self { rows: 2000, seed: 1 }
    }
}

/// Inspects a sample of some files; `sets` is the folder of public sets.
///
/// # Errors
/// A file cannot be opened, or the disk fails.
pub fn inspect(files: &[PathBuf], closeness: Closeness, sets: &Path) -> Result<Look> {
    inspect_some(files, closeness, &RequestFilter::default(), sets)
}

/// Inspects a sample of some files, and of its requests only those that are wanted.
///
/// # Errors
/// A file cannot be opened, or the disk fails.
pub fn inspect_some(
    files: &[PathBuf],
    closeness: Closeness,
    wanted: &RequestFilter,
    sets: &Path,
) -> Result<Look> {
    let sampled = sample::sample(files, closeness)?;
    requests::warm_up();
    let start = Instant::now();
    let usual = Columns::default();
    let mut lines = Lines::read(&sampled, &usual);
    let mut names = None;
    // Other column names may read lines without a request.
    if let Some(guess) = columns::guess(&sampled, &lines, &usual) {
        let by_guess = Lines::read(&sampled, &guess.columns);
        if by_guess.records.len() > lines.records.len() {
            (lines, names) = (by_guess, Some(guess));
        }
    }
    lines.keep_requests(wanted);
    let mut look = Look::new(closeness, &sampled, &lines);
    look.requests = requests::look(&lines.records);
    look.docs = lists::look(&sampled, &lines);
    look.columns = columns::frequent(&sampled, &lines, names.as_ref());
    look.guessed = names.map(Guess::named);
    look.public_sets = hints::public_sets(sets);
    look.run = estimate::estimate(&look, start.elapsed());
    if look.lines.requests == 0 {
        hints::mark_docs(&mut look.files);
    }
    look.hints = hints::hints(&look);
    Ok(look)
}
