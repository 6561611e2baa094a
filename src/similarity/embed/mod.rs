//! Texts as vectors whose cosine says how alike they are.
//!
//! One trait, and one file for each way to get vectors: `hashed` counts pieces of words,
//! knows spelling and not meaning, and needs nothing. Each embedder has an id that tells its
//! space from every other; keys of caches and of finished stages hold it. How a person names
//! an embedder is in `name`. What to do with vectors is in `cosine` and its joins.

pub mod hashed;
pub mod name;
pub mod scopes;

use crate::engine::error::Error;
use crate::similarity::vectors::Vectors;

/// Asked again and again while texts are embedded; `true` stops.
pub type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

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

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] Error),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<EmbedError> for Error {
    fn from(error: EmbedError) -> Self {
        match error {
            EmbedError::File(error) => error,
            EmbedError::Interrupted => Self::Interrupted,
        }
    }
}
