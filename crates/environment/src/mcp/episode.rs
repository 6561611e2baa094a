//! An episode of an MCP server.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::session::{Refusal, Session};
use super::{Shared, lock};
use crate::call::{Call, Failure, Observation, Origin};
use crate::canonical::state_hash;
use crate::environment::Episode;
use crate::error::EnvironmentError;

/// An episode with a server of its own.
pub(super) struct McpEpisode {
    pub(super) shared: Arc<Shared>,
    pub(super) session: Session,
    /// The server ended, or what it sends next would be taken for another answer.
    pub(super) is_lost: bool,
    /// The server is not kept for another episode.
    pub(super) is_fresh: bool,
}

impl McpEpisode {
    /// Returns the hash of the state; `None` if it cannot be read.
    pub(super) fn hash(&mut self) -> Option<String> {
        self.state().ok().flatten().as_ref().map(state_hash)
    }

    fn failed(&mut self, refusal: &Refusal) -> Observation {
        let failure = match refusal {
            Refusal::Error(_) => Failure::ErrorResult,
            Refusal::TooDeep => Failure::TooDeep,
            Refusal::Timeout => Failure::Timeout,
            Refusal::Ended(_) => Failure::Crashed,
            Refusal::TooLarge => Failure::TooLarge,
        };
        if matches!(refusal, Refusal::Timeout | Refusal::Ended(_) | Refusal::TooLarge) {
            self.is_lost = true;
            self.shared.stop(&mut self.session);
        }
        Observation::failure(failure, refusal.text(), Origin::Real)
    }

    /// Returns the text of a file below HOME; `None` if it is missing or too large.
    fn file(&self, file: &str) -> Option<String> {
        use std::io::Read as _;
        let max_bytes = self.shared.settings.max_result_bytes as u64;
        let opened = std::fs::File::open(self.session.process().home().join(file)).ok()?;
        if !opened.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        opened.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
        let is_whole = bytes.len() as u64 <= max_bytes;
        is_whole.then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the state in files; `None` if the settings name none, or it is not JSON.
    fn state_in_files(&self) -> Option<Value> {
        let settings = &self.shared.settings;
        if let Some(file) = &settings.state_file {
            return serde_json::from_str(&self.file(file)?).ok();
        }
        let texts = settings.state_files.iter().map(|file| (file.clone(), json!(self.file(file))));
        let texts: Map<String, Value> = texts.collect();
        if texts.is_empty() { None } else { Some(Value::Object(texts)) }
    }
}

impl Episode for McpEpisode {
    fn call(&mut self, call: &Call) -> Result<Observation, EnvironmentError> {
        if !self.shared.names.get().is_some_and(|names| names.contains(&call.name)) {
            return Ok(Observation::unknown_function(&call.name, Origin::Real));
        }
        if self.is_lost {
            return Ok(Observation::failure(Failure::Crashed, "The server ended.", Origin::Real));
        }
        let seen = self.shared.call(&mut self.session, call);
        Ok(seen.unwrap_or_else(|refusal| self.failed(&refusal)))
    }

    fn state(&mut self) -> Result<Option<Value>, EnvironmentError> {
        if self.is_lost {
            return Ok(None);
        }
        let Some(state) = self.shared.settings.state.clone() else { return Ok(self.state_in_files()) };
        let seen = self.shared.call(&mut self.session, &Call::new(state.call, state.arguments));
        match seen {
            Ok(seen) => Ok(if seen.failure.is_none() { Some(seen.result) } else { None }),
            Err(refusal) => {
                self.failed(&refusal);
                Ok(None)
            }
        }
    }

    fn stop(self: Box<Self>) -> Result<(), EnvironmentError> {
        let is_kept = self.shared.settings.reuse && !self.is_lost && !self.is_fresh;
        let Self { shared, mut session, .. } = *self;
        if is_kept {
            lock(&shared.waiting).push(session);
        } else {
            shared.stop(&mut session);
        }
        Ok(())
    }
}
