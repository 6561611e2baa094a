//! What becomes of an item of a log: a request, an answer, or the reason why it is neither.

use crate::conversation::Message;
use crate::ingest::batch::BatchAnswer;
use crate::ingest::facts::Facts;
use crate::ingest::read::Position;
use crate::ingest::reasons::Fault;

/// An item of a file and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line it starts on; the first line is 1.
    pub line: u64,
    /// The number of its item in the file; the first is 1. Parts of one item share it.
    pub record: u64,
    /// How many items of the file it stands for: blank lines that follow on one another are one.
    pub n_items: u64,
    /// Its number among the parts of its item; 0 for the first or only one.
    pub part: u32,
    /// What became of it.
    pub fate: LineFate,
}

impl Line {
    /// An item that was not taken apart, or several that hold nothing.
    pub fn whole(Position { line, record }: Position, n_items: u64, fate: LineFate) -> Self {
        Self { line, record, n_items, part: 0, fate }
    }
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum LineFate {
    /// It holds a request.
    Record(Box<Record>),
    /// It is sound, and holds no request for a function call.
    NoRequest(Fault),
    /// It holds the answer to the request of another line, of whatever file.
    Answer(Box<BatchAnswer>),
    /// It cannot be read.
    Unreadable(Fault),
}

/// One request of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The line it starts on; the first line is 1.
    pub line: u64,
    /// `xxh3_128` of its bytes without the space around them.
    pub content_key: u128,
    /// The log's own id for it.
    pub external_id: Option<String>,
    /// The name of its log format in the tables of `log_formats`.
    pub log_format: &'static str,
    /// What was said, never empty.
    pub messages: Vec<Message>,
    /// The function docs as they were sent.
    pub functions: String,
    /// What the model answered.
    pub response: Option<Message>,
    /// What the line tells of the conversation after the response; empty in most logs.
    pub following_messages: Vec<Message>,
    /// What else the log says.
    pub facts: Facts,
    /// The id by which a batch output may answer it; only where the line has no answer of its own.
    pub custom_id: Option<String>,
}

/// The fate of an item that is sound and holds no request.
pub(super) fn no_request(reason: &'static str, detail: impl Into<String>) -> LineFate {
    LineFate::NoRequest(Fault::new(reason, detail))
}
