//! Names of recognisers in settings, in the forms of the names of embedders.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::local::LocalRecogniser;
use crate::encoder::hub::{HUB, model_folder, parse_model};
use crate::encoder::{ModelError, check_built};
use callsieve_llm::hub::{Hub, MAIN};
use callsieve_system::environment::Environment;

/// The forms of a name, for help, messages and the schema.
pub const FORMS: &str = "`off`, `rules`, `local:DIR`, `local:hub:OWNER/NAME[@REVISION]` or `endpoint:MODEL`";

/// The parsed name of a recogniser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum RecogniserName {
    /// `off`: names and street addresses are not recognised.
    #[default]
    Off,
    /// `rules`: street addresses by rules; no names.
    Rules,
    /// `local:DIR`: a token-classification model in a folder.
    Local(PathBuf),
    /// `local:hub:OWNER/NAME[@REVISION]`: a token-classification model of the Hugging Face hub.
    Hub {
        /// Owner and name.
        repo: String,
        /// A branch, tag or commit.
        revision: String,
    },
    /// `endpoint:MODEL`: a language model on the server in `$OPENAI_BASE_URL`; sends the texts to it.
    Endpoint(String),
}

impl RecogniserName {
    /// Returns whether anything is recognised.
    pub fn is_on(&self) -> bool {
        *self != Self::Off
    }

    /// Returns whether names are recognised.
    pub fn finds_names(&self) -> bool {
        !matches!(self, Self::Off | Self::Rules)
    }

    /// Returns the language model that is asked, if one is.
    pub fn asks(&self) -> Option<&str> {
        match self {
            Self::Endpoint(model) => Some(model),
            _ => None,
        }
    }

    /// Opens the local model, if it is one.
    ///
    /// # Errors
    /// Its files cannot be read or downloaded.
    pub fn open(&self, environment: &Environment) -> Result<Option<LocalRecogniser>, ModelError> {
        match self {
            Self::Off | Self::Rules | Self::Endpoint(_) => Ok(None),
            Self::Local(folder) => LocalRecogniser::open(folder).map(Some),
            Self::Hub { repo, revision } => {
                check_built()?;
                let folder =
                    model_folder(&Hub::of(environment)?, repo, revision, environment.caches(), &|| false)?;
                LocalRecogniser::open(&folder).map(Some)
            }
        }
    }
}

impl fmt::Display for RecogniserName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Rules => f.write_str("rules"),
            Self::Local(folder) => write!(f, "local:{}", folder.display()),
            Self::Hub { repo, revision } if revision == MAIN => write!(f, "local:{HUB}{repo}"),
            Self::Hub { repo, revision } => write!(f, "local:{HUB}{repo}@{revision}"),
            Self::Endpoint(model) => write!(f, "endpoint:{model}"),
        }
    }
}

/// The error for an invalid name of a recogniser.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("recogniser must be {FORMS}, not \"{given}\"")]
pub struct RecogniserNameError {
    given: String,
}

impl FromStr for RecogniserName {
    type Err = RecogniserNameError;

    fn from_str(name: &str) -> Result<Self, RecogniserNameError> {
        let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
        match (kind, rest) {
            ("off", "") if name == "off" => Some(Self::Off),
            ("rules", "") if name == "rules" => Some(Self::Rules),
            (_, "") => None,
            ("local", folder) => match folder.strip_prefix(HUB) {
                Some(model) => parse_model(model).map(|(repo, revision)| Self::Hub { repo, revision }),
                None => Some(Self::Local(folder.into())),
            },
            ("endpoint", model) => {
                Some(Self::Endpoint(model.trim().to_owned())).filter(|_| !model.trim().is_empty())
            }
            _ => None,
        }
        .ok_or_else(|| RecogniserNameError { given: name.to_owned() })
    }
}

impl TryFrom<String> for RecogniserName {
    type Error = RecogniserNameError;

    fn try_from(name: String) -> Result<Self, RecogniserNameError> {
        name.parse()
    }
}

impl From<RecogniserName> for String {
    fn from(name: RecogniserName) -> Self {
        name.to_string()
    }
}

impl JsonSchema for RecogniserName {
    fn schema_name() -> Cow<'static, str> {
        "RecogniserName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(off|rules|local:.+|endpoint:.+)$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_a_round_trip_and_others_are_refused() {
        for name in [
            "off",
            "rules",
            "local:models/ner",
            "local:hub:org/ner@v2",
            "local:hub:org/ner",
            "endpoint:m:latest",
        ] {
            let read: RecogniserName = name.parse().unwrap();
            assert_eq!(read.to_string(), name);
            let is_asked = name.starts_with("endpoint");
            assert_eq!((read.asks().is_some(), read.is_on()), (is_asked, name != "off"));
        }
        for name in ["", "on", "off:", "local:", "local:hub:ner", "endpoint:", "endpoint: ", "rules:x"] {
            let message = name.parse::<RecogniserName>().unwrap_err().to_string();
            assert_eq!(message, format!("recogniser must be {FORMS}, not \"{name}\""));
        }
    }
}
