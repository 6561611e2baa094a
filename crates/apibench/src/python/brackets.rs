//! The content of brackets: arguments, items, pairs, slices and comprehensions.
//!
//! All brackets have one shape: the marks and commas are leaves beside the items. What is no item becomes an error node, so that a
//! broken argument does not hide the others.

use super::expressions::Parser;
use super::tokens::TokenKind;
use super::tree::{Kind, NodeId};

impl Parser<'_> {
    /// Takes a bracket with its content; the brackets and commas are leaves of the list. Items that cannot be parsed are error
    /// nodes.
    pub(super) fn bracket(&mut self) -> Vec<NodeId> {
        let Some(TokenKind::Open(close)) = self.kind().cloned() else { return Vec::new() };
        let end = std::mem::replace(&mut self.end, close);
        let mut children = vec![self.leaf()];
        while self.at < close {
            if self.word(0) == "," {
                children.push(self.leaf());
            } else if let Some(item) = self.item() {
                children.push(item);
            } else {
                let error = self.error_item();
                children.push(error);
            }
        }
        self.end = end;
        children.push(self.leaf());
        children
    }

    /// Takes tokens up to a place where an item may start.
    fn error_item(&mut self) -> NodeId {
        let mut errors = vec![self.leaf()];
        while self.token().is_some() && self.word(0) != "," {
            match self.item() {
                Some(item) => errors.push(item),
                None => errors.push(self.leaf()),
            }
        }
        self.tree.node(errors, Kind::Whole)
    }

    /// Parses what stands between two commas: an expression, a keyword argument, a pair, a slice, a splat, a clause of a
    /// comprehension.
    fn item(&mut self) -> Option<NodeId> {
        if self.is_name(0) && self.word(1) == "=" {
            let place = self.place();
            let children = vec![self.leaf(), self.leaf()];
            if let Some(value) = self.expression() {
                return Some(self.tree.node([children, vec![value]].concat(), Kind::Whole));
            }
            self.return_to(place);
        }
        match self.word(0) {
            "*" | "**" => self.with_operand(Vec::new(), Self::expression),
            "for" | "if" | "async" if self.word(1) != "," => Some(self.clause()),
            ":" => Some(self.slice(None)),
            _ => {
                let value = self.expression()?;
                Some(if self.word(0) == ":" { self.slice(Some(value)) } else { value })
            }
        }
    }

    /// `for TARGET in VALUE` or `if CONDITION`.
    fn clause(&mut self) -> NodeId {
        let mut children = vec![self.leaf()];
        while self.token().is_some() && !matches!(self.word(0), "for" | "if" | "async") {
            // Targets such as `a, b` and the word `in` are leaves.
            match self.nested(Self::primary) {
                Some(part) => children.push(part),
                None => children.push(self.leaf()),
            }
        }
        self.tree.node(children, Kind::Whole)
    }

    /// A pair of a dictionary or a slice of a subscript: expressions between colons.
    fn slice(&mut self, first: Option<NodeId>) -> NodeId {
        let mut children = Vec::from_iter(first);
        while self.word(0) == ":" {
            children.push(self.leaf());
            children.extend(self.expression());
        }
        self.tree.node(children, Kind::Whole)
    }
}
