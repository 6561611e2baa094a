//! Serves the page on this machine, to the person who started it only.
//!
//! [`Server::start`] listens on a random port of 127.0.0.1, on a thread of its own. Every request needs the token of the address that it
//! returns, see `guard`. A decision is answered when it is on disk; the page shows the next row only then. `review` has the logic,
//! `api` its requests, `view` an item as the page shows it. The server makes no request itself.

mod api;
mod guard;
pub mod memory;
mod page;
mod review;
mod source;
mod view;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::watch;

pub use source::{Checked, Checker, Edit, Head, Note, Source, SourceError};

use self::guard::Guard;
use self::review::Review;
use crate::store::Store;

/// Longest wait for connections to end, and then for decisions to be written.
const STOP_WAIT: Duration = Duration::from_secs(2);
const WRITE_WAIT: Duration = Duration::from_secs(30);

/// What a server needs.
pub struct Config {
    /// The rows.
    pub source: Arc<dyn Source>,
    /// The validator of edits.
    pub checker: Arc<dyn Checker>,
    /// The decisions of the reviewer.
    pub store: Store,
    /// Returns the time that is written to decisions.
    pub clock: Box<dyn Fn() -> String + Send + Sync>,
}

/// Why a server cannot start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The system refuses.
    #[error("review server: {0}")]
    Io(#[from] io::Error),
    /// The system has no random numbers.
    #[error("review server: no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// The rows cannot be read.
    #[error("review server: {0}")]
    Source(SourceError),
    /// Two rows have the same id.
    #[error("internal error (please report it): two rows to review have the id {0}")]
    DuplicateId(String),
}

/// A running server.
pub struct Server {
    address: SocketAddr,
    url: String,
    stopper: Stopper,
    thread: JoinHandle<()>,
}

/// Stops a server, from any thread.
#[derive(Clone)]
pub struct Stopper(Arc<watch::Sender<bool>>);

impl Stopper {
    /// Asks the server to stop: it takes no more connections and finishes the requests that it has.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Starts a server.
    ///
    /// # Errors
    /// The rows cannot be read, or the system refuses a port, a thread or random numbers.
    pub fn start(config: Config) -> Result<Self, ServerError> {
        let review = Arc::new(Review::new(config)?);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let guard = Guard::new(address.port())?;
        let url = format!("http://127.0.0.1:{}/?token={}", address.port(), guard.token());
        let (sender, stopped) = watch::channel(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("review".to_owned()).spawn(move || {
            runtime.block_on(serve(listener, review, guard, stopped));
            // A decision may still be on its way to the disk.
            runtime.shutdown_timeout(WRITE_WAIT);
        })?;
        Ok(Self { address, url, stopper: Stopper(Arc::new(sender)), thread })
    }

    /// Returns the address with the token: what a person opens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the address and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns what stops the server.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Waits until the server has stopped; the decisions are then closed.
    pub fn wait(self) {
        // A panic on the thread was already reported there.
        let _ = self.thread.join();
    }
}

async fn serve(listener: TcpListener, review: Arc<Review>, guard: Guard, stopped: watch::Receiver<bool>) {
    // Made from a listener that is open, so it only fails without a runtime.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let wait = |mut stopped: watch::Receiver<bool>| async move {
        // An error means that nobody can stop the server any more, so it stops.
        let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
    };
    let app = api::router(review, guard);
    let serving = axum::serve(listener, app).with_graceful_shutdown(wait(stopped.clone()));
    let mut serving = tokio::spawn(async move { serving.await });
    wait(stopped).await;
    // A browser may keep connections open for long.
    if tokio::time::timeout(STOP_WAIT, &mut serving).await.is_err() {
        serving.abort();
    }
}

#[cfg(test)]
mod tests;
