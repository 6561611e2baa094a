//! What is compared: the texts, functions and calls of one row of a training set or one entry of a benchmark.

use serde_json::Value;

use crate::conversation::{Call, Message, Role};
use crate::ingest::fate::Record;

/// One row or entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Item {
    /// The messages of the user, in order; each is compared by itself.
    pub queries: Vec<String>,
    /// The function docs: JSON, or the text in which they were sent.
    pub functions: Docs,
    /// The calls of the model, or the ground truth of an entry.
    pub calls: Vec<ItemCall>,
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
                Role::Assistant => self.calls.extend(message.calls.iter().filter_map(ItemCall::of_call)),
                Role::System | Role::Tool => {}
            }
        }
    }
}

impl ItemCall {
    /// Returns the call of a model; `None` if its arguments are no object.
    pub fn of_call(call: &Call) -> Option<Self> {
        let arguments = match &call.arguments {
            Value::Object(arguments) => arguments.clone(),
            Value::String(text) => serde_json::from_str(text).ok()?,
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
}
