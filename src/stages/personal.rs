//! Finds personal values in what people decide, as the redaction of their own pipeline would.
//!
//! Answers become part of requests and edits part of doc lists after `redact` and `redact_docs` have run, so nothing would
//! replace a value in them. Their numbers are no help: the raw values that have them are nowhere after redaction. So a
//! decision with such a value is refused (`decisions`), and the person writes it as the run shows it. Not found is what
//! only the run shows to be personal, such as a password without the word for it.

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

/// What finds personal values where a pipeline replaces them.
pub(crate) struct PersonalValues {
    in_requests: Option<Scanner>,
    in_docs: Option<Scanner>,
}

impl PersonalValues {
    /// By the settings of the stages that redact; nothing is looked for where there are none.
    ///
    /// # Errors
    /// A list of names cannot be read.
    pub(crate) fn of(stages: &[StageInstance]) -> Result<Self> {
        let scanner = |kind: &str| {
            let stage = stages.iter().find(|stage| stage.kind == kind);
            // The settings of `redact-docs` are those of `redact`.
            let redact = stage.and_then(|stage| Redact::deserialize(&stage.settings).ok());
            redact.map(|redact| redact.scanner()).transpose()
        };
        Ok(Self { in_requests: scanner(Redact::NAME)?, in_docs: scanner(RedactDocs::NAME)? })
    }

    /// The personal values of a decision that would get into the dataset: kind and place of each.
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
