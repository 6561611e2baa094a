//! The tree of a search: each node is one reply of the model, with its calls and their observations.
//!
//! Nodes are in an arena in the order of their requests and refer to their parents, so that paths share their beginnings;
//! the messages of a path are built on demand. A parent is always before its children. Messages never include
//! diversity prompts, which `diversity` rebuilds from the tree.

use callsieve_bfcl::conversation::{Call, Message, Role};
use serde::{Deserialize, Serialize};

use crate::ending::PathEnd;
use crate::react_text::TextFault;
use crate::reply::Observation;
use crate::settings::Semantics;

/// The name that ToolBench gives to a call of a function that does not exist.
pub const HALLUCINATED: &str = "invalid_hallucination_function_name";

/// The place of a node in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub usize);

/// What a call refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// A function on offer: the caller executes it.
    Function,
    /// A function that is not on offer.
    Unknown,
    /// `Finish`.
    Finish,
}

/// A call with its observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The call as the model made it.
    pub call: Call,
    /// What it refers to.
    pub kind: CallKind,
    /// What it returned; `None` for a `Finish` that ends the path, and for a call that the end of the search prevented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observation: Option<Observation>,
}

/// One reply of the model, or the root, which has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The node before it; `None` for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<NodeId>,
    /// The number of its request, from 1; 0 for the root.
    pub request: u32,
    /// The text of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Step>,
    /// Calls of the reply that are not part of the path: after the end of the path, or beyond its depth.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_calls: usize,
    /// The user message after the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Why its text has no call that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<TextFault>,
    /// The text went on with an invented observation, which is cut off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invented_observation: bool,
    /// Why the path ends here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<PathEnd>,
    #[serde(skip)]
    pub(crate) children: Vec<NodeId>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde calls.
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Node {
    /// Returns its children in the order of their requests.
    pub fn children(&self) -> &[NodeId] {
        &self.children
    }

    /// Returns how many nodes the original code has for the reply: one for a text, two for a call.
    fn parts(&self) -> usize {
        usize::from(self.text.is_some()) + if self.calls.is_empty() { 0 } else { 2 }
    }
}

/// All replies of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredTree")]
pub struct Tree {
    semantics: Semantics,
    opening: Vec<Message>,
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct StoredTree {
    semantics: Semantics,
    opening: Vec<Message>,
    nodes: Vec<Node>,
}

/// A stored tree has no root, or a node whose parent is not before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("node {0} of the tree has no parent before it")]
pub struct BrokenTree(usize);

impl TryFrom<StoredTree> for Tree {
    type Error = BrokenTree;

    fn try_from(stored: StoredTree) -> Result<Self, BrokenTree> {
        let mut tree = Self { semantics: stored.semantics, opening: stored.opening, nodes: Vec::new() };
        for (at, node) in stored.nodes.into_iter().enumerate() {
            match node.parent {
                None if at == 0 => tree.nodes.push(node),
                Some(NodeId(parent)) if parent < at => {
                    tree.nodes[parent].children.push(NodeId(at));
                    tree.nodes.push(node);
                }
                _ => return Err(BrokenTree(at)),
            }
        }
        if tree.nodes.is_empty() { Err(BrokenTree(0)) } else { Ok(tree) }
    }
}

impl Tree {
    /// The place of the root.
    pub const ROOT: NodeId = NodeId(0);

    pub(crate) fn new(semantics: Semantics, opening: Vec<Message>) -> Self {
        Self { semantics, opening, nodes: vec![Node::default()] }
    }

    /// Adds a child of a node of this tree.
    pub(crate) fn push(&mut self, parent: NodeId, node: Node) -> NodeId {
        let id = NodeId(self.nodes.len());
        self.nodes[parent.0].children.push(id);
        self.nodes.push(Node { parent: Some(parent), ..node });
        id
    }

    /// Returns a node of this tree for changes.
    pub(crate) fn at(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0]
    }

    /// Returns a node; `None` if the tree has no such node.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0)
    }

    /// Returns all nodes in the order of their requests; the first is the root.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(at, node)| (NodeId(at), node))
    }

    /// Returns the messages before the first reply.
    pub fn opening(&self) -> &[Message] {
        &self.opening
    }

    /// Returns the rules under which the tree was built.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// Returns the parent of a node.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).and_then(|node| node.parent)
    }

    /// Returns a node and its ancestors up to the root, the node first.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let first = self.node(id).map(|_| id);
        std::iter::successors(first, |id| self.parent(*id))
    }

    /// Returns the replies from the root to a node, both included; empty if the tree has no such node.
    pub fn path(&self, id: NodeId) -> Vec<&Node> {
        let mut path: Vec<&Node> = self.ancestors(id).filter_map(|id| self.node(id)).collect();
        path.reverse();
        path
    }

    /// Returns the depth of a node: the number of calls or, in ToolBench semantics, of parts of replies.
    pub fn depth(&self, id: NodeId) -> usize {
        let measure = |node: &Node| match self.semantics {
            Semantics::Paper => node.calls.len(),
            Semantics::Toolbench => node.parts(),
        };
        self.ancestors(id).filter_map(|id| self.node(id)).map(measure).sum()
    }

    /// Returns the number of nodes in the original code's tree, which has one for the root and for each part of a reply.
    pub fn toolbench_size(&self) -> usize {
        1 + self.nodes.iter().map(Node::parts).sum::<usize>()
    }

    /// Returns the number of calls of functions that are not on offer.
    pub fn unknown_calls(&self) -> usize {
        let calls = self.nodes.iter().flat_map(|node| &node.calls);
        calls.filter(|step| step.kind == CallKind::Unknown).count()
    }

    /// Returns the messages from the opening to a node, in the message format of calls. A call without an observation
    /// has no tool message.
    pub fn messages(&self, id: NodeId) -> Vec<Message> {
        let mut messages = self.opening.clone();
        for node in self.path(id).into_iter().skip(1) {
            messages.push(self.reply(node));
            messages.extend(self.following(node));
        }
        messages
    }

    /// Returns the model's message of a reply.
    pub(crate) fn reply(&self, node: &Node) -> Message {
        let call = |step: &Step| Call { name: self.shown_name(step), ..step.call.clone() };
        let text = node.text.clone().unwrap_or_default();
        Message { calls: node.calls.iter().map(call).collect(), ..Message::text(Role::Assistant, text) }
    }

    /// Returns the messages after a reply: observations, and the message after a text.
    pub(crate) fn following(&self, node: &Node) -> Vec<Message> {
        let observed = |step: &Step| {
            let observation = step.observation.as_ref()?;
            Some(Message {
                call_id: step.call.id.clone(),
                name: Some(self.shown_name(step)),
                is_error: observation.is_error,
                ..Message::text(Role::Tool, observation.text.clone())
            })
        };
        let after = node.after.iter().map(|text| Message::text(Role::User, text.clone()));
        node.calls.iter().filter_map(observed).chain(after).collect()
    }

    fn shown_name(&self, step: &Step) -> String {
        match (self.semantics, step.kind) {
            (Semantics::Toolbench, CallKind::Unknown) => HALLUCINATED.to_owned(),
            _ => step.call.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{answered, call};

    #[test]
    fn a_stored_tree_is_read_back() {
        let tree = answered().tree().clone();
        let json = serde_json::to_string(&tree).unwrap();
        assert_eq!(serde_json::from_str::<Tree>(&json).unwrap(), tree);
        assert!(!json.contains("children") && !json.contains("dropped_calls"), "{json}");
    }

    #[test]
    fn a_stored_tree_with_a_parent_after_its_child_is_refused() {
        let error = |nodes: serde_json::Value| {
            let json = serde_json::json!({"semantics": "paper", "opening": [], "nodes": nodes});
            serde_json::from_value::<Tree>(json).unwrap_err().to_string()
        };
        let root = serde_json::json!({"request": 0});
        assert_eq!(error(serde_json::json!([])), "node 0 of the tree has no parent before it");
        assert_eq!(
            error(serde_json::json!([root, {"request": 1, "parent": 1}])),
            "node 1 of the tree has no parent before it"
        );
        assert_eq!(error(serde_json::json!([root, root])), "node 1 of the tree has no parent before it");
    }

    #[test]
    fn a_place_outside_the_tree_has_nothing() {
        let tree = answered().tree().clone();
        let outside = NodeId(99);
        assert_eq!(
            (tree.node(outside), tree.depth(outside), tree.path(outside).len()),
            (None, 0, 0),
            "nothing is there"
        );
        assert_eq!(tree.messages(outside), tree.opening());
    }

    #[test]
    fn only_toolbench_renames_a_function_that_does_not_exist() {
        let step = Step {
            call: call("zzz"),
            kind: CallKind::Unknown,
            observation: Some(Observation::error("no such function")),
        };
        for (semantics, name) in [(Semantics::Paper, "zzz"), (Semantics::Toolbench, HALLUCINATED)] {
            let mut tree = Tree::new(semantics, Vec::new());
            let id = tree.push(Tree::ROOT, Node { calls: vec![step.clone()], ..Node::default() });
            let messages = tree.messages(id);
            assert_eq!(messages[0].calls[0].name, name);
            assert_eq!(messages[1].name.as_deref(), Some(name));
            assert_eq!(tree.unknown_calls(), 1);
        }
    }
}
