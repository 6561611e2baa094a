//! The list of records that a run folder must not hold again, and the fates of their rows.
//!
//! `forgotten.json` is in the run folder and survives every later run (also with `--fresh`). Ingest applies it: a
//! record on the list gets no row, only an entry in the lines. The file holds hashes of hashes, so it reveals nothing
//! of a record, and ids from an old copy of the dataset do not occur in it. Only with the record itself can somebody
//! check that it was forgotten; ingest depends on that.
//!
//! `forgotten.parquet` holds the fates of the forgotten rows and of the rows that lost their answer: a delta after the
//! last stage, which is applied when a finished run is opened. `erasure` writes both files.
//!
//! A record is identified by its bytes. If a log is rewritten (other key order, other whitespace), its records come
//! back.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cascade::NO_REQUEST_LEFT;
use super::corpus::{Corpus, RowId};
use super::delta::{StoredFates, read_fates};
use super::error::{Error, Result, damaged};
use super::fate::{Fate, FateEvent};
use super::fingerprint::Fingerprint;
use super::layout::{FORGOTTEN_FATES, FORGOTTEN_LIST};
use super::manifest::read_own;
use super::seal::{Files, write_sealed};
use super::vocabulary::Reason;

/// The reason of a forgotten record; its row keeps its position and loses its content.
pub static FORGOTTEN: Reason =
    Reason::policy("forgotten/record", "This record was forgotten on request; only its position is kept.");

/// The reason of a row whose answer came from a forgotten record.
pub static ANSWER_FORGOTTEN: Reason =
    Reason::policy("forgotten/answer", "The answer was taken from a record that was forgotten.");

/// The list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forgotten {
    /// Some traces of the records on the list may not be removed yet.
    pub unfinished: bool,
    /// Tombstones of requests.
    records: BTreeSet<String>,
    /// Tombstones of the doc lists that were removed with them; ingest does not use these.
    doc_lists: BTreeSet<String>,
}

impl Forgotten {
    /// Reads the list of a run folder; empty if nothing was ever forgotten.
    ///
    /// # Errors
    /// There is a list, but it cannot be read.
    pub fn read(run: &Path) -> Result<Self> {
        let path = run.join(FORGOTTEN_LIST);
        if !path.exists() {
            return Ok(Self::default());
        }
        let damaged = |error| match error {
            Error::Damaged { path, what } => Error::Setting(format!(
                "{}: {what}\nhint: restore it from a copy, or remove it and forget its records again; without it a run brings them back",
                path.display()
            )),
            other => other,
        };
        read_own(run, &path).map(|sealed| sealed.value).map_err(damaged)
    }

    /// Writes the list.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, run: &Path) -> Result<()> {
        write_sealed(&run.join(FORGOTTEN_LIST), self, &Files::default())
    }

    /// Returns `true` if a record of this content or id was forgotten.
    pub fn holds(&self, id: u128) -> bool {
        !self.records.is_empty() && self.records.contains(&tombstone(RowId(id)).to_string())
    }

    /// Returns `true` if this is the id of a forgotten row.
    pub fn is_tombstone(&self, id: RowId) -> bool {
        let id = id.to_string();
        self.records.contains(&id) || self.doc_lists.contains(&id)
    }

    /// Adds the tombstone of a request.
    pub fn add_record(&mut self, tombstone: RowId) {
        self.records.insert(tombstone.to_string());
    }

    /// Adds the tombstone of a doc list.
    pub fn add_list(&mut self, tombstone: RowId) {
        self.doc_lists.insert(tombstone.to_string());
    }

    /// Adds the records to a resume key, because the raw tables depend on the list.
    pub fn fingerprint(&self, fingerprint: &mut Fingerprint) {
        for record in &self.records {
            fingerprint.add_part("forgotten", record.as_bytes());
        }
    }
}

/// Returns the id that replaces the id of a forgotten row: a hash of the id, which is a hash of the content.
pub fn tombstone(id: RowId) -> RowId {
    let mut hasher = Sha256::new();
    hasher.update(b"callsieve forgotten ");
    hasher.update(id.0.to_le_bytes());
    let hash = hasher.finalize();
    RowId(hash.iter().take(16).fold(0, |id, byte| id << 8 | u128::from(*byte)))
}

/// Returns the fates of forgotten rows of a run folder; empty if nothing was forgotten.
///
/// # Errors
/// The file is damaged.
pub fn fates(run: &Path) -> Result<Vec<FateEvent>> {
    const REASONS: [&Reason; 3] = [&FORGOTTEN, &ANSWER_FORGOTTEN, &NO_REQUEST_LEFT];
    let path = run.join(FORGOTTEN_FATES);
    if path.exists() { read_fates(&path, &REASONS) } else { Ok(Vec::new()) }
}

/// Returns [`fates`] as they are stored.
pub(super) fn stored(run: &Path) -> Result<Option<StoredFates>> {
    let path = run.join(FORGOTTEN_FATES);
    path.exists().then(|| StoredFates::open(&path)).transpose()
}

/// Applies the fates of rows that were forgotten since the run to its tables.
pub(super) fn apply(run: &Path, corpus: &mut Corpus, n_stages: usize) -> Result<()> {
    let fates = fates(run)?;
    let is_there = |fate: &&FateEvent| (fate.row as usize) < corpus.table(fate.table).len();
    if let Some(stray) = fates.iter().find(|fate| !is_there(fate)) {
        let what = format!("a fate of row {}, which does not exist", stray.row);
        return Err(damaged(&run.join(FORGOTTEN_FATES), what));
    }
    apply_fates(corpus, &fates, n_stages)
}

/// Applies the fates that `forget` wrote, after `n_stages` stages.
///
/// # Errors
/// A fate is of a row that is not there.
pub fn apply_fates(corpus: &mut Corpus, fates: &[FateEvent], n_stages: usize) -> Result<()> {
    let stage = u16::try_from(n_stages)
        .map_err(|_| Error::Setting("more than 65,535 stages in one pipeline".into()))?;
    for fate in fates {
        let given = Fate { action: fate.action, stage, reason: fate.reason, into: None };
        corpus.forget(fate.table, fate.row, given);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_reads_back_and_holds_no_id() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Forgotten::read(folder.path()).unwrap(), Forgotten::default());
        let mut list = Forgotten::default();
        list.add_record(tombstone(RowId(7)));
        list.write(folder.path()).unwrap();
        let read = Forgotten::read(folder.path()).unwrap();
        assert_eq!(read, list);
        assert!(read.holds(7) && !read.holds(8));
        assert!(read.is_tombstone(tombstone(RowId(7))) && !read.is_tombstone(RowId(7)));
        let text = std::fs::read_to_string(folder.path().join(FORGOTTEN_LIST)).unwrap();
        assert!(!text.contains(&RowId(7).to_string()), "{text}");
    }

    #[test]
    fn an_empty_list_leaves_the_key_as_it_was_and_a_record_changes_it() {
        let key = |list: &Forgotten| {
            let mut fingerprint = Fingerprint::after("x");
            list.fingerprint(&mut fingerprint);
            fingerprint.finish()
        };
        let mut list = Forgotten::default();
        assert_eq!(key(&list), Fingerprint::after("x").finish());
        list.add_record(tombstone(RowId(7)));
        assert_ne!(key(&list), Fingerprint::after("x").finish());
    }
}
