//! Embedders that read vectors from a file.
//!
//! A `.npy` file has the vectors in the order of a collection's rows, so it only works for whole
//! collections. A Parquet file has each vector with its text, or with the text's hash, so it works
//! for any texts. Rows are scaled to unit length. A missing vector or another number of rows is an
//! error.

mod npy;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::{EmbedError, Embedder, to_unit_length};
use callsieve_engine::context::Cancelled;
use callsieve_engine::error::At as _;
use callsieve_engine::fingerprint::sha256_of;
use callsieve_engine::foreign::{ForeignFile, ForeignRows, Need};
use callsieve_similarity::vectors::Vectors;
use callsieve_system::side_file;
use callsieve_text::content_hash::content_hash;
use callsieve_text::normal::normalise_query;

/// Number of digits of the file's hash in an id.
const N_HASH_DIGITS: usize = 16;

/// The column of texts.
const TEXT: &str = "text";
/// The column of [content hashes](content_hash) of texts, in 32 hex digits: what `b3sum` prints, cut in half.
const TEXT_HASH: &str = "text_blake3";
/// The column of xxh3-128 hashes that earlier versions read, with which a text can be made to have the vector of another.
const EARLIER_HASH: &str = "text_hash";

/// The names of the column of vectors; the first one in the file is used.
const VECTOR: [&str; 3] = ["vector", "embedding", "embeddings"];

/// Returns whether a file has vectors in the order of rows, and not by text.
pub fn is_by_row(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// An embedder with vectors in the order of rows.
pub struct ByRow {
    id: String,
    path: PathBuf,
    vectors: Vectors,
}

impl ByRow {
    /// Reads a `.npy` file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a table of numbers.
    pub fn open(path: &Path) -> Result<Self, EmbedError> {
        let mut bytes = Vec::new();
        side_file::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).at("reading", path)?;
        let (n_dims, mut values) = npy::read(&bytes).map_err(|what| bad(path, what))?;
        drop(bytes);
        values.chunks_exact_mut(n_dims.max(1)).for_each(to_unit_length);
        let id = id("npy", path, n_dims)?;
        Ok(Self { id, path: path.to_owned(), vectors: Vectors::new(n_dims, values) })
    }
}

impl Embedder for ByRow {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn embed(&self, _: &[&str], _: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        Err(bad(&self.path, format!("the file has vectors by row, but they are needed by text\n{HINT}")))
    }

    fn embed_rows(&self, texts: &[&str], _: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        if texts.len() != self.vectors.len() {
            let (path, n_vectors) = (self.path.clone(), self.vectors.len());
            return Err(EmbedError::Count { path, n_vectors, n_rows: texts.len() });
        }
        Ok(self.vectors.clone())
    }
}

/// The hint for uses that need vectors by text.
pub(super) const HINT: &str = "hint: use a Parquet file with the columns `text` and `vector`";

/// An embedder with vectors by text.
pub struct ByText {
    id: String,
    path: PathBuf,
    vectors: Vectors,
    /// The row of each text, by the hash of its bytes.
    exact: FxHashMap<u128, usize>,
    /// The first row of each normalised text, because stages compare normalised texts.
    normal: FxHashMap<u128, usize>,
}

impl ByText {
    /// Reads a Parquet file.
    ///
    /// # Errors
    /// If the file cannot be read or lacks a column, or its vectors have different lengths.
    pub fn open(path: &Path) -> Result<Self, EmbedError> {
        let mut rows = Rows::default();
        let file = ForeignFile::open(path)?;
        let has = |name: &str| file.names().any(|column| column == name);
        if has(EARLIER_HASH) && ![TEXT, TEXT_HASH].into_iter().any(has) {
            return Err(bad(
                path,
                format!(
                    "found a column {EARLIER_HASH}, whose hashes are of an earlier form, expected {TEXT_HASH}\nhint: write the first 32 hex digits of the BLAKE3 hash of each text, or the text itself as {TEXT}"
                ),
            ));
        }
        let vector = VECTOR.into_iter().find(|name| has(name));
        let vector = vector
            .ok_or_else(|| bad(path, format!("expected a column {}, found none", VECTOR.join(" or "))))?;
        let need = |name: &str| if [TEXT, TEXT_HASH, vector].contains(&name) { Need::Read } else { Need::No };
        let selection = file.select(need)?;
        for stretch in file.stretches(&selection) {
            let part = file.read(&selection, stretch.clone())?;
            rows.add(&part, vector, stretch.start).map_err(|what| bad(path, what))?;
        }
        let n_dims = rows.n_dims.unwrap_or(0);
        rows.values.chunks_exact_mut(n_dims.max(1)).for_each(to_unit_length);
        let vectors = Vectors::new(n_dims, rows.values);
        let id = id("parquet", path, n_dims)?;
        Ok(Self { id, path: path.to_owned(), vectors, exact: rows.exact, normal: rows.normal })
    }

    /// Returns the row of a text.
    fn find(&self, text: &str) -> Option<usize> {
        let by_bytes = self.exact.get(&content_hash(text));
        by_bytes.or_else(|| self.normal.get(&content_hash(normalise_query(text)))).copied()
    }
}

impl Embedder for ByText {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn embed(&self, texts: &[&str], _: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        let rows: Vec<Option<usize>> = texts.iter().map(|text| self.find(text)).collect();
        if let Some(first) = rows.iter().position(Option::is_none) {
            return Err(EmbedError::Missing {
                path: self.path.clone(),
                n_missing: rows.iter().filter(|row| row.is_none()).count(),
                n_texts: texts.len(),
                first: first + 1,
                hash: content_hash(texts[first]),
            });
        }
        let values = rows.iter().flatten().flat_map(|&row| self.vectors.get(row)).copied().collect();
        Ok(Vectors::new(self.vectors.n_dims(), values))
    }
}

/// The content of a Parquet file.
#[derive(Default)]
struct Rows {
    n_dims: Option<usize>,
    values: Vec<f32>,
    exact: FxHashMap<u128, usize>,
    normal: FxHashMap<u128, usize>,
}

impl Rows {
    /// Adds the rows of a part of the file that starts at row `start`.
    fn add(&mut self, part: &ForeignRows, vector: &str, start: usize) -> Result<(), String> {
        if ![TEXT, TEXT_HASH].into_iter().any(|column| part.is_text(column)) {
            return Err(format!("expected a column {TEXT} or {TEXT_HASH} of text, found none"));
        }
        for row in 0..part.height() {
            let at = start + row;
            let place = |what: &str| format!("row {}: {what}", at + 1);
            let values = part.floats(vector, row).ok_or_else(|| place("expected a list of numbers"))?;
            if *self.n_dims.get_or_insert(values.len()) != values.len() {
                return Err(place("the vector does not have the length of those before"));
            }
            self.values.extend(values);
            if let Some(text) = part.text(TEXT, row) {
                self.exact.entry(content_hash(text)).or_insert(at);
                self.normal.entry(content_hash(normalise_query(text))).or_insert(at);
            } else if let Some(hash) = part.text(TEXT_HASH, row) {
                let hash =
                    digits(hash).ok_or_else(|| place(&format!("{TEXT_HASH} must be 32 hex digits")))?;
                self.exact.entry(hash).or_insert(at);
            } else {
                return Err(place("expected a text or its hash"));
            }
        }
        Ok(())
    }
}

/// Reads a hash as it is printed.
fn digits(hash: &str) -> Option<u128> {
    (hash.len() == 32).then(|| u128::from_str_radix(hash, 16).ok()).flatten()
}

fn id(kind: &str, path: &Path, n_dims: usize) -> Result<String, EmbedError> {
    let hash = sha256_of(path)?;
    Ok(format!("file-{kind}-{}-{n_dims}-v1", &hash[..N_HASH_DIGITS]))
}

fn bad(path: &Path, what: impl Into<String>) -> EmbedError {
    EmbedError::Vectors { path: path.to_owned(), what: what.into() }
}

#[cfg(test)]
mod tests;
