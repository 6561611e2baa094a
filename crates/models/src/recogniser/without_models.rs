//! What stands for the recogniser of local models in a build without the feature `models`: it cannot be opened.

use std::path::Path;

use crate::encoder::ModelError;
use callsieve_engine::context::Cancelled;
use callsieve_privacy::people::Place;

/// A loaded model; there is none in this build.
pub enum LocalRecogniser {}

impl LocalRecogniser {
    /// Loads no model.
    ///
    /// # Errors
    /// Always: this build runs no local models.
    pub fn open(_folder: &Path) -> Result<Self, ModelError> {
        Err(ModelError::NotBuilt)
    }

    /// Returns the identifier of the model.
    pub fn id(&self) -> &str {
        match *self {}
    }

    /// Returns the places of names and street addresses of each text, in order.
    ///
    /// # Errors
    /// None in this build.
    pub fn recognise(
        &self,
        _texts: &[&str],
        _cancelled: Cancelled<'_>,
    ) -> Result<Vec<Vec<Place>>, ModelError> {
        match *self {}
    }
}
