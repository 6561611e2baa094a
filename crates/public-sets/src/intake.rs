//! Adds files to the folder of a set, and removes sets.
//!
//! All files are read before the first one is copied, so a refused set leaves no files. A new set is described next to
//! its files. The copied files are recorded with checksums in `.added.json` before the first copy, and only recorded
//! and unchanged files are removed again. Nothing is written or removed through a link: if a set's folder is a link, it
//! is read-only.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SetError;
use super::catalogue::{Catalogue, OWN, PublicSet, SAMPLE, check_id};
use super::formats::{FORMATS, PublicSetFormat};
use super::store::{Loaded, Summary, extension_is, is_hidden, name_of};
use callsieve_engine::disk::{copy_durable, write_durable};
use callsieve_engine::error::At;
use callsieve_engine::fingerprint::sha256_of;
use callsieve_engine::seal::{FileSum, Files, read_sealed, write_sealed};

/// Extensions, without compression, of the data files in a folder.
const DATA: [&str; 7] = ["jsonl", "ndjson", "json", "csv", "tsv", "parquet", "py"];

/// The description of a new set, as given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// A name of `formats`.
    pub format: Option<String>,
    /// An SPDX expression, or `unknown`.
    pub licence: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// Whether the licence forbids commercial use.
    pub non_commercial: bool,
}

/// Reads files as files of a set and copies them into its folder; a new set is described next to them.
///
/// Of a folder, the data files are taken of which records can be read; others are listed in [`Loaded::skipped`].
///
/// # Errors
/// If a file cannot be read in the set's format, has the name of an existing file, or cannot be copied, or if a new set
/// has no format or licence. Nothing is copied then.
pub fn add(
    catalogue: &Catalogue,
    id: &str,
    paths: &[PathBuf],
    described: &Described,
) -> Result<(PublicSet, Loaded), SetError> {
    let (set, is_new) = known_or_own(catalogue, id, described)?;
    let Listing { files, mut skipped } = with_folders(paths)?;
    if set.id == SAMPLE {
        return Err(SetError::Add(format!("set {SAMPLE} is built in; files cannot be added to it")));
    }
    let folder = own_folder(catalogue, id)?;
    let mut loaded = Loaded::default();
    let mut targets: Vec<PathBuf> = Vec::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    for Found { path, in_folder } in files {
        check_name(&path)?;
        match read_in(&set, &path)? {
            Ok(read) => loaded.append(read),
            Err(why) if in_folder => {
                skipped.push((path, why));
                continue;
            }
            Err(why) => return Err(unreadable(&path, &why)),
        }
        targets.push(free_target(&folder, &path, &targets)?);
        paths.push(path);
    }
    if let ([], [(path, why), ..]) = (&paths[..], &skipped[..]) {
        return Err(unreadable(path, why));
    }
    loaded.skipped = skipped;
    let mut added = added_files(&folder)?;
    let description = toml::to_string(&set).map_err(|error| SetError::Add(error.to_string()))?;
    if is_new {
        added.insert(OWN.to_owned(), FileSum::of_bytes(description.as_bytes()));
    }
    let copies: Vec<(&PathBuf, &PathBuf)> =
        paths.iter().zip(&targets).filter(|(_, target)| !target.is_file()).collect();
    for (path, target) in &copies {
        added.insert(name_of(target), FileSum::of(path)?);
    }
    fs::create_dir_all(&folder).at("making", &folder)?;
    if is_new || !copies.is_empty() {
        write_sealed(&folder.join(ADDED), &AddedNote { about: ABOUT.to_owned() }, &added)?;
    }
    for (path, target) in copies {
        copy_durable(path, &hidden(target), target)?;
    }
    // Last, because it makes the set known: an interrupted call is completed by repeating it.
    if is_new {
        write_durable(&folder.join(OWN), description.as_bytes())?;
    }
    Ok((set, loaded))
}

/// The file that lists the files copied into a set's folder.
const ADDED: &str = ".added.json";

#[derive(Serialize, Deserialize)]
struct AddedNote {
    about: String,
}

const ABOUT: &str = "files that `callsieve sets add` copied here; `callsieve sets remove` removes only these";

/// Returns the files copied into a set's folder, by name.
fn added_files(folder: &Path) -> Result<Files, SetError> {
    let path = folder.join(ADDED);
    if !path.exists() {
        return Ok(Files::default());
    }
    let sealed = read_sealed::<AddedNote>(&path).ok().filter(|sealed| sealed.is_sealed);
    sealed.map(|sealed| sealed.files).ok_or_else(|| {
        SetError::Add(format!(
            "{} is damaged, so the files that `callsieve sets add` copied are unknown\nhint: remove the set's files by hand, including this one, and add them again",
            path.display()
        ))
    })
}

/// Returns the folder of a set, if it is not a link.
fn own_folder(catalogue: &Catalogue, id: &str) -> Result<PathBuf, SetError> {
    let folder = catalogue.folder(id);
    if folder.is_symlink() {
        return Err(SetError::Add(format!(
            "{} is a symbolic link; callsieve writes and removes nothing through links\nhint: remove the link by hand; its target is not changed",
            folder.display()
        )));
    }
    Ok(folder)
}

/// Returns the temporary name of a file: hidden, so that no run reads it as data.
fn hidden(target: &Path) -> PathBuf {
    target.with_file_name(format!(".{}.partial", name_of(target)))
}

/// Returns the set with an id, or a new one from its description, and whether it is new.
fn known_or_own(
    catalogue: &Catalogue,
    id: &str,
    described: &Described,
) -> Result<(PublicSet, bool), SetError> {
    match catalogue.set(id) {
        Ok(set) if *described == Described::default() => Ok((set.clone(), false)),
        Err(broken) if catalogue.broken_set(id).is_some() => Err(broken),
        Ok(_) => Err(SetError::Add(format!(
            "set {id} already exists\nhint: --format, --licence, --title and --non-commercial describe a new set"
        ))),
        Err(_) => Ok((own(catalogue, id, described)?, true)),
    }
}

fn check_name(path: &Path) -> Result<(), SetError> {
    if is_hidden(&name_of(path)) {
        return Err(SetError::Add(format!(
            "{}: a set's file must not have the name {OWN} or begin with a dot",
            path.display()
        )));
    }
    Ok(())
}

/// Reads a file as one of the set. The inner error is the reason why no record of it can be read.
fn read_in(set: &PublicSet, path: &Path) -> Result<Result<Loaded, String>, SetError> {
    let mut loaded = Loaded::default();
    loaded.file(set, path)?;
    let Summary { records, unreadable, unread, .. } = &loaded.summary;
    if records == unreadable {
        let why = unread.last().map_or("it holds no records".to_owned(), |unread| unread.why.clone());
        return Ok(Err(format!("no record can be read as format {}: {why}", set.format)));
    }
    Ok(Ok(loaded))
}

fn unreadable(path: &Path, why: &str) -> SetError {
    SetError::Add(format!(
        "{}: {why}\nhint: `callsieve sets list` shows the format of each set, `callsieve sets add --help` lists all formats",
        path.display()
    ))
}

/// Returns the target of a file's copy, if no file in the folder or of the same call has this name.
fn free_target(folder: &Path, path: &Path, targets: &[PathBuf]) -> Result<PathBuf, SetError> {
    let target = folder.join(name_of(path));
    let is_taken = match target.symlink_metadata() {
        Ok(there) => !there.is_file() || sha256_of(&target)? != sha256_of(path)?,
        Err(_) => false,
    };
    if is_taken || targets.contains(&target) {
        return Err(SetError::Add(format!(
            "{} contains another file with that name\nhint: remove or rename it first",
            target.display()
        )));
    }
    Ok(target)
}

/// Returns a new set from its description.
fn own(catalogue: &Catalogue, id: &str, described: &Described) -> Result<PublicSet, SetError> {
    check_id(id).map_err(SetError::Add)?;
    let names = FORMATS.each_ref().map(|format| format.name).join(", ");
    if let Some(format) = &described.format
        && PublicSetFormat::of(format).is_none()
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
        get: String::new(),
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
        "there is no set {id}\nhint: {meant}a set of your own needs {}",
        needs.join(" and ")
    ))
}

/// A file to add.
struct Found {
    path: PathBuf,
    /// It was found in a folder, and not named itself.
    in_folder: bool,
}

/// The files to add, and what is skipped with the reasons.
#[derive(Default)]
struct Listing {
    files: Vec<Found>,
    skipped: Vec<(PathBuf, String)>,
}

/// Lists the paths; folders are replaced by the data files in them, by name.
fn with_folders(paths: &[PathBuf]) -> Result<Listing, SetError> {
    let mut all = Listing::default();
    for path in paths {
        if path.is_dir() {
            add_folder(path, &mut all)?;
        } else {
            all.files.push(Found { path: path.clone(), in_folder: false });
        }
    }
    Ok(all)
}

/// Adds the data files of a folder. If it has none and only one folder in it, as downloads with a folder `data` have,
/// that one is read instead.
fn add_folder(folder: &Path, all: &mut Listing) -> Result<(), SetError> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).at("reading", folder)? {
        let path = entry.at("reading", folder)?.path();
        if !is_hidden(&name_of(&path)) {
            entries.push(path);
        }
    }
    entries.sort();
    let (folders, others): (Vec<PathBuf>, Vec<PathBuf>) = entries.into_iter().partition(|path| path.is_dir());
    let (data, others): (Vec<PathBuf>, Vec<PathBuf>) =
        others.into_iter().partition(|path| path.is_file() && is_data(path));
    let skip = |why: &'static str| move |path: PathBuf| (path, why.to_owned());
    all.skipped.extend(others.into_iter().map(skip("not a data file")));
    match (&data[..], &folders[..]) {
        ([], [only]) => return add_folder(only, all),
        ([], _) => {
            return Err(SetError::Add(format!(
                "{}: the folder holds no data file\nhint: data files end in .{}, also with .gz or .zst; folders in it are not read, name them themselves",
                folder.display(),
                DATA.join(", .")
            )));
        }
        _ => {}
    }
    all.skipped.extend(folders.into_iter().map(skip("a folder")));
    all.files.extend(data.into_iter().map(|path| Found { path, in_folder: true }));
    Ok(())
}

/// Returns true if a file in a folder is a data file, by its name.
fn is_data(path: &Path) -> bool {
    let is_packed = extension_is(path, "gz") || extension_is(path, "zst");
    let bare = if is_packed { path.with_extension("") } else { path.to_owned() };
    !is_hidden(&name_of(path)) && DATA.iter().any(|extension| extension_is(&bare, extension))
}

/// The result of removing a set.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Names of the removed files.
    pub files: Vec<String>,
    /// Names of the remaining files in the folder: not added by this program, or changed since.
    pub left: Vec<String>,
}

/// Removes the files that [`add`] copied into a set's folder, and the description of a set of your own.
///
/// # Errors
/// If the set does not exist or is built in, its folder is a link, or a file cannot be removed.
pub fn remove(catalogue: &Catalogue, id: &str) -> Result<Removed, SetError> {
    if id == SAMPLE {
        return Err(SetError::Add(format!("set {SAMPLE} is built in and cannot be removed")));
    }
    // Also removes invalid sets, and the partial files of an interrupted call.
    let is_left = check_id(id).is_ok() && catalogue.folder(id).join(ADDED).is_file();
    if catalogue.broken_set(id).is_none() && !is_left {
        catalogue.set(id)?;
    }
    let folder = own_folder(catalogue, id)?;
    let added = added_files(&folder)?;
    let mut removed = Removed::default();
    // The description last, as it makes the set known.
    let (own, data): (Vec<&str>, Vec<&str>) = added.names().partition(|name| *name == OWN);
    for name in data.into_iter().chain(own) {
        let path = folder.join(name);
        let is_as_added = path.symlink_metadata().is_ok_and(|found| found.is_file())
            && Some(&FileSum::of(&path)?) == added.get(name);
        if is_as_added {
            fs::remove_file(&path).at("removing", &path)?;
            removed.files.extend((name != OWN).then(|| name.to_owned()));
        }
        let partial = hidden(&path);
        if partial.symlink_metadata().is_ok_and(|found| found.is_file()) {
            fs::remove_file(&partial).at("removing", &partial)?;
        }
    }
    let note = folder.join(ADDED);
    if note.is_file() {
        fs::remove_file(&note).at("removing", &note)?;
    }
    if folder.is_dir() {
        for entry in fs::read_dir(&folder).at("reading", &folder)? {
            removed.left.push(name_of(&entry.at("reading", &folder)?.path()));
        }
        removed.left.sort();
    }
    // Other files are not part of the set, and the folder is kept for them.
    if removed.left.is_empty() {
        let _ = fs::remove_dir(&folder);
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{hashes, is_there, load};

    fn open(dir: &Path) -> Catalogue {
        Catalogue::open(dir).unwrap()
    }

    #[test]
    fn files_are_copied_after_reading_and_unreadable_records_are_reported() {
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
    fn a_new_set_is_described_next_to_its_files() {
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
        assert!(!dir.exists(), "a refused set leaves no files");
        let described = Described { format: Some("nexusraven".into()), ..described };
        add(&open(&dir), "mine", &paths, &described).unwrap();
        let catalogue = open(&dir);
        let set = catalogue.set("mine").unwrap();
        assert_eq!((set.licence.as_str(), set.format.as_str()), ("MIT", "nexusraven"));
        assert_eq!(load(&catalogue, set).unwrap().unwrap().functions.len(), 1);
        std::fs::write(&file, "def peal(): pass\n").unwrap();
        let message = add(&catalogue, "mine", &paths, &described).unwrap_err().to_string();
        assert!(message.contains("set mine already exists"), "{message}");
        let message = add(&catalogue, "mine", &paths, &Described::default()).unwrap_err().to_string();
        assert!(message.contains("another file with that name"), "{message}");
        assert!(add(&catalogue, "../up", &paths, &described).is_err());
    }

    #[test]
    fn a_folder_stands_for_its_data_files_and_a_set_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, from) = (folder.path().join("sets"), folder.path().join("from"));
        std::fs::create_dir(&from).unwrap();
        let paths = [from.clone()];
        std::fs::write(from.join("README.md"), "About.").unwrap();
        let message = add(&open(&dir), "anyscale", &paths, &Described::default()).unwrap_err().to_string();
        assert!(message.contains("the folder holds no data file"), "{message}");
        for name in ["b.jsonl", "a.json"] {
            std::fs::write(from.join(name), "{\"tools\": [{\"name\": \"ring\"}]}").unwrap();
        }
        std::fs::write(from.join("info.json"), "{\"version\": 3}").unwrap();
        std::fs::create_dir(from.join("possible_answer")).unwrap();
        let (_, loaded) = add(&open(&dir), "anyscale", &paths, &Described::default()).unwrap();
        let skipped: Vec<String> = loaded.skipped.iter().map(|(path, _)| name_of(path)).collect();
        assert_eq!(skipped, ["README.md", "possible_answer", "info.json"]);
        assert_eq!(loaded.summary.records, 2, "records of skipped files do not count");
        let catalogue = open(&dir);
        assert!(is_there(&catalogue, catalogue.set("anyscale").unwrap()).unwrap());
        let removed = remove(&catalogue, "anyscale").unwrap();
        assert_eq!((removed.files, removed.left), (vec!["a.json".to_owned(), "b.jsonl".to_owned()], vec![]));
        assert!(!dir.join("anyscale").exists());
        assert!(remove(&catalogue, SAMPLE).is_err());
    }

    const RECORD: &str = "{\"tools\": [{\"name\": \"ring\"}]}";

    #[test]
    fn only_added_and_unchanged_files_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let (dir, from) = (home.path().join("sets"), home.path().join("from"));
        std::fs::create_dir(&from).unwrap();
        for name in ["a.jsonl", "b.jsonl"] {
            std::fs::write(from.join(name), RECORD).unwrap();
        }
        let described =
            Described { format: Some("chat".into()), licence: Some("MIT".into()), ..Described::default() };
        add(&open(&dir), "mine", std::slice::from_ref(&from), &described).unwrap();
        let set = dir.join("mine");
        std::fs::write(set.join("b.jsonl"), format!("{RECORD}\n{RECORD}")).unwrap();
        for name in ["c.jsonl", "notes.txt", ".hidden"] {
            std::fs::write(set.join(name), RECORD).unwrap();
        }
        let removed = remove(&open(&dir), "mine").unwrap();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(removed.files, names(&["a.jsonl"]));
        assert_eq!(removed.left, names(&[".hidden", "b.jsonl", "c.jsonl", "notes.txt"]));
        assert!(open(&dir).set("mine").is_err(), "the description was added, too");
        assert!(from.join("a.jsonl").is_file());
    }

    #[test]
    fn files_that_were_not_added_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let set = home.path().join("anyscale");
        std::fs::create_dir(&set).unwrap();
        std::fs::write(set.join("data.jsonl"), RECORD).unwrap();
        let removed = remove(&open(home.path()), "anyscale").unwrap();
        assert_eq!(removed, Removed { files: vec![], left: vec!["data.jsonl".to_owned()] });
        assert!(set.join("data.jsonl").is_file());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_or_removed_through_a_link() {
        use std::os::unix::fs::symlink;
        let home = tempfile::tempdir().unwrap();
        let (dir, mine, file) =
            (home.path().join("sets"), home.path().join("mine"), home.path().join("more.jsonl"));
        std::fs::create_dir(&dir).unwrap();
        std::fs::create_dir(&mine).unwrap();
        std::fs::write(mine.join("data.jsonl"), RECORD).unwrap();
        std::fs::write(&file, RECORD).unwrap();
        symlink(&mine, dir.join("nexusraven")).unwrap();
        let message = remove(&open(&dir), "nexusraven").unwrap_err().to_string();
        assert!(
            message.contains("is a symbolic link") && message.contains("hint: remove the link"),
            "{message}"
        );
        let paths = [file];
        let message = add(&open(&dir), "nexusraven", &paths, &Described::default()).unwrap_err().to_string();
        assert!(message.contains("is a symbolic link"), "{message}");
        add(&open(&dir), "anyscale", &paths, &Described::default()).unwrap();
        let added = dir.join("anyscale/more.jsonl");
        std::fs::remove_file(&added).unwrap();
        symlink(mine.join("data.jsonl"), &added).unwrap();
        assert_eq!(remove(&open(&dir), "anyscale").unwrap().left, ["more.jsonl"]);
        assert_eq!(std::fs::read_to_string(mine.join("data.jsonl")).unwrap(), RECORD);
        assert_eq!(std::fs::read_dir(&mine).unwrap().count(), 1);
    }

    #[test]
    fn an_interrupted_add_is_completed_or_removed() {
        let home = tempfile::tempdir().unwrap();
        let (dir, file) = (home.path().join("sets"), home.path().join("a.jsonl"));
        std::fs::write(&file, RECORD).unwrap();
        let paths = [file];
        let described =
            Described { format: Some("chat".into()), licence: Some("MIT".into()), ..Described::default() };
        add(&open(&dir), "mine", &paths, &described).unwrap();
        let set = dir.join("mine");
        let bytes = |name: &str| std::fs::read(set.join(name)).unwrap();
        let whole = ["a.jsonl", OWN, ADDED].map(bytes);
        // In the order in which they are written.
        for lost in [&[OWN][..], &[OWN, "a.jsonl"], &[OWN, "a.jsonl", ADDED]] {
            for name in lost {
                std::fs::remove_file(set.join(name)).unwrap();
            }
            std::fs::write(set.join(".a.jsonl.partial"), "{").unwrap();
            add(&open(&dir), "mine", &paths, &described).unwrap();
            assert_eq!(["a.jsonl", OWN, ADDED].map(bytes), whole);
        }
        std::fs::remove_file(set.join(OWN)).unwrap();
        assert_eq!(remove(&open(&dir), "mine").unwrap().files, ["a.jsonl"]);
        assert!(!set.exists());
    }

    #[test]
    fn an_invalid_description_is_not_overwritten_and_affects_no_other_set() {
        let home = tempfile::tempdir().unwrap();
        let (dir, file) = (home.path().join("sets"), home.path().join("a.jsonl"));
        std::fs::write(&file, RECORD).unwrap();
        let paths = [file];
        let described =
            Described { format: Some("chat".into()), licence: Some("MIT".into()), ..Described::default() };
        add(&open(&dir), "mine", &paths, &described).unwrap();
        std::fs::write(dir.join("mine").join(OWN), "id = 'mine'\nformat = ").unwrap();
        let message = add(&open(&dir), "mine", &paths, &described).unwrap_err().to_string();
        assert!(message.contains(OWN) && message.contains("hint: correct the file"), "{message}");
        add(&open(&dir), "anyscale", &paths, &Described::default()).unwrap();
        let removed = remove(&open(&dir), "mine").unwrap();
        assert_eq!((removed.files, removed.left), (vec!["a.jsonl".to_owned()], vec![OWN.to_owned()]));
    }
}
