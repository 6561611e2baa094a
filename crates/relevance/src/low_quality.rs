//! Rules for queries that cannot be answered with any functions, tried in order.
//!
//! A rule must be reliable, because it decides alone. A query that has nothing to do with the
//! functions is not of low quality; the model judges it.

use super::docs::PreparedDocs;
use super::missing_value::is_missing_value;
use super::query::PreparedQuery;
use super::words::{holds, plain_words};
use callsieve_text::noise::is_mash;
use callsieve_text::normal::normalise_query;

/// A rule for queries of low quality.
#[derive(Debug)]
pub struct Rule {
    /// The name in the column `relevance_basis`.
    pub name: &'static str,
    /// The description of the fault, in one sentence.
    pub what: &'static str,
    /// Whether the characters of the query alone prove the fault. Other rules also depend on the docs or on missing
    /// words, so their labels are no more reliable than those of the model.
    pub is_certain: bool,
    holds: fn(&PreparedQuery, &PreparedDocs) -> bool,
}

/// The rule that a call in the log refutes: its model had the values, or made them up.
pub const MISSING_VALUE: &str = "missing-value";

/// All rules, in the order they are tried.
pub static RULES: [Rule; 8] = [
    Rule {
        name: "empty",
        what: "The query contains only blanks and control characters.",
        is_certain: true,
        holds: |query, _| query.last.chars().all(|c| c.is_whitespace() || c.is_control()),
    },
    Rule {
        name: "control-characters",
        what: "A large share of the query is control characters.",
        is_certain: true,
        holds: |query, _| has_control_characters(&query.last),
    },
    Rule {
        name: "no-words",
        what: "The query contains no letter and no digit.",
        is_certain: true,
        holds: |query, _| !query.last.contains(char::is_alphanumeric),
    },
    Rule {
        name: "placeholder",
        what: "The query is a placeholder that a program inserted for a missing query.",
        is_certain: true,
        holds: |query, _| is_placeholder(&normalise_query(&query.last)),
    },
    Rule {
        name: "keyboard-noise",
        what: "The query is random keystrokes.",
        is_certain: true,
        holds: |query, _| is_noise(query),
    },
    Rule {
        name: "lone-word",
        what: "The query is one short word that does not occur in the docs.",
        is_certain: false,
        holds: is_lone_word,
    },
    Rule {
        name: "pasted-page",
        what: "The query is a page of text without a question or an order.",
        is_certain: false,
        holds: |query, _| is_pasted_page(query),
    },
    Rule {
        name: MISSING_VALUE,
        what: "The query names what it wants, and no value that the function requires.",
        is_certain: false,
        holds: is_missing_value,
    },
];

/// Returns the first rule that matches a query.
pub fn fault(query: &PreparedQuery, docs: &PreparedDocs) -> Option<&'static Rule> {
    RULES.iter().find(|rule| (rule.holds)(query, docs))
}

/// Returns whether the rule of this name proves low quality for any functions.
pub fn is_certain(rule: &str) -> bool {
    RULES.iter().any(|known| known.name == rule && known.is_certain)
}

/// A query has too many control characters if at least one in this many characters is one.
const CONTROL_SHARE: usize = 20;

fn has_control_characters(text: &str) -> bool {
    let n_control = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    n_control > 0 && n_control * CONTROL_SHARE >= text.chars().count()
}

/// Queries that programs insert for a missing query, normalised and without final punctuation.
const PLACEHOLDERS: &[&str] = &[
    "none",
    "null",
    "undefined",
    "nan",
    "n/a",
    "[object object]",
    "string",
    "query",
    "prompt",
    "user query",
    "your query here",
    "enter your query here",
    "insert query here",
    "no query",
    "no query provided",
    "user input",
    "lorem ipsum",
];
/// Beginnings of queries that report a missing query.
const SAYS_MISSING: &[&str] = &[
    "the user did not provide a query",
    "the user did not provide any query",
    "the user has not provided a query",
    "no user query was provided",
    "user did not provide a query",
    "the user query is missing",
];

fn is_placeholder(normal: &str) -> bool {
    let bare = normal.trim_matches(|c: char| !c.is_alphanumeric());
    let is_unfilled = |open: &str, close: &str| {
        normal.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '.'))
        })
    };
    PLACEHOLDERS.contains(&bare)
        || PLACEHOLDERS.contains(&normal)
        || SAYS_MISSING.iter().any(|sentence| bare.starts_with(sentence))
        || is_unfilled("{{", "}}")
        || is_unfilled("${", "}")
        || is_unfilled("{", "}")
        || is_unfilled("<", ">")
}

/// Maximum number of words in keyboard noise.
const MAX_NOISE_WORDS: usize = 3;
/// Maximum length in characters of other words in keyboard noise.
const MAX_SCRAP_CHARS: usize = 2;

/// Returns whether a query is keyboard noise: random keystrokes, possibly with very short other words.
fn is_noise(query: &PreparedQuery) -> bool {
    let words = plain_words(&query.last);
    words.len() <= MAX_NOISE_WORDS
        && words.iter().any(|word| is_mash(word))
        && words.iter().all(|word| is_mash(word) || word.chars().count() <= MAX_SCRAP_CHARS)
}

/// Maximum length of a single word of Latin letters that means nothing by itself.
const MAX_LONE_CHARS: usize = 4;

fn is_lone_word(query: &PreparedQuery, docs: &PreparedDocs) -> bool {
    let [word] = query.plain_words.as_slice() else { return false };
    word.chars().count() <= MAX_LONE_CHARS
        && word.chars().all(|c| c.is_ascii_alphabetic())
        && query.is_alone
        && !query.words.iter().any(|word| holds(&docs.words, word))
}

/// Minimum number of words in a page of text.
const MIN_PAGE_WORDS: usize = 120;
/// Minimum number of lines in a page of text.
const MIN_PAGE_LINES: usize = 6;
/// Words that show a question or an order; sorted.
const ASKING: &[&str] = &[
    "analyze",
    "answer",
    "calculate",
    "can",
    "classify",
    "convert",
    "could",
    "create",
    "extract",
    "find",
    "generate",
    "give",
    "help",
    "how",
    "i",
    "list",
    "need",
    "please",
    "provide",
    "question",
    "return",
    "show",
    "summarize",
    "tell",
    "translate",
    "want",
    "what",
    "which",
    "write",
    "you",
    "your",
];

fn is_pasted_page(query: &PreparedQuery) -> bool {
    query.is_alone
        && query.plain_words.len() >= MIN_PAGE_WORDS
        && query.text.trim().lines().count() >= MIN_PAGE_LINES
        && !query.text.contains(['?', '？'])
        && !query.plain_words.iter().any(|word| ASKING.binary_search(&word.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(query: &str) -> Option<&'static str> {
        let functions = [json!({"name": "play_song", "description": "Plays a song by name.", "parameters": {
            "type": "dict", "required": ["song"], "properties": {"song": {"type": "string", "description": "Its name."}}}})];
        let query = PreparedQuery::new(&[query]);
        fault(&query, &PreparedDocs::new(&functions)).map(|rule| rule.name)
    }

    #[test]
    fn each_rule_matches_its_example_and_not_a_similar_one() {
        let page = "Harbour news\n".repeat(70);
        let asking_page = format!("{page}Summarize this page.");
        for (rule, fires, quiet) in [
            ("empty", " \u{0}\n", "a song"),
            ("control-characters", "\u{16}\u{16}so", "play\tso long"),
            ("no-words", "?!…", "why?!"),
            ("placeholder", "The user did not provide a query.", "The user did not play a song"),
            ("placeholder", "{{user_query}}", "play {{song}} by Ada"),
            ("keyboard-noise", "sdkfjhsdkfjh", "salad songs"),
            ("lone-word", "ede", "song"),
            ("pasted-page", page.as_str(), asking_page.as_str()),
            ("missing-value", "Please play a song!", "Play the song Yesterday"),
            ("missing-value", "can you play songs", "can you play some jazz songs"),
            ("missing-value", "play a song", "play \"a song\""),
        ] {
            assert_eq!(found(fires), Some(rule), "{fires:?}");
            assert_ne!(found(quiet), Some(rule), "{quiet:?}");
        }
        assert_eq!(found("Play Yesterday"), None);
    }

    #[test]
    fn words_of_questions_are_sorted() {
        assert!(ASKING.is_sorted());
    }
}
