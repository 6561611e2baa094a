//! Means of groups of categories, as BFCL V4 and V3 and as two versions of evalscope form them.
//!
//! BFCL gives no mean of a group with a category that has no outputs (its own table shows N/A). evalscope (task `bfcl_v3`)
//! leaves such a category out, so its means say how many of the categories have outputs. Up to 0.17 it shared the categories
//! out among four groups (the column `Cat.0` of its reports) and weighted all by their outputs; 1.14.1 follows the board.

use serde::Serialize;

use super::category::{configuration_of_id, current_name};
use super::figures::{CategoryFigures, float};
use super::{Row, Scored};
use callsieve_text::figures::counted;

/// A mean of several categories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupMean {
    /// Who forms it: `BFCL`, `BFCL V3`, `evalscope` or `evalscope 0.17`.
    pub by: &'static str,
    /// The name.
    pub name: &'static str,
    /// The mean; `None` if a category has no figure.
    pub accuracy: Option<f64>,
    /// What it divides by.
    pub divides_by: String,
}

/// The figures of format sensitivity: how much the accuracy depends on the prompt. Not part of any mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FormatSensitivity {
    /// Largest less smallest accuracy of a configuration.
    pub max_delta: f64,
    /// The standard deviation of the accuracies, of a sample.
    pub sd: f64,
    /// The configurations in the order of the ids.
    pub configurations: Vec<ConfigurationFigures>,
}

/// The outputs with one prompt configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationFigures {
    /// The configuration, as in the ids.
    pub configuration: String,
    /// Scored outputs.
    pub n: usize,
    /// Correct outputs.
    pub correct: usize,
}

impl ConfigurationFigures {
    /// Returns the share of correct outputs.
    pub fn accuracy(&self) -> f64 {
        float(self.correct) / float(self.n)
    }
}

/// An accuracy and the number of outputs behind it.
#[derive(Debug, Clone, Copy)]
struct Share {
    accuracy: f64,
    n: usize,
}

const SIMPLE: [&str; 3] = ["simple_python", "simple_java", "simple_javascript"];
const OTHERS: [&str; 3] = ["multiple", "parallel", "parallel_multiple"];
const LIVE: [&str; 4] = ["live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"];
const IRRELEVANCE: [&str; 2] = ["irrelevance", "live_irrelevance"];
const LIVE_RELEVANCE: [&str; 2] = ["live_irrelevance", "live_relevance"];
const MULTI_TURN: [&str; 4] =
    ["multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"];
const WEB_SEARCH: [&str; 2] = ["web_search_base", "web_search_no_snippet"];
/// The groups of evalscope 0.17 with their categories.
const CAT_0: [(&str, &[&str]); 4] = [
    (
        "AST_NON_LIVE",
        &["simple_python", "multiple", "parallel", "parallel_multiple", "simple_java", "simple_javascript"],
    ),
    ("AST_LIVE", &LIVE),
    ("RELEVANCE", &["irrelevance", "live_relevance", "live_irrelevance"]),
    ("MULTI_TURN", &MULTI_TURN),
];
const MEMORY: [&str; 3] = ["memory_kv", "memory_vector", "memory_rec_sum"];

/// Returns the mean of accuracies.
fn plain(shares: &[Share]) -> Option<Share> {
    let n: usize = shares.iter().map(|share| share.n).sum();
    let sum: f64 = shares.iter().map(|share| share.accuracy).sum();
    (!shares.is_empty()).then(|| Share { accuracy: sum / float(shares.len()), n })
}

/// Returns the mean of accuracies; `None` if one is missing.
fn plain_of_all(shares: &[Option<Share>]) -> Option<Share> {
    plain(&shares.iter().copied().collect::<Option<Vec<_>>>()?)
}

/// Returns the mean of accuracies, each weighted by its outputs.
fn weighted(shares: &[Share]) -> Option<Share> {
    let n: usize = shares.iter().map(|share| share.n).sum();
    let sum: f64 = shares.iter().map(|share| share.accuracy * float(share.n)).sum();
    (n > 0).then(|| Share { accuracy: sum / float(n), n })
}

struct Categories<'f>(&'f [CategoryFigures]);

impl Categories<'_> {
    fn of(&self, name: &str) -> Option<Share> {
        let found = self.0.iter().find(|figures| current_name(&figures.category) == name)?;
        Some(Share { accuracy: found.accuracy, n: found.n })
    }

    /// Returns the shares of all categories; `None` if one has no outputs.
    fn all(&self, names: &[&str]) -> Option<Vec<Share>> {
        names.iter().map(|name| self.of(name)).collect()
    }

    /// Returns the shares of the categories that have outputs.
    fn present(&self, names: &[&str]) -> Vec<Share> {
        names.iter().filter_map(|name| self.of(name)).collect()
    }
}

/// Returns the group means as BFCL and as evalscope form them, the current versions first.
pub fn group_means(figures: &[CategoryFigures]) -> Vec<GroupMean> {
    let categories = Categories(figures);
    let versions: [fn(&Categories<'_>) -> Vec<GroupMean>; 4] =
        [of_bfcl, of_evalscope, of_bfcl_v3, of_evalscope_0_17];
    versions.iter().flat_map(|version| version(&categories)).collect()
}

fn group(
    by: &'static str,
    name: &'static str,
    share: Option<Share>,
    divides_by: impl Into<String>,
) -> GroupMean {
    GroupMean { by, name, accuracy: share.map(|share| share.accuracy), divides_by: divides_by.into() }
}

fn of_bfcl(categories: &Categories<'_>) -> Vec<GroupMean> {
    let mean = |names: &[&str]| plain(&categories.all(names)?);
    let simple = mean(&SIMPLE);
    let [multiple, parallel, parallel_multiple] = OTHERS.map(|name| categories.of(name));
    let non_live = plain_of_all(&[simple, multiple, parallel, parallel_multiple]);
    let live = categories.all(&LIVE).and_then(|shares| weighted(&shares));
    let irrelevance = mean(&IRRELEVANCE);
    let multi_turn = mean(&MULTI_TURN);
    let (web_search, memory) = (mean(&WEB_SEARCH), mean(&MEMORY));
    let agentic = plain_of_all(&[web_search, memory]);
    let parts = [(non_live, 0.1), (live, 0.1), (irrelevance, 0.1), (multi_turn, 0.3), (agentic, 0.4)];
    let overall: Option<f64> =
        parts.iter().map(|(part, weight)| part.map(|part| part.accuracy * weight)).sum::<Option<f64>>();
    let overall = overall.map(|accuracy| Share { accuracy, n: 0 });
    let live_n = live.map_or_else(
        || "the outputs of 4 categories".to_owned(),
        |live| format!("{} of 4 categories", counted(live.n as u64, "output", "outputs")),
    );
    vec![
        group("BFCL", "simple", simple, "3 categories: python, java, javascript"),
        group("BFCL", "non-live", non_live, "4 groups: simple, multiple, parallel, parallel_multiple"),
        group("BFCL", "live", live, live_n),
        group("BFCL", "irrelevance", irrelevance, "2 categories: irrelevance, live_irrelevance"),
        group(
            "BFCL",
            "relevance",
            categories.of("live_relevance"),
            "1 category, not part of BFCL's overall score",
        ),
        group("BFCL", "multi-turn", multi_turn, "4 categories"),
        group("BFCL", "web search", web_search, "2 categories"),
        group("BFCL", "memory", memory, "3 categories"),
        group("BFCL", "agentic", agentic, "2 groups: web search, memory"),
        group(
            "BFCL",
            "OVERALL",
            overall,
            "weights of V4: 10 % non-live, 10 % live, 10 % irrelevance, 30 % multi-turn, 40 % agentic",
        ),
    ]
}

fn of_evalscope(categories: &Categories<'_>) -> Vec<GroupMean> {
    let one = |name: &str| categories.of(name);
    let those = |shares: &[Option<Share>]| shares.iter().flatten().copied().collect::<Vec<_>>();
    let present = |names: &[&[&str]]| names.concat().iter().filter(|name| one(name).is_some()).count();
    let simple = plain(&categories.present(&SIMPLE));
    let [multiple, parallel, parallel_multiple] = OTHERS.map(one);
    let calls = plain(&those(&[simple, multiple, parallel, parallel_multiple]));
    let non_live = plain(&those(&[calls, one("irrelevance")]));
    let live_calls = weighted(&categories.present(&LIVE));
    let live = weighted(&those(&[live_calls, weighted(&categories.present(&LIVE_RELEVANCE))]));
    let augmented = weighted(&categories.present(&MULTI_TURN[1..]));
    let multi_turn = plain(&those(&[one(MULTI_TURN[0]), augmented]));
    let groups = those(&[non_live, live, multi_turn]);
    let n_non_live = present(&[&SIMPLE, &OTHERS, &["irrelevance"]]);
    let n_live = present(&[&LIVE, &LIVE_RELEVANCE]);
    let n_multi_turn = present(&[&MULTI_TURN]);
    vec![
        group(
            "evalscope",
            "NON_LIVE",
            non_live,
            format!("calls and irrelevance; {}", of_its_tasks(n_non_live, 7)),
        ),
        group(
            "evalscope",
            "LIVE",
            live,
            format!(
                "{}; {}",
                counted(live.map_or(0, |live| live.n) as u64, "output", "outputs"),
                of_its_tasks(n_live, 6)
            ),
        ),
        group(
            "evalscope",
            "MULTI_TURN",
            multi_turn,
            format!("base and the other three; {}", of_its_tasks(n_multi_turn, 4)),
        ),
        group(
            "evalscope",
            "OVERALL",
            plain(&groups),
            format!("{} of 3 groups; {}", groups.len(), of_its_tasks(n_non_live + n_live + n_multi_turn, 17)),
        ),
    ]
}

/// The means of BFCL V3 (bfcl-eval 2025.6.16): abstentions are part of non-live and live, and the overall score is the mean of
/// the three groups.
fn of_bfcl_v3(categories: &Categories<'_>) -> Vec<GroupMean> {
    let simple = categories.all(&SIMPLE).and_then(|shares| plain(&shares));
    let [multiple, parallel, parallel_multiple] = OTHERS.map(|name| categories.of(name));
    let non_live =
        plain_of_all(&[simple, multiple, parallel, parallel_multiple, categories.of("irrelevance")]);
    let live = categories.all(&[&LIVE[..], &LIVE_RELEVANCE].concat()).and_then(|shares| weighted(&shares));
    let multi_turn = categories.all(&MULTI_TURN).and_then(|shares| plain(&shares));
    let by = "BFCL V3";
    vec![
        group(
            by,
            "non-live",
            non_live,
            "5 groups: simple, multiple, parallel, parallel_multiple, irrelevance",
        ),
        group(by, "live", live, "the outputs of 6 categories"),
        group(
            by,
            "OVERALL",
            plain_of_all(&[non_live, live, multi_turn]),
            "3 groups: non-live, live, multi-turn",
        ),
    ]
}

/// The means of evalscope 0.17: all outputs of each group of `Cat.0`, and all outputs.
fn of_evalscope_0_17(categories: &Categories<'_>) -> Vec<GroupMean> {
    let groups = CAT_0.map(|(name, of)| {
        let present = categories.present(of);
        (name, weighted(&present), present.len(), of.len())
    });
    let mean = |name: &'static str, share: Option<Share>, n: usize, of: usize| {
        let outputs = counted(share.map_or(0, |share| share.n) as u64, "output", "outputs");
        group("evalscope 0.17", name, share, format!("{outputs}; {}", of_its_tasks(n, of)))
    };
    let shares: Vec<Share> = groups.iter().filter_map(|(_, share, ..)| *share).collect();
    let n_present = groups.iter().map(|(_, _, n, _)| n).sum();
    let n_tasks = groups.iter().map(|(.., of)| of).sum();
    let of_groups = groups.map(|(name, share, n, of)| mean(name, share, n, of));
    of_groups.into_iter().chain([mean("OVERALL", weighted(&shares), n_present, n_tasks)]).collect()
}

/// Says how many of the tasks of a group have outputs.
fn of_its_tasks(n: usize, of: usize) -> String {
    format!("{n} of its {of} tasks {} outputs", if n == 1 { "has" } else { "have" })
}

/// Returns the figures of format sensitivity, if there are outputs of it.
pub(super) fn format_sensitivity(rows: &[Row<'_>]) -> Option<FormatSensitivity> {
    let mut configurations: Vec<ConfigurationFigures> = Vec::new();
    for Row { result, scored: Scored { valid, .. } } in rows {
        let Some(name) = configuration_of_id(&result.id) else { continue };
        let at = configurations.iter().position(|of| of.configuration == name).unwrap_or_else(|| {
            configurations.push(ConfigurationFigures { configuration: name.to_owned(), n: 0, correct: 0 });
            configurations.len() - 1
        });
        configurations[at].n += 1;
        configurations[at].correct += usize::from(*valid);
    }
    let accuracies: Vec<f64> = configurations.iter().map(ConfigurationFigures::accuracy).collect();
    let n = float(accuracies.len());
    let largest = accuracies.iter().copied().reduce(f64::max)?;
    let smallest = accuracies.iter().copied().reduce(f64::min)?;
    let mean = accuracies.iter().sum::<f64>() / n;
    let squares: f64 = accuracies.iter().map(|accuracy| (accuracy - mean).powi(2)).sum();
    let sd = if accuracies.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
    Some(FormatSensitivity { max_delta: largest - smallest, sd, configurations })
}

#[cfg(test)]
mod tests {
    use super::super::figures::wilson;
    use super::*;

    fn figures(category: &str, correct: usize, n: usize) -> CategoryFigures {
        CategoryFigures {
            category: category.to_owned(),
            n,
            correct,
            accuracy: float(correct) / float(n),
            interval: wilson(correct, n),
            missing: 0,
            only_dots_differ: 0,
            unparsed_calls: 0,
            error_texts: 0,
            aborts: 0,
            errors: Vec::new(),
        }
    }

    fn mean(means: &[GroupMean], by: &str, name: &str) -> Option<f64> {
        means.iter().find(|mean| mean.by == by && mean.name == name).unwrap().accuracy
    }

    #[test]
    fn live_is_weighted_by_bfcl_and_a_missing_category_has_no_mean() {
        let all = [
            figures("live_simple", 1, 2),
            figures("live_multiple", 8, 8),
            figures("live_parallel", 0, 1),
            figures("live_parallel_multiple", 1, 1),
        ];
        let means = group_means(&all);
        assert!((mean(&means, "BFCL", "live").unwrap() - 10.0 / 12.0).abs() < 1e-12);
        assert_eq!(mean(&means, "BFCL", "non-live"), None);
        assert_eq!(mean(&group_means(&all[..3]), "BFCL", "live"), None);
        assert!((mean(&group_means(&all[..3]), "evalscope", "LIVE").unwrap() - 9.0 / 11.0).abs() < 1e-12);
    }

    /// By hand from the steps of evalscope's `bfcl_v3_adapter.py`.
    #[test]
    fn means_of_evalscope_follow_its_steps() {
        let all = [
            figures("simple", 1, 2),
            figures("java", 1, 1),
            figures("multiple", 1, 4),
            figures("irrelevance", 1, 1),
            figures("live_simple", 1, 4),
            figures("live_irrelevance", 3, 4),
            figures("multi_turn_base", 1, 2),
            figures("multi_turn_miss_func", 0, 1),
            figures("multi_turn_miss_param", 2, 2),
        ];
        let means = group_means(&all);
        let of = |name| mean(&means, "evalscope", name).unwrap();
        // simple 0.75; calls (0.75 + 0.25) / 2 = 0.5; with irrelevance (0.5 + 1) / 2.
        assert!((of("NON_LIVE") - 0.75).abs() < 1e-12);
        assert!((of("LIVE") - 0.5).abs() < 1e-12);
        assert!((of("MULTI_TURN") - f64::midpoint(0.5, 2.0 / 3.0)).abs() < 1e-12);
        assert!((of("OVERALL") - (0.75 + 0.5 + f64::midpoint(0.5, 2.0 / 3.0)) / 3.0).abs() < 1e-12);
        let overall = means.iter().find(|mean| mean.by == "evalscope" && mean.name == "OVERALL").unwrap();
        assert_eq!(overall.divides_by, "3 of 3 groups; 9 of its 17 tasks have outputs");
    }

    /// By hand from `SUBJECT_MAPPING` and `micro_mean` of evalscope 0.17.0: right ones of all outputs.
    #[test]
    fn means_of_evalscope_0_17_count_all_outputs_of_a_group() {
        let all = [
            figures("simple", 1, 2),
            figures("java", 1, 1),
            figures("multiple", 1, 4),
            figures("irrelevance", 1, 1),
            figures("live_irrelevance", 3, 4),
            figures("multi_turn_base", 1, 2),
        ];
        let means = group_means(&all);
        let of = |name| mean(&means, "evalscope 0.17", name);
        let close = |name, expected: f64| assert!((of(name).unwrap() - expected).abs() < 1e-12, "{name}");
        close("AST_NON_LIVE", 3.0 / 7.0);
        close("RELEVANCE", 4.0 / 5.0);
        close("MULTI_TURN", 0.5);
        close("OVERALL", 8.0 / 14.0);
        assert_eq!(of("AST_LIVE"), None);
        assert_eq!(means.last().unwrap().divides_by, "14 outputs; 6 of its 17 tasks have outputs");
    }

    /// By hand from `generate_leaderboard_csv` of bfcl-eval 2025.6.16.
    #[test]
    fn the_overall_score_of_v3_is_the_mean_of_its_three_groups() {
        let names = [&SIMPLE[..], &OTHERS, &["irrelevance"], &LIVE, &LIVE_RELEVANCE, &MULTI_TURN].concat();
        let all: Vec<CategoryFigures> = names
            .iter()
            .map(|&name| match name {
                "simple_java" => figures(name, 0, 4),
                "live_multiple" => figures(name, 10, 10),
                "live_irrelevance" => figures(name, 0, 5),
                _ => figures(name, 1, 2),
            })
            .collect();
        let means = group_means(&all);
        let non_live = (1.0 / 3.0 + 4.0 * 0.5) / 5.0;
        let live = (10.0 + 4.0) / 23.0;
        let of = |name| mean(&means, "BFCL V3", name).unwrap();
        assert!((of("non-live") - non_live).abs() < 1e-12);
        assert!((of("live") - live).abs() < 1e-12);
        assert!((of("OVERALL") - (non_live + live + 0.5) / 3.0).abs() < 1e-12);
        assert_eq!(mean(&group_means(&all[1..]), "BFCL V3", "OVERALL"), None);
    }

    #[test]
    fn the_overall_score_of_v4_has_its_weights() {
        let names = [&SIMPLE[..], &OTHERS, &LIVE, &IRRELEVANCE, &MULTI_TURN, &WEB_SEARCH, &MEMORY].concat();
        let all: Vec<CategoryFigures> = names
            .iter()
            .map(|name| {
                let correct = if MULTI_TURN.contains(name) {
                    2
                } else if MEMORY.contains(name) {
                    4
                } else {
                    1
                };
                figures(name, correct, 4)
            })
            .collect();
        let means = group_means(&all);
        // 0.3 of 0.25, 0.3 of 0.5, 0.4 of the mean of 0.25 and 1.
        assert!((mean(&means, "BFCL", "OVERALL").unwrap() - (0.075 + 0.15 + 0.25)).abs() < 1e-12);
        assert_eq!(mean(&group_means(&all[1..]), "BFCL", "OVERALL"), None);
    }

    #[test]
    fn names_of_v3_are_in_the_simple_group() {
        let all = [figures("simple", 1, 1), figures("java", 0, 1), figures("javascript", 0, 1)];
        assert_eq!(group_means(&all)[0].accuracy.map(|mean| (mean * 3.0).round()), Some(1.0));
    }
}
