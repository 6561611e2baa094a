//! Long calls: on a thread of their own and without the GIL, with progress, Ctrl-C and a check for forks.
//!
//! The calling thread waits. It passes progress on to Python and asks for signals several times a second, so a callable
//! for progress always runs on the thread that made the call. A panic of the work is an exception.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use callsieve::run::Observer;
use pyo3::prelude::*;

use crate::failure::Failure;

/// How often signals are looked for, and progress is passed on.
const TICK: Duration = Duration::from_millis(50);

/// The stack of a worker: at least that of a main thread, as in the command.
const STACK_BYTES: usize = 16 << 20;

/// The process that used threads first; 0 before.
static THREADS_OF: AtomicU32 = AtomicU32::new(0);

/// Refuses to work in a forked process: it has no threads of the pool of its parent, and would wait for them without end.
fn check_process() -> Result<(), Failure> {
    let this = std::process::id();
    match THREADS_OF.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(other) if other != this => Err(Failure::new(
            "this process was forked from one that had used callsieve, and its threads do not exist here\nhint: use spawn: \
             multiprocessing.set_start_method(\"spawn\"), or make the first call in the forked processes",
        )),
        _ => Ok(()),
    }
}

/// What a worker reports.
enum Event {
    Begin { step: String, rows: Option<u64> },
    End(String),
    Wait(String),
    Warn(String),
    Finished,
}

/// Follows the work on behalf of the thread that waits.
pub(crate) struct Watch {
    is_cancelled: AtomicBool,
    events: Sender<Event>,
    rows: AtomicU64,
    bytes: AtomicU64,
    of_bytes: AtomicU64,
    answers: AtomicU64,
    of_answers: AtomicU64,
}

impl Watch {
    fn new() -> (Self, Receiver<Event>) {
        let (events, received) = channel();
        let zero = || AtomicU64::new(0);
        let is_cancelled = AtomicBool::new(false);
        let watch = Self {
            is_cancelled,
            events,
            rows: zero(),
            bytes: zero(),
            of_bytes: zero(),
            answers: zero(),
            of_answers: zero(),
        };
        (watch, received)
    }

    /// Whether the caller asked to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn send(&self, event: Event) {
        // Nobody listens after an exception; the work then ends soon.
        let _ = self.events.send(event);
    }
}

impl Observer for Watch {
    fn begin(&self, step: &str, rows: Option<u64>) {
        for counter in [&self.rows, &self.bytes, &self.of_bytes, &self.answers, &self.of_answers] {
            counter.store(0, Ordering::Relaxed);
        }
        self.send(Event::Begin { step: step.to_owned(), rows });
    }

    fn advance(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }

    fn read(&self, bytes: u64, total: u64) {
        self.bytes.fetch_max(bytes, Ordering::Relaxed);
        self.of_bytes.store(total, Ordering::Relaxed);
    }

    fn answers(&self, n: u64, of: u64) {
        self.answers.store(n, Ordering::Relaxed);
        self.of_answers.store(of, Ordering::Relaxed);
    }

    fn wait(&self, what: &str) {
        self.send(Event::Wait(what.to_owned()));
    }

    fn end(&self, outcome: &str) {
        self.send(Event::End(outcome.to_owned()));
    }

    fn warn(&self, message: &str) {
        self.send(Event::Warn(message.to_owned()));
    }

    fn is_cancelled(&self) -> bool {
        self.is_stopped()
    }
}

/// Whether work ends soon after it was asked to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stops {
    /// It asks [`Watch::is_stopped`]: an exception is raised when it has ended.
    Soon,
    /// It does not ask, and writes nothing: an exception is raised at once, and the result is thrown away.
    Unheard,
}

/// Does some work without the GIL and returns its result. `progress` is called with each event.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    stops: Stops,
    what: impl FnOnce(&Watch) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    check_process().map_err(|failure| failure.exception(py))?;
    let (watch, events) = Watch::new();
    let watch = Arc::new(watch);
    let of_worker = Arc::clone(&watch);
    let worker =
        thread::Builder::new().name("callsieve".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            let result = catch_unwind(AssertUnwindSafe(|| what(&of_worker)));
            of_worker.send(Event::Finished);
            result
        })?;
    let waited = wait(py, progress, &watch, events);
    if let Err(exception) = waited {
        watch.is_cancelled.store(true, Ordering::Relaxed);
        if stops == Stops::Soon {
            py.detach(|| worker.join().is_ok());
        }
        return Err(exception);
    }
    let result = py.detach(|| worker.join()).and_then(|result| result);
    let result = result.unwrap_or_else(|panic| Err(Failure::of_panic(&*panic)));
    result.map_err(|failure| failure.exception(py))
}

/// Waits for the end of the work.
fn wait(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    watch: &Watch,
    mut events: Receiver<Event>,
) -> PyResult<()> {
    let call = |kind: &str, step: &str, done: Option<u64>, total: Option<u64>, text: &str| {
        progress.map_or(Ok(()), |progress| progress.call1((kind, step, done, total, text)).map(drop))
    };
    let mut step = String::new();
    let mut total = None;
    let mut reported = (0, 0, 0);
    let mut ticked = Instant::now();
    loop {
        let received;
        (events, received) = py.detach(move || {
            let received = events.recv_timeout(TICK.saturating_sub(ticked.elapsed()));
            (events, received)
        });
        match received {
            Ok(Event::Begin { step: name, rows }) => {
                (step, total, reported) = (name, rows, (0, 0, 0));
                call("begin", &step, Some(0), total, "")?;
            }
            Ok(Event::End(outcome)) => call("end", &step, None, total, &outcome)?,
            Ok(Event::Wait(text)) => call("wait", &step, None, None, &text)?,
            Ok(Event::Warn(text)) => call("warning", &step, None, None, &text)?,
            Ok(Event::Finished) | Err(RecvTimeoutError::Disconnected) => return py.check_signals(),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if ticked.elapsed() < TICK {
            continue;
        }
        ticked = Instant::now();
        py.check_signals()?;
        let now = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counts = (now(&watch.rows), now(&watch.bytes), now(&watch.answers));
        if counts.0 != reported.0 {
            call("rows", &step, Some(counts.0), total, "")?;
        }
        if counts.1 != reported.1 {
            call("bytes", &step, Some(counts.1), Some(now(&watch.of_bytes)), "")?;
        }
        if counts.2 != reported.2 {
            call("answers", &step, Some(counts.2), Some(now(&watch.of_answers)), "")?;
        }
        reported = counts;
    }
}
