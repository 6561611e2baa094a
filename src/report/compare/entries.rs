//! The entries of both datasets, matched by the request that each was made from.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::report::finished::{EntryFacts, Finished};

/// Entries that are the same, changed, new or gone.
#[derive(Debug, Default, Serialize)]
pub struct Entries {
    /// In both, with the same content.
    pub same: u64,
    /// Of these: under another id.
    pub renumbered: u64,
    /// In both, with other content.
    pub changed: Vec<ChangedEntry>,
    /// Ids that only the second dataset has.
    pub new: Vec<String>,
    /// Ids that only the first dataset has.
    pub gone: Vec<String>,
}

/// An entry whose content differs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ChangedEntry {
    /// Its id in the first dataset.
    pub before: String,
    /// Its id in the second.
    pub after: String,
    /// What differs: `question`, `docs`, `answer`, `category`, `set`.
    pub what: Vec<&'static str>,
}

pub(super) fn entries(before: &Finished, after: &Finished) -> Entries {
    let mut entries = Entries::default();
    let keys: BTreeSet<u128> = before.entries.keys().chain(after.entries.keys()).copied().collect();
    for key in keys {
        match (before.entries.get(&key), after.entries.get(&key)) {
            (Some(old), Some(new)) => {
                let what = what_differs(old, new);
                if what.is_empty() {
                    entries.same += 1;
                    entries.renumbered += u64::from(old.id != new.id);
                } else {
                    entries.changed.push(ChangedEntry {
                        before: old.id.clone(),
                        after: new.id.clone(),
                        what,
                    });
                }
            }
            (Some(old), None) => entries.gone.push(old.id.clone()),
            (None, Some(new)) => entries.new.push(new.id.clone()),
            (None, None) => {}
        }
    }
    entries.changed.sort_by(|one, other| sort_key(&one.after).cmp(&sort_key(&other.after)));
    entries.new.sort_by(|one, other| sort_key(one).cmp(&sort_key(other)));
    entries.gone.sort_by(|one, other| sort_key(one).cmp(&sort_key(other)));
    entries
}

/// The order of ids: by category, then by the number of the entry.
fn sort_key(id: &str) -> (&str, u64, &str) {
    let (category, index) = id.rsplit_once('_').unwrap_or((id, ""));
    (category, index.split('-').next().and_then(|entry| entry.parse().ok()).unwrap_or(0), index)
}

fn what_differs(old: &EntryFacts, new: &EntryFacts) -> Vec<&'static str> {
    let parts = [
        ("question", old.question != new.question),
        ("docs", old.docs != new.docs),
        ("answer", old.answer != new.answer),
        ("category", old.category != new.category),
        ("set", old.set != new.set),
    ];
    parts.into_iter().filter_map(|(part, differs)| differs.then_some(part)).collect()
}
