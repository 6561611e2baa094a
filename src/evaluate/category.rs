//! How each category of the leaderboard is scored, V1 to V4.

use crate::checker::{Kind, Language};

/// How the outputs of a category are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scoring {
    /// Calls against the ground truth.
    Calls(Kind, Language),
    /// Whether there is a call at all: true if there must be one.
    Relevance(bool),
    /// Recorded results of calls against the recorded results of the ground truth.
    Executable,
    /// A recorded response of a server against the stored one.
    Rest,
    /// Not scored, with the reason.
    NotScored(&'static str),
}

/// Returns how a category is scored, by parts of its name as the official evaluator does.
pub fn scoring(category: &str) -> Scoring {
    let has = |part: &str| category.contains(part);
    if has("multi_turn") {
        Scoring::NotScored(
            "multi-turn: its score depends on the state of simulated services, which only the official package runs",
        )
    } else if has("memory") || has("web_search") {
        Scoring::NotScored(
            "agentic: its score depends on memory or web search services, which only the official package runs",
        )
    } else if has("format_sensitivity") {
        Scoring::NotScored(
            "format sensitivity: each id has 26 prompt formats, which only the official package reads",
        )
    } else if has("sql") || has("chatable") {
        Scoring::NotScored("retired: the official evaluator has never scored it")
    } else if has("exec") {
        Scoring::Executable
    } else if category == "rest" {
        Scoring::Rest
    } else if has("irrelevance") {
        Scoring::Relevance(false)
    } else if has("relevance") {
        Scoring::Relevance(true)
    } else if has("javascript") {
        Scoring::Calls(Kind::of_category(category), Language::JavaScript)
    } else if has("java") {
        Scoring::Calls(Kind::of_category(category), Language::Java)
    } else {
        Scoring::Calls(Kind::of_category(category), Language::Python)
    }
}

/// Returns the name that V4 has for a category: V1 to V3 name the languages otherwise.
pub fn current_name(category: &str) -> &str {
    match category {
        "simple" => "simple_python",
        "java" => "simple_java",
        "javascript" => "simple_javascript",
        other => other,
    }
}

/// Returns version and category of a file name: `BFCL_<version>_<category>.json`, or the form of V1,
/// `gorilla_openfunctions_v1_test_<category>.json`.
///
/// The relevance file of V1 is what later versions call irrelevance: no function fits.
pub fn of_file_name(name: &str) -> Option<(String, String)> {
    let stem = name.strip_suffix(".json")?;
    if let Some(category) = stem.strip_prefix("gorilla_openfunctions_v1_test_") {
        let category = category.strip_suffix("_function").unwrap_or(category);
        let category = match category {
            "relevance" => "irrelevance".to_owned(),
            other => other.replace("executable_", "exec_"),
        };
        return Some(("v1".to_owned(), category));
    }
    let (version, category) = stem.strip_prefix("BFCL_")?.split_once('_')?;
    Some((version.to_owned(), category.to_owned()))
}

/// Returns the folder of a category in the official score and result folders.
pub fn folder(category: &str) -> &'static str {
    if category.starts_with("live") { "live" } else { "non_live" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_of_all_versions_are_scored_by_their_rules() {
        let calls = |kind, language| Scoring::Calls(kind, language);
        for (category, expected) in [
            ("simple", calls(Kind::Simple, Language::Python)),
            ("simple_java", calls(Kind::Simple, Language::Java)),
            ("javascript", calls(Kind::Simple, Language::JavaScript)),
            ("live_parallel_multiple", calls(Kind::Parallel, Language::Python)),
            ("live_irrelevance", Scoring::Relevance(false)),
            ("live_relevance", Scoring::Relevance(true)),
            ("exec_parallel", Scoring::Executable),
            ("rest", Scoring::Rest),
        ] {
            assert_eq!(scoring(category), expected, "{category}");
        }
        assert!(matches!(scoring("multi_turn_base"), Scoring::NotScored(_)));
    }

    #[test]
    fn file_names_of_v1_get_the_names_of_later_versions() {
        let category =
            |name: &str| of_file_name(name).map(|(version, category)| format!("{version} {category}"));
        assert_eq!(category("BFCL_v3_live_simple.json").as_deref(), Some("v3 live_simple"));
        let v1 = |category: &str| format!("gorilla_openfunctions_v1_test_{category}.json");
        assert_eq!(category(&v1("relevance")).as_deref(), Some("v1 irrelevance"));
        assert_eq!(category(&v1("executable_parallel_function")).as_deref(), Some("v1 exec_parallel"));
        assert_eq!(category("README.md"), None);
    }
}
