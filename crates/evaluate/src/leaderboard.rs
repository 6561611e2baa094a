//! The table of the leaderboard, `data_overall.csv`: columns, means, ranks and rounding of bfcl-eval 2026.3.23.
//!
//! As there, a category without outputs shows `N/A` and counts as 0 in the means that have a number, and a mean of the columns of one
//! kind is `N/A` if one of them is. Categories that are no part of the dataset weigh as many outputs as those of V4.

use super::SystemScore;
use super::category::current_name;
use super::dataset::Dataset;
use super::figures::float;

/// The name of the file.
pub const FILE: &str = "data_overall.csv";

/// The columns.
pub const COLUMNS: [&str; 36] = [
    "Rank",
    "Overall Acc",
    "Model",
    "Model Link",
    "Total Cost ($)",
    "Latency Mean (s)",
    "Latency Standard Deviation (s)",
    "Latency 95th Percentile (s)",
    "Non-Live AST Acc",
    "Non-Live Simple AST",
    "Non-Live Multiple AST",
    "Non-Live Parallel AST",
    "Non-Live Parallel Multiple AST",
    "Live Acc",
    "Live Simple AST",
    "Live Multiple AST",
    "Live Parallel AST",
    "Live Parallel Multiple AST",
    "Multi Turn Acc",
    "Multi Turn Base",
    "Multi Turn Miss Func",
    "Multi Turn Miss Param",
    "Multi Turn Long Context",
    "Web Search Acc",
    "Web Search Base",
    "Web Search No Snippet",
    "Memory Acc",
    "Memory KV",
    "Memory Vector",
    "Memory Recursive Summarization",
    "Relevance Detection",
    "Irrelevance Detection",
    "Format Sensitivity Max Delta",
    "Format Sensitivity Standard Deviation",
    "Organization",
    "License",
];

/// US dollars an hour of the machine on which the official board runs local models.
const DOLLARS_AN_HOUR: f64 = 23.92;
/// Requests that this machine answers at once.
const AT_ONCE: f64 = 100.0;
/// Entries of the categories of Live in V4, by which its mean is weighted.
const LIVE: [(&str, usize); 4] =
    [("live_simple", 258), ("live_multiple", 1053), ("live_parallel", 16), ("live_parallel_multiple", 24)];
/// What is not known.
const NONE: &str = "N/A";

/// A score as the package counts it.
#[derive(Clone, Copy)]
struct Score {
    accuracy: f64,
    n: usize,
    is_missing: bool,
}

impl Score {
    /// In percent; `N/A` if something is missing.
    fn shown(self) -> String {
        if self.is_missing { NONE.to_owned() } else { percent(self.accuracy) }
    }
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// The mean; missing if one of the scores is.
fn plain(scores: &[Score]) -> Score {
    Score {
        accuracy: scores.iter().map(|score| score.accuracy).sum::<f64>() / float(scores.len().max(1)),
        n: scores.iter().map(|score| score.n).sum(),
        is_missing: scores.iter().any(|score| score.is_missing),
    }
}

/// The mean, each score weighted by its entries.
fn weighted(scores: &[Score]) -> Score {
    let n: usize = scores.iter().map(|score| score.n).sum();
    let sum: f64 = scores.iter().map(|score| score.accuracy * float(score.n)).sum();
    Score { accuracy: sum / float(n.max(1)), n, is_missing: scores.iter().any(|score| score.is_missing) }
}

/// The line of a system, without its rank, with what it is ranked by.
fn line(system: &SystemScore<'_>, dataset: &Dataset) -> (f64, Vec<String>) {
    let of = |name: &str| -> Score {
        if let Some(found) = system.categories.iter().find(|of| current_name(&of.category) == name) {
            return Score { accuracy: found.accuracy, n: found.n, is_missing: false };
        }
        let of_dataset = dataset.categories.iter().find(|category| current_name(&category.name) == name);
        let official = || LIVE.iter().find(|(live, _)| *live == name).map_or(0, |(_, n)| *n);
        Score {
            accuracy: 0.0,
            n: of_dataset.map_or_else(official, |found| found.entries.len()),
            is_missing: true,
        }
    };
    let all = |names: &[&str]| names.iter().map(|name| of(name)).collect::<Vec<Score>>();
    let simple = plain(&all(&["simple_python", "simple_java", "simple_javascript"]));
    let non_live = [vec![simple], all(&["multiple", "parallel", "parallel_multiple"])].concat();
    let live = all(&LIVE.map(|(name, _)| name));
    let multi_turn =
        all(&["multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"]);
    let web_search = all(&["web_search_base", "web_search_no_snippet"]);
    let memory = all(&["memory_kv", "memory_vector", "memory_rec_sum"]);
    let irrelevance = plain(&all(&["irrelevance", "live_irrelevance"]));
    let agentic = plain(&[plain(&web_search), plain(&memory)]);
    let overall = plain(&non_live).accuracy * 0.1
        + weighted(&live).accuracy * 0.1
        + irrelevance.accuracy * 0.1
        + plain(&multi_turn).accuracy * 0.3
        + agentic.accuracy * 0.4;
    let (cost, latency) = cost_and_latency(system);
    let formats = system.formats.as_ref().map_or_else(
        || [NONE, NONE].map(str::to_owned),
        |formats| [formats.max_delta, formats.sd].map(|share| rounded(share * 100.0)),
    );
    let shown = |scores: &[Score]| scores.iter().map(|score| score.shown()).collect::<Vec<String>>();
    let cells = [
        vec![percent(overall), system.name.to_owned(), NONE.to_owned(), cost],
        latency.to_vec(),
        vec![plain(&non_live).shown()],
        shown(&non_live),
        vec![percent(weighted(&live).accuracy)],
        shown(&live),
        vec![percent(plain(&multi_turn).accuracy)],
        shown(&multi_turn),
        vec![plain(&web_search).shown()],
        shown(&web_search),
        vec![plain(&memory).shown()],
        shown(&memory),
        vec![of("live_relevance").shown(), irrelevance.shown()],
        formats.to_vec(),
        vec![NONE.to_owned(), NONE.to_owned()],
    ];
    (overall, cells.concat())
}

/// What the outputs cost: by their tokens, or by the time of the official board's machine where no price is known.
fn cost_and_latency(system: &SystemScore<'_>) -> (String, [String; 3]) {
    let priced = system.cost.as_ref().filter(|cost| cost.n > 0).map(|cost| cost.usd);
    let of_machine = || system.latency.map(|seconds| seconds.sum / 3600.0 * DOLLARS_AN_HOUR / AT_ONCE);
    let cost = priced.or_else(of_machine).map_or_else(|| NONE.to_owned(), rounded);
    let latency = system.latency.map_or_else(
        || [NONE; 3].map(str::to_owned),
        |seconds| [seconds.mean, seconds.sd, seconds.p95].map(rounded),
    );
    (cost, latency)
}

/// A number with at most two decimals, and at least one, as Python writes it.
fn rounded(number: f64) -> String {
    let rounded: f64 = format!("{number:.2}").parse().unwrap_or(number);
    format!("{rounded:?}")
}

/// A cell of CSV; names of systems may have commas.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Returns the table of these systems, the best first.
pub fn table(systems: &[SystemScore<'_>], dataset: &Dataset) -> String {
    let mut lines: Vec<(f64, Vec<String>)> = systems.iter().map(|system| line(system, dataset)).collect();
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut text = COLUMNS.join(",");
    for (rank, (_, cells)) in (1..).zip(lines) {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        text += &format!("\n{rank},{}", cells.join(","));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        for (number, expected) in
            [(1.0, "1.0"), (0.125, "0.12"), (12.345, "12.35"), (0.5, "0.5"), (1234.5, "1234.5")]
        {
            assert_eq!(rounded(number), expected);
        }
        assert_eq!(percent(0.123_45), "12.35%");
        assert_eq!(cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
