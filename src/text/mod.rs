//! Text as similarity sees it: normal forms, tokens, and ROUGE-L.
//!
//! Everything here is exact and the same on every machine: thresholds are compared
//! in integers, scores come from the operations of Google's `rouge-score` in its
//! order, and Unicode data comes from pinned crates. There is no list
//! of stop words. For comparing many texts see `similarity`. Which language a text is in is told by `language`.
//! `visible`, `figures` and `os_error` are for people: what is safe to show, numbers and tables, errors of the system.

pub mod figures;
pub mod language;
pub mod lcs;
pub mod noise;
pub mod normal;
pub mod os_error;
pub mod profile;
pub mod rouge;
pub mod rouge_sum;
pub mod short;
pub mod specifics;
pub mod tokens;
pub mod visible;
pub mod vocabulary;
pub mod words;
