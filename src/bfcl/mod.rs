//! The leaderboard's own question and answer files, V1 to V4, as they are read here.
//!
//! `entry` reads one line, whatever the version; `files` finds question files, the
//! answers beside them and the lines in them. Every reader of such files goes through
//! these two and adds only what it asks for beyond. Writing them is `export::bfcl`;
//! what is wrong with a line that can be read is a matter of `check`.

pub mod entry;
pub mod files;
