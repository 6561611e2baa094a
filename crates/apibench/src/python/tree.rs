//! The tree: nodes with spans and children, and the order in which the published scripts visit them.

use std::ops::Range;

/// A node, by its place in the tree.
pub(crate) type NodeId = usize;

/// How a node falls apart when a line around it turns out to be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It stays in one piece.
    Whole,
    /// A call: its function and its arguments. It stays in one piece.
    Call,
    /// An assignment or operation: it ends with an operand that the break may cut off.
    Open,
}

#[derive(Debug, Clone)]
struct Node {
    span: Range<usize>,
    children: Vec<NodeId>,
    kind: Kind,
}

/// A concrete syntax tree.
#[derive(Debug, Clone)]
pub(crate) struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    root: NodeId,
}

impl<'t> Tree<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, nodes: Vec::new(), root: 0 }
    }

    pub(crate) fn leaf(&mut self, span: Range<usize>) -> NodeId {
        self.push(span, Vec::new(), Kind::Whole)
    }

    /// Adds a node over its children.
    pub(crate) fn node(&mut self, children: Vec<NodeId>, kind: Kind) -> NodeId {
        let start = children.first().map_or(0, |first| self.nodes[*first].span.start);
        let end = children.last().map_or(start, |last| self.nodes[*last].span.end);
        self.push(start..end, children, kind)
    }

    /// Adds a node that is longer than its children.
    pub(crate) fn spanning(&mut self, span: Range<usize>, children: Vec<NodeId>) -> NodeId {
        self.push(span, children, Kind::Whole)
    }

    /// Adds the root: it ends with the text, as in tree-sitter.
    pub(crate) fn finish(mut self, children: Vec<NodeId>) -> Self {
        let start = children.first().map_or(self.text.len(), |first| self.nodes[*first].span.start);
        self.root = self.push(start..self.text.len(), children, Kind::Whole);
        self
    }

    fn push(&mut self, span: Range<usize>, children: Vec<NodeId>, kind: Kind) -> NodeId {
        self.nodes.push(Node { span, children, kind });
        self.nodes.len() - 1
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Drops the nodes of an attempt that failed.
    pub(crate) fn truncate(&mut self, n_nodes: usize) {
        self.nodes.truncate(n_nodes);
    }

    pub(crate) fn source(&self) -> &'t str {
        self.text
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    pub(crate) fn text(&self, id: NodeId) -> &'t str {
        self.text.get(self.nodes[id].span.clone()).unwrap_or_default()
    }

    #[cfg(test)]
    pub(crate) fn span(&self, id: NodeId) -> Range<usize> {
        self.nodes[id].span.clone()
    }

    pub(crate) fn children(&self, id: NodeId) -> &[NodeId] {
        &self.nodes[id].children
    }

    pub(crate) fn kind(&self, id: NodeId) -> Kind {
        self.nodes[id].kind
    }

    pub(crate) fn is_leaf(&self, id: NodeId) -> bool {
        self.nodes[id].children.is_empty()
    }

    /// Returns the nodes that a broken node falls into: an assignment or operation loses its right end, level by level.
    pub(crate) fn pieces(&self, id: NodeId) -> Vec<NodeId> {
        let (mut pieces, mut last) = (Vec::new(), id);
        while self.nodes[last].kind == Kind::Open
            && let Some((end, before)) = self.nodes[last].children.split_last()
        {
            pieces.extend(before);
            last = *end;
        }
        pieces.push(last);
        pieces
    }

    /// Returns the root and all nodes with children, in the order of the scripts: parents first, then the last child's subtree.
    pub(crate) fn visits(&self) -> Vec<NodeId> {
        let (mut stack, mut visits) = (vec![self.root], Vec::new());
        while let Some(id) = stack.pop() {
            visits.push(id);
            stack.extend(self.children(id).iter().filter(|child| !self.is_leaf(**child)));
        }
        visits
    }
}
