//! The files of a model folder, and reading them.
//!
//! Only these files are read, and only these are downloaded from the hub. What a folder means (an embedder, a recogniser)
//! is decided by its readers.

use std::fmt::Display;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::ModelError;
use callsieve_engine::error::{At as _, Error};
use callsieve_engine::fingerprint::Fingerprint;

pub(crate) const CONFIG: &str = "config.json";
pub(crate) const TOKENIZER: &str = "tokenizer.json";
pub(crate) const VOCABULARY: &str = "vocab.txt";
pub(crate) const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
pub(crate) const WEIGHTS: &str = "model.safetensors";
pub(crate) const MODULES: &str = "modules.json";
pub(crate) const SENTENCE: &str = "sentence_bert_config.json";
pub(crate) const PROMPTS: &str = "config_sentence_transformers.json";

/// Number of digits of the hash in an id.
const N_HASH_DIGITS: usize = 16;

/// A module of a sentence-transformers model, which may be in a subfolder.
#[derive(Deserialize)]
pub(crate) struct Module {
    pub(crate) path: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

impl Module {
    /// Returns the modules of a model, if it lists them.
    pub(crate) fn list(folder: &Path) -> Result<Option<Vec<Self>>, ModelError> {
        optional(folder, MODULES)
    }
}

/// Returns the digits of a hash of the parts of a model.
pub(crate) fn hash(parts: &[(&str, &[u8])]) -> String {
    let mut fingerprint = Fingerprint::default();
    for (label, bytes) in parts {
        fingerprint.add_part(label, bytes);
    }
    let mut hash = fingerprint.finish();
    hash.truncate(N_HASH_DIGITS);
    hash
}

/// Reads a file.
pub(crate) fn bytes(folder: &Path, name: &str) -> Result<Vec<u8>, ModelError> {
    let path = folder.join(name);
    Ok(std::fs::read(&path).at("reading", &path)?)
}

/// Reads a file with JSON.
pub(crate) fn required<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<T, ModelError> {
    serde_json::from_slice(&bytes(folder, name)?).map_err(|error| bad(&folder.join(name), error))
}

/// Reads a file with JSON; `None` if there is no such file.
pub(crate) fn optional<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>, ModelError> {
    match required(folder, name) {
        Err(ModelError::File(Error::File { cause, .. })) if cause.kind() == std::io::ErrorKind::NotFound => {
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Returns the error for a file of a model that cannot be used.
pub(crate) fn bad(path: &Path, what: impl Display) -> ModelError {
    ModelError::Model { path: path.to_owned(), what: what.to_string() }
}
