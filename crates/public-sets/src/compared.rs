//! Functions and queries of several sets, in the form in which they are compared.
//!
//! Each text is kept once, with the first record that has it. `form` creates the form.

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
use callsieve_docs::fix;
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_similarity::overlap::Function;
use callsieve_text::figures::counted;

/// The source of a function or query in a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The set's id.
    pub set: String,
    /// The record's id, or its file and line.
    pub record: String,
}

/// Functions or queries to compare with, each once, with their origins.
#[derive(Debug)]
pub struct ReferenceItems<T> {
    /// The functions or queries.
    pub items: Vec<T>,
    /// The origin of each.
    pub origins: Vec<Origin>,
}

/// Several sets, as read.
#[derive(Debug, Default)]
pub struct ReferenceSets {
    /// The sets on disk, by id, in the requested order.
    sets: Vec<(String, Indexed)>,
    /// Sets that are not on disk.
    pub missing: Vec<String>,
    /// Sets on disk without any readable record, with their files and the error.
    pub unreadable: Vec<(String, String)>,
    /// Warnings about sets with unreadable records, one line per set.
    pub troubles: Vec<String>,
    /// A note on each set, as JSON: files with their hashes, counts, unreadable records.
    pub notes: Vec<Value>,
}

/// The name of the note in which a stage lists the sets it compared with, as in [`ReferenceSets::notes`].
pub const SETS_NOTE: &str = "public_sets";

/// A stage's note on a set to compare with: one of [`ReferenceSets::notes`], without its details.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ComparedSet {
    /// The set's id.
    pub id: String,
    /// Whether it is on disk, or built in.
    pub on_disk: bool,
    /// Its licence, an SPDX expression or `unknown`.
    pub licence: String,
    /// Whether it may be used for research only, whatever its licence is called.
    #[serde(default)]
    pub non_commercial: bool,
    /// Whether it is built into the program.
    #[serde(default)]
    pub built_in: bool,
    /// The number of unreadable records.
    #[serde(default)]
    pub unreadable: u64,
    functions: Option<u64>,
    queries: Option<u64>,
}

impl ComparedSet {
    /// Returns the sets in a note; none if there is no note.
    pub fn all(note: Option<&Value>) -> Vec<Self> {
        note.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default()
    }

    /// Returns true if nothing in it is readable.
    pub fn is_empty(&self) -> bool {
        self.functions == Some(0) && self.queries == Some(0)
    }

    /// Returns true if rows were compared with it.
    pub fn is_compared(&self) -> bool {
        self.on_disk && !self.is_empty()
    }
}

/// Returns the number of public sets that a stage compared with, as text for the funnel; `removing` names the removed
/// rows. `None` if no set is recorded.
pub fn compared_sets(note: Option<&Value>, removing: &str) -> Option<String> {
    let (own, requested): (Vec<ComparedSet>, Vec<ComparedSet>) =
        ComparedSet::all(note).into_iter().partition(|set| set.built_in);
    let n_compared = requested.iter().filter(|set| set.is_compared()).count();
    let n_requested = requested.len();
    if n_compared > 0 {
        let of = if n_compared < n_requested { format!(" of {n_requested}") } else { String::new() };
        let noun = if n_requested == 1 { "set" } else { "sets" };
        return Some(format!("no {removing} {n_compared}{of} public {noun}"));
    }
    let sets = counted(n_requested as u64, "public set", "public sets");
    let why = if requested.iter().any(|set| set.on_disk) { "missing or unreadable" } else { "not on disk" };
    match (n_requested, own.iter().any(ComparedSet::is_compared)) {
        (0, false) => None,
        (0, true) => Some("compared with the built-in set only".to_owned()),
        (_, false) => Some(format!("not compared: {sets} {why}")),
        (_, true) => Some(format!("compared with the built-in set only; {sets} {why}")),
    }
}

/// The action if a set is not on disk, or nothing in it is readable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Continue without it and warn.
    #[default]
    Skip,
    /// Stop with an error.
    Error,
}

/// Checks, before reading any set, that the sets with these ids exist, and that required ones are on disk.
///
/// # Errors
/// If a set does not exist, or required sets are not on disk; all of them are listed.
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

/// Reads the sets with these ids from a folder.
///
/// # Errors
/// If a set does not exist, a file of it cannot be read, or a required set is not on disk or not readable.
pub fn open(ids: &[String], dir: &Path, missing: Missing) -> Result<ReferenceSets, SetError> {
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

/// Adds the contents of the sets with these ids to a resume key.
///
/// # Errors
/// As [`open`], except for sets that are not on disk.
pub fn fingerprint(ids: &[String], dir: &Path, fingerprint: &mut Fingerprint) -> Result<(), SetError> {
    let catalogue = Catalogue::open(dir)?;
    fingerprint.version_of("compared", VERSION);
    fingerprint.version_of("fixes", fix::VERSION);
    for id in ids {
        let set = catalogue.set(id)?;
        fingerprint.add_part("set", format!("{id} {}", set.format).as_bytes());
        for hash in hashes(&catalogue, set)?.unwrap_or_default() {
            fingerprint.add_part("file", hash.as_bytes());
        }
    }
    Ok(())
}

impl ReferenceSets {
    /// Returns the functions in the form in which they are compared.
    pub fn functions(&self) -> ReferenceItems<Function> {
        listed(self.sets.iter().map(|(id, set)| (id, &set.functions)), |function| &function.text)
    }

    /// Returns the queries in their normal form.
    pub fn queries(&self) -> ReferenceItems<String> {
        listed(self.sets.iter().map(|(id, set)| (id, &set.queries)), |query| query)
    }
}

/// Returns each item once, with the first record that has it; items with the same `key` are equal.
fn listed<'a, T: Clone + 'a>(
    sets: impl Iterator<Item = (&'a String, &'a Vec<(String, T)>)>,
    key: impl Fn(&'a T) -> &'a String,
) -> ReferenceItems<T> {
    let mut seen = FxHashSet::default();
    let mut listed = ReferenceItems { items: Vec::new(), origins: Vec::new() };
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

fn known(catalogue: &Catalogue, ids: &[String]) -> Result<ReferenceSets, SetError> {
    let mut known = ReferenceSets::default();
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
    if set.non_commercial {
        note["non_commercial"] = json!(true);
    }
    summary.describe(&mut note);
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_sets_are_noted_and_each_text_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::open(folder.path()).unwrap();
        let ids = ["callsieve-sample", "anyscale", "callsieve-sample"].map(str::to_owned);
        let known = known(&catalogue, &ids).unwrap();
        let functions = known.functions();
        assert_eq!((functions.items.len(), known.queries().items.len()), (2, 2));
        assert_eq!(known.missing, ["anyscale"]);
        assert_eq!(
            functions.origins[1],
            Origin { set: "callsieve-sample".into(), record: "sample-2".into() }
        );
        let note = Value::from(known.notes.clone());
        let line = "compared with the built-in set only; 1 public set not on disk";
        assert_eq!(compared_sets(Some(&note), "overlap with").as_deref(), Some(line));
        let on_disk: Vec<&Value> = known.notes.iter().map(|note| &note["on_disk"]).collect();
        assert_eq!(on_disk, [true, false, true]);
    }

    #[test]
    fn the_text_counts_the_compared_sets() {
        let set = |on_disk: bool, n: u64| json!({"id": "a", "on_disk": on_disk, "licence": "unknown", "functions": n, "queries": n});
        let line = |sets: &[Value]| compared_sets(Some(&json!(sets)), "overlap with");
        let (here, absent, unreadable) = (set(true, 3), set(false, 0), set(true, 0));
        for (sets, expected) in [
            (vec![here.clone()], "no overlap with 1 public set"),
            (vec![here.clone(), here.clone()], "no overlap with 2 public sets"),
            (vec![here, absent.clone(), absent.clone()], "no overlap with 1 of 3 public sets"),
            (vec![absent.clone()], "not compared: 1 public set not on disk"),
            (vec![absent, unreadable], "not compared: 2 public sets missing or unreadable"),
        ] {
            assert_eq!(line(&sets).as_deref(), Some(expected));
        }
        assert_eq!([line(&[]), compared_sets(None, "overlap with")], [None, None]);
    }
}
