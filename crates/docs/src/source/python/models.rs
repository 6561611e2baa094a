//! The classes of a Python source that describe values.
//!
//! Wherever a type names a model, its schema replaces the name. `inheritance` builds the schemas.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use crate::parse::fault::{ParseFault, ParseFaultKind};
use crate::source::found::{named, too_large};
use callsieve_notation::allowance::{Allowance, bytes_of, bytes_of_member};
use callsieve_notation::python::PyDefault;

/// Base classes and decorators of classes with fields.
const MODELS: [&str; 6] = ["BaseModel", "TypedDict", "OpenAISchema", "dataclass", "RootModel", "NamedTuple"];
/// Prefixes of annotations for lists.
const LISTS: [&str; 5] = ["List[", "list[", "Sequence[", "typing.List[", "t.List["];
/// The classes that describe values, as schemas.
pub(super) struct Models<'a> {
    /// The schemas by class name.
    pub(super) schemas: BTreeMap<String, Map<String, Value>>,
    /// The classes with fields, in the order of the source.
    pub(super) with_fields: Vec<String>,
    /// Unreadable classes, with the reason.
    pub(super) unread: BTreeMap<String, String>,
    /// Values of named constants, and the members of enumerations.
    pub(super) constants: BTreeMap<String, Value>,
    /// The words in the types of their fields.
    pub(super) mentioned: BTreeSet<String>,
    /// The memory allowance for copies of schemas.
    pub(super) allowance: &'a Allowance,
}

impl<'a> Models<'a> {
    /// Creates an empty set of models.
    pub(super) fn new(allowance: &'a Allowance) -> Self {
        Self {
            schemas: BTreeMap::new(),
            with_fields: Vec::new(),
            unread: BTreeMap::new(),
            constants: BTreeMap::new(),
            mentioned: BTreeSet::new(),
            allowance,
        }
    }

    /// Returns the reason for which a class of values is unusable.
    pub(super) fn unread(&self, name: &str) -> Option<&str> {
        self.unread.get(name).map(String::as_str)
    }

    /// Returns the value of a default, directly or from the constant that it names.
    pub(super) fn value<'v>(&'v self, default: &'v PyDefault) -> Option<&'v Value> {
        match default {
            PyDefault::Literal(value) => Some(value),
            PyDefault::Expression(name) => {
                let value = self.constants.get(name.strip_suffix(".value").unwrap_or(name))?;
                self.allowance.take(bytes_of(value)).then_some(value)
            }
        }
    }

    pub(super) fn is_model(&self, name: &str) -> bool {
        MODELS.contains(&name)
            || self.schemas.get(name).is_some_and(|schema| schema.contains_key("properties"))
    }

    pub(super) fn knows(&self, name: &str) -> bool {
        self.schemas.contains_key(name)
    }

    /// Returns the schema of a type that is a model, or a list of models.
    pub(super) fn schema(&self, kind: &str) -> Result<Option<Map<String, Value>>, ParseFault> {
        let bare = kind.trim_matches(['\'', '"']);
        if let Some(message) = words_of(kind).find_map(|word| self.unread.get(word)) {
            return Err(ParseFault::new(ParseFaultKind::SourceCode, message));
        }
        if let Some(schema) = self.schemas.get(bare) {
            let n_bytes = schema.iter().map(bytes_of_member).sum();
            return if self.allowance.take(n_bytes) { Ok(Some(schema.clone())) } else { Err(too_large()) };
        }
        let inner = LISTS.iter().find_map(|list| kind.strip_prefix(list)?.strip_suffix(']'));
        let Some(inner) = inner.filter(|inner| self.knows(not_optional(inner).trim_matches(['\'', '"'])))
        else {
            return Ok(None);
        };
        let items = self.schema(not_optional(inner))?;
        Ok(Some(Map::from_iter([("type".to_owned(), json!("array")), ("items".to_owned(), json!(items))])))
    }

    /// Returns the first model whose name occurs only in its definition.
    pub(super) fn unmentioned(&self, text: &str) -> Option<&String> {
        let mut n_times: HashMap<&str, usize> = HashMap::new();
        for word in words_of(text) {
            *n_times.entry(word).or_default() += 1;
        }
        self.with_fields.iter().find(|name| n_times.get(name.as_str()) == Some(&1))
    }

    /// Returns the outermost models as functions, for lists of tools written as models.
    pub(super) fn functions(&self) -> Result<Vec<Value>, ParseFault> {
        let function = |name: &String| {
            let mut parameters = self.schemas.get(name)?.clone();
            let description = parameters.shift_remove("description").unwrap_or_default();
            Some(named(name, description.as_str().unwrap_or_default(), Value::Object(parameters)))
        };
        let is_outermost = |name: &&String| !self.mentioned.contains(*name);
        let functions: Vec<_> = self.with_fields.iter().filter(is_outermost).filter_map(function).collect();
        if functions.is_empty() {
            return Err(ParseFault::new(
                ParseFaultKind::SourceCode,
                "there are classes, but none of them is a function",
            ));
        }
        Ok(functions)
    }
}

/// Returns `BaseModel` of `pydantic.BaseModel`, `dataclass` of `@dataclass(frozen=True)`.
pub(super) fn last_name(mark: &str) -> &str {
    let mark = mark.trim_start_matches('@');
    let end = mark.find(['(', '[']).unwrap_or(mark.len());
    mark[..end].rsplit('.').next().unwrap_or_default().trim()
}

pub(super) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Returns X of `Optional[X]` and `X | None`: in Python these allow None and do not make a parameter optional.
pub(super) fn not_optional(annotation: &str) -> &str {
    let marked = ["NotRequired[", "Required["].iter().find_map(|mark| annotation.strip_prefix(mark));
    let annotation = marked.and_then(|inner| inner.strip_suffix(']')).unwrap_or(annotation);
    let bare = annotation.strip_prefix("typing.").unwrap_or(annotation);
    let inner = bare.strip_prefix("Optional[").and_then(|inner| inner.strip_suffix(']'));
    let inner = inner.or_else(|| bare.strip_suffix("| None")).or_else(|| bare.strip_prefix("None |"));
    inner.map_or(annotation, str::trim)
}
