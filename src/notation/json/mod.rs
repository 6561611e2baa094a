//! JSON, from strict to broken.
//!
//! `strict` reads JSON as the standard has it; `loose` reads JSON5 and what people make of JSON when they type it, and
//! notes what its value rests on; `repair` takes what two repairers agree on. `outline` finds the brackets of a text
//! without reading it, `marks` knows blanks and punctuation in the forms that people type.

pub(crate) mod loose;
pub(crate) mod marks;
pub(crate) mod outline;
pub(crate) mod repair;
pub(crate) mod strict;
