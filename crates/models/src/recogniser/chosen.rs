//! A recogniser chosen in settings; a local model is opened on first use.

use std::fmt;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::local::LocalRecogniser;
use super::name::RecogniserName;
use crate::encoder::ModelError;
use callsieve_system::environment::Environment;

/// A recogniser chosen in settings.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "RecogniserName", into = "RecogniserName")]
pub struct ChosenRecogniser {
    name: RecogniserName,
    environment: Environment,
    opened: OnceLock<Option<LocalRecogniser>>,
}

impl ChosenRecogniser {
    /// Sets the environment with caches, servers and keys.
    pub fn set_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Returns the local model, opening it on first use; `None` if the name is of no local model.
    ///
    /// # Errors
    /// Its files cannot be read or downloaded.
    pub fn open(&self) -> Result<Option<&LocalRecogniser>, ModelError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened.as_ref());
        }
        let opened = self.name.open(&self.environment)?;
        Ok(self.opened.get_or_init(|| opened).as_ref())
    }

    /// Returns the name of the recogniser.
    pub fn name(&self) -> &RecogniserName {
        &self.name
    }
}

impl From<RecogniserName> for ChosenRecogniser {
    fn from(name: RecogniserName) -> Self {
        Self { name, ..Self::default() }
    }
}

impl From<ChosenRecogniser> for RecogniserName {
    fn from(chosen: ChosenRecogniser) -> Self {
        chosen.name
    }
}

impl Clone for ChosenRecogniser {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), environment: self.environment.clone(), opened: OnceLock::new() }
    }
}

impl fmt::Debug for ChosenRecogniser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name, f)
    }
}
