//! A loaded encoder, and the batches that it takes.

use std::path::Path;

use candle_core::{Device, Tensor};

use super::ModelError;
use super::bert::{Bert, Config};
use super::files::{WEIGHTS, bad};

/// Maximum number of tokens in a batch, except for a single longer text. Higher reads the weights less often but
/// exceeds the CPU caches.
const BATCH_TOKENS: usize = 512;

/// The `gemm` crate sums matrix products up to this size, and products with a single row, in another order. Smaller
/// batches repeat their texts, so that a text has the same bits in any batch.
const SMALL_PRODUCT: usize = 256;

/// A loaded encoder.
pub(crate) struct Encoder {
    bert: Bert,
    n_dims: usize,
}

impl Encoder {
    /// Reads the weights of an encoder; `folder` is for messages.
    pub(crate) fn new(folder: &Path, config: &Config, weights: Vec<u8>) -> Result<Self, ModelError> {
        let bert = Bert::new(config, weights).map_err(|error| bad(&folder.join(WEIGHTS), error))?;
        Ok(Self { bert, n_dims: config.n_dims() })
    }

    /// Returns the last hidden state of texts with the same number of tokens: (texts, tokens, dimensions).
    pub(crate) fn hidden(&self, batch: &[&[u32]]) -> candle_core::Result<Tensor> {
        let n_tokens = batch.first().map_or(0, |ids| ids.len()).max(1);
        let min_tokens = (SMALL_PRODUCT / self.n_dims + 1).max(2);
        let n_texts = batch.len().max(min_tokens.div_ceil(n_tokens));
        let ids: Vec<u32> = batch.iter().cycle().take(n_texts).copied().flatten().copied().collect();
        let ids = Tensor::from_vec(ids, (n_texts, n_tokens), &Device::Cpu)?;
        self.bert.forward(&ids)?.narrow(0, 0, batch.len())
    }
}

/// Groups texts with the same number of tokens into batches; `by_len` has the texts in order of their number of tokens.
pub(crate) fn batches(by_len: &[usize], len: impl Fn(usize) -> usize) -> Vec<&[usize]> {
    let of_one_len = by_len.chunk_by(|&a, &b| len(a) == len(b));
    of_one_len.flat_map(|run| run.chunks((BATCH_TOKENS / len(run[0]).max(1)).max(1))).collect()
}
