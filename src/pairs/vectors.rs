//! Pairs and clusters by the cosine of vectors.

use std::io;

use super::rows::Rows;
use super::{CosineReport, PairsError, PairsOptions, PairsSink, Search, joined, pass_leaders, pass_pairs};
use crate::environment::Environment;
use crate::similarity::cosine::join::{Notes, join, self_join};
use crate::similarity::cosine::plan::{Graph, Plan};
use crate::similarity::cosine::rows::Skipped;
use crate::similarity::vectors::Vectors;
use crate::similarity::{Merge, Pair};

/// Finds pairs or leaders and returns their number.
pub(super) fn compare(
    options: &PairsOptions,
    rows: &Rows,
    environment: &Environment,
    sink: &mut dyn PairsSink,
) -> Result<(u64, CosineReport), PairsError> {
    let embedder = options.embedder.open(environment)?;
    let texts: Vec<&str> = rows.texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed_rows(&texts, &|| false)?;
    let (n_found, notes) = if options.clusters {
        let (merges, notes) = leaders(options, rows, vectors)?;
        (pass_leaders(rows, &merges, |_, _| None, sink)?, notes)
    } else {
        let n_first = if options.b.is_some() { rows.n_first } else { 0 };
        let mut n_pairs = 0_u64;
        let notes = find(options, rows, vectors, |pairs| {
            n_pairs += pairs.len() as u64;
            pass_pairs(rows, n_first, pairs, |_, _| None, sink)
        })?;
        (n_pairs, notes)
    };
    let unfit = |skipped: &[Skipped], first: usize| {
        let named = |skipped: &Skipped| (rows.ids[first + skipped.row as usize].clone(), skipped.why);
        skipped.iter().map(named).collect()
    };
    let report = CosineReport {
        embedder: embedder.id(),
        unfit_a: unfit(&notes.skipped_a, 0),
        unfit_b: unfit(&notes.skipped_b, rows.n_first),
        search: notes.search,
    };
    Ok((n_found, report))
}

/// Finds for each row the earlier leader with the highest cosine. Pairs are ordered by their first row, so it is known
/// whether that row is a leader before its pairs are seen.
fn leaders(
    options: &PairsOptions,
    rows: &Rows,
    vectors: Vectors,
) -> Result<(Vec<Option<Merge>>, Notes), PairsError> {
    let mut merges: Vec<Option<Merge>> = vec![None; rows.texts.len()];
    let notes = find(options, rows, vectors, |pairs| {
        for pair in pairs {
            let (leader, row) = (pair.a as usize, pair.b as usize);
            let is_better = merges[row].is_none_or(|best| pair.score > best.score);
            if merges[leader].is_none() && is_better {
                merges[row] = Some(Merge { leader, score: pair.score });
            }
        }
        Ok(())
    })?;
    Ok((merges, notes))
}

fn find(
    options: &PairsOptions,
    rows: &Rows,
    vectors: Vectors,
    take: impl FnMut(&[Pair]) -> io::Result<()>,
) -> Result<Notes, PairsError> {
    if options.search == Search::Approximate && !Plan::HAS_GRAPHS {
        return Err(PairsError::Input(
            "this build has no approximate search\nhint: compare all rows (`--search exact`), or build it with graphs: `cargo install --path . --features ann`".to_owned(),
        ));
    }
    let (n_rows, n_dims, threshold) = (vectors.len(), vectors.n_dims(), options.threshold.into());
    let plan = |cheaper: Plan| match options.search {
        Search::Auto => cheaper,
        Search::Exact => Plan::Exact,
        Search::Approximate => Plan::Approximate(Graph::default()),
    };
    if options.b.is_none() {
        let plan = plan(Plan::of_self_join(n_rows, n_dims));
        return joined(self_join(&vectors, threshold, plan, &|| false, take));
    }
    let plan = plan(Plan::of_join(rows.n_first, n_rows - rows.n_first, n_dims));
    let (a, b) = vectors.split_at(rows.n_first);
    joined(join(&a, &b, threshold, plan, &|| false, take))
}
