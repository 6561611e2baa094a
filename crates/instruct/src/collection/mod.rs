//! API collections: a row for each tool, with its functions as a doc list, and no request.

pub mod sink;
pub mod source;
