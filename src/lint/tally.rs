//! Counts of what was found: by rule, in functions, distinct functions and entries, file by file.

use std::collections::{BTreeMap, BTreeSet};

use super::Told;
use super::rules;
use crate::docs::check::rules::Rule;

/// How often a rule was broken.
#[derive(Debug, Default)]
pub struct Count {
    /// Findings.
    pub findings: usize,
    /// Functions, each time one stands in an entry; entries where the rule is about them.
    pub docs: usize,
    /// Functions that differ in more than the order of keys.
    pub distinct: usize,
    /// Entries.
    pub entries: usize,
    /// `docs`, file by file.
    pub by_file: Vec<usize>,
}

/// Counts by rule and declared type, in the order of the table of rules.
pub fn tally(told: &[Told], n_files: usize) -> Vec<(&'static Rule, &'static str, Count)> {
    let mut seen: BTreeMap<(&str, &str), Seen> = BTreeMap::new();
    for told in told {
        seen.entry((told.rule.code, told.kind)).or_default().add(told);
    }
    let mut counts = Vec::new();
    for rule in rules::all() {
        for ((_, kind), seen) in seen.range((rule.code, "")..).take_while(|((code, _), _)| *code == rule.code)
        {
            counts.push((rule, kind_of(told, rule, kind), seen.count(n_files)));
        }
    }
    counts.sort_by_key(|(rule, ..)| rule.level);
    counts
}

/// The kind as it stands in what was told, which outlives the count.
fn kind_of(told: &[Told], rule: &Rule, kind: &str) -> &'static str {
    told.iter().find(|told| told.rule.code == rule.code && told.kind == kind).map_or("", |told| told.kind)
}

/// An entry, and a function in it.
type Place = (usize, usize, Option<usize>);

#[derive(Default)]
struct Seen {
    findings: usize,
    places: BTreeSet<Place>,
    keys: BTreeSet<u128>,
}

impl Seen {
    fn add(&mut self, told: &Told) {
        self.findings += 1;
        self.places.insert((told.file, told.line, told.function.as_ref().map(|function| function.index)));
        self.keys.extend(told.function.as_ref().map(|function| function.key));
    }

    fn count(&self, n_files: usize) -> Count {
        let mut by_file = vec![0; n_files];
        for (file, ..) in &self.places {
            by_file[*file] += 1;
        }
        let entries: BTreeSet<_> = self.places.iter().map(|(file, line, _)| (file, line)).collect();
        let docs = self.places.len();
        Count { findings: self.findings, docs, distinct: self.keys.len(), entries: entries.len(), by_file }
    }
}
