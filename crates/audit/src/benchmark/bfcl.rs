//! Question files of BFCL: all versions and categories, with answers and the docs of classes.
//!
//! `BFCL_<version>_<category>.json` and the `gorilla_openfunctions_v1_test_<category>.json` of the first release.
//! Answers are in `possible_answer` next to the file or to its folder: accepted values by call, texts of Python calls,
//! or, in the first release, the line with the number of the question. Entries of several turns name classes, whose docs
//! are in `multi_turn_func_doc`; the conversations before those of `memory` are in `memory_prereq_conversation`. What an
//! agent must answer in words is no call. `format_sensitivity` only lists ids of other files.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::entry::{ReadEntry, Result, calls_of_texts};
use super::formats::{Source, is_hidden, listed};
use super::read::{Reading, text_of};
use crate::AuditError;
use crate::item::{Docs, Item, ItemCall};
use callsieve_bfcl::entry::Entry;
use callsieve_bfcl::files::{ANSWERS, QuestionName, lines};

/// The folder of the docs of classes.
const CLASS_DOCS: &str = "multi_turn_func_doc";
/// The folder of the conversations before the questions about memory.
const EARLIER: &str = "memory_prereq_conversation";
/// The category that lists ids of other files.
const IDS_ONLY: &str = "format_sensitivity";
/// The key of the classes whose functions an entry has.
const CLASSES_OF_ENTRY: &str = "involved_classes";
/// Categories whose answers are words.
const ANSWERED_IN_WORDS: [&str; 2] = ["memory", "web_search"];
/// Classes with the files of their docs. The three memories have the same name.
const CLASSES: [(&str, &str); 12] = [
    ("GorillaFileSystem", "gorilla_file_system.json"),
    ("MathAPI", "math_api.json"),
    ("MemoryAPI", "memory_kv.json"),
    ("MemoryAPI", "memory_rec_sum.json"),
    ("MemoryAPI", "memory_vector.json"),
    ("MessageAPI", "message_api.json"),
    ("TicketAPI", "ticket_api.json"),
    ("TradingBot", "trading_bot.json"),
    ("TravelAPI", "travel_booking.json"),
    ("TwitterAPI", "posting_api.json"),
    ("VehicleControlAPI", "vehicle_control.json"),
    ("WebSearchAPI", "web_search.json"),
];

/// Returns whether a name is that of a question file.
pub(super) fn is_name(name: &str) -> bool {
    version_and_category(name).is_some()
}

/// Returns the category of a file as results name it: `v4_live_simple`.
pub(super) fn category(name: &str) -> String {
    match version_and_category(name) {
        Some((version, category)) => format!("{version}_{category}"),
        None => name.strip_suffix(".json").unwrap_or(name).replacen("memory_", "memory_prereq_", 1),
    }
}

fn version_and_category(name: &str) -> Option<(&str, &str)> {
    let stem = name.strip_suffix(".json").or_else(|| name.strip_suffix(".jsonl"))?;
    let QuestionName { version, category, .. } = QuestionName::read(stem)?;
    (category != IDS_ONLY).then_some((version, category))
}

/// Returns the question files in a folder, and the earlier conversations, sorted by name.
pub(super) fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    if folder.file_name().is_some_and(|name| name == ANSWERS) {
        return Ok(Vec::new());
    }
    let is_question = |path: &PathBuf| {
        path.is_file() && path.file_name().and_then(|name| name.to_str()).is_some_and(is_name)
    };
    let mut files: Vec<PathBuf> = listed(folder)?.into_iter().filter(is_question).collect();
    let earlier = folder.join(EARLIER);
    if !files.is_empty() && earlier.is_dir() {
        files.extend(listed(&earlier)?.into_iter().filter(|path| path.is_file() && !is_hidden(path)));
    }
    Ok(files)
}

/// Returns the files next to a question file that may be read with it: its answers, and the docs of classes.
#[allow(clippy::unnecessary_wraps)] // Another reader of the table lists a folder.
pub(super) fn companions(questions: &Path) -> Result<Vec<PathBuf>> {
    let docs = CLASSES.iter().filter_map(|(_, name)| next_to(questions, CLASS_DOCS, name));
    Ok(answers_of(questions).into_iter().chain(docs).collect())
}

/// Reads the entries of a question file.
pub(super) fn read(source: &Source, _: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        let answers = Answers::of(path)?;
        let has_calls = !ANSWERED_IN_WORDS.iter().any(|category| source.name.ends_with(category));
        let mut classes = BTreeMap::new();
        for (number, line) in lines(&text_of(path)?) {
            let bad = |found: String| AuditError::Entry { path: path.clone(), line: number, found };
            let mut record: Value =
                serde_json::from_str(line).map_err(|error| bad(format!("not JSON: {error}")))?;
            let id = record["id"].as_str().map_or_else(|| format!("{}:{number}", source.name), str::to_owned);
            let functions = functions(&record, path, &mut classes)?;
            if record.get("question").is_some() && record.get("function").is_none_or(Value::is_null) {
                record["function"] = json!([]);
            }
            let entry = Entry::read(&record).map_err(|error| bad(error.to_string()))?;
            let mut item = Item::default();
            item.add(entry.into_messages());
            if has_calls
                && let Some(truth) = record.get("ground_truth").or_else(|| answers.of_entry(&id, number))
            {
                item.calls = calls(truth, &functions);
                item.turns = turns(truth, item.calls.len());
            }
            item.has_environment = record.get("function").and_then(Value::as_array).is_none_or(Vec::is_empty)
                && record.get(CLASSES_OF_ENTRY).is_some();
            item.functions = match record.get("function") {
                Some(Value::String(text)) if !text.trim().is_empty() => Docs::Text(text.clone()),
                _ => Docs::Read(functions),
            };
            entries.push(ReadEntry { id, record: number as u64, item });
        }
    }
    Ok(entries)
}

/// Returns the functions of an entry: its own, or those of its classes without the excluded ones.
fn functions(record: &Value, path: &Path, known: &mut BTreeMap<String, Vec<Value>>) -> Result<Vec<Value>> {
    match record.get("function") {
        Some(Value::Array(functions)) => return Ok(functions.clone()),
        Some(function @ Value::Object(_)) => return Ok(vec![function.clone()]),
        _ => {}
    }
    let mut functions: Vec<Value> = Vec::new();
    for class in record[CLASSES_OF_ENTRY].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !known.contains_key(class) {
            known.insert(class.to_owned(), docs_of_class(class, path)?);
        }
        functions.extend(known[class].iter().cloned());
    }
    if let Some(excluded) = record["excluded_function"].as_array() {
        functions.retain(|function| !excluded.contains(&function["name"]));
    }
    Ok(functions)
}

/// Reads the docs of a class; none if its file is not there.
fn docs_of_class(class: &str, questions: &Path) -> Result<Vec<Value>> {
    let mut docs: Vec<Value> = Vec::new();
    for (_, name) in CLASSES.iter().filter(|(known, _)| *known == class) {
        let Some(path) = next_to(questions, CLASS_DOCS, name) else { continue };
        for (number, line) in lines(&text_of(&path)?) {
            let doc: Value = serde_json::from_str(line).map_err(|error| AuditError::Entry {
                path: path.clone(),
                line: number,
                found: format!("not JSON: {error}"),
            })?;
            // The memories share functions.
            if !docs.contains(&doc) {
                docs.push(doc);
            }
        }
    }
    Ok(docs)
}

/// Returns a file in a folder next to a question file, next to its folder, or next to the folder above.
fn next_to(questions: &Path, folder: &str, name: &str) -> Option<PathBuf> {
    let places = questions.ancestors().skip(1).take(3).map(|above| above.join(folder).join(name));
    places.into_iter().find(|path| path.is_file())
}

/// Returns the file of the answers to a question file.
fn answers_of(questions: &Path) -> Option<PathBuf> {
    next_to(questions, ANSWERS, questions.file_name()?.to_str()?)
}

/// The ground truths of a question file.
#[derive(Debug, Default)]
struct Answers {
    by_id: HashMap<String, Value>,
    /// Those of the first release, which have no ids.
    by_line: HashMap<usize, Value>,
}

impl Answers {
    fn of(questions: &Path) -> Result<Self> {
        let mut answers = Self::default();
        let Some(path) = answers_of(questions) else { return Ok(answers) };
        for (number, line) in lines(&text_of(&path)?) {
            let mut record: Value = serde_json::from_str(line).map_err(|error| AuditError::Entry {
                path: path.clone(),
                line: number,
                found: format!("not JSON: {error}"),
            })?;
            if let Some(id) = record["id"].as_str().map(str::to_owned) {
                answers.by_id.insert(id, record["ground_truth"].take());
            } else {
                answers.by_line.insert(number, record);
            }
        }
        Ok(answers)
    }

    fn of_entry(&self, id: &str, line: usize) -> Option<&Value> {
        self.by_id.get(id).or_else(|| self.by_line.get(&line))
    }
}

/// Returns the calls of a ground truth.
fn calls(truth: &Value, functions: &[Value]) -> Vec<ItemCall> {
    match truth {
        Value::Array(parts) if parts.iter().all(|part| part.is_string() || part.is_array()) => {
            let texts = parts
                .iter()
                .flat_map(|part| part.as_array().map_or(std::slice::from_ref(part), Vec::as_slice));
            calls_of_texts(texts.filter_map(Value::as_str), functions).unwrap_or_default()
        }
        Value::Array(parts) => parts.iter().filter_map(ItemCall::of_ground_truth).collect(),
        // One object with all calls; equal names are numbered.
        Value::Object(calls) => {
            let of = |(name, arguments): (&String, &Value)| {
                let mut call = ItemCall::of_ground_truth(&json!({ name: arguments }))?;
                unnumbered(name, functions).clone_into(&mut call.name);
                Some(call)
            };
            calls.iter().filter_map(of).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns after how many calls each turn of a ground truth ends; nothing for one turn, or if not all of its calls were read.
fn turns(truth: &Value, n_calls: usize) -> Vec<usize> {
    let of_turns = truth.as_array().into_iter().flatten().map(|turn| turn.as_array().map(Vec::len));
    let Some(lengths) = of_turns.collect::<Option<Vec<usize>>>() else { return Vec::new() };
    let ends = lengths.iter().scan(0, |end, n| {
        *end += n;
        Some(*end)
    });
    let ends: Vec<usize> = ends.collect();
    if ends.last() == Some(&n_calls) { ends } else { Vec::new() }
}

/// Returns a name without the number at its end, unless it is that of a function.
fn unnumbered<'n>(name: &'n str, functions: &[Value]) -> &'n str {
    let is_function = |name: &str| functions.iter().any(|function| function["name"] == name);
    match name.rsplit_once('_') {
        Some((bare, number)) if !is_function(name) && number.parse::<u32>().is_ok() => bare,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::tests::read_files;

    fn names(item: &Item) -> Vec<&str> {
        let Docs::Read(functions) = &item.functions else { panic!("{item:?}") };
        functions.iter().filter_map(|function| function["name"].as_str()).collect()
    }

    fn called(item: &Item) -> Vec<String> {
        let call = |call: &ItemCall| {
            format!("{} {:?}", call.name, call.arguments.iter().map(|(name, _)| name).collect::<Vec<_>>())
        };
        item.calls.iter().map(call).collect()
    }

    const USER: &str = "{\"role\": \"user\", \"content\": \"Ring.\"}";

    #[test]
    fn turns_have_the_docs_of_their_classes_and_calls_as_texts() {
        let entry = format!(
            "{{\"id\": \"multi_turn_base_0\", \"question\": [[{USER}], [], [{USER}]], \"initial_config\": {{}}, \
             \"involved_classes\": [\"MathAPI\", \"MessageAPI\"], \"excluded_function\": [\"mean\"]}}"
        );
        let answer = "{\"id\": \"multi_turn_base_0\", \"ground_truth\": [[\"add(a=1,b=2)\", \"send('Ann', 1/6)\"], [], [\"send(to='Ann',text='Hi')\"]]}";
        let math = "{\"name\": \"add\", \"parameters\": {}}\n{\"name\": \"mean\", \"parameters\": {}}";
        let send = "{\"name\": \"send\", \"parameters\": {\"properties\": {\"to\": {}, \"text\": {}}}}";
        let files = |answer| {
            read_files(&[
                ("data/BFCL_v4_multi_turn_base.json", &entry),
                ("data/possible_answer/BFCL_v4_multi_turn_base.json", answer),
                ("data/multi_turn_func_doc/math_api.json", math),
                ("data/multi_turn_func_doc/message_api.json", send),
                ("data/BFCL_v4_format_sensitivity.json", "{\n\"a\": []\n}"),
            ])
            .unwrap()
        };
        let read = files(answer);
        let [(category, entries)] = &read[..] else { panic!("{read:?}") };
        assert_eq!((category.as_str(), entries[0].item.queries.len()), ("v4_multi_turn_base", 2));
        assert_eq!(names(&entries[0].item), ["add", "send"]);
        // One call cannot be read, so the answer is not compared: part of it would be found more easily.
        assert_eq!(called(&entries[0].item), [""; 0]);
        let read = files(&answer.replace("1/6", "'Hi'"));
        assert_eq!(
            called(&read[0].1[0].item),
            ["add [\"a\", \"b\"]", "send [\"to\", \"text\"]", "send [\"to\", \"text\"]"]
        );
    }

    #[test]
    fn answers_of_every_release_are_read() {
        let functions = "[{\"name\": \"ring\", \"parameters\": {\"type\": \"dict\", \"properties\": {\"bell\": {\"type\": \"string\"}}}}]";
        let question = format!("{{\"question\": \"Ring.\", \"function\": {functions}}}\n");
        let read = read_files(&[
            ("gorilla_openfunctions_v1_test_parallel_function.json", &question.repeat(2)),
            ("possible_answer/gorilla_openfunctions_v1_test_parallel_function.json",
                "{\"ring\": {\"bell\": [\"a\"]}}\n{\"ring_1\": {\"bell\": [\"a\"]}, \"ring_2\": {\"bell\": [\"b\", \"\"]}}\n"),
        ])
        .unwrap();
        assert_eq!(
            (read[0].0.as_str(), read[0].1[1].id.as_str()),
            ("v1_parallel_function", "v1_parallel_function:2")
        );
        assert_eq!(called(&read[0].1[0].item), ["ring [\"bell\"]"]);
        assert_eq!(called(&read[0].1[1].item), ["ring [\"bell\"]"; 2]);
        let own = question.replace("\"function\"", "\"ground_truth\": [\"ring(bell='a')\"], \"function\"");
        let read = read_files(&[("question/BFCL_v3_exec_simple.json", &own)]).unwrap();
        assert_eq!(called(&read[0].1[0].item), ["ring [\"bell\"]"]);
    }

    #[test]
    fn words_are_no_calls_and_earlier_conversations_are_a_category() {
        let entry = format!(
            "{{\"id\": \"memory_0\", \"question\": [[{USER}]], \"involved_classes\": [\"MemoryAPI\"]}}"
        );
        let read = read_files(&[
            ("BFCL_v4_memory.json", &entry),
            ("possible_answer/BFCL_v4_memory.json", "{\"id\": \"memory_0\", \"ground_truth\": [\"ring()\"]}"),
            (
                "memory_prereq_conversation/memory_customer.json",
                &format!(
                    "{{\"id\": \"memory_prereq_0\", \"topic\": \"x\", \"question\": [[{USER}], [{USER}]]}}"
                ),
            ),
        ])
        .unwrap();
        let categories: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(categories, ["v4_memory", "memory_prereq_customer"]);
        assert_eq!((called(&read[0].1[0].item).len(), names(&read[0].1[0].item).len()), (0, 0));
        assert_eq!(read[1].1[0].item.queries.len(), 2);
    }
}
