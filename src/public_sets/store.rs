//! The files of sets: what is on disk, what they hold, and how new ones come in.
//!
//! A set's files are read in the order of their names, each record by the set's format.
//! A record that cannot be read is counted, and the first few are named with the reason.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::SetError;
use super::catalogue::{Catalogue, OWN, PublicSet, SAMPLE, check_id};
use super::formats::{Entry, FORMATS};
use crate::engine::error::At;
use crate::engine::fingerprint::{hex, sha256_of};
use crate::engine::folder::write_atomic;
use crate::engine::frame::FrameFile;
use crate::ingest::read::{Block, Format, Item, Limits, read_blocks};
use crate::text::short::shortened;

/// The records of the set that is built in.
const SAMPLE_RECORDS: &str = include_str!("../../configs/toolsieve-sample.jsonl");

/// Unreadable records that are named; the rest are counted.
const MAX_NAMED: usize = 5;

/// How files end, unpacked, that are taken from a folder.
const DATA: [&str; 7] = ["jsonl", "ndjson", "json", "csv", "tsv", "parquet", "py"];

/// A file of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SetFile {
    /// Its name in the set's folder.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// A record that was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// File and line.
    pub record: String,
    /// What is wrong.
    pub why: String,
}

/// What a set on disk holds.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// Its files.
    pub files: Vec<SetFile>,
    /// Records in them, unreadable ones too.
    pub records: u64,
    /// Each function with the id of its record, in order.
    pub functions: Vec<(String, Value)>,
    /// Each query with the id of its record, in order.
    pub queries: Vec<(String, String)>,
    /// Records that cannot be read.
    pub unreadable: u64,
    /// The first of them.
    pub unread: Vec<Unread>,
}

/// The data files of a set, by name; none where it is not on disk. The set that is built in has none and is there.
///
/// # Errors
/// Its folder cannot be read.
pub fn files(catalogue: &Catalogue, set: &PublicSet) -> Result<Vec<PathBuf>, SetError> {
    let folder = catalogue.folder(&set.id);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).at("reading", &folder)? {
        let path = entry.at("reading", &folder)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && !is_hidden(&name) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The set's hashes, name by name, for a resume key; `None` where it is not on disk.
///
/// # Errors
/// A file cannot be read.
pub fn hashes(catalogue: &Catalogue, set: &PublicSet) -> Result<Option<Vec<String>>, SetError> {
    if set.id == SAMPLE {
        return Ok(Some(vec![hex(&Sha256::digest(SAMPLE_RECORDS))]));
    }
    let files = files(catalogue, set)?;
    if files.is_empty() {
        return Ok(None);
    }
    let hash = |path: &PathBuf| Ok(format!("{} {}", name_of(path), sha256_of(path)?));
    files.iter().map(hash).collect::<Result<_, SetError>>().map(Some)
}

/// Whether a set is on disk, or built in.
///
/// # Errors
/// Its folder cannot be read.
pub fn is_there(catalogue: &Catalogue, set: &PublicSet) -> Result<bool, SetError> {
    Ok(set.id == SAMPLE || !files(catalogue, set)?.is_empty())
}

/// Reads a set; `None` where it is not on disk.
///
/// # Errors
/// A file cannot be read. An unreadable record is no error.
pub fn load(catalogue: &Catalogue, set: &PublicSet) -> Result<Option<Loaded>, SetError> {
    let mut loaded = Loaded::default();
    if set.id == SAMPLE {
        for (line, text) in (1..).zip(SAMPLE_RECORDS.lines()) {
            let value: Result<Value, String> = serde_json::from_str(text).map_err(|error| error.to_string());
            loaded.take("built-in", line, value.and_then(|value| (set.format().read)(&value)));
        }
        let sha256 = hex(&Sha256::digest(SAMPLE_RECORDS));
        let bytes = SAMPLE_RECORDS.len() as u64;
        loaded.files.push(SetFile { name: "built-in".to_owned(), sha256, bytes });
        return Ok(Some(loaded));
    }
    let files = files(catalogue, set)?;
    for path in &files {
        loaded.file(set, path)?;
    }
    Ok((!files.is_empty()).then_some(loaded))
}

/// Whether a file of a set's folder is none of its data.
fn is_hidden(name: &str) -> bool {
    name == OWN || name.starts_with('.')
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn extension_is(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

impl Loaded {
    /// There is something to compare with.
    pub fn is_readable(&self) -> bool {
        !self.functions.is_empty() || !self.queries.is_empty()
    }

    /// Adds to a JSON object what was read: files with their hashes, counts, the first records that cannot be read.
    pub fn tell(&self, about: &mut Value) {
        about["files"] = json!(self.files);
        about["records"] = json!(self.records);
        about["functions"] = json!(self.functions.len());
        about["queries"] = json!(self.queries.len());
        about["unreadable"] = json!(self.unreadable);
        about["unread"] = json!(self.unread);
    }

    /// Of a set that is not readable: its files, and what is wrong.
    pub fn fault(&self) -> String {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let why = match self.unread.first() {
            Some(unread) => format!("{}: {}", unread.record, shortened(&unread.why, 160)),
            None if self.records == 0 => "no records in it".to_owned(),
            None => "neither functions nor queries in it".to_owned(),
        };
        format!("{} ({why})", names.join(", "))
    }

    /// Reads one file by its name: Parquet, Python source, or JSON in any layout.
    fn file(&mut self, set: &PublicSet, path: &Path) -> Result<(), SetError> {
        let name = name_of(path);
        if extension_is(path, "parquet") {
            let file = FrameFile::open(path)?;
            let frame = file.read(0, file.height(), None)?;
            for row in 0..file.height() {
                let entry = (set.format().read)(&Value::Object(frame.row_json(row)));
                self.take(&name, row as u64 + 1, entry);
            }
        } else if extension_is(path, "py") {
            let source = std::fs::read_to_string(path).at("reading", path)?;
            self.take(&name, 1, (set.format().read)(&Value::String(source)));
        } else {
            read_blocks::<SetError>(path, Format::of(path), &Limits::default(), &mut |_| {}, &mut |block| {
                self.block(set, &name, &block);
                Ok(())
            })?;
        }
        let bytes = std::fs::metadata(path).at("reading", path)?.len();
        self.files.push(SetFile { name, sha256: sha256_of(path)?, bytes });
        Ok(())
    }

    fn block(&mut self, set: &PublicSet, name: &str, block: &Block) {
        let entries: Vec<(u64, Option<Result<Entry, String>>)> =
            block.items.par_iter().map(|item| (item.line, entry(set, block, item))).collect();
        for (line, entry) in entries {
            if let Some(entry) = entry {
                self.take(name, line, entry);
            }
        }
    }

    /// Counts a record, and takes what it holds.
    fn take(&mut self, file: &str, line: u64, entry: Result<Entry, String>) {
        self.records += 1;
        let place = format!("{file}:{line}");
        match entry {
            Ok(entry) => {
                let id = entry.id.unwrap_or(place);
                self.functions.extend(entry.functions.into_iter().map(|function| (id.clone(), function)));
                self.queries.extend(entry.queries.into_iter().map(|query| (id.clone(), query)));
            }
            Err(why) => {
                self.unreadable += 1;
                if self.unread.len() < MAX_NAMED {
                    self.unread.push(Unread { record: place, why });
                }
            }
        }
    }
}

/// Reads one item of a file; a blank line is none.
fn entry(set: &PublicSet, block: &Block, item: &Item) -> Option<Result<Entry, String>> {
    let bytes = match &item.bytes {
        Ok(range) => &block.text[range.clone()],
        Err(fault) => return Some(Err(format!("{}: {}", fault.reason, fault.detail))),
    };
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    let value = match &block.header {
        Some(header) => header.row(bytes).map_err(|fault| fault.detail),
        None => serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}")),
    };
    Some(value.and_then(|value| (set.format().read)(&value)))
}

/// How a set that is not yet known is to be described.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// A name of `formats`.
    pub format: Option<String>,
    /// SPDX expression or `unknown`.
    pub licence: Option<String>,
    /// What it is.
    pub title: Option<String>,
    /// The licence forbids commercial use.
    pub non_commercial: bool,
}

/// The paths, and in place of a folder the data files in it, by name.
fn with_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SetError> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).at("reading", path)? {
            let file = entry.at("reading", path)?.path();
            if file.is_file() && is_data(&file) {
                inside.push(file);
            }
        }
        if inside.is_empty() {
            return Err(SetError::Add(format!(
                "{}: there are no files of data in this folder\nhint: files end in .{}, plain or with .gz or .zst; folders in it are not looked into",
                path.display(),
                DATA.join(", .")
            )));
        }
        inside.sort();
        all.extend(inside);
    }
    Ok(all)
}

/// Whether a file found in a folder is taken for data, by its name.
fn is_data(path: &Path) -> bool {
    let is_packed = extension_is(path, "gz") || extension_is(path, "zst");
    let bare = if is_packed { path.with_extension("") } else { path.to_owned() };
    !is_hidden(&name_of(path)) && DATA.iter().any(|extension| extension_is(&bare, extension))
}

/// Reads files as a set's and copies them into its folder; a set that is not known is described beside them.
///
/// Of a folder its data files are taken.
///
/// # Errors
/// A file cannot be read as the set's format says, has the name of another one that is there, or cannot be copied;
/// or a new set lacks its format or licence. Then nothing is copied.
pub fn add(
    catalogue: &Catalogue,
    id: &str,
    paths: &[PathBuf],
    described: &Described,
) -> Result<(PublicSet, Loaded), SetError> {
    let (set, is_new) = match catalogue.set(id) {
        Ok(set) if *described == Described::default() => (set.clone(), false),
        Ok(_) => {
            return Err(SetError::Add(format!(
                "set {id} is known\nhint: --format, --licence, --title and --non-commercial describe a new set"
            )));
        }
        Err(_) => (own(catalogue, id, described)?, true),
    };
    let paths = &with_folders(paths)?;
    if set.id == SAMPLE {
        return Err(SetError::Add(format!("set {SAMPLE} is built in and takes no files")));
    }
    let folder = catalogue.folder(id);
    let mut loaded = Loaded::default();
    let mut targets: Vec<PathBuf> = Vec::new();
    for path in paths {
        if is_hidden(&name_of(path)) {
            return Err(SetError::Add(format!(
                "{}: a set's file must not be called {OWN} nor begin with a dot",
                path.display()
            )));
        }
        let before = (loaded.records, loaded.unreadable);
        loaded.file(&set, path)?;
        if loaded.records - before.0 == loaded.unreadable - before.1 {
            let why =
                loaded.unread.last().map_or("it holds no records".to_owned(), |unread| unread.why.clone());
            return Err(SetError::Add(format!(
                "{}: no record can be read as format {}: {why}\nhint: `toolsieve sets list` tells the format of each set",
                path.display(),
                set.format
            )));
        }
        let target = folder.join(name_of(path));
        let is_taken = target.is_file() && sha256_of(&target)? != sha256_of(path)?;
        if is_taken || targets.contains(&target) {
            return Err(SetError::Add(format!(
                "{} holds another file of that name\nhint: remove or rename it first",
                target.display()
            )));
        }
        targets.push(target);
    }
    std::fs::create_dir_all(&folder).at("making", &folder)?;
    if is_new {
        let text = toml::to_string(&set).map_err(|error| SetError::Add(error.to_string()))?;
        write_atomic(&folder.join(OWN), text.as_bytes())?;
    }
    for (path, target) in paths.iter().zip(&targets) {
        if !target.is_file() {
            let bytes = std::fs::read(path).at("reading", path)?;
            write_atomic(target, &bytes)?;
        }
    }
    Ok((set, loaded))
}

/// Takes a set's files out of its folder, and the description of one's own; gives the names of the files.
///
/// # Errors
/// The set is not known or built in, or a file cannot be removed.
pub fn remove(catalogue: &Catalogue, id: &str) -> Result<Vec<String>, SetError> {
    let set = catalogue.set(id)?;
    if id == SAMPLE {
        return Err(SetError::Add(format!("set {SAMPLE} is built in and cannot be removed")));
    }
    let (folder, files) = (catalogue.folder(id), files(catalogue, set)?);
    let own = folder.join(OWN);
    for path in files.iter().chain(own.is_file().then_some(&own)) {
        std::fs::remove_file(path).at("removing", path)?;
    }
    // What else lies there is not the set's, and keeps the folder.
    let _ = std::fs::remove_dir(&folder);
    Ok(files.iter().map(|path| name_of(path)).collect())
}

fn own(catalogue: &Catalogue, id: &str, described: &Described) -> Result<PublicSet, SetError> {
    check_id(id).map_err(SetError::Add)?;
    let names = FORMATS.each_ref().map(|format| format.name).join(", ");
    if let Some(format) = &described.format
        && super::formats::Format::of(format).is_none()
    {
        return Err(SetError::Add(format!("--format must be one of {names}, not \"{format}\"")));
    }
    let (Some(format), Some(licence)) = (&described.format, &described.licence) else {
        let format = described.format.is_none().then(|| format!("--format ({names})"));
        let licence = described.licence.is_none().then(|| "--licence (SPDX or unknown)".to_owned());
        let needs: Vec<String> = format.into_iter().chain(licence).collect();
        let meant =
            catalogue.meant(id).map(|meant| format!("did you mean \"{meant}\"? ")).unwrap_or_default();
        return Err(SetError::Add(format!(
            "set {id} is not known\nhint: {meant}a set of your own needs {}",
            needs.join(" and ")
        )));
    };
    Ok(PublicSet {
        id: id.to_owned(),
        title: described.title.clone().unwrap_or_else(|| id.to_owned()),
        url: String::new(),
        revision: String::new(),
        format: format.clone(),
        licence: licence.clone(),
        non_commercial: described.non_commercial,
        recipe: false,
        note: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path) -> Catalogue {
        Catalogue::open(Some(dir)).unwrap()
    }

    #[test]
    fn the_sample_is_always_there() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = open(&folder.path().join("none"));
        let sample = load(&catalogue, catalogue.set(SAMPLE).unwrap()).unwrap().unwrap();
        assert_eq!(
            (sample.records, sample.functions.len(), sample.queries.len(), sample.unreadable),
            (2, 2, 2, 0)
        );
        assert!(load(&catalogue, catalogue.set("anyscale").unwrap()).unwrap().is_none());
    }

    #[test]
    fn files_are_taken_in_after_reading_and_unreadable_records_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("sets");
        let file = folder.path().join("test.jsonl");
        std::fs::write(
            &file,
            "{\"id\": 7, \"messages\": [{\"role\": \"user\", \"content\": \"Ring it\"}], \"tools\": [{\"name\": \"ring\"}]}\n\n{\"x\": 1}\nbroken\n",
        )
        .unwrap();
        let (_, read) =
            add(&open(&dir), "anyscale", std::slice::from_ref(&file), &Described::default()).unwrap();
        assert_eq!((read.records, read.unreadable), (3, 2));
        let catalogue = open(&dir);
        let loaded = load(&catalogue, catalogue.set("anyscale").unwrap()).unwrap().unwrap();
        assert_eq!(loaded.functions, [("7".to_owned(), serde_json::json!({"name": "ring"}))]);
        assert_eq!(loaded.queries, [("7".to_owned(), "Ring it".to_owned())]);
        assert_eq!(loaded.unread[0].record, "test.jsonl:3");
        assert!(loaded.unread[1].why.starts_with("not JSON"), "{:?}", loaded.unread);
        let hashes = hashes(&catalogue, catalogue.set("anyscale").unwrap()).unwrap().unwrap();
        assert_eq!(hashes, [format!("test.jsonl {}", loaded.files[0].sha256)]);
    }

    #[test]
    fn a_set_of_ones_own_is_described_beside_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("sets");
        let file = folder.path().join("defs.py");
        std::fs::write(&file, "def ring(bell: str):\n    '''Rings.'''\n").unwrap();
        let paths = [file.clone()];
        let message = add(&open(&dir), "mine", &paths, &Described::default()).unwrap_err().to_string();
        assert!(
            message.contains("needs --format (nexusraven,") && message.contains("--licence"),
            "{message}"
        );
        let half = Described { format: Some("chat".into()), ..Described::default() };
        let message = add(&open(&dir), "mine", &paths, &half).unwrap_err().to_string();
        assert!(message.contains("needs --licence") && !message.contains("--format"), "{message}");
        let odd = Described { format: Some("scroll".into()), ..Described::default() };
        let message = add(&open(&dir), "mine", &paths, &odd).unwrap_err().to_string();
        assert!(message.contains("--format must be one of"), "{message}");
        let message = add(&open(&dir), "anyscal", &paths, &half).unwrap_err().to_string();
        assert!(message.contains("did you mean \"anyscale\"?"), "{message}");
        let described =
            Described { format: Some("chat".into()), licence: Some("MIT".into()), ..Described::default() };
        let message = add(&open(&dir), "mine", &paths, &described).unwrap_err().to_string();
        assert!(message.contains("no record can be read as format chat"), "{message}");
        assert!(!dir.exists(), "nothing is left of a set that was not taken in");
        let described = Described { format: Some("nexusraven".into()), ..described };
        add(&open(&dir), "mine", &paths, &described).unwrap();
        let catalogue = open(&dir);
        let set = catalogue.set("mine").unwrap();
        assert_eq!((set.licence.as_str(), set.format.as_str()), ("MIT", "nexusraven"));
        assert_eq!(load(&catalogue, set).unwrap().unwrap().functions.len(), 1);
        std::fs::write(&file, "def peal(): pass\n").unwrap();
        let message = add(&catalogue, "mine", &paths, &described).unwrap_err().to_string();
        assert!(message.contains("set mine is known"), "{message}");
        let message = add(&catalogue, "mine", &paths, &Described::default()).unwrap_err().to_string();
        assert!(message.contains("another file of that name"), "{message}");
        assert!(add(&catalogue, "../up", &paths, &described).is_err());
    }

    #[test]
    fn a_folder_gives_its_data_files_and_a_set_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, from) = (folder.path().join("sets"), folder.path().join("from"));
        std::fs::create_dir(&from).unwrap();
        let paths = [from.clone()];
        std::fs::write(from.join("README.md"), "About.").unwrap();
        let message = add(&open(&dir), "anyscale", &paths, &Described::default()).unwrap_err().to_string();
        assert!(message.contains("no files of data in this folder"), "{message}");
        for name in ["b.jsonl", "a.json"] {
            std::fs::write(from.join(name), "{\"tools\": [{\"name\": \"ring\"}]}").unwrap();
        }
        add(&open(&dir), "anyscale", &paths, &Described::default()).unwrap();
        let catalogue = open(&dir);
        assert!(is_there(&catalogue, catalogue.set("anyscale").unwrap()).unwrap());
        assert_eq!(remove(&catalogue, "anyscale").unwrap(), ["a.json", "b.jsonl"]);
        assert!(!dir.join("anyscale").exists());
        assert!(remove(&catalogue, SAMPLE).is_err());
    }
}
