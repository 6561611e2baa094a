//! What stands for the embedder of local models in a build without the feature `models`: it cannot be opened.

use std::path::Path;

use super::{EmbedError, Embedder};
use callsieve_engine::context::Cancelled;
use callsieve_similarity::vectors::Vectors;

/// A loaded model; there is none in this build.
pub enum Local {}

impl Local {
    /// Loads no model.
    ///
    /// # Errors
    /// Always: this build runs no local models.
    pub fn open(_folder: &Path) -> Result<Self, EmbedError> {
        Err(EmbedError::NotBuilt)
    }
}

impl Embedder for Local {
    fn id(&self) -> String {
        match *self {}
    }

    fn embed(&self, _texts: &[&str], _cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        match *self {}
    }
}
