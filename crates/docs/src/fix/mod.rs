//! The smallest set of edits that turns a function into a BFCL one.
//!
//! A rule judges and proposes patches, and this file applies them: every change has an old and a new value, and
//! applying all patches to the input returns the output. Rules are grouped in phases; a phase is repeated until it
//! changes nothing, because one fix can uncover another. A valid doc has no edits, and neither has a fixed doc the
//! second time. An issue that no rule can fix without inventing content is a finding.

pub(super) mod alternatives;
mod called;
mod convention;
mod cues;
pub(super) mod form;
pub(crate) mod keys;
mod marks;
pub(super) mod names;
pub(super) mod notation;
mod opinion;
mod prose;
mod regular;
pub mod renames;
mod renaming;
pub(super) mod required;
mod rule;
mod rules;
pub(super) mod shape;
pub mod values;
pub(super) mod walk;
mod wording;

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use crate::patch::{self, PatchOp};
use cues::Cues;
#[cfg(test)]
pub(crate) use cues::keys as waking_keys;
use opinion::Opinion;
use renames::{Rename, Renamed};
pub use rule::{FixRule, Safety};
use rules::{FINDINGS, PHASES, RuleEntry};
use walk::VisitedDocs;

/// The version of the rules, raised when results of any rule change; runs of other versions are not reused.
pub const VERSION: u32 = 7;

/// Makes the edits that `allow` covers and proposes the others.
///
/// `functions` are objects with a name, as returned by `parse`; other values are unchanged. `Safety::Safe` makes the
/// fewest edits, `Safety::Unsafe` also those that fill a gap with a guess.
pub fn fix(functions: &[Value], allow: Safety) -> Fixed {
    let draft = Draft::edited(functions, allow);
    let findings = FINDINGS.iter().flat_map(|entry| draft.judged(*entry, None).findings).collect();
    let proposals = draft.proposed(|rule| rule.safety > allow);
    let (functions, edits, renames) = draft.finish();
    Fixed { functions, edits, proposals, findings, renames }
}

/// Returns the functions and renames of [`fix`], without proposals and findings.
pub fn mended(functions: &[Value], allow: Safety) -> (Vec<Value>, Vec<Rename>) {
    let (functions, _, renames) = Draft::edited(functions, allow).finish();
    (functions, renames)
}

/// A change, made or proposed.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The rule that made it.
    pub rule: &'static FixRule,
    /// The patch; its pointers lead into the list of functions after the previous edits.
    pub patch: Vec<PatchOp>,
}

/// An issue that no rule can fix without inventing content.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that reports it.
    pub rule: &'static FixRule,
    /// The pointer into the fixed list.
    pub at: String,
    /// The message with the value found.
    pub message: String,
}

/// A fixed list with its edits, proposals and findings.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The functions after all `edits`.
    pub functions: Vec<Value>,
    /// The changes; applying them in order to the input returns `functions`.
    pub edits: Vec<Edit>,
    /// The changes that `allow` does not cover; they can be applied in order to `functions`.
    pub proposals: Vec<Edit>,
    /// The remaining issues of `functions`.
    pub findings: Vec<Finding>,
    /// The changed names, in order; `renames::carry` applies them to recorded calls.
    pub renames: Vec<Rename>,
}

/// Returns all rules: those that edit, in the order they run, then those that only report.
pub fn rules() -> impl Iterator<Item = &'static FixRule> {
    PHASES.into_iter().flatten().chain(&FINDINGS).map(|(rule, _)| *rule)
}

/// The maximum number of rounds of a phase; a fix can uncover only issues one level deeper.
const MAX_ROUNDS: usize = 256;

#[derive(Default)]
struct Draft {
    list: Value,
    /// The names of the functions in the input.
    names: Vec<String>,
    marks: Vec<Mark>,
    edits: Vec<Edit>,
    renames: Vec<Rename>,
}

/// The state of one function of the list.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The index in the input.
    origin: usize,
    /// The features that could make a rule fire.
    cues: Cues,
    /// The number of edits after the last one of this function.
    touched: usize,
}

impl Draft {
    fn new(functions: Vec<Value>) -> Self {
        let mark = |(origin, function)| Mark { origin, cues: Cues::of(function), touched: 0 };
        Self {
            names: functions.iter().map(renames::name_of).collect(),
            marks: functions.iter().enumerate().map(mark).collect(),
            list: Value::Array(functions),
            ..Self::default()
        }
    }

    /// Creates a draft and makes all edits that `allow` covers.
    fn edited(functions: &[Value], allow: Safety) -> Self {
        let mut draft = Self::new(functions.to_vec());
        draft.work(|rule| rule.safety <= allow);
        draft
    }

    fn finish(self) -> (Vec<Value>, Vec<Edit>, Vec<Rename>) {
        let functions = match self.list {
            Value::Array(functions) => functions,
            _ => Vec::new(),
        };
        (functions, self.edits, self.renames)
    }

    fn functions(&self) -> &[Value] {
        self.list.as_array().map_or(&[], Vec::as_slice)
    }

    /// Repeats all phases until a pass changes nothing: a late rule can uncover work for an early one.
    fn work(&mut self, takes: impl Fn(&FixRule) -> bool) {
        let mut since = [None; PHASES.len()];
        for _ in 0..MAX_ROUNDS {
            let before = self.edits.len();
            for (phase, since) in PHASES.iter().zip(&mut since) {
                self.until_stable(phase, since, &takes);
            }
            if self.edits.len() == before {
                return;
            }
        }
    }

    /// Returns the edits of the other rules. They are made on a copy, so that they do not affect the actual edits.
    fn proposed(&self, takes: impl Fn(&FixRule) -> bool) -> Vec<Edit> {
        let mut others = PHASES.into_iter().flatten().filter(|(rule, _)| takes(rule));
        // Most lists need no further edits, and a copy costs more than a check.
        if others.all(|entry| self.judged(*entry, None).changes.is_empty()) {
            return Vec::new();
        }
        let mut draft = Self::new(self.functions().to_vec());
        draft.work(takes);
        draft.edits
    }

    /// Repeats a phase for the functions changed since its last pass, until nothing changes.
    fn until_stable(
        &mut self,
        phase: &[RuleEntry],
        since: &mut Option<usize>,
        takes: impl Fn(&FixRule) -> bool,
    ) {
        for _ in 0..MAX_ROUNDS {
            let before = self.edits.len();
            phase.iter().filter(|(rule, _)| takes(rule)).for_each(|entry| self.apply(*entry, *since));
            *since = Some(before);
            if self.edits.len() == before {
                return;
            }
        }
    }

    /// Makes a rule's changes, except those inside of a value that was just changed: the next round handles these.
    fn apply(&mut self, entry: RuleEntry, since: Option<usize>) {
        let mut touched = HashSet::new();
        let mut changed = BTreeSet::new();
        let n_before = self.edits.len();
        for (patch, renames) in self.judged(entry, since).changes {
            if patch.iter().any(|op| is_inside(op.path(), &touched)) {
                continue;
            }
            let taken = patch.iter().filter(|op| !matches!(op, PatchOp::Test { .. } | PatchOp::Add { .. }));
            touched.extend(taken.map(|op| op.path().to_owned()));
            let found: Vec<_> = renames.into_iter().map(|rename| self.original_rename(rename)).collect();
            self.renames.extend(found);
            match patch.iter().find_map(removed_function) {
                Some(at) => drop(self.marks.drain(at..=at)),
                None => changed.extend(patch.first().and_then(|op| function_at(op.path()))),
            }
            self.edits.push(Edit { rule: entry.0, patch });
        }
        let ops = self.edits[n_before..].iter().flat_map(|edit| &edit.patch);
        patch::apply_all(&mut self.list, ops).expect("a rule's patch fits the document it was made from");
        for at in changed {
            self.mark(at);
        }
    }

    /// Records that a function has changed.
    fn mark(&mut self, at: usize) {
        let cues = self.functions().get(at).map(Cues::of);
        if let (Some(mark), Some(cues)) = (self.marks.get_mut(at), cues) {
            (mark.cues, mark.touched) = (cues, self.edits.len());
        }
    }

    /// Returns a rename with the index and the name of its function in the input.
    fn original_rename(&self, renamed: Renamed) -> Rename {
        let function = self.marks.get(renamed.function).map_or(renamed.function, |mark| mark.origin);
        let name = self.names.get(function).cloned().unwrap_or_default();
        Rename { function, name, parameter: renamed.parameter, to: renamed.to }
    }

    /// Returns a rule's judgement of the functions edited since the given count; of all functions if it is `None`.
    fn judged(&self, (rule, wanted): RuleEntry, since: Option<usize>) -> Judged {
        let is_awake = |mark: &Mark| since.is_none_or(|since| mark.touched > since);
        let concerns = |mark: &Mark| is_awake(mark) && mark.cues.meet(wanted);
        if !wanted.are_all() && !self.marks.iter().any(concerns) {
            return Judged::default();
        }
        let awake: Vec<_> = self.marks.iter().map(|mark| is_awake(mark).then_some(mark.cues)).collect();
        let docs = VisitedDocs { functions: self.functions(), awake: &awake, wanted };
        let mut opinion = Opinion::new(docs);
        (rule.judge)(&mut opinion);
        let finding = |(at, message)| Finding { rule, at, message };
        Judged { changes: opinion.changes, findings: opinion.findings.into_iter().map(finding).collect() }
    }
}

/// Returns the index of the function that a pointer leads into.
fn function_at(pointer: &str) -> Option<usize> {
    pointer.split('/').nth(1)?.parse().ok()
}

/// Returns the index of the function that an operation removes from the list.
fn removed_function(op: &PatchOp) -> Option<usize> {
    match op {
        PatchOp::Remove { path } => path.strip_prefix('/')?.parse().ok(),
        _ => None,
    }
}

/// Returns true if a pointer leads into one of the places.
fn is_inside(pointer: &str, places: &HashSet<String>) -> bool {
    !places.is_empty() && pointer.match_indices('/').any(|(at, _)| places.contains(&pointer[..at]))
}

#[derive(Default)]
struct Judged {
    changes: Vec<opinion::Decided>,
    findings: Vec<Finding>,
}

#[cfg(test)]
mod tests;
