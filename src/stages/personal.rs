//! Finds personal values in the decisions of people, with the redaction settings of the pipeline.
//!
//! Answers and edits are applied after `redact` and `redact_docs` have run, so no stage would replace a value in them.
//! They cannot be given the matching placeholder either, because the raw values no longer exist after redaction. A
//! decision with a personal value is therefore refused (`decisions`), and the person writes the placeholder that the
//! run shows. Values that only the run reveals as personal, such as a password without a label or a
//! name that a recogniser marks, are not found.

use serde::Deserialize as _;
use serde_json::Value;

use super::Settings as _;
use super::redact::Redact;
use super::redact_docs::RedactDocs;
use crate::engine::decision::{Decision, DecisionKind};
use crate::engine::error::Result;
use crate::engine::instance::StageInstance;
use crate::privacy::Scanner;
use crate::privacy::apply::places;

/// The scanners for personal values in the tables that a pipeline redacts.
pub(crate) struct PersonalValues {
    in_requests: Option<Scanner>,
    in_docs: Option<Scanner>,
}

impl PersonalValues {
    /// Builds the scanners from the settings of the redaction stages; a table without one is not searched.
    ///
    /// # Errors
    /// If a list of names cannot be read.
    pub(crate) fn of(stages: &[StageInstance]) -> Result<Self> {
        let scanner = |kind: &str| {
            let stage = stages.iter().find(|stage| stage.kind == kind);
            // The settings of `redact-docs` are those of `redact`.
            let redact = stage.and_then(|stage| Redact::deserialize(&stage.settings).ok());
            redact.map(|redact| redact.scanner()).transpose()
        };
        Ok(Self { in_requests: scanner(Redact::NAME)?, in_docs: scanner(RedactDocs::NAME)? })
    }

    /// Returns kind and place of each personal value in a decision that would get into the dataset.
    pub(crate) fn of_decision(&self, decision: &Decision) -> Vec<(&'static str, String)> {
        let (scanner, body) = match decision.kind {
            DecisionKind::Answer => (&self.in_requests, &decision.body),
            DecisionKind::Edit => (&self.in_docs, &decision.body),
            DecisionKind::Keep | DecisionKind::Drop | DecisionKind::Relabel => (&None, &Value::Null),
        };
        let found = scanner.as_ref().map_or_else(Vec::new, |scanner| places(scanner, body));
        found.into_iter().map(|(kind, place)| (kind.name(), place)).collect()
    }
}
