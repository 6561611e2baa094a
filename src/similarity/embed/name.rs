//! How a person names an embedder, in settings and on the command line.
//!
//! One grammar for both: a kind, and behind a colon what it needs. Naming one opens nothing:
//! a pipeline is checked without its models and without a network. [`Chosen`] opens it once,
//! when it is used.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::cache::{Cached, default_dir};
use super::file::{ByRow, ByText, is_by_row};
use super::hashed::Hashed;
use super::local::Local;
use super::{EmbedError, Embedder};

/// What turns texts into vectors, by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EmbedderName {
    /// `hashed`: hashed pieces of words; no model, no download.
    #[default]
    Hashed,
    /// `local:DIR`: a sentence-transformers model in a folder.
    Local(PathBuf),
    /// `file:PATH`: vectors that were made elsewhere, by row (`.npy`) or by text (Parquet).
    File(PathBuf),
}

/// The forms of a name, for help, messages and the schema.
pub const FORMS: &str = "`hashed`, `local:DIR` or `file:PATH.npy|PATH.parquet`";

impl EmbedderName {
    /// Makes the embedder ready.
    ///
    /// # Errors
    /// Its files cannot be read.
    pub fn open(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        Ok(match self {
            Self::Hashed => Arc::new(Hashed::V1),
            Self::Local(folder) => Arc::new(Cached::new(Local::open(folder)?, &default_dir())?),
            Self::File(path) if is_by_row(path) => Arc::new(ByRow::open(path)?),
            Self::File(path) => Arc::new(ByText::open(path)?),
        })
    }

    /// Whether texts leave the machine.
    pub fn sends_texts_out(&self) -> bool {
        match self {
            Self::Hashed | Self::Local(_) | Self::File(_) => false,
        }
    }

    /// Checks that vectors are found by text, as stages ask for them.
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
            Self::File(path) => write!(f, "file:{}", path.display()),
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
        let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
        match (kind, rest) {
            ("hashed", "") if name == "hashed" => Some(Self::Hashed),
            ("hashed", _) | (_, "") => None,
            ("local", folder) => Some(Self::Local(folder.into())),
            ("file", path) => Some(Self::File(path.into())).filter(|_| has_known_ending(path)),
            _ => None,
        }
        .ok_or_else(|| NotAnEmbedder { given: name.to_owned() })
    }
}

fn has_known_ending(path: &str) -> bool {
    let ending = path.rsplit('.').next().unwrap_or_default();
    ["npy", "parquet"].iter().any(|known| ending.eq_ignore_ascii_case(known))
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
        json_schema!({ "type": "string", "pattern": "^(hashed|local:.+|file:.+\\.(npy|parquet))$" })
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
        Ok(self.opened.get_or_init(|| opened).as_ref())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_as_it_is_written() {
        for (name, expected) in [
            ("hashed", EmbedderName::Hashed),
            ("local:models/mini", EmbedderName::Local("models/mini".into())),
            ("local:/a b/c:d", EmbedderName::Local("/a b/c:d".into())),
            ("file:v/rows.npy", EmbedderName::File("v/rows.npy".into())),
            ("file:By.Text.PARQUET", EmbedderName::File("By.Text.PARQUET".into())),
        ] {
            let read: EmbedderName = name.parse().unwrap();
            assert_eq!((&read, read.to_string().as_str()), (&expected, name));
            let json = serde_json::to_value(Chosen::from(read)).unwrap();
            assert_eq!(json, name);
            assert_eq!(serde_json::from_value::<Chosen>(json).unwrap().name(), &expected);
        }
    }

    #[test]
    fn what_is_no_name_is_refused_with_the_forms() {
        for name in
            ["", "hash", "hashed:", "Hashed", "local", "local:", "file:", "file:rows.csv", "endless:x"]
        {
            let message = name.parse::<EmbedderName>().unwrap_err().to_string();
            assert_eq!(message, format!("embedder must be {FORMS}, not \"{name}\""));
        }
    }

    #[test]
    fn stages_ask_by_text_and_refuse_vectors_by_row() {
        let checked = |name: &str| name.parse::<EmbedderName>().unwrap().check_for_texts();
        assert!(checked("file:rows.npy").unwrap_err().contains("file:rows.npy"));
        assert_eq!(
            [checked("file:a.parquet"), checked("hashed"), checked("local:m")],
            [Ok(()), Ok(()), Ok(())]
        );
    }
}
