//! The record of a parse: the steps used, and the faults despite which the text was read.

use super::fault::{ParseFault, ParseFaultKind};
use super::step::ParseStep;

/// The maximum number of repeated keys reported individually.
pub(crate) const MAX_REPEATED: usize = 20;

/// Steps and faults, in order of occurrence.
#[derive(Debug, Default)]
pub(super) struct Trail {
    pub(super) steps: Vec<ParseStep>,
    pub(super) faults: Vec<ParseFault>,
}

impl Trail {
    pub(super) fn step(&mut self, step: ParseStep) {
        self.steps.push(step);
    }

    /// Records a fault. Each kind is recorded once, except for records and keys, each of which has its own place.
    pub(super) fn fault(&mut self, fault: ParseFault) {
        let is_place = matches!(fault.kind, ParseFaultKind::UnreadableRecord | ParseFaultKind::DuplicateKey);
        if is_place || self.faults.iter().all(|earlier| earlier.kind != fault.kind) {
            self.faults.push(fault);
        }
    }

    /// Adds the record of one part of many, without steps that are already recorded.
    pub(super) fn extend_once(&mut self, mut other: Self) {
        other.steps.retain(|step| !self.steps.contains(step));
        self.extend(other);
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.steps.extend(other.steps);
        other.faults.into_iter().for_each(|fault| self.fault(fault));
    }
}
