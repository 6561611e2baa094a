//! How files come into the folder of a set, and how a set goes.
//!
//! All files are read before the first is copied, so nothing is left of a set that was not taken in. A set that nobody
//! knows is described beside its files.

use std::path::{Path, PathBuf};

use super::SetError;
use super::catalogue::{Catalogue, OWN, PublicSet, SAMPLE, check_id};
use super::formats::{FORMATS, Format};
use super::store::{Loaded, Summary, extension_is, files, is_hidden, name_of};
use crate::engine::error::At;
use crate::engine::fingerprint::sha256_of;
use crate::engine::folder::write_atomic;

/// How files end, unpacked, that are taken from a folder.
const DATA: [&str; 7] = ["jsonl", "ndjson", "json", "csv", "tsv", "parquet", "py"];

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
    let (set, is_new) = known_or_own(catalogue, id, described)?;
    let paths = with_folders(paths)?;
    if set.id == SAMPLE {
        return Err(SetError::Add(format!("set {SAMPLE} is built in and takes no files")));
    }
    let folder = catalogue.folder(id);
    let mut loaded = Loaded::default();
    let mut targets: Vec<PathBuf> = Vec::new();
    for path in &paths {
        check_name(path)?;
        read_in(&mut loaded, &set, path)?;
        targets.push(free_target(&folder, path, &targets)?);
    }
    std::fs::create_dir_all(&folder).at("making", &folder)?;
    if is_new {
        let text = toml::to_string(&set).map_err(|error| SetError::Add(error.to_string()))?;
        write_atomic(&folder.join(OWN), text.as_bytes())?;
    }
    for (path, target) in paths.iter().zip(&targets).filter(|(_, target)| !target.is_file()) {
        let bytes = std::fs::read(path).at("reading", path)?;
        write_atomic(target, &bytes)?;
    }
    Ok((set, loaded))
}

/// The set of that id, or a new one as it is described; and whether it is new.
fn known_or_own(
    catalogue: &Catalogue,
    id: &str,
    described: &Described,
) -> Result<(PublicSet, bool), SetError> {
    match catalogue.set(id) {
        Ok(set) if *described == Described::default() => Ok((set.clone(), false)),
        Ok(_) => Err(SetError::Add(format!(
            "set {id} is known\nhint: --format, --licence, --title and --non-commercial describe a new set"
        ))),
        Err(_) => Ok((own(catalogue, id, described)?, true)),
    }
}

fn check_name(path: &Path) -> Result<(), SetError> {
    if is_hidden(&name_of(path)) {
        return Err(SetError::Add(format!(
            "{}: a set's file must not be called {OWN} nor begin with a dot",
            path.display()
        )));
    }
    Ok(())
}

/// Reads a file as the set's; one of which no record can be read is not taken.
fn read_in(loaded: &mut Loaded, set: &PublicSet, path: &Path) -> Result<(), SetError> {
    let before = (loaded.summary.records, loaded.summary.unreadable);
    loaded.file(set, path)?;
    let Summary { records, unreadable, unread, .. } = &loaded.summary;
    if records - before.0 == unreadable - before.1 {
        let why = unread.last().map_or("it holds no records".to_owned(), |unread| unread.why.clone());
        return Err(SetError::Add(format!(
            "{}: no record can be read as format {}: {why}\nhint: `toolsieve sets list` tells the format of each set",
            path.display(),
            set.format
        )));
    }
    Ok(())
}

/// Where a file is copied to: no other file has its name, neither in the folder nor among those that come with it.
fn free_target(folder: &Path, path: &Path, targets: &[PathBuf]) -> Result<PathBuf, SetError> {
    let target = folder.join(name_of(path));
    let is_taken = target.is_file() && sha256_of(&target)? != sha256_of(path)?;
    if is_taken || targets.contains(&target) {
        return Err(SetError::Add(format!(
            "{} holds another file of that name\nhint: remove or rename it first",
            target.display()
        )));
    }
    Ok(target)
}

/// A set of one's own, as it is described.
fn own(catalogue: &Catalogue, id: &str, described: &Described) -> Result<PublicSet, SetError> {
    check_id(id).map_err(SetError::Add)?;
    let names = FORMATS.each_ref().map(|format| format.name).join(", ");
    if let Some(format) = &described.format
        && Format::of(format).is_none()
    {
        return Err(SetError::Add(format!("--format must be one of {names}, not \"{format}\"")));
    }
    let (Some(format), Some(licence)) = (&described.format, &described.licence) else {
        return Err(lacks_description(catalogue, id, described, &names));
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

fn lacks_description(catalogue: &Catalogue, id: &str, described: &Described, formats: &str) -> SetError {
    let format = described.format.is_none().then(|| format!("--format ({formats})"));
    let licence = described.licence.is_none().then(|| "--licence (SPDX or unknown)".to_owned());
    let needs: Vec<String> = format.into_iter().chain(licence).collect();
    let meant = catalogue.meant(id).map(|meant| format!("did you mean \"{meant}\"? ")).unwrap_or_default();
    SetError::Add(format!(
        "set {id} is not known\nhint: {meant}a set of your own needs {}",
        needs.join(" and ")
    ))
}

/// The paths, and in place of a folder the data files in it, by name.
fn with_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, SetError> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(data_files(path)?);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

fn data_files(folder: &Path) -> Result<Vec<PathBuf>, SetError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).at("reading", folder)? {
        let file = entry.at("reading", folder)?.path();
        if file.is_file() && is_data(&file) {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(SetError::Add(format!(
            "{}: there are no files of data in this folder\nhint: files end in .{}, plain or with .gz or .zst; folders in it are not looked into",
            folder.display(),
            DATA.join(", .")
        )));
    }
    files.sort();
    Ok(files)
}

/// Whether a file found in a folder is taken for data, by its name.
fn is_data(path: &Path) -> bool {
    let is_packed = extension_is(path, "gz") || extension_is(path, "zst");
    let bare = if is_packed { path.with_extension("") } else { path.to_owned() };
    !is_hidden(&name_of(path)) && DATA.iter().any(|extension| extension_is(&bare, extension))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::public_sets::store::{hashes, is_there, load};

    fn open(dir: &Path) -> Catalogue {
        Catalogue::open(Some(dir)).unwrap()
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
        assert_eq!((read.summary.records, read.summary.unreadable), (3, 2));
        let catalogue = open(&dir);
        let loaded = load(&catalogue, catalogue.set("anyscale").unwrap()).unwrap().unwrap();
        assert_eq!(loaded.functions, [("7".to_owned(), serde_json::json!({"name": "ring"}))]);
        assert_eq!(loaded.queries, [("7".to_owned(), "Ring it".to_owned())]);
        assert_eq!(loaded.summary.unread[0].record, "test.jsonl:3");
        assert!(loaded.summary.unread[1].why.starts_with("not JSON"), "{:?}", loaded.summary.unread);
        let hashes = hashes(&catalogue, catalogue.set("anyscale").unwrap()).unwrap().unwrap();
        assert_eq!(hashes, [format!("test.jsonl {}", loaded.summary.files[0].sha256)]);
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
