//! A recogniser that runs a token-classification model of the BERT family on this machine.
//!
//! A folder has `config.json` with `id2label`, `model.safetensors` and a tokenizer. Long texts are read in windows. A word
//! is part of a value if the labels of the kind together have at least half of the probability. The same text has the same
//! places on the same machine, with any other texts and any number of threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device};
use rayon::prelude::*;
use serde::Deserialize;
use tokenizers::{Encoding, Tokenizer};

use super::decode::{Word, places};
use super::labels::{self, Label};
use super::windows::{Window, windows};
use crate::encoder::files::{CONFIG, TOKENIZER, WEIGHTS, bad, bytes, hash, required};
use crate::encoder::tokens::read_tokenizer;
use crate::encoder::{Config, Encoder, ModelError, batches};
use callsieve_engine::context::Cancelled;
use callsieve_privacy::PrivacyKind;
use callsieve_privacy::people::Place;

/// The version of this implementation; raised when the same model has other results.
const VERSION: u32 = 1;
/// The least probability of a kind. Higher finds less.
const LEAST_PROBABILITY: f64 = 0.5;

/// The settings of the head.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id2label: BTreeMap<String, String>,
}

/// A loaded model.
pub struct LocalRecogniser {
    id: String,
    folder: PathBuf,
    tokenizer: Tokenizer,
    encoder: Encoder,
    labels: Vec<Option<Label>>,
    /// The weights of each label, one after the other, and the bias of each.
    weights: Vec<f32>,
    biases: Vec<f32>,
    /// The tokens before and after a text.
    around: [u32; 2],
    max_tokens: usize,
}

impl LocalRecogniser {
    /// Loads a model.
    ///
    /// # Errors
    /// A file is missing or cannot be read, or the model is not supported or marks neither names nor street addresses.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let config: Config = required(folder, CONFIG)?;
        config.check().map_err(|what| bad(&folder.join(CONFIG), what))?;
        let head: Head = required(folder, CONFIG)?;
        let labels = labels::read(&head.id2label).map_err(|what| bad(&folder.join(CONFIG), what))?;
        let (tokenizer, defined_by) = read_tokenizer(folder)?;
        let refuse = |what: String| bad(&folder.join(TOKENIZER), what);
        let empty = tokenizer.encode("", true).map_err(|error| refuse(error.to_string()))?;
        let around = <[u32; 2]>::try_from(empty.get_ids())
            .map_err(|_| refuse("expected one token before and one after a text".to_owned()))?;
        let weights = bytes(folder, WEIGHTS)?;
        let n_labels = labels.len();
        let (head, biases) = read_head(&weights, n_labels, config.n_dims())
            .map_err(|error| bad(&folder.join(WEIGHTS), error))?;
        let parts = [(CONFIG, &*bytes(folder, CONFIG)?), (TOKENIZER, &*defined_by), (WEIGHTS, &*weights)];
        Ok(Self {
            id: format!("local-{}-{}-v{VERSION}", config.model_type, hash(&parts)),
            folder: folder.to_owned(),
            tokenizer,
            labels,
            weights: head,
            biases,
            around,
            max_tokens: config.max_tokens().saturating_sub(around.len()),
            encoder: Encoder::new(folder, &config, weights)?,
        })
    }

    /// Returns the identifier: it depends on the content of the files, and on nothing else.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the places of names and street addresses of each text, in order.
    ///
    /// # Errors
    /// A text cannot be read by the tokenizer, or the run is cancelled.
    pub fn recognise(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vec<Vec<Place>>, ModelError> {
        let encoded: Vec<Encoding> = texts
            .par_iter()
            .map(|text| {
                self.tokenizer.encode(*text, false).map_err(|error| bad(&self.folder.join(TOKENIZER), error))
            })
            .collect::<Result<_, _>>()?;
        let jobs: Vec<(usize, Window)> = encoded
            .iter()
            .enumerate()
            .flat_map(|(at, text)| {
                windows(text.get_word_ids(), self.max_tokens).into_iter().map(move |window| (at, window))
            })
            .collect();
        let ids: Vec<Vec<u32>> = jobs
            .iter()
            .map(|(at, window)| {
                let [before, after] = self.around;
                let inside = &encoded[*at].get_ids()[window.tokens.clone()];
                [&[before], inside, &[after]].concat()
            })
            .collect();
        let mut by_len: Vec<usize> = (0..jobs.len()).collect();
        by_len.sort_by_key(|&at| std::cmp::Reverse(ids[at].len()));
        let labelled: Vec<Vec<(usize, Vec<Option<Label>>)>> = batches(&by_len, |at| ids[at].len())
            .into_par_iter()
            .map(|batch| {
                if cancelled() {
                    return Err(ModelError::Interrupted);
                }
                let rows: Vec<&[u32]> = batch.iter().map(|&at| ids[at].as_slice()).collect();
                let labels = self.label(&rows).map_err(|error| bad(&self.folder, error))?;
                Ok(batch.iter().copied().zip(labels).collect())
            })
            .collect::<Result<_, _>>()?;
        let mut of_texts: Vec<Vec<Option<Label>>> =
            encoded.iter().map(|text| vec![None; text.len()]).collect();
        for (job, labels) in labelled.into_iter().flatten() {
            let (at, window) = &jobs[job];
            let offset = window.own.start - window.tokens.start;
            of_texts[*at][window.own.clone()].copy_from_slice(&labels[offset..offset + window.own.len()]);
        }
        let of_text = |((text, encoded), labels): ((&&str, &Encoding), &Vec<Option<Label>>)| {
            places(text, &words(encoded, labels))
        };
        Ok(texts.par_iter().zip(&encoded).zip(&of_texts).map(of_text).collect())
    }

    /// Returns the label of each token of texts with the same number of tokens, without the tokens around a text.
    fn label(&self, batch: &[&[u32]]) -> candle_core::Result<Vec<Vec<Option<Label>>>> {
        let hidden = self.encoder.hidden(batch)?;
        let (_, n_tokens, n_dims) = hidden.dims3()?;
        let values: Vec<f32> = hidden.flatten_all()?.to_vec1()?;
        let of_text = |text: &[f32]| {
            let inside = &text[n_dims..(n_tokens - 1) * n_dims];
            inside.chunks_exact(n_dims).map(|token| self.label_of(token)).collect()
        };
        Ok(values.chunks_exact(n_tokens * n_dims).map(of_text).collect())
    }

    /// Returns the likeliest label of the kind that has at least half of the probability.
    fn label_of(&self, token: &[f32]) -> Option<Label> {
        let rows = self.weights.chunks_exact(token.len()).zip(&self.biases);
        let logits: Vec<f64> = rows
            .map(|(row, &bias)| {
                let products =
                    row.iter().zip(token).map(|(weight, value)| f64::from(*weight) * f64::from(*value));
                products.sum::<f64>() + f64::from(bias)
            })
            .collect();
        let most = logits.iter().copied().fold(f64::MIN, f64::max);
        let exps: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
        let least = exps.iter().sum::<f64>() * LEAST_PROBABILITY;
        [PrivacyKind::Name, PrivacyKind::StreetAddress].into_iter().find_map(|kind| {
            let of_kind = || {
                let labelled = self.labels.iter().zip(&exps);
                labelled
                    .filter_map(|(label, &exp)| label.filter(|label| label.kind == kind).map(|it| (it, exp)))
            };
            let is_kind = of_kind().map(|(_, exp)| exp).sum::<f64>() >= least;
            let likeliest = of_kind().reduce(|best, next| if next.1 > best.1 { next } else { best });
            likeliest.filter(|_| is_kind).map(|(label, _)| label)
        })
    }
}

/// Joins the tokens of a text to words, each with the label of its first token.
fn words(encoded: &Encoding, labels: &[Option<Label>]) -> Vec<Word> {
    let mut words: Vec<(Option<u32>, Word)> = Vec::new();
    let tokens = encoded.get_word_ids().iter().zip(encoded.get_offsets()).zip(labels);
    for ((&word, &(start, end)), &label) in tokens {
        match words.last_mut() {
            Some((open, last)) if word.is_some() && *open == word => last.bytes.end = end.max(last.bytes.end),
            _ => words.push((word, Word { bytes: start..end, label })),
        }
    }
    words.into_iter().map(|(_, word)| word).filter(|word| !word.bytes.is_empty()).collect()
}

/// Reads the weights and biases of the head.
fn read_head(weights: &[u8], n_labels: usize, n_dims: usize) -> candle_core::Result<(Vec<f32>, Vec<f32>)> {
    let file = candle_core::safetensors::SliceSafetensors::new(weights)?;
    let read = |name: &str, shape: &[usize]| {
        let tensor = file.load(name, &Device::Cpu)?.to_dtype(DType::F32)?;
        if tensor.dims() != shape {
            let found = tensor.dims();
            return Err(candle_core::Error::Msg(format!(
                "{name} has the shape {found:?}, expected {shape:?}"
            )));
        }
        tensor.flatten_all()?.to_vec1::<f32>()
    };
    Ok((read("classifier.weight", &[n_labels, n_dims])?, read("classifier.bias", &[n_labels])?))
}
