//! An embedder that runs a sentence-transformers model of the BERT family on the CPU.
//!
//! Texts are sorted by their number of tokens, and only texts with the same number are in one
//! batch, so a row has the same bits with any other texts in its batch (`encoder`). Batches run on all
//! threads. The files of the model determine length, pooling and prompt; vectors are always
//! scaled to unit length. GPUs and quantised models are not supported.

mod folder;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use tokenizers::{Tokenizer, TruncationParams};

use self::folder::{Folder, Pooling};
use super::{EmbedError, Embedder, to_unit_length};
use crate::encoder::files::{TOKENIZER, bad};
use crate::encoder::{Encoder, ModelError, batches};
use callsieve_engine::context::Cancelled;
use callsieve_similarity::vectors::Vectors;

/// The version of this implementation; raised when the same model has other results.
const VERSION: u32 = 1;

/// A loaded model.
pub struct Local {
    id: String,
    folder: PathBuf,
    tokenizer: Tokenizer,
    encoder: Encoder,
    pooling: Pooling,
    lower_case: bool,
    prompt: String,
    n_dims: usize,
}

impl Local {
    /// Loads a model.
    ///
    /// # Errors
    /// If a file is missing or cannot be read, or the model is not supported.
    pub fn open(folder: &Path) -> Result<Self, EmbedError> {
        let read = Folder::read(folder)?;
        let n_dims = read.config.n_dims();
        let pooled = read.pooling.name();
        let id = format!(
            "local-{}-{}-{pooled}-{}-{n_dims}-v{VERSION}",
            read.config.model_type, read.hash, read.max_tokens
        );
        Ok(Self {
            id,
            folder: folder.to_owned(),
            tokenizer: tokenizer(folder, &read)?,
            encoder: Encoder::new(folder, &read.config, read.weights)?,
            pooling: read.pooling,
            lower_case: read.lower_case,
            prompt: read.prompt,
            n_dims,
        })
    }

    /// Returns the token ids of a text.
    fn tokens(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let mut text = format!("{}{}", self.prompt, text.trim());
        if self.lower_case {
            text = text.to_lowercase();
        }
        let encoded = self.tokenizer.encode_fast(text, true);
        Ok(encoded.map_err(|error| bad(&self.folder.join(TOKENIZER), error))?.get_ids().to_vec())
    }

    /// Returns the vectors of texts with the same number of tokens, scaled to unit length.
    fn embed_batch(&self, batch: &[&[u32]]) -> candle_core::Result<Vec<f32>> {
        let hidden = self.encoder.hidden(batch)?;
        let pooled = match self.pooling {
            Pooling::Mean => hidden.mean(1)?,
            Pooling::Cls => hidden.narrow(1, 0, 1)?.squeeze(1)?,
        };
        let mut values = pooled.flatten_all()?.to_vec1()?;
        values.chunks_exact_mut(self.n_dims).for_each(to_unit_length);
        Ok(values)
    }
}

/// Loads the model's tokenizer, with truncation and without padding.
fn tokenizer(folder: &Path, read: &Folder) -> Result<Tokenizer, ModelError> {
    let bad = |error| bad(&folder.join(TOKENIZER), error);
    let mut tokenizer = Tokenizer::from_bytes(&read.tokenizer).map_err(bad)?;
    let truncation = TruncationParams { max_length: read.max_tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(bad)?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

impl Embedder for Local {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        let tokens: Vec<Vec<u32>> =
            texts.par_iter().map(|text| self.tokens(text)).collect::<Result<_, _>>()?;
        let mut by_len: Vec<usize> = (0..texts.len()).collect();
        by_len.sort_by_key(|&at| std::cmp::Reverse(tokens[at].len()));
        let embedded: Vec<Vec<f32>> = batches(&by_len, |at| tokens[at].len())
            .into_par_iter()
            .map(|batch| {
                if cancelled() {
                    return Err(EmbedError::Interrupted);
                }
                let ids: Vec<&[u32]> = batch.iter().map(|&at| tokens[at].as_slice()).collect();
                self.embed_batch(&ids).map_err(|error| bad(&self.folder, error).into())
            })
            .collect::<Result<_, _>>()?;
        let mut values = vec![0.0; texts.len() * self.n_dims];
        let rows = embedded.iter().flat_map(|batch| batch.chunks_exact(self.n_dims));
        for (&at, row) in by_len.iter().zip(rows) {
            values[at * self.n_dims..][..self.n_dims].copy_from_slice(row);
        }
        Ok(Vectors::new(self.n_dims, values))
    }
}
