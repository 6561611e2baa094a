//! The text of a JavaScript argument (`js_type_converter.py`).
//!
//! Elements are split at every comma, also inside quotes and brackets; only lists of lists are split twice. An object
//! ends at its first `}`, so a nested object is cut there.

use std::sync::LazyLock;

use super::{Pattern, inner, is_quoted, is_space, number, pattern, strip, too_many_digits, unsupported};
use crate::value::{PyDict, PyValue};
use crate::verdict::EvaluatorException;

static INTEGER: Pattern = LazyLock::new(|| pattern(r"^-?#+\n?$"));
static FLOAT: Pattern = LazyLock::new(|| pattern(r"^-?#+(?:\.#+)?\n?$"));
static BIGINT: Pattern = LazyLock::new(|| pattern(r"^-?#+n\n?$"));
static LIST_OF_LISTS: Pattern = LazyLock::new(|| {
    pattern(r"^(?:\[~*\[.*?\]~*(?:,~*\[.*?\]~*)*\]|new~+Array\(~*\[.*?\]~*(?:,~*\[.*?\]~*)*\))")
});
static LIST: Pattern = LazyLock::new(|| pattern(r"^(?:\[(.*?)\]|new~+Array\((.*?)\))"));
static INNER_LIST: Pattern = LazyLock::new(|| pattern(r"\[(.*?)\]"));
static OBJECT: Pattern = LazyLock::new(|| pattern(r"^\{(.*?)\}"));

/// Converts the text of a JavaScript argument to the declared type; the text itself if it has another form.
pub(crate) fn javascript(
    text: &str,
    declared: &str,
    of_elements: Option<&str>,
) -> Result<PyValue, EvaluatorException> {
    let unchanged = || PyValue::text(text);
    match declared {
        "String" if is_quoted(text, '"') || is_quoted(text, '\'') => Ok(PyValue::text(inner(text))),
        "integer" if INTEGER.is_match(text) => integer(text),
        "float" if FLOAT.is_match(text) => Ok(number::float(text).map_or_else(unchanged, PyValue::Float)),
        // The last character is dropped as the `n`, although a line feed may follow the `n`.
        "Bigint" if BIGINT.is_match(text) => match text.strip_suffix('n') {
            Some(digits) => integer(digits),
            None => Err(EvaluatorException::new("ValueError", "a line feed follows the integer")),
        },
        "Boolean" if matches!(text, "true" | "false") => Ok(PyValue::Bool(text == "true")),
        "String" | "integer" | "float" | "Bigint" | "Boolean" | "any" => Ok(unchanged()),
        "dict" => Ok(object(text)),
        "array" => Ok(list(text, of_elements)),
        _ => Err(unsupported(declared)),
    }
}

fn integer(text: &str) -> Result<PyValue, EvaluatorException> {
    let value = number::integer(text).map_err(|_| too_many_digits())?;
    Ok(value.map_or_else(|| PyValue::text(text), PyValue::Int))
}

/// Returns the elements of a list; the text if it is none, or if an element makes the evaluator raise an exception.
fn list(text: &str, of_elements: Option<&str>) -> PyValue {
    let text = strip(text);
    if let Some(lists) = LIST_OF_LISTS.find(text) {
        let inner = |(at, inner): (usize, regex::Captures<'_>)| {
            let elements = strip(inner.get(1).map_or("", |found| found.as_str()));
            let elements = if at == 0 { elements.strip_prefix('[').unwrap_or(elements) } else { elements };
            PyValue::List(elements.split(',').map(untyped).collect())
        };
        return PyValue::List(INNER_LIST.captures_iter(lists.as_str()).enumerate().map(inner).collect());
    }
    let Some(found) = LIST.captures(text) else { return PyValue::text(text) };
    let elements = strip(found.get(1).or_else(|| found.get(2)).map_or("", |found| found.as_str()));
    let elements = elements.split(',').filter(|_| !elements.is_empty());
    let convert = |element| match of_elements {
        Some(declared) => javascript(strip(element), declared, None),
        None => Ok(untyped(element)),
    };
    elements.map(convert).collect::<Result<_, _>>().map_or_else(|_| PyValue::text(text), PyValue::List)
}

/// Returns the members of an object; the text if it is none.
fn object(text: &str) -> PyValue {
    let text = strip(text);
    let Some(found) = OBJECT.captures(text) else { return PyValue::text(text) };
    let member =
        |(key, value)| (PyValue::text(strip(key).trim_matches(['\'', '"'])), member_value(strip(value)));
    PyValue::Dict(Pairs(&found[1]).map(member).collect::<PyDict>())
}

fn member_value(text: &str) -> PyValue {
    if text.starts_with('[') && text.ends_with(']') {
        return list(text, None);
    }
    untyped(text.trim_matches(['\'', '"']))
}

/// The members of an object, each a key and a value: matches of `([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)` in a text without
/// line feeds. A value ends at a comma if a colon follows before the next comma.
struct Pairs<'t>(&'t str);

impl<'t> Iterator for Pairs<'t> {
    type Item = (&'t str, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, rest) = self.0.trim_start_matches(':').split_once(':')?;
        let rest = rest.trim_start_matches(is_space);
        for (comma, _) in rest.match_indices(',') {
            if let Some(next) = next_key(&rest[comma + 1..]) {
                self.0 = next;
                return Some((key, &rest[..comma]));
            }
        }
        self.0 = "";
        Some((key, rest))
    }
}

/// Returns where the next key begins, if a colon follows at least one character before the next comma.
fn next_key(rest: &str) -> Option<&str> {
    let key = rest.trim_start_matches(is_space);
    let has_colon = |key: &str| {
        let mut chars = key.chars();
        chars.next().is_some_and(|first| first != ',')
            && chars.take_while(|char| *char != ',').any(|char| char == ':')
    };
    if has_colon(key) {
        return Some(key);
    }
    // The pattern gives one space back for a key that is empty otherwise.
    let space = rest[..rest.len() - key.len()].char_indices().next_back()?.0;
    key.starts_with(':').then(|| &rest[space..])
}

/// Converts a value without a declared type.
fn untyped(text: &str) -> PyValue {
    let text = strip(text);
    match text {
        "true" | "false" => PyValue::Bool(text == "true"),
        _ if is_quoted(text, '"') || is_quoted(text, '\'') => PyValue::text(inner(text)),
        // An integer with too many digits is read as a float.
        _ => match number::integer(text) {
            Ok(Some(value)) => PyValue::Int(value),
            _ => number::float(text).map_or_else(|| PyValue::text(text), PyValue::Float),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(text: &str, declared: &str, of_elements: Option<&str>) -> String {
        javascript(text, declared, of_elements)
            .map_or_else(|fault| fault.exception.to_owned(), |value| value.repr())
    }

    #[test]
    fn scalars_have_one_form() {
        for (text, declared, expected) in [
            ("\"a'", "String", "'\"a\\''"),
            ("'a\"'", "String", "'a\"'"),
            ("\"", "String", "''"),
            ("-٣", "integer", "-3"),
            ("5.0", "integer", "'5.0'"),
            ("5", "float", "5.0"),
            ("5e3", "float", "'5e3'"),
            ("5n", "Bigint", "5"),
            ("5n\n", "Bigint", "ValueError"),
            ("5", "Bigint", "'5'"),
            ("true", "Boolean", "True"),
            ("'5'", "any", "\"'5'\""),
        ] {
            assert_eq!(converted(text, declared, None), expected, "{text:?} {declared}");
        }
    }

    #[test]
    fn lists_end_at_the_first_bracket() {
        for (text, of_elements, expected) in [
            ("[3, 1].sort()", Some("integer"), "[3, 1]"),
            (" new Array(1,2) ", Some("integer"), "[1, 2]"),
            ("[]", Some("integer"), "[]"),
            ("[1,]", Some("integer"), "[1, '']"),
            ("['a, b', \"c\"]", Some("String"), "[\"'a\", \"b'\", 'c']"),
            ("[5n\n]", Some("Bigint"), "'[5n\\n]'"),
            ("[1,\n2]", Some("integer"), "'[1,\\n2]'"),
            ("[[1, 2], ['a', true]]", Some("float"), "[[1, 2], ['a', True]]"),
            ("[ [1],\n[2] ].flat()", Some("array"), "[[1], [2]]"),
            ("new Array([1], [])", Some("array"), "[[1], ['']]"),
            ("[[1, [2]]]", Some("array"), "[[1, '[2']]"),
            ("[{\"a\": 1}, {\"b\": 2}]", Some("dict"), "[{'a': 1}, {'b': 2}]"),
            ("[{a: 1, b: 2}]", Some("dict"), "['{a: 1', 'b: 2}']"),
            ("xs", Some("integer"), "'xs'"),
        ] {
            assert_eq!(converted(text, "array", of_elements), expected, "{text:?}");
        }
    }

    #[test]
    fn objects_end_at_the_first_brace() {
        for (text, expected) in [
            ("{}", "{}"),
            ("{a: 1, 'b': \"x, y\", \"c\": [1, 'd']}", "{'a': 1, 'b': 'x, y', 'c': [1, 'd']}"),
            ("{\"c\": {\"d\": 1}}", "{'c': '{\"d\": 1'}"),
            ("{url: 'http://x', n: 5}", "{'url': 'http://x', 'n': 5}"),
            ("{a: 1, : 2}", "{'a': 1, '': 2}"),
            ("{a: 1,: 2}", "{'a': '1,: 2'}"),
            ("{a: 1, b:c:d}", "{'a': 1, 'b': 'c:d'}"),
            ("{a: , b: 2}", "{'a': '', 'b': 2}"),
            ("{a: (x, y) => z}", "{'a': '(x, y) => z'}"),
            ("{\na: 1}", "'{\\na: 1}'"),
            ("options", "'options'"),
        ] {
            assert_eq!(converted(text, "dict", None), expected, "{text:?}");
        }
    }

    #[test]
    fn the_evaluator_stops_at_large_integers_only_outside_of_collections() {
        let digits = "9".repeat(5000);
        assert_eq!(converted(&digits, "integer", None), "ValueError");
        assert_eq!(converted(&format!("{digits}n"), "Bigint", None), "ValueError");
        let list = format!("[{digits}]");
        assert_eq!(converted(&list, "array", Some("integer")), format!("'{list}'"));
        assert_eq!(converted(&format!("{{a: {digits}}}"), "dict", None), "{'a': inf}");
        assert_eq!(converted("x", "number", None), "ValueError");
    }
}
