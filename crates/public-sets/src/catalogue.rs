//! The catalogue of sets: those of `configs/public_sets.toml`, and your own next to their files.
//!
//! All sets are in one folder, with a sub-folder each. A sub-folder with a `set.toml` is a set of your own, described
//! in the same format as the built-in list.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SetError;
use super::formats::{FORMATS, PublicSetFormat};
use callsieve_engine::error::At;
use callsieve_text::suggestion::closest;

/// The built-in sets, from the repository.
const KNOWN: &str = include_str!("../../../configs/public_sets.toml");

/// The file that describes a set of your own, in its folder.
pub const OWN: &str = "set.toml";

/// The set that is built into the program.
pub const SAMPLE: &str = "callsieve-sample";

/// The description of a public set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicSet {
    /// Its id: lower-case letters, digits, hyphens and underscores; also the name of its folder.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its web page.
    #[serde(default)]
    pub url: String,
    /// The expected version, as its publisher names it.
    #[serde(default)]
    pub revision: String,
    /// The shell command that fetches its files and adds them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub get: String,
    /// The format of its records: a name of `formats`.
    pub format: String,
    /// SPDX expression, or `unknown`.
    pub licence: String,
    /// Whether the licence forbids commercial use.
    #[serde(default)]
    pub non_commercial: bool,
    /// Whether it is one of the four sets whose functions were removed from BFCL V2 Live.
    #[serde(default)]
    pub recipe: bool,
    /// Further remarks for users.
    #[serde(default)]
    pub note: String,
}

impl PublicSet {
    /// Returns the format of its records.
    ///
    /// # Panics
    /// Never: descriptions with an unknown format are refused.
    pub fn format(&self) -> &'static PublicSetFormat {
        PublicSetFormat::of(&self.format).expect("formats are checked when descriptions are read")
    }

    fn check(&self) -> Result<(), String> {
        check_id(&self.id)?;
        if PublicSetFormat::of(&self.format).is_none() {
            let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            return Err(format!(
                "set {}: format must be one of {}, not \"{}\"",
                self.id,
                names.join(", "),
                self.format
            ));
        }
        if self.licence.trim().is_empty() {
            return Err(format!("set {}: licence must be an SPDX expression or \"unknown\"", self.id));
        }
        Ok(())
    }
}

/// Checks an id. It is also the name of a folder, so it must not be a path.
pub(super) fn check_id(id: &str) -> Result<(), String> {
    let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if id.starts_with(|c: char| c.is_ascii_alphanumeric()) && id.chars().all(is_good) {
        Ok(())
    } else {
        Err(format!("id must be lower-case letters, digits, - and _, not \"{id}\""))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    set: Vec<PublicSet>,
}

/// All sets of one folder.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// The folder of the sets.
    pub dir: PathBuf,
    /// The built-in sets, then your own by id.
    pub sets: Vec<PublicSet>,
    /// Folders with an invalid `set.toml`; they do not affect runs that do not use them.
    pub broken: Vec<BrokenSet>,
}

/// A folder of a set whose `set.toml` is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenSet {
    /// The folder's name.
    pub id: String,
    /// The file.
    pub place: PathBuf,
    /// The error in it.
    pub what: String,
}

impl Catalogue {
    /// Reads the descriptions; `dir` is the folder of the sets.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn open(dir: &Path) -> Result<Self, SetError> {
        let fault = |place: &str, what: String| SetError::Catalogue { place: place.to_owned(), what };
        let builtin = "configs/public_sets.toml";
        let known: File = toml::from_str(KNOWN).map_err(|error| fault(builtin, error.to_string()))?;
        let mut sets = known.set;
        for set in &sets {
            set.check().map_err(|what| fault(builtin, what))?;
        }
        let mut broken = Vec::new();
        for place in own_descriptions(dir)? {
            let id = place.parent().and_then(Path::file_name).unwrap_or_default();
            let id = id.to_string_lossy().into_owned();
            match own_set(&place, &id, &sets) {
                Ok(set) => sets.push(set),
                Err(what) => broken.push(BrokenSet { id, place, what }),
            }
        }
        Ok(Self { dir: dir.to_owned(), sets, broken })
    }

    /// Returns the set with an id.
    ///
    /// # Errors
    /// If there is none.
    pub fn set(&self, id: &str) -> Result<&PublicSet, SetError> {
        self.sets.iter().find(|set| set.id == id).ok_or_else(|| {
            if let Some(BrokenSet { place, what, .. }) = self.broken_set(id) {
                let place = place.display().to_string();
                return SetError::Catalogue { place, what: format!("{what}\nhint: {FIX_HINT}") };
            }
            let known: Vec<&str> = self.sets.iter().map(|set| set.id.as_str()).collect();
            let hint = match self.meant(id) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("sets: {}; `callsieve sets add` creates a set of your own", known.join(", ")),
            };
            SetError::Unknown { id: id.to_owned(), hint }
        })
    }

    /// Returns the folder with a name if its description is invalid.
    pub fn broken_set(&self, id: &str) -> Option<&BrokenSet> {
        self.broken.iter().find(|broken| broken.id == id)
    }

    /// Returns the id that is closest to a misspelt one.
    pub fn meant(&self, id: &str) -> Option<&str> {
        closest(id, self.sets.iter().map(|set| set.id.as_str()))
    }

    /// Returns the folder of a set, existing or not.
    pub fn folder(&self, id: &str) -> PathBuf {
        self.dir.join(id)
    }
}

/// The hint for an invalid description.
const FIX_HINT: &str = "correct the file, or remove it and add the set once more with `callsieve sets add`";

/// Reads a set of your own from the description in its folder.
fn own_set(place: &Path, id: &str, others: &[PublicSet]) -> Result<PublicSet, String> {
    let text = std::fs::read_to_string(place).map_err(|error| error.to_string())?;
    let set: PublicSet = toml::from_str(&text).map_err(|error| error.to_string().trim_end().to_owned())?;
    set.check()?;
    if set.id != id {
        return Err(format!("id must be the folder's name, not \"{}\"", set.id));
    }
    if others.iter().any(|other| other.id == set.id) {
        return Err(format!("set {} is built in and needs no description", set.id));
    }
    Ok(set)
}

/// Returns the descriptions of your own sets, by the name of their folder.
fn own_descriptions(dir: &Path) -> Result<BTreeSet<PathBuf>, SetError> {
    if !dir.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(dir).at("reading", dir)? {
        let path = entry.at("reading", dir)?.path().join(OWN);
        match path.metadata() {
            Ok(facts) if facts.is_file() => drop(found.insert(path)),
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(error).at("reading", &path)?;
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Returns true if a set is built in, so that no folder has to be read.
///
/// # Panics
/// Never: a test reads the built-in list.
pub(super) fn is_built_in(id: &str) -> bool {
    let known: File = toml::from_str(KNOWN).expect("the built-in list is valid: a test reads it");
    known.set.iter().any(|set| set.id == id)
}

/// Returns the ids of the sample and of the sets in the recipe.
///
/// # Panics
/// Never: a test reads the built-in list.
pub fn recipe_sets() -> Vec<String> {
    let known: File = toml::from_str(KNOWN).expect("the built-in list is valid: a test reads it");
    known.set.into_iter().filter(|set| set.recipe || set.id == SAMPLE).map(|set| set.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recipe_is_the_sample_and_four_sets_and_ids_are_unique() {
        assert_eq!(recipe_sets(), [SAMPLE, "nexusraven", "firefunctions", "anyscale", "nous-glaive"]);
        let folder = tempfile::tempdir().unwrap();
        let sets = Catalogue::open(folder.path()).unwrap().sets;
        let ids: BTreeSet<&str> = sets.iter().map(|set| set.id.as_str()).collect();
        assert_eq!(ids.len(), sets.len());
        assert!(sets.iter().all(|set| !set.url.is_empty() && !set.revision.is_empty()));
    }

    #[test]
    fn a_bad_description_is_refused_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("mine");
        std::fs::create_dir(&own).unwrap();
        for (text, says) in [
            ("id = 'mine'\ntitle = 't'\nformat = 'scroll'\nlicence = 'MIT'", "format must be one of"),
            ("id = 'other'\ntitle = 't'\nformat = 'chat'\nlicence = 'MIT'", "id must be the folder's name"),
            ("id = '../x'\ntitle = 't'\nformat = 'chat'\nlicence = 'MIT'", "lower-case letters"),
            ("id = 'mine'\ntitle = 't'\nformat = 'chat'\nlicence = ' '", "SPDX"),
            ("id = 'mine'\ntitle = 't'\nformat = 'chat'\nlicense = 'MIT'", "unknown field"),
        ] {
            std::fs::write(own.join(OWN), text).unwrap();
            let catalogue = Catalogue::open(folder.path()).unwrap();
            let message = catalogue.set("mine").unwrap_err().to_string();
            assert!(message.contains(says) && message.contains(OWN), "{message}");
            assert!(catalogue.set("toolace").is_ok(), "other sets can be used");
        }
        std::fs::write(own.join(OWN), "id = 'mine'\ntitle = 't'\nformat = 'chat'\nlicence = 'MIT'").unwrap();
        assert_eq!(Catalogue::open(folder.path()).unwrap().set("mine").unwrap().title, "t");
    }
}
