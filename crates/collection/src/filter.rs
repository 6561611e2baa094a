//! Rules for functions that nobody could use, whatever they return: nothing legible, or nothing said.
//!
//! A rule prefers missing a bad function to dropping a good one. A meaningless name alone is no reason, if the
//! description is informative. Gaps in the docs of parameters are judged later, by `docs::quality`; duplicates are found
//! by the joins.

use callsieve_docs::quality::{is_meaningless, is_placeholder};
use callsieve_text::noise::{is_mash, is_mashed};
use serde::Serialize;

use crate::collection::Collection;
use crate::tool::{Api, Tool};

/// The fewest words of a description that makes up for a meaningless name.
const MIN_WORDS: usize = 4;

/// The fewest letters of a word whose letters are judged.
const MIN_LETTERS: usize = 5;

/// The fewest letters and digits of an identifier that was not written by a person.
const MIN_RANDOM: usize = 12;

/// Words that add nothing to the name of a tool.
const GENERIC: [&str; 17] = [
    "a", "api", "apis", "app", "first", "hello", "my", "new", "project", "rapid", "rapidapi", "rest",
    "service", "the", "tool", "v", "world",
];

/// Words of tools that were only tried out.
const TRIAL: [&str; 14] = [
    "asdf",
    "bar",
    "baz",
    "demo",
    "dummy",
    "example",
    "foo",
    "placeholder",
    "qwerty",
    "sample",
    "test",
    "testing",
    "tests",
    "untitled",
];

/// One reason for which a function is dropped.
#[derive(Debug)]
pub struct FilterRule {
    /// The reason code.
    pub code: &'static str,
    /// The fault, in one sentence.
    pub what: &'static str,
    /// Returns the text that breaks the rule.
    holds: fn(&Tool, &Api) -> Option<String>,
}

/// All rules, in the order they are tried.
pub static RULES: [FilterRule; 6] = [
    FilterRule {
        code: "collect/placeholder-tool",
        what: "The tool has the name of a trial, and no informative description.",
        holds: |tool, _| {
            hit(is_declared(tool) && is_trial(&tool.name) && is_vague(&tool.description), &tool.name)
        },
    },
    FilterRule {
        code: "collect/illegible-tool",
        what: "The name of the tool is random letters, and it has no informative description.",
        holds: |tool, _| {
            hit(is_declared(tool) && !is_legible(&tool.name) && is_vague(&tool.description), &tool.name)
        },
    },
    FilterRule {
        code: "collect/no-description",
        what: "The function has no description.",
        holds: |_, api| hit(api.description().trim().is_empty(), &api.original_name),
    },
    FilterRule {
        code: "collect/illegible-description",
        what: "The description is a placeholder or is not readable text.",
        holds: |_, api| {
            let text = api.description();
            hit(is_placeholder(text) || !is_legible(text), text)
        },
    },
    FilterRule {
        code: "collect/placeholder-name",
        what: "The name of the function is a placeholder, and the description is too short.",
        holds: |_, api| {
            let name = &api.original_name;
            let is_placeholder = is_meaningless(name) && name.is_ascii();
            hit(is_placeholder && is_vague(api.description()), name)
        },
    },
    FilterRule {
        code: "collect/illegible-name",
        what: "The name of the function is random letters, and the description is too short.",
        holds: |_, api| {
            hit(!is_legible(&api.original_name) && is_vague(api.description()), &api.original_name)
        },
    },
];

/// A function that is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfit {
    /// The tool.
    pub tool: String,
    /// The legal name of the function.
    pub name: String,
    /// The reason code.
    pub code: &'static str,
    /// The text that broke the rule, cut.
    pub evidence: String,
}

/// Returns the first rule that a function of a tool breaks, with the text that breaks it.
pub fn unfit(tool: &Tool, api: &Api) -> Option<(&'static FilterRule, String)> {
    RULES.iter().find_map(|rule| Some((rule, (rule.holds)(tool, api)?)))
}

/// Returns all functions of a collection that break a rule, in its order.
pub fn all_unfit(collection: &Collection) -> Vec<Unfit> {
    let functions =
        collection.tools.iter().flat_map(|tool| tool.functions.iter().map(move |api| (tool, api)));
    let unfit = |(tool, api): (&Tool, &Api)| {
        let (rule, evidence) = unfit(tool, api)?;
        Some(Unfit { tool: tool.name.clone(), name: api.name.clone(), code: rule.code, evidence })
    };
    functions.filter_map(unfit).collect()
}

fn hit(holds: bool, text: &str) -> Option<String> {
    holds.then(|| text.chars().take(80).collect())
}

/// Returns true if a description is empty, a placeholder or has too few words.
fn is_vague(description: &str) -> bool {
    is_placeholder(description) || !is_legible(description) || words(description).len() < MIN_WORDS
}

/// Returns false if a tool has its name from the file alone: a list of functions in `api.json` says nothing about its tool.
fn is_declared(tool: &Tool) -> bool {
    let stem = std::path::Path::new(&tool.origin.source).file_stem();
    tool.category.is_some() || stem.is_none_or(|stem| stem.to_string_lossy() != *tool.name)
}

/// Returns true for a name such as `Test API 2` or `asdf`: a word of a trial, or only generic words.
fn is_trial(name: &str) -> bool {
    let words = words(name);
    let is = |list: &[&str], word: &str| list.binary_search(&word).is_ok();
    !words.is_empty() && words.iter().all(|word| is(&TRIAL, word) || is(&GENERIC, word))
}

/// Returns true unless a text has no letters, or most of its words are random letters.
fn is_legible(text: &str) -> bool {
    let bare = text.trim().to_lowercase();
    if bare.is_empty() {
        return true;
    }
    let has_letters = bare.chars().any(char::is_alphabetic);
    let n_lost = bare.chars().filter(|c| *c == '\u{fffd}').count();
    let words = words(text);
    let n_random = words.iter().filter(|word| is_random(word)).count();
    let is_identifier = !bare.contains(char::is_whitespace) && is_generated(&bare);
    has_letters
        && n_lost * 10 <= bare.chars().count()
        && n_random * 2 <= words.len()
        && !is_mashed(&bare)
        && !is_identifier
}

/// Returns true for a word of letters that no language puts together: keystrokes, or five letters without a vowel.
fn is_random(word: &str) -> bool {
    let is_latin = word.bytes().all(|byte| byte.is_ascii_lowercase());
    let has_vowel = word.bytes().any(|byte| b"aeiouy".contains(&byte));
    is_latin && word.len() >= MIN_LETTERS && (!has_vowel || is_mash(word))
}

/// Returns true for an identifier that alternates between letters and digits, as generated ones do.
fn is_generated(text: &str) -> bool {
    let kinds: Vec<bool> =
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.is_ascii_digit()).collect();
    let n_changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    kinds.len() >= MIN_RANDOM && n_changes * 3 >= kinds.len()
}

/// Returns the words of a text in lower case, without digits; names are split at capitals. A word of capitals only, such
/// as `HTTPS`, is an abbreviation and left out.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in text.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty()) {
        let is_abbreviation = part.chars().count() > 1 && part.chars().all(char::is_uppercase);
        let mut start = 0;
        let mut before = ' ';
        for (at, c) in part.char_indices() {
            if before.is_lowercase() && c.is_uppercase() {
                words.push(part[start..at].to_lowercase());
                start = at;
            }
            before = c;
        }
        let word = part[start..].to_lowercase();
        if !is_abbreviation || TRIAL.contains(&word.as_str()) || GENERIC.contains(&word.as_str()) {
            words.push(word);
        } else {
            // It counts as a word, and is not judged.
            words.push(part.to_owned());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::Origin;

    const GOOD: &str = "Rings the noon bell of the tower.";

    fn code(tool: &str, name: &str, description: &str) -> Option<&'static str> {
        let api = Api::new(name, Some(description), json!({}), Origin::default());
        let tool = Tool { name: tool.to_owned(), ..Tool::default() };
        unfit(&tool, &api).map(|(rule, _)| rule.code)
    }

    #[test]
    fn every_rule_fires_on_its_example_only() {
        let cases = [
            ("Test API 2", "ring", GOOD, "collect/placeholder-tool"),
            ("xkvbnmp", "ring", GOOD, "collect/illegible-tool"),
            ("Bells", "ring", " ", "collect/no-description"),
            ("Bells", "ring", "...", "collect/illegible-description"),
            ("Bells", "ring", "sdfghjkl", "collect/illegible-description"),
            ("Bells", "ring", "TODO", "collect/illegible-description"),
            ("Bells", "API 1", "An endpoint.", "collect/placeholder-name"),
            ("Bells", "Qwrtplk", "An endpoint.", "collect/illegible-name"),
            ("Bells", "a8f3k2b9x1c7d", "An endpoint.", "collect/illegible-name"),
        ];
        for (tool, name, description, expected) in cases {
            assert_eq!(code(tool, name, description), Some(expected), "{tool} {name} {description}");
        }
        let codes: std::collections::BTreeSet<_> = cases.iter().map(|case| case.3).collect();
        assert_eq!(codes.len(), RULES.len());
    }

    #[test]
    fn a_tool_that_is_named_by_its_file_alone_is_no_trial() {
        let api = Api::new("ring", Some(GOOD), json!({}), Origin::default());
        let origin = Origin { source: "lists/api.json".to_owned(), at: String::new() };
        let named = |category: Option<&str>| Tool {
            name: "api".to_owned(),
            category: category.map(str::to_owned),
            origin: origin.clone(),
            ..Tool::default()
        };
        assert!(unfit(&named(None), &api).is_none());
        assert!(unfit(&named(Some("Data")), &api).is_some(), "a collection in folders names its tools");
    }

    #[test]
    fn good_functions_are_kept() {
        for (tool, name, description) in [
            ("Bells", "test", GOOD),
            ("Test my voice", "ring", GOOD),
            ("HTTPS DNS", "MX", "All MX records of a domain."),
            ("鐘", "敲鐘", "敲响钟楼里的钟。"),
            ("Bells", "get_v2_by_id", "By id."),
            ("Bells", "rhythm", "Rhythms"),
            ("COVID-19", "GET", "Cases."),
            ("Bells", "url2pdf", "PDF of an URL."),
        ] {
            assert_eq!(code(tool, name, description), None, "{tool} {name}");
        }
    }

    #[test]
    fn tables_can_be_searched() {
        assert!(GENERIC.is_sorted() && TRIAL.is_sorted());
    }
}
