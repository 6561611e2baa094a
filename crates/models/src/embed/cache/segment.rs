//! A segment: an append-only file of vectors.
//!
//! A segment has a header (a mark and the dimensions, little-endian) and records of fixed length:
//! key, checksum, numbers. Each process writes its own file as `.partial` and renames it at the
//! end; files with both names are read. A truncated or damaged record fails its checksum and is
//! ignored.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::embed::EmbedError;
use callsieve_engine::disk::create_private;
use callsieve_engine::error::At as _;

/// The mark of the file format.
const MARK: &[u8; 8] = b"tsvector";
/// The version of the file format. Version 1 has keys of another hash, which anybody can make two texts for.
const VERSION: u32 = 2;
const HEAD_LEN: usize = MARK.len() + 8;
const KEY_LEN: usize = size_of::<u128>();
const CHECK_LEN: usize = size_of::<u64>();

const WHOLE: &str = "vectors";
const PARTIAL: &str = "partial";

/// Returns the segments in a folder, sorted by name.
pub(super) fn paths(folder: &Path) -> Result<Vec<PathBuf>, EmbedError> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).at("reading", folder)? {
        let path = entry.at("reading", folder)?.path();
        if [WHOLE, PARTIAL].iter().any(|known| path.extension().is_some_and(|extension| extension == *known))
        {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

fn record_len(n_dims: usize) -> usize {
    KEY_LEN + CHECK_LEN + n_dims * size_of::<f32>()
}

fn check(key: &[u8], values: &[u8]) -> [u8; CHECK_LEN] {
    let mut hash = Xxh3::new();
    hash.update(key);
    hash.update(values);
    hash.digest().to_le_bytes()
}

/// Indices and keys of records.
type Records = Vec<(u64, u128)>;

/// A reader of a segment.
pub(super) struct SegmentReader {
    path: PathBuf,
    file: File,
    n_dims: usize,
}

impl SegmentReader {
    /// Opens a segment and lists its intact records by index and key; `None` if the file is not a segment, or was
    /// removed since it was listed.
    pub(super) fn open(path: &Path) -> Result<Option<(Self, Records)>, EmbedError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened.at("reading", path)?,
        };
        let mut buffered = BufReader::with_capacity(1 << 20, &file);
        let mut head = [0; HEAD_LEN];
        if buffered.read_exact(&mut head).is_err() {
            return Ok(None);
        }
        let n_dims = match head_of(&head) {
            Head::Dims(n_dims) => n_dims,
            Head::Foreign => return Ok(None),
            Head::Version(version) => {
                let what = format!("its vectors have keys of version {version}, expected version {VERSION}");
                return Err(outdated(path, &what, path.parent().unwrap_or(path)));
            }
        };
        let mut records = Vec::new();
        let mut bytes = vec![0; record_len(n_dims)];
        for number in 0.. {
            if buffered.read_exact(&mut bytes).is_err() {
                break;
            }
            records.extend(whole(&bytes).map(|(key, _)| (number, key)));
        }
        Ok(Some((Self { path: path.to_owned(), file, n_dims }, records)))
    }

    /// Reads the numbers of a record; `None` if it is damaged or has another key.
    pub(super) fn read(&mut self, record: u64, key: u128) -> Result<Option<Vec<f32>>, EmbedError> {
        let mut bytes = vec![0; record_len(self.n_dims)];
        let at = HEAD_LEN as u64 + record * bytes.len() as u64;
        self.file.seek(SeekFrom::Start(at)).at("reading", &self.path)?;
        if self.file.read_exact(&mut bytes).is_err() {
            return Ok(None);
        }
        let values = whole(&bytes).filter(|(own, _)| *own == key).map(|(_, values)| values);
        Ok(values.map(|values| values.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

/// Returns the key and the numbers of a record, if its checksum is correct.
fn whole(record: &[u8]) -> Option<(u128, &[u8])> {
    let (key, rest) = record.split_first_chunk::<KEY_LEN>()?;
    let (own_check, values) = rest.split_first_chunk::<CHECK_LEN>()?;
    (*own_check == check(key, values)).then(|| (u128::from_le_bytes(*key), values))
}

/// What a header says.
enum Head {
    /// The dimensions of the vectors.
    Dims(usize),
    /// Another version of the format.
    Version(u32),
    /// It is not the header of a segment.
    Foreign,
}

fn head_of(head: &[u8; HEAD_LEN]) -> Head {
    let words = head.strip_prefix(MARK).map(<[u8]>::as_chunks);
    let Some((&[version, n_dims], [])) = words else { return Head::Foreign };
    match (u32::from_le_bytes(version), usize::try_from(u32::from_le_bytes(n_dims))) {
        (VERSION, Ok(n_dims)) if n_dims > 0 => Head::Dims(n_dims),
        (VERSION, _) => Head::Foreign,
        (version, _) => Head::Version(version),
    }
}

/// Returns the error for vectors that are stored in an earlier form in a folder.
pub(super) fn outdated(path: &Path, what: &str, folder: &Path) -> EmbedError {
    let what = format!("{what}\nhint: remove {}; its vectors are computed again", folder.display());
    EmbedError::Vectors { path: path.to_owned(), what }
}

/// A writer of a segment.
pub(super) struct SegmentWriter {
    path: PathBuf,
    file: File,
    n_dims: usize,
    n_records: u64,
}

impl SegmentWriter {
    /// Creates a segment that only its owner may read.
    pub(super) fn create(folder: &Path, n_dims: usize) -> Result<Self, EmbedError> {
        // Seeded by the system, so that two processes do not use the same name.
        let name = RandomState::new().hash_one(std::process::id());
        let path = folder.join(format!("{name:016x}.{PARTIAL}"));
        let mut file = create_private(&path)?;
        let n_dims_word = u32::try_from(n_dims).unwrap_or(0);
        let head = [MARK.as_slice(), &VERSION.to_le_bytes(), &n_dims_word.to_le_bytes()].concat();
        file.write_all(&head).at("writing", &path)?;
        Ok(Self { path, file, n_dims, n_records: 0 })
    }

    pub(super) fn n_dims(&self) -> usize {
        self.n_dims
    }

    /// Returns a reader of the same segment.
    pub(super) fn reader(&self) -> Result<SegmentReader, EmbedError> {
        let file = File::open(&self.path).at("reading", &self.path)?;
        Ok(SegmentReader { path: self.path.clone(), file, n_dims: self.n_dims })
    }

    /// Writes records with a single call; returns the index of the first.
    pub(super) fn append(&mut self, rows: &[(u128, &[f32])]) -> Result<u64, EmbedError> {
        let mut bytes = Vec::with_capacity(rows.len() * record_len(self.n_dims));
        for (key, row) in rows {
            let key = key.to_le_bytes();
            let values: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
            bytes.extend(key);
            bytes.extend(check(&key, &values));
            bytes.extend(values);
        }
        self.file.write_all(&bytes).at("writing", &self.path)?;
        let first = self.n_records;
        self.n_records += rows.len() as u64;
        Ok(first)
    }
}

impl Drop for SegmentWriter {
    fn drop(&mut self) {
        // A segment that keeps its temporary name is read, too.
        let _ = std::fs::rename(&self.path, self.path.with_extension(WHOLE));
    }
}
