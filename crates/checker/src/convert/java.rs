//! The text of a Java argument (`java_type_converter.py`).
//!
//! Elements are split at every comma, also inside quotes. The elements of `new String[] {…}` keep their quotes; those
//! of an `ArrayList` of `String` lose their first and last character, whatever it is.

use std::sync::LazyLock;

use super::{Pattern, inner, is_quoted, number, pattern, strip, too_many_digits, unsupported};
use crate::value::{PyDict, PyValue};
use crate::verdict::EvaluatorException;

static INTEGER: Pattern = LazyLock::new(|| pattern(r"^-?#+\n?$"));
static LONG: Pattern = LazyLock::new(|| pattern(r"^-?#+[lL]\n?$"));
static FLOAT: Pattern = LazyLock::new(|| pattern(r"^-?#+(?:\.#+)?(?:[eE][+-]?#+)?[fF]\n?$"));
static DOUBLE: Pattern = LazyLock::new(|| pattern(r"^-?#+(?:\.#+)?(?:[eE][+-]?#+)?\n?$"));
static AS_LIST: Pattern = LazyLock::new(|| pattern(r"new~+ArrayList<@*>\(Arrays\.asList\((.+?)\)\)"));
static ADDS: Pattern = LazyLock::new(|| pattern(r"new~+ArrayList<@*>\(\)~*\{\{~*((?s:.)+?)~*\}\}"));
static ADD: Pattern = LazyLock::new(|| pattern(r"add\((.+?)\)"));
static EMPTY_LIST: Pattern = LazyLock::new(|| pattern(r"new~+ArrayList<@*>\(\)"));
static ARRAY: Pattern = LazyLock::new(|| pattern(r"new~+@+\[\]~*\{(.*?)\}"));
static PUTS: Pattern =
    LazyLock::new(|| pattern(r"new~+HashMap<(?s:.)*?>~*\(\)~*\{~*\{?~*((?s:.)*?)~*\}?~*\}"));
static PUT: Pattern = LazyLock::new(|| pattern(r#"put\("(.*?)",~*(.*?)\)"#));
static EMPTY_MAP: Pattern = LazyLock::new(|| pattern(r"new~+HashMap<.*?>~*\(\)"));

/// Converts the text of a Java argument to the declared type; the text itself if it has another form.
pub(crate) fn java(
    text: &str,
    declared: &str,
    of_elements: Option<&str>,
) -> Result<PyValue, EvaluatorException> {
    let unchanged = || PyValue::text(text);
    match declared {
        "byte" | "short" | "integer" if INTEGER.is_match(text) => integer(text),
        "long" if LONG.is_match(text) => integer(&without_suffix(text)),
        "float" if FLOAT.is_match(text) => Ok(float(&without_suffix(text)).unwrap_or_else(unchanged)),
        "double" if DOUBLE.is_match(text) => Ok(float(text).unwrap_or_else(unchanged)),
        "boolean" if matches!(text, "true" | "false") => Ok(PyValue::Bool(text == "true")),
        "byte" | "short" | "integer" | "long" | "float" | "double" | "boolean" | "char" | "String"
        | "any" => Ok(unchanged()),
        "Array" => Ok(array(text, of_elements)?.map_or_else(unchanged, PyValue::List)),
        "ArrayList" => Ok(array_list(text, of_elements)?.map_or_else(unchanged, PyValue::List)),
        "HashMap" => Ok(hash_map(text)?.map_or_else(unchanged, PyValue::Dict)),
        "Set" | "Hashtable" | "Queue" | "Stack" => Err(EvaluatorException::new(
            "NotImplementedError",
            format!("the evaluator converts no value of the Java type {declared}"),
        )),
        _ => Err(unsupported(declared)),
    }
}

fn integer(text: &str) -> Result<PyValue, EvaluatorException> {
    let value = number::integer(text).map_err(|_| too_many_digits())?;
    Ok(value.map_or_else(|| PyValue::text(text), PyValue::Int))
}

fn float(text: &str) -> Option<PyValue> {
    number::float(text).map(PyValue::Float)
}

/// Returns a number without the letter at its end; a line feed may follow it.
fn without_suffix(text: &str) -> String {
    text.replace(['l', 'L', 'f', 'F'], "")
}

fn array(text: &str, of_elements: Option<&str>) -> Result<Option<Vec<PyValue>>, EvaluatorException> {
    let Some(found) = ARRAY.captures(text) else { return Ok(None) };
    let elements = found[1].split(',').map(strip).filter(|element| !element.is_empty());
    let convert = |element| match of_elements {
        Some(declared) => java(element, declared, None),
        None => untyped(element),
    };
    elements.map(convert).collect::<Result<_, _>>().map(Some)
}

fn array_list(text: &str, of_elements: Option<&str>) -> Result<Option<Vec<PyValue>>, EvaluatorException> {
    let convert = |element: &str| match of_elements {
        Some("char" | "String") => Ok(PyValue::text(inner(strip(element)))),
        Some(declared) => java(strip(element), declared, None),
        None => untyped(strip(element)),
    };
    if let Some(found) = AS_LIST.captures(text) {
        return found[1].split(',').map(convert).collect::<Result<_, _>>().map(Some);
    }
    if let Some(found) = ADDS.captures(text) {
        let adds = ADD.captures_iter(&found[1]);
        return adds.map(|add| convert(&add[1])).collect::<Result<_, _>>().map(Some);
    }
    Ok(EMPTY_LIST.is_match(text).then(Vec::new))
}

fn hash_map(text: &str) -> Result<Option<PyDict>, EvaluatorException> {
    if let Some(found) = PUTS.captures(text) {
        let puts = PUT.captures_iter(&found[1]);
        let member = |put: regex::Captures<'_>| Ok((PyValue::text(&put[1]), untyped(strip(&put[2]))?));
        return puts.map(member).collect::<Result<_, _>>().map(Some);
    }
    Ok(EMPTY_MAP.is_match(text).then(PyDict::default))
}

/// Converts a value without a declared type.
fn untyped(text: &str) -> Result<PyValue, EvaluatorException> {
    if matches!(text, "true" | "false") {
        return Ok(PyValue::Bool(text == "true"));
    }
    if is_quoted(text, '"') {
        return Ok(PyValue::text(inner(text)));
    }
    if LONG.is_match(text) {
        return integer(&without_suffix(text));
    }
    if FLOAT.is_match(text) {
        return Ok(float(&without_suffix(text)).unwrap_or_else(|| PyValue::text(text)));
    }
    // An integer with too many digits is read as a float.
    if let Ok(Some(value)) = number::integer(text) {
        return Ok(PyValue::Int(value));
    }
    Ok(float(text).unwrap_or_else(|| PyValue::text(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(text: &str, declared: &str, of_elements: Option<&str>) -> String {
        java(text, declared, of_elements)
            .map_or_else(|fault| fault.exception.to_owned(), |value| value.repr())
    }

    #[test]
    fn numbers_need_the_suffix_of_their_type() {
        for (text, declared, expected) in [
            ("-5", "byte", "-5"),
            ("٣", "integer", "3"),
            ("5\n", "short", "5"),
            ("+5", "integer", "'+5'"),
            ("5L", "integer", "'5L'"),
            ("5L", "long", "5"),
            ("5l\n", "long", "5"),
            ("5", "long", "'5'"),
            ("5e-1f", "float", "0.5"),
            ("0.5", "float", "'0.5'"),
            ("5", "double", "5.0"),
            ("1e400", "double", "inf"),
            ("0.5d", "double", "'0.5d'"),
            (".5", "double", "'.5'"),
            ("true", "boolean", "True"),
            ("True", "boolean", "'True'"),
            ("'a'", "char", "\"'a'\""),
            ("\"a\"", "String", "'\"a\"'"),
        ] {
            assert_eq!(converted(text, declared, None), expected, "{text:?} {declared}");
        }
    }

    #[test]
    fn collections_are_read_by_patterns() {
        for (text, declared, of_elements, expected) in [
            ("new int[]{1, 2,,}", "Array", Some("integer"), "[1, 2]"),
            ("new String[] { \"a, b\" }", "Array", Some("String"), "['\"a', 'b\"']"),
            ("x = new int[]{5L}; new int[]{6}", "Array", Some("long"), "[5]"),
            ("new int[]{\n1}", "Array", Some("integer"), "'new int[]{\\n1}'"),
            ("{1, 2}", "Array", Some("integer"), "'{1, 2}'"),
            ("new ArrayList<>(Arrays.asList(\"a\", bc))", "ArrayList", Some("String"), "['a', '']"),
            ("new ArrayList<Integer>(Arrays.asList(1,, 2))", "ArrayList", Some("integer"), "[1, '', 2]"),
            ("new ArrayList<É>() {{ add(5); add('b'); }}", "ArrayList", Some("any"), "['5', \"'b'\"]"),
            ("new ArrayList<>() {{ add(f(5)); }}", "ArrayList", Some("any"), "['f(5']"),
            ("new ArrayList<>() {{}}", "ArrayList", Some("any"), "[]"),
            ("new ArrayList<List<Integer>>()", "ArrayList", Some("any"), "'new ArrayList<List<Integer>>()'"),
            ("List.of(1)", "ArrayList", Some("integer"), "'List.of(1)'"),
            (
                "new HashMap<String, Object>() {{ put(\"k\", 5L); put(\"l\",\"m\"); put(\"k\", 0.5f); }}",
                "HashMap",
                None,
                "{'k': 0.5, 'l': 'm'}",
            ),
            ("new HashMap<>() { put(\"k\", 1_000); }", "HashMap", None, "{'k': 1000}"),
            ("new HashMap<>() {{ put(\"k\", f(5)); }}", "HashMap", None, "{'k': 'f(5'}"),
            ("new HashMap<A, List<B>>()", "HashMap", None, "{}"),
            ("Map.of()", "HashMap", None, "'Map.of()'"),
            ("new int[]{1}", "Array", Some("Set"), "NotImplementedError"),
        ] {
            assert_eq!(converted(text, declared, of_elements), expected, "{text:?}");
        }
    }

    #[test]
    fn the_evaluator_stops_at_large_integers_and_at_some_types() {
        let digits = "9".repeat(5000);
        assert_eq!(converted(&digits, "integer", None), "ValueError");
        assert_eq!(
            converted(&format!("new HashMap<>() {{{{ put(\"k\", {digits}L); }}}}"), "HashMap", None),
            "ValueError"
        );
        let without_suffix = format!("new HashMap<>() {{{{ put(\"k\", {digits}); }}}}");
        assert_eq!(converted(&without_suffix, "HashMap", None), "{'k': inf}");
        for declared in ["Set", "Hashtable", "Queue", "Stack"] {
            assert_eq!(converted("x", declared, None), "NotImplementedError");
        }
        assert_eq!(converted("x", "number", None), "ValueError");
    }
}
