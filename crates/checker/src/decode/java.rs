//! A call in the syntax of Java: `Tools.sort(list=items, limit=5)` (`java_parser.py`).
//!
//! The first method invocation of the text counts. Its named arguments are texts, put together from the leaves of the
//! syntax tree: spaces between tokens vanish, and so do the bodies of anonymous classes.

use std::sync::LazyLock;

use tree_sitter::{Language, Node};

use super::DecodeError;
use super::syntax::{Arguments, children, parse};
use crate::value::{PyDict, PyValue};

static GRAMMAR: LazyLock<Language> = LazyLock::new(tree_sitter_java::language);

/// Python's limit on recursion is 1000, of which the evaluator uses some.
const MAX_DEPTH: usize = 980;

/// Decodes a call; the empty dict if there is none.
pub(super) fn decode(text: &str) -> Result<PyValue, DecodeError> {
    let tree = parse(text, &GRAMMAR)?;
    let source = Source::new(text);
    let call = source.call(tree.root_node(), 1)?;
    Ok(call.unwrap_or_else(|| PyValue::Dict(PyDict::default())))
}

/// The text of an output, by the offsets that the evaluator uses: bytes of the syntax tree index characters.
struct Source<'t> {
    text: &'t str,
    /// Where each character begins, if there are others than ASCII.
    characters: Option<Vec<usize>>,
}

impl<'t> Source<'t> {
    fn new(text: &'t str) -> Self {
        let starts = || text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        Self { text, characters: (!text.is_ascii()).then(starts) }
    }

    fn text(&self, node: Node<'_>) -> &'t str {
        let offset = |byte: usize| match &self.characters {
            None => byte,
            Some(starts) => starts.get(byte).copied().unwrap_or(self.text.len()),
        };
        self.text.get(offset(node.start_byte())..offset(node.end_byte())).unwrap_or_default()
    }

    /// Returns the first call at or below a node.
    fn call(&self, node: Node<'_>, depth: usize) -> Result<Option<PyValue>, DecodeError> {
        check_depth(depth)?;
        if node.kind() == "method_invocation" {
            let name = self.text(node.child_by_field_name("name").ok_or_else(missing)?);
            let function = match node.child_by_field_name("object") {
                Some(object) => format!("{}.{name}", self.text(object)),
                None => name.to_owned(),
            };
            let arguments = node.child_by_field_name("arguments");
            return arguments
                .map(|arguments| self.arguments(arguments, depth)?.into_call(&function))
                .transpose();
        }
        for child in children(node) {
            if let Some(call) = self.call(child, depth + 1)? {
                return Ok(Some(call));
            }
        }
        Ok(None)
    }

    /// Returns the named arguments, and those that are a name or a class. Other arguments without a name are ignored.
    fn arguments(&self, node: Node<'_>, depth: usize) -> Result<Arguments, DecodeError> {
        let mut arguments = Arguments::default();
        for child in children(node) {
            match child.kind() {
                "assignment_expression" => {
                    let name = child.child(0).ok_or_else(missing)?;
                    let value = self.value(child.child(2), false, depth + 2)?;
                    arguments.insert(Some(self.text(name)), value);
                }
                "identifier" | "class_literal" => arguments.insert(None, self.text(child).to_owned()),
                _ => {}
            }
        }
        Ok(arguments)
    }

    /// Returns the text of a value. Only texts and characters that are a whole argument lose their quotes.
    fn value(&self, node: Option<Node<'_>>, is_nested: bool, depth: usize) -> Result<String, DecodeError> {
        check_depth(depth)?;
        let node = node.ok_or_else(missing)?;
        let text = self.text(node);
        Ok(match node.kind() {
            "string_literal" | "character_literal" if !is_nested => super::without_ends(text).to_owned(),
            "string_literal" | "character_literal" | "identifier" | "class_literal" | "type_identifier"
            | "method_invocation" => text.to_owned(),
            "array_creation_expression" => {
                let of_elements = self.value(node.child_by_field_name("type"), true, depth + 1)?;
                let elements = self.value(node.child_by_field_name("value"), true, depth + 1)?;
                format!("new {of_elements}[]{elements}")
            }
            "object_creation_expression" => {
                let class = self.value(node.child_by_field_name("type"), true, depth + 1)?;
                let arguments = node.child_by_field_name("arguments").map(children).unwrap_or_default();
                let arguments =
                    arguments.into_iter().filter(|child| !matches!(child.kind(), "," | "(" | ")"));
                let arguments = arguments.map(|child| self.value(Some(child), true, depth + 1));
                format!("new {class}({})", arguments.collect::<Result<Vec<_>, _>>()?.join(", "))
            }
            _ if node.child_count() > 0 => {
                // Each level takes two calls of Python.
                let parts = children(node).into_iter().map(|child| self.value(Some(child), true, depth + 2));
                parts.collect::<Result<String, _>>()?
            }
            _ => text.to_owned(),
        })
    }
}

fn check_depth(depth: usize) -> Result<(), DecodeError> {
    if depth > MAX_DEPTH {
        return Err(DecodeError::new("RecursionError", "the call is nested too deeply"));
    }
    Ok(())
}

fn missing() -> DecodeError {
    DecodeError::new("AttributeError", "a part of the call is missing, such as the elements of an array")
}

#[cfg(test)]
mod tests {
    use crate::decode::{OutputFormat, decode_text};

    fn decoded(text: &str) -> String {
        match decode_text(text, OutputFormat::Java, false) {
            Ok(value) => value.repr(),
            Err(error) => error.exception.to_owned(),
        }
    }

    #[test]
    fn a_missing_semicolon_is_inserted_or_an_error() {
        for (text, expected) in [
            ("[A.f(x=\"a\");]", "[{'A.f': {'x': 'a'}}]"),
            ("[A.f(x=\"a\")]", "SyntaxError"),
            ("[A.f(x=1)]", "SyntaxError"),
            ("[A.f()]", "SyntaxError"),
            ("[A.f(x=\"a\", y=2)]", "[{'A.f': {'x': 'a', 'y': '2'}}]"),
            ("[A.f(x=true)]", "[{'A.f': {'x': 'true'}}]"),
            ("A.f(x=1);", "[{'A.f': {'x': '1'}}]"),
            ("A.f(x=1); B.g();", "[{'A.f': {'x': '1'}}]"),
            ("", "{}"),
            ("int x = 5;", "{}"),
            ("Sure! A.f(x=1);", "SyntaxError"),
        ] {
            assert_eq!(decoded(text), expected, "{text}");
        }
    }

    #[test]
    fn values_are_put_together_from_their_parts() {
        for (value, expected) in [
            ("new int[] { 1, 2 }", "'new int[]{1,2}'"),
            ("new String[]{\"a b\"}", "'new String[]{\"a b\"}'"),
            ("new int[3]", "AttributeError"),
            ("new ArrayList<>(Arrays.asList(1, 2))", "'new ArrayList<>(Arrays.asList(1, 2))'"),
            ("new HashMap<String, Object>() {{ put(\"k\", 5); }}", "'new HashMap<String,Object>()'"),
            ("'c'", "'c'"),
            ("(int) 5", "'(int)5'"),
            ("a . b", "'a.b'"),
            ("a ? b : c", "'a?b:c'"),
            ("/* c */ 5", "'/* c */'"),
        ] {
            let call = if expected.ends_with("Error") {
                expected.to_owned()
            } else {
                format!("[{{'f': {{'x': {expected}}}}}]")
            };
            assert_eq!(decoded(&format!("f(x={value});")), call, "{value}");
        }
    }

    #[test]
    fn arguments_without_a_name_and_names_twice() {
        for (arguments, expected) in [
            ("x=1, \"zz\", 7", "[{'f': {'x': '1'}}]"),
            ("x=1, y", "[{'f': {'x': '1', None: 'y'}}]"),
            ("y, String.class", "Exception"),
            ("x=1, x=2", "Exception"),
        ] {
            assert_eq!(decoded(&format!("f({arguments});")), expected, "{arguments}");
        }
    }

    #[test]
    fn bytes_index_characters() {
        assert_eq!(decoded("f(x=\"é\", yy=\"abc\");"), "[{'f': {'x': 'é\"', 'y=': 'bc\"'}}]");
        assert_eq!(decoded("f(x=\"é\", y=\"abc\", z=abc);"), "Exception");
        assert_eq!(decoded("f(x=\"a\"); // é"), "[{'f': {'x': 'a'}}]");
    }

    #[test]
    fn deep_and_long_texts_are_errors() {
        let nested = |n: usize| format!("f(x={}1{});", "(".repeat(n), ")".repeat(n));
        assert!(decoded(&nested(100)).starts_with("[{"));
        assert_eq!(decoded(&nested(1000)), "RecursionError");
        assert_eq!(decoded(&nested(100_000)), "MemoryError");
        for part in ["x=>", "A<", "<a>", "f(x=1)", "`${", "{", "(", "a.", "\"", "new "] {
            let error = decoded(&part.repeat(5000 / part.len()));
            assert!(
                ["SyntaxError", "MemoryError", "RecursionError"].contains(&error.as_str()),
                "{part}: {error}"
            );
        }
    }
}
