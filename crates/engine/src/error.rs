//! Errors that stop a run. A bad row is not an error: it gets a fate.

use std::cell::Cell;
use std::fmt::Display;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use super::no_run;
use callsieve_text::os_error::{cause_of, hint_of};

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read, written or renamed.
    #[error("{doing} {}: {}{}", path.display(), cause_of(cause), hint_of(cause, path))]
    File {
        /// The operation: `reading`, `writing`, ….
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A Parquet file could not be read or written.
    #[error("{doing} {}: {cause}", path.display())]
    Table {
        /// The operation.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the reader or writer of Parquet reports.
        cause: String,
    },
    /// A file of the run folder does not hold what it must.
    #[error("{}: {what}\nhint: `callsieve verify` lists the damaged files of a run; running it again writes them again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process works in the folder.
    #[error("run folder {} is in use by {owner}\nhint: wait for it, stop it, or give another folder with --out", path.display())]
    Locked {
        /// The run folder.
        path: PathBuf,
        /// The other process and its command line.
        owner: String,
    },
    /// The folder is not empty and holds no run.
    #[error("{} is not a run folder and not empty\nhint: give an empty or new folder with --out", .0.display())]
    NotARun(PathBuf),
    /// The folder looks like a run, but has no marker file.
    #[error("{} has no valid file .callsieve, which marks run folders: an early build wrote the run, or the file is damaged\nhint: `why`, `diff`, `report` and `compare` read the folder as it is; give `run` another folder with --out", .0.display())]
    Unmarked(PathBuf),
    /// The folder holds a run of a build with the former name of the program.
    #[error("{} is a run folder of toolsieve, the former name of callsieve\nhint: run the log again into another folder (--out), and forget there again what was forgotten here", .0.display())]
    FormerName(PathBuf),
    /// A symbolic link is in the place of a file or folder of a run.
    #[error("{} is a symbolic link or not a regular file; nothing is written or removed through one\nhint: remove it and run the same command again", .0.display())]
    Link(PathBuf),
    /// There is no finished run.
    #[error("no finished run in {}\nhint: {}", .0.display(), no_run::hint(.0))]
    NoRun(PathBuf),
    /// There is a run, but it is not finished.
    #[error("the run in {} is not finished\nhint: {} continues where it stopped", path.display(), command.as_ref().map_or_else(|| "the command that began it".to_owned(), |command| format!("`{command}`")))]
    Unfinished {
        /// The run folder.
        path: PathBuf,
        /// The last command line that worked in it, if it was a run.
        command: Option<String>,
    },
    /// An input could not be read to its end.
    #[error("{0}")]
    Input(String),
    /// The inputs hold lines, and no request.
    #[error("{0}")]
    NoRequest(String),
    /// A verdict of a stage violates its contract or the tables: an internal error in the stage.
    #[error("stage {stage}: {what}")]
    Verdict {
        /// The stage's id.
        stage: String,
        /// The violation.
        what: String,
    },
    /// Rows in and rows out do not add up: an internal error.
    #[error("{at}: rows do not add up: {what}")]
    Conservation {
        /// The step.
        at: String,
        /// The two counts.
        what: String,
    },
    /// The background writer panicked: an internal error, here or in a library.
    #[error("writing the run folder panicked: {0}")]
    Panic(String),
    /// A setting is out of range, or a file that it names is invalid.
    #[error("{0}")]
    Setting(String),
    /// A service that a stage asks, such as a language model, gives no answer. The same run may succeed later.
    #[error("{0}")]
    Service(String),
    /// Decisions of people contradict each other.
    #[error("{0}")]
    Decisions(String),
    /// The user asked to stop.
    #[error("interrupted; finished stages are kept")]
    Interrupted,
}

impl Error {
    /// Returns `true` for an internal error.
    pub fn is_bug(&self) -> bool {
        matches!(self, Self::Verdict { .. } | Self::Conservation { .. } | Self::Panic(_))
    }
}

/// An extension of results that adds the operation and the file to an error.
pub trait At<T> {
    /// Turns the error into [`Error::File`] or [`Error::Table`].
    ///
    /// # Errors
    /// The error itself, with operation and file.
    fn at(self, doing: &'static str, path: &Path) -> Result<T>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|cause| Error::File { doing, path: path.to_owned(), cause })
    }
}

impl<T> At<T> for parquet::errors::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|error| match error {
            ParquetError::External(error) => of_library(doing, path, error),
            ParquetError::General(cause) | ParquetError::NYI(cause) | ParquetError::EOF(cause) => {
                table(doing, path, cause)
            }
            error => table(doing, path, error.to_string()),
        })
    }
}

impl<T> At<T> for std::result::Result<T, ArrowError> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|error| match error {
            ArrowError::IoError(_, cause) => of_library(doing, path, Box::new(cause)),
            ArrowError::ExternalError(error) => of_library(doing, path, error),
            ArrowError::ParquetError(cause) => table(doing, path, cause),
            error => table(doing, path, error.to_string()),
        })
    }
}

fn table(doing: &'static str, path: &Path, cause: String) -> Error {
    Error::Table { doing, path: path.to_owned(), cause }
}

/// Returns the error that a library passes on: of the system, or of a table.
fn of_library(doing: &'static str, path: &Path, error: Box<dyn std::error::Error + Send + Sync>) -> Error {
    match error.downcast::<io::Error>() {
        Ok(cause) if cause.raw_os_error().is_some() => {
            Error::File { doing, path: path.to_owned(), cause: *cause }
        }
        Ok(cause) => table(doing, path, cause.to_string()),
        Err(error) => table(doing, path, error.to_string()),
    }
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Returns `true` while this thread reads a file whose reader may panic: such a panic becomes an error, and needs no
/// report of its own.
pub fn is_guarded() -> bool {
    IS_GUARDED.get()
}

/// Returns an error if the reader panics: it does so on some of the files that are damaged.
pub(super) fn unless_damaged<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let outer = IS_GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(outer);
    done.unwrap_or_else(|_| Err(table("reading", path, "the file is damaged".to_owned())))
}

/// Returns the error of a damaged file of the run folder.
pub fn damaged(path: &Path, what: impl Display) -> Error {
    Error::Damaged { path: path.to_owned(), what: what.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_one_message_from_the_system_and_from_libraries() {
        let path = Path::new("out/live/ingest/requests.parquet");
        let full = || io::Error::from_raw_os_error(28);
        let expected = "writing out/live/ingest/requests.parquet: no space left on the device\nhint: free some space there";
        let by_us: Result<()> = Err(io::Error::from(io::ErrorKind::StorageFull)).at("writing", path);
        let by_parquet: Result<()> = Err(ParquetError::from(full())).at("writing", path);
        let by_arrow: Result<()> = Err(ArrowError::from(full())).at("writing", path);
        for failed in [by_us, by_parquet, by_arrow] {
            assert_eq!(failed.unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn an_error_of_a_table_stays_one() {
        let fault = ParquetError::General("invalid footer".into());
        let fault: Result<()> = Err(fault).at("reading", Path::new("a.parquet"));
        assert_eq!(fault.unwrap_err().to_string(), "reading a.parquet: invalid footer");
    }

    #[test]
    fn a_reader_that_panics_is_an_error_and_guards_end_with_it() {
        let path = Path::new("a.parquet");
        let read = || -> Result<()> {
            unless_damaged(path, || {
                assert!(is_guarded());
                Ok(())
            })?;
            assert!(is_guarded(), "of the outer reader");
            panic!("index out of bounds")
        };
        let failed = unless_damaged(path, read);
        assert_eq!(failed.unwrap_err().to_string(), "reading a.parquet: the file is damaged");
        assert!(!is_guarded());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_table_on_a_full_device_is_an_error_with_a_hint() {
        use std::sync::Arc;

        use arrow_array::{ArrayRef, RecordBatch, StringArray};
        let texts = StringArray::from_iter_values((0..20_000).map(|n| format!("{n:x}")));
        let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
        let path = Path::new("/dev/full");
        // Files of a run are created new, so the device is opened here.
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        let written = writer.write(&batch).and_then(|()| writer.finish().map(drop)).at("writing", path);
        let error = written.unwrap_err().to_string();
        assert!(error.starts_with("writing /dev/full: no space left on the device\nhint: "), "{error}");
    }
}
