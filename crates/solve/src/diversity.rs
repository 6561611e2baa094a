//! The prompt at a node that already has children: it lists their first calls, so that the model tries something else.
//!
//! The prompt is part of one request only; descendants never have it. It depends only on the tree and on the number of
//! earlier children, so it can be rebuilt later.

use callsieve_bfcl::conversation::{Message, Role};
use serde::Serialize;
use serde_json::Value;

use crate::tree::{Node, NodeId, Tree};

/// A call of an earlier child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate<'t> {
    /// The function's name as the model wrote it.
    pub name: &'t str,
    /// The arguments.
    pub arguments: &'t Value,
    /// What the call returned; `None` for a `Finish`.
    pub function_output: Option<&'t str>,
}

/// Returns the first calls of the first `n_children` children of a node. A reply without a call is passed over for its first
/// child. The original code lists one call of each child and a constant, `mento-carlo-action-value`, which is left out.
pub fn candidates(tree: &Tree, node: NodeId, n_children: usize) -> Vec<Candidate<'_>> {
    let children = tree.node(node).map(Node::children).unwrap_or_default();
    children.iter().take(n_children).flat_map(|child| leading_calls(tree, *child)).collect()
}

fn leading_calls(tree: &Tree, child: NodeId) -> Vec<Candidate<'_>> {
    let first_child = |id: &NodeId| tree.node(*id).and_then(|node| node.children().first().copied());
    let chain = std::iter::successors(Some(child), first_child).filter_map(|id| tree.node(id));
    let mut with_calls = chain.skip_while(|node| node.calls.is_empty());
    let steps = with_calls.next().map(|node| node.calls.as_slice()).unwrap_or_default();
    steps
        .iter()
        .map(|step| Candidate {
            name: &step.call.name,
            arguments: &step.call.arguments,
            function_output: step.observation.as_ref().map(|observation| observation.text.as_str()),
        })
        .collect()
}

/// Returns the message at a node after its first `n_children` children; `None` if none of them has a call. `template` is
/// [`crate::settings::Prompts::diversity`].
pub fn message(tree: &Tree, node: NodeId, n_children: usize, template: &str) -> Option<Message> {
    let candidates = candidates(tree, node, n_children);
    if candidates.is_empty() {
        return None;
    }
    let list = serde_json::to_string_pretty(&candidates).unwrap_or_default();
    let last = tree.node(node).and_then(|node| node.calls.last());
    let observation = last.and_then(|step| step.observation.as_ref()).map_or("", |found| found.text.as_str());
    Some(Message::text(
        Role::User,
        filled(template, &[("{candidates}", &list), ("{observation}", observation)]),
    ))
}

/// Returns a template with its placeholders replaced. Values are not searched for placeholders.
pub(crate) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        let found = values.iter().find(|(placeholder, _)| from.starts_with(placeholder));
        let (placeholder, value) = found.copied().unwrap_or(("{", "{"));
        text = text + before + value;
        rest = &from[placeholder.len()..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Observation, Reply};
    use crate::tests::{call, dfsdt, give_up};

    #[test]
    fn a_value_is_not_searched_for_placeholders() {
        let values = [("{a}", "{b}"), ("{b}", "2")];
        assert_eq!(filled("{a} {b} {c} {", &values), "{b} 2 {c} {");
    }

    #[test]
    fn the_first_call_after_a_text_is_listed() {
        let mut search = dfsdt(2);
        search.reply(Reply::text("I look it up.")).unwrap();
        assert_eq!(message(search.tree(), Tree::ROOT, 1, "{candidates}"), None);
        search.reply(Reply::calls(vec![call("a")])).unwrap();
        search.observe(Observation::result("one")).unwrap();
        search.reply(give_up()).unwrap();
        let tree = search.tree();
        let found = candidates(tree, Tree::ROOT, 1);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].name, found[0].function_output), ("a", Some("one")));
        assert_eq!(candidates(tree, Tree::ROOT, 0), []);
        let text = message(tree, Tree::ROOT, 1, "not: {candidates}|{observation}").unwrap().content;
        let list = text.strip_prefix("not: ").and_then(|text| text.strip_suffix('|')).unwrap();
        let list: Value = serde_json::from_str(list).unwrap();
        assert_eq!(list, serde_json::json!([{"name": "a", "arguments": {}, "function_output": "one"}]));
    }
}
