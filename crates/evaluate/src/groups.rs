//! Means of groups of categories, as BFCL V4 and as evalscope form them.
//!
//! BFCL gives no mean of a group with a category that has no outputs (its own table shows N/A). evalscope (1.14.1, task
//! `bfcl_v3`) leaves such a category out, so its means say how many of the categories have outputs.

use serde::Serialize;

use super::category::{configuration_of_id, current_name};
use super::figures::{CategoryFigures, float};
use super::{Row, Scored};
use callsieve_text::figures::counted;

/// A mean of several categories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupMean {
    /// Who forms it: `BFCL` or `evalscope`.
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
const MEMORY: [&str; 3] = ["memory_kv", "memory_vector", "memory_rec_sum"];

/// Returns the mean of accuracies.
fn plain(shares: &[Share]) -> Option<Share> {
    let n: usize = shares.iter().map(|share| share.n).sum();
    let sum: f64 = shares.iter().map(|share| share.accuracy).sum();
    (!shares.is_empty()).then(|| Share { accuracy: sum / float(shares.len()), n })
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

/// Returns the group means as BFCL V4 and as evalscope form them.
pub fn group_means(figures: &[CategoryFigures]) -> Vec<GroupMean> {
    let categories = Categories(figures);
    let mut groups = of_bfcl(&categories);
    groups.extend(of_evalscope(&categories));
    groups
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
    let all = |shares: &[Option<Share>]| plain(&shares.iter().copied().collect::<Option<Vec<_>>>()?);
    let simple = mean(&SIMPLE);
    let [multiple, parallel, parallel_multiple] = OTHERS.map(|name| categories.of(name));
    let non_live = all(&[simple, multiple, parallel, parallel_multiple]);
    let live = categories.all(&LIVE).and_then(|shares| weighted(&shares));
    let irrelevance = mean(&IRRELEVANCE);
    let multi_turn = mean(&MULTI_TURN);
    let (web_search, memory) = (mean(&WEB_SEARCH), mean(&MEMORY));
    let agentic = all(&[web_search, memory]);
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
    let n_of = |n: usize, of: usize| {
        format!("{n} of its {of} tasks {} outputs", if n == 1 { "has" } else { "have" })
    };
    let n_non_live = present(&[&SIMPLE, &OTHERS, &["irrelevance"]]);
    let n_live = present(&[&LIVE, &LIVE_RELEVANCE]);
    let n_multi_turn = present(&[&MULTI_TURN]);
    vec![
        group("evalscope", "NON_LIVE", non_live, format!("calls and irrelevance; {}", n_of(n_non_live, 7))),
        group(
            "evalscope",
            "LIVE",
            live,
            format!(
                "{}; {}",
                counted(live.map_or(0, |live| live.n) as u64, "output", "outputs"),
                n_of(n_live, 6)
            ),
        ),
        group(
            "evalscope",
            "MULTI_TURN",
            multi_turn,
            format!("base and the other three; {}", n_of(n_multi_turn, 4)),
        ),
        group(
            "evalscope",
            "OVERALL",
            plain(&groups),
            format!("{} of 3 groups; {}", groups.len(), n_of(n_non_live + n_live + n_multi_turn, 17)),
        ),
    ]
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
        let divides_by = &means.last().unwrap().divides_by;
        assert_eq!(divides_by, "3 of 3 groups; 9 of its 17 tasks have outputs");
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
