//! Why a recorded call cannot become ground truth, and where.

use thiserror::Error;

/// Why calls cannot become ground truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CarryFault {
    /// There is no call to write.
    NoCall,
    /// The function is not among the docs.
    UnknownFunction,
    /// Several docs have the function's name.
    AmbiguousFunction,
    /// The arguments are not an object.
    ArgumentsNotAnObject,
    /// The doc has no such parameter or key.
    UnknownParameter,
    /// A required parameter has no value.
    MissingRequired,
    /// The value is not of the declared type, and no lossless cast makes it so.
    WrongType,
    /// The value is of the enum's type but not in it.
    NotInEnum,
    /// The value is an empty text, which a ground truth reads as *may be left out*.
    EmptyValue,
    /// The array's elements differ in type in a way the checker refuses.
    MixedArray,
    /// The parameter's declared type is none the checker knows.
    UncheckableType,
}

impl CarryFault {
    /// Every fault, in the order of the checks.
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

    /// The reason code; never changes.
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

    /// The reason in one sentence.
    pub fn what(self) -> &'static str {
        match self {
            Self::NoCall => "The answer holds no call.",
            Self::UnknownFunction => "The answer calls a function that is not among the docs.",
            Self::AmbiguousFunction => "The answer calls a function whose name several docs have.",
            Self::ArgumentsNotAnObject => "The arguments of a call are not an object.",
            Self::UnknownParameter => "The answer uses a parameter that the doc does not have.",
            Self::MissingRequired => "The answer leaves out a required parameter.",
            Self::WrongType => "A value is not of the type the doc declares.",
            Self::NotInEnum => "A value is not among those the doc allows.",
            Self::EmptyValue => {
                "A value is an empty text, which a ground truth cannot tell from a parameter left out."
            }
            Self::MixedArray => "An array mixes element types, which the checker refuses.",
            Self::UncheckableType => "A parameter is declared with a type the checker does not know.",
        }
    }

    pub(super) fn at(self, at: impl Into<String>, message: impl Into<String>) -> Uncarried {
        Uncarried { fault: self, at: at.into(), message: message.into() }
    }
}

/// A fault, and where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{at}: {message}")]
pub struct Uncarried {
    /// What is wrong.
    pub fault: CarryFault,
    /// The function, then the parameter and the place inside its value: `f.filter.tags[2]`.
    pub at: String,
    /// What was found there.
    pub message: String,
}

impl Uncarried {
    /// The same fault seen from one level further out.
    pub(super) fn under(mut self, outer: &str) -> Self {
        let dot = if self.at.is_empty() || self.at.starts_with('[') { "" } else { "." };
        self.at = format!("{outer}{dot}{}", self.at);
        self
    }
}
