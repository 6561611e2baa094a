//! A reader of Python that never fails: a concrete syntax tree of any text, with the shape that tree-sitter gives it.
//!
//! `tokens` splits the text, `statements`, `expressions` and `brackets` build the nodes, `tree` holds them. Only what the match needs is kept: the
//! span of each node and its children, punctuation included. Well-formed expressions and simple statements have the nodes of
//! tree-sitter-python. The lines of a block stand beside its header instead of below it, and the content of an f-string is not
//! parsed. Text that is no Python becomes error nodes as tree-sitter would probably place them, but not always where it does.

mod brackets;
mod expressions;
mod statements;
mod tokens;
mod tree;

pub(crate) use statements::parse;
pub(crate) use tree::{Kind, NodeId, Tree};

/// Whether a word of a dotted name is reserved, so that the name is none.
#[cfg(test)]
pub(crate) fn is_reserved(name: &str) -> bool {
    let is_soft = |word: &str| matches!(word, "print" | "async" | "await");
    name.split('.').any(|word| expressions::RESERVED.contains(&word) || is_soft(word))
}

#[cfg(test)]
mod tests;
