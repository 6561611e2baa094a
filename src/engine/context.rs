//! What a stage may use besides its rows: the seed, progress, and whether the user asked to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use super::services::Services;

/// Where progress goes; only `console` draws it.
pub trait Progress: Send + Sync {
    /// A step begins; `total` is in rows where it is known.
    fn begin(&self, step: &str, total: Option<u64>);
    /// So many more rows are done.
    fn advance(&self, rows: u64);
    /// The step is over; one line says how it went.
    fn end(&self, outcome: &str);
    /// Something a person should know.
    fn warn(&self, message: &str);
}

/// Draws nothing.
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _step: &str, _total: Option<u64>) {}
    fn advance(&self, _rows: u64) {}
    fn end(&self, _outcome: &str) {}
    fn warn(&self, _message: &str) {}
}

/// Says whether the user asked to stop: no more work is wanted from then on.
///
/// Whatever takes its time asks again and again, from any thread, at least once every few milliseconds.
pub trait Cancel: Sync {
    /// The user asked to stop; once it holds, it holds for good.
    fn is_cancelled(&self) -> bool;
}

impl Cancel for AtomicBool {
    fn is_cancelled(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}

/// Asked again and again by what takes its time and knows no run; `true` stops it, and then stays `true`.
pub type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

/// What a stage may use besides its rows.
pub struct Context<'a> {
    /// The run's seed.
    pub seed: u64,
    /// Says whether the user asked to stop.
    pub cancel: &'a dyn Cancel,
    /// Where progress goes.
    pub progress: &'a dyn Progress,
    /// What else stages may use.
    pub services: Services,
}

impl<'a> Context<'a> {
    /// A context without services.
    pub fn new(seed: u64, cancel: &'a dyn Cancel, progress: &'a dyn Progress) -> Self {
        Self { seed, cancel, progress, services: Services::default() }
    }

    /// The same with these services.
    #[must_use]
    pub fn with_services(self, services: Services) -> Self {
        Self { services, ..self }
    }

    /// The user asked to stop.
    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
