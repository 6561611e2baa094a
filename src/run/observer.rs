//! Follows a run: its progress, its warnings, and whether to stop it.

use crate::engine::context::{Cancel, Progress};

/// Follows a run and may stop it. Each method does nothing unless it is written, so `&()` follows nothing.
///
/// The methods are called from several threads.
pub trait Observer: Send + Sync {
    /// A step begins: `ingest`, the id of a stage, `export`, `ledger`. `rows` is its number of rows, if known.
    fn begin(&self, _step: &str, _rows: Option<u64>) {}

    /// The step has processed this many more rows.
    fn advance(&self, _rows: u64) {}

    /// `ingest` has read this many bytes of the inputs, of this many in total; both as stored.
    fn read(&self, _bytes: u64, _total: u64) {}

    /// So many requests of the step to a language model have an outcome, of those that are sent together.
    fn answers(&self, _n: u64, _of: u64) {}

    /// The step waits for something outside of this process; one line on what it is.
    fn wait(&self, _what: &str) {}

    /// The step is over; `outcome` is one line on what it did.
    fn end(&self, _outcome: &str) {}

    /// A warning. The same may be reported more than once.
    fn warn(&self, _message: &str) {}

    /// Whether to stop the run. Called every few milliseconds; once `true`, it must stay `true`.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// An [`Observer`] as the engine's [`Progress`] and [`Cancel`].
pub(super) struct Watched<'o>(pub(super) &'o dyn Observer);

impl Progress for Watched<'_> {
    fn begin(&self, step: &str, total: Option<u64>) {
        self.0.begin(step, total);
    }

    fn advance(&self, rows: u64) {
        self.0.advance(rows);
    }

    fn read(&self, bytes: u64, total: u64) {
        self.0.read(bytes, total);
    }

    fn answers(&self, n: u64, of: u64) {
        self.0.answers(n, of);
    }

    fn wait(&self, what: &str) {
        self.0.wait(what);
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
