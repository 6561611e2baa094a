//! Removes records from a finished run, and keeps their positions.
//!
//! A forgotten row keeps its number, the file, line and record it was read from, and its fates without evidence. Its
//! cells, evidence, edits and links are removed, and its id becomes a tombstone, because an id is a hash of the
//! content. So all counts still add up, and rows that were merged into it stay merged. Derived data is removed too: the
//! doc list that no other request has, and the answers that other rows took from it; these rows are then held.
//!
//! The changed fates are in `forgotten.parquet`, a delta after the last stage. The list of records is written before
//! anything else and the row index after everything else, so that the same call finishes an interrupted one: every step
//! detects what is already done. Deliberately absent: the dataset (see `dataset`) and the report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::rewrite::{Group, Rewritten, Touched, replace_files, rewrite};
use crate::columns::{ANSWER, ANSWER_BASIS, ANSWER_FROM, FILE, LINE, RECORD, TIER};
use crate::engine::cascade::cascade;
use crate::engine::corpus::{Corpus, RowId, Table};
use crate::engine::decisions::DECIDED;
use crate::engine::delta::{COLUMNS, EDITS, FATES, StageManifest, read_edits, write_fates};
use crate::engine::disk::put_in_place;
use crate::engine::error::{Result, damaged};
use crate::engine::fate::FateEvent;
use crate::engine::folder::RunFolder;
use crate::engine::forgotten::{self, ANSWER_FORGOTTEN, FORGOTTEN, Forgotten, tombstone};
use crate::engine::instance::StageInstance;
use crate::engine::layout::{FORGOTTEN_FATES, INGEST, LINKS, STAGES, step_name, temporary_path};
use crate::engine::raw::{IngestManifest, LIST_INDEX, LISTS, REQUEST_INDEX, REQUESTS, id_of_repeat};
use crate::engine::runner;
use crate::engine::seal::Sealed;
use crate::engine::vocabulary::{Action, Evidence, RowIx, Safety, TableId};

/// The rows of a run that are to be forgotten, and the data removed with them.
pub struct Erasure<'a> {
    folder: &'a RunFolder,
    stages: &'a [StageInstance],
    list: Forgotten,
    /// The requests, by row.
    pub requests: BTreeSet<RowIx>,
    /// The doc lists that no other request has.
    pub lists: BTreeSet<RowIx>,
    /// Rows whose answer was taken from one of the requests.
    pub answers: BTreeSet<RowIx>,
    /// The former ids of requests and lists, and the tombstones that replace them.
    ids: BTreeMap<String, String>,
    /// The ids of requests whose entries are removed from the dataset: forgotten ones and those that lose their answer.
    pub entries: BTreeSet<String>,
}

impl<'a> Erasure<'a> {
    /// Determines what is removed, and adds the records to the list, so that no later run brings them back.
    ///
    /// `wanted` are rows of requests. Unfinished work of an earlier call is included.
    ///
    /// # Errors
    /// The run folder is damaged or cannot be written.
    pub fn begin(
        folder: &'a RunFolder,
        ingest: &IngestManifest,
        stages: &'a [StageInstance],
        wanted: &[RowIx],
    ) -> Result<Self> {
        let run = folder.path();
        let corpus = runner::fold(run, ingest, stages)?;
        let mut list = Forgotten::read(run)?;
        let is_listed = |id: RowId| list.is_tombstone(id) || list.holds(id.0);
        let mut requests: BTreeSet<RowIx> = wanted.iter().copied().collect();
        requests
            .extend(corpus.requests.in_order().iter().filter(|&&row| is_listed(corpus.requests.row_id(row))));
        let lists = lists_of_none_but(&corpus, &requests);
        let mut ids = BTreeMap::new();
        for (table, rows) in [(&corpus.requests, &requests), (&corpus.lists, &lists)] {
            let names = rows.iter().map(|&row| table.row_id(row)).filter(|&id| !list.is_tombstone(id));
            ids.extend(names.map(|id| (id.to_string(), tombstone(id).to_string())));
        }
        let buried = |table: &Table, row| {
            let id = table.row_id(row);
            if list.is_tombstone(id) { id } else { tombstone(id) }
        };
        let records: Vec<RowId> = requests.iter().map(|&row| buried(&corpus.requests, row)).collect();
        let doc_lists: Vec<RowId> = lists.iter().map(|&row| buried(&corpus.lists, row)).collect();
        list.unfinished = true;
        for id in records {
            list.add_record(id);
        }
        for id in doc_lists {
            list.add_list(id);
        }
        list.write(run)?;
        let answers = answers_taken_from(run, &corpus, &requests, &ids)?;
        let gone = requests.iter().chain(&answers).map(|&row| corpus.requests.row_id(row).to_string());
        let entries = gone.collect();
        let erasure = Self { folder, stages, list, requests, lists, answers, ids, entries };
        erasure.write_fates(corpus)?;
        Ok(erasure)
    }

    /// Writes the new fates of the rows, and the fates that follow.
    fn write_fates(&self, mut corpus: Corpus) -> Result<()> {
        let mut fates = Vec::new();
        let event = |table, row, action, reason| {
            let (into, evidence) = (None, Evidence::default());
            FateEvent { table, row, action, reason, into, cascaded: false, evidence }
        };
        for (table, rows) in [(TableId::Requests, &self.requests), (TableId::DocLists, &self.lists)] {
            fates.extend(rows.iter().map(|&row| event(table, row, Action::Drop, &FORGOTTEN)));
        }
        let held = self.answers.iter().filter(|&&row| corpus.requests.is_kept(row));
        fates.extend(held.map(|&row| event(TableId::Requests, row, Action::Hold, &ANSWER_FORGOTTEN)));
        let at = self.stages.len();
        forgotten::apply_fates(&mut corpus, &fates, at)?;
        fates.extend(cascade(&corpus, TableId::Requests));
        let path = self.folder.path().join(FORGOTTEN_FATES);
        let temporary = temporary_path(&path);
        write_fates(&temporary, &fates)?;
        put_in_place(&temporary, &path)
    }

    /// Empties the cells of the raw tables and of every stage, and removes evidence, edits and links.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn clean(&self) -> Result<Vec<Touched>> {
        const PLACE: &[&str] = &[FILE.name, LINE.name, RECORD.name];
        let ingest = self.folder.path().join(INGEST);
        let payload = vec![
            self.empty_cells(&ingest.join(REQUESTS), TableId::Requests, PLACE)?,
            self.empty_cells(&ingest.join(LISTS), TableId::DocLists, &[])?,
        ];
        let mut touched = self.replace(INGEST, payload, |_: &IngestManifest| Ok(None))?;
        for (at, instance) in self.stages.iter().enumerate() {
            let step = format!("{STAGES}/{}", step_name(at, &instance.id));
            let folder = self.folder.path().join(&step);
            let contract = instance.stage.contract();
            let mut delta =
                vec![self.empty_evidence(&folder.join(FATES))?, self.remove_rows(&folder.join(EDITS))?];
            // Not every stage writes these.
            for name in [LINKS, DECIDED].into_iter().filter(|name| folder.join(name).exists()) {
                delta.push(self.remove_rows(&folder.join(name))?);
            }
            if !contract.writes.is_empty() {
                delta.insert(0, self.empty_cells(&folder.join(COLUMNS), contract.table, &[])?);
            }
            touched.extend(self.replace(&step, delta, |manifest| recounted(&folder, manifest))?);
        }
        Ok(touched)
    }

    /// Replaces the ids of the rows by tombstones. This is the last step, because rows are found by their ids.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn bury(&self) -> Result<Vec<Touched>> {
        let ingest = self.folder.path().join(INGEST);
        let indexes = [REQUEST_INDEX, LIST_INDEX].map(|name| self.change(&ingest.join(name), |_, _| 0));
        let indexes = indexes.into_iter().collect::<Result<_>>()?;
        self.replace(INGEST, indexes, |_: &IngestManifest| Ok(None))
    }

    /// Replaces the files of a step; `amended` returns a new manifest if it must change too.
    fn replace<M: Serialize + DeserializeOwned>(
        &self,
        step: &str,
        rewritten: Vec<(Rewritten, Touched)>,
        amended: impl FnOnce(&M) -> Result<Option<M>>,
    ) -> Result<Vec<Touched>> {
        let lost = || damaged(&self.folder.path().join(step), "the manifest is missing");
        let Sealed { value, files, .. } = self.folder.sealed::<M>(step)?.ok_or_else(lost)?;
        let (rewritten, mut touched): (Vec<Rewritten>, Vec<Touched>) = rewritten.into_iter().unzip();
        replace_files(&self.folder.path().join(step), &value, files, rewritten, || amended(&value))?;
        touched.retain(|touched| !touched.is_nothing());
        Ok(touched)
    }

    /// Marks the list as finished.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn finish(mut self) -> Result<()> {
        self.list.unfinished = false;
        self.list.write(self.folder.path())
    }

    fn empty_cells(&self, path: &Path, table: TableId, but: &[&str]) -> Result<(Rewritten, Touched)> {
        self.change(path, |group, touched| {
            let end = group.start() + group.height();
            let mut changes = 0;
            for row in rows_within(self.rows(table), group.start(), end) {
                group.empty(row as usize - group.start(), but, |column| {
                    touched.cell(column);
                    changes += 1;
                });
            }
            let answers = if table == TableId::Requests { &self.answers } else { &BTreeSet::new() };
            for row in rows_within(answers, group.start(), end) {
                let at = row as usize - group.start();
                for column in [ANSWER, TIER, ANSWER_FROM, ANSWER_BASIS] {
                    if group.set_text(column.name, at, None) {
                        touched.cell(column.name);
                        changes += 1;
                    }
                }
            }
            changes
        })
    }

    fn empty_evidence(&self, path: &Path) -> Result<(Rewritten, Touched)> {
        const BARE: &[&str] = &["table", "row", "action", "reason", "into", "cascaded"];
        self.change(path, |group, touched| {
            let mut changes = 0;
            for at in 0..group.height() {
                if self.is_forgotten(group, at) {
                    group.empty(at, BARE, |column| {
                        touched.cell(column);
                        changes += 1;
                    });
                }
            }
            changes
        })
    }

    /// Removes the edits, links or decisions of forgotten rows from a file, and the edits that quote their answers.
    fn remove_rows(&self, path: &Path) -> Result<(Rewritten, Touched)> {
        self.change(path, |group, touched| {
            let is_ours = |&at: &usize| {
                self.is_forgotten(group, at)
                    || self.is_made_of_forgotten(group, at)
                    || self.is_of_lost_answer(group, at)
            };
            let ours: Vec<usize> = (0..group.height()).filter(is_ours).collect();
            for &at in &ours {
                group.remove(at);
            }
            touched.rows += ours.len() as u64;
            ours.len() as u64
        })
    }

    /// Returns whether a suggestion names a forgotten request as the one that its value comes from.
    fn is_made_of_forgotten(&self, group: &Group<'_>, at: usize) -> bool {
        group.text("safety", at) == Some(Safety::Suggest.name())
            && group.text("patch", at).is_some_and(|patch| with_tombstones(patch, &self.ids).is_some())
    }

    /// Returns whether an edit is one of an answer that is removed: its patch quotes that answer.
    fn is_of_lost_answer(&self, group: &Group<'_>, at: usize) -> bool {
        group.text("table", at) == Some(TableId::Requests.name())
            && group.text("column", at) == Some(ANSWER.name)
            && group.u32("row", at).is_some_and(|row| self.answers.contains(&row))
    }

    /// Writes a changed copy of a file, and replaces all of the ids in it by tombstones.
    fn change(
        &self,
        path: &Path,
        change: impl Fn(&mut Group<'_>, &mut Touched) -> u64,
    ) -> Result<(Rewritten, Touched)> {
        let mut touched = Touched::of(self.folder.path(), path);
        let rewritten = rewrite(path, |group| {
            let changes = change(group, &mut touched);
            let renamed = group.change_texts(|text| with_tombstones(text, &self.ids));
            if renamed > 0 {
                *touched.cells.entry("id".to_owned()).or_default() += renamed;
            }
            Ok(changes + renamed)
        })?;
        (touched.bytes_before, touched.bytes_after) = (rewritten.before, rewritten.after);
        Ok((rewritten, touched))
    }

    fn rows(&self, table: TableId) -> &BTreeSet<RowIx> {
        match table {
            TableId::Requests => &self.requests,
            TableId::DocLists => &self.lists,
        }
    }

    /// Returns `true` if a fate, an edit or a link belongs to a forgotten row.
    fn is_forgotten(&self, group: &Group<'_>, at: usize) -> bool {
        let table = TableId::ALL.into_iter().find(|table| group.text("table", at) == Some(table.name()));
        let row = group.u32("row", at);
        table.zip(row).is_some_and(|(table, row)| self.rows(table).contains(&row))
    }
}

/// Returns the manifest of a stage with the current counts of edits; `None` if the counts are already right.
fn recounted(folder: &Path, manifest: &StageManifest) -> Result<Option<StageManifest>> {
    let (mut edits, mut suggestions) = (BTreeMap::new(), BTreeMap::new());
    for edit in read_edits(&folder.join(EDITS))? {
        let is_shown = edit.safety == Safety::Suggest.name();
        let counts: &mut BTreeMap<String, u64> = if is_shown { &mut suggestions } else { &mut edits };
        *counts.entry(edit.reason).or_default() += 1;
    }
    let is_so = (&manifest.edits, &manifest.suggestions) == (&edits, &suggestions);
    Ok((!is_so).then(|| StageManifest { edits, suggestions, ..manifest.clone() }))
}

/// Returns the rows and all rows with byte-identical records, because equal records must be forgotten together.
pub fn with_equal_records(requests: &Table, rows: &[RowIx]) -> BTreeSet<RowIx> {
    let all = requests.in_order();
    let row_of: FxHashMap<u128, RowIx> = all.iter().map(|&row| (requests.row_id(row).0, row)).collect();
    let mut with: BTreeSet<RowIx> = rows.iter().copied().collect();
    let rows = with.clone();
    for &first in all {
        let key = requests.row_id(first).0;
        let repeats = (1..).map_while(|nth| row_of.get(&id_of_repeat(key, nth)).copied());
        let equal: Vec<RowIx> = repeats.chain([first]).collect();
        if equal.len() > 1 && equal.iter().any(|row| rows.contains(row)) {
            with.extend(equal);
        }
    }
    with
}

/// Returns the lists of these requests that no other request has, neither as sent nor now.
fn lists_of_none_but(corpus: &Corpus, requests: &BTreeSet<RowIx>) -> BTreeSet<RowIx> {
    let mut has_ours = vec![false; corpus.lists.len()];
    let mut has_other = vec![false; corpus.lists.len()];
    for (row, (&origin, &list)) in (0..).zip(corpus.origin.iter().zip(&corpus.list)) {
        let has = if requests.contains(&row) { &mut has_ours } else { &mut has_other };
        has[origin as usize] = true;
        has[list as usize] = true;
    }
    let is_theirs = |&(_, (has_ours, has_other)): &(RowIx, (bool, bool))| has_ours && !has_other;
    (0..).zip(has_ours.into_iter().zip(has_other)).filter(is_theirs).map(|(list, _)| list).collect()
}

/// Returns the rows whose answer was taken from one of these, in this or an earlier call.
fn answers_taken_from(
    run: &Path,
    corpus: &Corpus,
    requests: &BTreeSet<RowIx>,
    ids: &BTreeMap<String, String>,
) -> Result<BTreeSet<RowIx>> {
    let earlier = forgotten::fates(run)?.into_iter().filter(|fate| fate.reason.code == ANSWER_FORGOTTEN.code);
    let mut rows: BTreeSet<RowIx> = earlier.map(|fate| fate.row).collect();
    let table = &corpus.requests;
    if table.has(ANSWER_FROM) {
        for batch in 0..table.batches() {
            let cells = table.read_batch(batch, &[ANSWER_FROM])?;
            let start = table.batch(batch).start;
            rows.extend(table.rows_of_batch(batch).filter(|&row| {
                cells.text(ANSWER_FROM, row as usize - start).is_some_and(|from| ids.contains_key(from))
            }));
        }
    }
    Ok(rows.difference(requests).copied().collect())
}

fn rows_within(rows: &BTreeSet<RowIx>, start: usize, end: usize) -> impl Iterator<Item = RowIx> + '_ {
    rows.iter().copied().filter(move |&row| (start..end).contains(&(row as usize)))
}

/// Returns the text with ids replaced by tombstones; `None` if it holds none. An id is a sequence of 32 hex digits.
fn with_tombstones(text: &str, ids: &BTreeMap<String, String>) -> Option<String> {
    const DIGITS: usize = 32;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let bytes = text.as_bytes();
    let mut changed: Option<String> = None;
    let (mut start, mut copied) = (0, 0);
    while start < bytes.len() {
        let length = bytes[start..].iter().take_while(|&&byte| is_digit(byte)).count();
        if length == DIGITS
            && let Some(tombstone) = ids.get(&text[start..start + length])
        {
            let changed = changed.get_or_insert_default();
            changed.push_str(&text[copied..start]);
            changed.push_str(tombstone);
            copied = start + length;
        }
        start += length.max(1);
    }
    changed.map(|changed| changed + &text[copied..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content_hash::content_hash;
    use crate::fixture::corpus;

    #[test]
    fn an_id_is_replaced_only_as_a_whole_word() {
        let (id, tomb) = ("0123456789abcdef0123456789abcdef", "f".repeat(32));
        let ids = BTreeMap::from([(id.to_owned(), tomb.clone())]);
        let changed = |text: &str| with_tombstones(text, &ids);
        assert_eq!(changed(&format!("[\"{id}\", é {id}]")), Some(format!("[\"{tomb}\", é {tomb}]")));
        assert_eq!(changed(id), Some(tomb.clone()));
        assert_eq!(changed(&format!("{id}0")), None);
        assert_eq!(changed("the letters abc of é"), None);
    }

    #[test]
    fn a_list_is_forgotten_if_no_other_request_has_it_as_sent_or_now() {
        let tables = serde_json::json!({"doc_lists": [{"text": "a"}, {"text": "b"}, {"text": "c"}],
            "requests": [{"list": 0}, {"list": 1}, {"list": 1}, {"list": 2}]});
        let mut corpus = corpus(&tables);
        let of = |corpus: &Corpus, rows: &[RowIx]| -> Vec<RowIx> {
            lists_of_none_but(corpus, &rows.iter().copied().collect()).into_iter().collect()
        };
        assert_eq!(of(&corpus, &[0]), [0]);
        assert_eq!(of(&corpus, &[1]), [] as [RowIx; 0]);
        assert_eq!(of(&corpus, &[1, 2]), [1]);
        // List 2 was merged into list 0: the request that was sent with it has list 0 now.
        corpus.list[3] = 0;
        assert_eq!(of(&corpus, &[0]), [] as [RowIx; 0]);
        assert_eq!(of(&corpus, &[3]), [2]);
    }

    #[test]
    fn equal_records_are_forgotten_together() {
        let key = content_hash(b"a record");
        let ids = vec![key, 5, id_of_repeat(key, 2), id_of_repeat(key, 1)];
        let table = Table::new(TableId::Requests, ids, vec![0, 1, 3, 2], &[4]);
        for named in [0, 2, 3] {
            assert_eq!(with_equal_records(&table, &[named]), BTreeSet::from([0, 2, 3]));
        }
        assert_eq!(with_equal_records(&table, &[1]), BTreeSet::from([1]));
    }
}
