//! What makes a secret of a session: JSON web tokens, and values behind `Bearer` or `token`.
//!
//! Found by the same search as keys (`key`): one pass over the text looks for the starts of both.

use super::Kind;
use super::key::{Rule, Shape};

/// Starts of tokens, whatever stands before them.
pub(super) const RULES: &[Rule] = &[
    Rule { start: "eyJ", least: 20, shape: Shape::Jwt, kind: Kind::Token },
    Rule { start: "ya29.", least: 20, shape: Shape::Plain, kind: Kind::Token },
];

/// Words before a token. The first letter is left out where its case varies.
pub(super) const WORDS: &[&str] = &["oken", "OKEN", "earer", "EARER", "Basic"];
