//! Faults of texts that should contain functions.
//!
//! Each kind of fault has a reason code `parse/…` and a sentence; `ParseFault` adds the value and its place. A fault either
//! ends the parsing or accompanies the functions that were read despite it.

use thiserror::Error;

/// A fault of a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ParseFault {
    /// The kind of fault.
    pub kind: ParseFaultKind,
    /// The byte of the text at which it shows, if known.
    pub at: Option<usize>,
    /// The message with the value found.
    pub message: String,
}

impl ParseFault {
    /// Creates a fault without a place.
    pub fn new(kind: ParseFaultKind, message: impl Into<String>) -> Self {
        Self { kind, at: None, message: message.into() }
    }

    /// Creates the fault for a key that occurs twice in one object.
    pub(crate) fn repeated(key: &str) -> Self {
        let shown: String = key.chars().take(40).collect();
        let message = format!("the key {shown:?} occurs twice with different values; the last one was used");
        Self::new(ParseFaultKind::DuplicateKey, message)
    }
}

/// The kinds of faults of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParseFaultKind {
    /// Only whitespace.
    Empty,
    /// Only control characters.
    ControlCharacters,
    /// A web page.
    Html,
    /// Program source instead of docs.
    SourceCode,
    /// Not a structured value: prose, or a text broken beyond repair.
    NotJson,
    /// The text ends before its brackets or strings do.
    Truncated,
    /// `...` replaces omitted content.
    Abbreviated,
    /// Brackets, strings or wrappers are nested too deep.
    TooDeep,
    /// The functions are nested deeper than a dataset allows.
    FunctionsTooDeep,
    /// The values would take far more memory than the text.
    TooLarge,
    /// Two repairers read the broken text differently.
    AmbiguousRepair,
    /// A key occurs twice in one object with different values.
    DuplicateKey,
    /// A word for a value that JSON does not have: `NaN`, `undefined`.
    NotAJsonValue,
    /// One record of a list cannot be read; the others can.
    UnreadableRecord,
    /// The value contains no function.
    NoFunctions,
    /// An element of the list is not an object.
    NotAFunction,
    /// A function has no name.
    MissingName,
    /// An operation of an API description cannot be read.
    UnreadableOperation,
}

impl ParseFaultKind {
    /// All kinds.
    pub const ALL: [Self; 18] = [
        Self::Empty,
        Self::ControlCharacters,
        Self::Html,
        Self::SourceCode,
        Self::NotJson,
        Self::Truncated,
        Self::Abbreviated,
        Self::TooDeep,
        Self::FunctionsTooDeep,
        Self::TooLarge,
        Self::AmbiguousRepair,
        Self::DuplicateKey,
        Self::NotAJsonValue,
        Self::UnreadableRecord,
        Self::NoFunctions,
        Self::NotAFunction,
        Self::MissingName,
        Self::UnreadableOperation,
    ];

    /// Returns the reason code.
    pub fn code(self) -> &'static str {
        self.entry().0
    }

    /// Returns the meaning, in one sentence.
    pub fn what(self) -> &'static str {
        self.entry().1
    }

    fn entry(self) -> (&'static str, &'static str) {
        match self {
            Self::Empty => ("parse/empty", "The text contains only whitespace."),
            Self::ControlCharacters => {
                ("parse/control-characters", "The text contains only control characters.")
            }
            Self::Html => ("parse/html", "The text is a web page, not a list of functions."),
            Self::SourceCode => (
                "parse/source-code",
                "The text is program source; only function definitions of supported forms are read.",
            ),
            Self::NotJson => {
                ("parse/not-json", "The text is not JSON, a Python literal, JSON5 or YAML, nor close to one.")
            }
            Self::Truncated => (
                "parse/truncated",
                "The text ends before its brackets or strings do; the missing part is unknown.",
            ),
            Self::Abbreviated => {
                ("parse/abbreviated", "The text has an ellipsis in place of omitted content.")
            }
            Self::TooDeep => ("parse/too-deep", "Brackets, strings or wrappers are nested too deep."),
            Self::FunctionsTooDeep => (
                "parse/functions-too-deep",
                "The functions are nested so deep that JSON readers would refuse a dataset with them.",
            ),
            Self::TooLarge => (
                "parse/too-large",
                "The text has so many values that they would take far more memory than a list of functions.",
            ),
            Self::AmbiguousRepair => {
                ("parse/ambiguous-repair", "The text is broken and can be repaired in more than one way.")
            }
            Self::DuplicateKey => {
                ("parse/duplicate-key", "A key occurs twice in one object with different values.")
            }
            Self::NotAJsonValue => (
                "parse/not-a-json-value",
                "The text has a word for a value that JSON does not have, such as NaN or undefined.",
            ),
            Self::UnreadableRecord => {
                ("parse/unreadable-record", "A function of the list cannot be read; the others can.")
            }
            Self::NoFunctions => ("parse/no-functions", "The value was read but contains no function."),
            Self::NotAFunction => ("parse/not-a-function", "An element of the list is not an object."),
            Self::MissingName => ("parse/missing-name", "A function has no name."),
            Self::UnreadableOperation => {
                ("parse/unreadable-operation", "An operation of an API description cannot be read.")
            }
        }
    }
}
