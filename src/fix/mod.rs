//! Function docs of any form in, BFCL docs or the tools of another API and their changes out; no run needed.
//!
//! Files are read in order, items in blocks; items are judged in parallel and reported in the order of the file, so memory
//! holds one block, or the small files of one batch. An item that cannot be read is reported like any other and stops
//! nothing; so is a file among others.

mod counts;
mod files;
mod input;
mod outcome;

use std::io;
use std::path::PathBuf;

use rayon::prelude::*;

use crate::docs::convert::Api;
use crate::docs::fix::Safety;
use crate::docs::parse;
use crate::ingest::read::{Block, Limits, ReadError, read_blocks};
use crate::ingest::source::Reading;
use crate::text::os_error::cause_of;
pub use counts::{Counts, FileCounts, Occurrences};
use files::DocFile;
use input::Docs;
pub use outcome::{Definitions, DocsFault, EditOutcome, Outcome};

/// Reasons that only `fix` has, each with a sentence.
pub const REASONS: [(&str, &str); 1] =
    [(outcome::UNREADABLE_FILE, "A file or folder, one of several, cannot be read.")];

/// What is read, and what is done with it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FixOptions {
    /// Files of function docs, or folders of such files; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The edits that are made: [`Safety::Unsafe`] makes those as well that guess a missing part.
    pub allow: Safety,
    /// The API whose tool definitions the functions become; without one they stay BFCL's.
    pub api: Option<Api>,
}

impl FixOptions {
    /// Returns the options that make all edits and keep BFCL's form.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths, allow: Safety::Unsafe, api: None }
    }
}

/// Why docs cannot be fixed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixError {
    /// What is named holds no docs. The message says where, and may end with a hint.
    #[error("{0}")]
    Input(String),
    /// The only file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An outcome was not taken.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Fixes the docs of files, passes what became of them to `take` in order, and returns the counts.
///
/// # Errors
/// There is nothing to read, the only file cannot be read, or `take` fails.
pub fn fix(
    options: &FixOptions,
    mut take: impl FnMut(&[Outcome]) -> io::Result<()>,
) -> Result<Counts, FixError> {
    let listing = files::list(&options.paths)?;
    let mut counts = Counts::of_files(&listing);
    let mut take = |outcomes: Vec<Outcome>| {
        for outcome in &outcomes {
            counts.add(outcome);
        }
        take(&outcomes)
    };
    let mut rest = &listing.files[..];
    while !rest.is_empty() {
        let (batch, others) = rest.split_at(files::batch_len(rest));
        if let [file] = batch {
            read(file, options, &mut take)?;
        } else {
            let all: Vec<_> = batch.par_iter().map(|file| outcomes_of(file, options)).collect();
            all.into_iter().try_for_each(|outcomes| Ok::<_, FixError>(take(outcomes?)?))?;
        }
        rest = others;
    }
    Ok(counts)
}

/// All outcomes of a small file.
fn outcomes_of(file: &DocFile, options: &FixOptions) -> Result<Vec<Outcome>, FixError> {
    let mut all = Vec::new();
    read(file, options, &mut |outcomes| {
        all.extend(outcomes);
        Ok(())
    })?;
    Ok(all)
}

/// Reads a file a block at a time.
///
/// A file that cannot be read is an error where it is the only one, and an outcome like any other where it is not.
fn read(
    file: &DocFile,
    options: &FixOptions,
    take: &mut dyn FnMut(Vec<Outcome>) -> io::Result<()>,
) -> Result<(), FixError> {
    match (read_docs(file, options, take), &file.name) {
        (Ok(()), _) => Ok(()),
        (Err(Failed::Write(error)), _) => Err(error.into()),
        (Err(failed), Some(name)) => {
            Ok(take(vec![Outcome::unreadable(name, failed.problem(), options.api)])?)
        }
        (Err(Failed::Read(error)), None) => Err(error.into()),
        (Err(failed), None) => Err(FixError::Input(format!(
            "{}: {}\nhint: write the column with the docs as lines of JSON, or give the file to `callsieve run`",
            file.path.display(),
            failed.problem()
        ))),
    }
}

fn read_docs(
    file: &DocFile,
    options: &FixOptions,
    take: &mut dyn FnMut(Vec<Outcome>) -> io::Result<()>,
) -> Result<(), Failed> {
    if let Some(problem) = &file.problem {
        return Err(Failed::Listing(problem.clone()));
    }
    if matches!(Reading::of(&file.path), Reading::Parquet) {
        return Err(Failed::Parquet);
    }
    let limits = Limits::default();
    read_blocks(&file.path, input::format_of(&file.path), &limits, &mut |_| {}, &mut |block| {
        take(outcomes(&block, file, options)).map_err(Failed::Write)
    })?;
    Ok(())
}

/// Why no more was read or written.
enum Failed {
    Listing(String),
    Parquet,
    Read(ReadError),
    Write(io::Error),
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl Failed {
    /// What is wrong with the file, whose name is shown elsewhere.
    fn problem(self) -> String {
        match self {
            Self::Listing(problem) => problem,
            Self::Parquet => "docs are not read from Parquet".to_owned(),
            Self::Read(ReadError::Open { cause, .. }) => format!("cannot be opened: {}", cause_of(&cause)),
            Self::Read(ReadError::Read { cause, .. }) => format!("reading failed: {cause}"),
            Self::Read(error @ (ReadError::UnknownKind { .. } | ReadError::Stopped)) => error.to_string(),
            Self::Write(error) => error.to_string(),
        }
    }
}

fn outcomes(block: &Block, file: &DocFile, options: &FixOptions) -> Vec<Outcome> {
    let docs: Vec<Docs<'_>> =
        block.items.par_iter().flat_map_iter(|item| input::docs_of(block, item, &file.path)).collect();
    let read = if file.is_python() { parse::parse_python } else { parse::parse };
    docs.into_par_iter().map(|docs| Outcome::of(docs, file.name.clone(), read, options)).collect()
}
