//! Tools that take any text: a web search, a command line, a reply to the user.
//!
//! Such a tool can serve any query, even one that shares no word with its docs. It is
//! recognised by the name of a required parameter and by its description.
//!
//! Names such as `query`, `message` and `items` are only a sign, which the weights count: on labelled requests, all
//! queries that seem irrelevant to functions with such parameters are. Those with the names in `ANY_TEXT` often are not.

use super::docs::{PreparedDocs, PreparedFunction};
use super::query::PreparedQuery;
use callsieve_docs::signature::ValueKind;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &["open_parameter", "open_only_parameter", "open_description"];

/// Last words in the names of parameters that take any text or value; sorted.
const OPEN_NAMES: &[&str] = &[
    "code",
    "command",
    "commands",
    "content",
    "data",
    "input",
    "instruction",
    "instructions",
    "items",
    "keyword",
    "keywords",
    "message",
    "messages",
    "prompt",
    "q",
    "query",
    "question",
    "search",
    "sentence",
    "statement",
    "string",
    "term",
    "text",
    "utterance",
    "value",
];

/// Last words in the names of parameters that truly take any text; sorted.
const ANY_TEXT: &[&str] = &[
    "code",
    "command",
    "commands",
    "data",
    "expression",
    "instruction",
    "instructions",
    "keyword",
    "script",
    "sql",
    "statement",
    "string",
    "value",
];

/// Phrases in the descriptions of such tools.
const OPEN_PHRASES: &[&str] = &[
    "any address",
    "any command",
    "any page",
    "any question",
    "any query",
    "any text",
    "any topic",
    "any url",
    "any website",
    "chat",
    "executes a command",
    "executes a given command",
    "executes a specified command",
    "execute a command",
    "general knowledge",
    "general question",
    "given command",
    "given input",
    "given string",
    "given text",
    "human agent",
    "internet",
    "provided data",
    "provided input",
    "provided text",
    "searching the web",
    "search the web",
    "search online",
    "system command",
    "system-level command",
    "up-to-date information",
];

/// Returns whether any function takes any text in a required parameter, in its only required one, or by its
/// description.
pub(super) fn features(_: &PreparedQuery, docs: &PreparedDocs) -> Vec<f64> {
    let any = |is_so: fn(&PreparedFunction) -> bool| f64::from(u8::from(docs.functions.iter().any(is_so)));
    vec![any(has_open_parameter), any(has_only_an_open_parameter), any(is_described_as_open)]
}

impl PreparedDocs {
    /// Returns whether a function truly takes any text: a web search, a command line, a store of values. Its text cannot
    /// show that it does not fit.
    pub fn takes_anything(&self) -> bool {
        let takes_any_text = |function: &PreparedFunction| n_required(function, ANY_TEXT).1 > 0;
        self.functions.iter().any(|function| takes_any_text(function) || is_described_as_open(function))
    }
}

/// Returns whether any function takes any text, by its parameters or its description.
pub(super) fn is_any_open(docs: &PreparedDocs) -> bool {
    docs.functions.iter().any(|function| has_open_parameter(function) || is_described_as_open(function))
}

fn has_open_parameter(function: &PreparedFunction) -> bool {
    n_required(function, OPEN_NAMES).1 > 0
}

fn has_only_an_open_parameter(function: &PreparedFunction) -> bool {
    n_required(function, OPEN_NAMES) == (1, 1)
}

/// Returns the number of required parameters, and how many of those are texts whose names end in one of some words.
fn n_required(function: &PreparedFunction, names: &[&str]) -> (usize, usize) {
    let required = || function.signature.parameters.iter().filter(|parameter| parameter.is_required);
    let is_open = |name: &str| {
        let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default().to_lowercase();
        names.binary_search(&last.as_str()).is_ok()
    };
    let n_open = required()
        .filter(|parameter| {
            !matches!(parameter.kind, ValueKind::Number | ValueKind::Flag)
                && parameter.choices.is_empty()
                && is_open(&parameter.name)
        })
        .count();
    (required().count(), n_open)
}

fn is_described_as_open(function: &PreparedFunction) -> bool {
    let description = function.signature.description.to_lowercase();
    OPEN_PHRASES.iter().any(|phrase| description.contains(phrase))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of(function: &Value) -> Vec<bool> {
        features(&PreparedQuery::new(&["x"]), &PreparedDocs::new(std::slice::from_ref(function)))
            .into_iter()
            .map(|x| x > 0.5)
            .collect()
    }

    #[test]
    fn a_tool_that_takes_any_text_is_open() {
        let function = |name: &str, kind: &str, description: &str| {
            json!({"name": "f", "description": description, "parameters": {"type": "dict", "required": [name],
                "properties": {name: {"type": kind, "description": "x"}}}})
        };
        assert_eq!(of(&function("search_query", "string", "Finds it.")), [true, true, false]);
        assert_eq!(of(&function("shell_command", "string", "Executes a command.")), [true, true, true]);
        assert_eq!(of(&function("city", "string", "Tells the weather.")), [false, false, false]);
        assert_eq!(of(&function("value", "integer", "Sets it.")), [false, false, false]);
    }

    #[test]
    fn only_parameters_that_truly_take_any_text_shield_a_tool() {
        let takes_anything = |name: &str, kind: &str, description: &str| {
            PreparedDocs::new(&[json!({"name": "f", "description": description,
                "parameters": {"type": "dict", "required": [name],
                    "properties": {name: {"type": kind, "description": "x"}}}})])
            .takes_anything()
        };
        for name in
            ["command", "new_value", "sql", "statement", "input-string", "raw_data", "code", "keyword"]
        {
            assert!(takes_anything(name, "string", "Does it."), "{name}");
        }
        #[rustfmt::skip] // The names are one list.
        let narrow = [
            "items", "message", "query", "prompt", "content", "text", "q", "question", "keywords", "phrase", "name",
            "city", "zip_code_area",
        ];
        for name in narrow {
            assert!(!takes_anything(name, "string", "Does it."), "{name}");
        }
        assert!(!takes_anything("value", "integer", "Does it."));
        assert!(takes_anything("q", "string", "Searches the internet."));
    }

    #[test]
    fn names_are_sorted() {
        assert!(OPEN_NAMES.is_sorted() && ANY_TEXT.is_sorted());
    }
}
