//! Counts of findings by rule: findings, functions, distinct functions and entries, for each file.

use std::collections::{BTreeMap, BTreeSet};

use super::LintFinding;
use super::rules;
use callsieve_docs::check::rules::Rule;

/// The counts of one rule.
#[derive(Debug, Default)]
pub struct Count {
    /// Findings.
    pub findings: usize,
    /// Functions, counted once per entry; entries if the rule is about entries.
    pub docs: usize,
    /// Distinct functions; key order is ignored.
    pub distinct: usize,
    /// Entries.
    pub entries: usize,
    /// `docs` for each file.
    pub by_file: Vec<usize>,
}

/// Counts findings by rule and declared type, in the order of the table of rules.
pub fn tally(findings: &[LintFinding], n_files: usize) -> Vec<(&'static Rule, &'static str, Count)> {
    let mut seen: BTreeMap<(&str, &str), Occurrences> = BTreeMap::new();
    for finding in findings {
        seen.entry((finding.rule.code, finding.kind)).or_default().add(finding);
    }
    let mut counts = Vec::new();
    for rule in rules::all() {
        for ((_, kind), seen) in seen.range((rule.code, "")..).take_while(|((code, _), _)| *code == rule.code)
        {
            counts.push((rule, kind_of(findings, rule, kind), seen.count(n_files)));
        }
    }
    counts.sort_by_key(|(rule, ..)| rule.level);
    counts
}

/// Returns the declared type from the findings, which has a static lifetime.
fn kind_of(findings: &[LintFinding], rule: &Rule, kind: &str) -> &'static str {
    let is_same = |finding: &&LintFinding| finding.rule.code == rule.code && finding.kind == kind;
    findings.iter().find(is_same).map_or("", |finding| finding.kind)
}

/// File and line of an entry, and the index of a function in it.
type EntryPlace = (usize, usize, Option<usize>);

#[derive(Default)]
struct Occurrences {
    findings: usize,
    places: BTreeSet<EntryPlace>,
    keys: BTreeSet<u128>,
}

impl Occurrences {
    fn add(&mut self, finding: &LintFinding) {
        self.findings += 1;
        let function = finding.function.as_ref();
        self.places.insert((finding.file, finding.line, function.map(|function| function.index)));
        self.keys.extend(function.map(|function| function.key));
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
