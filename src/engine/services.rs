//! What a stage may use besides its rows, and what differs from run to run: given by whoever starts the run.
//!
//! Each service has its own field with a default that does nothing, so a test names only the one it fakes, and a stage
//! that needs none does not change when another is added.

use std::sync::Arc;

use super::decision::Decisions;

/// The services of a run. Cheap to clone.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Services {
    /// What people decided; the runner finds the rows, stages ask theirs ([`Row::decision`](super::view::Row::decision)).
    pub decisions: Arc<Decisions>,
}

impl Services {
    /// The same services with these decisions.
    #[must_use]
    pub fn with_decisions(self, decisions: impl Into<Arc<Decisions>>) -> Self {
        Self { decisions: decisions.into(), ..self }
    }
}
