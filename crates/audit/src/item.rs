//! What is compared: the texts, functions and calls of one row of a training set or one entry of a benchmark.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::shown::shown_value;
use callsieve_answers::markup;
use callsieve_answers::recorded::{RecordedAnswer, recorded_answer, unfenced};
use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_ingest::fate::Record;
use callsieve_notation::python;
use callsieve_text::normal::loose_name;

/// One row or entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item {
    /// The messages of the user, in order; each is compared by itself.
    pub queries: Vec<String>,
    /// The function docs: JSON, or the text in which they were sent.
    pub functions: Docs,
    /// The calls of the model, or the ground truth of an entry.
    pub calls: Vec<ItemCall>,
    /// After how many calls each turn of an entry ends, if it has several.
    pub turns: Vec<usize>,
    /// Its functions are those of an environment that a benchmark declares for all entries of a kind: they are no text of the entry.
    pub has_environment: bool,
    /// The texts of others than the user: prompts, answers, results.
    pub texts: Vec<String>,
}

/// Function docs of an item.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Docs {
    /// None.
    #[default]
    None,
    /// As they were sent; not yet parsed.
    Text(String),
    /// Functions.
    Read(Vec<Value>),
}

/// A call, with all accepted values of each argument.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemCall {
    /// The name of the function.
    pub name: String,
    /// Names of arguments with their accepted values; one where a model called. The empty text among several means that the
    /// argument may be left out.
    pub arguments: Vec<(String, Vec<Value>)>,
}

impl Item {
    /// Returns what a record of a log or training set holds, with the turns after its first decision.
    pub fn of_record(record: Record) -> Self {
        let Record { messages, functions, response, following_messages, .. } = record;
        let mut item = Self { functions: Docs::Text(functions), ..Self::default() };
        item.add(messages.into_iter().chain(response).chain(following_messages));
        item
    }

    /// Adds the queries and calls of messages.
    pub fn add(&mut self, messages: impl IntoIterator<Item = Message>) {
        for message in messages {
            match message.role {
                Role::User => self.queries.push(message.content),
                Role::Assistant => self.calls.extend(calls_of(&message)),
                Role::System | Role::Tool => {}
            }
        }
    }
}

/// Returns the calls of a model's message, also those that it writes as text.
pub fn calls_of(message: &Message) -> Vec<ItemCall> {
    if !message.calls.is_empty() || !may_hold_call(&message.content) {
        return message.calls.iter().filter_map(ItemCall::of_call).collect();
    }
    let calls = match recorded_answer(Some(message), None, None, |_| true) {
        RecordedAnswer::Calls(calls) => Some(calls),
        _ => markup::untyped_calls_of(&message.content).or_else(|| printed(message)),
    };
    calls.unwrap_or_default().iter().filter_map(ItemCall::of_call).collect()
}

/// Reads the call in `print(f(…))`, as models of code write it.
fn printed(message: &Message) -> Option<Vec<Call>> {
    let inside = unfenced(message.content.trim()).strip_prefix("print(")?.strip_suffix(')')?;
    match recorded_answer(Some(&Message::text(Role::Assistant, inside)), None, None, |_| true) {
        RecordedAnswer::Calls(calls) => Some(calls),
        _ => None,
    }
}

/// Signs of calls that come after prose.
const SIGNS: [&str; 7] =
    ["Action:", "<tool_call", "<function", "[TOOL_CALLS]", "<|tool_call|>", "<|python_tag|>", "<｜tool▁call"];

/// Whether a text begins like calls do (JSON, a tag, a fence, `name(`), or has a sign of calls after prose.
fn may_hold_call(text: &str) -> bool {
    let text = text.trim_start();
    let name_end = text.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c)));
    text.starts_with(['[', '{', '<', '`'])
        || SIGNS.iter().any(|sign| text.contains(sign))
        || name_end.is_some_and(|end| end > 0 && text[end..].starts_with('('))
}

impl ItemCall {
    /// Returns the call of a model; `None` if its arguments are no object, and no text of one.
    pub fn of_call(call: &Call) -> Option<Self> {
        let arguments = match &call.arguments {
            Value::Object(arguments) => arguments.clone(),
            Value::String(text) => written_arguments(text)?,
            _ => return None,
        };
        let arguments = arguments.into_iter().map(|(name, value)| (name, vec![value])).collect();
        Some(Self { name: call.name.clone(), arguments })
    }

    /// Returns a call of a ground truth: `{"f": {"a": [1, 2]}}`; `None` for anything else.
    pub fn of_ground_truth(call: &Value) -> Option<Self> {
        let (name, parameters) = call.as_object()?.iter().next()?;
        let alternatives = |(name, values): (&String, &Value)| {
            let values = values.as_array()?.clone();
            // An argument without any value but the empty text must be left out.
            values.iter().any(|value| value != "").then(|| (name.clone(), values))
        };
        let arguments = parameters.as_object()?.iter().filter_map(alternatives).collect();
        Some(Self { name: name.clone(), arguments })
    }

    /// Returns calls with their names and values as a reader sees them; borrowed if none is changed.
    pub(super) fn all_as_shown(calls: &[Self]) -> Cow<'_, [Self]> {
        let is_changed = |call: &Self| {
            let has_other =
                |(name, values): &(String, Vec<Value>)| is_hidden(name) || values.iter().any(hides);
            is_hidden(&call.name) || call.arguments.iter().any(has_other)
        };
        if calls.iter().any(is_changed) {
            calls.iter().map(Self::as_shown).collect::<Vec<_>>().into()
        } else {
            calls.into()
        }
    }

    /// Returns the call with its name, and those of its arguments, in a form that ignores spelling.
    pub(super) fn loosely_named(self) -> Self {
        let arguments =
            self.arguments.into_iter().map(|(name, values)| (loose_name(&name), values)).collect();
        Self { name: loose_name(&self.name), arguments }
    }

    fn as_shown(&self) -> Self {
        let argument = |(name, values): &(String, Vec<Value>)| {
            (shown_value(name).into_owned(), values.iter().map(value_as_shown).collect())
        };
        let arguments = self.arguments.iter().map(argument).collect();
        Self { name: shown_value(&self.name).into_owned(), arguments }
    }
}

/// Texts around arguments that are opened: sets encode them as JSON, and some twice.
const MOST_ENCODED: usize = 3;

/// Reads arguments that are a text: JSON, also encoded several times, or a dict as Python prints it.
fn written_arguments(text: &str) -> Option<Map<String, Value>> {
    let read = |text: &str| serde_json::from_str(text).ok().or_else(|| python::literal(text.trim()).ok());
    let mut value = read(text)?;
    for _ in 0..MOST_ENCODED {
        match value {
            Value::String(inner) => value = read(&inner)?,
            Value::Object(arguments) => return Some(arguments),
            _ => return None,
        }
    }
    None
}

fn is_hidden(text: &str) -> bool {
    matches!(shown_value(text), Cow::Owned(_))
}

/// Whether a value has a text that is shown in another way.
fn hides(value: &Value) -> bool {
    match value {
        Value::String(text) => is_hidden(text),
        Value::Array(elements) => elements.iter().any(hides),
        Value::Object(members) => members.iter().any(|(key, value)| is_hidden(key) || hides(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn value_as_shown(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown_value(text).into_owned()),
        Value::Array(elements) => elements.iter().map(value_as_shown).collect(),
        Value::Object(members) => {
            let member =
                |(key, value): (&String, &Value)| (shown_value(key).into_owned(), value_as_shown(value));
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_as_json_encoded_twice_and_as_a_dict_of_python() {
        let arguments = json!({"pier": "north", "is_late": true, "times": [2, null]});
        let once = arguments.to_string();
        let twice = json!(once).to_string();
        let python = "{'pier': 'north', 'is_late': True, 'times': [2, None]}";
        let expected: Vec<(String, Vec<Value>)> = arguments
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| (name.clone(), vec![value.clone()]))
            .collect();
        for written in
            [arguments.clone(), json!(once), json!(twice), json!(python), json!(json!(python).to_string())]
        {
            let call = Call { id: None, name: "ring".to_owned(), arguments: written.clone() };
            let found = ItemCall::of_call(&call).map(|call| call.arguments);
            assert_eq!(found.as_ref(), Some(&expected), "{written}");
        }
        for unread in [json!("north"), json!("[1]"), json!("\"[1]\""), json!(""), json!(3)] {
            let call = Call { id: None, name: "ring".to_owned(), arguments: unread.clone() };
            assert_eq!(ItemCall::of_call(&call), None, "{unread}");
        }
    }
}
