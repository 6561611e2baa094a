//! Embedders: they convert texts to vectors whose cosine measures similarity.
//!
//! There is one trait and one module per implementation: `hashed` counts character n-grams (it
//! captures spelling, not meaning, and needs no model), `local` runs a model, `file` reads
//! vectors from a file, `endpoint` uses a server, and `cache` stores expensive vectors. The id of
//! an embedder identifies its vector space; cache keys and fingerprints of stages contain it.
//! `name` parses the names of embedders in settings, `scopes` embeds many groups of texts.

pub mod cache;
pub mod endpoint;
pub mod file;
pub mod hashed;
#[cfg_attr(not(feature = "models"), path = "without_models.rs")]
pub mod local;
pub mod name;
pub mod scopes;

use std::path::PathBuf;

use crate::encoder::{ModelError, NOT_BUILT};
use callsieve_engine::error::Error;
use callsieve_llm as llm;
use callsieve_similarity::vectors::Vectors;

use callsieve_engine::context::Cancelled;

/// An embedder: converts texts to vectors of one space.
pub trait Embedder: Send + Sync {
    /// Returns the id of the vector space: kind, version, content of a model or file, pooling, dimensions.
    fn id(&self) -> String;

    /// Returns the vectors of some texts, one row per text.
    ///
    /// Rows have unit length, or are all zero for an empty text. A row depends on its text alone.
    ///
    /// # Errors
    /// If a text has no vector, the embedder fails, or the run is cancelled.
    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError>;

    /// Returns the vectors of all rows of a collection, in order; of two collections, the second after the first.
    ///
    /// The same as [`embed`](Self::embed), except for embedders whose vectors belong to row numbers and not to texts.
    ///
    /// # Errors
    /// As [`embed`](Self::embed); also if the number of vectors is not the number of rows.
    fn embed_rows(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        self.embed(texts, cancelled)
    }
}

/// Scales a row to unit length; a row of zeros does not change, and a row with a non-finite number becomes all NaN.
fn to_unit_length(row: &mut [f32]) {
    let norm = row.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    if norm == 0.0 {
        return;
    }
    let is_sound = norm.is_finite();
    for value in row {
        #[expect(clippy::cast_possible_truncation, reason = "rounds to the nearest 32-bit number")]
        let scaled = (f64::from(*value) / norm) as f32;
        *value = if is_sound { scaled } else { f32::NAN };
    }
}

/// An error of an embedder.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
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
    /// A file of vectors cannot be read.
    #[error("vectors {}: {what}", path.display())]
    Vectors {
        /// The file.
        path: PathBuf,
        /// The description of the problem.
        what: String,
    },
    /// The number of vectors in a file is not the number of rows.
    #[error("vectors {}: found {n_vectors} vectors, expected one for each of {n_rows} rows\nhint: create the file from the same rows, in the same order", path.display())]
    Count {
        /// The file.
        path: PathBuf,
        /// Number of vectors in the file.
        n_vectors: usize,
        /// Number of rows.
        n_rows: usize,
    },
    /// A file has no vector for some texts.
    #[error("vectors {}: no vector for {n_missing} of {n_texts} texts; the first is text {first}, with the hash {hash:032x}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Number of texts without a vector.
        n_missing: usize,
        /// Number of requested texts.
        n_texts: usize,
        /// The number of the first text without a vector, from 1.
        first: usize,
        /// The hash of its bytes.
        hash: u128,
    },
    /// A request to a server failed.
    #[error(transparent)]
    Network(llm::Error),
    /// The program was built without local models.
    #[error("{NOT_BUILT}")]
    NotBuilt,
    /// The run is cancelled.
    #[error("interrupted")]
    Interrupted,
}

impl From<llm::Error> for EmbedError {
    fn from(error: llm::Error) -> Self {
        match error {
            llm::Error::Interrupted => Self::Interrupted,
            other => Self::Network(other),
        }
    }
}

impl From<ModelError> for EmbedError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::File(error) => Self::File(error),
            ModelError::Model { path, what } => Self::Model { path, what },
            ModelError::Network(error) => Self::Network(error),
            ModelError::NotBuilt => Self::NotBuilt,
            ModelError::Interrupted => Self::Interrupted,
        }
    }
}

impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::File(error) => error,
            EmbedError::Interrupted => Self::Interrupted,
            other => Self::Setting(other.to_string()),
        }
    }
}
