//! The paths of a tree, and pairs of a chosen and a rejected continuation.
//!
//! A path is valid data only if it is answered. Paths that gave up are kept for preference pairs, never as answers.

use callsieve_bfcl::conversation::{Call, Message};

use crate::ending::PathEnd;
use crate::tree::{Node, NodeId, Tree};

/// A path from the root to a leaf.
#[derive(Debug, Clone, Copy)]
pub struct Path<'t> {
    tree: &'t Tree,
    /// The leaf.
    pub leaf: NodeId,
    /// Why it ends.
    pub end: &'t PathEnd,
}

impl<'t> Path<'t> {
    /// Returns its messages with the opening, without diversity prompts.
    pub fn messages(&self) -> Vec<Message> {
        self.tree.messages(self.leaf)
    }

    /// Returns its calls in order, `Finish` included.
    pub fn calls(&self) -> Vec<&'t Call> {
        let nodes = self.tree.path(self.leaf).into_iter();
        nodes.flat_map(|node| &node.calls).map(|step| &step.call).collect()
    }

    /// Returns the number of requests whose replies are on the path.
    pub fn requests(&self) -> usize {
        self.tree.path(self.leaf).len().saturating_sub(1)
    }
}

/// Two continuations of the same messages, of which only the first leads to an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct PreferencePair {
    /// The node at which they part.
    pub node: NodeId,
    /// The messages up to there.
    pub shared: Vec<Message>,
    /// The model's messages on the answered path, up to the first call.
    pub chosen: Vec<Message>,
    /// The model's messages on the other, up to the first call.
    pub rejected: Vec<Message>,
}

impl Tree {
    /// Returns all paths with an end, in the order in which they were made.
    pub fn paths(&self) -> impl Iterator<Item = Path<'_>> {
        let with_end = self.nodes().skip(1).filter_map(|(leaf, node)| Some((leaf, node.end.as_ref()?)));
        with_end.map(|(leaf, end)| Path { tree: self, leaf, end })
    }

    /// Returns the first path with an answer.
    pub fn chosen(&self) -> Option<Path<'_>> {
        self.paths().find(|path| path.end.is_answered())
    }
}

/// Returns a pair for each other child of each node on the chosen path, from the root on, whose every path ended by its own
/// fault ([`PathEnd::is_at_fault`]). A pair of equal continuations is left out.
pub fn preference_pairs(tree: &Tree) -> Vec<PreferencePair> {
    let Some(chosen) = tree.chosen() else { return Vec::new() };
    let verdicts = failed_subtrees(tree);
    let mut on_path: Vec<NodeId> = tree.ancestors(chosen.leaf).collect();
    on_path.reverse();
    let mut pairs = Vec::new();
    for (at, node) in on_path.iter().enumerate() {
        let children = tree.node(*node).map(Node::children).unwrap_or_default();
        let followed = &on_path[at + 1..];
        for child in children.iter().filter(|child| verdicts.get(child.0) == Some(&true)) {
            let chosen = up_to_first_call(tree, followed.iter().copied());
            let first_child = |id: &NodeId| tree.node(*id).and_then(|node| node.children().first().copied());
            let rejected = up_to_first_call(tree, std::iter::successors(Some(*child), first_child));
            if !chosen.is_empty() && !is_same(&chosen, &rejected) {
                pairs.push(PreferencePair { node: *node, shared: tree.messages(*node), chosen, rejected });
            }
        }
    }
    pairs
}

/// Returns for each node whether every path through it ended by its own fault. Children are after their parents, so one pass
/// from the last node to the first is enough.
fn failed_subtrees(tree: &Tree) -> Vec<bool> {
    let nodes: Vec<&Node> = tree.nodes().map(|(_, node)| node).collect();
    let mut failed = vec![false; nodes.len()];
    for (at, node) in nodes.iter().enumerate().rev() {
        failed[at] = match &node.end {
            Some(end) => end.is_at_fault(),
            None => {
                !node.children().is_empty()
                    && node.children().iter().all(|child| failed.get(child.0) == Some(&true))
            }
        };
    }
    failed
}

/// Returns the model's messages up to the first with a call.
fn up_to_first_call(tree: &Tree, nodes: impl Iterator<Item = NodeId>) -> Vec<Message> {
    let mut messages = Vec::new();
    for node in nodes.filter_map(|id| tree.node(id)) {
        messages.push(tree.reply(node));
        if !node.calls.is_empty() {
            break;
        }
    }
    messages
}

/// Returns `true` if two continuations differ in nothing but the ids of calls.
fn is_same(one: &[Message], other: &[Message]) -> bool {
    let same_call = |(one, other): (&Call, &Call)| one.name == other.name && one.arguments == other.arguments;
    let same = |(one, other): (&Message, &Message)| {
        one.content == other.content
            && one.calls.len() == other.calls.len()
            && one.calls.iter().zip(&other.calls).all(same_call)
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::Role;

    use super::*;
    use crate::reply::{Observation, Reply};
    use crate::tests::{answer, call, dfsdt, give_up, toolbench};

    #[test]
    fn a_path_that_gave_up_is_rejected_where_it_parts_from_the_answer() {
        let mut search = dfsdt(2);
        search.reply(Reply::calls(vec![call("a")])).unwrap();
        search.observe(Observation::result("one")).unwrap();
        search.reply(give_up()).unwrap();
        search.reply(Reply::message(Some("Then b.".to_owned()), vec![call("b")])).unwrap();
        search.observe(Observation::result("two")).unwrap();
        search.reply(answer("done")).unwrap();
        let tree = search.tree();
        let ends: Vec<(&str, usize, usize)> =
            tree.paths().map(|path| (path.end.code(), path.requests(), path.calls().len())).collect();
        assert_eq!(ends, [("path/gave-up", 2, 2), ("path/answered", 3, 3)]);
        let pairs = preference_pairs(tree);
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0].node, NodeId(1));
        let roles: Vec<Role> = pairs[0].shared.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool]);
        assert_eq!(pairs[0].chosen[0].content, "Then b.");
        assert_eq!(pairs[0].chosen[0].calls[0].name, "b");
        assert_eq!(pairs[0].rejected[0].calls[0].name, "Finish");
    }

    #[test]
    fn equal_continuations_are_no_pair() {
        let mut search = dfsdt(2);
        for _ in 0..2 {
            search.reply(Reply::calls(vec![call("a")])).unwrap();
            search.observe(Observation::result("one")).unwrap();
            search.reply(give_up()).unwrap();
            search.reply(give_up()).unwrap();
        }
        assert_eq!(preference_pairs(search.tree()), []);
        let mut search = dfsdt(2);
        search.reply(Reply::calls(vec![call("a")])).unwrap();
        search.observe(Observation::result("one")).unwrap();
        search.reply(give_up()).unwrap();
        search.reply(give_up()).unwrap();
        search.reply(Reply::calls(vec![call("a")])).unwrap();
        search.observe(Observation::result("one")).unwrap();
        search.reply(answer("done")).unwrap();
        assert_eq!(search.tree().chosen().unwrap().leaf, NodeId(5));
        assert_eq!(preference_pairs(search.tree()), []);
    }

    #[test]
    fn a_sibling_that_the_caller_stopped_is_not_rejected() {
        let mut search = dfsdt(2);
        search.reply(Reply::calls(vec![call("a")])).unwrap();
        search.stop("time");
        assert!(search.tree().chosen().is_none());
        assert_eq!(preference_pairs(search.tree()), []);
        assert_eq!(search.tree().paths().next().unwrap().end, &PathEnd::Stopped("time".to_owned()));
    }

    #[test]
    fn a_failed_request_is_not_rejected() {
        let mut search = toolbench(2);
        search.reply(Reply::failure("503")).unwrap();
        search.reply(answer("done")).unwrap();
        assert!(search.tree().chosen().is_some());
        assert_eq!(preference_pairs(search.tree()), []);
    }
}
