//! The texts of the rows that examples show, read once for all examples of a run.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::columns::{FUNCTIONS, MESSAGES, TEXT};
use crate::conversation::{Message, last_user};
use crate::engine::corpus::{BatchCells, Corpus, RowId, Table};
use crate::engine::delta::StageManifest;
use crate::engine::error::Result;
use crate::engine::frame::FrameFile;
use crate::engine::layout::LINKS;
use crate::engine::vocabulary::{ColumnSpec, RowIx, TableId};
use crate::report::recipe::PublicSet;
use crate::report::records::Records;
use crate::stages::Registry;

/// Rows of the file of links that are read together.
const GROUP_ROWS: usize = 4096;
/// The most functions that are named.
const MOST_NAMES: usize = 8;

/// Texts by row; empty where nothing may be quoted.
#[derive(Debug, Default)]
pub(in crate::report) struct Texts {
    by_row: FxHashMap<(TableId, u128), String>,
    /// The functions on offer, by request.
    offered: FxHashMap<u128, String>,
    /// The record of a public set that a row is nearest to.
    records: FxHashMap<u128, NearestRecord>,
    may_quote_overlaps: bool,
}

/// A record of a public set, and what of a row is near to it.
#[derive(Debug)]
struct NearestRecord {
    score: f64,
    set: String,
    record: String,
    object: String,
    /// Its text, if its licence allows that.
    text: Option<String>,
}

impl Texts {
    /// Reads the texts of some rows of a run.
    pub(in crate::report) fn read(
        folder: &Path,
        corpus: &Corpus,
        sets: &[PublicSet],
        (stages, registry): (&[StageManifest], &Registry),
        wanted: &FxHashSet<(TableId, u128)>,
    ) -> Result<Self> {
        let mut texts = Self { may_quote_overlaps: may_quote(sets), ..Self::default() };
        texts.read_requests(corpus, wanted)?;
        let columns = [FUNCTIONS, TEXT];
        let lists = rows_of(&corpus.lists, wanted);
        each(&corpus.lists, &lists, &columns, |row, cells, at| {
            let text = cells.text(FUNCTIONS, at).and_then(described);
            let text = text.or_else(|| cells.text(TEXT, at).map(str::to_owned)).unwrap_or_default();
            texts.by_row.insert((TableId::DocLists, corpus.lists.row_id(row).0), text);
        })?;
        texts.read_records(&folder.join(LINKS), wanted)?;
        texts.read_texts_of_records(stages, registry);
        Ok(texts)
    }

    fn read_texts_of_records(&mut self, stages: &[StageManifest], registry: &Registry) {
        // Every record is looked up by its name, so their order makes no difference.
        #[allow(clippy::iter_over_hash_type)]
        let wanted = self.records.values().map(|it| (it.set.clone(), it.record.clone())).collect();
        let records = Records::read(stages, registry, &wanted);
        #[allow(clippy::iter_over_hash_type)]
        for (id, nearest) in &mut self.records {
            let own = TableId::ALL.into_iter().find_map(|table| self.by_row.get(&(table, *id)));
            let own = own.map_or("", String::as_str);
            nearest.text = records.near(&nearest.set, &nearest.record, &nearest.object, own);
        }
    }

    fn read_requests(&mut self, corpus: &Corpus, wanted: &FxHashSet<(TableId, u128)>) -> Result<()> {
        let requests = &corpus.requests;
        let rows = rows_of(requests, wanted);
        each(requests, &rows, &[MESSAGES], |row, cells, at| {
            let messages: Vec<Message> =
                cells.text(MESSAGES, at).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            let query = last_user(&messages).map(|message| message.content.clone()).unwrap_or_default();
            self.by_row.insert((TableId::Requests, requests.row_id(row).0), query);
        })?;
        let mut of_lists: FxHashMap<RowIx, Vec<u128>> = FxHashMap::default();
        for row in rows {
            of_lists.entry(corpus.list[row as usize]).or_default().push(requests.row_id(row).0);
        }
        let mut lists: Vec<RowIx> = of_lists.keys().copied().collect();
        lists.sort_unstable();
        each(&corpus.lists, &lists, &[FUNCTIONS], |row, cells, at| {
            let names = cells.text(FUNCTIONS, at).map(names).unwrap_or_default();
            for request in of_lists.get(&row).into_iter().flatten() {
                self.offered.insert(*request, names.clone());
            }
        })
    }

    /// Reads which record of a public set each row is nearest to; of several equal ones the first in the file.
    fn read_records(&mut self, path: &Path, wanted: &FxHashSet<(TableId, u128)>) -> Result<()> {
        if !path.is_file() {
            return Ok(());
        }
        let file = FrameFile::open(path)?;
        let columns = ["row_id", "object", "set", "record", "score"];
        for start in (0..file.height()).step_by(GROUP_ROWS) {
            let length = GROUP_ROWS.min(file.height() - start);
            let frame = file.read(start, length, Some(&columns))?;
            let (Some(ids), Some(objects), Some(sets), Some(records)) =
                (frame.texts("row_id"), frame.texts("object"), frame.texts("set"), frame.texts("record"))
            else {
                return Ok(());
            };
            for row in 0..frame.height() {
                let Some(id) = ids.get(row).and_then(RowId::number) else { continue };
                if !TableId::ALL.iter().any(|table| wanted.contains(&(*table, id))) {
                    continue;
                }
                let score = frame.float("score", row).unwrap_or_default();
                let is_nearer = self.records.get(&id).is_none_or(|before| score > before.score);
                if is_nearer {
                    let [set, record, object] = [&sets, &records, &objects]
                        .map(|column| column.get(row).unwrap_or_default().to_owned());
                    self.records.insert(id, NearestRecord { score, set, record, object, text: None });
                }
            }
        }
        Ok(())
    }

    /// The query of a request, the functions of a doc list.
    pub(super) fn of(&self, table: TableId, id: u128) -> Option<&str> {
        self.by_row.get(&(table, id)).map(String::as_str)
    }

    /// The names of the functions that a request was sent with.
    pub(super) fn offered(&self, table: TableId, id: u128) -> Option<&str> {
        if table == TableId::Requests { self.offered.get(&id).map(String::as_str) } else { None }
    }

    /// The record of a public set that a row is nearest to.
    pub(super) fn record(&self, id: u128) -> Option<String> {
        self.records.get(&id).map(|nearest| format!("{}#{}", nearest.set, nearest.record))
    }

    /// The text of that record; `None` if its licence does not allow it, or its set is not there any more.
    pub(super) fn record_text(&self, id: u128) -> Option<&str> {
        self.records.get(&id)?.text.as_deref()
    }

    /// Whether rows that overlap a public set may be quoted.
    pub(super) fn may_quote_overlaps(&self) -> bool {
        self.may_quote_overlaps
    }
}

/// Whether the licences of all sets that were compared are known and allow any use.
fn may_quote(sets: &[PublicSet]) -> bool {
    let checked: Vec<&PublicSet> = sets.iter().filter(|set| set.checked).collect();
    !checked.is_empty() && checked.iter().all(|set| set.may_be_quoted)
}

/// The functions of a list as a text, in which the order of keys makes no difference: `name: description (parameter: type,
/// description)`, with a star after required parameters. `None` if it is no list.
pub(in crate::report) fn described(functions: &str) -> Option<String> {
    let functions: Vec<Value> = serde_json::from_str(functions).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let function = |function: &Value| {
        let parameters = &function["parameters"];
        let is_required = |name: &str| {
            let listed = parameters["required"].as_array();
            listed.is_some_and(|names| names.iter().any(|listed| listed == name))
        };
        let properties: BTreeMap<&String, &Value> =
            parameters["properties"].as_object().into_iter().flatten().collect();
        let parameter = |(name, schema): (&String, &Value)| {
            let star = if is_required(name) { "*" } else { "" };
            format!("{name}{star}: {}, {}", text(&schema["type"]), text(&schema["description"]))
        };
        let parameters: Vec<String> = properties.into_iter().map(parameter).collect();
        format!("{}: {} ({})", text(&function["name"]), text(&function["description"]), parameters.join("; "))
    };
    Some(functions.iter().map(function).collect::<Vec<_>>().join(" / "))
}

/// The names of the functions of a list, as a sentence.
fn names(functions: &str) -> String {
    let functions: Value = serde_json::from_str(functions).unwrap_or_default();
    let all: Vec<&str> =
        functions.as_array().into_iter().flatten().filter_map(|function| function["name"].as_str()).collect();
    let more = all.len().saturating_sub(MOST_NAMES);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let shown = all.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    if shown.is_empty() { String::new() } else { format!("functions on offer: {shown}{more}") }
}

fn rows_of(table: &Table, wanted: &FxHashSet<(TableId, u128)>) -> Vec<RowIx> {
    (0..)
        .take(table.len())
        .filter(|&row: &RowIx| wanted.contains(&(table.id(), table.row_id(row).0)))
        .collect()
}

/// Visits cells of some rows, batch by batch; columns that no stage writes are empty.
fn each(
    table: &Table,
    rows: &[RowIx],
    columns: &[ColumnSpec],
    mut visit: impl FnMut(RowIx, &BatchCells, usize),
) -> Result<()> {
    let mut batches: BTreeMap<usize, Vec<RowIx>> = BTreeMap::new();
    for &row in rows {
        batches.entry(table.batch_of(row)).or_default().push(row);
    }
    for (batch, rows) in batches {
        let cells = table.read_batch(batch, columns)?;
        let start = table.batch(batch).start;
        for row in rows {
            visit(row, &cells, row as usize - start);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(licence: &str, checked: bool) -> PublicSet {
        PublicSet {
            stage: String::new(),
            set: String::new(),
            licence: licence.to_owned(),
            may_be_quoted: crate::public_sets::quotes::is_free(licence),
            built_in: false,
            checked,
            status: String::new(),
        }
    }

    #[test]
    fn overlaps_are_quoted_only_if_all_licences_allow_it() {
        for (licences, expected) in [
            (&["Apache-2.0", "CC-BY-4.0"][..], true),
            (&["Apache-2.0", "CC-BY-NC-4.0"], false),
            (&["unknown"], false),
            (&[""], false),
            (&[], false),
        ] {
            let sets: Vec<PublicSet> = licences.iter().map(|licence| set(licence, true)).collect();
            assert_eq!(may_quote(&sets), expected, "{licences:?}");
        }
        assert!(may_quote(&[set("MIT", true), set("unknown", false)]), "a set that was not compared");
    }

    #[test]
    fn docs_in_another_order_are_one_text() {
        let one = r#"[{"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "required": ["b"], "properties": {"b": {"type": "string", "description": "Bell."}, "a": {"type": "integer"}}}}]"#;
        let other = r#"[{"description": "Rings.", "parameters": {"properties": {"a": {"type": "integer"}, "b": {"description": "Bell.", "type": "string"}}, "required": ["b"], "type": "dict"}, "name": "ring"}]"#;
        assert_eq!(described(one).unwrap(), "ring: Rings. (a: integer, ; b*: string, Bell.)");
        assert_eq!(described(one), described(other));
        assert_eq!(described("text"), None);
    }

    #[test]
    fn functions_are_named_up_to_a_number() {
        assert_eq!(names(r#"[{"name": "a"}, {"name": "b"}]"#), "functions on offer: a, b");
        let many: String = (0..20).map(|n| format!("{{\"name\": \"f{n}\"}},")).collect();
        assert!(names(&format!("[{}]", many.trim_end_matches(','))).ends_with("f7 and 12 more"));
        assert_eq!(names("no list"), "");
    }
}
