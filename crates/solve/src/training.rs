//! The training messages of a path: one list for each reply of the model, which is its last message.
//!
//! With a diversity template these are the `train_messages` of the original code (`Tree.py`), its peculiarities included;
//! without, they are the plain prefixes of the path.

use callsieve_bfcl::conversation::{Message, Role};

use crate::diversity;
use crate::tree::{Node, NodeId, Tree};

/// Returns the messages up to each reply of a path, shortest first.
pub fn prefixes(tree: &Tree, leaf: NodeId) -> Vec<Vec<Message>> {
    let mut messages = tree.opening().to_vec();
    let mut prefixes = Vec::new();
    for node in tree.path(leaf).into_iter().skip(1) {
        messages.push(tree.reply(node));
        prefixes.push(messages.clone());
        messages.extend(tree.following(node));
    }
    prefixes
}

/// Returns the messages up to each reply as the original code has them: of the diversity prompts on the way only the last is
/// kept, in its place. A reply with text and call that follows a reply without a call repeats the messages before it.
///
/// The original takes these of one path: the first answered one or, if there is none, a path that gave up, drawn at random.
pub fn toolbench_messages(tree: &Tree, leaf: NodeId, diversity: &str) -> Vec<Vec<Message>> {
    let mut ids: Vec<NodeId> = tree.ancestors(leaf).collect();
    ids.reverse();
    let mut written = Written { messages: tree.opening().to_vec(), prompt: None };
    let mut all = Vec::new();
    for pair in ids.windows(2) {
        let Some(node) = tree.node(pair[1]) else { break };
        if node.text.is_some() && !node.calls.is_empty() {
            all.extend(written.before_a_thought());
        }
        if let Some(prompt) = prompt_of(tree, pair[0], pair[1], diversity) {
            written.prompt = Some((written.messages.len(), prompt));
        }
        written.messages.push(tree.reply(node));
        all.push(written.with_prompt(written.messages.len()));
        written.messages.extend(tree.following(node));
    }
    all
}

/// Returns the diversity prompt of the request that made a node.
fn prompt_of(tree: &Tree, parent: NodeId, node: NodeId, template: &str) -> Option<Message> {
    let siblings = tree.node(parent).map(Node::children).unwrap_or_default();
    let n_earlier = siblings.iter().position(|sibling| *sibling == node)?;
    diversity::message(tree, parent, n_earlier, template)
}

/// The messages so far, and the last diversity prompt with its place.
struct Written {
    messages: Vec<Message>,
    prompt: Option<(usize, Message)>,
}

impl Written {
    /// Returns the first messages with the prompt in its place.
    fn with_prompt(&self, n_messages: usize) -> Vec<Message> {
        let mut messages = self.messages[..n_messages].to_vec();
        if let Some((place, prompt)) = &self.prompt {
            // The reply to the prompt is one of the messages, so its place is within them.
            messages.insert(*place, prompt.clone());
        }
        messages
    }

    /// Returns what the original code takes from the node of a text that comes with a call: the messages before it without
    /// user messages at the end, if the last is the model's.
    fn before_a_thought(&self) -> Option<Vec<Message>> {
        let last = self.messages.iter().rposition(|message| message.role != Role::User)?;
        (self.messages[last].role == Role::Assistant).then(|| self.with_prompt(last + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Observation, Reply};
    use crate::tests::{answer, call, dfsdt, give_up, letters, toolbench};

    #[test]
    fn plain_prefixes_have_no_diversity_prompt() {
        let mut search = dfsdt(2);
        search.reply(Reply::calls(vec![call("a")])).unwrap();
        search.observe(Observation::result("one")).unwrap();
        search.reply(give_up()).unwrap();
        search.reply(answer("done")).unwrap();
        let leaf = search.tree().chosen().unwrap().leaf;
        let prefixes = prefixes(search.tree(), leaf);
        let found: Vec<String> = prefixes.iter().map(|messages| letters(messages)).collect();
        assert_eq!(found, ["SUA", "SUAFA"]);
    }

    #[test]
    fn a_thought_with_a_call_after_a_text_repeats_the_messages_before_it() {
        let mut search = toolbench(2);
        search.reply(Reply::text("First I think.")).unwrap();
        search.reply(Reply::message(Some("Then I call.".to_owned()), vec![call("a")])).unwrap();
        search.observe(Observation::result("one")).unwrap();
        search.reply(answer("done")).unwrap();
        let leaf = search.tree().chosen().unwrap().leaf;
        let messages = toolbench_messages(search.tree(), leaf, "{candidates}");
        let found: Vec<String> = messages.iter().map(|messages| letters(messages)).collect();
        assert_eq!(found, ["SUA", "SUA", "SUAA", "SUAAFA"]);
    }

    #[test]
    fn only_the_last_diversity_prompt_of_a_path_is_kept() {
        let mut search = toolbench(2);
        let step = |search: &mut crate::Search, name: &str| {
            search.reply(Reply::calls(vec![call(name)])).unwrap();
            search.observe(Observation::result("one")).unwrap();
        };
        step(&mut search, "a");
        search.reply(give_up()).unwrap();
        for name in ["b", "c"] {
            step(&mut search, name);
        }
        search.reply(give_up()).unwrap();
        step(&mut search, "a");
        search.reply(answer("done")).unwrap();
        let leaf = search.tree().chosen().unwrap().leaf;
        let messages = toolbench_messages(search.tree(), leaf, "{candidates}");
        let found: Vec<String> = messages.iter().map(|messages| letters(messages)).collect();
        assert_eq!(found, ["SUUA", "SUAFUA", "SUAFUAFA"]);
    }
}
