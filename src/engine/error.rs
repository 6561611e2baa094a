//! Errors that stop a run. A bad row is not an error: it gets a fate.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use polars::error::PolarsError;

use super::no_run;
use crate::text::os_error::{cause_of, hint_of};

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
    #[error("{}: {what}\nhint: `toolsieve verify` lists the damaged files of a run; running it again writes them again", path.display())]
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
    #[error("{} has no valid file .toolsieve, which marks run folders: an early build wrote the run, or the file is damaged\nhint: `why`, `diff`, `report` and `compare` read the folder as it is; give `run` another folder with --out", .0.display())]
    Unmarked(PathBuf),
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
pub(crate) trait At<T> {
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

impl<T> At<T> for polars::error::PolarsResult<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|cause| match system_error(&cause) {
            Some(cause) => Error::File { doing, path: path.to_owned(), cause },
            None => {
                Error::Table { doing, path: path.to_owned(), cause: unwritten(doing, &cause.to_string()) }
            }
        })
    }
}

impl<T> At<T> for parquet::errors::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T> {
        self.map_err(|error| {
            let path = path.to_owned();
            let cause = match error {
                ParquetError::External(error) => match error.downcast::<io::Error>() {
                    Ok(cause) if cause.raw_os_error().is_some() => {
                        return Error::File { doing, path, cause: *cause };
                    }
                    Ok(cause) => cause.to_string(),
                    Err(error) => error.to_string(),
                },
                ParquetError::General(cause) | ParquetError::NYI(cause) | ParquetError::EOF(cause) => cause,
                error => error.to_string(),
            };
            Error::Table { doing, path, cause }
        })
    }
}

/// Returns the system error that made polars fail, if there is one. For an error in the middle of a Parquet file polars
/// keeps only the text, which ends with the system's error number.
fn system_error(error: &PolarsError) -> Option<io::Error> {
    let number = match error {
        PolarsError::IO { error, .. } => error.raw_os_error(),
        error => {
            let text = error.to_string();
            let (_, number) = text.rsplit_once("(os error ")?;
            number.trim_end().strip_suffix(')')?.parse().ok()
        }
    };
    number.map(io::Error::from_raw_os_error)
}

/// Returns what polars reports. Of a footer that it could not write it keeps no number, and blames the format.
fn unwritten(doing: &str, cause: &str) -> String {
    if doing == "writing" && cause.contains("transport error") {
        return "the end of the file could not be written\nhint: the device may be full; free some space there and run the same command again".to_owned();
    }
    cause.to_owned()
}

/// Returns the error of a damaged file of the run folder.
pub fn damaged(path: &Path, what: impl Display) -> Error {
    Error::Damaged { path: path.to_owned(), what: what.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_one_message_from_the_system_and_from_polars() {
        let path = Path::new("out/live/ingest/requests.parquet");
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let expected = "writing out/live/ingest/requests.parquet: no space left on the device\nhint: free some space there";
        let by_us: Result<()> = Err(full()).at("writing", path);
        assert_eq!(by_us.unwrap_err().to_string(), expected);
        for by_polars in [
            PolarsError::from(io::Error::from_raw_os_error(28)),
            PolarsError::ComputeError(
                "parquet: File out of specification: underlying IO error: No space left on device (os error 28)"
                    .into(),
            ),
        ] {
            let by_polars: Result<()> = Err(by_polars).at("writing", path);
            assert_eq!(by_polars.unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_footer_that_cannot_be_written_has_a_hint_about_space() {
        let text = "parquet: File out of specification: Invalid thrift: transport error";
        let fault = |doing| -> String {
            let fault: Result<()> =
                Err(PolarsError::ComputeError(text.into())).at(doing, Path::new("a.parquet"));
            fault.unwrap_err().to_string()
        };
        let written = fault("writing");
        assert!(
            written.starts_with("writing a.parquet: the end of the file could not be written\nhint: "),
            "{written}"
        );
        assert_eq!(fault("reading"), format!("reading a.parquet: {text}"));
    }

    #[test]
    fn an_error_of_a_table_stays_one() {
        let fault = PolarsError::ComputeError("parquet: File out of specification: no magic".into());
        let fault: Result<()> = Err(fault).at("reading", Path::new("a.parquet"));
        let expected = fault.unwrap_err().to_string();
        assert_eq!(expected, "reading a.parquet: parquet: File out of specification: no magic");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_table_on_a_full_device_is_an_error_with_a_hint() {
        use polars::prelude::{Column, DataFrame, NamedFrom as _, ParquetWriter, Series};
        let texts: Vec<String> = (0..20_000).map(|n| format!("{n:x}")).collect();
        let column = Column::from(Series::new("text".into(), texts));
        let mut frame = DataFrame::new(20_000, vec![column]).unwrap();
        let path = Path::new("/dev/full");
        // Files of a run are created new, so the device is opened here.
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let written = ParquetWriter::new(file).finish(&mut frame).at("writing", path);
        let error = written.unwrap_err().to_string();
        assert!(error.starts_with("writing /dev/full: no space left on the device\nhint: "), "{error}");
    }
}
