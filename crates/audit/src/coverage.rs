//! Which entries are in groups of hits, and by which rows: what the counts of entries need of hits that name only some entries.
//!
//! A hit of a group is written once for each row, with a few examples. An entry that is no example counts all the same: for each
//! entry, object and verdict the first rows with such a hit are known, so that the counts stay right after some of them were
//! forgotten. Rows are added by all threads at once, in any order, with the same result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::benchmark::Benchmark;
use super::hit::{Hit, Object, Verdict};
use callsieve_engine::vocabulary::RowIx;

/// The name of the note about entries of groups.
pub const GROUPED_NOTE: &str = "entries_of_groups";

/// The most rows that are known of an entry, an object and a verdict.
const MOST_ROWS: usize = 10;
/// The verdicts of hits that are counted.
const VERDICTS: [Verdict; 2] = [Verdict::Contaminated, Verdict::Suspect];
/// Locks of the entries.
const N_LOCKS: usize = 64;

/// The first rows of each entry by which it is in a group, while rows are compared.
pub struct Coverage {
    n_entries: usize,
    /// By object and verdict; made when the first hit of it is added.
    kinds: [OnceLock<Kind>; Object::ALL.len() * VERDICTS.len()],
}

struct Kind {
    /// By entry: the last of its rows, once it has enough.
    last: Vec<AtomicU32>,
    /// By the remainder of the entry's number: its rows, ascending.
    rows: Vec<Mutex<Vec<Vec<RowIx>>>>,
}

impl Kind {
    fn new(n_entries: usize) -> Self {
        let of_lock = n_entries.div_ceil(N_LOCKS);
        Self {
            last: (0..n_entries).map(|_| AtomicU32::new(u32::MAX)).collect(),
            rows: (0..N_LOCKS).map(|_| Mutex::new(vec![Vec::new(); of_lock])).collect(),
        }
    }

    fn add(&self, entry: u32, row: RowIx) {
        let (entry, at) = (entry as usize, entry as usize / N_LOCKS);
        if row >= self.last[entry].load(Ordering::Relaxed) {
            return;
        }
        let mut rows = self.rows[entry % N_LOCKS].lock().unwrap_or_else(PoisonError::into_inner);
        let rows = &mut rows[at];
        if let Err(place) = rows.binary_search(&row) {
            rows.insert(place, row);
            rows.truncate(MOST_ROWS);
        }
        if rows.len() == MOST_ROWS {
            self.last[entry].store(rows[MOST_ROWS - 1], Ordering::Relaxed);
        }
    }
}

impl Coverage {
    /// Returns what is known before the first row.
    pub fn new(n_entries: usize) -> Self {
        Self { n_entries, kinds: std::array::from_fn(|_| OnceLock::new()) }
    }

    /// Adds a hit of a row. A hit of one entry is counted by itself.
    pub fn add(&self, row: RowIx, hit: &Hit) {
        let (Some(group), Some(of_verdict)) =
            (&hit.group, VERDICTS.iter().position(|verdict| *verdict == hit.verdict))
        else {
            return;
        };
        if group.is_settled(hit.verdict, row) {
            return;
        }
        let of_object = Object::ALL.iter().position(|object| *object == hit.object).unwrap_or_default();
        let kind =
            self.kinds[of_object * VERDICTS.len() + of_verdict].get_or_init(|| Kind::new(self.n_entries));
        let mut last = 0;
        for &(entry, _) in group.members() {
            kind.add(entry, row);
            last = last.max(kind.last[entry as usize].load(Ordering::Relaxed));
        }
        group.settle(hit.verdict, last);
    }

    /// Returns the entries with their rows.
    ///
    /// # Panics
    /// Never: a benchmark has fewer than 2^32 entries.
    pub fn finish(self, benchmark: &Benchmark) -> GroupedEntries {
        let mut found: BTreeMap<Key, BTreeSet<String>> = BTreeMap::new();
        for (at, kind) in self.kinds.into_iter().enumerate() {
            let (object, verdict) = (Object::ALL[at / VERDICTS.len()], VERDICTS[at % VERDICTS.len()]);
            let Some(kind) = kind.into_inner() else { continue };
            for (of_lock, rows) in kind.rows.into_iter().enumerate() {
                let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
                for (at, rows) in rows.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
                    let entry = u32::try_from(at * N_LOCKS + of_lock).expect("fewer than 2^32 entries");
                    let (category, id) = benchmark.place_of(entry);
                    let key = Key { object, verdict, category: category.to_owned(), rows };
                    found.entry(key).or_default().insert(id.to_owned());
                }
            }
        }
        // Entries of one name are one, as for those of several parts.
        GroupedEntries::joined([GroupedEntries::of(found)])
    }
}

/// What entries with the same rows have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    object: Object,
    verdict: Verdict,
    category: String,
    rows: Vec<RowIx>,
}

/// Entries of groups with the first of the rows by which they are in one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupedEntries(Vec<SameRows>);

/// Entries with the same rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SameRows {
    #[serde(flatten)]
    key: Key,
    entries: BTreeSet<String>,
}

impl GroupedEntries {
    fn of(found: BTreeMap<Key, BTreeSet<String>>) -> Self {
        Self(found.into_iter().map(|(key, entries)| SameRows { key, entries }).collect())
    }

    /// Returns whether no entry is in a group.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what a note holds; nothing if there is no note.
    pub fn of_note(note: Option<&Value>) -> Self {
        note.and_then(|note| Self::deserialize(note).ok()).unwrap_or_default()
    }

    /// Returns the entries of several parts of a training set: of each the first rows of all parts.
    #[must_use]
    pub fn joined(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut rows: BTreeMap<(Object, Verdict, String, String), BTreeSet<RowIx>> = BTreeMap::new();
        for SameRows { key, entries } in parts.into_iter().flat_map(|part| part.0) {
            for entry in entries {
                let of_entry = (key.object, key.verdict, key.category.clone(), entry);
                rows.entry(of_entry).or_default().extend(&key.rows);
            }
        }
        let mut found: BTreeMap<Key, BTreeSet<String>> = BTreeMap::new();
        for ((object, verdict, category, entry), rows) in rows {
            let rows = rows.into_iter().take(MOST_ROWS).collect();
            found.entry(Key { object, verdict, category, rows }).or_default().insert(entry);
        }
        Self::of(found)
    }

    /// Returns the entries that one of the rows `is_there` has in a group: object, verdict, category, id.
    pub fn of_rows(
        &self,
        is_there: impl Fn(RowIx) -> bool,
    ) -> impl Iterator<Item = (Object, Verdict, &str, &str)> {
        let known = self.0.iter().filter(move |same| same.key.rows.iter().any(|row| is_there(*row)));
        known.flat_map(|SameRows { key, entries }| {
            entries.iter().map(|entry| (key.object, key.verdict, key.category.as_str(), entry.as_str()))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::benchmark::tests::benchmark_of;
    use super::super::hit::{Group, Method};
    use super::*;

    fn hit(group: &Arc<Group>, verdict: Verdict) -> Hit {
        Hit {
            entry: group.members()[0].0,
            object: Object::Query,
            method: Method::LongestMatch,
            score: 0.5,
            verdict,
            in_row: (0, 0..0),
            in_entry: (0, 0..0),
            run: 13,
            group: Some(Arc::clone(group)),
        }
    }

    fn grouped(rows: &[RowIx]) -> GroupedEntries {
        let benchmark = benchmark_of(&["one bell", "two bells", "three bells", "four bells"]);
        let [all, some] = [0..4, 1..3].map(|entries: std::ops::Range<u32>| {
            Arc::new(Group::new(entries.map(|entry| (entry, 0)).collect()))
        });
        let coverage = Coverage::new(benchmark.entries.len());
        for &row in rows {
            coverage.add(row, &hit(&all, Verdict::Suspect));
            if row % 2 == 0 {
                coverage.add(row, &hit(&some, Verdict::Contaminated));
            }
        }
        coverage.finish(&benchmark)
    }

    #[test]
    fn the_first_rows_of_each_entry_are_known_whatever_the_order_of_rows_and_parts() {
        let rows: Vec<RowIx> = (0..40).collect();
        let expected = grouped(&rows);
        let backwards: Vec<RowIx> = rows.iter().rev().copied().collect();
        assert_eq!(grouped(&backwards), expected);
        let parts = [&rows[7..31], &rows[31..], &rows[..7]].map(grouped);
        assert_eq!(GroupedEntries::joined(parts), expected);
        let of_note = GroupedEntries::of_note(Some(&serde_json::json!(expected)));
        assert_eq!(of_note, expected);
        let entries = |is_there: &dyn Fn(RowIx) -> bool| -> Vec<(Verdict, String)> {
            expected.of_rows(is_there).map(|(_, verdict, _, id)| (verdict, id.to_owned())).collect()
        };
        let [one, two, three, four] = ["1", "2", "3", "4"].map(str::to_owned);
        let suspect = [&one, &two, &three, &four].map(|id| (Verdict::Suspect, id.clone()));
        let contaminated = [&two, &three].map(|id| (Verdict::Contaminated, id.clone()));
        assert_eq!(entries(&|row| row == 9), suspect);
        assert_eq!(entries(&|row| row == 18), contaminated);
        assert_eq!(entries(&|row| row == 4).len(), 6);
        assert_eq!(entries(&|row| row > 18), []);
    }
}
