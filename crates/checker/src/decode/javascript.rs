//! A call in the syntax of JavaScript: `sort(list=items, limit=5)` (`js_parser.py`).
//!
//! The first statement that is a call counts. Its named arguments are texts as they are written; only quotes around a
//! whole argument are removed.

use std::sync::LazyLock;

use tree_sitter::{Language, Node};

use super::DecodeError;
use super::syntax::{Arguments, children, parse};
use crate::value::PyValue;

static GRAMMAR: LazyLock<Language> = LazyLock::new(|| tree_sitter_javascript::LANGUAGE.into());

/// Decodes a call; `None` of Python if there is none.
pub(super) fn decode(text: &str) -> Result<PyValue, DecodeError> {
    let tree = parse(&as_older_grammar(text), &GRAMMAR)?;
    let source = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let statements =
        children(tree.root_node()).into_iter().filter(|node| node.kind() == "expression_statement");
    let Some(call) = statements.flat_map(children).find(|node| node.kind() == "call_expression") else {
        return Ok(PyValue::None);
    };
    let missing = || DecodeError::new("IndexError", "a part of the call is missing");
    let function = call.child(0).ok_or_else(missing)?;
    let mut arguments = Arguments::default();
    for child in children(call.child(1).ok_or_else(missing)?) {
        match child.kind() {
            "assignment_expression" => {
                let name = child.child(0).ok_or_else(missing)?;
                let value = source(child.child(2).ok_or_else(missing)?);
                let is_quoted = |quote| value.starts_with(quote) && value.ends_with(quote);
                let value =
                    if is_quoted('"') || is_quoted('\'') { super::without_ends(value) } else { value };
                arguments.insert(Some(source(name)), value.to_owned());
            }
            "identifier" | "true" => arguments.insert(None, source(child).to_owned()),
            _ => {}
        }
    }
    arguments.into_call(source(function))
}

/// Returns a text of the same length for which the newer grammar gives the tree of the evaluator's: there, `import.` is
/// followed by any name, here only by `meta`.
fn as_older_grammar(text: &str) -> String {
    const IMPORT: &str = "import";
    let mut older = String::with_capacity(text.len());
    let mut parts = text.split(IMPORT);
    older.push_str(parts.next().unwrap_or_default());
    for part in parts {
        older.push_str(if part.trim_start().starts_with('.') { "imporu" } else { IMPORT });
        older.push_str(part);
    }
    older
}

#[cfg(test)]
mod tests {
    use crate::decode::{OutputFormat, decode_text};

    fn decoded(text: &str) -> String {
        match decode_text(text, OutputFormat::JavaScript, false) {
            Ok(value) => value.repr(),
            Err(error) => error.exception.to_owned(),
        }
    }

    #[test]
    fn the_first_statement_that_is_a_call_counts() {
        for (text, expected) in [
            ("[f(x=1)]", "[{'f': {'x': '1'}}]"),
            ("f(x=1);", "[{'f': {'x': '1'}}]"),
            ("f(); g();", "[{'f': {}}]"),
            ("f(), g()", "None"),
            ("new f(x=1)", "None"),
            ("await f(x=1)", "None"),
            ("a.b?.c(x=1)", "[{'a.b?.c': {'x': '1'}}]"),
            ("import.meta", "None"),
            ("import.metal(x=1)", "[{'import.metal': {'x': '1'}}]"),
            ("Sure! f(x=1)", "SyntaxError"),
            ("f(x=1", "SyntaxError"),
            ("", "None"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn values_are_texts_as_written() {
        for (arguments, expected) in [
            ("x=\"a\", y='b', z=`c`", "[{'f': {'x': 'a', 'y': 'b', 'z': '`c`'}}]"),
            ("x=[3, 1].sort(), y={a: 1}", "[{'f': {'x': '[3, 1].sort()', 'y': '{a: 1}'}}]"),
            ("x='a' + 'b'", "[{'f': {'x': \"a' + 'b\"}}]"),
            ("x=(y) => y, z=é", "[{'f': {'x': '(y) => y', 'z': 'é'}}]"),
            ("x=/* c */ 5", "[{'f': {'x': '/* c */'}}]"),
            ("x=1, false, true, 'zz', 7", "[{'f': {'x': '1', None: 'true'}}]"),
            ("true, y", "Exception"),
            ("x=1, x=2", "Exception"),
        ] {
            assert_eq!(decoded(&format!("f({arguments})")), expected, "{arguments}");
        }
    }

    #[test]
    fn long_texts_and_many_steps_are_errors() {
        assert_eq!(decoded(&format!("f(x='{}')", "a".repeat(20_000))), "MemoryError");
        for part in ["<a>", "x=>", "`${", "class A{", "(a,", "A<", "/*", "{"] {
            let error = decoded(&part.repeat(5000 / part.len()));
            assert!(["SyntaxError", "MemoryError", "None"].contains(&error.as_str()), "{part}: {error}");
        }
    }
}
