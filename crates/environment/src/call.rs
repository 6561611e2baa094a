//! A call, and what an environment observes when it executes it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call of a function, with its arguments by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name of the function.
    pub name: String,
    /// The arguments by the names of their parameters.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

impl Call {
    /// Returns a call.
    pub fn new(name: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self { name: name.into(), arguments }
    }
}

/// Where a result comes from. Results of different origins are never mixed without a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Code that was written for its own purpose: a server, a module.
    Real,
    /// A file that declares tables and operations on them.
    Declared,
    /// A recording of an earlier call.
    Recorded,
    /// The text of a language model.
    Simulated,
    /// Nothing was executed, so there is no result.
    Unexecuted,
}

impl Origin {
    /// Returns the word for this origin in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Declared => "declared",
            Self::Recorded => "recorded",
            Self::Simulated => "simulated",
            Self::Unexecuted => "unexecuted",
        }
    }
}

/// Why a call has no regular result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The function returned an error, as APIs do: an unknown id, a refused request, a wrong argument.
    ErrorResult,
    /// The function raised an exception.
    Exception,
    /// The call, or the whole program, took longer than its deadline.
    Timeout,
    /// The result has too many bytes, elements or digits.
    TooLarge,
    /// The result nests too deep.
    TooDeep,
    /// The result has no JSON form.
    NotJson,
    /// The recording does not have this call.
    NotRecorded,
    /// The process ended during this call or before it.
    Crashed,
    /// The environment has no function of this name.
    UnknownFunction,
}

impl Failure {
    /// Returns the word for this failure in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::ErrorResult => "error-result",
            Self::Exception => "exception",
            Self::Timeout => "timeout",
            Self::TooLarge => "too-large",
            Self::TooDeep => "too-deep",
            Self::NotJson => "not-json",
            Self::NotRecorded => "not-recorded",
            Self::Crashed => "crashed",
            Self::UnknownFunction => "unknown-function",
        }
    }
}

/// What a call returned. The content is outside text: it may hold anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// What the function returned, as JSON. For a failed call, the error as returned, or its text.
    pub result: Value,
    /// Why the call failed; `None` if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Where the result comes from.
    pub origin: Origin,
}

impl Observation {
    /// Returns the observation of a call that succeeded.
    pub fn success(result: Value, origin: Origin) -> Self {
        Self { result, failure: None, origin }
    }

    /// Returns the observation of a call that failed, with a text for people.
    pub fn failure(failure: Failure, text: impl Into<String>, origin: Origin) -> Self {
        Self { result: Value::String(text.into()), failure: Some(failure), origin }
    }

    /// Returns the observation of a call of a function that the environment does not have.
    pub fn unknown_function(name: &str, origin: Origin) -> Self {
        Self::failure(Failure::UnknownFunction, format!("There is no function \"{name}\"."), origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_files_are_those_of_serde() {
        use Failure as F;
        let failures = [
            F::ErrorResult,
            F::Exception,
            F::Timeout,
            F::TooLarge,
            F::TooDeep,
            F::NotJson,
            F::NotRecorded,
            F::Crashed,
            F::UnknownFunction,
        ];
        for failure in failures {
            assert_eq!(serde_json::to_value(failure).unwrap(), failure.name());
        }
        for origin in
            [Origin::Real, Origin::Declared, Origin::Recorded, Origin::Simulated, Origin::Unexecuted]
        {
            assert_eq!(serde_json::to_value(origin).unwrap(), origin.name());
        }
    }
}
