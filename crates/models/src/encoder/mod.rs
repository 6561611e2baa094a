//! Encoders of the BERT family on the CPU: texts as token ids into hidden states.
//!
//! Embedders and recognisers use the same encoder with another head. Only texts with the same number of tokens are in one
//! batch, so a text has the same bits with any other texts in its batch, and with any number of threads. GPUs and quantised
//! models are not supported.

#[cfg(feature = "models")]
mod bert;
#[cfg(feature = "models")]
mod encoding;
#[cfg_attr(not(feature = "models"), expect(dead_code, reason = "the hub needs only the names of files"))]
pub(crate) mod files;
pub mod hub;
#[cfg(feature = "models")]
pub(crate) mod tokens;

use std::path::PathBuf;

#[cfg(feature = "models")]
pub(crate) use self::bert::Config;
#[cfg(feature = "models")]
pub(crate) use self::encoding::{Encoder, batches};
use callsieve_engine::error::Error;
use callsieve_llm as llm;

/// Checks that this build runs local models.
///
/// # Errors
/// It is built without the feature `models`.
pub(crate) fn check_built() -> Result<(), ModelError> {
    if cfg!(feature = "models") { Ok(()) } else { Err(ModelError::NotBuilt) }
}

/// The message of a build without local models.
pub(crate) const NOT_BUILT: &str = "this build runs no local models\nhint: build it with them: `cargo install --path . --features models`; `endpoint:MODEL` asks a server instead";

/// An error of a local model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] Error),
    /// A file of a model is damaged or not supported.
    #[error("model {}: {what}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The description of the problem.
        what: String,
    },
    /// A download failed.
    #[error(transparent)]
    Network(llm::Error),
    /// The program was built without local models.
    #[error("{NOT_BUILT}")]
    NotBuilt,
    /// The run is cancelled.
    #[error("interrupted")]
    Interrupted,
}

impl From<llm::Error> for ModelError {
    fn from(error: llm::Error) -> Self {
        match error {
            llm::Error::Interrupted => Self::Interrupted,
            other => Self::Network(other),
        }
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::File(error) => error,
            ModelError::Interrupted => Self::Interrupted,
            other => Self::Setting(other.to_string()),
        }
    }
}
