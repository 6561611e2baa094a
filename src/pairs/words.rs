//! Pairs and clusters by ROUGE-L.

use super::rows::Rows;
use super::{PairsError, PairsOptions, PairsSink, joined, pass_leaders, pass_pairs};
use crate::similarity::Pair;
use crate::similarity::rouge::join::{join, self_join};
use crate::similarity::rouge::leaders::merge_into_leaders;
use crate::similarity::rouge::texts::{Measure, Texts};

/// Finds pairs or leaders, and returns their number and that of the rows without a token, which are in no pair; moves the texts
/// out of the rows.
pub(super) fn compare(
    options: &PairsOptions,
    measure: Measure,
    rows: &mut Rows,
    sink: &mut dyn PairsSink,
) -> Result<(u64, u64), PairsError> {
    // The texts themselves are not needed while their tokens are joined.
    let texts = Texts::encode_for(measure, &std::mem::take(&mut rows.texts), options.tokenizer);
    let n_without_tokens = (0..texts.len()).filter(|&at| texts.n_tokens(at) == 0).count() as u64;
    let threshold = options.threshold;
    sink.begin(texts.n_tokens_of_all() as u64, texts.join_bytes(threshold) as u64);
    let tokenizer = |a, b| Some(texts.tokenizer_of(a, b).name());
    if options.clusters {
        let merges = merge_into_leaders(&texts, threshold, &|| false).unwrap_or_default();
        return Ok((pass_leaders(rows, &merges, tokenizer, sink)?, n_without_tokens));
    }
    let n_first = if options.b.is_some() { rows.n_first } else { 0 };
    let mut n_pairs = 0_u64;
    let take = |pairs: &[Pair]| {
        n_pairs += pairs.len() as u64;
        pass_pairs(rows, n_first, pairs, tokenizer, sink)
    };
    joined(match options.b {
        None => self_join(&texts, threshold, &|| false, take),
        Some(_) => join(&texts, n_first, threshold, &|| false, take),
    })?;
    Ok((n_pairs, n_without_tokens))
}
