//! Draws a tree as text, at most 80 columns wide.
//!
//! The only reply after another is drawn below it without more indent, so that only branches move to the right. Text
//! of models and functions is escaped and shortened to the line.

use callsieve_text::visible::visible_line;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::ending::PathEnd;
use crate::react_text::argument_text;
use crate::tree::{Node, NodeId, Step, Tree};

/// The width of a line in columns.
pub const COLUMNS: usize = 80;
/// The most columns that branches take; deeper ones are drawn at the same place after an ellipsis.
const MAX_INDENT: usize = 36;
/// The most columns of the reason of an end.
const MAX_END: usize = 30;

/// A node to draw, with what is before it on its line and on the lines below it.
struct Line {
    node: NodeId,
    first: String,
    below: String,
}

/// Returns the tree, one line for each reply.
pub fn draw(tree: &Tree) -> String {
    let mut drawn = String::new();
    let mut open = below(tree, Tree::ROOT, "", true);
    while let Some(line) = open.pop() {
        let Some(node) = tree.node(line.node) else { continue };
        let end = node.end.as_ref().map(|end| format!(" [{}]", shortened(&end_text(end), MAX_END)));
        let end = end.unwrap_or_default();
        let room = COLUMNS.saturating_sub(line.first.width() + end.width());
        drawn += &format!("{}{}{end}\n", line.first, shortened(&reply_text(node), room));
        open.extend(below(tree, line.node, &line.below, false));
    }
    drawn
}

/// Returns the lines of the children, the first one last.
fn below(tree: &Tree, node: NodeId, prefix: &str, is_root: bool) -> Vec<Line> {
    let children = tree.node(node).map(Node::children).unwrap_or_default();
    if let ([child], false) = (children, is_root) {
        let same = || prefix.to_owned();
        return vec![Line { node: *child, first: same(), below: same() }];
    }
    let line = |(at, child): (usize, &NodeId)| {
        let (branch, rest) = if at + 1 == children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        Line { node: *child, first: indent(prefix, branch), below: indent(prefix, rest) }
    };
    children.iter().enumerate().map(line).rev().collect()
}

/// Returns the indent with one more branch, without its beginning if it is too wide. Each of its characters has one column,
/// each branch three.
fn indent(prefix: &str, branch: &str) -> String {
    let wide = format!("{prefix}{branch}");
    let n_chars = wide.chars().count();
    if n_chars <= MAX_INDENT {
        return wide;
    }
    "…  ".to_owned() + &wide.chars().skip(n_chars + 3 - MAX_INDENT).collect::<String>()
}

fn reply_text(node: &Node) -> String {
    if node.calls.is_empty() {
        return format!("\"{}\"", visible_line(node.text.as_deref().unwrap_or_default()));
    }
    node.calls.iter().map(step_text).collect::<Vec<_>>().join("; ")
}

fn step_text(step: &Step) -> String {
    let call = format!("{}({})", visible_line(&step.call.name), arguments_text(&step.call.arguments));
    match &step.observation {
        Some(observation) if observation.is_error => {
            format!("{call} → error: {}", visible_line(&observation.text))
        }
        Some(observation) => format!("{call} → {}", visible_line(&observation.text)),
        None => call,
    }
}

fn arguments_text(arguments: &Value) -> String {
    let Value::Object(members) = arguments else {
        return visible_line(&argument_text(arguments)).into_owned();
    };
    let member = |(name, value): (&String, &Value)| format!("{name}={value}");
    visible_line(&members.iter().map(member).collect::<Vec<_>>().join(", ")).into_owned()
}

fn end_text(end: &PathEnd) -> String {
    let code = end.code();
    let name = code.strip_prefix("path/").unwrap_or(code);
    match end {
        PathEnd::Failed(reason) | PathEnd::Stopped(reason) => format!("{name}: {}", visible_line(reason)),
        _ => name.to_owned(),
    }
}

/// Returns as much of the text as fits, with an ellipsis if it is shortened.
fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut width = 0;
    let fits = |letter: &char| {
        width += letter.width().unwrap_or(0);
        width < columns
    };
    text.chars().take_while(fits).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::Call;
    use serde_json::json;

    use super::*;
    use crate::reply::{Observation, Reply};
    use crate::settings::{Method, Settings};
    use crate::tests::{answer, call, dfsdt, give_up, search, settings};

    #[test]
    fn only_branches_are_indented() {
        let mut search = dfsdt(2);
        let find = Call { arguments: json!({"from": "Oslo", "n": 2}), ..call("a") };
        search.reply(Reply::calls(vec![find])).unwrap();
        search.observe(Observation::result("3 results")).unwrap();
        search.reply(Reply::text("Which\none?")).unwrap();
        search.reply(give_up()).unwrap();
        search.reply(Reply::calls(vec![call("b"), call("zzz")])).unwrap();
        search.observe(Observation::error("closed")).unwrap();
        search.reply(answer("done")).unwrap();
        let expected = "\
└─ a(from=\"Oslo\", n=2) → 3 results
   \"Which\\none?\"
   ├─ Finish(return_type=\"give_up_and_restart\") [gave-up]
   └─ b() → error: closed; zzz() → error: no function zzz
      Finish(return_type=\"give_answer\", final_answer=\"done\") [answered]
";
        assert_eq!(draw(search.tree()), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_limit() {
        let mut search = search(Settings { depth: 60, ..settings(Method::Dfsdt { width: 2 }) });
        for at in 0..20 {
            let wide = Call { arguments: json!({"城市": "北京".repeat(60)}), ..call("a") };
            search.reply(Reply::calls(vec![wide])).unwrap();
            search.observe(Observation::result(at.to_string() + &"x".repeat(300))).unwrap();
            search.reply(give_up()).unwrap();
        }
        search.stop("a reason that is much longer than the room that a line has for it".repeat(3));
        let drawn = draw(search.tree());
        assert!(drawn.lines().count() > 10, "{drawn}");
        assert!(drawn.lines().all(|line| line.width() <= COLUMNS), "{drawn}");
        let is_drawn = |letter: &char| "… │├└─".contains(*letter);
        let indents = drawn.lines().map(|line| line.chars().take_while(is_drawn).count());
        assert_eq!(indents.max(), Some(MAX_INDENT));
        assert!(drawn.lines().any(|line| line.starts_with('…')), "{drawn}");
    }
}
