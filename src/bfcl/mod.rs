//! The leaderboard's own notions: the types of its docs, its categories, ids and files, V1 to V4.
//!
//! `types` is the one list of types a doc may declare; `category` and `ids` say what entries are called. `entry` reads
//! one line, whatever the version; `files` finds question files, the answers beside them and the lines in them. Every
//! reader of such files goes through these two and adds only what it asks for beyond. `writer` writes them, in the
//! spelling of JSON of `python_json`. What is wrong with a line that can be read is a matter of `lint`.

pub mod category;
pub mod entry;
pub mod files;
pub mod ids;
pub mod python_json;
pub mod types;
pub mod writer;
