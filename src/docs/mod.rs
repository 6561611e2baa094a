//! Function docs: what people paste, read into functions and fixed to the BFCL schema.
//!
//! `parse` runs a chain of parsers from strict JSON to guarded repair and reports which
//! it used; `dialect` takes functions out of the frames other APIs put around them;
//! `canonical` gives equal docs equal keys, `compared` the form in which near ones are found; `fix` makes the fewest edits that turn a
//! function into a BFCL one, each a `patch` with its before; `check` only tells what is
//! wrong with one. Nothing here is
//! completed or guessed in silence: what cannot be read is a fault, what cannot be
//! fixed is a finding. `source` reads program
//! source, `spec` descriptions of whole APIs. `convert` writes BFCL functions as the
//! tool definitions of other APIs.

pub mod canonical;
pub mod check;
mod combining;
pub mod compared;
pub mod convert;
pub mod dialect;
pub mod fix;
mod holders;
pub mod interface;
mod join;
mod json_type;
pub mod parse;
pub mod patch;
pub mod quality;
pub mod signature;
mod source;
mod spec;

#[cfg(test)]
mod arbitrary;
