//! Faults that prevent a call from becoming ground truth, with their places.

use thiserror::Error;

/// A fault that prevents calls from becoming ground truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerFault {
    /// There is no call to write.
    NoCall,
    /// The function is not in the docs.
    UnknownFunction,
    /// Several functions have this name.
    AmbiguousFunction,
    /// The arguments are not an object.
    ArgumentsNotAnObject,
    /// The function has no such parameter or key.
    UnknownParameter,
    /// A required parameter has no value.
    MissingRequired,
    /// The value does not have the declared type, and no lossless conversion exists.
    WrongType,
    /// The value has the type of the enum but is not in it.
    NotInEnum,
    /// The value is an empty text, which means *may be omitted* in a ground truth.
    EmptyValue,
    /// The array has elements of several types, which the checker refuses.
    MixedArray,
    /// The checker does not know the declared type of the parameter.
    UncheckableType,
}

impl AnswerFault {
    /// All faults, in the order of the checks.
    pub const ALL: [Self; 11] = [
        Self::NoCall,
        Self::UnknownFunction,
        Self::AmbiguousFunction,
        Self::ArgumentsNotAnObject,
        Self::UnknownParameter,
        Self::MissingRequired,
        Self::WrongType,
        Self::NotInEnum,
        Self::EmptyValue,
        Self::MixedArray,
        Self::UncheckableType,
    ];

    /// Returns the reason code; never changes.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoCall => "answer/no-call",
            Self::UnknownFunction => "answer/unknown-function",
            Self::AmbiguousFunction => "answer/ambiguous-function",
            Self::ArgumentsNotAnObject => "answer/arguments-not-an-object",
            Self::UnknownParameter => "answer/unknown-parameter",
            Self::MissingRequired => "answer/missing-required",
            Self::WrongType => "answer/wrong-type",
            Self::NotInEnum => "answer/not-in-enum",
            Self::EmptyValue => "answer/empty-value",
            Self::MixedArray => "answer/mixed-array",
            Self::UncheckableType => "answer/uncheckable-type",
        }
    }

    /// Returns the reason in one sentence.
    pub fn what(self) -> &'static str {
        match self {
            Self::NoCall => "The answer has no call.",
            Self::UnknownFunction => "The answer calls a function that is not in the docs.",
            Self::AmbiguousFunction => "The answer calls a function whose name is not unique in the docs.",
            Self::ArgumentsNotAnObject => "The arguments of a call are not an object.",
            Self::UnknownParameter => "The answer uses a parameter that the function does not have.",
            Self::MissingRequired => "The answer omits a required parameter.",
            Self::WrongType => "A value does not have the declared type.",
            Self::NotInEnum => "A value is not in the enum of its parameter.",
            Self::EmptyValue => {
                "A value is an empty text, which a ground truth cannot distinguish from an omitted parameter."
            }
            Self::MixedArray => "An array has elements of several types, which the checker refuses.",
            Self::UncheckableType => "A parameter has a declared type that the checker does not know.",
        }
    }

    pub(super) fn at(self, at: impl Into<String>, message: impl Into<String>) -> AnswerError {
        AnswerError { fault: self, at: at.into(), message: message.into() }
    }
}

/// A fault with its place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct AnswerError {
    /// The kind of fault.
    pub fault: AnswerFault,
    /// The function, then the parameter and the place inside its value: `f.filter.tags[2]`.
    pub at: String,
    /// The description of the problem.
    pub message: String,
}

impl AnswerError {
    /// Prepends an outer level to the place.
    pub(super) fn under(mut self, outer: &str) -> Self {
        let dot = if self.at.is_empty() || self.at.starts_with('[') { "" } else { "." };
        self.at = format!("{outer}{dot}{}", self.at);
        self
    }
}
