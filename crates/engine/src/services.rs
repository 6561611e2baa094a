//! What a stage may use besides its rows and what differs from run to run. The caller of the run provides it.
//!
//! Each service has its own field with a default that does nothing. So a test sets only the one it fakes, and a new
//! service does not change stages that do not use it.

use std::sync::Arc;

use super::decision::Decisions;
use super::language_model::LanguageModel;

/// The services of a run. Cheap to clone.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Services {
    /// The decisions of people. The runner finds their rows; a stage reads those of a row with
    /// [`Row::decision`](super::view::Row::decision).
    pub decisions: Arc<Decisions>,
    /// The language model that stages ask, if a stage of the pipeline does.
    pub language_model: Option<Arc<dyn LanguageModel>>,
}

impl Services {
    /// Replaces the decisions.
    #[must_use]
    pub fn with_decisions(self, decisions: impl Into<Arc<Decisions>>) -> Self {
        Self { decisions: decisions.into(), ..self }
    }

    /// Replaces the language model.
    #[must_use]
    pub fn with_language_model(self, model: Option<Arc<dyn LanguageModel>>) -> Self {
        Self { language_model: model, ..self }
    }
}
