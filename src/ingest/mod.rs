//! Log files become records: one request each, whatever API logged it.
//!
//! `read` cuts a file into blocks of items (a line, a table row, an element of a
//! JSON array) in one pass and in bounded memory; `record` turns each item into
//! exactly one fate, so the fates of a file add up to its items. An item that holds
//! several requests (the spans of a trace) is taken apart by `unpack`, and each part has
//! a fate. What a log may look like is data: `log_formats` holds the tables, and a new log format
//! is an entry there. `explain` says why a line is no request.
//!
//! `source` is the log as the engine's source: it drives these and hands rows on.
//!
//! Function docs are carried as the text they were sent as; reading them is the
//! work of `docs`. Rows of Parquet inputs come in through `record::record_of_value`.

mod ahead;
mod attributes;
pub(crate) mod batch;
pub mod buffer;
pub mod column;
pub mod compression;
mod encoding;
mod explain;
pub mod facts;
pub mod fate;
pub mod log_formats;
mod marks;
mod messages;
mod path;
pub mod pick;
mod raw;
pub mod read;
pub mod reasons;
pub mod record;
mod response;
mod sound;
pub mod source;
mod split;
mod stream;
pub mod table;
#[cfg(test)]
mod tests;
mod tools;
pub(crate) mod transcripts;
mod unpack;
