//! Writes question and answer files.
//!
//! A category is one question file and, if it has answers, one answer file with the same ids on
//! the same lines, because the official evaluator pairs them by position. A category without
//! entries should have no file: the evaluator reads an empty file as a category that was not run.
//! Deliberately absent: selecting, sorting and judging entries, and creating files.

use std::io::{self, Write};

use rayon::prelude::*;
use serde_json::Value;

use super::category::Category;
use super::ids::Ids;
use super::python_json::{write_array, write_object, write_string};
use crate::conversation::{Message, Role};

/// An entry to write.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'a> {
    /// The id of the request, for error messages.
    pub request_id: &'a str,
    /// The conversation up to the answer; only role and text are written.
    pub messages: &'a [Message],
    /// The functions, in BFCL form.
    pub functions: &'a [Value],
    /// The correct calls, if the category has answers: `[{name: {parameter: [alternatives]}}]`.
    pub ground_truth: Option<&'a [Value]>,
    /// The number of the doc list; entries of the same list must be consecutive.
    pub list: u32,
}

/// Writes the entries of one category, in their order, and returns their ids.
///
/// `entries` must be grouped by `list`; `ids` numbers them. Nothing is written to `answers` for a category without
/// answers. Lines are formatted in parallel, in blocks.
///
/// # Errors
/// If a writer fails, or an entry of a category with answers has no ground truth.
pub fn write_category(
    category: Category,
    ids: &mut Ids<'_>,
    entries: &[NewEntry<'_>],
    questions: &mut dyn Write,
    answers: &mut dyn Write,
) -> io::Result<Vec<String>> {
    let ids: Vec<String> = entries.iter().map(|entry| ids.next(category, entry.list)).collect();
    for (ids, entries) in ids.chunks(LINES_AT_A_TIME).zip(entries.chunks(LINES_AT_A_TIME)) {
        let lines = ids.par_iter().zip(entries).map(|(id, entry)| lines_of(category, id, entry));
        for (question, answer) in lines.collect::<io::Result<Vec<_>>>()? {
            questions.write_all(&question)?;
            answers.write_all(&answer)?;
        }
    }
    Ok(ids)
}

/// Number of entries whose lines are in memory at the same time.
pub const LINES_AT_A_TIME: usize = 512;

/// Returns the question line and the answer line of an entry; the latter is empty for a category without answers.
fn lines_of(category: Category, id: &str, entry: &NewEntry<'_>) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut question, mut answer) = (Vec::new(), Vec::new());
    write_question(&mut question, id, entry)?;
    if category.has_answers() {
        write_answer(&mut answer, id, entry)?;
    }
    Ok((question, answer))
}

/// Writes the question line. `question` is a list of turns; a live entry has one.
fn write_question(out: &mut dyn Write, id: &str, entry: &NewEntry<'_>) -> io::Result<()> {
    out.write_all(b"{\"id\": ")?;
    write_string(out, id)?;
    out.write_all(b", \"question\": [[")?;
    for (index, message) in entry.messages.iter().enumerate() {
        if index > 0 {
            out.write_all(b", ")?;
        }
        out.write_all(b"{\"role\": ")?;
        write_string(out, role_name(message.role))?;
        out.write_all(b", \"content\": ")?;
        write_string(out, &message.content)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]], \"function\": [")?;
    for (index, function) in entry.functions.iter().enumerate() {
        if index > 0 {
            out.write_all(b", ")?;
        }
        write_function(out, function)?;
    }
    out.write_all(b"]}\n")
}

/// Writes a function with the three keys of the official files in their order, then all other keys.
fn write_function(out: &mut dyn Write, function: &Value) -> io::Result<()> {
    const FIRST: [&str; 3] = ["name", "description", "parameters"];
    let first = FIRST.into_iter().filter_map(|key| Some((key, function.get(key)?)));
    let others = function.as_object().into_iter().flatten();
    let others = others.map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| !FIRST.contains(key));
    write_object(out, first.chain(others))
}

fn write_answer(out: &mut dyn Write, id: &str, entry: &NewEntry<'_>) -> io::Result<()> {
    let Some(ground_truth) = entry.ground_truth else {
        let message = format!("request {} is scored but has no ground truth", entry.request_id);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    out.write_all(b"{\"id\": ")?;
    write_string(out, id)?;
    out.write_all(b", \"ground_truth\": ")?;
    write_array(out, ground_truth)?;
    out.write_all(b"}\n")
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_entry_is_one_line_in_each_file() {
        let messages =
            [Message::text(Role::System, "Be brief."), Message::text(Role::User, "Wie warm ist Köln?")];
        let functions = [json!({
            "description": "Gives the temperature.", "name": "temperature",
            "parameters": {"type": "dict", "required": ["city"], "properties": {"city": {"type": "string"}}},
        })];
        let ground_truth = [json!({"temperature": {"city": ["Köln"]}})];
        let entry = NewEntry {
            request_id: "r",
            messages: &messages,
            functions: &functions,
            ground_truth: Some(&ground_truth),
            list: 4,
        };
        let (mut questions, mut answers) = (Vec::new(), Vec::new());
        let mut ids = Ids::new("", "");
        let ids = write_category(Category::Simple, &mut ids, &[entry], &mut questions, &mut answers).unwrap();
        assert_eq!(ids, ["live_simple_0-0-0"]);
        assert_eq!(
            text(questions),
            concat!(
                r#"{"id": "live_simple_0-0-0", "question": [[{"role": "system", "content": "Be brief."}, "#,
                r#"{"role": "user", "content": "Wie warm ist K\u00f6ln?"}]], "function": [{"name": "temperature", "#,
                r#""description": "Gives the temperature.", "parameters": {"type": "dict", "required": ["city"], "#,
                r#""properties": {"city": {"type": "string"}}}}]}"#,
                "\n"
            )
        );
        assert_eq!(
            text(answers),
            concat!(
                r#"{"id": "live_simple_0-0-0", "ground_truth": [{"temperature": {"city": ["K\u00f6ln"]}}]}"#,
                "\n"
            )
        );
    }

    fn entry(list: u32) -> NewEntry<'static> {
        NewEntry { request_id: "r", messages: &[], functions: &[], ground_truth: None, list }
    }

    fn write(
        category: Category,
        entry: NewEntry<'_>,
        questions: &mut dyn Write,
        answers: &mut dyn Write,
    ) -> io::Result<Vec<String>> {
        write_category(category, &mut Ids::new("", ""), &[entry], questions, answers)
    }

    #[test]
    fn a_category_without_answers_has_no_answer_lines() {
        let mut answers = Vec::new();
        write(Category::Irrelevance, entry(7), &mut io::sink(), &mut answers).unwrap();
        assert_eq!(answers, b"");
    }

    #[test]
    fn the_error_for_a_missing_ground_truth_names_the_request() {
        let error = write(Category::Multiple, entry(0), &mut io::sink(), &mut io::sink()).unwrap_err();
        assert_eq!(error.to_string(), "request r is scored but has no ground truth");
    }

    proptest! {
        #[test]
        fn every_text_is_on_one_line_and_parses_to_the_same_text(content in any::<String>(), description in any::<String>()) {
            let messages = [Message::text(Role::User, content.clone())];
            let functions = [json!({"name": "f", "description": description, "parameters": {}})];
            let entry = NewEntry { messages: &messages, functions: &functions, ..entry(0) };
            let mut questions = Vec::new();
            write(Category::Relevance, entry, &mut questions, &mut io::sink()).unwrap();
            let questions = text(questions);
            prop_assert_eq!(questions.lines().count(), 1);
            let read: Value = serde_json::from_str(&questions).unwrap();
            prop_assert_eq!(&read["question"], &json!([[{"role": "user", "content": content}]]));
            prop_assert_eq!(&read["function"], &Value::from(functions.to_vec()));
        }
    }
}
