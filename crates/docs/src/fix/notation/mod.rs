//! Reads types as people write them: `str`, `List[int]`, `string?`, `array of numbers`.
//!
//! This is the grammar: marks, brackets, unions; the words are in `words`. A text that is not a type is left unchanged.

mod words;

use serde_json::{Map, Value, json};

use callsieve_bfcl::types::Type;
use words::{phrase, without_adjective, without_optional_mark, word};

/// The meaning of a written type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notation {
    /// One of BFCL's types.
    pub(super) kind: Type,
    /// The type of the elements, if stated.
    pub(super) items: Option<Box<Notation>>,
    /// The allowed values, if stated.
    pub(super) choices: Vec<String>,
    /// The text in brackets after the type: `DATE (YYYY-MM-DD)`.
    pub(super) format: Option<String>,
    /// Whether the value may be omitted or null.
    pub(super) optional: bool,
    /// Whether several types were stated, which `any` does not preserve.
    pub(crate) lossy: bool,
}

/// The maximum nesting of types.
const MAX_DEPTH: usize = 8;

/// Returns the meaning of a written type; `None` if it is not a type.
pub(crate) fn read(text: &str) -> Option<Notation> {
    read_within(text, MAX_DEPTH)
}

impl Notation {
    /// Returns the type as a schema.
    pub(super) fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(self.kind));
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema());
        }
        Value::Object(schema)
    }

    fn plain(kind: Type) -> Self {
        Self { kind, items: None, choices: Vec::new(), format: None, optional: false, lossy: false }
    }

    fn of(kind: Type, items: Option<Self>) -> Self {
        Self { items: items.map(Box::new), ..Self::plain(kind) }
    }
}

fn read_within(text: &str, depth: usize) -> Option<Notation> {
    let depth = depth.checked_sub(1)?;
    let text = text.trim();
    if let Some(kind) = word(text).or_else(|| phrase(text)) {
        return Some(Notation::plain(kind));
    }
    if let Some(choice) = unquoted(text) {
        return Some(Notation { choices: vec![choice], ..Notation::plain(Type::String) });
    }
    if let Some(inner) = without_adjective(text) {
        return read_within(inner, depth);
    }
    if let Some(inner) = without_optional_mark(text) {
        return Some(Notation { optional: true, ..read_within(inner, depth)? });
    }
    let alternatives = split_top(text, &["|", " or "]);
    if alternatives.len() > 1 {
        return union(&alternatives, depth);
    }
    if let Some(element) = text.strip_suffix("[]") {
        return Some(Notation::of(Type::Array, Some(read_within(element, depth)?)));
    }
    if let Some((element, container)) = text.rsplit_once(' ')
        && word(container) == Some(Type::Array)
        && let Some(element) = read_within(element, depth)
    {
        return Some(Notation::of(Type::Array, Some(element)));
    }
    if let Some((container, element)) = split_once_ignoring_case(text, " of ") {
        let kind = word(container).filter(|kind| [Type::Array, Type::Tuple].contains(kind))?;
        let element = element.trim();
        let singular = element.strip_suffix('s').unwrap_or(element);
        return Some(Notation::of(
            kind,
            Some(read_within(element, depth).or_else(|| read_within(singular, depth))?),
        ));
    }
    generic(text, depth)
}

/// Reads `Name[…]`, `Name<…>` or `Name(…)`.
fn generic(text: &str, depth: usize) -> Option<Notation> {
    let Some(open) = text.find(['[', '<', '(']) else {
        // Enumerations and modules precede the word: `Type.STRING`, `datetime.date`.
        return text.rsplit_once('.').and_then(|(_, last)| word(last)).map(Notation::plain);
    };
    let close = match text.as_bytes()[open] {
        b'[' => ']',
        b'<' => '>',
        _ => ')',
    };
    let inner = text[open + 1..].strip_suffix(close)?;
    let name = text[..open].trim().rsplit('.').next().unwrap_or_default();
    match name.to_lowercase().as_str() {
        "optional" => Some(Notation { optional: true, ..read_within(inner, depth)? }),
        "union" => union(&split_top(inner, &[","]), depth),
        "literal" | "enum" => {
            let choices =
                split_top(inner, &[","]).iter().map(|choice| unquoted(choice)).collect::<Option<_>>()?;
            Some(Notation { choices, ..Notation::plain(Type::String) })
        }
        _ => container(word(name)?, inner, close, depth),
    }
}

/// Reads the brackets of a type: its elements, or the format of a plain one.
fn container(kind: Type, inner: &str, close: char, depth: usize) -> Option<Notation> {
    match kind {
        Type::Tuple => {
            let elements = split_top(inner, &[","]);
            let kept: Vec<_> = elements.into_iter().filter(|element| *element != "...").collect();
            let items = union(&kept, depth)?;
            Some(Notation { lossy: items.lossy, ..Notation::of(kind, Some(items)) })
        }
        Type::Array => {
            let first = split_top(inner, &[","]).first().and_then(|first| read_within(first, depth))?;
            Some(Notation::of(kind, Some(first)))
        }
        Type::Dict => Some(Notation::plain(kind)),
        _ if close == ')' => {
            Some(Notation { format: Some(inner.trim().to_owned()), ..Notation::plain(kind) })
        }
        _ => None,
    }
}

/// Reads one of several types: `null` makes it optional, and two different types are `any`.
fn union(alternatives: &[&str], depth: usize) -> Option<Notation> {
    let is_null =
        |text: &str| ["none", "null", "undefined", "nonetype"].contains(&text.trim().to_lowercase().as_str());
    let kept: Vec<_> = alternatives.iter().filter(|text| !is_null(text)).collect();
    let read = kept.iter().map(|text| read_within(text, depth)).collect::<Option<Vec<_>>>()?;
    let optional = kept.len() < alternatives.len() || read.iter().any(|one| one.optional);
    let first = read.first()?.clone();
    let kinds: Vec<_> = read.iter().map(|one| one.kind).collect();
    let meaning = if read.iter().all(|one| one.kind == first.kind && one.items == first.items) {
        let choices = read.iter().flat_map(|one| one.choices.clone()).collect();
        let all_choose = read.iter().all(|one| !one.choices.is_empty());
        Notation { choices: if all_choose { choices } else { Vec::new() }, ..first }
    } else {
        match common(&kinds) {
            Some(Type::Float) => Notation::plain(Type::Float),
            _ => Notation { lossy: true, ..Notation::plain(Type::Any) },
        }
    };
    Some(Notation { optional, ..meaning })
}

/// Returns the type that contains the values of all given types, unless it is `any`.
pub(super) fn common(kinds: &[Type]) -> Option<Type> {
    let (first, rest) = kinds.split_first()?;
    if rest.iter().all(|kind| kind == first) {
        return Some(*first);
    }
    kinds.iter().all(|kind| [Type::Integer, Type::Float].contains(kind)).then_some(Type::Float)
}

/// Splits at separators outside brackets and quotes.
fn split_top<'a>(text: &'a str, separators: &[&str]) -> Vec<&'a str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, c) in text.char_indices() {
        match c {
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            '[' | '<' | '(' => depth += 1,
            ']' | '>' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0
            && quote.is_none()
            && at >= start
            && let Some(separator) = separators.iter().find(|separator| text[at..].starts_with(**separator))
        {
            parts.push(text[start..at].trim());
            start = at + separator.len();
        }
    }
    parts.push(text[start..].trim());
    parts
}

fn split_once_ignoring_case<'a>(text: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    let at = text.to_ascii_lowercase().find(separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}

fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    let inner = text.get(1..)?.strip_suffix(quote)?;
    (!inner.contains(quote)).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(text: &str) -> Option<&'static str> {
        read(text).map(|notation| notation.kind.name())
    }

    #[test]
    fn words_of_many_languages_name_a_type() {
        for (text, expected) in [
            ("str", "string"),
            ("Integer", "integer"),
            ("NUMBER", "float"),
            ("object", "dict"),
            ("bool", "boolean"),
            ("list", "array"),
            ("Any", "any"),
            ("ENUM", "string"),
            ("long", "integer"),
            ("double", "float"),
        ] {
            assert_eq!(kind(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn element_types_are_read_however_they_are_written() {
        for text in
            ["List[int]", "list(int)", "int[]", "Array<integer>", "array of integers", "typing.List[int]"]
        {
            assert_eq!(
                read(text),
                Some(Notation::of(Type::Array, Some(Notation::plain(Type::Integer)))),
                "{text}"
            );
        }
        let nested = read("List[List[int]]").unwrap().schema();
        assert_eq!(
            nested,
            json!({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}})
        );
        assert_eq!(kind("Dict[str, int]"), Some("dict"));
        assert_eq!(
            read("Tuple[int, int]").unwrap().schema(),
            json!({"type": "tuple", "items": {"type": "integer"}})
        );
    }

    #[test]
    fn marks_of_optional_are_recognised_and_removed() {
        for text in [
            "Optional[str]",
            "str, optional",
            "string?",
            "string | null",
            "string or null",
            "Optional string",
            "string (optional)",
            "Union[str, None]",
        ] {
            assert_eq!(
                read(text),
                Some(Notation { optional: true, ..Notation::plain(Type::String) }),
                "{text}"
            );
        }
    }

    #[test]
    fn two_different_types_are_any_and_two_names_of_one_type_are_that_type() {
        assert_eq!(kind("str | int"), Some("any"));
        assert_eq!(kind("Union[List[dict], dict]"), Some("any"));
        assert_eq!(kind("int or long"), Some("integer"));
    }

    #[test]
    fn choices_and_formats_are_kept() {
        assert_eq!(read("Literal['a', \"b, c\"]").unwrap().choices, ["a", "b, c"]);
        assert_eq!(read("DATE (YYYY-MM-DD)").unwrap().format.as_deref(), Some("YYYY-MM-DD"));
    }

    #[test]
    fn prose_is_not_a_type() {
        for text in [
            "",
            "The city",
            "Latitude, decimal (-90; 90)",
            "none",
            "?",
            "List[",
            "[]",
            "a of b",
            "weather object",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_trouble(text in "(str|int|list|\\[|\\]|<|>|\\||, |'| of | or |optional|é|\\(|\\)|\\?){0,12}") {
            let _ = read(&text);
        }
    }
}
