//! Texts as vectors whose cosine says how alike they are.
//!
//! One trait, and one file for each way to get vectors: `hashed` counts pieces of words,
//! knows spelling and not meaning, and needs nothing; `local` runs a model, `file` reads what
//! was made elsewhere; `endpoint` asks a server; `cache` keeps
//! what was dear to make. Each embedder has an id that tells its
//! space from every other; keys of caches and of finished stages hold it. How a person names
//! an embedder is in `name`. What to do with vectors is in `cosine` and its joins.

pub mod cache;
pub mod endpoint;
pub mod file;
pub mod hashed;
pub mod local;
pub mod name;
pub mod scopes;
pub mod vectors;

use std::path::PathBuf;

use crate::engine::error::Error;
use crate::llm;
use vectors::Vectors;

use crate::engine::context::Cancelled;

/// What turns texts into vectors of one space.
pub trait Embedder: Send + Sync {
    /// The name that tells this space from every other: kind, version, content of a model or file, pooling, dimensions.
    fn id(&self) -> String;

    /// The vectors of some texts, one row a text.
    ///
    /// Rows have unit length, or are all zero for a text with nothing in it. A row depends on its text alone.
    ///
    /// # Errors
    /// There is no vector for a text, what makes them fails, or the user asked to stop.
    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError>;

    /// The vectors of the rows of a whole collection, in its order; of two collections, the second after the first.
    ///
    /// The same as [`embed`](Self::embed), but where vectors go with the place of a row and not with its text.
    ///
    /// # Errors
    /// As [`embed`](Self::embed); also where there are not as many vectors as rows.
    fn embed_rows(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        self.embed(texts, cancelled)
    }
}

/// Brings a row to unit length; one of zeros stays, and one with something that is no number becomes all NaN.
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

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] Error),
    /// A file of a model is damaged, or of a kind that is not known here.
    #[error("model {}: {what}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file of vectors cannot be read as one.
    #[error("vectors {}: {what}", path.display())]
    Vectors {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file has not one vector for each row.
    #[error("vectors {}: {n_vectors} in the file for {n_rows} rows\nhint: the file must be made of the same rows, in their order", path.display())]
    Count {
        /// The file.
        path: PathBuf,
        /// Vectors in it.
        n_vectors: usize,
        /// Rows that were to have one.
        n_rows: usize,
    },
    /// A file has no vector for some texts.
    #[error("vectors {}: none for {n_missing} of {n_texts} texts; the first is number {first}, of xxh3-128 {hash:032x}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Texts without one.
        n_missing: usize,
        /// Texts that were asked for.
        n_texts: usize,
        /// The first one without, counted from 1.
        first: usize,
        /// The hash of its bytes.
        hash: u128,
    },
    /// A server did not give what was asked of it.
    #[error(transparent)]
    Network(llm::Error),
    /// The user asked to stop.
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

impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::File(error) => error,
            EmbedError::Interrupted => Self::Interrupted,
            other => Self::Setting(other.to_string()),
        }
    }
}
