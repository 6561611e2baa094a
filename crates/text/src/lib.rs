//! Text processing for similarity: normal forms, tokens, and ROUGE-L.
//!
//! Everything here is exact and the same on every machine: thresholds are compared as integers, scores use the
//! operations of Google's `rouge-score` in its order, and Unicode data is from pinned crates. There is no list of stop
//! words. For comparing many texts see `similarity`. `view` is a text as a reader sees it, without what hides its words;
//! `language` detects the language of a text; `base32` is the encoding; `visible`, `figures`, `listed`, `spreadsheet`, `os_error` and `outside`
//! format text for display.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod base32;
pub mod calendar;
pub mod content_hash;
pub mod doc_values;
pub mod figures;
pub mod json_answer;
pub mod language;
pub mod lcs;
pub mod listed;
pub mod memo;
pub mod noise;
pub mod normal;
pub mod opposites;
pub mod os_error;
pub mod outside;
pub mod profile;
pub mod rouge;
pub mod rouge_sum;
pub mod short;
pub mod small_talk;
pub mod specifics;
pub mod spreadsheet;
pub mod suggestion;
pub mod template;
pub mod tokens;
pub mod typos;
pub mod view;
pub mod visible;
pub mod vocabulary;
pub mod words;
