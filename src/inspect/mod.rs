//! A first look at an unknown log: what it is, what a run would meet in it, how to set it up.
//!
//! Each file is cut into lines once, to count them; a sample of the lines is read by the rooms
//! that a run uses, so what is told here is what a run would see. `sample` draws, `look` holds what
//! is told, `lines`, `requests` and `lists` find it out, `columns` guesses names where no log format
//! fits, `hints` says what to do, `draft` makes a pipeline of it. Nothing is written, and no value
//! of the log is shown but for models and times: of texts only their form is (`form`).

mod columns;
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
use lines::Lines;
use look::{Guess, Look};

pub use draft::{draft, pipeline_name};

/// How closely to look.
#[derive(Debug, Clone, Copy)]
pub struct Closeness {
    /// Lines looked at, of all files together: half from its beginning, half from all over it. More is slower and surer.
    pub rows: usize,
    /// Seeds the draw; the same seed draws the same lines.
    pub seed: u64,
}

/// Looks at a sample of some files; `sets` is the folder of public sets.
///
/// # Errors
/// A file cannot be opened, or the disk fails.
pub fn inspect(files: &[PathBuf], closeness: Closeness, sets: &Path) -> Result<Look> {
    let sampled = sample::sample(files, closeness)?;
    requests::warm_up();
    let start = Instant::now();
    let usual = Columns::default();
    let mut lines = Lines::read(&sampled, &usual);
    let mut names = None;
    // Where lines are left over, other names of columns may read them.
    if let Some(guess) = columns::guess(&sampled, &lines, &usual) {
        let by_guess = Lines::read(&sampled, &guess.columns);
        if by_guess.records.len() > lines.records.len() {
            (lines, names) = (by_guess, Some(guess));
        }
    }
    let mut look = Look::new(closeness, &sampled, &lines);
    look.requests = requests::look(&lines.records);
    look.docs = lists::look(&sampled, &lines);
    look.columns = columns::seen(&sampled, &lines, names.as_ref());
    look.guessed = names.map(Guess::named);
    look.public_sets = hints::public_sets(sets);
    look.run = estimate::estimate(&look, start.elapsed());
    if look.lines.requests == 0 {
        hints::tell_docs(&mut look.files);
    }
    look.hints = hints::hints(&look);
    Ok(look)
}
