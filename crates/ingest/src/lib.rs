//! Converts log files of any API into records, one request each.
//!
//! `read` splits a file into blocks of items (a line, a table row, an element of a JSON array) in one pass and in
//! bounded memory. `lenient` reads the JSON of an item. `record` gives each item exactly one fate, so the fates of a file add up to its items. `unpack`
//! splits an item that holds several requests (the spans of a trace), and each part has a fate; `nested_spans` finds the
//! spans around model calls, which are no requests. Log formats are data: `log_formats` holds the tables, and a new log
//! format is an entry there. `attributes` and `span_events` give all spans one form before. `explain` describes why a
//! line is not a request, with `span_texts` for attributes that no log format reads.
//!
//! `request_filter` selects requests by assistant and time. `source` implements the engine's `Source` with these modules, of which `input_files` reads the files and `line_sink` takes their lines; `parts` lets separate processes read parts of the files, whose lines `stored_lines` writes; [`KINDS`] lists the sources.
//!
//! Function docs keep the text in which they were sent; `docs` parses them. Rows of Parquet inputs are read by
//! `record::record_of_value`.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod any_row;
pub mod archive;
mod attributes;
pub(crate) mod batch;
pub mod buffer;
pub mod column;
pub mod compression;
mod encoding;
mod explain;
pub mod facts;
pub mod fate;
pub mod fields;
pub mod foreign_rows;
mod input_files;
mod integrity;
pub mod kind;
pub mod known_lists;
pub mod lenient;
mod line_sink;
pub mod log_formats;
mod lookup;
mod marks;
mod messages;
mod nested_spans;
mod no_request;
mod parts;
mod path;
mod raw;
pub mod read;
mod reader_threads;
pub mod reasons;
pub mod record;
pub mod request_filter;
mod response;
mod sent_docs;
pub mod source;
mod span_events;
mod span_texts;
mod split;
mod stored_lines;
mod stream;
pub mod table;
#[cfg(test)]
mod tests;
mod tools;
pub mod transcripts;
mod unpack;

use callsieve_engine::kind::SourceKind;

/// The kinds of sources. A pipeline whose `[ingest]` names none means the first.
pub static KINDS: [SourceKind; 1] = [SourceKind::of::<source::Ingest>()];
