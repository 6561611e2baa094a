//! What a stage may use besides its rows and what differs from run to run. The caller of the run provides it.
//!
//! Each service has its own field with a default that does nothing. So a test sets only the one it fakes, and a new
//! service does not change stages that do not use it.

use std::sync::Arc;

use super::decision::Decisions;

/// The services of a run. Cheap to clone.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Services {
    /// The decisions of people. The runner finds their rows; a stage reads those of a row with
    /// [`Row::decision`](super::view::Row::decision).
    pub decisions: Arc<Decisions>,
}

impl Services {
    /// Replaces the decisions.
    #[must_use]
    pub fn with_decisions(self, decisions: impl Into<Arc<Decisions>>) -> Self {
        Self { decisions: decisions.into(), ..self }
    }
}
