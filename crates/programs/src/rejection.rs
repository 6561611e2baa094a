//! Why a candidate is no instruction.

/// A reason for which a candidate is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No call of the walk succeeded, or too few.
    NoProgram,
    /// A call fails when the program runs again.
    Failed,
    /// A call returns nothing: an empty list, an empty text, null.
    EmptyResult,
    /// A call returns more than a reader would go through.
    HugeResult,
    /// Two runs of the program differ.
    Nondeterministic,
    /// Without a call the program ends the same.
    UnneededCall,
    /// In another order the calls return something else, so they are not independent.
    OrderMatters,
    /// Another value of an argument changes nothing, so no answer is the only right one.
    AmbiguousArgument,
    /// An argument equals a field of an earlier result that is something else, or that never changes.
    CoincidentalDependency,
    /// An argument is taken from a result that only repeats what the user gave.
    EchoedValue,
    /// A phrase such as "that order" could mean two things.
    AmbiguousReference,
    /// An argument is neither in the words of the user nor in a result.
    UnsaidArgument,
    /// The text holds a value that the assistant must find with an earlier call.
    LeakedValue,
    /// The answer to the user holds a value that no result holds.
    UngroundedAnswer,
    /// The same calls are in an earlier candidate.
    Duplicate,
    /// Enough instructions call the same functions in the same order.
    TooManyAlike,
    /// Neither the doc of a function nor the bindings say how a user asks for it.
    NoPhrase,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Self; 17] = [
        Self::NoProgram,
        Self::Failed,
        Self::EmptyResult,
        Self::HugeResult,
        Self::Nondeterministic,
        Self::UnneededCall,
        Self::OrderMatters,
        Self::AmbiguousArgument,
        Self::CoincidentalDependency,
        Self::EchoedValue,
        Self::AmbiguousReference,
        Self::UnsaidArgument,
        Self::LeakedValue,
        Self::UngroundedAnswer,
        Self::Duplicate,
        Self::TooManyAlike,
        Self::NoPhrase,
    ];

    /// Returns its code.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoProgram => "program/no-program",
            Self::Failed => "program/failed-call",
            Self::EmptyResult => "program/empty-result",
            Self::HugeResult => "program/huge-result",
            Self::Nondeterministic => "program/nondeterministic",
            Self::UnneededCall => "program/unneeded-call",
            Self::OrderMatters => "program/order-matters",
            Self::AmbiguousArgument => "program/ambiguous-argument",
            Self::CoincidentalDependency => "program/coincidental-dependency",
            Self::EchoedValue => "program/echoed-value",
            Self::AmbiguousReference => "program/ambiguous-reference",
            Self::UnsaidArgument => "program/unsaid-argument",
            Self::LeakedValue => "program/leaked-value",
            Self::UngroundedAnswer => "program/ungrounded-answer",
            Self::Duplicate => "program/duplicate",
            Self::TooManyAlike => "program/too-many-alike",
            Self::NoPhrase => "program/no-phrase",
        }
    }

    /// Returns what it means, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NoProgram => "No call of the walk succeeded, or too few for its stratum.",
            Self::Failed => "A call fails when the program runs again in a new episode.",
            Self::EmptyResult => "A call returns nothing.",
            Self::HugeResult => "A call returns more than a reader would go through.",
            Self::Nondeterministic => "Two runs of the program in new episodes differ.",
            Self::UnneededCall => {
                "Without one of its calls, the program ends with the same result and state."
            }
            Self::OrderMatters => {
                "In another order the calls return something else, so they depend on each other."
            }
            Self::AmbiguousArgument => {
                "Another value of an argument changes nothing, so several answers are right."
            }
            Self::CoincidentalDependency => {
                "An argument equals a field of an earlier result that is something else, or never changes."
            }
            Self::EchoedValue => "An argument is taken from a result that only repeats what the user gave.",
            Self::AmbiguousReference => "A phrase such as \"that order\" could mean two things.",
            Self::UnsaidArgument => {
                "An argument is neither in the words of the user nor in an earlier result."
            }
            Self::LeakedValue => "The text holds a value that an earlier call has to find.",
            Self::UngroundedAnswer => "The answer to the user holds a value that no result holds.",
            Self::Duplicate => "An earlier candidate makes the same calls.",
            Self::TooManyAlike => "Enough instructions call the same functions in the same order.",
            Self::NoPhrase => {
                "The description and the name of a function begin with no verb, and the bindings have no phrase for it."
            }
        }
    }
}

/// A rejected candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Why.
    pub reason: Reason,
    /// What was found: the step, the function, the value.
    pub detail: String,
}

impl Rejection {
    /// Returns a rejection.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_has_its_own_code() {
        let codes: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
    }
}
