//! What is noted on the way to a value: the parser steps that were used, and faults in spite of which the text was read.

use super::fault::{Fault, ParseFault};
use super::step::Step;

/// How many keys that stand twice are told apart; a file of thousands says no more than the first.
pub(crate) const MAX_REPEATED: usize = 20;

/// Steps and faults, in the order they were met.
#[derive(Debug, Default)]
pub(super) struct Trail {
    pub(super) steps: Vec<Step>,
    pub(super) faults: Vec<Fault>,
}

impl Trail {
    pub(super) fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Takes note of a fault. One kind is told once, but for records and keys, each of which is a place of its own.
    pub(super) fn fault(&mut self, fault: Fault) {
        let is_place = matches!(fault.kind, ParseFault::UnreadableRecord | ParseFault::DuplicateKey);
        if is_place || self.faults.iter().all(|earlier| earlier.kind != fault.kind) {
            self.faults.push(fault);
        }
    }

    /// Takes what was noted of one part of many, but for the steps of parts before it.
    pub(super) fn extend_once(&mut self, mut other: Self) {
        other.steps.retain(|step| !self.steps.contains(step));
        self.extend(other);
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.steps.extend(other.steps);
        other.faults.into_iter().for_each(|fault| self.fault(fault));
    }
}
