//! The output of `pairs`: one JSON object per line.

use std::fmt::Write as _;
use std::io;

use super::rows::Rows;
use crate::cli::console;
use crate::similarity::{Merge, Pair};

/// Lines that are written at a time.
const LINES_AT_A_TIME: usize = 4_096;

/// Writes pairs; `b` counts from the row `n_first` on.
pub(super) fn pairs(
    rows: &Rows,
    n_first: usize,
    pairs: &[Pair],
    tokenizer: impl Fn(usize, usize) -> Option<&'static str>,
) -> io::Result<()> {
    for pairs in pairs.chunks(LINES_AT_A_TIME) {
        let mut text = String::new();
        for pair in pairs {
            let (a, b) = (pair.a as usize, n_first + pair.b as usize);
            line(&mut text, [("a", &rows.ids[a]), ("b", &rows.ids[b])], Some((pair.score, tokenizer(a, b))));
        }
        console::write_json(&text)?;
    }
    Ok(())
}

/// Writes each row with the leader of its cluster.
pub(super) fn clusters(
    rows: &Rows,
    merges: &[Option<Merge>],
    tokenizer: impl Fn(usize, usize) -> Option<&'static str>,
) -> io::Result<()> {
    let merges: Vec<(usize, &Option<Merge>)> = merges.iter().enumerate().collect();
    for merges in merges.chunks(LINES_AT_A_TIME) {
        let mut text = String::new();
        for &(at, merge) in merges {
            let leader = merge.map_or(at, |merge| merge.leader);
            let score = merge.map(|merge| (merge.score, tokenizer(at, leader)));
            line(&mut text, [("id", &rows.ids[at]), ("leader", &rows.ids[leader])], score);
        }
        console::write_json(&text)?;
    }
    Ok(())
}

fn line(text: &mut String, ids: [(&str, &String); 2], score: Option<(f64, Option<&str>)>) {
    let [(one, id), (other, other_id)] = ids;
    let scored = score.map_or_else(String::new, |(score, tokenizer)| {
        // A float as JSON writes it: 1.0, not 1.
        let by = tokenizer.map(|name| format!(",\"tokenizer\":\"{name}\"")).unwrap_or_default();
        format!(",\"score\":{score:?}{by}")
    });
    writeln!(text, "{{\"{one}\":{id},\"{other}\":{other_id}{scored}}}").expect("a string takes all");
}
