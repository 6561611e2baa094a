//! Writes the result of a step to disk while the next step runs.
//!
//! One thread runs the jobs in the order in which they were pushed, so the steps on disk are always the first ones of
//! the run, whenever it is interrupted. Written cells also stay in memory up to a limit, and are then not read back.
//! The first error ends all writing, and the next call returns it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::error::{Error, Result};

/// The number of jobs that may wait; each may hold a batch of cells.
const WAITING: usize = 1;

type Job = Box<dyn FnOnce() -> Result<()> + Send>;

/// A handle to the thread that writes.
#[derive(Debug, Clone)]
pub struct BackgroundWriter(Arc<WriterThread>);

#[derive(Debug)]
struct WriterThread {
    /// `None` once no more jobs will come.
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<Mutex<State>>,
    /// Remaining bytes of memory for cells that need not be read back.
    room: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    has_failed: bool,
    /// The first error, until it is returned.
    error: Option<Error>,
}

impl BackgroundWriter {
    /// Starts the thread; up to `room` bytes of written cells may stay in memory.
    pub fn new(room: usize) -> Self {
        let (jobs, waiting) = sync_channel(WAITING);
        let state = Arc::new(Mutex::new(State::default()));
        let of_thread = Arc::clone(&state);
        let thread = std::thread::spawn(move || work(waiting, &of_thread));
        Self(Arc::new(WriterThread {
            jobs: Some(jobs),
            thread: Some(thread),
            state,
            room: AtomicUsize::new(room),
        }))
    }

    /// Adds a job; blocks while too many jobs are waiting.
    ///
    /// # Errors
    /// An earlier job failed.
    pub fn push(&self, job: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        self.0.failure()?;
        // The thread ends only when this handle does.
        let jobs = self.0.jobs.as_ref();
        jobs.and_then(|jobs| jobs.send(Box::new(job)).ok()).ok_or(Error::Interrupted)
    }

    /// Waits until all jobs are done.
    ///
    /// # Errors
    /// A job failed.
    pub fn wait(&self) -> Result<()> {
        let (done, is_done) = sync_channel(1);
        // The receiver waits for it.
        self.push(move || done.send(()).map_err(|_| Error::Interrupted))?;
        // Nothing arrives if an earlier job failed.
        let _ = is_done.recv();
        self.0.failure()
    }

    /// Reserves memory; `false` if too little remains.
    pub(super) fn takes(&self, bytes: usize) -> bool {
        let left = |room: usize| room.checked_sub(bytes);
        self.0.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }
}

impl Default for BackgroundWriter {
    /// Returns a writer that keeps nothing in memory.
    fn default() -> Self {
        Self::new(0)
    }
}

impl WriterThread {
    fn failure(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.error.take() {
            Some(error) => Err(error),
            None if state.has_failed => Err(Error::Interrupted),
            None => Ok(()),
        }
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A job that panics does not end it.
            let _ = thread.join();
        }
    }
}

#[allow(clippy::needless_pass_by_value)] // Dropping the receiver signals the end of the thread.
fn work(jobs: Receiver<Job>, state: &Mutex<State>) {
    for job in jobs {
        let has_failed = state.lock().unwrap_or_else(PoisonError::into_inner).has_failed;
        if has_failed {
            continue;
        }
        let done = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| Err(panicked(&*panic)));
        if let Err(error) = done {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            *state = State { has_failed: true, error: Some(error) };
        }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    Error::Panic(text.unwrap_or_else(|| "it gave no message".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_in_order_and_all_before_the_wait_ends() {
        let done = Arc::new(Mutex::new(Vec::new()));
        let background_writer = BackgroundWriter::default();
        for job in 0..100 {
            let done = Arc::clone(&done);
            let write = move || {
                done.lock().unwrap().push(job);
                Ok(())
            };
            background_writer.push(write).unwrap();
        }
        background_writer.wait().unwrap();
        assert_eq!(*done.lock().unwrap(), (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn nothing_is_written_after_an_error_which_is_returned_once() {
        let written = Arc::new(AtomicUsize::new(0));
        let background_writer = BackgroundWriter::default();
        background_writer.push(|| Err(Error::Setting("the disk is full".to_owned()))).unwrap();
        let after = Arc::clone(&written);
        // Returned here or by the wait, whichever comes first after the job.
        let pushed = background_writer.push(move || {
            after.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let error = pushed.and_then(|()| background_writer.wait()).unwrap_err();
        assert_eq!(error.to_string(), "the disk is full");
        assert!(matches!(background_writer.wait(), Err(Error::Interrupted)));
        assert_eq!(written.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_panic_is_an_error_and_the_thread_goes_on() {
        let background_writer = BackgroundWriter::default();
        background_writer.push(|| panic!("no frame {}", 7)).unwrap();
        let error = background_writer.wait().unwrap_err();
        assert_eq!(error.to_string(), "writing the run folder panicked: no frame 7");
        assert!(error.is_bug() && background_writer.wait().is_err());
    }

    #[test]
    fn memory_is_reserved_until_none_remains() {
        let background_writer = BackgroundWriter::new(10);
        assert!(
            background_writer.takes(6)
                && !background_writer.takes(5)
                && background_writer.takes(4)
                && !background_writer.takes(1)
        );
    }
}
