//! Vectors that were made before, kept on disk and shared between runs.
//!
//! A vector is found by its embedder's id and the hash of its text; no text is kept. What is
//! missing is made some texts at a time and written before the next, so a run that is cut off
//! has lost little. Files of vectors are in `segment`. Nothing is ever thrown away here:
//! whoever wants the room back removes the folder.

mod segment;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_128;

use self::segment::{Reader, Writer};
use super::{Cancelled, EmbedError, Embedder};
use crate::engine::error::At as _;
use crate::engine::folder::write_atomic;
use crate::similarity::vectors::Vectors;

/// The variable that names the folder of caches.
const VARIABLE: &str = "TOOLSIEVE_CACHE";

/// Texts embedded before their vectors are written. Higher loses more when a run is cut off.
const CHUNK_TEXTS: usize = 1_024;

/// `$TOOLSIEVE_CACHE`, or `~/.cache/toolsieve`.
pub(super) fn default_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable(VARIABLE)
        .unwrap_or_else(|| variable("HOME").unwrap_or_else(|| PathBuf::from(".")).join(".cache/toolsieve"))
}

/// An embedder whose vectors are kept.
pub struct Cached<E> {
    embedder: E,
    folder: PathBuf,
    store: Mutex<Store>,
}

impl<E: Embedder> Cached<E> {
    /// Looks up what is kept for an embedder below the folder of caches.
    ///
    /// # Errors
    /// The folder cannot be made or read.
    pub fn new(embedder: E, caches: &Path) -> Result<Self, EmbedError> {
        let id = embedder.id();
        let folder = caches.join("vectors").join(format!("{:032x}", xxh3_128(id.as_bytes())));
        std::fs::create_dir_all(&folder).at("making", &folder)?;
        write_atomic(&folder.join("id"), format!("{id}\n").as_bytes())?;
        let store = Mutex::new(Store::open(&folder)?);
        Ok(Self { embedder, folder, store })
    }

    /// Makes the vectors of texts that are not kept, and keeps them.
    fn make(
        &self,
        texts: &[(u128, &str)],
        store: &mut Store,
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<(u128, Vec<f32>)>, EmbedError> {
        let mut made = Vec::with_capacity(texts.len());
        for chunk in texts.chunks(CHUNK_TEXTS) {
            let texts: Vec<&str> = chunk.iter().map(|(_, text)| *text).collect();
            let vectors = self.embedder.embed(&texts, cancelled)?;
            let rows: Vec<(u128, &[f32])> =
                chunk.iter().zip(vectors.iter()).map(|((key, _), row)| (*key, row)).collect();
            store.keep(&self.folder, vectors.n_dims(), &rows)?;
            made.extend(rows.into_iter().map(|(key, row)| (key, row.to_vec())));
        }
        Ok(made)
    }
}

impl<E: Embedder> Embedder for Cached<E> {
    fn id(&self) -> String {
        self.embedder.id()
    }

    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        let keys: Vec<u128> = texts.iter().map(|text| xxh3_128(text.as_bytes())).collect();
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows: FxHashMap<u128, Vec<f32>> = FxHashMap::default();
        let (mut missing, mut seen) = (Vec::new(), FxHashSet::default());
        for (&key, &text) in keys.iter().zip(texts).filter(|(key, _)| seen.insert(**key)) {
            match store.find(key)? {
                Some(row) => drop(rows.insert(key, row)),
                None => missing.push((key, text)),
            }
        }
        rows.extend(self.make(&missing, &mut store, cancelled)?);
        let n_dims = keys.first().map_or(0, |key| rows[key].len());
        if let Some(other) = keys.iter().map(|key| rows[key].len()).find(|&other| other != n_dims) {
            return Err(self.changed(n_dims, other));
        }
        Ok(Vectors::new(n_dims, keys.iter().flat_map(|key| &rows[key]).copied().collect()))
    }
}

impl<E: Embedder> Cached<E> {
    fn changed(&self, n_dims: usize, other: usize) -> EmbedError {
        let what = format!(
            "{} gave vectors of {n_dims} and of {other} numbers: the model has changed\nhint: remove the folder",
            self.embedder.id()
        );
        EmbedError::Vectors { path: self.folder.clone(), what }
    }
}

/// All segments of one embedder: those there were, and the one that this process writes.
struct Store {
    segments: Vec<Reader>,
    /// Segment and record of each key.
    places: FxHashMap<u128, (usize, u64)>,
    writer: Option<Writer>,
}

impl Store {
    fn open(folder: &Path) -> Result<Self, EmbedError> {
        let mut store = Self { segments: Vec::new(), places: FxHashMap::default(), writer: None };
        for path in segment::paths(folder)? {
            if let Some((reader, records)) = Reader::open(&path)? {
                let at = store.segments.len();
                store.places.extend(records.into_iter().map(|(record, key)| (key, (at, record))));
                store.segments.push(reader);
            }
        }
        Ok(store)
    }

    /// A vector, if it is kept and whole.
    fn find(&mut self, key: u128) -> Result<Option<Vec<f32>>, EmbedError> {
        let Some(&(segment, record)) = self.places.get(&key) else { return Ok(None) };
        self.segments[segment].read(record, key)
    }

    /// Writes vectors behind those of this process.
    fn keep(&mut self, folder: &Path, n_dims: usize, rows: &[(u128, &[f32])]) -> Result<(), EmbedError> {
        if n_dims == 0 {
            return Ok(());
        }
        if self.writer.as_ref().is_none_or(|writer| writer.n_dims() != n_dims) {
            self.writer = Some(Writer::create(folder, n_dims)?);
        }
        self.writer.as_mut().map_or(Ok(()), |writer| writer.append(rows))
    }
}

#[cfg(test)]
mod tests;
