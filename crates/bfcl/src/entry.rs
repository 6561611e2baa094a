//! A line of a question file, of any version of the leaderboard.
//!
//! `question` is a text in V1, a list of messages in V2, and a list of turns of messages since V3;
//! `function` is one object or a list. The entry has the form of its question, so that callers can
//! refuse a form. Multi-turn files of V3 and V4 name classes instead of functions: they have no
//! `function`, so their lines are an error.

use serde::Deserialize as _;
use serde_json::Value;

use crate::conversation::{Message, Role};
use callsieve_text::short::shortened;

/// An entry, borrowed from its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'v> {
    /// The id, if there is one and it is a text.
    pub id: Option<&'v str>,
    /// The form of the question.
    pub form: QuestionForm,
    /// The turns; a single one if the form has no turns.
    pub turns: Vec<Vec<Message>>,
    /// The functions, unchanged: an object or a list.
    pub function: &'v Value,
}

/// The form of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionForm {
    /// The text of the user message, as in V1.
    Text,
    /// A list of messages, as in V2.
    Messages,
    /// A list of turns, each a list of messages, since V3.
    Turns,
}

/// The error for a line that is not an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{key}\": expected {expected}, found {found}")]
pub struct EntryError {
    /// The key with the problem.
    pub key: &'static str,
    /// The expected value.
    pub expected: &'static str,
    /// The value that was found.
    pub found: String,
}

impl<'v> Entry<'v> {
    /// Reads the object of a line.
    ///
    /// # Errors
    /// If `question` or `function` is missing, or does not have the form of any version.
    pub fn read(record: &'v Value) -> Result<Self, EntryError> {
        const FUNCTIONS: &str = "a list of functions";
        let (form, turns) = question(record.get("question"))?;
        let function = record.get("function").filter(|function| !function.is_null());
        let function = function.ok_or_else(|| entry_error("function", FUNCTIONS, None))?;
        if !function.is_object() && !function.is_array() && !function.is_string() {
            return Err(entry_error("function", FUNCTIONS, Some(function)));
        }
        Ok(Self { id: record.get("id").and_then(Value::as_str), form, turns, function })
    }

    /// Returns the functions, written as a list or as one object.
    pub fn functions(&self) -> &'v [Value] {
        match self.function {
            Value::Array(functions) => functions,
            function => std::slice::from_ref(function),
        }
    }

    /// Returns the messages of all turns.
    pub fn into_messages(self) -> Vec<Message> {
        self.turns.into_iter().flatten().collect()
    }
}

/// Returns the form and the turns of a question.
fn question(value: Option<&Value>) -> Result<(QuestionForm, Vec<Vec<Message>>), EntryError> {
    const QUESTION: &str = "a list of turns of messages";
    match value {
        Some(Value::String(text)) => Ok((QuestionForm::Text, vec![vec![Message::text(Role::User, text)]])),
        Some(Value::Array(list)) if list.iter().any(Value::is_object) => {
            Ok((QuestionForm::Messages, vec![messages(list)?]))
        }
        Some(Value::Array(list)) => {
            let turn = |turn: &Value| match turn {
                Value::Array(list) => messages(list),
                other => Err(entry_error("question", QUESTION, Some(other))),
            };
            Ok((QuestionForm::Turns, list.iter().map(turn).collect::<Result<_, _>>()?))
        }
        other => Err(entry_error("question", QUESTION, other)),
    }
}

fn messages(list: &[Value]) -> Result<Vec<Message>, EntryError> {
    const MESSAGES: &str = "messages with a role and a text as content";
    let message = |value: &Value| {
        let role = Role::deserialize(value.get("role")?).ok()?;
        Some(Message::text(role, value.get("content")?.as_str()?))
    };
    list.iter()
        .map(|value| message(value).ok_or_else(|| entry_error("question", MESSAGES, Some(value))))
        .collect()
}

fn entry_error(key: &'static str, expected: &'static str, found: Option<&Value>) -> EntryError {
    EntryError { key, expected, found: found.map_or_else(|| "nothing".to_owned(), brief) }
}

/// Shortens a value for a message.
fn brief(value: &Value) -> String {
    const MAX_CHARS: usize = 60;
    shortened(&value.to_string(), MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn questions_of_every_version_are_read_with_their_form() {
        let message = json!({"role": "user", "content": "Ring it"});
        for (question, form) in [
            (json!("Ring it"), QuestionForm::Text),
            (json!([message]), QuestionForm::Messages),
            (json!([[message]]), QuestionForm::Turns),
        ] {
            let record = json!({"id": "a_1", "question": question, "function": []});
            let entry = Entry::read(&record).unwrap();
            assert_eq!((entry.id, entry.form), (Some("a_1"), form));
            assert_eq!(entry.turns, [[Message::text(Role::User, "Ring it")]]);
        }
    }

    #[test]
    fn a_single_function_equals_a_list_of_one() {
        let function = json!({"name": "ring"});
        for written in [function.clone(), json!([function])] {
            let record = json!({"question": "Ring it", "function": written});
            assert_eq!(Entry::read(&record).unwrap().functions(), std::slice::from_ref(&function));
        }
    }

    #[test]
    fn errors_name_the_key_and_the_value_that_was_found() {
        for (record, expected) in [
            (
                json!({"id": "a", "ground_truth": []}),
                "\"question\": expected a list of turns of messages, found nothing",
            ),
            (
                json!({"question": [], "involved_classes": []}),
                "\"function\": expected a list of functions, found nothing",
            ),
            (
                json!({"question": [7], "function": []}),
                "\"question\": expected a list of turns of messages, found 7",
            ),
            (
                json!({"question": [[{"role": "user"}]], "function": []}),
                "\"question\": expected messages with a role and a text as content, found {\"role\":\"user\"}",
            ),
            (json!({"question": "x", "function": 3}), "\"function\": expected a list of functions, found 3"),
        ] {
            assert_eq!(Entry::read(&record).unwrap_err().to_string(), expected);
        }
    }
}
