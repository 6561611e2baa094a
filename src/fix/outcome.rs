//! One doc list and its story: what it is now, what was changed, what is wrong.
//!
//! The outcome is what `parse-docs` and `fix-docs` would record in a run: an edit that was
//! not made is a suggestion, and what they would drop or hold is no success here. Where the
//! functions are converted for an API, what the API refuses is no success either.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::FixOptions;
use super::input::Docs;
use crate::docs::convert::{self, Api, Change, Converted};
use crate::docs::fix::{self, Edit, Fixed, Safety};
use crate::docs::parse::{Parsed, fault};
use crate::docs::patch::PatchOp;
use crate::stages::fix_docs::BLOCKING;

/// A file among others cannot be read.
pub(super) const UNREADABLE_FILE: &str = "fix/unreadable-file";

/// What became of one doc list; as JSON in this order.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Its own id, or its place.
    pub id: Value,
    /// The file it was read from, where there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How many functions were read; nothing where the text cannot be read.
    #[serde(skip)]
    pub n_functions: Option<usize>,
    /// The functions after all edits that were made; nothing where the text cannot be read.
    #[serde(flatten)]
    pub definitions: Definitions,
    /// How it was read.
    pub steps: Vec<&'static str>,
    /// What was changed, then what could be.
    pub edits: Vec<EditOutcome>,
    /// What the API cannot express; nothing where there is no API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversions: Option<Vec<Change>>,
    /// What is wrong with the text, then with the functions.
    pub faults: Vec<DocsFault>,
}

/// Functions, under the key of their form.
#[derive(Debug, Serialize)]
pub enum Definitions {
    /// BFCL functions.
    #[serde(rename = "function")]
    Bfcl(Option<Vec<Value>>),
    /// Tools of an API.
    #[serde(rename = "tools")]
    Tools(Option<Vec<Value>>),
}

/// One edit.
#[derive(Debug, Serialize)]
pub struct EditOutcome {
    /// The code of its reason.
    pub reason: &'static str,
    /// Whether it keeps the meaning; that of an edit that was not made is a suggestion.
    pub safety: Safety,
    /// It was made.
    #[serde(rename = "applied")]
    pub is_applied: bool,
    /// RFC 6902, with a test of the old value before each change.
    pub patch: Vec<PatchOp>,
}

/// One thing that is wrong.
#[derive(Debug, Serialize)]
pub struct DocsFault {
    /// The code of its reason.
    pub reason: &'static str,
    /// A byte of the text, a pointer into the functions, or nothing.
    pub at: Value,
    /// What was found and expected.
    pub message: String,
    /// Whether a run would drop or hold the list for it, or the API refuses it.
    #[serde(skip)]
    pub is_blocking: bool,
}

impl Outcome {
    /// Reads and fixes one doc list of a file.
    pub(super) fn of(
        docs: Docs<'_>,
        file: Option<String>,
        read: fn(&str) -> Result<Parsed, fault::ParseFault>,
        options: &FixOptions,
    ) -> Self {
        let outcome = match docs.text {
            Ok(text) => match read(&text) {
                Ok(parsed) => Self::read(docs.id, parsed, options),
                Err(fault) => Self::unread(docs.id, wrong_text(fault), options.api),
            },
            Err(fault) => {
                Self::unread(docs.id, blocking(fault.reason, Value::Null, fault.detail), options.api)
            }
        };
        Self { file, ..outcome }
    }

    /// A file that cannot be read, or not to its end.
    pub(super) fn unreadable(file: &str, problem: String, api: Option<Api>) -> Self {
        let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
        let fault = blocking(UNREADABLE_FILE, Value::Null, problem);
        Self { file: Some(file.to_owned()), ..Self::unread(name.into(), fault, api) }
    }

    fn read(id: Value, parsed: Parsed, options: &FixOptions) -> Self {
        let Fixed { functions, edits, proposals, findings, .. } = fix::fix(&parsed.functions, options.allow);
        let made = edits.into_iter().map(|edit| outcome(edit, true));
        let findings = findings.into_iter().map(|finding| DocsFault {
            reason: finding.rule.code,
            at: finding.at.into(),
            message: finding.message,
            is_blocking: BLOCKING.contains(&finding.rule.code),
        });
        let outcome = Self {
            id,
            file: None,
            n_functions: Some(functions.len()),
            definitions: Definitions::Bfcl(None),
            steps: parsed.steps.iter().map(|step| step.code()).collect(),
            edits: made.chain(proposals.into_iter().map(|edit| outcome(edit, false))).collect(),
            conversions: None,
            faults: parsed.faults.into_iter().map(wrong_text).chain(findings).collect(),
        };
        outcome.with(functions, options.api)
    }

    /// The outcome with its functions in the form that is asked for.
    fn with(mut self, functions: Vec<Value>, api: Option<Api>) -> Self {
        let Some(api) = api else { return Self { definitions: Definitions::Bfcl(Some(functions)), ..self } };
        let Converted { tools, changes, faults } = convert::convert(&functions, api);
        self.definitions = Definitions::Tools(Some(tools));
        self.conversions = Some(changes);
        self.faults
            .extend(faults.into_iter().map(|fault| blocking(fault.reason, fault.at.into(), fault.message)));
        self
    }

    fn unread(id: Value, fault: DocsFault, api: Option<Api>) -> Self {
        Self {
            id,
            file: None,
            n_functions: None,
            definitions: if api.is_some() { Definitions::Tools(None) } else { Definitions::Bfcl(None) },
            steps: Vec::new(),
            edits: Vec::new(),
            conversions: api.map(|_| Vec::new()),
            faults: vec![fault],
        }
    }

    /// Whether a run would neither drop nor hold it, and the API would take it.
    pub fn is_good(&self) -> bool {
        let is_left_open = |edit: &EditOutcome| !edit.is_applied;
        self.n_functions.is_some()
            && !self.faults.iter().any(|fault| fault.is_blocking)
            && !self.edits.iter().any(is_left_open)
    }

    /// Whether anything was changed.
    pub fn is_changed(&self) -> bool {
        self.edits.iter().any(|edit| edit.is_applied)
    }
}

/// An edit; one that was not made is a suggestion, whatever it could be.
fn outcome(edit: Edit, is_applied: bool) -> EditOutcome {
    let safety = if is_applied { edit.rule.safety } else { Safety::Suggest };
    EditOutcome { reason: edit.rule.code, safety, patch: edit.patch, is_applied }
}

fn wrong_text(fault: fault::ParseFault) -> DocsFault {
    blocking(fault.kind.code(), fault.at.into(), fault.message)
}

fn blocking(reason: &'static str, at: Value, message: String) -> DocsFault {
    DocsFault { reason, at, message, is_blocking: true }
}
