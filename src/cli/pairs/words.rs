//! `pairs --metric rouge-l` and `rouge-lsum`.

use super::rows::Rows;
use super::{PairsArgs, out, written};
use crate::cli::console::{self, count, counted};
use crate::similarity::Pair;
use crate::similarity::rouge::join::{join, self_join};
use crate::similarity::rouge::leaders::merge_into_leaders;
use crate::similarity::rouge::texts::{Measure, Texts};
use crate::text::figures::bytes;

/// Writes pairs or clusters and returns the summary; moves the texts out of the rows.
pub(super) fn compare(args: &PairsArgs, measure: Measure, rows: &mut Rows) -> anyhow::Result<String> {
    // The texts themselves are not needed while their tokens are joined.
    let texts = Texts::encode_for(measure, &std::mem::take(&mut rows.texts), args.tokenizer);
    let threshold = args.rouge_threshold();
    if !args.quiet {
        console::print_status(&format!(
            "comparing texts with {} tokens in total; about {} of memory",
            count(texts.n_tokens_of_all() as u64),
            bytes(texts.join_bytes(threshold) as u64)
        ));
    }
    if args.clusters {
        return clusters(rows, &texts, args);
    }
    let n_first = if args.b.is_some() { rows.n_first } else { 0 };
    let mut n_pairs = 0_u64;
    let take = |pairs: &[Pair]| {
        n_pairs += pairs.len() as u64;
        out::pairs(rows, n_first, pairs, |a, b| Some(texts.tokenizer_of(a, b).name()))
    };
    written(match args.b {
        None => self_join(&texts, threshold, &|| false, take),
        Some(_) => join(&texts, n_first, threshold, &|| false, take),
    })?;
    Ok(format!("{} above {threshold}", counted(n_pairs, "pair", "pairs")))
}

fn clusters(rows: &Rows, texts: &Texts, args: &PairsArgs) -> anyhow::Result<String> {
    let merges = merge_into_leaders(texts, args.rouge_threshold(), &|| false).unwrap_or_default();
    out::clusters(rows, &merges, |row, leader| Some(texts.tokenizer_of(row, leader).name()))?;
    let n_merged = merges.iter().flatten().count() as u64;
    Ok(format!("{} merged into an earlier one", counted(n_merged, "is", "are")))
}
