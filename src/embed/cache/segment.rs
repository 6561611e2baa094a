//! A file of vectors, written once from its start to its end.
//!
//! A head (a mark and the dimensions, in little endian) and records of one length: the key, a
//! check, the numbers. Each process writes a file of its own, as `.partial`, and renames it
//! when it ends well; both are read. A record that is cut or damaged fails its check and
//! counts as not there.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::embed::EmbedError;
use crate::engine::disk::create_private;
use crate::engine::error::At as _;

/// What the file is, and the version of its form.
const MARK: &[u8; 8] = b"tsvector";
const VERSION: u32 = 1;
const HEAD_LEN: usize = MARK.len() + 8;
const KEY_LEN: usize = size_of::<u128>();
const CHECK_LEN: usize = size_of::<u64>();

const WHOLE: &str = "vectors";
const PARTIAL: &str = "partial";

/// The segments in a folder, by name.
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

/// Numbers and keys of records.
type Records = Vec<(u64, u128)>;

/// A segment that is read.
pub(super) struct Reader {
    path: PathBuf,
    file: File,
    n_dims: usize,
}

impl Reader {
    /// Finds all records that are whole, by number and key; nothing where the file is none of ours, or gone since it
    /// was listed.
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
        let Some(n_dims) = dims(&head) else { return Ok(None) };
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

    /// The numbers of a record; nothing where it is damaged or of another key.
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

/// The key and the numbers of a record, where its check is right.
fn whole(record: &[u8]) -> Option<(u128, &[u8])> {
    let (key, rest) = record.split_first_chunk::<KEY_LEN>()?;
    let (own_check, values) = rest.split_first_chunk::<CHECK_LEN>()?;
    (*own_check == check(key, values)).then(|| (u128::from_le_bytes(*key), values))
}

/// The dimensions, where the head is one of ours.
fn dims(head: &[u8; HEAD_LEN]) -> Option<usize> {
    let (version, n_dims) = head.strip_prefix(MARK)?.split_at(4);
    if version != VERSION.to_le_bytes() {
        return None;
    }
    usize::try_from(u32::from_le_bytes(n_dims.try_into().ok()?)).ok().filter(|&n_dims| n_dims > 0)
}

/// A segment that this process writes.
pub(super) struct Writer {
    path: PathBuf,
    file: File,
    n_dims: usize,
    n_records: u64,
}

impl Writer {
    /// Starts a segment that only its owner may read.
    pub(super) fn create(folder: &Path, n_dims: usize) -> Result<Self, EmbedError> {
        // Seeded by the system, so that no two processes come upon one name.
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

    /// What reads back what is written here.
    pub(super) fn reader(&self) -> Result<Reader, EmbedError> {
        let file = File::open(&self.path).at("reading", &self.path)?;
        Ok(Reader { path: self.path.clone(), file, n_dims: self.n_dims })
    }

    /// Writes records in one piece; gives the number of the first.
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

impl Drop for Writer {
    fn drop(&mut self) {
        // One that keeps its name is read all the same.
        let _ = std::fs::rename(&self.path, self.path.with_extension(WHOLE));
    }
}
