//! Formats of the Berkeley Function Calling Leaderboard (BFCL), V1 to V4: types, categories, ids and files.
//!
//! `types` lists the types that a doc may declare; `category` and `ids` define the names of entries. `entry` reads a
//! line of any version; `files` finds question files, their answer files and their lines. All readers of such files
//! use these two modules. `writer` writes the files, with the JSON formatting of `python_json`. For faults in
//! readable lines see `lint`.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod category;
pub mod conversation;
pub mod entry;
pub mod files;
pub mod ids;
pub mod python_json;
pub mod types;
pub mod writer;
