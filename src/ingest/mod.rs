//! Log files become records: one request each, whatever API logged it.
//!
//! `read` cuts a file into blocks of items (a line, a table row, an element of a
//! JSON array) in one pass and in bounded memory; `record` turns each item into
//! exactly one fate, so the fates of a file add up to its items. What a log may
//! look like is data: `shapes` holds the tables, and a new shape is an entry there.
//!
//! `source` is the log as the engine's source: it drives these and hands rows on.
//!
//! Function docs are carried as the text they were sent as; reading them is the
//! work of `docs`. Rows of Parquet inputs come in through `record::record_of_value`.

pub mod facts;
mod messages;
mod path;
mod raw;
pub mod read;
pub mod reasons;
pub mod record;
mod response;
pub mod shapes;
pub mod source;
mod split;
pub mod table;
#[cfg(test)]
mod tests;
