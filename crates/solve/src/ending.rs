//! Why a path ends, and why a search ends.

use serde::{Deserialize, Serialize};

/// A limit of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Requests to the model.
    Requests,
    /// Tokens of requests and replies.
    Tokens,
    /// Money.
    Money,
}

/// Why a path ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathEnd {
    /// `Finish` gives an answer, which is here.
    Answered(String),
    /// `Finish` gives up.
    GaveUp,
    /// The path is as deep as allowed.
    Depth,
    /// The same call has the same observation too often.
    Loop,
    /// Too many replies in a row have no call.
    Texts,
    /// A limit of the budget is reached.
    Budget(Limit),
    /// A request failed, with the reason that the caller gave.
    Failed(String),
    /// The caller stopped the search, with its reason.
    Stopped(String),
}

impl PathEnd {
    /// Returns `true` if the path has an answer.
    pub fn is_answered(&self) -> bool {
        matches!(self, Self::Answered(_))
    }

    /// Returns `true` if the path itself is at fault: it gave up, repeated itself, or became too long. An end by budget,
    /// failed request or stop is no evidence against a path.
    pub fn is_at_fault(&self) -> bool {
        matches!(self, Self::GaveUp | Self::Depth | Self::Loop | Self::Texts)
    }

    /// Returns its code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Answered(_) => "path/answered",
            Self::GaveUp => "path/gave-up",
            Self::Depth => "path/too-deep",
            Self::Loop => "path/repeated-call",
            Self::Texts => "path/no-call",
            Self::Budget(limit) => limit.path_code(),
            Self::Failed(_) => "path/failed-request",
            Self::Stopped(_) => "path/stopped",
        }
    }
}

impl Limit {
    fn path_code(self) -> &'static str {
        match self {
            Self::Requests => "path/no-requests-left",
            Self::Tokens => "path/no-tokens-left",
            Self::Money => "path/no-money-left",
        }
    }
}

/// Why a search ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEnd {
    /// As many paths as wanted have an answer.
    Answered,
    /// No path may be added, and every path gave up.
    GaveUp,
    /// No path may be added.
    Exhausted,
    /// A limit of the budget is reached.
    Budget(Limit),
    /// A request failed, with the reason that the caller gave.
    Failed(String),
    /// The caller stopped the search, with its reason.
    Stopped(String),
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_end_has_its_own_code() {
        let ends = [
            PathEnd::Answered(String::new()),
            PathEnd::GaveUp,
            PathEnd::Depth,
            PathEnd::Loop,
            PathEnd::Texts,
            PathEnd::Budget(Limit::Requests),
            PathEnd::Budget(Limit::Tokens),
            PathEnd::Budget(Limit::Money),
            PathEnd::Failed(String::new()),
            PathEnd::Stopped(String::new()),
        ];
        let codes: BTreeSet<&str> = ends.iter().map(PathEnd::code).collect();
        assert_eq!(codes.len(), ends.len());
        let at_fault: Vec<&str> = ends.iter().filter(|end| end.is_at_fault()).map(PathEnd::code).collect();
        assert_eq!(at_fault, ["path/gave-up", "path/too-deep", "path/repeated-call", "path/no-call"]);
    }
}
