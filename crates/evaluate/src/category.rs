//! How each category of the leaderboard is scored, V1 to V4.

use callsieve_bfcl::files::QuestionName;
use callsieve_checker::decode::OutputFormat;
use callsieve_checker::{Kind, Language};

/// The category that has entries of others in several prompt configurations. It is part of no mean.
pub const FORMAT_SENSITIVITY: &str = "format_sensitivity";

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
    /// Calls in the format that the id names, against the ground truth of another category.
    Formats,
    /// Only by the official package, with the reason.
    Official(&'static str),
    /// Not scored, with the reason.
    NotScored(&'static str),
}

impl Scoring {
    /// Returns whether the calls would have to be executed: only recorded results are scored.
    pub fn is_executable(self) -> bool {
        matches!(self, Self::Executable | Self::Rest)
    }
}

/// Returns how a category is scored, by parts of its name as the official evaluator does.
pub fn scoring(category: &str) -> Scoring {
    let has = |part: &str| category.contains(part);
    if has("multi_turn") {
        Scoring::Official("multi-turn: the state of simulated services counts; --engine official scores it")
    } else if has("memory") || has("web_search") {
        Scoring::Official("agentic: the last answer counts; --engine official scores it")
    } else if has("format_sensitivity") {
        Scoring::Formats
    } else if has("sql") || has("chatable") {
        Scoring::NotScored("retired: the official evaluator skips it")
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

/// Returns the categories of which a file holds the questions: those of memory and web search have one file for several
/// backends. The ids of their entries have the name of the category in place of that of the file.
pub fn of_questions(name: &str) -> &'static [&'static str] {
    match name {
        "memory" => &["memory_kv", "memory_vector", "memory_rec_sum"],
        "web_search" => &["web_search_base", "web_search_no_snippet"],
        _ => &[],
    }
}

/// Returns the prompt configurations of format sensitivity, in the order of the ids.
pub fn prompt_configurations() -> Vec<String> {
    let mut all = Vec::new();
    for format in ["python", "json", "verbose_xml", "concise_xml"] {
        for tag in ["True", "False"] {
            for docs in ["python", "xml", "json"] {
                all.push(format!(
                    "ret_fmt={format}&tool_call_tag={tag}&func_doc_fmt={docs}&prompt_fmt=plaintext&style=classic"
                ));
            }
        }
    }
    for end in ["prompt_fmt=markdown&style=classic", "prompt_fmt=plaintext&style=experimental"] {
        all.push(format!("ret_fmt=python&tool_call_tag=False&func_doc_fmt=json&{end}"));
    }
    all
}

/// Returns the format of an id of format sensitivity, and whether the calls are between tags:
/// `format_sensitivity_<n>:<configuration>:<id>`.
pub fn format_of_id(id: &str) -> Option<(OutputFormat, bool)> {
    let configuration = configuration_of_id(id)?;
    let value =
        |key: &str| configuration.split('&').find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
    let format = match value("ret_fmt")? {
        "python" => OutputFormat::Python,
        "json" => OutputFormat::Json,
        "verbose_xml" => OutputFormat::VerboseXml,
        "concise_xml" => OutputFormat::ConciseXml,
        _ => return None,
    };
    Some((format, value("tool_call_tag")? == "True"))
}

/// Returns the prompt configuration of an id of format sensitivity.
pub fn configuration_of_id(id: &str) -> Option<&str> {
    let mut parts = id.strip_prefix("format_sensitivity_")?.splitn(3, ':');
    parts.next()?;
    let configuration = parts.next()?;
    parts.next().map(|_| configuration)
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
    let QuestionName { version, category, is_first_release } =
        QuestionName::read(name.strip_suffix(".json")?)?;
    let category = match category.strip_suffix("_function").unwrap_or(category) {
        _ if !is_first_release => category.to_owned(),
        "relevance" => "irrelevance".to_owned(),
        other => other.replace("executable_", "exec_"),
    };
    Some((version.to_owned(), category))
}

/// Returns the folder of a category in the official score and result folders.
pub fn folder(category: &str) -> &'static str {
    match category {
        FORMAT_SENSITIVITY => FORMAT_SENSITIVITY,
        "memory_kv" => "agentic/memory/kv",
        "memory_vector" => "agentic/memory/vector",
        "memory_rec_sum" => "agentic/memory/rec_sum",
        _ if category.starts_with("web_search") => "agentic",
        _ if category.starts_with("multi_turn") => "multi_turn",
        _ if category.starts_with("live") => "live",
        _ => "non_live",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All categories of V1 to V4, by the names of their files.
    const ALL: [(&str, &[&str]); 12] = [
        ("simple python", &["simple", "simple_python", "live_simple"]),
        ("simple java", &["java", "simple_java"]),
        ("simple javascript", &["javascript", "simple_javascript"]),
        ("multiple python", &["multiple", "live_multiple"]),
        ("parallel python", &["parallel", "parallel_multiple", "live_parallel", "live_parallel_multiple"]),
        ("no call", &["irrelevance", "live_irrelevance"]),
        ("a call", &["live_relevance"]),
        ("recorded results", &["exec_simple", "exec_multiple", "exec_parallel", "exec_parallel_multiple"]),
        ("recorded response", &["rest"]),
        ("formats", &[FORMAT_SENSITIVITY]),
        (
            "official package",
            &[
                "multi_turn_base",
                "multi_turn_miss_func",
                "multi_turn_miss_param",
                "multi_turn_long_context",
                "multi_turn_composite",
                "memory",
                "memory_kv",
                "memory_vector",
                "memory_rec_sum",
                "web_search",
                "web_search_base",
                "web_search_no_snippet",
            ],
        ),
        ("not scored", &["sql", "chatable"]),
    ];

    fn name(scoring: Scoring) -> &'static str {
        match scoring {
            Scoring::Calls(Kind::Simple, Language::Python) => "simple python",
            Scoring::Calls(Kind::Simple, Language::Java) => "simple java",
            Scoring::Calls(Kind::Simple, Language::JavaScript) => "simple javascript",
            Scoring::Calls(Kind::Multiple, Language::Python) => "multiple python",
            Scoring::Calls(Kind::Parallel, Language::Python) => "parallel python",
            Scoring::Calls(..) => "another kind of calls",
            Scoring::Relevance(false) => "no call",
            Scoring::Relevance(true) => "a call",
            Scoring::Executable => "recorded results",
            Scoring::Rest => "recorded response",
            Scoring::Formats => "formats",
            Scoring::Official(_) => "official package",
            Scoring::NotScored(_) => "not scored",
        }
    }

    #[test]
    fn each_category_of_all_versions_is_scored_by_its_rules() {
        for (expected, categories) in ALL {
            for category in categories {
                assert_eq!(name(scoring(category)), expected, "{category}");
            }
        }
    }

    #[test]
    fn the_page_names_all_categories() {
        let page = include_str!("../../../docs/evaluate.md");
        for category in ALL.iter().flat_map(|(_, categories)| *categories) {
            assert!(page.contains(&format!("`{category}`")), "docs/evaluate.md does not name {category}");
        }
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
