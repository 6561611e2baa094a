//! The folder of a sentence-transformers model: its configuration files, and a hash of its content.
//!
//! Unsupported settings that would change a vector are an error and never ignored: a module
//! other than encoder, pooling and norm, another pooling, another kind of encoder.

use std::path::Path;

use serde::Deserialize;

use crate::encoder::files::{CONFIG, MODULES, Module, PROMPTS, SENTENCE, TOKENIZER, WEIGHTS};
use crate::encoder::files::{bad, bytes, hash, optional, required};
use crate::encoder::{Config, ModelError};

/// The method to combine the vectors of tokens to the vector of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// The mean of all tokens.
    Mean,
    /// The vector of the first token.
    Cls,
}

impl Pooling {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        }
    }
}

/// The content of a model folder.
pub(super) struct Folder {
    pub(super) config: Config,
    pub(super) tokenizer: Vec<u8>,
    pub(super) weights: Vec<u8>,
    pub(super) pooling: Pooling,
    /// Texts are truncated after this number of tokens.
    pub(super) max_tokens: usize,
    pub(super) lower_case: bool,
    /// The text that is prepended to each text.
    pub(super) prompt: String,
    /// Hex digits of a hash of encoder, tokenizer, case and prompt.
    pub(super) hash: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sentence {
    max_seq_length: Option<usize>,
    do_lower_case: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Prompts {
    prompts: std::collections::BTreeMap<String, String>,
    default_prompt_name: Option<String>,
}

impl Folder {
    /// Reads a folder.
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        let config: Config = required(folder, CONFIG)?;
        config.check().map_err(|what| bad(&folder.join(CONFIG), what))?;
        let (tokenizer, weights) = (bytes(folder, TOKENIZER)?, bytes(folder, WEIGHTS)?);
        let sentence: Sentence = optional(folder, SENTENCE)?.unwrap_or_default();
        let (most, prompt) = (config.max_tokens(), prompt(folder)?);
        Ok(Self {
            pooling: pooling(folder)?,
            max_tokens: sentence.max_seq_length.map_or(most, |given| given.min(most)),
            lower_case: sentence.do_lower_case,
            hash: hash(&[
                (CONFIG, &bytes(folder, CONFIG)?),
                (TOKENIZER, &tokenizer),
                (WEIGHTS, &weights),
                (SENTENCE, &[u8::from(sentence.do_lower_case)]),
                (PROMPTS, prompt.as_bytes()),
            ]),
            prompt,
            config,
            tokenizer,
            weights,
        })
    }
}

/// Returns the pooling in the list of modules; the mean if there is no list.
fn pooling(folder: &Path) -> Result<Pooling, ModelError> {
    let Some(modules) = Module::list(folder)? else { return Ok(Pooling::Mean) };
    let mut pooling = None;
    for module in &modules {
        match module.kind.rsplit('.').next().unwrap_or_default() {
            "Transformer" | "Normalize" => {}
            "Pooling" => pooling = Some(one_pooling(folder, &format!("{}/{CONFIG}", module.path))?),
            other => return Err(bad(&folder.join(MODULES), format!("module {other} is not supported"))),
        }
    }
    pooling.ok_or_else(|| bad(&folder.join(MODULES), "expected a pooling module, found none"))
}

fn one_pooling(folder: &Path, file: &str) -> Result<Pooling, ModelError> {
    let settings: serde_json::Map<String, serde_json::Value> = required(folder, file)?;
    let modes = settings.iter().filter(|(key, on)| key.starts_with("pooling_mode_") && **on == true);
    match modes.map(|(key, _)| key.as_str()).collect::<Vec<_>>()[..] {
        ["pooling_mode_mean_tokens"] => Ok(Pooling::Mean),
        ["pooling_mode_cls_token"] => Ok(Pooling::Cls),
        ref modes => {
            Err(bad(&folder.join(file), format!("pooling must be either mean or cls, not {modes:?}")))
        }
    }
}

/// Returns the default prompt, which is prepended to every text.
fn prompt(folder: &Path) -> Result<String, ModelError> {
    let prompts: Prompts = optional(folder, PROMPTS)?.unwrap_or_default();
    let Some(name) = prompts.default_prompt_name else { return Ok(String::new()) };
    let unknown = || bad(&folder.join(PROMPTS), format!("there is no prompt {name}"));
    prompts.prompts.get(&name).cloned().ok_or_else(unknown)
}
