//! The bounds on nesting: those of Python, and the stack that a deep text takes.

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::{Visitor, walk_expr};

use crate::decode::DecodeError;

/// Python's tokenizer refuses deeper brackets, those of the list and the call included.
const MAX_BRACKETS: usize = 200;

/// Python refuses deeper syntax trees, counted in expressions (measured with 3.11).
const MAX_DEPTH: usize = 2980;

/// A text with fewer marks that can nest needs no stack of its own.
const FEW: usize = 200;

/// Stack for each mark that can nest, in bytes: parsing, walking and dropping one level.
const PER_LEVEL: usize = 2 << 10;

/// Largest stack. Texts with more marks are refused.
const MAX_STACK: usize = 512 << 20;

/// Runs a function on a stack that is large enough for the nesting of a text.
pub(super) fn with_stack<T>(
    text: &str,
    run: impl FnOnce() -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    check_brackets(text)?;
    let levels = levels(text);
    if levels < FEW {
        return run();
    }
    let size = levels.saturating_mul(PER_LEVEL);
    if size > MAX_STACK {
        return Err(DecodeError::new("MemoryError", "the text has too many operators to be parsed"));
    }
    stacker::maybe_grow(size, size + (1 << 20), run)
}

/// Returns an upper bound on the depth of the syntax tree besides brackets: one level for each operator, or for each
/// run of letters that may be a keyword.
fn levels(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_mark = |at: usize| match bytes[at] {
        b'.' | b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>' | b'('
        | b'[' | b'{' | b':' => true,
        // `not`, `lambda`, `if`, `else`, `await`, `for`, `and`, `or`, `in`, `is`, `yield`: all are before a space, a
        // bracket, a quote or an operator.
        b' ' | b'\t' | b'\n' | b'\r' | 0x0c => at > 0 && bytes[at - 1].is_ascii_lowercase(),
        _ => false,
    };
    (0..bytes.len()).filter(|&at| is_mark(at)).count()
}

/// Refuses brackets that are nested too deeply. Brackets in texts and comments do not count.
fn check_brackets(text: &str) -> Result<(), DecodeError> {
    if memchr::memchr3_iter(b'[', b'(', b'{', text.as_bytes()).take(MAX_BRACKETS).count() < MAX_BRACKETS {
        return Ok(());
    }
    let (mut depth, mut rest) = (0_usize, text);
    while let Some(at) = rest.find(['[', '(', '{', ']', ')', '}', '\'', '"', '#']) {
        let mark = rest.as_bytes()[at];
        rest = &rest[at..];
        match mark {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth = depth.saturating_sub(1),
            b'#' => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            _ => {
                rest = after_string(rest);
                continue;
            }
        }
        if depth > MAX_BRACKETS {
            return Err(DecodeError::new("SyntaxError", "too many nested parentheses"));
        }
        rest = &rest[1..];
    }
    Ok(())
}

/// Returns what follows the string that a text begins with.
fn after_string(text: &str) -> &str {
    let bytes = text.as_bytes();
    let quote = bytes[0];
    let is_triple = bytes.len() > 2 && bytes[1] == quote && bytes[2] == quote;
    let width = if is_triple { 3 } else { 1 };
    let mut at = width;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' if !is_triple => return &text[at..],
            byte if byte == quote && (!is_triple || bytes[at..].starts_with(&[quote; 3])) => {
                return &text[at + width..];
            }
            _ => {}
        }
        at += 1;
    }
    ""
}

/// Refuses a tree that Python does not build.
pub(super) fn check_depth(expression: &Expr) -> Result<(), DecodeError> {
    match depth_of(expression) {
        MAX_DEPTH.. => Err(DecodeError::new("RecursionError", "the expression is nested too deeply")),
        _ => Ok(()),
    }
}

/// Returns the number of expressions inside each other.
pub(super) fn depth_of(expression: &Expr) -> usize {
    let mut depth = Depth::default();
    depth.visit_expr(expression);
    depth.largest
}

#[derive(Default)]
struct Depth {
    current: usize,
    largest: usize,
}

impl<'e> Visitor<'e> for Depth {
    fn visit_expr(&mut self, expression: &'e Expr) {
        self.current += 1;
        self.largest = self.largest.max(self.current);
        walk_expr(self, expression);
        self.current -= 1;
    }
}
