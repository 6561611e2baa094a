//! What an entry of the database looks for in a response: the name of its function and the values of its arguments.
//!
//! The rules are those of `get_args` in the published scripts, one per hub. An entry on which a script would stop with an error has an
//! [`EntryFault`] and matches nothing.

use crate::hub::Hub;
use crate::python::{self, Kind, NodeId, Tree};

/// Why an entry of the database can match nothing. The published script stops at such an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryFault {
    /// The call holds no statement.
    #[error("the call holds no expression")]
    NoExpression,
    /// The call has no part where the arguments of a call would be.
    #[error("the call has no arguments")]
    NoArguments,
    /// The rule for keyword arguments applies to an argument that has no value after a mark: its text.
    #[error("argument {0} has no value")]
    NoValue(String),
}

/// The name and the values that an entry looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The text of the function, such as `hub.load`.
    pub(crate) name: String,
    /// The values without the apostrophes around them. Double quotes stay, as in the scripts.
    pub(crate) values: Vec<String>,
}

impl Pattern {
    /// Reads the call of an entry; `None` if the scripts pass over it, for example because it assigns its result.
    pub(crate) fn of(hub: Hub, api_call: &str) -> Result<Option<Self>, EntryFault> {
        let tree = python::parse(api_call);
        let first = |id: NodeId| tree.children(id).first().copied().ok_or(EntryFault::NoExpression);
        let expression = first(first(tree.root())?)?;
        let [name, rest @ ..] = tree.children(expression) else { return Ok(None) };
        let arguments = *rest.first().ok_or(EntryFault::NoArguments)?;
        let values = values(hub, &tree, arguments)?;
        Ok((!values.is_empty()).then(|| Self { name: tree.text(*name).to_owned(), values }))
    }
}

fn values(hub: Hub, tree: &Tree<'_>, arguments: NodeId) -> Result<Vec<String>, EntryFault> {
    let mut values = Vec::new();
    for argument in tree.children(arguments) {
        let text = tree.text(*argument);
        let value = match rule(hub, text) {
            Rule::Ignored => continue,
            Rule::Whole => text,
            Rule::ThirdPart => {
                let part = tree.children(*argument).get(2);
                tree.text(*part.ok_or_else(|| EntryFault::NoValue(text.to_owned()))?)
            }
        };
        values.push(value.trim_matches('\'').to_owned());
    }
    Ok(values)
}

enum Rule {
    Ignored,
    Whole,
    /// The value of a keyword argument. Of a string whose text looks like one, the third part is its closing quote, which leaves an
    /// empty value.
    ThirdPart,
}

fn rule(hub: Hub, argument: &str) -> Rule {
    let has_value = match hub {
        Hub::HuggingFace => argument.contains('='),
        Hub::TorchHub => argument.contains("repo_or_dir") || argument.contains("model"),
        Hub::TensorFlowHub => argument.contains("model=") || argument.contains("model ="),
    };
    match argument {
        _ if has_value => Rule::ThirdPart,
        "(" | ")" | "," => Rule::Ignored,
        _ if hub == Hub::TorchHub => Rule::Ignored,
        _ => Rule::Whole,
    }
}

/// A call in a response: its function and the values of all its arguments, without quotes. A keyword argument is there as its value
/// and as it is written.
pub(crate) struct Call<'t> {
    pub(crate) function: &'t str,
    pub(crate) values: Vec<&'t str>,
}

/// Returns all calls in a text, in the order in which the scripts visit them.
pub(crate) fn calls<'t>(tree: &Tree<'t>) -> Vec<Call<'t>> {
    let calls = tree.visits().into_iter().filter(|id| tree.kind(*id) == Kind::Call);
    let read = |id| match tree.children(id) {
        [function, arguments] => {
            let values =
                tree.children(*arguments).iter().flat_map(|argument| forms(tree, *argument)).collect();
            Some(Call { function: tree.text(*function), values })
        }
        _ => None,
    };
    calls.filter_map(read).collect()
}

fn forms<'t>(tree: &Tree<'t>, argument: NodeId) -> Vec<&'t str> {
    let text = tree.text(argument);
    match tree.children(argument) {
        [_, mark, value] if tree.text(*mark) == "=" => vec![text, unquoted(tree.text(*value))],
        _ if matches!(text, "(" | ")" | ",") => Vec::new(),
        _ => vec![unquoted(text)],
    }
}

/// Returns a value without the quotes around it.
pub(crate) fn unquoted(value: &str) -> &str {
    let inner = |quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('\'').or_else(|| inner('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(hub: Hub, call: &str) -> Option<(String, Vec<String>)> {
        Pattern::of(hub, call).unwrap().map(|pattern| (pattern.name, pattern.values))
    }

    fn expected(name: &str, values: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn hugging_face_looks_for_all_values() {
        let call = "pipeline('text-generation', model='a/b', torch_dtype=torch.float16)";
        let values = ["text-generation", "a/b", "torch.float16"];
        assert_eq!(pattern(Hub::HuggingFace, call), Some(expected("pipeline", &values)));
    }

    #[test]
    fn pytorch_hub_looks_for_the_repository_and_the_model_only() {
        let call = "torch.hub.load(repo_or_dir='a/b', model='m', pretrained=True, **{'topN': 6})";
        assert_eq!(pattern(Hub::TorchHub, call), Some(expected("torch.hub.load", &["a/b", "m"])));
    }

    #[test]
    fn tensorflow_hub_looks_for_keyword_arguments_as_they_are_written() {
        let call = "hub.KerasLayer('https://x/y', trainable=True)";
        assert_eq!(
            pattern(Hub::TensorFlowHub, call),
            Some(expected("hub.KerasLayer", &["https://x/y", "trainable=True"]))
        );
    }

    #[test]
    fn double_quotes_stay_and_a_string_with_an_equals_sign_leaves_nothing() {
        assert_eq!(pattern(Hub::HuggingFace, "f(\"a\")"), Some(expected("f", &["\"a\""])));
        assert_eq!(pattern(Hub::HuggingFace, "f('a=b')"), Some(expected("f", &[""])));
        assert_eq!(pattern(Hub::TorchHub, "f('my model')"), Some(expected("f", &[""])));
    }

    #[test]
    fn calls_that_the_scripts_pass_over_have_no_pattern() {
        for call in ["m = f('a')", "f()", "f", "f('a').g()"] {
            assert_eq!(pattern(Hub::HuggingFace, call), None, "{call}");
        }
        // Only the first of several calls counts.
        assert_eq!(pattern(Hub::HuggingFace, "f('a'), g('b')"), Some(expected("f", &["a"])));
        assert_eq!(pattern(Hub::TorchHub, "f('a', pretrained=True)"), None);
    }

    #[test]
    fn calls_on_which_the_scripts_stop_have_a_fault() {
        assert_eq!(Pattern::of(Hub::HuggingFace, ""), Err(EntryFault::NoExpression));
        let splat = Pattern::of(Hub::TorchHub, "f(**{'model': 1})");
        assert_eq!(splat, Err(EntryFault::NoValue("**{'model': 1}".into())));
    }

    #[test]
    fn all_calls_of_a_text_are_found() {
        let tree = python::parse("m = a.b('x', k=\"y\")\nprint(g(1))");
        let found: Vec<(&str, Vec<&str>)> =
            calls(&tree).into_iter().map(|call| (call.function, call.values)).collect();
        assert_eq!(found[0].0, "print");
        assert_eq!(found[1].0, "g");
        assert_eq!(found[2], ("a.b", vec!["x", "k=\"y\"", "y"]));
    }
}
