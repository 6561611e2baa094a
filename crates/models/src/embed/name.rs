//! Names of embedders in settings and on the command line.
//!
//! A name is a kind, followed by a colon and its argument. Parsing a name does not open the
//! embedder, so a pipeline is checked without models and network. [`ChosenEmbedder`] opens it
//! once, on first use.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::cache::CachedEmbedder;
use super::endpoint::Endpoint;
use super::file::{ByRow, ByText, is_by_row};
use super::hashed::Hashed;
use super::local::Local;
use super::{EmbedError, Embedder};
use crate::encoder::check_built;
use crate::encoder::hub::{HUB, model_folder, parse_model};
use callsieve_llm::client::Client;
use callsieve_llm::hub::{Hub, MAIN};
use callsieve_system::environment::Environment;
use callsieve_text::visible::visible_line;

/// The parsed name of an embedder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EmbedderName {
    /// `hashed`: hashed character n-grams; no model, no download.
    #[default]
    Hashed,
    /// `local:DIR`: a sentence-transformers model in a folder.
    Local(PathBuf),
    /// `local:hub:OWNER/NAME[@REVISION]`: a sentence-transformers model of the Hugging Face hub.
    Hub {
        /// Owner and name.
        repo: String,
        /// A branch, tag or commit.
        revision: String,
    },
    /// `endpoint:MODEL`: a model on the server in `$OPENAI_BASE_URL`; sends the texts to it.
    Endpoint(String),
    /// `file:PATH`: vectors in a file, by row (`.npy`) or by text (Parquet).
    File(PathBuf),
}

/// The forms of a name, for help, messages and the schema.
pub const FORMS: &str = "`hashed`, `local:DIR`, `local:hub:OWNER/NAME[@REVISION]`, `endpoint:MODEL` or \
    `file:PATH.npy|PATH.parquet`";

impl EmbedderName {
    /// Opens the embedder.
    ///
    /// # Errors
    /// If its files cannot be read or downloaded, or the address of the server is invalid.
    pub fn open(&self, environment: &Environment) -> Result<Arc<dyn Embedder>, EmbedError> {
        let caches = environment.caches();
        Ok(match self {
            Self::Hashed => Arc::new(Hashed::V2),
            Self::Local(folder) => Arc::new(CachedEmbedder::new(Local::open(folder)?, caches)?),
            Self::Hub { repo, revision } => {
                check_built()?;
                let folder = model_folder(&Hub::of(environment)?, repo, revision, caches, &|| false)?;
                Arc::new(CachedEmbedder::new(Local::open(&folder)?, caches)?)
            }
            Self::Endpoint(model) => {
                let endpoint = Endpoint::new(Client::of(environment)?, model);
                Arc::new(CachedEmbedder::new(endpoint, caches)?)
            }
            Self::File(path) if is_by_row(path) => Arc::new(ByRow::open(path)?),
            Self::File(path) => Arc::new(ByText::open(path)?),
        })
    }

    /// Returns whether its vectors capture meaning, so that texts in other words can be similar. N-grams only capture
    /// spelling.
    pub fn is_semantic(&self) -> bool {
        !matches!(self, Self::Hashed)
    }

    /// Returns the name of the model for files that may be published, without the folder that it is in; `None` for
    /// n-grams.
    pub fn model(&self) -> Option<String> {
        let last = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let name = match self {
            Self::Hashed => return None,
            Self::Local(folder) => last(folder),
            Self::Hub { repo, .. } => repo.clone(),
            Self::Endpoint(model) => model.clone(),
            Self::File(path) => last(path),
        };
        Some(visible_line(&name).into_owned())
    }

    /// Returns whether texts are sent to a server.
    pub fn sends_texts_out(&self) -> bool {
        matches!(self, Self::Endpoint(_))
    }

    /// Checks that vectors are found by text, as stages need.
    ///
    /// # Errors
    /// `embedder must be …, not …`.
    pub fn check_for_texts(&self) -> Result<(), String> {
        match self {
            Self::File(path) if is_by_row(path) => {
                Err(format!("embedder must find vectors by text, not by row as {self} does"))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for EmbedderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hashed => f.write_str("hashed"),
            Self::Local(folder) => write!(f, "local:{}", folder.display()),
            Self::Hub { repo, revision } if revision == MAIN => write!(f, "local:{HUB}{repo}"),
            Self::Hub { repo, revision } => write!(f, "local:{HUB}{repo}@{revision}"),
            Self::Endpoint(model) => write!(f, "endpoint:{model}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

/// The error for an invalid name of an embedder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("embedder must be {FORMS}, not \"{given}\"")]
pub struct EmbedderNameError {
    given: String,
}

impl FromStr for EmbedderName {
    type Err = EmbedderNameError;

    fn from_str(name: &str) -> Result<Self, EmbedderNameError> {
        let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
        match (kind, rest) {
            ("hashed", "") if name == "hashed" => Some(Self::Hashed),
            ("hashed", _) | (_, "") => None,
            ("local", folder) => match folder.strip_prefix(HUB) {
                Some(model) => hub(model),
                None => Some(Self::Local(folder.into())),
            },
            ("endpoint", model) => Some(Self::Endpoint(model.to_owned())),
            ("file", path) => Some(Self::File(path.into())).filter(|_| has_known_ending(path)),
            _ => None,
        }
        .ok_or_else(|| EmbedderNameError { given: name.to_owned() })
    }
}

fn hub(model: &str) -> Option<EmbedderName> {
    parse_model(model).map(|(repo, revision)| EmbedderName::Hub { repo, revision })
}

fn has_known_ending(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default();
    ["npy", "parquet"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

impl TryFrom<String> for EmbedderName {
    type Error = EmbedderNameError;

    fn try_from(name: String) -> Result<Self, EmbedderNameError> {
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
        json_schema!({ "type": "string", "pattern": "^(hashed|local:.+|endpoint:.+|file:.+\\.(npy|parquet))$" })
    }
}

/// An embedder chosen in settings, opened on first use.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "EmbedderName", into = "EmbedderName")]
pub struct ChosenEmbedder {
    name: EmbedderName,
    environment: Environment,
    opened: OnceLock<Arc<dyn Embedder>>,
}

impl ChosenEmbedder {
    /// Sets the environment with caches, servers and keys.
    pub fn set_environment(&mut self, environment: &Environment) {
        self.environment = environment.clone();
    }

    /// Returns the embedder, opening it on first use.
    ///
    /// # Errors
    /// As [`EmbedderName::open`].
    pub fn open(&self) -> Result<&dyn Embedder, EmbedError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened.as_ref());
        }
        let opened = self.name.open(&self.environment)?;
        Ok(self.opened.get_or_init(|| opened).as_ref())
    }

    /// Returns the name of the embedder.
    pub fn name(&self) -> &EmbedderName {
        &self.name
    }
}

impl From<EmbedderName> for ChosenEmbedder {
    fn from(name: EmbedderName) -> Self {
        Self { name, environment: Environment::default(), opened: OnceLock::new() }
    }
}

impl From<ChosenEmbedder> for EmbedderName {
    fn from(chosen: ChosenEmbedder) -> Self {
        chosen.name
    }
}

impl fmt::Debug for ChosenEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(repo: &str, revision: &str) -> EmbedderName {
        EmbedderName::Hub { repo: repo.to_owned(), revision: revision.to_owned() }
    }

    #[test]
    fn names_survive_a_round_trip() {
        for (name, expected) in [
            ("hashed", EmbedderName::Hashed),
            ("local:models/mini", EmbedderName::Local("models/mini".into())),
            ("local:/a b/c:d", EmbedderName::Local("/a b/c:d".into())),
            ("local:hub:org/mini-2.v", hub("org/mini-2.v", "main")),
            ("local:hub:org/mini@v2", hub("org/mini", "v2")),
            ("endpoint:nomic:latest", EmbedderName::Endpoint("nomic:latest".to_owned())),
            ("file:v/rows.npy", EmbedderName::File("v/rows.npy".into())),
            ("file:By.Text.PARQUET", EmbedderName::File("By.Text.PARQUET".into())),
        ] {
            let read: EmbedderName = name.parse().unwrap();
            assert_eq!((&read, read.to_string().as_str()), (&expected, name));
            let json = serde_json::to_value(ChosenEmbedder::from(read)).unwrap();
            assert_eq!(json, name);
            assert_eq!(serde_json::from_value::<ChosenEmbedder>(json).unwrap().name(), &expected);
        }
    }

    #[test]
    fn a_model_is_named_without_its_folder() {
        let model = |name: &str| name.parse::<EmbedderName>().unwrap().model();
        for (name, expected) in [
            ("local:/home/somebody/models/mini", "mini"),
            ("local:hub:org/mini@v2", "org/mini"),
            ("endpoint:nomic:latest", "nomic:latest"),
            ("file:/home/somebody/v.parquet", "v.parquet"),
        ] {
            assert_eq!(model(name).as_deref(), Some(expected));
        }
        assert_eq!(model("hashed"), None);
    }

    #[test]
    fn the_error_for_an_invalid_name_lists_the_forms() {
        for name in
            ["", "hash", "hashed:", "Hashed", "local", "local:", "file:", "file:rows.csv", "endless:x"]
        {
            let message = name.parse::<EmbedderName>().unwrap_err().to_string();
            assert_eq!(message, format!("embedder must be {FORMS}, not \"{name}\""));
        }
    }

    #[test]
    fn only_an_endpoint_sends_texts_out() {
        let sends = |name: &str| name.parse::<EmbedderName>().unwrap().sends_texts_out();
        assert!(sends("endpoint:m"));
        assert!(!["hashed", "local:m", "local:hub:a/b", "file:a.parquet"].into_iter().any(sends));
    }

    #[test]
    fn stages_refuse_vectors_by_row() {
        let checked = |name: &str| name.parse::<EmbedderName>().unwrap().check_for_texts();
        assert!(checked("file:rows.npy").unwrap_err().contains("file:rows.npy"));
        assert_eq!(
            [checked("file:a.parquet"), checked("hashed"), checked("local:m")],
            [Ok(()), Ok(()), Ok(())]
        );
    }
}
