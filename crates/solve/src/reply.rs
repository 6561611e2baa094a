//! What the caller brings back to a search: replies of the model and observations of calls.

use callsieve_bfcl::conversation::Call;
use serde::{Deserialize, Serialize};

/// What a request has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub tokens_in: u64,
    /// Tokens of the reply.
    pub tokens_out: u64,
    /// Its price in millionths of a US dollar.
    pub micro_dollars: u64,
}

/// What a search has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The number of requests, failed ones included.
    pub requests: u32,
    /// The sum of their usage.
    pub usage: Usage,
}

impl Spent {
    /// Adds a request.
    pub(crate) fn add(&mut self, usage: Usage) {
        self.requests = self.requests.saturating_add(1);
        let sum = &mut self.usage;
        sum.tokens_in = sum.tokens_in.saturating_add(usage.tokens_in);
        sum.tokens_out = sum.tokens_out.saturating_add(usage.tokens_out);
        sum.micro_dollars = sum.micro_dollars.saturating_add(usage.micro_dollars);
    }

    /// Returns the tokens of requests and replies.
    pub fn tokens(&self) -> u64 {
        self.usage.tokens_in.saturating_add(self.usage.tokens_out)
    }
}

/// The content of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A message of the model.
    Message {
        /// The text; `None` if the endpoint sent none.
        text: Option<String>,
        /// The calls in order.
        calls: Vec<Call>,
    },
    /// The request failed after all retries of the caller, for this reason.
    Failure(String),
}

/// The answer of an endpoint to one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// What it says.
    pub content: Content,
    /// What it costs.
    pub usage: Usage,
}

impl Reply {
    /// Returns a reply with a text and no call, of unknown usage.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(Some(text.into()), Vec::new())
    }

    /// Returns a reply with calls and no text, of unknown usage.
    pub fn calls(calls: Vec<Call>) -> Self {
        Self::message(None, calls)
    }

    /// Returns a reply of unknown usage.
    pub fn message(text: Option<String>, calls: Vec<Call>) -> Self {
        Self { content: Content::Message { text, calls }, usage: Usage::default() }
    }

    /// Returns a failed request of unknown usage.
    pub fn failure(reason: impl Into<String>) -> Self {
        Self { content: Content::Failure(reason.into()), usage: Usage::default() }
    }

    /// Returns the reply with its usage.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

/// What the execution of a call returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The text that the model reads.
    pub text: String,
    /// The call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Where the result comes from, in the caller's word, such as `recorded` or `simulated`. Empty if it is none of a function.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
}

impl Observation {
    /// Returns the observation of a call that succeeded.
    pub fn result(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false, origin: String::new() }
    }

    /// Returns the observation of a call that failed.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, origin: String::new() }
    }

    /// Returns the observation with its origin.
    #[must_use]
    pub fn from(mut self, origin: impl Into<String>) -> Self {
        self.origin = origin.into();
        self
    }

    /// Returns the observation with at most `max_chars` characters, followed by `...` if there were more.
    #[must_use]
    pub(crate) fn cut(mut self, max_chars: usize) -> Self {
        if let Some((end, _)) = self.text.char_indices().nth(max_chars) {
            self.text.truncate(end);
            self.text.push_str("...");
        }
        self
    }
}

/// A reply or observation came when the search did not want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("got {got}, expected {expected}")]
pub struct OutOfTurn {
    /// What the search wants.
    pub expected: &'static str,
    /// What came.
    pub got: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_is_cut_by_characters() {
        let cut = |text: &str| Observation::result(text).cut(3).text;
        assert_eq!([cut("äöü"), cut("äöüß"), cut("ab")], ["äöü", "äöü...", "ab"]);
        assert_eq!(Observation::error("x").cut(0), Observation::error("..."));
    }

    #[test]
    fn sums_never_overflow() {
        let mut spent = Spent::default();
        let usage = Usage { tokens_in: u64::MAX, tokens_out: 1, micro_dollars: 2 };
        spent.add(usage);
        spent.add(usage);
        assert_eq!((spent.requests, spent.tokens(), spent.usage.micro_dollars), (2, u64::MAX, 4));
    }
}
