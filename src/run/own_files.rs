//! Files that callsieve wrote for people, recognised by their first bytes: a folder of logs may hold them too.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use serde_json::{Map, Value};

use super::review::FIELDS;
use crate::engine::foreign::ForeignFile;

/// Columns that a table of decisions has, and no log.
const COLUMNS: [&str; 3] = ["decision", "id", "recorded_answer"];

/// Keys of decisions that are not columns of a review file.
const OTHER_KEYS: [&str; 2] = ["was", "request"];

/// The maximum bytes of a first line that are read.
const MAX_LINE: u64 = 1 << 20;

/// Returns `true` for a file of decisions: a review file of `held`, or JSON lines of decisions. Decides by the header or
/// the first record; a file that cannot be read is none.
pub(super) fn is_decisions_file(path: &Path) -> bool {
    let has_extension =
        |of: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(of));
    if has_extension("parquet") {
        return ForeignFile::open(path).is_ok_and(|file| has_columns(&file.names().collect::<Vec<_>>()));
    }
    let Some(line) = first_line(path) else { return false };
    if has_extension("csv") || has_extension("tsv") {
        let cells = line.split([',', ';', '\t']).map(|cell| cell.trim().trim_matches('"'));
        return has_columns(&cells.collect::<Vec<_>>());
    }
    serde_json::from_str(&line).is_ok_and(|object| is_decision(&object))
}

fn has_columns(names: &[&str]) -> bool {
    COLUMNS.iter().all(|column| names.contains(column))
}

fn is_decision(object: &Map<String, Value>) -> bool {
    let is_known = |key: &String| FIELDS.contains(&key.as_str()) || OTHER_KEYS.contains(&key.as_str());
    let is_answer = object.contains_key("request") && object.contains_key("ground_truth");
    let is_decision = object.contains_key("id") && object.contains_key("decision");
    (is_decision || is_answer) && object.keys().all(is_known)
}

/// The first line that is not blank, without a byte order mark.
fn first_line(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let mut reader = BufReader::new(File::open(path).ok()?.take(MAX_LINE));
    let mut line = String::new();
    while line.trim().is_empty() {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
    }
    Some(line.trim_start_matches('\u{feff}').trim().to_owned())
}
