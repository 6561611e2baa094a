//! Collects what is found for one message of a row, and makes a group of the entries that it overlaps in the same way.

use std::sync::Arc;

use super::super::hit::{Group, Hit, MOST_SINGLE, Method, Object, Verdict};
use super::super::scope::Scope;
use super::text::{Place, Row, Text, bytes};

/// What one method says of a message of the benchmark and one of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Finding {
    pub(super) method: Method,
    pub(super) score: f64,
    pub(super) verdict: Verdict,
    /// The words of the row that overlap: the first, and the one after the last.
    pub(super) at: (usize, usize),
    /// Those of the message of the benchmark.
    pub(super) of: (usize, usize),
    /// The words of the longest run; 0 for other methods.
    pub(super) run: usize,
}

/// The findings for one message of a row.
pub(super) struct Found<'a> {
    texts: &'a [Text],
    scope: Scope<'a>,
    /// By methods and verdicts: few of them.
    alike: Vec<(u64, Alike)>,
}

/// Messages that the same methods find with the same verdicts.
#[derive(Default)]
struct Alike {
    /// Each entry, with the number of its message.
    members: Vec<(u32, u32)>,
    /// The findings of the first of them.
    first: Vec<(Finding, u32, Place)>,
    /// For each method the finding with the highest score; of several that of the first entry.
    best: Vec<(Finding, u32, Place)>,
}

impl<'a> Found<'a> {
    pub(super) fn new(texts: &'a [Text], scope: Scope<'a>) -> Self {
        Self { texts, scope, alike: Vec::new() }
    }

    /// Adds what was found of a message, for all entries that have it.
    pub(super) fn add(&mut self, text: u32, findings: &[Finding]) {
        for &place in &self.texts[text as usize].places {
            self.add_one(text, place, findings);
        }
    }

    /// Adds what was found of the message of one entry.
    pub(super) fn add_one(&mut self, text: u32, place: Place, findings: &[Finding]) {
        if findings.is_empty() || (self.scope.is_left_out)(place.entry) {
            return;
        }
        if !self.scope.is_phrase(place.entry, place.turn) {
            self.alike(findings).add(findings, text, place);
            return;
        }
        let lowered = |finding: &Finding| {
            let verdict = self.scope.verdict(place.entry, place.turn, finding.method, finding.verdict);
            Finding { verdict, ..*finding }
        };
        let findings: Vec<Finding> = findings.iter().map(lowered).collect();
        self.alike(&findings).add(&findings, text, place);
    }

    /// Adds messages that share a run of words and nothing else. Only the `compared` ones have findings: one each, and all alike.
    pub(super) fn add_by_run(&mut self, texts: &[u32], compared: &[(u32, Finding)]) {
        let Some((_, first)) = compared.first() else { return };
        let mut members = Vec::with_capacity(texts.len());
        for &place in texts.iter().flat_map(|text| &self.texts[*text as usize].places) {
            if !(self.scope.is_left_out)(place.entry) {
                members.push((place.entry, place.turn));
            }
        }
        self.alike(&[*first]).members.append(&mut members);
        for (text, finding) in compared {
            self.add(*text, &[*finding]);
        }
    }

    fn alike(&mut self, findings: &[Finding]) -> &mut Alike {
        let key = key(findings);
        let at = self.alike.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            self.alike.push((key, Alike::default()));
            self.alike.len() - 1
        });
        &mut self.alike[at].1
    }

    /// Returns the hits: one for each entry and method, or one for each group and method.
    pub(super) fn hits(self, row: &Row<'_>, hits: &mut Vec<Hit>) {
        for (_, alike) in self.alike {
            let is_group = alike.members.len() > MOST_SINGLE;
            let group = is_group.then(|| Arc::new(Group::new(alike.members)));
            let findings = if is_group { alike.best } else { alike.first };
            hits.extend(findings.into_iter().map(|(finding, text, place)| {
                let text = &self.texts[text as usize];
                Hit {
                    entry: place.entry,
                    object: if row.is_verbatim { Object::Text } else { Object::Query },
                    method: finding.method,
                    score: finding.score,
                    verdict: finding.verdict,
                    in_row: (row.turn, bytes(row.words, finding.at)),
                    in_entry: (place.turn, bytes(&text.words, finding.of)),
                    run: u32::try_from(finding.run).unwrap_or(u32::MAX),
                    group: group.clone(),
                }
            }));
        }
    }
}

impl Alike {
    fn add(&mut self, findings: &[Finding], text: u32, place: Place) {
        self.members.push((place.entry, place.turn));
        if self.members.len() <= MOST_SINGLE {
            self.first.extend(findings.iter().map(|finding| (*finding, text, place)));
        }
        if self.best.is_empty() {
            self.best.extend(findings.iter().map(|finding| (*finding, text, place)));
            return;
        }
        for (best, finding) in self.best.iter_mut().zip(findings) {
            let is_first = || place.entry < best.2.entry;
            if finding.score > best.0.score || (finding.score >= best.0.score && is_first()) {
                *best = (*finding, text, place);
            }
        }
    }
}

/// Returns the methods and verdicts of findings as a number. Each method is there once.
fn key(findings: &[Finding]) -> u64 {
    const _: () = assert!(Method::ALL.len() <= 32);
    let bits = |verdict: Verdict| match verdict {
        Verdict::Contaminated => 3,
        Verdict::Suspect => 2,
        Verdict::Clean | Verdict::Environment | Verdict::Unscorable => 1,
    };
    findings.iter().fold(0, |key, finding| key | (bits(finding.verdict) << (2 * finding.method as u64)))
}
