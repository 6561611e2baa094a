//! Dialogues of API-Bank: one a file, with the API calls of the assistant, and the docs of `all_apis.csv`.
//!
//! A folder of dialogues is a category. The table is looked for next to the dialogues, in `data` next to their folder,
//! and so on above. The functions of a dialogue are those that it calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::entry::{At, ReadEntry, Result, call_of, functions_of};
use super::formats::Source;
use super::read::{Peek, Reading, records};
use crate::item::{Docs, Item};
use callsieve_notation::python;

const FORMAT: &str = "api-bank";
/// The table of the APIs.
const TABLE: &str = "all_apis.csv";
/// Folders above a dialogue in which the table is looked for.
const LEVELS: usize = 4;

/// Returns whether a file is a dialogue.
pub(super) fn is_of(peek: &Peek<'_>) -> bool {
    peek.first_is(|turn| turn["role"] == "User" && turn["text"].is_string())
}

/// Reads the dialogues of a folder.
pub(super) fn read(source: &Source, _: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let docs = table(&source.files[0]).map(|path| docs_of(&path)).transpose()?.unwrap_or_default();
    let mut entries = Vec::new();
    for (path, record) in source.files.iter().zip(1..) {
        let mut item = Item::default();
        for (position, turn) in records(path, FORMAT)? {
            let at = At { path, line: position.line, format: FORMAT };
            match at.text(&turn, "role")? {
                "User" => item.queries.push(at.text(&turn, "text")?.to_owned()),
                "API" => {
                    let arguments = turn.get("param_dict").and_then(Value::as_object);
                    item.calls.push(call_of(at.text(&turn, "api_name")?, arguments.unwrap_or(&Map::new())));
                }
                "AI" => {}
                _ => return Err(at.bad("role", "User, AI or API", "another role")),
            }
        }
        let mut names: Vec<&String> = item.calls.iter().map(|call| &call.name).collect();
        names.sort();
        names.dedup();
        item.functions =
            Docs::Read(functions_of(names.iter().filter_map(|name| docs.get(*name).cloned()).collect()));
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        entries.push(ReadEntry { id, record, item });
    }
    Ok(entries)
}

/// Returns the table that is read with a dialogue.
#[allow(clippy::unnecessary_wraps)] // Another reader of the table lists a folder.
pub(super) fn companions(dialogue: &Path) -> Result<Vec<PathBuf>> {
    Ok(table(dialogue).into_iter().collect())
}

/// Finds the table of the APIs.
fn table(dialogue: &Path) -> Option<PathBuf> {
    let folders = dialogue.ancestors().skip(1).take(LEVELS);
    let places = folders.flat_map(|folder| [folder.join(TABLE), folder.join("data").join(TABLE)]);
    places.into_iter().find(|path| path.is_file())
}

/// Reads the docs of the table by the names of their classes; `api_info` has them as Python assignments.
fn docs_of(path: &Path) -> Result<BTreeMap<String, Value>> {
    let mut docs = BTreeMap::new();
    for (position, row) in records(path, FORMAT)? {
        let at = At { path, line: position.line, format: FORMAT };
        let class = row.get("类名").or_else(|| row.get("class_name"));
        let name =
            class.and_then(Value::as_str).ok_or_else(|| at.wrong("类名", "the name of a class", class))?;
        let constants = python::module(at.text(&row, "api_info")?).constants;
        let described = constants.get("description").cloned().unwrap_or_default();
        let parameters = constants.get("input_parameters").cloned().unwrap_or_else(|| json!({}));
        docs.insert(
            name.to_owned(),
            json!({"name": name, "description": described, "parameters": parameters}),
        );
    }
    Ok(docs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmark::tests::read_files;

    #[test]
    fn a_dialogue_has_all_turns_of_the_user_and_the_docs_of_its_calls() {
        let dialogue = "{\"role\": \"User\", \"text\": \"Wake me.\"}\n{\"role\": \"AI\", \"text\": \"When?\"}\n{\"role\": \"User\", \"text\": \"At six.\"}\n\
            {\"role\": \"API\", \"api_name\": \"AddAlarm\", \"param_dict\": {\"time\": \"06:00\"}, \"result\": {}}\n";
        let table = "id,类名,api_info\n1,AddAlarm,\"description = \"\"Adds an alarm.\"\"\ninput_parameters = {\n 'time': {'type': 'str', 'description': 'When.'},\n}\"\n2,Other,description = 'x'\n";
        let read = read_files(&[
            ("samples/level-1/AddAlarm-level-1-1.jsonl", dialogue),
            ("samples/level-1/AddAlarm-level-1-2.jsonl", dialogue),
            ("data/all_apis.csv", table),
        ])
        .unwrap();
        let [(category, entries)] = &read[..] else { panic!("{read:?}") };
        assert_eq!((category.as_str(), entries.len()), ("level-1", 2));
        let item = &entries[0].item;
        assert_eq!(entries[0].id, "AddAlarm-level-1-1");
        assert_eq!(item.queries, ["Wake me.", "At six."]);
        assert_eq!(item.calls[0].arguments, [("time".to_owned(), vec![json!("06:00")])]);
        let Docs::Read(functions) = &item.functions else { panic!("{item:?}") };
        assert_eq!(functions[0]["description"], "Adds an alarm.");
        assert_eq!(functions[0]["parameters"]["time"]["type"], "str");
    }
}
