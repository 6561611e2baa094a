//! `pairs --metric cosine`.

use std::io;

use super::rows::Rows;
use super::{MAX_NAMED, PairsArgs, Search, out, written};
use crate::cli::console::{self, counted};
use crate::environment::Environment;
use crate::similarity::cosine::join::{Notes, join, self_join};
use crate::similarity::cosine::plan::{Graph, Plan};
use crate::similarity::cosine::rows::{Skipped, Unfit};
use crate::similarity::vectors::Vectors;
use crate::similarity::{Merge, Pair};

/// Writes pairs or clusters and returns the summary.
pub(super) fn compare(args: &PairsArgs, rows: &Rows, environment: &Environment) -> anyhow::Result<String> {
    let embedder = args.embedder.open(environment)?;
    let texts: Vec<&str> = rows.texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed_rows(&texts, &|| false)?;
    let id = embedder.id();
    if args.clusters {
        return clusters(args, rows, &vectors, &id);
    }
    let n_first = if args.b.is_some() { rows.n_first } else { 0 };
    let mut n_pairs = 0_u64;
    let notes = joined(args, rows, vectors, |pairs| {
        n_pairs += pairs.len() as u64;
        out::pairs(rows, n_first, pairs, |_, _| None)
    })?;
    report(args, rows, &notes);
    Ok(format!("{} from {} on by {id}", counted(n_pairs, "pair", "pairs"), args.threshold()))
}

/// Finds for each row the earlier leader with the highest cosine. Pairs are ordered by their first row, so it is known
/// whether that row is a leader before its pairs are seen.
fn clusters(args: &PairsArgs, rows: &Rows, vectors: &Vectors, id: &str) -> anyhow::Result<String> {
    let mut merges: Vec<Option<Merge>> = vec![None; rows.texts.len()];
    let notes = joined(args, rows, vectors.clone(), |pairs| {
        for pair in pairs {
            let (leader, row) = (pair.a as usize, pair.b as usize);
            let is_better = merges[row].is_none_or(|best| pair.score > best.score);
            if merges[leader].is_none() && is_better {
                merges[row] = Some(Merge { leader, score: pair.score });
            }
        }
        Ok(())
    })?;
    report(args, rows, &notes);
    out::clusters(rows, &merges, |_, _| None)?;
    let n_merged = merges.iter().flatten().count() as u64;
    Ok(format!("{} merged into an earlier one by {id}", counted(n_merged, "is", "are")))
}

fn joined(
    args: &PairsArgs,
    rows: &Rows,
    vectors: Vectors,
    take: impl FnMut(&[Pair]) -> io::Result<()>,
) -> anyhow::Result<Notes> {
    if matches!(args.search, Search::Approximate) && !Plan::HAS_GRAPHS {
        anyhow::bail!(
            "this build has no approximate search\nhint: compare all rows (`--search exact`), or build it with graphs: `cargo install --path . --features ann`"
        );
    }
    let (n_rows, n_dims, threshold) = (vectors.len(), vectors.n_dims(), args.threshold().into());
    let plan = |cheaper: Plan| match args.search {
        Search::Auto => cheaper,
        Search::Exact => Plan::Exact,
        Search::Approximate => Plan::Approximate(Graph::default()),
    };
    if args.b.is_none() {
        let plan = plan(Plan::of_self_join(n_rows, n_dims));
        return written(self_join(&vectors, threshold, plan, &|| false, take));
    }
    let plan = plan(Plan::of_join(rows.n_first, n_rows - rows.n_first, n_dims));
    let (a, b) = vectors.split_at(rows.n_first);
    written(join(&a, &b, threshold, plan, &|| false, take))
}

/// Reports the rows that cannot match, and what a search may have missed.
fn report(args: &PairsArgs, rows: &Rows, notes: &Notes) {
    report_skipped(rows, &notes.skipped_a, 0);
    report_skipped(rows, &notes.skipped_b, rows.n_first);
    let Some(search) = notes.search.filter(|_| !args.quiet) else { return };
    let recall = search.recall;
    let (found, all) = (recall.n_found as u64, counted(recall.n_pairs as u64, "pair", "pairs"));
    console::print_status(&format!(
        "approximate search: found {found} of {all} in a sample of {} rows, with up to {} neighbours each",
        recall.n_rows, search.max_k
    ));
}

fn report_skipped(rows: &Rows, skipped: &[Skipped], first: usize) {
    let word = |why: Unfit| match why {
        Unfit::Zero => "is zero",
        Unfit::NotANumber => "has values that are not numbers",
        Unfit::Infinite => "has infinite values",
    };
    for Skipped { row, why } in skipped.iter().take(MAX_NAMED) {
        let id = &rows.ids[first + *row as usize];
        console::print_status(&format!("warning: row {id} is in no pair, because its vector {}", word(*why)));
    }
    let n_more = skipped.len().saturating_sub(MAX_NAMED) as u64;
    if n_more > 0 {
        console::print_status(&format!(
            "warning: {} in no pair, because of their vectors",
            counted(n_more, "more row is", "more rows are")
        ));
    }
}
