//! One doc list and its story: what it is now, what was changed, what is wrong.
//!
//! The story is what `parse-docs` and `fix-docs` would say of it in a run: an edit that was
//! not made is a suggestion, and what they would drop or hold is no success here.

use serde::Serialize;
use serde_json::Value;

use super::input::Docs;
use crate::docs::fix::{self, Edit, Fixed, Safety};
use crate::docs::parse::{self, Parsed, fault};
use crate::docs::patch::PatchOp;
use crate::stages::fix_docs::BLOCKING;

/// What became of one doc list; as JSON in this order.
#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    /// The id it came with, or where it stands.
    pub(super) id: Value,
    /// The functions after all edits that were made; nothing where the text cannot be read.
    #[serde(rename = "function")]
    pub(super) functions: Option<Vec<Value>>,
    /// How it was read.
    pub(super) steps: Vec<&'static str>,
    /// What was changed, then what could be.
    pub(super) edits: Vec<Told>,
    /// What is wrong with the text, then with the functions.
    pub(super) faults: Vec<Wrong>,
}

/// One edit.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    pub(super) reason: &'static str,
    pub(super) safety: Safety,
    #[serde(rename = "applied")]
    pub(super) is_applied: bool,
    pub(super) patch: Vec<PatchOp>,
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
pub(super) struct Wrong {
    pub(super) reason: &'static str,
    /// A byte of the text, a pointer into the functions, or nothing.
    pub(super) at: Value,
    pub(super) message: String,
    /// Whether a run would drop or hold the list for it.
    #[serde(skip)]
    pub(super) is_blocking: bool,
}

impl Outcome {
    /// Reads and fixes one doc list.
    pub(super) fn of(docs: Docs<'_>, allow: Safety) -> Self {
        match docs.text {
            Ok(text) => match parse::parse(&text) {
                Ok(parsed) => Self::read(docs.id, parsed, allow),
                Err(fault) => Self::unread(docs.id, wrong_text(fault)),
            },
            Err(fault) => Self::unread(
                docs.id,
                Wrong { reason: fault.reason, at: Value::Null, message: fault.detail, is_blocking: true },
            ),
        }
    }

    fn read(id: Value, parsed: Parsed, allow: Safety) -> Self {
        let Fixed { functions, edits, proposals, findings, .. } = fix::fix(&parsed.functions, allow);
        let made = edits.into_iter().map(|edit| told(edit, true));
        let findings = findings.into_iter().map(|finding| Wrong {
            reason: finding.rule.code,
            at: finding.at.into(),
            message: finding.message,
            is_blocking: BLOCKING.contains(&finding.rule.code),
        });
        Self {
            id,
            functions: Some(functions),
            steps: parsed.steps.iter().map(|step| step.code()).collect(),
            edits: made.chain(proposals.into_iter().map(|edit| told(edit, false))).collect(),
            faults: parsed.faults.into_iter().map(wrong_text).chain(findings).collect(),
        }
    }

    fn unread(id: Value, fault: Wrong) -> Self {
        Self { id, functions: None, steps: Vec::new(), edits: Vec::new(), faults: vec![fault] }
    }

    /// Whether a run would neither drop nor hold it.
    pub(super) fn is_good(&self) -> bool {
        let is_left_open = |edit: &Told| !edit.is_applied;
        self.functions.is_some()
            && !self.faults.iter().any(|fault| fault.is_blocking)
            && !self.edits.iter().any(is_left_open)
    }

    /// Whether anything was changed.
    pub(super) fn is_changed(&self) -> bool {
        self.edits.iter().any(|edit| edit.is_applied)
    }
}

/// An edit; one that was not made is a suggestion, whatever it could be.
fn told(edit: Edit, is_applied: bool) -> Told {
    let safety = if is_applied { edit.rule.safety } else { Safety::Suggest };
    Told { reason: edit.rule.code, safety, patch: edit.patch, is_applied }
}

fn wrong_text(fault: fault::Fault) -> Wrong {
    Wrong { reason: fault.kind.code(), at: fault.at.into(), message: fault.message, is_blocking: true }
}
