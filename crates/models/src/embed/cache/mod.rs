//! A cache of vectors on disk, shared between runs.
//!
//! A vector is found by its embedder's id and the hash of its text; texts are not stored. Missing
//! vectors are computed in chunks, and each chunk is written before the next, so an interrupted
//! run loses little. `segment` reads and writes the files. Nothing is ever deleted: to free the
//! space, remove the folder.

mod segment;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use self::segment::{SegmentReader, SegmentWriter};
use super::{EmbedError, Embedder};
use callsieve_engine::context::Cancelled;
use callsieve_engine::disk::write_atomic;
use callsieve_engine::error::At as _;
use callsieve_similarity::vectors::Vectors;
use callsieve_text::content_hash::content_hash;

/// Number of texts embedded before their vectors are written. Higher loses more if a run is interrupted.
const CHUNK_TEXTS: usize = 1_024;

/// The file with the id of the embedder.
const ID: &str = "id";

/// A text with its hash.
type KeyedText<'a> = (u128, &'a str);

/// Vectors by the hash of their texts.
type Rows = FxHashMap<u128, Vec<f32>>;

/// An embedder with a cache.
pub struct CachedEmbedder<E> {
    embedder: E,
    folder: PathBuf,
    store: Mutex<Store>,
}

impl<E: Embedder> CachedEmbedder<E> {
    /// Opens the cache of an embedder in the folder of caches.
    ///
    /// # Errors
    /// If the folder cannot be created or read.
    pub fn new(embedder: E, caches: &Path) -> Result<Self, EmbedError> {
        let id = embedder.id();
        let vectors = caches.join("vectors");
        let folder = vectors.join(format!("{:032x}", content_hash(&id)));
        refuse_earlier(&vectors, &folder, &id)?;
        std::fs::create_dir_all(&folder).at("making", &folder)?;
        write_atomic(&folder.join(ID), format!("{id}\n").as_bytes())?;
        let store = Mutex::new(Store::open(&folder)?);
        Ok(Self { embedder, folder, store })
    }

    /// Locks the store. The lock is never held while vectors are computed, because that runs on all threads and one
    /// of them may wait here.
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes and stores the vectors of texts.
    fn compute(&self, texts: &[KeyedText<'_>], cancelled: Cancelled<'_>) -> Result<Rows, EmbedError> {
        let mut computed = Rows::default();
        for chunk in texts.chunks(CHUNK_TEXTS) {
            let texts: Vec<&str> = chunk.iter().map(|(_, text)| *text).collect();
            let vectors = self.embedder.embed(&texts, cancelled)?;
            let rows: Vec<(u128, &[f32])> =
                chunk.iter().zip(vectors.iter()).map(|((key, _), row)| (*key, row)).collect();
            self.store().keep(&self.folder, vectors.n_dims(), &rows)?;
            computed.extend(rows.into_iter().map(|(key, row)| (key, row.to_vec())));
        }
        Ok(computed)
    }

    /// Returns the stored vectors, and the distinct texts without one, in order.
    fn look_up<'a>(&self, keyed: &[KeyedText<'a>]) -> Result<(Rows, Vec<KeyedText<'a>>), EmbedError> {
        let mut store = self.store();
        let (mut rows, mut missing, mut seen) = (Rows::default(), Vec::new(), FxHashSet::default());
        for &(key, text) in keyed.iter().filter(|(key, _)| seen.insert(*key)) {
            match store.find(key)? {
                Some(row) => drop(rows.insert(key, row)),
                None => missing.push((key, text)),
            }
        }
        Ok((rows, missing))
    }

    fn changed(&self, n_dims: usize, other: usize) -> EmbedError {
        let what = format!(
            "{} returned vectors of {n_dims} and of {other} numbers: the model has changed\nhint: remove the folder",
            self.embedder.id()
        );
        EmbedError::Vectors { path: self.folder.clone(), what }
    }
}

impl<E: Embedder> Embedder for CachedEmbedder<E> {
    fn id(&self) -> String {
        self.embedder.id()
    }

    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        let keyed: Vec<KeyedText<'_>> = texts.iter().map(|&text| (content_hash(text), text)).collect();
        let (mut rows, missing) = self.look_up(&keyed)?;
        rows.extend(self.compute(&missing, cancelled)?);
        let in_order: Vec<&[f32]> = keyed.iter().map(|(key, _)| rows[key].as_slice()).collect();
        let n_dims = in_order.first().map_or(0, |row| row.len());
        if let Some(other) = in_order.iter().find(|row| row.len() != n_dims) {
            return Err(self.changed(n_dims, other.len()));
        }
        Ok(Vectors::new(n_dims, in_order.concat()))
    }
}

/// Refuses a folder of another name with the vectors of the same embedder: earlier versions named folders by another hash,
/// and nothing would read, or ever remove, what is in them.
fn refuse_earlier(vectors: &Path, own: &Path, id: &str) -> Result<(), EmbedError> {
    if !vectors.is_dir() {
        return Ok(());
    }
    let entries = std::fs::read_dir(vectors).at("reading", vectors)?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort_unstable();
    let is_of_embedder = |folder: &&PathBuf| {
        let written = std::fs::read_to_string(folder.join(ID));
        folder.as_path() != own && written.is_ok_and(|written| written.trim_end() == id)
    };
    match folders.iter().find(is_of_embedder) {
        None => Ok(()),
        Some(earlier) => {
            let what = format!("an earlier version stored vectors of {id} here, which this one cannot find");
            Err(segment::outdated(earlier, &what, earlier))
        }
    }
}

/// All segments of one embedder: existing ones, and those that this process writes.
#[derive(Default)]
struct Store {
    segments: Vec<SegmentReader>,
    /// The segment and record of each key.
    places: FxHashMap<u128, (usize, u64)>,
    writer: Option<SegmentWriter>,
}

impl Store {
    fn open(folder: &Path) -> Result<Self, EmbedError> {
        let mut store = Self::default();
        for path in segment::paths(folder)? {
            if let Some((reader, records)) = SegmentReader::open(&path)? {
                let at = store.segments.len();
                store.places.extend(records.into_iter().map(|(record, key)| (key, (at, record))));
                store.segments.push(reader);
            }
        }
        Ok(store)
    }

    /// Returns a vector, if it is stored and intact.
    fn find(&mut self, key: u128) -> Result<Option<Vec<f32>>, EmbedError> {
        let Some(&(segment, record)) = self.places.get(&key) else { return Ok(None) };
        self.segments[segment].read(record, key)
    }

    /// Appends vectors to the segment of this process.
    fn keep(&mut self, folder: &Path, n_dims: usize, rows: &[(u128, &[f32])]) -> Result<(), EmbedError> {
        if n_dims == 0 {
            return Ok(());
        }
        let mut writer = if let Some(writer) = self.writer.take().filter(|writer| writer.n_dims() == n_dims) {
            writer
        } else {
            let writer = SegmentWriter::create(folder, n_dims)?;
            self.segments.push(writer.reader()?);
            writer
        };
        // A writer that failed is not used again, because its records would be at the wrong offsets.
        let first = writer.append(rows)?;
        self.writer = Some(writer);
        // The segment being written was opened last.
        let at = self.segments.len() - 1;
        self.places.extend((first..).zip(rows).map(|(record, (key, _))| (*key, (at, record))));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
