//! What a source hands over: a request, or a line that gave none; and at the end how many it saw.
//!
//! Texts are as the log has them; which columns they become is a matter of `writer`.

use crate::engine::folder::InputFile;

/// One request as a source read it.
#[derive(Debug, Default)]
pub struct RequestRow {
    /// xxh3-128 of the record's own bytes.
    pub content_key: u128,
    /// Number of the input file, from 0.
    pub file: u32,
    /// Line on which the record starts, from 1.
    pub line: u64,
    /// Number of the record's item in that file, from 1.
    pub record: u64,
    /// The log's own id.
    pub external_id: Option<String>,
    /// The shape it was read as.
    pub shape: &'static str,
    /// JSON list of messages.
    pub messages: String,
    /// JSON of the answer's message.
    pub response: Option<String>,
    /// JSON list of the messages after the answer, where the line holds some.
    pub afterwards: Option<String>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// Unix milliseconds.
    pub time_ms: Option<i64>,
    /// Model asked for.
    pub model: Option<String>,
    /// User or tenant.
    pub user: Option<String>,
    /// Session or thread.
    pub session: Option<String>,
    /// Whether a call was forced.
    pub tool_choice: Option<String>,
    /// Whether several calls were allowed.
    pub parallel_tool_calls: Option<bool>,
    /// HTTP status.
    pub status: Option<i64>,
    /// xxh3-128 of the doc list's text.
    pub list_id: u128,
    /// The doc list's text, as sent.
    pub functions: String,
    /// The line that its answer stood in, where that is another one.
    pub joined: Option<Place>,
}

/// What a source saw of its inputs. It counts the items where it cuts them from a file, before anything can lose one;
/// the runner compares them with the lines that arrived.
#[derive(Debug, Default)]
pub struct InputsRead {
    /// The inputs as they were read.
    pub inputs: Vec<InputFile>,
    /// Items of all inputs: lines of a file, rows of a table, elements of a JSON array.
    pub items: u64,
    /// Lines that were read from an item besides its first, such as the second span of a trace. Those of an item that
    /// was passed over as a whole are not among them.
    pub further_parts: u64,
}

impl InputsRead {
    /// The lines that must have arrived.
    pub fn lines(&self) -> u64 {
        self.items + self.further_parts
    }
}

/// A line of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Number of the input file, from 0.
    pub file: u32,
    /// The line, from 1.
    pub line: u64,
    /// Number of the item in the file, from 1.
    pub record: u64,
}

impl RequestRow {
    /// Lines that it was read from.
    pub fn lines(&self) -> u64 {
        1 + u64::from(self.joined.is_some())
    }

    /// The line on which its record starts.
    pub(super) fn place(&self) -> Place {
        Place { file: self.file, line: self.line, record: self.record }
    }

    /// Bytes of its long texts: what a batch is measured by.
    pub(super) fn bytes(&self) -> usize {
        let optional = [&self.response, &self.afterwards];
        self.messages.len() + optional.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

/// A line that gave no request, or several that follow on one another and hold the same: nothing.
#[derive(Debug)]
pub struct LineRow {
    /// Number of the input file, from 0.
    pub file: u32,
    /// The line, from 1.
    pub line: u64,
    /// Number of the item in the file, from 1; of several the first.
    pub record: u64,
    /// How many lines these are.
    pub n_lines: u64,
    /// It could not be read, rather than holding nothing to read.
    pub unreadable: bool,
    /// What should follow in the file could not be read either.
    pub ends_file: bool,
    /// Reason code.
    pub reason: &'static str,
    /// What was found.
    pub detail: String,
}
