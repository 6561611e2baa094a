//! One line of a question file, whatever the version of the leaderboard.
//!
//! `question` is a text in V1, a list of messages in V2, and a list of turns of messages
//! since V3; `function` is one object or a list. Which form it was is told, so that
//! who needs one form can refuse the others. Multi-turn files of V3 and V4 name classes
//! instead of functions: they have no `function` and are told as unreadable.

use serde::Deserialize as _;
use serde_json::Value;

use crate::conversation::{Message, Role};
use crate::text::short::shortened;

/// One entry, borrowed from its line.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'v> {
    /// Its id, where it has one that is a text.
    pub id: Option<&'v str>,
    /// How the question is written.
    pub form: Form,
    /// The turns; one where the form knows none.
    pub turns: Vec<Vec<Message>>,
    /// The functions as they stand: an object or a list.
    pub function: &'v Value,
}

/// How a question is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What the user says, as in V1.
    Text,
    /// A list of messages, as in V2.
    Messages,
    /// A list of turns, each a list of messages, since V3.
    Turns,
}

/// Why a line is no entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{key}\": expected {expected}, found {found}")]
pub struct NoEntry {
    /// The key that is not as it should be.
    pub key: &'static str,
    /// What should stand there.
    pub expected: &'static str,
    /// What stands there.
    pub found: String,
}

impl<'v> Entry<'v> {
    /// Reads the object of one line.
    ///
    /// # Errors
    /// `question` or `function` is missing or in no form of any version.
    pub fn read(record: &'v Value) -> Result<Self, NoEntry> {
        const FUNCTIONS: &str = "a list of functions";
        let (form, turns) = question(record.get("question"))?;
        let function = record.get("function").filter(|function| !function.is_null());
        let function = function.ok_or_else(|| no_entry("function", FUNCTIONS, None))?;
        if !function.is_object() && !function.is_array() && !function.is_string() {
            return Err(no_entry("function", FUNCTIONS, Some(function)));
        }
        Ok(Self { id: record.get("id").and_then(Value::as_str), form, turns, function })
    }

    /// The functions, where they are a list or one object.
    pub fn functions(&self) -> &'v [Value] {
        match self.function {
            Value::Array(functions) => functions,
            function => std::slice::from_ref(function),
        }
    }

    /// All messages, turn by turn.
    pub fn into_messages(self) -> Vec<Message> {
        self.turns.into_iter().flatten().collect()
    }
}

/// A question's form and its turns.
fn question(value: Option<&Value>) -> Result<(Form, Vec<Vec<Message>>), NoEntry> {
    const QUESTION: &str = "a list of turns of messages";
    match value {
        Some(Value::String(text)) => Ok((Form::Text, vec![vec![Message::text(Role::User, text)]])),
        Some(Value::Array(list)) if list.iter().any(Value::is_object) => {
            Ok((Form::Messages, vec![messages(list)?]))
        }
        Some(Value::Array(list)) => {
            let turn = |turn: &Value| match turn {
                Value::Array(list) => messages(list),
                other => Err(no_entry("question", QUESTION, Some(other))),
            };
            Ok((Form::Turns, list.iter().map(turn).collect::<Result<_, _>>()?))
        }
        other => Err(no_entry("question", QUESTION, other)),
    }
}

fn messages(list: &[Value]) -> Result<Vec<Message>, NoEntry> {
    const MESSAGES: &str = "messages with a role and a text as content";
    let message = |value: &Value| {
        let role = Role::deserialize(value.get("role")?).ok()?;
        Some(Message::text(role, value.get("content")?.as_str()?))
    };
    list.iter()
        .map(|value| message(value).ok_or_else(|| no_entry("question", MESSAGES, Some(value))))
        .collect()
}

fn no_entry(key: &'static str, expected: &'static str, found: Option<&Value>) -> NoEntry {
    NoEntry { key, expected, found: found.map_or_else(|| "nothing".to_owned(), brief) }
}

/// A value short enough for a message.
fn brief(value: &Value) -> String {
    const MAX_CHARS: usize = 60;
    shortened(&value.to_string(), MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_version_of_a_question_is_read_and_its_form_told() {
        let message = json!({"role": "user", "content": "Ring it"});
        for (question, form) in [
            (json!("Ring it"), Form::Text),
            (json!([message]), Form::Messages),
            (json!([[message]]), Form::Turns),
        ] {
            let record = json!({"id": "a_1", "question": question, "function": []});
            let entry = Entry::read(&record).unwrap();
            assert_eq!((entry.id, entry.form), (Some("a_1"), form));
            assert_eq!(entry.turns, [[Message::text(Role::User, "Ring it")]]);
        }
    }

    #[test]
    fn one_function_and_a_list_of_one_are_the_same() {
        let function = json!({"name": "ring"});
        for written in [function.clone(), json!([function])] {
            let record = json!({"question": "Ring it", "function": written});
            assert_eq!(Entry::read(&record).unwrap().functions(), std::slice::from_ref(&function));
        }
    }

    #[test]
    fn what_is_no_entry_says_which_key_and_what_was_found() {
        for (record, says) in [
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
            assert_eq!(Entry::read(&record).unwrap_err().to_string(), says);
        }
    }
}
