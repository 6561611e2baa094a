//! Functions and queries in the form in which they are compared, of some sets at once.
//!
//! Each text is kept once, under the record that has it first. `form` makes the form.

use std::path::Path;

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::SetError;
use super::catalogue::{Catalogue, PublicSet, SAMPLE, is_built_in};
use super::form::VERSION;
use super::index::{self, Indexed};
use super::store::{Summary, hashes, is_there};
use crate::docs::fix;
use crate::engine::fingerprint::Fingerprint;
use crate::similarity::overlap::Function;

/// Where something of a set was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The set's id.
    pub set: String,
    /// The record's id, or its file and line.
    pub record: String,
}

/// What is compared with, each once, with its origin beside it.
#[derive(Debug)]
pub struct Listed<T> {
    /// The functions or queries.
    pub items: Vec<T>,
    /// Where each was found.
    pub origins: Vec<Origin>,
}

/// Some sets as they were read.
#[derive(Debug, Default)]
pub struct Known {
    /// Those on disk, by id, in the order asked for.
    sets: Vec<(String, Indexed)>,
    /// Sets that are not on disk.
    pub missing: Vec<String>,
    /// Sets that are on disk and of which nothing can be read, with their files and what is wrong.
    pub unreadable: Vec<(String, String)>,
    /// What a person should know of sets that hold unreadable records, a line a set.
    pub troubles: Vec<String>,
    /// For each set what was read, as JSON: files with their hashes, counts, what could not be read.
    pub notes: Vec<Value>,
}

/// The name under which a stage notes the sets it compared with: a list of [`Known::notes`].
pub const SETS_NOTE: &str = "public_sets";

/// What a stage noted of a set that it was to compare with: one of [`Known::notes`], as far as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Noted {
    /// The set's id.
    pub id: String,
    /// It is on disk, or built in.
    pub on_disk: bool,
    /// Its licence, an SPDX expression or `unknown`.
    pub licence: String,
    /// It is the program's own.
    #[serde(default)]
    pub built_in: bool,
    /// Records of it that cannot be read.
    #[serde(default)]
    pub unreadable: u64,
    functions: Option<u64>,
    queries: Option<u64>,
}

impl Noted {
    /// The sets of a note; none where it is missing.
    pub fn all(note: Option<&Value>) -> Vec<Self> {
        note.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default()
    }

    /// Nothing of it can be read.
    pub fn is_empty(&self) -> bool {
        self.functions == Some(0) && self.queries == Some(0)
    }

    /// It was compared with.
    pub fn is_compared(&self) -> bool {
        self.on_disk && !self.is_empty()
    }
}

/// How many public sets a stage compared with, for the funnel: after `removing` those of them, if there were any.
/// Nothing where no set is on record.
pub fn told(note: Option<&Value>, removing: &str) -> Option<String> {
    let (own, asked): (Vec<Noted>, Vec<Noted>) = Noted::all(note).into_iter().partition(|set| set.built_in);
    let n_compared = asked.iter().filter(|set| set.is_compared()).count();
    let n_asked = asked.len();
    if n_compared > 0 {
        let of = if n_compared < n_asked { format!(" of {n_asked}") } else { String::new() };
        let noun = if n_asked == 1 { "set" } else { "sets" };
        return Some(format!("no {removing} {n_compared}{of} public {noun}"));
    }
    let found = if asked.iter().any(|set| set.on_disk) { "readable" } else { "found" };
    match (n_asked, own.iter().any(Noted::is_compared)) {
        (0, false) => None,
        (0, true) => Some("only the built-in public set compared".to_owned()),
        (_, false) => Some(format!("none of {n_asked} public sets {found}")),
        (_, true) => Some(format!("none of {n_asked} public sets {found}, only the built-in")),
    }
}

/// What to do where a set is not on disk, or nothing of it can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Goes on without it, and says so.
    #[default]
    Skip,
    /// Stops.
    Error,
}

/// Checks before anything is read that the sets of these ids are known, and on disk where they must be.
///
/// # Errors
/// A set is not known, or some are not on disk and must be: all of them are named.
pub fn check(ids: &[String], dir: &Path, missing: Missing) -> Result<(), SetError> {
    if missing == Missing::Skip && ids.iter().all(|id| is_built_in(id)) {
        return Ok(());
    }
    let catalogue = Catalogue::open(dir)?;
    let mut absent: Vec<String> = Vec::new();
    for id in ids {
        if !is_there(&catalogue, catalogue.set(id)?)? {
            absent.push(id.clone());
        }
    }
    if missing == Missing::Error { none_missing(&catalogue, &absent) } else { Ok(()) }
}

fn none_missing(catalogue: &Catalogue, absent: &[String]) -> Result<(), SetError> {
    if absent.is_empty() {
        return Ok(());
    }
    let place = |id: &String| {
        let url = catalogue.set(id).map(|set| set.url.as_str()).unwrap_or_default();
        if url.is_empty() { id.clone() } else { format!("{id} ({url})") }
    };
    let sets: Vec<String> = absent.iter().map(place).collect();
    Err(SetError::Missing { dir: catalogue.dir.clone(), sets: sets.join(", ") })
}

/// Reads the sets of these ids from a folder.
///
/// # Errors
/// A set is not known, a file of it cannot be read, or it must be on disk and readable and is not.
pub fn open(ids: &[String], dir: &Path, missing: Missing) -> Result<Known, SetError> {
    let catalogue = Catalogue::open(dir)?;
    let known = known(&catalogue, ids)?;
    if missing == Missing::Error {
        none_missing(&catalogue, &known.missing)?;
        if !known.unreadable.is_empty() {
            let sets: Vec<String> =
                known.unreadable.iter().map(|(id, what)| format!("{id}: {what}")).collect();
            return Err(SetError::Unreadable { dir: catalogue.dir, sets: sets.join("; ") });
        }
    }
    Ok(known)
}

/// Adds to a resume key what the sets of these ids hold.
///
/// # Errors
/// As [`open`], but for sets that are not on disk.
pub fn fingerprint(ids: &[String], dir: &Path, fingerprint: &mut Fingerprint) -> Result<(), SetError> {
    let catalogue = Catalogue::open(dir)?;
    fingerprint.version_of("compared", VERSION);
    fingerprint.version_of("fixes", fix::VERSION);
    for id in ids {
        let set = catalogue.set(id)?;
        fingerprint.part("set", format!("{id} {}", set.format).as_bytes());
        for hash in hashes(&catalogue, set)?.unwrap_or_default() {
            fingerprint.part("file", hash.as_bytes());
        }
    }
    Ok(())
}

impl Known {
    /// The functions, in the form in which they are compared.
    pub fn functions(&self) -> Listed<Function> {
        listed(self.sets.iter().map(|(id, set)| (id, &set.functions)), |function| &function.text)
    }

    /// The queries, in their normal form.
    pub fn queries(&self) -> Listed<String> {
        listed(self.sets.iter().map(|(id, set)| (id, &set.queries)), |query| query)
    }
}

/// Keeps each item under the record that has it first; items of one `key` are one.
fn listed<'a, T: Clone + 'a>(
    sets: impl Iterator<Item = (&'a String, &'a Vec<(String, T)>)>,
    key: impl Fn(&'a T) -> &'a String,
) -> Listed<T> {
    let mut seen = FxHashSet::default();
    let mut listed = Listed { items: Vec::new(), origins: Vec::new() };
    for (set, found) in sets {
        for (record, item) in found {
            if seen.insert(key(item)) {
                listed.items.push(item.clone());
                listed.origins.push(Origin { set: set.clone(), record: record.clone() });
            }
        }
    }
    listed
}

fn known(catalogue: &Catalogue, ids: &[String]) -> Result<Known, SetError> {
    let mut known = Known::default();
    for id in ids {
        let set = catalogue.set(id)?;
        let Some(indexed) = index::open(catalogue, set)? else {
            known.missing.push(id.clone());
            known.notes.push(json!({ "id": id, "on_disk": false, "url": set.url, "licence": set.licence }));
            continue;
        };
        let summary = &indexed.summary;
        known.notes.push(note(set, summary));
        if !summary.is_readable() {
            known.unreadable.push((id.clone(), summary.fault()));
            known.troubles.push(format!("not compared with {id}: unreadable: {}", summary.fault()));
        } else if summary.unreadable > 0 {
            let (unreadable, records) = (summary.unreadable, summary.records);
            known.troubles.push(format!("public set {id}: {unreadable} of {records} records cannot be read"));
        }
        known.sets.push((id.clone(), indexed));
    }
    Ok(known)
}

fn note(set: &PublicSet, summary: &Summary) -> Value {
    let mut note = json!({
        "id": set.id,
        "on_disk": true,
        "built_in": set.id == SAMPLE,
        "licence": set.licence,
    });
    summary.tell(&mut note);
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_on_disk_is_noted_and_each_text_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::open(folder.path()).unwrap();
        let ids = ["toolsieve-sample", "anyscale", "toolsieve-sample"].map(str::to_owned);
        let known = known(&catalogue, &ids).unwrap();
        let functions = known.functions();
        assert_eq!((functions.items.len(), known.queries().items.len()), (2, 2));
        assert_eq!(known.missing, ["anyscale"]);
        assert_eq!(
            functions.origins[1],
            Origin { set: "toolsieve-sample".into(), record: "sample-2".into() }
        );
        let note = Value::from(known.notes.clone());
        let line = "none of 1 public sets found, only the built-in";
        assert_eq!(told(Some(&note), "overlap with").as_deref(), Some(line));
        let on_disk: Vec<&Value> = known.notes.iter().map(|note| &note["on_disk"]).collect();
        assert_eq!(on_disk, [true, false, true]);
    }

    #[test]
    fn the_line_counts_the_sets_that_were_compared_with() {
        let set = |on_disk: bool, n: u64| json!({"id": "a", "on_disk": on_disk, "licence": "unknown", "functions": n, "queries": n});
        let line = |sets: &[Value]| told(Some(&json!(sets)), "overlap with");
        let (here, absent, unreadable) = (set(true, 3), set(false, 0), set(true, 0));
        for (sets, said) in [
            (vec![here.clone()], "no overlap with 1 public set"),
            (vec![here.clone(), here.clone()], "no overlap with 2 public sets"),
            (vec![here, absent.clone(), absent.clone()], "no overlap with 1 of 3 public sets"),
            (vec![absent.clone()], "none of 1 public sets found"),
            (vec![absent, unreadable], "none of 2 public sets readable"),
        ] {
            assert_eq!(line(&sets).as_deref(), Some(said));
        }
        assert_eq!([line(&[]), told(None, "overlap with")], [None, None]);
    }
}
