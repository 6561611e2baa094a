//! What a stage may use besides its rows: the seed, progress and cancellation.

use std::sync::atomic::{AtomicBool, Ordering};

use super::services::Services;

/// Receives progress; only `console` draws it.
pub trait Progress: Send + Sync {
    /// Begins a step; `total` is its number of rows, if known.
    fn begin(&self, step: &str, total: Option<u64>);
    /// Adds to the number of rows that are done.
    fn advance(&self, rows: u64);
    /// Reports the number of bytes of the inputs that are read, of all bytes.
    fn read(&self, _bytes: u64, _total: u64) {}
    /// Reports how many requests to a language model have an outcome, of those that are sent together.
    fn answers(&self, _n: u64, _of: u64) {}
    /// Shows what the step waits for, in one line.
    fn wait(&self, _what: &str) {}
    /// Ends the step; `outcome` is one line about its result.
    fn end(&self, outcome: &str);
    /// Shows a warning.
    fn warn(&self, message: &str);
}

/// Ignores all progress.
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _step: &str, _total: Option<u64>) {}
    fn advance(&self, _rows: u64) {}
    fn end(&self, _outcome: &str) {}
    fn warn(&self, _message: &str) {}
}

/// Reports whether the user asked to stop.
///
/// Long-running work checks it from any thread, at least once every few milliseconds.
pub trait Cancel: Sync {
    /// Returns `true` if the user asked to stop. Once `true`, it stays `true`.
    fn is_cancelled(&self) -> bool;
}

impl Cancel for AtomicBool {
    fn is_cancelled(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

pub use callsieve_system::Cancelled;

/// What a stage may use besides its rows.
pub struct Context<'a> {
    /// The run's seed.
    pub seed: u64,
    /// Reports whether the user asked to stop.
    pub cancel: &'a dyn Cancel,
    /// Receives progress.
    pub progress: &'a dyn Progress,
    /// The services of the run.
    pub services: Services,
}

impl<'a> Context<'a> {
    /// Returns a context without services.
    pub fn new(seed: u64, cancel: &'a dyn Cancel, progress: &'a dyn Progress) -> Self {
        Self { seed, cancel, progress, services: Services::default() }
    }

    /// Replaces the services.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        Self { services, ..self }
    }

    /// Returns `true` if the user asked to stop.
    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
