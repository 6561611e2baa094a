//! Who follows a run: its progress, its warnings, and whether it is to stop.

use crate::engine::context::{Cancel, Progress};

/// Follows a run and may stop it. Each method does nothing unless it is written, so `&()` follows nothing.
///
/// The methods are called from several threads.
pub trait Observer: Send + Sync {
    /// A step begins: `ingest`, the id of a stage, `export`, `ledger`. `rows` is how many it has, where that is known.
    fn begin(&self, _step: &str, _rows: Option<u64>) {}

    /// So many more rows of the step are done.
    fn advance(&self, _rows: u64) {}

    /// The step is over; `outcome` is one line on what it did.
    fn end(&self, _outcome: &str) {}

    /// Something a person should know. The same may be reported more than once.
    fn warn(&self, _message: &str) {}

    /// Whether to stop. It is called again and again, every few milliseconds; once it is `true` it must stay so.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// An observer as the engine knows it.
pub(super) struct Watched<'o>(pub(super) &'o dyn Observer);

impl Progress for Watched<'_> {
    fn begin(&self, step: &str, total: Option<u64>) {
        self.0.begin(step, total);
    }

    fn advance(&self, rows: u64) {
        self.0.advance(rows);
    }

    fn end(&self, outcome: &str) {
        self.0.end(outcome);
    }

    fn warn(&self, message: &str) {
        self.0.warn(message);
    }
}

impl Cancel for Watched<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}
