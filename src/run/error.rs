//! Errors of operations on runs. They distinguish a failure before the work from one after it began.

use crate::engine;
use crate::pipeline::PipelineError;

/// Why a function of this module failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The pipeline file is invalid.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A file, an input, a setting or a run folder is invalid; nothing was changed.
    #[error(transparent)]
    Engine(#[from] engine::error::Error),
    /// The request is invalid, or names something that does not exist; nothing was changed. The message may end with a
    /// hint on a line of its own.
    #[error("{0}")]
    Request(String),
    /// The inputs are read, and not one of their lines holds a request: they are no logs. No stage has run.
    #[error("{0}")]
    NoRequest(String),
    /// It failed after it had begun, or it was cancelled. Finished steps are kept, and the same call continues from there.
    #[error("{0}")]
    Halfway(engine::error::Error),
}

impl Error {
    /// It was cancelled by its [`Observer`](super::Observer).
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Halfway(engine::error::Error::Interrupted))
    }

    /// An internal error, to be reported, and no fault of files or settings.
    pub fn is_bug(&self) -> bool {
        matches!(self, Self::Halfway(cause) | Self::Engine(cause) if cause.is_bug())
    }
}

/// Fails with a message.
pub(super) fn refuse<T>(what: impl Into<String>) -> Result<T, Error> {
    Err(Error::Request(what.into()))
}
