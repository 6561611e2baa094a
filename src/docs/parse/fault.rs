//! What is wrong with a text that should hold functions.
//!
//! Each kind of fault is a reason code `parse/…` with a sentence; what was found and where
//! is in `Fault`. A fault ends the reading, or stands beside the functions that were read
//! in spite of it.

use thiserror::Error;

/// One thing wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Fault {
    /// What is wrong.
    pub kind: ParseFault,
    /// The byte of the text where it shows, where one can be told.
    pub at: Option<usize>,
    /// What was found, for people.
    pub message: String,
}

impl Fault {
    /// A fault that shows at no particular byte.
    pub fn new(kind: ParseFault, message: impl Into<String>) -> Self {
        Self { kind, at: None, message: message.into() }
    }

    /// A key that stands twice in one object.
    pub(crate) fn repeated(key: &str) -> Self {
        let shown: String = key.chars().take(40).collect();
        let message = format!("the key {shown:?} stands twice with different values; the last one was read");
        Self::new(ParseFault::DuplicateKey, message)
    }
}

/// What can be wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParseFault {
    /// Nothing but blanks.
    Empty,
    /// Nothing but control characters.
    ControlCharacters,
    /// A web page.
    Html,
    /// Program source instead of docs.
    SourceCode,
    /// Something else than a structured value: prose, a broken text beyond repair.
    NotJson,
    /// The text ends before its brackets or strings do.
    Truncated,
    /// `...` stands for something the writer left out.
    Abbreviated,
    /// Brackets, strings or frames stand too deep inside one another.
    TooDeep,
    /// The functions nest deeper than values that are kept may.
    DeepFunctions,
    /// So many values that they would take far more memory than the text.
    TooLarge,
    /// Two repairers read the broken text differently.
    RepairsDisagree,
    /// A key stands twice in one object with different values.
    DuplicateKey,
    /// A word stands for a value that JSON does not have: `NaN`, `undefined`.
    NoJsonValue,
    /// One record of a list cannot be read; the others can.
    UnreadableRecord,
    /// The value holds no function at all.
    NoFunctions,
    /// An element of the list is not an object.
    NotAFunction,
    /// A function has no name.
    Nameless,
    /// An operation of an API description cannot be read.
    Operation,
}

impl ParseFault {
    /// All faults.
    pub const ALL: [Self; 18] = [
        Self::Empty,
        Self::ControlCharacters,
        Self::Html,
        Self::SourceCode,
        Self::NotJson,
        Self::Truncated,
        Self::Abbreviated,
        Self::TooDeep,
        Self::DeepFunctions,
        Self::TooLarge,
        Self::RepairsDisagree,
        Self::DuplicateKey,
        Self::NoJsonValue,
        Self::UnreadableRecord,
        Self::NoFunctions,
        Self::NotAFunction,
        Self::Nameless,
        Self::Operation,
    ];

    /// The reason code.
    pub fn code(self) -> &'static str {
        self.entry().0
    }

    /// One sentence for people.
    pub fn what(self) -> &'static str {
        self.entry().1
    }

    fn entry(self) -> (&'static str, &'static str) {
        match self {
            Self::Empty => ("parse/empty", "The text holds nothing but blanks."),
            Self::ControlCharacters => {
                ("parse/control-characters", "The text holds nothing but control characters.")
            }
            Self::Html => ("parse/html", "The text is a web page, not a list of functions."),
            Self::SourceCode => (
                "parse/source-code",
                "The text is program source; only function definitions of known forms are read.",
            ),
            Self::NotJson => (
                "parse/not-json",
                "The text is not JSON, a Python literal, JSON5 or YAML, and not close to one.",
            ),
            Self::Truncated => (
                "parse/truncated",
                "The text ends before its brackets or strings do; what is missing is not known.",
            ),
            Self::Abbreviated => {
                ("parse/abbreviated", "The writer left something out and wrote an ellipsis in its place.")
            }
            Self::TooDeep => {
                ("parse/too-deep", "Brackets, strings or frames stand too deep inside one another.")
            }
            Self::DeepFunctions => (
                "parse/functions-too-deep",
                "The functions nest so deep that readers of JSON would refuse a dataset that holds them.",
            ),
            Self::TooLarge => (
                "parse/too-large",
                "The text holds so many values that they would take far more memory than a list of functions does.",
            ),
            Self::RepairsDisagree => {
                ("parse/ambiguous-repair", "The text is broken and can be mended in more than one way.")
            }
            Self::DuplicateKey => {
                ("parse/duplicate-key", "A key stands twice in one object, with different values.")
            }
            Self::NoJsonValue => (
                "parse/not-a-json-value",
                "A word stands for a value that JSON does not have, such as NaN or undefined.",
            ),
            Self::UnreadableRecord => {
                ("parse/unreadable-record", "A function of the list cannot be read; the others can.")
            }
            Self::NoFunctions => ("parse/no-functions", "The value was read, but it holds no function."),
            Self::NotAFunction => ("parse/not-a-function", "An element of the list is not an object."),
            Self::Nameless => ("parse/missing-name", "A function has no name."),
            Self::Operation => {
                ("parse/unreadable-operation", "An operation of an API description cannot be read.")
            }
        }
    }
}
