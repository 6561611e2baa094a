//! The texts of single records, for people who look at an overlap.
//!
//! Only of sets whose licence is known and allows any use, and only if the files are those that were compared. Sets that are not
//! there, or cannot be read, have no texts: who looks still has the names of their records.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::catalogue::{Catalogue, PublicSet, SAMPLE};
use super::store::{Loaded, SetFile, hashes, load};

/// A set and the name of one of its records.
pub type RecordKey = (String, String);

/// What a record holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordText {
    /// Its functions, as the set has them.
    pub functions: Vec<Value>,
    /// Its queries.
    pub queries: Vec<String>,
}

/// Licences that allow to quote a text for any use, by their identifiers of SPDX in lower case.
const FREE: &[&str] = &[
    "0bsd",
    "apache-2.0",
    "bsd-2-clause",
    "bsd-3-clause",
    "cc-by-3.0",
    "cc-by-4.0",
    "cc-by-sa-3.0",
    "cc-by-sa-4.0",
    "cc0-1.0",
    "cdla-permissive-1.0",
    "cdla-permissive-2.0",
    "isc",
    "mit",
    "mit-0",
    "odbl-1.0",
    "odc-by-1.0",
    "pddl-1.0",
    "unlicense",
];

/// Whether a licence is one that is known to allow any use; of several, all must be.
pub fn is_free(licence: &str) -> bool {
    let licence = licence.to_ascii_lowercase();
    let mut words =
        licence.split(|c: char| c.is_whitespace() || c == '(' || c == ')').filter(|word| !word.is_empty());
    words.clone().next().is_some() && words.all(|word| ["and", "or"].contains(&word) || FREE.contains(&word))
}

impl PublicSet {
    /// Whether texts of the set may be quoted.
    pub fn may_be_quoted(&self) -> bool {
        !self.non_commercial && is_free(&self.licence)
    }
}

/// Reads records of the sets in a folder. `note` is the note of a stage on the sets that it compared with, as in
/// [`super::compared::ReferenceSets::notes`].
pub fn read(
    dir: &Path,
    note: Option<&Value>,
    wanted: &BTreeSet<RecordKey>,
) -> BTreeMap<RecordKey, RecordText> {
    let mut texts = BTreeMap::new();
    let Ok(catalogue) = Catalogue::open(dir) else { return texts };
    for noted in note.and_then(Value::as_array).into_iter().flatten() {
        let id = noted["id"].as_str().unwrap_or_default();
        let of_set: BTreeSet<&str> =
            wanted.iter().filter(|(set, _)| set == id).map(|(_, record)| record.as_str()).collect();
        let may_be_quoted =
            is_free(noted["licence"].as_str().unwrap_or_default()) && noted["non_commercial"] != true;
        if of_set.is_empty() || !may_be_quoted {
            continue;
        }
        let Some(loaded) = catalogue.set(id).ok().and_then(|set| unchanged(&catalogue, set, noted)) else {
            continue;
        };
        let key = |record: &String| (id.to_owned(), record.clone());
        for (record, function) in
            loaded.functions.iter().filter(|(record, _)| of_set.contains(record.as_str()))
        {
            let text: &mut RecordText = texts.entry(key(record)).or_default();
            text.functions.push(function.clone());
        }
        for (record, query) in loaded.queries.iter().filter(|(record, _)| of_set.contains(record.as_str())) {
            let text: &mut RecordText = texts.entry(key(record)).or_default();
            text.queries.push(query.clone());
        }
    }
    texts
}

/// Reads a set that may be quoted, if its files are those of the note.
fn unchanged(catalogue: &Catalogue, set: &PublicSet, noted: &Value) -> Option<Loaded> {
    if !set.may_be_quoted() {
        return None;
    }
    let files: Vec<SetFile> = serde_json::from_value(noted["files"].clone()).ok()?;
    let then: BTreeSet<String> = files.iter().map(|file| format!("{} {}", file.name, file.sha256)).collect();
    // Those of the built-in set have no name.
    let now: BTreeSet<String> = hashes(catalogue, set).ok()??.into_iter().collect();
    let is_built_in = set.id == SAMPLE;
    let then = if is_built_in { files.into_iter().map(|file| file.sha256).collect() } else { then };
    if then == now { load(catalogue, set).ok()? } else { None }
}

impl RecordText {
    /// Returns the function that has most words of a text, as a JSON object without the wrapper of an API.
    pub fn function_near(&self, text: &str) -> Option<Value> {
        let words_of = |text: &str| -> BTreeSet<String> {
            text.split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(str::to_lowercase)
                .collect()
        };
        let words = words_of(text);
        let shared = |function: &&Value| words_of(&function.to_string()).intersection(&words).count();
        // Of equal ones the first.
        let found = self.functions.iter().rev().max_by_key(shared)?;
        let inner = &found["function"];
        Some(if inner.is_object() { inner.clone() } else { found.clone() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_licences_that_are_known_to_be_free_are() {
        for licence in ["MIT", "Apache-2.0 OR MIT", "(CC-BY-4.0 AND CC0-1.0)", "apache-2.0"] {
            assert!(is_free(licence), "{licence}");
        }
        for licence in [
            "",
            " ",
            "unknown",
            "CC-BY-NC-4.0",
            "CC BY-NC 4.0",
            "CC_BY_NC_4.0",
            "CC\u{2011}BY\u{2011}NC\u{2011}4.0",
            "MIT AND CC-BY-NC-4.0",
            "NOASSERTION",
            "proprietary",
            "All rights reserved",
            "MIT-like",
            "?",
        ] {
            assert!(!is_free(licence), "{licence}");
        }
    }

    fn records(dir: &Path, note: &Value) -> BTreeMap<RecordKey, RecordText> {
        let wanted = [("callsieve-sample", "sample-1"), ("mine", "mine.jsonl:1")];
        read(dir, Some(note), &wanted.map(|(set, record)| (set.to_owned(), record.to_owned())).into())
    }

    fn note(dir: &Path, ids: &[&str]) -> Value {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        json!(super::super::compared::open(&ids, dir, super::super::compared::Missing::Error).unwrap().notes)
    }

    #[test]
    fn records_of_free_sets_are_read_while_the_files_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("mine");
        std::fs::create_dir(&own).unwrap();
        let describe = |licence: &str, more: &str| {
            let text = format!("id = 'mine'\ntitle = 't'\nformat = 'chat'\nlicence = '{licence}'\n{more}");
            std::fs::write(own.join(super::super::catalogue::OWN), text).unwrap();
        };
        let write = |query: &str| {
            let record = json!({"messages": [{"role": "user", "content": query}]});
            std::fs::write(own.join("mine.jsonl"), format!("{record}\n")).unwrap();
        };
        describe("MIT", "");
        write("Ring the bell of the old tower");
        let noted = note(folder.path(), &["callsieve-sample", "mine"]);
        let found = records(folder.path(), &noted);
        assert_eq!(found.len(), 2, "{found:?}");
        let sample = &found[&("callsieve-sample".to_owned(), "sample-1".to_owned())];
        assert!(sample.queries[0].starts_with("Ring the great bell"), "{sample:?}");
        assert_eq!(sample.function_near("ring").unwrap()["name"], "ring_harbour_bell");

        for (licence, more) in [("CC-BY-NC-4.0", ""), ("unknown", ""), ("MIT", "non_commercial = true")] {
            describe(licence, more);
            assert_eq!(records(folder.path(), &note(folder.path(), &["mine"])).len(), 0, "{licence} {more}");
        }
        describe("MIT", "");
        write("Ring the bell of the new tower");
        assert_eq!(records(folder.path(), &noted).len(), 1, "the set has changed since");
    }
}
