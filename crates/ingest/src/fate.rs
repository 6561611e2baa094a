//! The fate of an item of a log: a request, an answer, or the reason why it is neither.

use crate::batch::BatchAnswer;
use crate::facts::Facts;
use crate::known_lists::SentList;
use crate::read::Position;
use crate::reasons::ItemFault;
use callsieve_bfcl::conversation::Message;

/// An item of a file and its fate.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line it starts on; the first line is 1.
    pub line: u64,
    /// The number of its item in the file; the first is 1. Parts of one item share it.
    pub record: u64,
    /// The number of items of the file that it covers: consecutive blank lines are one `Line`.
    pub n_items: u64,
    /// Its number among the parts of its item; 0 for the first or only one.
    pub part: u32,
    /// Its fate.
    pub fate: LineFate,
}

impl Line {
    /// Returns an item that was not split, or several blank ones.
    pub fn whole(Position { line, record }: Position, n_items: u64, fate: LineFate) -> Self {
        Self { line, record, n_items, part: 0, fate }
    }
}

/// The fate of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum LineFate {
    /// It holds a request.
    Record(Box<Record>),
    /// It is valid, and holds no request for a function call.
    NoRequest(ItemFault),
    /// It holds the answer to the request of another line, of any file.
    Answer(Box<BatchAnswer>),
    /// It cannot be read.
    Unreadable(ItemFault),
}

/// One request of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The line it starts on; the first line is 1.
    pub line: u64,
    /// The hash of its bytes without surrounding whitespace.
    pub content_key: u128,
    /// The log's own id for it.
    pub external_id: Option<String>,
    /// The name of its log format in the tables of `log_formats`.
    pub log_format: &'static str,
    /// The conversation; never empty.
    pub messages: Vec<Message>,
    /// The function docs as they were sent; empty if their list is stored.
    pub functions: String,
    /// What is known of the list of function docs.
    pub list: SentList,
    /// The model's answer.
    pub response: Option<Message>,
    /// The conversation after the response, if the line holds it; empty in most logs.
    pub following_messages: Vec<Message>,
    /// Other facts in the log.
    pub facts: Facts,
    /// The id by which a batch output may answer it; only if the line has no answer of its own.
    pub custom_id: Option<String>,
}

/// Returns the fate of a valid item without a request.
pub(super) fn no_request(reason: &'static str, detail: impl Into<String>) -> LineFate {
    LineFate::NoRequest(ItemFault::new(reason, detail))
}
