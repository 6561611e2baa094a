//! The only door to the network: servers that speak OpenAI's protocol, and files to download.
//!
//! Asynchronous inside and blocking outside: the room owns its runtime, and whoever calls it
//! waits and can be told to stop. Every request goes through one `sender`, which waits, tries
//! again and keeps keys out of what it says. Types of `async-openai` do not leave the room.

pub mod client;
pub mod download;
pub mod embeddings;
pub mod key;
mod retry;
mod sender;
#[cfg(test)]
pub(crate) mod server;

/// Why a server did not give what was asked of it. No text holds a key.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address or a key is none.
    #[error("{0}")]
    Setting(String),
    /// No whole answer came.
    #[error("{url}: {what}")]
    Unreachable {
        /// What was asked, without parameters.
        url: String,
        /// What went wrong.
        what: String,
    },
    /// The server refused.
    #[error("{url} answered {status}: {message}")]
    Refused {
        /// What was asked, without parameters.
        url: String,
        /// The status of HTTP.
        status: u16,
        /// What the server says, cut.
        message: String,
    },
    /// The answer is not of the form that was asked for.
    #[error("{url}: {what}")]
    Answer {
        /// What was asked, without parameters.
        url: String,
        /// What is wrong with it.
        what: String,
    },
    /// A file could not be written.
    #[error("writing {}: {cause}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}
