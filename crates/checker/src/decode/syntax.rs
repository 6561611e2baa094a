//! Syntax trees of Java and JavaScript outputs, from the parser that the evaluator uses: tree-sitter.
//!
//! What the evaluator accepts depends on tree-sitter's error recovery: a missing `;` can be inserted, an `ERROR` node is
//! a failure. So the same parser and grammars are used, not a parser of our own. The crate of the exact JavaScript
//! grammar (0.21.4) cannot be in one tree with a current `cc`; 0.23.0 is the nearest one.
//!
//! Recovery can take quadratic time and memory. Both are bounded by the length of the text and the number of steps, not
//! by a clock, so that equal outputs have equal verdicts on every machine.

use std::cell::Cell;

use tree_sitter::{Language, Node, ParseOptions, ParseState, Parser, Tree};

use super::DecodeError;
use crate::value::{PyDict, PyValue};

/// Longest text in bytes. A longer one is not decoded; the calls of the ground truths have less than a tenth.
const MAX_BYTES: usize = 16 << 10;

/// Steps of the parser, in hundreds: more than calls of two thousand bytes need. Texts that need more are parsed again,
/// with the steps of error recovery counted apart.
const STEPS: usize = 100;

/// Parses a text.
pub(super) fn parse(text: &str, language: &Language) -> Result<Tree, DecodeError> {
    if text.len() > MAX_BYTES {
        return Err(DecodeError::new("MemoryError", format!("the text is longer than {MAX_BYTES} bytes")));
    }
    let mut parser = Parser::new();
    parser
        .set_language(language)
        .map_err(|error| DecodeError::new("ImportError", format!("the grammar does not fit: {error}")))?;
    let tree = parse_within(&mut parser, text, &Cell::new(true)).or_else(|| {
        let is_recovering = Cell::new(false);
        let mut parser = Parser::new();
        parser.set_language(language).ok()?;
        parser.set_logger(Some(Box::new(|_, message| {
            if message.starts_with("detect_error") {
                is_recovering.set(true);
            }
        })));
        parse_within(&mut parser, text, &is_recovering)
    });
    let tree = tree.ok_or_else(|| DecodeError::new("MemoryError", "the text takes too long to parse"))?;
    if has_error(&tree) {
        return Err(DecodeError::new("SyntaxError", "the text is no call"));
    }
    Ok(tree)
}

/// Parses a text, unless it takes too many steps of those that count.
fn parse_within(parser: &mut Parser, text: &str, counts: &Cell<bool>) -> Option<Tree> {
    let mut steps = 0_usize;
    let mut is_over = |_: &ParseState| {
        steps += usize::from(counts.get());
        steps > STEPS
    };
    let options = ParseOptions::new().progress_callback(&mut is_over);
    let bytes = text.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// Returns whether the tree has a node of a part that could not be parsed. Inserted tokens are no errors.
fn has_error(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    loop {
        if cursor.node().is_error() {
            return true;
        }
        if !cursor.node().has_error() || !cursor.goto_first_child() {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return false;
                }
            }
        }
    }
}

/// Returns the children of a node.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

/// The arguments of a call. Those without a name have the key `None`; a name twice is an error.
#[derive(Default)]
pub(super) struct Arguments {
    arguments: PyDict,
    is_repeated: bool,
}

impl Arguments {
    pub(super) fn insert(&mut self, name: Option<&str>, value: String) {
        let name = name.map_or(PyValue::None, PyValue::text);
        self.is_repeated |= self.arguments.get(&name).is_some();
        self.arguments.insert(name, PyValue::Str(value));
    }

    /// Returns the list of the one call with these arguments.
    pub(super) fn into_call(self, function: &str) -> Result<PyValue, DecodeError> {
        if self.is_repeated {
            return Err(DecodeError::new("Exception", "several arguments have the same name, or none"));
        }
        let call: PyDict = [(PyValue::text(function), PyValue::Dict(self.arguments))].into_iter().collect();
        Ok(PyValue::List(vec![PyValue::Dict(call)]))
    }
}
