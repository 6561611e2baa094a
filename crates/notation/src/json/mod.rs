//! JSON, from strict to broken.
//!
//! `strict` reads standard JSON; `loose` reads JSON5 and JSON with typing errors, and records how certain a value is;
//! `repair` accepts results on which two repairers agree. `outline` finds the brackets of a text without parsing it,
//! `compact` writes it without whitespace and without making a value, `marks` recognises whitespace and punctuation in
//! the forms that people type.

pub mod compact;
pub mod loose;
pub mod marks;
pub mod outline;
pub mod repair;
pub mod strict;
