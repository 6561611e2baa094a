//! How a person names an embedder, in settings and on the command line.
//!
//! One grammar for both: a kind, and behind a colon what it needs. Naming one opens nothing:
//! a pipeline is checked without its models. [`Chosen`] opens it once, when it is used.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::hashed::Hashed;
use super::{EmbedError, Embedder};

/// What turns texts into vectors, by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EmbedderName {
    /// `hashed`: hashed pieces of words; no model, no download.
    #[default]
    Hashed,
}

/// The forms of a name, for messages and the schema.
const FORMS: &str = "hashed";

impl EmbedderName {
    /// Makes the embedder ready.
    ///
    /// # Errors
    /// Its files cannot be read.
    pub fn open(&self) -> Result<Box<dyn Embedder>, EmbedError> {
        match self {
            Self::Hashed => Ok(Box::new(Hashed::V1)),
        }
    }
}

impl EmbedderName {
    /// Whether texts leave the machine.
    pub fn sends_texts_out(&self) -> bool {
        match self {
            Self::Hashed => false,
        }
    }

    /// Checks that vectors are found by text, as stages ask for them.
    ///
    /// # Errors
    /// `embedder must be …, not …`.
    pub fn check_for_texts(&self) -> Result<(), String> {
        match self {
            Self::Hashed => Ok(()),
        }
    }
}

impl fmt::Display for EmbedderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hashed => f.write_str("hashed"),
        }
    }
}

/// A name of no embedder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("embedder must be {FORMS}, not \"{given}\"")]
pub struct NotAnEmbedder {
    given: String,
}

impl FromStr for EmbedderName {
    type Err = NotAnEmbedder;

    fn from_str(name: &str) -> Result<Self, NotAnEmbedder> {
        match name {
            "hashed" => Ok(Self::Hashed),
            _ => Err(NotAnEmbedder { given: name.to_owned() }),
        }
    }
}

impl TryFrom<String> for EmbedderName {
    type Error = NotAnEmbedder;

    fn try_from(name: String) -> Result<Self, NotAnEmbedder> {
        name.parse()
    }
}

impl From<EmbedderName> for String {
    fn from(name: EmbedderName) -> Self {
        name.to_string()
    }
}

impl JsonSchema for EmbedderName {
    fn schema_name() -> Cow<'static, str> {
        "EmbedderName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": FORMS })
    }
}

/// An embedder chosen in settings, opened when it is first asked for.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "EmbedderName", into = "EmbedderName")]
pub struct Chosen {
    name: EmbedderName,
    opened: OnceLock<Arc<dyn Embedder>>,
}

impl Chosen {
    /// The embedder, ready.
    ///
    /// # Errors
    /// As [`EmbedderName::open`].
    pub fn open(&self) -> Result<&dyn Embedder, EmbedError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened.as_ref());
        }
        let opened = self.name.open()?;
        Ok(self.opened.get_or_init(|| opened.into()).as_ref())
    }

    /// How it is named.
    pub fn name(&self) -> &EmbedderName {
        &self.name
    }
}

impl From<EmbedderName> for Chosen {
    fn from(name: EmbedderName) -> Self {
        Self { name, opened: OnceLock::new() }
    }
}

impl From<Chosen> for EmbedderName {
    fn from(chosen: Chosen) -> Self {
        chosen.name
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name, f)
    }
}
