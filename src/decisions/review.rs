//! Review files: the rows that `callsieve held` lists, with the column `decision` filled in by a person.
//!
//! A review file is JSON lines, CSV or Parquet. Its rows have more columns than a decision has keys; those that only
//! inform are ignored. In CSV and Parquet nested values are JSON text. A cell that a spreadsheet would take for a formula
//! is written with an apostrophe before it, which is removed when the file is read.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{expected, quoted};
use crate::bfcl::category::Category;
use crate::content_hash::content_hash;
use crate::docs::canonical::value_text;
use crate::engine::foreign::{ForeignFile, Need};
use crate::notation::json::strict;
use crate::notation::python;
use crate::relevance::Relevance;
use crate::text::spreadsheet::unguarded;

/// A row of a file with its number, from 1: a line, or a row of a table.
pub(super) type Row = (usize, Result<Map<String, Value>, String>);

/// Columns that a review file must have.
const NEEDED: [&str; 2] = ["id", "decision"];

/// Columns that hold JSON.
const NESTED: [&str; 4] = ["functions", "recorded_answer", "ground_truth", "patch"];

/// Reads a table with a header, separated by the comma, semicolon or tab that its header has most of.
///
/// # Errors
/// The header lacks a column that is needed.
pub(super) fn rows_of_csv(text: &str) -> Result<Vec<Row>, String> {
    if text.trim().is_empty() {
        return Err("the file is empty, expected a header and rows".to_owned());
    }
    let header = text.lines().next().unwrap_or_default();
    let delimiter = [b',', b';', b'\t']
        .into_iter()
        .rev()
        .max_by_key(|&byte| header.bytes().filter(|found| *found == byte).count());
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter.unwrap_or(b','))
        .flexible(true)
        .from_reader(text.as_bytes());
    let names: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(|name| name.trim().to_lowercase()).collect(),
        Err(error) => return Err(format!("not CSV: {error}")),
    };
    check_columns(names.iter().map(String::as_str))?;
    let (mut rows, mut last) = (Vec::new(), None);
    for record in reader.records() {
        match record {
            Ok(record) => {
                let line = line_of(text, record.position());
                let row = if record.len() > names.len() {
                    Err(format!("found {} cells, expected {} as the header has", record.len(), names.len()))
                } else {
                    let cells = names.iter().zip(record.iter());
                    Ok(cells.map(|(name, cell)| (name.clone(), unguarded(cell).into())).collect())
                };
                rows.push((line, row));
                last = Some(record);
            }
            Err(error) => {
                let line = line_of(text, error.position());
                rows.push((line, Err("a cell is not UTF-8; save the table as CSV UTF-8".to_owned())));
            }
        }
    }
    if let (Some((_, row)), Some(last)) = (rows.last_mut(), last)
        && is_open(text, &last)
    {
        *row = Err(OPEN_QUOTE.to_owned());
    }
    if let Some(line) = line_of_stray_quote(text, delimiter.unwrap_or(b','))
        && let Some((_, row)) = rows.iter_mut().rev().find(|(first, _)| *first <= line)
    {
        *row = Err(STRAY_QUOTE.to_owned());
    }
    Ok(rows)
}

/// What is said of a cell in quotation marks that does not end at the second one: it may be two cells with rows between them.
const STRAY_QUOTE: &str = "found a cell that begins with a quotation mark and goes on after the next one; expected its end there, or each quotation mark inside it twice";

/// Returns the line, from 1, of the first cell in quotation marks that goes on after the second one.
fn line_of_stray_quote(text: &str, delimiter: u8) -> Option<usize> {
    let mut bytes = text.bytes().peekable();
    let (mut line, mut is_at_start) = (1, true);
    while let Some(byte) = bytes.next() {
        if !(byte == b'"' && is_at_start) {
            is_at_start = byte == delimiter || byte == b'\n' || byte == b'\r';
            line += usize::from(byte == b'\n');
            continue;
        }
        let first = line;
        while let Some(byte) = bytes.next() {
            line += usize::from(byte == b'\n');
            if byte == b'"' && bytes.next_if_eq(&b'"').is_none() {
                break;
            }
        }
        while bytes.next_if_eq(&b' ').is_some() {}
        let is_end = |next: &u8| *next == delimiter || matches!(next, b'\n' | b'\r');
        if bytes.peek().is_some_and(|next| !is_end(next)) {
            return Some(first);
        }
        is_at_start = false;
    }
    None
}

/// What is said of a record whose quotation mark nothing closes.
const OPEN_QUOTE: &str = "found a quotation mark that nothing closes, so that all rows from here on are one; expected another at the end of its cell";

/// Whether the last record goes on to the end of the text because a quotation mark in it is not closed: the others would be lost in it.
fn is_open(text: &str, last: &csv::StringRecord) -> bool {
    let start = last.position().and_then(|position| usize::try_from(position.byte()).ok());
    let rest = start.and_then(|start| text.get(start..)).unwrap_or_default();
    let has_lines = last.iter().next_back().is_some_and(|cell| cell.trim_end().contains(['\n', '\r']));
    has_lines && rest.matches('"').count() % 2 == 1
}

/// The line, from 1, on which a record begins.
///
/// After CRLF the reader is between the two bytes, so its own count is one line short.
fn line_of(text: &str, position: Option<&csv::Position>) -> usize {
    let Some(position) = position else { return 0 };
    let line = usize::try_from(position.line()).unwrap_or(0);
    let next = usize::try_from(position.byte()).ok().and_then(|at| text.as_bytes().get(at));
    line + usize::from(next == Some(&b'\n'))
}

/// Reads a Parquet table.
///
/// # Errors
/// The file cannot be read, or lacks a column that is needed.
pub(super) fn rows_of_parquet(path: &Path) -> Result<Vec<Row>, String> {
    let as_text = |error: crate::engine::error::Error| error.to_string();
    let file = ForeignFile::open(path).map_err(as_text)?;
    check_columns(file.names())?;
    let selection = file.select(|_| Need::Shown).map_err(as_text)?;
    let mut rows = Vec::new();
    for stretch in file.stretches(&selection) {
        let read = file.read(&selection, stretch.clone()).map_err(as_text)?;
        rows.extend((0..read.height()).map(|at| (stretch.start + at + 1, Ok(read.row(at).object))));
    }
    Ok(rows)
}

fn check_columns<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), String> {
    let names: Vec<&str> = names.collect();
    let is_twice = |name: &&str| names.iter().filter(|other| other == &name).count() > 1;
    if let Some(name) = names.iter().copied().filter(|name| !name.is_empty()).find(is_twice) {
        return Err(format!("found the column \"{name}\" twice, expected it once"));
    }
    match NEEDED.iter().find(|needed| !names.contains(needed)) {
        Some(missing) => Err(format!(
            "found the columns {}, expected the column \"{missing}\" among them",
            super::shortened(&names.join(", "), super::MOST_QUOTED)
        )),
        None => Ok(()),
    }
}

/// Whether a JSON line is a row of a review file.
pub(super) fn is_review(row: &Map<String, Value>) -> bool {
    row.contains_key("decision") && row.contains_key("table") && row.contains_key("recorded_answer")
}

/// Columns that only people fill in.
const FILLED_IN: [&str; 5] = ["decision", "ground_truth", "patch", "by", "why"];

/// Whether a row is of a review file, and nothing is filled in.
pub(super) fn is_blank(row: &Map<String, Value>) -> bool {
    let is_empty = |cell: &Value| cell.is_null() || cell.as_str().is_some_and(|text| text.trim().is_empty());
    is_review(row) && FILLED_IN.iter().all(|key| row.get(*key).is_none_or(is_empty))
}

/// Returns the column that somebody filled in without a decision; `held --candidates` fills in suggested answers itself.
pub(super) fn filled_without_decision(row: &Map<String, Value>) -> Option<&'static str> {
    let text = |key: &str| match row.get(key) {
        Some(Value::String(text)) => text.trim(),
        None | Some(Value::Null) => "",
        Some(_) => "a value",
    };
    let is_suggested = text("reason").starts_with("answer/other-");
    let is_filled = |key: &&str| !text(key).is_empty() && !NO_VALUE.contains(&text(key));
    let may_be = FILLED_IN.into_iter().filter(|key| !(is_suggested && *key == "ground_truth"));
    if is_filled(&"decision") { None } else { may_be.into_iter().find(is_filled) }
}

/// Texts that programs write for an empty cell.
const NO_VALUE: [&str; 7] = ["nan", "NaN", "NaT", "None", "<NA>", "null", "NULL"];

/// The keys of a decision, and the word of the review file for it.
pub(super) type Keys = (Map<String, Value>, Option<&'static str>);

/// Returns the decision that a row of a review file holds, with the keys of a decision; `None` where nobody decided.
///
/// # Errors
/// The decision is an unknown word, or the row lacks what it needs.
pub(super) fn decision_of(mut row: Map<String, Value>) -> Result<Option<Keys>, String> {
    for (_, cell) in row.iter_mut().filter(|(key, _)| *key != "id") {
        if cell.as_str().is_some_and(|text| NO_VALUE.contains(&text.trim())) {
            *cell = Value::Null;
        }
    }
    let word = match row.get("decision") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(word)) if word.trim().is_empty() => return Ok(None),
        Some(Value::String(word)) => word.trim().to_lowercase(),
        found => return Err(expected("decision", found, WORDS)),
    };
    check_form(&row)?;
    for key in NESTED {
        if let Some(Value::String(text)) = row.get(key) {
            let is_text_of_a_list = key == "functions" && word != "edit";
            let value = match text.trim() {
                "" => Value::Null,
                _ if is_text_of_a_list => Value::Null,
                text => nested(key, text)?,
            };
            row.insert(key.to_owned(), value);
        }
    }
    let mut decision = Map::new();
    for key in ["id", "was", "by", "why"] {
        let cell = row.get(key).filter(|cell| !cell.is_null() && cell.as_str() != Some(""));
        decision.extend(cell.map(|cell| (key.to_owned(), cell.clone())));
    }
    let given = |key: &str| row.get(key).filter(|cell| !cell.is_null() && cell.as_str() != Some(""));
    let relabel = |label: &str| vec![("decision", "relabel".into()), ("relevance", label.into())];
    let answer = |calls: &Value| vec![("decision", "answer".into()), ("ground_truth", calls.clone())];
    let keys: Vec<(&str, Value)> = match word.as_str() {
        "keep" | "drop" => vec![("decision", word.clone().into())],
        "relevant" | "irrelevant" => relabel(&word),
        "answer" => answer(given("ground_truth").or(given("recorded_answer")).ok_or_else(|| {
            expected("ground_truth", None, "the calls that are right, in ground_truth or recorded_answer")
        })?),
        "edit" => match (given("patch"), given("functions")) {
            (Some(patch), _) => vec![("decision", "edit".into()), ("patch", patch.clone())],
            (None, Some(functions)) => vec![("decision", "edit".into()), ("functions", functions.clone())],
            (None, None) => return Err(expected("patch", None, "a patch, or new functions")),
        },
        "accept" => match given("category").and_then(Value::as_str).and_then(Category::from_name) {
            Some(Category::Irrelevance) => relabel(Relevance::Irrelevant.name()),
            Some(Category::Relevance) => relabel(Relevance::Relevant.name()),
            // A list of `held --candidates` has other answers beside; a person who read the row wrote one here.
            _ if given("was").is_some()
                && given("ground_truth").is_some_and(|other| given("recorded_answer") != Some(other)) =>
            {
                return Err(format!(
                    "\"ground_truth\": found {} with \"accept\", which takes the recorded answer: write \"answer\" for this one, or empty the cell",
                    quoted(given("ground_truth").unwrap_or(&Value::Null))
                ));
            }
            _ => answer(check_unchanged(&row).map(|()| given("recorded_answer"))?.ok_or_else(|| {
                expected(
                    "recorded_answer",
                    None,
                    "the answer that is accepted; `callsieve held RUN --unverified --id ID --decide accept` writes it",
                )
            })?),
        },
        _ => return Err(expected("decision", row.get("decision"), WORDS)),
    };
    decision.extend(keys.into_iter().map(|(key, value)| (key.to_owned(), value)));
    let word = ALL_WORDS.into_iter().find(|known| *known == word);
    Ok(Some((decision, word)))
}

/// Reads a cell that holds JSON; a ground truth may be calls such as `ring(bell="noon")` as well.
pub(super) fn nested(key: &str, text: &str) -> Result<Value, String> {
    let error = match serde_json::from_str(text) {
        Ok(value) => {
            // One of the two values would be lost in silence.
            return match strict::read(text).ok().and_then(|read| read.repeated.into_iter().next()) {
                Some(twice) => Err(found_twice(key, "key", &twice.key)),
                None => Ok(value),
            };
        }
        Err(error) => error,
    };
    if key != "ground_truth" {
        return Err(format!("\"{key}\": found {}, expected JSON ({error})", quoted(&text.into())));
    }
    let read = python::calls_with_repeated(text);
    let (calls, repeated) = read.map_err(|_| expected(key, Some(&text.into()), super::CALLS))?;
    if let Some(twice) = repeated.first() {
        return Err(found_twice(key, "argument", &twice.key));
    }
    Ok(calls.into_iter().map(|call| json!({ call.name: call.arguments })).collect())
}

fn found_twice(column: &str, what: &str, name: &str) -> String {
    format!("\"{column}\": found the {what} \"{name}\" twice with different values, expected it once")
}

/// Returns the digest of an answer, for the column `answer_digest`; spaces and the order of keys do not change it.
pub fn answer_digest(answer: &Value) -> String {
    format!("{:032x}", content_hash(value_text(answer)))
}

/// The digits of a digest of earlier versions, whose lists have ids of another form.
const EARLIER_DIGITS: usize = 16;

/// Refuses a row that an earlier version listed.
fn check_form(row: &Map<String, Value>) -> Result<(), String> {
    match row.get("answer_digest").and_then(Value::as_str) {
        Some(digest) if digest.len() == EARLIER_DIGITS => Err(format!(
            "\"answer_digest\": found {}, which an earlier version listed; its ids name no row of this one, so list the rows again with `callsieve held`",
            quoted(&digest.into())
        )),
        _ => Ok(()),
    }
}

/// What is expected of an accepted answer.
pub(super) const AS_LISTED: &str = "the answer that was listed";

/// Checks that an accepted answer is the one that was listed. Files of other programs may have no digest.
fn check_unchanged(row: &Map<String, Value>) -> Result<(), String> {
    let Some(listed) = row.get("answer_digest").and_then(Value::as_str).filter(|digest| !digest.is_empty())
    else {
        return Ok(());
    };
    let found = row.get("recorded_answer").unwrap_or(&Value::Null);
    if found.is_null() || answer_digest(found) == listed {
        return Ok(());
    }
    Err(format!(
        "\"recorded_answer\": found {}, expected {AS_LISTED}; another program changed the cell, perhaps its encoding: to change an answer, write it into ground_truth and decide \"answer\"",
        quoted(found)
    ))
}

const ALL_WORDS: [&str; 7] = ["keep", "drop", "relevant", "irrelevant", "answer", "edit", "accept"];

/// The decisions of a review file.
const WORDS: &str = "keep, drop, relevant, irrelevant, answer, edit or accept";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decided(row: Value) -> Result<Option<Value>, String> {
        let Value::Object(row) = row else { panic!("an object") };
        decision_of(row).map(|decision| decision.map(|(keys, _)| Value::Object(keys)))
    }

    #[test]
    fn each_word_becomes_a_decision_and_an_empty_one_none() {
        let row = |word: &str| {
            json!({"decision": word, "id": "0123456789abcdef", "table": "requests", "category": "simple", "by": "",
                "recorded_answer": "[{\"f\": {}}]", "functions": "[{\"name\": \"f\"}]", "ground_truth": null})
        };
        let id = "0123456789abcdef";
        for (word, expected) in [
            ("keep", json!({"id": id, "decision": "keep"})),
            (" Drop ", json!({"id": id, "decision": "drop"})),
            ("relevant", json!({"id": id, "decision": "relabel", "relevance": "relevant"})),
            ("irrelevant", json!({"id": id, "decision": "relabel", "relevance": "irrelevant"})),
            ("answer", json!({"id": id, "decision": "answer", "ground_truth": [{"f": {}}]})),
            ("accept", json!({"id": id, "decision": "answer", "ground_truth": [{"f": {}}]})),
            ("edit", json!({"id": id, "decision": "edit", "functions": [{"name": "f"}]})),
        ] {
            assert_eq!(decided(row(word)).unwrap(), Some(expected), "{word}");
        }
        assert_eq!(decided(row("  ")).unwrap(), None);
        assert!(decided(row("maybe")).unwrap_err().contains("keep, drop, relevant"));
        let mut label = row("accept");
        label["category"] = "irrelevance".into();
        assert_eq!(decided(label).unwrap().unwrap()["relevance"], "irrelevant");
        let mut own = row("answer");
        own["ground_truth"] = "[{\"g\": {}}]".into();
        assert_eq!(decided(own).unwrap().unwrap()["ground_truth"], json!([{"g": {}}]));
        let mut none = row("accept");
        none["recorded_answer"] = "".into();
        assert!(decided(none).unwrap_err().contains("\"recorded_answer\": found nothing"));
    }

    #[test]
    fn an_accepted_answer_that_another_program_changed_is_refused() {
        let row = |answer: &str| {
            json!({"decision": "accept", "id": "0123456789abcdef", "table": "requests", "category": "simple",
                "recorded_answer": answer, "answer_digest": answer_digest(&json!([{"f": {"city": ["Tromsø"]}}]))})
        };
        let as_listed = decided(row("[{\"f\":{\"city\":[\"Tromsø\"]}}]")).unwrap().unwrap();
        assert_eq!(as_listed["ground_truth"], json!([{"f": {"city": ["Tromsø"]}}]));
        let changed = decided(row("[{\"f\": {\"city\": [\"Troms\u{c3}\u{b8}\"]}}]")).unwrap_err();
        assert!(changed.contains("expected the answer that was listed"), "{changed}");
    }

    #[test]
    fn a_row_that_an_earlier_version_listed_is_refused_whatever_was_decided() {
        for word in ["keep", "drop", "irrelevant", "accept"] {
            let row = json!({"decision": word, "id": "0123456789abcdef", "table": "requests",
                "recorded_answer": [{"f": {}}], "answer_digest": "0123456789abcdef"});
            let refused = decided(row).unwrap_err();
            assert!(
                refused.contains("which an earlier version listed") && refused.contains("held"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_ground_truth_may_be_written_as_calls() {
        let row = |answer: &str| {
            json!({"decision": "answer", "id": "0123456789abcdef", "table": "requests", "ground_truth": answer,
                "recorded_answer": null})
        };
        for (text, expected) in [
            ("track_order(order_id=\"BX-777\")", json!([{"track_order": {"order_id": "BX-777"}}])),
            (
                "ring(bell=[\"noon\"], times=[\"\", 1])",
                json!([{"ring": {"bell": ["noon"], "times": ["", 1]}}]),
            ),
            ("[f(a=1), g(b=true)]", json!([{"f": {"a": 1}}, {"g": {"b": true}}])),
        ] {
            assert_eq!(decided(row(text)).unwrap().unwrap()["ground_truth"], expected, "{text}");
        }
        assert!(decided(row("call the clinic")).unwrap_err().contains("clinic(day=\"Friday\")"));
        let twice = decided(row("f(city=\"A\", city=\"B\")")).unwrap_err();
        assert!(twice.contains("found the argument \"city\" twice"), "{twice}");
    }

    #[test]
    fn a_quotation_mark_that_nothing_closes_and_a_repeated_key_are_refused() {
        let text = "id,decision,why\na,keep,\"so\nit is\"\nb,drop,\"not closed\nc,keep,\nd,drop,\n";
        let rows = rows_of_csv(text).unwrap();
        assert!(rows[0].1.is_ok());
        assert_eq!((rows[1].0, rows[1].1.as_ref().unwrap_err().as_str()), (4, OPEN_QUOTE));
        assert_eq!(rows.len(), 2);
        // The second mark closes a cell that began rows before it.
        let rows = rows_of_csv("id,decision,why\na,drop,\"abc\nb,drop,\nc,drop,y\"z\nd,keep,\n").unwrap();
        assert_eq!((rows[0].0, rows[0].1.as_ref().unwrap_err().as_str()), (2, STRAY_QUOTE));
        for text in [
            "id,decision,why\na,drop,\"x \"\"y\"\" z\" ,\n",
            "id,decision,why\na,drop,\"\"\nb,drop,\"a\nb\"\n",
        ] {
            assert_eq!(line_of_stray_quote(text, b','), None, "{text}");
        }
        // A mark inside a plain cell is one.
        assert!(
            rows_of_csv("id,decision,why\na,keep,5\" pipe\nb,drop,\n")
                .unwrap()
                .iter()
                .all(|row| row.1.is_ok())
        );
        let twice = nested("ground_truth", r#"[{"ring": {"times": [1], "times": [2]}}]"#).unwrap_err();
        assert!(twice.contains("found the key \"times\" twice"), "{twice}");
        assert_eq!(nested("patch", r#"[{"a": 1, "a": 1}]"#).unwrap(), json!([{"a": 1}]));
    }

    #[test]
    fn tables_of_spreadsheets_are_read_whatever_separates_their_cells() {
        for text in
            ["id,decision\r\na,keep\r\n", "id;decision;note\na;keep;\"x;y\nz\"\n", "decision\tid\nkeep\ta\n"]
        {
            let rows = rows_of_csv(text).unwrap();
            assert_eq!(rows.len(), 1, "{text:?}");
            let row = rows[0].1.as_ref().unwrap();
            assert_eq!((&row["id"], &row["decision"], rows[0].0), (&json!("a"), &json!("keep"), 2));
        }
        assert!(rows_of_csv("id,decision,id\n").unwrap_err().contains("found the column \"id\" twice"));
        assert!(rows_of_csv("id,verdict\n").unwrap_err().contains("expected the column \"decision\""));
    }
}
