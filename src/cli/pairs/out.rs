//! The output of `pairs`: one JSON object per line, and messages about rows that are not compared.

use std::fmt::Write as _;
use std::io;

use super::PairsArgs;
use crate::cli::console::{self, count, counted};
use crate::pairs::{CosineReport, FoundPair, PairsSink, SkippedRows};
use crate::similarity::cosine::rows::Unfit;
use crate::text::figures::bytes;
use crate::text::visible::visible_line;

/// Skipped rows that are named one by one; the others are only counted.
const MAX_NAMED: usize = 5;

/// Prints pairs as lines.
pub(super) struct Lines<'a> {
    pub(super) args: &'a PairsArgs,
}

impl PairsSink for Lines<'_> {
    fn skipped(&mut self, rows: &SkippedRows<'_>) {
        let (path, field) = (rows.path.display(), &self.args.field);
        for (line, fault) in rows.unreadable.iter().take(MAX_NAMED) {
            let detail = visible_line(&fault.detail);
            console::print_status(&format!("{path}:{line}: {}: {detail}", fault.reason));
        }
        let n_more = rows.unreadable.len().saturating_sub(MAX_NAMED);
        if n_more > 0 {
            let n_more = counted(n_more as u64, "more row", "more rows");
            console::print_status(&format!("{path}: {n_more} cannot be read"));
        }
        let without_text = rows.without_text;
        if !without_text.is_empty() {
            let named: Vec<String> = without_text.iter().take(MAX_NAMED).map(ToString::to_string).collect();
            let n_rows = counted(without_text.len() as u64, "row has", "rows have");
            let more = if without_text.len() > MAX_NAMED { ", …" } else { "" };
            let named = named.join(", ");
            console::print_status(&format!("{path}: {n_rows} no text at {field}: {named}{more}"));
        }
    }

    fn begin(&mut self, n_tokens: u64, n_bytes: u64) {
        if !self.args.quiet {
            let (tokens, memory) = (count(n_tokens), bytes(n_bytes));
            console::print_status(&format!(
                "comparing texts with {tokens} tokens in total; about {memory} of memory"
            ));
        }
    }

    fn pairs(&mut self, pairs: &[FoundPair<'_>]) -> io::Result<()> {
        let names = if self.args.clusters { ["id", "leader"] } else { ["a", "b"] };
        let mut text = String::new();
        for pair in pairs {
            line(&mut text, names, pair);
        }
        console::write_json(&text)
    }
}

fn line(text: &mut String, [one, other]: [&str; 2], pair: &FoundPair<'_>) {
    let FoundPair { a, b, score, tokenizer, .. } = *pair;
    let scored = score.map_or_else(String::new, |score| {
        // A float as JSON writes it: 1.0, not 1.
        let by = tokenizer.map(|name| format!(",\"tokenizer\":\"{name}\"")).unwrap_or_default();
        format!(",\"score\":{score:?}{by}")
    });
    writeln!(text, "{{\"{one}\":{a},\"{other}\":{b}{scored}}}").expect("a string takes all");
}

/// Reports the rows that cannot match, and what a search may have missed.
pub(super) fn report(cosine: &CosineReport, is_quiet: bool) {
    report_unfit(&cosine.unfit_a);
    report_unfit(&cosine.unfit_b);
    let Some(search) = cosine.search.filter(|_| !is_quiet) else { return };
    let recall = search.recall;
    let (found, all) = (recall.n_found as u64, counted(recall.n_pairs as u64, "pair", "pairs"));
    console::print_status(&format!(
        "approximate search: found {found} of {all} in a sample of {} rows, with up to {} neighbours each",
        recall.n_rows, search.max_k
    ));
}

/// Reports rows whose vectors cannot be compared.
fn report_unfit(rows: &[(String, Unfit)]) {
    let word = |why: Unfit| match why {
        Unfit::Zero => "is zero",
        Unfit::NotANumber => "has values that are not numbers",
        Unfit::Infinite => "has infinite values",
    };
    for (id, why) in rows.iter().take(MAX_NAMED) {
        console::print_status(&format!("warning: row {id} is in no pair, because its vector {}", word(*why)));
    }
    let n_more = rows.len().saturating_sub(MAX_NAMED) as u64;
    if n_more > 0 {
        let n_more = counted(n_more, "more row is", "more rows are");
        console::print_status(&format!("warning: {n_more} in no pair, because of their vectors"));
    }
}
