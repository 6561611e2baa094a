//! The fewest edits that turn a function into a BFCL one.
//!
//! A rule judges and proposes patches, this file applies them: so every change has a
//! before and an after, and applying all patches to the input gives the output. Rules
//! stand in phases; a phase is repeated until it has nothing left to do, because one
//! fix can uncover another. A doc that conforms gets no edit, and a fixed doc gets none
//! the second time. What no rule can fix without inventing is a finding.

pub(super) mod alternatives;
mod called;
mod cues;
mod keys;
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
pub(crate) mod values;
pub(super) mod walk;
mod wording;

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use crate::docs::patch::{self, PatchOp};
use cues::Cues;
#[cfg(test)]
pub(crate) use cues::keys as waking_keys;
use opinion::Opinion;
use renames::{Rename, Renamed};
pub use rule::{Rule, Safety};
use rules::{Entry, FINDINGS, PHASES};
use walk::Docs;

/// Raised when any rule's answers change: runs made before are not taken over.
pub const VERSION: u32 = 6;

/// Makes the edits that `allow` covers and tells of the others.
///
/// `functions` are objects with a name, as `parse` gives them; anything else stays untouched. `Safety::Safe`
/// makes the fewest edits, `Safety::Unsafe` also those that fill a gap with a guess.
pub fn fix(functions: &[Value], allow: Safety) -> Fixed {
    let draft = Draft::worked(functions, allow);
    let findings = FINDINGS.iter().flat_map(|entry| draft.judged(*entry, None).findings).collect();
    let proposals = draft.proposed(|rule| rule.safety > allow);
    let (functions, edits, renames) = draft.finish();
    Fixed { functions, edits, proposals, findings, renames }
}

/// The functions as [`fix`] leaves them and the names that changed, for those who do not ask for the rest of the
/// story.
pub fn mended(functions: &[Value], allow: Safety) -> (Vec<Value>, Vec<Rename>) {
    let (functions, _, renames) = Draft::worked(functions, allow).finish();
    (functions, renames)
}

/// One change made, or proposed.
#[derive(Debug, Clone)]
pub struct Edit {
    /// Why.
    pub rule: &'static Rule,
    /// How; pointers lead into the list of functions as the edits before have left it.
    pub patch: Vec<PatchOp>,
}

/// Something wrong that no rule mends without inventing.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What kind of thing.
    pub rule: &'static Rule,
    /// The pointer into the fixed list.
    pub at: String,
    /// What was found, for people.
    pub message: String,
}

/// A fixed list and its story.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The functions after all `edits`.
    pub functions: Vec<Value>,
    /// What was changed; applied in order to the input they give `functions`.
    pub edits: Vec<Edit>,
    /// What `allow` did not cover; applied in order to `functions` they fit.
    pub proposals: Vec<Edit>,
    /// What is still wrong with `functions`.
    pub findings: Vec<Finding>,
    /// Names that changed, in order: calls recorded against the old ones are carried over with `renames::carry`.
    pub renames: Vec<Rename>,
}

/// Every rule: those that edit in the order they run, then those that only find.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    PHASES.into_iter().flatten().chain(&FINDINGS).map(|(rule, _)| *rule)
}

/// How often a phase is repeated at most; a fix uncovers at most what stands one level deeper.
const MAX_ROUNDS: usize = 256;

#[derive(Default)]
struct Draft {
    list: Value,
    /// What the functions were called when they came in.
    names: Vec<String>,
    marks: Vec<Mark>,
    edits: Vec<Edit>,
    renames: Vec<Rename>,
}

/// What is known of one function of the list.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Its place in the list as it came in.
    origin: usize,
    /// What in it could make a rule fire.
    cues: Cues,
    /// How many edits had been made with the last one of it.
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

    /// After all that the rules do that `allow` covers.
    fn worked(functions: &[Value], allow: Safety) -> Self {
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

    /// Goes through the phases until a whole pass changes nothing: a late rule can uncover work for an early one.
    fn work(&mut self, takes: impl Fn(&Rule) -> bool) {
        let mut since = [None; PHASES.len()];
        for _ in 0..MAX_ROUNDS {
            let before = self.edits.len();
            for (phase, since) in PHASES.iter().zip(&mut since) {
                self.until_quiet(phase, since, &takes);
            }
            if self.edits.len() == before {
                return;
            }
        }
    }

    /// What the other rules would do, tried on a copy: it must not stand in the way of what is done.
    fn proposed(&self, takes: impl Fn(&Rule) -> bool) -> Vec<Edit> {
        let mut others = PHASES.into_iter().flatten().filter(|(rule, _)| takes(rule));
        // Most lists are as good as they get, and a copy costs more than a look.
        if others.all(|entry| self.judged(*entry, None).changes.is_empty()) {
            return Vec::new();
        }
        let mut draft = Self::new(self.functions().to_vec());
        draft.work(takes);
        draft.edits
    }

    /// Repeats a phase for what has changed since it was last gone through, until it has nothing left to do.
    fn until_quiet(&mut self, phase: &[Entry], since: &mut Option<usize>, takes: impl Fn(&Rule) -> bool) {
        for _ in 0..MAX_ROUNDS {
            let before = self.edits.len();
            phase.iter().filter(|(rule, _)| takes(rule)).for_each(|entry| self.apply(*entry, *since));
            *since = Some(before);
            if self.edits.len() == before {
                return;
            }
        }
    }

    /// Makes a rule's changes, but for those inside of what another has just changed: the next round sees them.
    fn apply(&mut self, entry: Entry, since: Option<usize>) {
        let mut touched = HashSet::new();
        let mut changed = BTreeSet::new();
        for (patch, renames) in self.judged(entry, since).changes {
            if patch.iter().any(|op| is_inside(op.path(), &touched)) {
                continue;
            }
            let taken = patch.iter().filter(|op| !matches!(op, PatchOp::Test { .. } | PatchOp::Add { .. }));
            touched.extend(taken.map(|op| op.path().to_owned()));
            patch::apply(&mut self.list, &patch).expect("a rule patches what it has just looked at");
            let told: Vec<_> = renames.into_iter().map(|rename| self.told(rename)).collect();
            self.renames.extend(told);
            match patch.iter().find_map(left_function) {
                Some(at) => drop(self.marks.drain(at..=at)),
                None => changed.extend(patch.first().and_then(|op| function_at(op.path()))),
            }
            self.edits.push(Edit { rule: entry.0, patch });
        }
        for at in changed {
            self.mark(at);
        }
    }

    /// Takes note that a function has changed.
    fn mark(&mut self, at: usize) {
        let cues = self.functions().get(at).map(Cues::of);
        if let (Some(mark), Some(cues)) = (self.marks.get_mut(at), cues) {
            (mark.cues, mark.touched) = (cues, self.edits.len());
        }
    }

    /// A rename with the place and the name its function came in with.
    fn told(&self, renamed: Renamed) -> Rename {
        let function = self.marks.get(renamed.function).map_or(renamed.function, |mark| mark.origin);
        let name = self.names.get(function).cloned().unwrap_or_default();
        Rename { function, name, parameter: renamed.parameter, to: renamed.to }
    }

    /// What a rule says of the functions that were touched after so many edits; of all, where that is nothing.
    fn judged(&self, (rule, wanted): Entry, since: Option<usize>) -> Judged {
        let is_awake = |mark: &Mark| since.is_none_or(|since| mark.touched > since);
        let concerns = |mark: &Mark| is_awake(mark) && mark.cues.meet(wanted);
        if !wanted.are_all() && !self.marks.iter().any(concerns) {
            return Judged::default();
        }
        let awake: Vec<_> = self.marks.iter().map(|mark| is_awake(mark).then_some(mark.cues)).collect();
        let docs = Docs { functions: self.functions(), awake: &awake, wanted };
        let mut opinion = Opinion::new(docs);
        (rule.judge)(&mut opinion);
        let finding = |(at, message)| Finding { rule, at, message };
        Judged { changes: opinion.changes, findings: opinion.findings.into_iter().map(finding).collect() }
    }
}

/// The place of the function that a pointer leads into.
fn function_at(pointer: &str) -> Option<usize> {
    pointer.split('/').nth(1)?.parse().ok()
}

/// The place of the function that an operation takes out of the list.
fn left_function(op: &PatchOp) -> Option<usize> {
    match op {
        PatchOp::Remove { path } => path.strip_prefix('/')?.parse().ok(),
        _ => None,
    }
}

/// Whether a pointer leads into one of the places.
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
