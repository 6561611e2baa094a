//! Queries that nobody could answer, whatever the functions: rules, tried in order.
//!
//! A rule must be sure, for nothing is weighed here. What asks something foreign to the
//! functions is not of low quality; that is for the model.

use super::asked::Asked;
use super::offer::Offer;
use super::words::{holds, plain_words};
use crate::text::noise::is_mash;
use crate::text::normal::normalise_query;

/// One way in which a query is of low quality.
#[derive(Debug)]
pub struct Rule {
    /// The name in the column `relevance_basis`.
    pub name: &'static str,
    /// What is wrong, in one sentence.
    pub what: &'static str,
    /// The characters alone show it. Else it also depends on what the docs know or which words the query lacks, and
    /// a label by it is no surer than one by the model.
    pub is_certain: bool,
    holds: fn(&Asked, &Offer) -> bool,
}

/// All rules, in the order they are tried.
pub static RULES: [Rule; 7] = [
    Rule {
        name: "empty",
        what: "It holds nothing but blanks and control characters.",
        is_certain: true,
        holds: |asked, _| asked.last.chars().all(|c| c.is_whitespace() || c.is_control()),
    },
    Rule {
        name: "control-characters",
        what: "Control characters make up a good part of it.",
        is_certain: true,
        holds: |asked, _| has_control_characters(&asked.last),
    },
    Rule {
        name: "no-words",
        what: "It holds no letter and no digit.",
        is_certain: true,
        holds: |asked, _| !asked.last.contains(char::is_alphanumeric),
    },
    Rule {
        name: "placeholder",
        what: "A program put it where a query was missing.",
        is_certain: true,
        holds: |asked, _| is_placeholder(&normalise_query(&asked.last)),
    },
    Rule {
        name: "keyboard-noise",
        what: "It is typed by running over the keyboard.",
        is_certain: true,
        holds: |asked, _| is_noise(asked),
    },
    Rule {
        name: "lone-word",
        what: "It is one short word, and no doc knows it.",
        is_certain: false,
        holds: is_lone_word,
    },
    Rule {
        name: "pasted-page",
        what: "It is a page of text, and nothing in it asks or orders.",
        is_certain: false,
        holds: |asked, _| is_pasted_page(asked),
    },
];

/// The first rule that a query breaks.
pub fn fault(asked: &Asked, offer: &Offer) -> Option<&'static Rule> {
    RULES.iter().find(|rule| (rule.holds)(asked, offer))
}

/// Whether a query that breaks the rule of this name is of low quality whatever the functions are.
pub fn is_certain(rule: &str) -> bool {
    RULES.iter().any(|known| known.name == rule && known.is_certain)
}

/// One character in so many may be a control character.
const CONTROL_SHARE: usize = 20;

fn has_control_characters(text: &str) -> bool {
    let n_control = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    n_control > 0 && n_control * CONTROL_SHARE >= text.chars().count()
}

/// Whole queries that programs put where one was missing, in normal form without marks at the end.
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
/// Sentences that say so, wherever they stand at the beginning.
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

/// Noise is so many words at most …
const MAX_NOISE_WORDS: usize = 3;
/// … of which those that are not typed along the keys have no more characters than this.
const MAX_SCRAP_CHARS: usize = 2;

/// Words of noise only, at least one of them typed along the keys.
fn is_noise(asked: &Asked) -> bool {
    let words = plain_words(&asked.last);
    words.len() <= MAX_NOISE_WORDS
        && words.iter().any(|word| is_mash(word))
        && words.iter().all(|word| is_mash(word) || word.chars().count() <= MAX_SCRAP_CHARS)
}

/// A lone word of Latin letters up to this length means nothing by itself.
const MAX_LONE_CHARS: usize = 4;

fn is_lone_word(asked: &Asked, offer: &Offer) -> bool {
    let [word] = asked.plain_words.as_slice() else { return false };
    word.chars().count() <= MAX_LONE_CHARS
        && word.chars().all(|c| c.is_ascii_alphabetic())
        && asked.is_alone
        && !asked.words.iter().any(|word| holds(&offer.words, word))
}

/// A page has at least so many words …
const MIN_PAGE_WORDS: usize = 120;
/// … and lines.
const MIN_PAGE_LINES: usize = 6;
/// Words that ask or order, wherever they stand; sorted.
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

fn is_pasted_page(asked: &Asked) -> bool {
    asked.is_alone
        && asked.plain_words.len() >= MIN_PAGE_WORDS
        && asked.text.trim().lines().count() >= MIN_PAGE_LINES
        && !asked.text.contains(['?', '？'])
        && !asked.plain_words.iter().any(|word| ASKING.binary_search(&word.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(query: &str) -> Option<&'static str> {
        let functions = [json!({"name": "play_song", "description": "Plays a song by name.", "parameters": {
            "type": "dict", "required": ["song"], "properties": {"song": {"type": "string", "description": "Its name."}}}})];
        let asked = Asked::new(&[query]);
        fault(&asked, &Offer::new(&functions)).map(|rule| rule.name)
    }

    #[test]
    fn each_rule_finds_its_own_and_leaves_its_neighbour() {
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
        ] {
            assert_eq!(found(fires), Some(rule), "{fires:?}");
            assert_ne!(found(quiet), Some(rule), "{quiet:?}");
        }
        assert_eq!(found("Play Yesterday"), None);
    }

    #[test]
    fn words_that_ask_can_be_searched() {
        assert!(ASKING.is_sorted());
    }
}
