//! Words for programs: instructions from templates that a person can edit, and answers from what the calls returned.

pub mod clause;
pub mod phrase;
pub mod templates;
pub mod text;
pub mod values;
pub mod wanted;
