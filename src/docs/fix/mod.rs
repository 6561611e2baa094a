//! The fewest edits that turn a function into a BFCL one.
//!
//! A rule judges and proposes patches, this file applies them: so every change has a
//! before and an after, and applying all patches to the input gives the output. Rules
//! stand in phases; a phase is repeated until it has nothing left to do, because one
//! fix can uncover another. A doc that conforms gets no edit, and a fixed doc gets none
//! the second time. What no rule can fix without inventing is a finding.

pub(super) mod alternatives;
mod keys;
mod marks;
pub(super) mod names;
pub(super) mod notation;
mod opinion;
mod prose;
pub mod renames;
mod required;
mod rules;
pub(super) mod shape;
pub(crate) mod values;
pub(super) mod walk;

use std::collections::HashSet;

use serde::Serialize;
use serde_json::Value;

use crate::docs::patch::{self, PatchOp};
use opinion::Opinion;
use renames::Rename;
use rules::{FINDINGS, PHASES};

/// Raised when any rule's answers change: runs made before are not taken over.
pub const VERSION: u32 = 3;

/// Makes the edits that `allow` covers and tells of the others.
///
/// `functions` are objects with a name, as `parse` gives them; anything else stays untouched. `Safety::Safe`
/// makes the fewest edits, `Safety::Unsafe` also those that fill a gap with a guess.
pub fn fix(functions: &[Value], allow: Safety) -> Fixed {
    let mut draft = Draft {
        list: Value::Array(functions.to_vec()),
        names: functions.iter().map(renames::name_of).collect(),
        origins: (0..functions.len()).collect(),
        ..Draft::default()
    };
    draft.work(|rule| rule.safety <= allow);
    let findings = FINDINGS.iter().flat_map(|rule| judged(rule, draft.functions()).findings).collect();
    let proposals = proposed(&draft.list, |rule| rule.safety > allow);
    let functions = match draft.list {
        Value::Array(functions) => functions,
        _ => Vec::new(),
    };
    Fixed { functions, edits: draft.edits, proposals, findings, renames: draft.renames }
}

/// How sure an edit is to say what the writer meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// It only says the same in BFCL's words; made always.
    Safe,
    /// It fills a gap with a guess or loses something; made when asked for.
    Unsafe,
    /// It is only shown.
    Suggest,
}

/// One thing that can be wrong with a function.
#[derive(Debug)]
pub struct Rule {
    /// The reason code, named for the fault.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub what: &'static str,
    /// Why it matters and what is done about it.
    pub why: &'static str,
    /// How sure the edit is; findings are suggestions.
    pub safety: Safety,
    /// A function, as JSON, on which the rule fires.
    pub fires: &'static str,
    /// A function, as JSON, on which it does not.
    pub quiet: &'static str,
    judge: fn(&mut Opinion<'_>),
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
    PHASES.into_iter().flatten().chain(&FINDINGS).copied()
}

/// How often a phase is repeated at most; a fix uncovers at most what stands one level deeper.
const MAX_ROUNDS: usize = 256;

/// What the other rules would do, tried on a copy: it must not stand in the way of what is done.
fn proposed(list: &Value, takes: impl Fn(&Rule) -> bool) -> Vec<Edit> {
    if !PHASES.into_iter().flatten().any(|rule| takes(rule)) {
        return Vec::new();
    }
    let n_functions = list.as_array().map_or(0, Vec::len);
    let mut draft = Draft { list: list.clone(), origins: (0..n_functions).collect(), ..Draft::default() };
    draft.work(takes);
    draft.edits
}

#[derive(Default)]
struct Draft {
    list: Value,
    /// What the functions were called when they came in.
    names: Vec<String>,
    /// Which of those each function of the list is.
    origins: Vec<usize>,
    edits: Vec<Edit>,
    renames: Vec<Rename>,
}

impl Draft {
    fn functions(&self) -> &[Value] {
        self.list.as_array().map_or(&[], Vec::as_slice)
    }

    /// Runs the rules that `takes` lets through until they have nothing left to do.
    /// Goes through the phases until a whole pass changes nothing: a late rule can uncover work for an early one.
    fn work(&mut self, takes: impl Fn(&Rule) -> bool) {
        self.until_quiet(|draft| {
            for phase in PHASES {
                draft.until_quiet(|draft| {
                    phase.iter().filter(|rule| takes(rule)).for_each(|rule| draft.apply(rule));
                });
            }
        });
    }

    fn until_quiet(&mut self, pass: impl Fn(&mut Self)) {
        for _ in 0..MAX_ROUNDS {
            let before = self.edits.len();
            pass(self);
            if self.edits.len() == before {
                return;
            }
        }
    }

    /// Makes a rule's changes, but for those inside of what another has just changed: the next round sees them.
    fn apply(&mut self, rule: &'static Rule) {
        let mut touched = HashSet::new();
        for (patch, renames) in judged(rule, self.functions()).changes {
            if patch.iter().any(|op| is_inside(op.path(), &touched)) {
                continue;
            }
            let taken = patch.iter().filter(|op| !matches!(op, PatchOp::Test { .. } | PatchOp::Add { .. }));
            touched.extend(taken.map(|op| op.path().to_owned()));
            patch::apply(&mut self.list, &patch).expect("a rule patches what it has just looked at");
            self.renames.extend(renames.into_iter().map(|rename| rename.of(&self.origins, &self.names)));
            for at in patch.iter().filter_map(left_function) {
                self.origins.remove(at);
            }
            self.edits.push(Edit { rule, patch });
        }
    }
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

struct Judged {
    changes: Vec<opinion::Decided>,
    findings: Vec<Finding>,
}

fn judged(rule: &'static Rule, functions: &[Value]) -> Judged {
    let mut opinion = Opinion::new(functions);
    (rule.judge)(&mut opinion);
    let findings = opinion.findings.into_iter().map(|(at, message)| Finding { rule, at, message }).collect();
    Judged { changes: opinion.changes, findings }
}

#[cfg(test)]
mod tests;
