//! Writes the question and answer files of the Berkeley Function Calling Leaderboard.
//!
//! One category is one question file and, where it has answers, one answer file
//! with the same ids on the same lines: the official evaluator pairs them by
//! position. `ids` makes the ids. A category without entries should have no file: the evaluator reads an empty
//! one as a category that was not run. Deliberately absent: choosing, sorting and
//! judging entries, and making files.

use std::io::{self, Write};

use rayon::prelude::*;
use serde_json::Value;

use super::category::Category;
use super::ids::Ids;
use super::python_json::{write_array, write_object, write_string};
use crate::conversation::{Message, Role};

/// One entry of a dataset.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The request the entry was made of; only errors name it.
    pub request_id: &'a str,
    /// The conversation up to the answer; only role and text are written.
    pub messages: &'a [Message],
    /// The functions offered, in BFCL form.
    pub functions: &'a [Value],
    /// The calls that are right, where the category has answers: `[{name: {parameter: [alternatives]}}]`.
    pub ground_truth: Option<&'a [Value]>,
    /// Entries of one doc list carry the same number and stand next to each other.
    pub list: u32,
}

/// Writes the entries of one category, in the order given, and returns their ids.
///
/// `entries` must come grouped by `list`; `ids` numbers them. Nothing is written to `answers` for a category without
/// them. Lines are made in parallel, some hundred at a time.
///
/// # Errors
/// When a writer fails, or an entry of a category with answers has no ground truth.
pub fn write_category(
    category: Category,
    ids: &mut Ids<'_>,
    entries: &[Entry<'_>],
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

/// Entries whose lines are in memory together.
pub(crate) const LINES_AT_A_TIME: usize = 512;

/// An entry's line of questions and its line of answers, which is empty for a category without them.
fn lines_of(category: Category, id: &str, entry: &Entry<'_>) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut question, mut answer) = (Vec::new(), Vec::new());
    write_question(&mut question, id, entry)?;
    if category.has_answers() {
        write_answer(&mut answer, id, entry)?;
    }
    Ok((question, answer))
}

/// `question` is a list of turns, and a live entry has one.
fn write_question(out: &mut dyn Write, id: &str, entry: &Entry<'_>) -> io::Result<()> {
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

/// The official files have the same three keys in the same order everywhere; any other key follows them.
fn write_function(out: &mut dyn Write, function: &Value) -> io::Result<()> {
    const FIRST: [&str; 3] = ["name", "description", "parameters"];
    let first = FIRST.into_iter().filter_map(|key| Some((key, function.get(key)?)));
    let others = function.as_object().into_iter().flatten();
    let others = others.map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| !FIRST.contains(key));
    write_object(out, first.chain(others))
}

fn write_answer(out: &mut dyn Write, id: &str, entry: &Entry<'_>) -> io::Result<()> {
    let Some(ground_truth) = entry.ground_truth else {
        let message = format!("request {} is to be scored but has no ground truth", entry.request_id);
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
        let entry = Entry {
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

    fn entry(list: u32) -> Entry<'static> {
        Entry { request_id: "r", messages: &[], functions: &[], ground_truth: None, list }
    }

    fn write(
        category: Category,
        entry: Entry<'_>,
        questions: &mut dyn Write,
        answers: &mut dyn Write,
    ) -> io::Result<Vec<String>> {
        write_category(category, &mut Ids::new("", ""), &[entry], questions, answers)
    }

    #[test]
    fn a_category_without_answers_writes_none() {
        let mut answers = Vec::new();
        write(Category::Irrelevance, entry(7), &mut io::sink(), &mut answers).unwrap();
        assert_eq!(answers, b"");
    }

    #[test]
    fn a_scored_entry_without_a_ground_truth_is_refused_by_name() {
        let error = write(Category::Multiple, entry(0), &mut io::sink(), &mut io::sink()).unwrap_err();
        assert_eq!(error.to_string(), "request r is to be scored but has no ground truth");
    }

    proptest! {
        #[test]
        fn every_text_stays_on_its_line_and_reads_back(content in any::<String>(), description in any::<String>()) {
            let messages = [Message::text(Role::User, content.clone())];
            let functions = [json!({"name": "f", "description": description, "parameters": {}})];
            let entry = Entry { messages: &messages, functions: &functions, ..entry(0) };
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
