//! The list of records that a run folder must not hold again, and what forgetting them did to its rows.
//!
//! `forgotten.json` stands beside the steps, outlives every run in the folder (and
//! `--fresh`), and is honoured by ingest: a record on it gets no row, only a line. It
//! holds hashes of hashes: nothing of a record can be read from it, and somebody who finds
//! an old copy of the dataset sees its ids in no file here. Whoever has the record itself
//! can tell that it was forgotten; without that, ingest could not know it either.
//!
//! `forgotten.parquet` holds the fates of the rows that were forgotten and of those that lost their answer: a delta after
//! the last stage, which opening a finished run applies. Both are written by `erasure`.
//!
//! A record is known by its bytes. A log that is written anew (other key order, other
//! blanks) is another log, and brings its records back.

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

/// A record was forgotten; its row is a place without content.
pub static FORGOTTEN: Reason = Reason::policy(
    "forgotten/record",
    "Somebody asked for this record to be forgotten; nothing of it is kept but its place.",
);

/// The answer of a row came from a record that was forgotten, so it went too.
pub static ANSWER_FORGOTTEN: Reason =
    Reason::policy("forgotten/answer", "The answer was taken from a record that was forgotten.");

/// The list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forgotten {
    /// Records were put on the list whose traces may not all be removed yet.
    pub unfinished: bool,
    /// Tombstones of requests.
    records: BTreeSet<String>,
    /// Tombstones of the doc lists that went with them; ingest does not ask for these.
    doc_lists: BTreeSet<String>,
}

impl Forgotten {
    /// Reads the list of a run folder; empty where nothing was ever forgotten.
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
                "{}: {what}\nhint: restore it from a copy, or remove it and forget its records once more; without it a run brings them back",
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

    /// Whether a record of this content or id was forgotten.
    pub fn holds(&self, id: u128) -> bool {
        !self.records.is_empty() && self.records.contains(&tombstone(RowId(id)).to_string())
    }

    /// Whether this is the id of a row that is only a place any more.
    pub fn is_tombstone(&self, id: RowId) -> bool {
        let id = id.to_string();
        self.records.contains(&id) || self.doc_lists.contains(&id)
    }

    /// Puts a request on the list, by its tombstone.
    pub fn add_record(&mut self, tombstone: RowId) {
        self.records.insert(tombstone.to_string());
    }

    /// Notes the tombstone of a doc list.
    pub fn add_list(&mut self, tombstone: RowId) {
        self.doc_lists.insert(tombstone.to_string());
    }

    /// Adds the records to a key: a raw tables that was read with another list is another one.
    pub fn fingerprint(&self, fingerprint: &mut Fingerprint) {
        for record in &self.records {
            fingerprint.part("forgotten", record.as_bytes());
        }
    }
}

/// The id that stands in a row's place once it is forgotten: a one-way hash of its id, which is a hash of its content.
pub fn tombstone(id: RowId) -> RowId {
    let mut hasher = Sha256::new();
    hasher.update(b"toolsieve forgotten ");
    hasher.update(id.0.to_le_bytes());
    let hash = hasher.finalize();
    RowId(hash.iter().take(16).fold(0, |id, byte| id << 8 | u128::from(*byte)))
}

/// What forgetting did to fates, in a run folder; nothing where nothing was forgotten.
///
/// # Errors
/// The file is damaged.
pub fn fates(run: &Path) -> Result<Vec<FateEvent>> {
    const REASONS: [&Reason; 3] = [&FORGOTTEN, &ANSWER_FORGOTTEN, &NO_REQUEST_LEFT];
    let path = run.join(FORGOTTEN_FATES);
    if path.exists() { read_fates(&path, &REASONS) } else { Ok(Vec::new()) }
}

/// The same, as stored.
pub(super) fn stored(run: &Path) -> Result<Option<StoredFates>> {
    let path = run.join(FORGOTTEN_FATES);
    path.exists().then(|| StoredFates::open(&path)).transpose()
}

/// Applies what was forgotten since the run to its tables.
pub(super) fn apply(run: &Path, corpus: &mut Corpus, n_stages: usize) -> Result<()> {
    let fates = fates(run)?;
    let is_there = |fate: &&FateEvent| (fate.row as usize) < corpus.table(fate.table).len();
    if let Some(stray) = fates.iter().find(|fate| !is_there(fate)) {
        let what = format!("a fate of row {}, which is not there", stray.row);
        return Err(damaged(&run.join(FORGOTTEN_FATES), what));
    }
    apply_fates(corpus, &fates, n_stages)
}

pub(crate) fn apply_fates(corpus: &mut Corpus, fates: &[FateEvent], n_stages: usize) -> Result<()> {
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
