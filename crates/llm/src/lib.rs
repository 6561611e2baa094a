//! Network access: servers with an OpenAI-compatible API, downloads, and calls of APIs that a user allows (`calls`). No other
//! module uses the network.
//!
//! The module is asynchronous inside and blocking outside: it owns its runtime, and calls block
//! and can be cancelled. Every request goes through one `sender`, which waits, retries and removes
//! keys from messages. Types of `async-openai` are not part of the interface.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod adapted;
pub mod batch;
pub mod budget;
pub mod cache;
pub mod calls;
pub mod chat;
mod claims;
pub mod client;
mod decoded;
pub mod download;
pub mod embeddings;
pub mod failures;
pub mod hub;
pub mod key;
mod limits;
pub mod models;
pub mod prompts;
mod redirects;
mod retry;
mod secrets;
mod sender;
pub mod service;
pub mod spending;
mod tls;
pub mod tokens;
pub mod upload;

use callsieve_text::outside::shortened;

/// An error of a network request. No message contains a key, and what a server wrote is shortened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An address or a key is invalid.
    #[error("{0}")]
    Setting(String),
    /// There was no complete response.
    #[error("{url}: {}", shortened(what))]
    Unreachable {
        /// The address, without parameters.
        url: String,
        /// The description of the problem.
        what: String,
    },
    /// The server refused.
    #[error("{url}: HTTP status {status}: {}", shortened(message))]
    Refused {
        /// The address, without parameters.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The message of the server.
        message: String,
    },
    /// The server redirects to another one, which gets nothing.
    #[error("{url} redirects to {}: {}", shortened(target), redirects::hint(url, &shortened(target)))]
    Redirected {
        /// The address, without parameters.
        url: String,
        /// The other address, without parameters.
        target: String,
    },
    /// The response does not have the expected format.
    #[error("{url}: {}", shortened(what))]
    Answer {
        /// The address, without parameters.
        url: String,
        /// The description of the problem.
        what: String,
    },
    /// The response has no answer, and the server reports tokens for it: it is paid for.
    #[error("{url}: {}", shortened(what))]
    Billed {
        /// The address, without parameters.
        url: String,
        /// The description of the problem.
        what: String,
        /// Tokens of the request, of its part in a cache, and of the answer.
        tokens: (u64, u64, u64),
    },
    /// A file could not be written.
    #[error("writing {}: {cause}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// The cache of replies is damaged, or cannot be read or written.
    #[error("the cache of replies {}: {what}\nhint: {hint}", path.display())]
    Cache {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong.
        what: String,
        /// How to go on.
        hint: String,
    },
    /// The run is cancelled.
    #[error("interrupted")]
    Interrupted,
}
