//! What the log says about the right answer to a request.
//!
//! `recorded` reads what the logged model answered, `outcome` what the conversation
//! afterwards shows about it, `carry` brings recorded calls over to the docs as they
//! stand now and writes them as ground truth (`fault` is why not), `human` reads answers people wrote, and
//! `open_text` finds answers that no list of alternatives could hold.
//! A carried ground truth passes the official checker when its first alternatives are
//! given as the answer; calls that cannot be written that way are a fault, never a
//! guess. Which answers are scored is decided by the stages.

pub mod alternatives;
pub mod carry;
pub mod fault;
pub mod human;
pub mod open_text;
pub mod outcome;
pub mod recorded;
pub mod value;
