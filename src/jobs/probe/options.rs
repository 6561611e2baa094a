//! The options of calls to the functions of a collection.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::llm::calls::{AllowedHost, CallLimits, SecretHeader};

/// Which functions are called, how, and where the answers are written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProbeOptions {
    /// The run folder of a collection.
    pub run: PathBuf,
    /// The folder of the recorded calls.
    pub out: PathBuf,
    /// The hosts that may be called. There is no default.
    pub hosts: Vec<AllowedHost>,
    /// The methods that may be called; by default only `GET`.
    pub methods: BTreeSet<Method>,
    /// Headers that are sent with every request.
    pub headers: Vec<SecretHeader>,
    /// Rate, time and size of calls.
    pub limits: CallLimits,
    /// The most calls, without those that are recorded already.
    pub max_calls: usize,
    /// Calls again what had no answer, or an answer with the status 429 or of an error of the server.
    pub retry: bool,
    /// Removes the recorded calls of the folder first.
    pub fresh: bool,
}

/// Defaults of the limits.
impl ProbeOptions {
    /// The most requests in a second.
    pub const PER_SECOND: f64 = 2.0;
    /// The longest time of a request in seconds.
    pub const TIMEOUT_SECONDS: f64 = 20.0;
    /// The most bytes of a body: a rule for recorded calls drops functions with larger ones.
    pub const MAX_BYTES: usize = 4 << 20;
    /// The most calls.
    pub const MAX_CALLS: usize = 1_000;

    /// Returns the options of a collection, with the defaults of all others.
    pub fn new(run: PathBuf, out: PathBuf, hosts: Vec<AllowedHost>) -> Self {
        let limits = CallLimits {
            per_second: Self::PER_SECOND,
            timeout: Duration::from_secs_f64(Self::TIMEOUT_SECONDS),
            max_bytes: Self::MAX_BYTES,
        };
        Self {
            run,
            out,
            hosts,
            methods: BTreeSet::from([Method::Get]),
            headers: Vec::new(),
            limits,
            max_calls: Self::MAX_CALLS,
            retry: false,
            fresh: false,
        }
    }
}

/// A method that can be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // The methods of HTTP.
pub enum Method {
    Get,
    Head,
    Options,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    /// All of them, those that only read first.
    const ALL: [(Self, &str); 7] = [
        (Self::Get, "GET"),
        (Self::Head, "HEAD"),
        (Self::Options, "OPTIONS"),
        (Self::Post, "POST"),
        (Self::Put, "PUT"),
        (Self::Patch, "PATCH"),
        (Self::Delete, "DELETE"),
    ];
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| name.eq_ignore_ascii_case(text.trim()));
        found.map(|(method, _)| method).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("expected one of {}", names.join(", "))
        })
    }
}
