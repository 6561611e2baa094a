//! Converts types to JSON Schema, with declared names resolved.
//!
//! `null` and `undefined` in a union are removed, as in Python's `Optional`. An undeclared name is kept as written, for
//! `fix`. Types without JSON values (functions, recursive types, computed types) are refused.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::join::Joint;
use callsieve_notation::typescript::{Member, Type};

/// The maximum depth of types once names are resolved.
const MAX_DEPTH: usize = 32;

/// The declared types, and those being resolved.
pub(super) struct Declared<'d> {
    types: &'d BTreeMap<String, Type>,
    /// The number of further types allowed for the functions of the text.
    left: &'d Cell<usize>,
    stack: Vec<&'d str>,
    depth: usize,
}

type Schema = Map<String, Value>;

impl<'d> Declared<'d> {
    pub(super) fn new(types: &'d BTreeMap<String, Type>, left: &'d Cell<usize>) -> Self {
        Self { types, left, stack: Vec::new(), depth: 0 }
    }

    /// Returns the same types for another value; the remaining allowance is shared.
    pub(super) fn for_next_value(&self) -> Self {
        Self::new(self.types, self.left)
    }

    /// Returns the schema of a type.
    pub(super) fn schema(&mut self, kind: &'d Type) -> Result<Schema, String> {
        self.left.set(self.left.get().checked_sub(1).ok_or("its types expand without limit")?);
        if self.depth == MAX_DEPTH {
            return Err("its types are nested too deep".to_owned());
        }
        self.depth += 1;
        let schema = match kind {
            Type::Named(name, arguments) => self.named(name, arguments)?,
            Type::Literal(value) => choices(&[value]),
            Type::List(inner) => with("array", "items", json!(self.schema(inner)?)),
            Type::Tuple(kinds) => {
                let items: Result<Vec<_>, _> = kinds.iter().map(|kind| self.schema(kind)).collect();
                with("array", "items", json!(items?))
            }
            Type::Object(members, others) => self.object(members, others.as_deref())?,
            Type::AnyOf(kinds) => self.any_of(kinds)?,
            Type::AllOf(kinds) => self.all_of(kinds)?,
            Type::Function(_) => return Err("found a function, expected a value".to_owned()),
        };
        self.depth -= 1;
        Ok(schema)
    }

    /// Returns a member's schema with its texts, and true if the member is required.
    pub(super) fn member(&mut self, member: &'d Member) -> Result<(Schema, bool), String> {
        let mut schema = match &member.kind {
            Some(kind) => self.schema(kind).map_err(|error| format!("{:?}: {error}", member.name))?,
            None => Map::new(),
        };
        if let Some(description) = &member.description {
            schema.insert("description".to_owned(), json!(description));
        }
        if let Some(default) = &member.default {
            schema.insert("default".to_owned(), default.clone());
        }
        let may_be_missing = member.is_optional || member.kind.as_ref().is_some_and(holds_undefined);
        Ok((schema, !may_be_missing))
    }

    fn object(&mut self, members: &'d [Member], others: Option<&'d Type>) -> Result<Schema, String> {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for member in members {
            let (schema, is_required) = self.member(member)?;
            if is_required {
                required.push(member.name.as_str());
            }
            if properties.insert(member.name.clone(), Value::Object(schema)).is_some() {
                return Err(format!("a second member {:?}", member.name));
            }
        }
        let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        if !members.is_empty() || others.is_none() {
            schema.insert("properties".to_owned(), Value::Object(properties));
            schema.insert("required".to_owned(), json!(required));
        }
        if let Some(others) = others {
            schema.insert("additionalProperties".to_owned(), Value::Object(self.schema(others)?));
        }
        Ok(schema)
    }

    fn any_of(&mut self, kinds: &'d [Type]) -> Result<Schema, String> {
        let real: Vec<&Type> = kinds.iter().filter(|kind| !is_nothing(kind)).collect();
        if let [only] = real.as_slice() {
            return self.schema(only);
        }
        let literals: Vec<&Value> = real
            .iter()
            .filter_map(|kind| if let Type::Literal(value) = kind { Some(value) } else { None })
            .collect();
        let is_one_kind = literals.windows(2).all(|pair| kind_of(pair[0]) == kind_of(pair[1]));
        if literals.len() == real.len() && is_one_kind && !literals.is_empty() {
            return Ok(choices(&literals));
        }
        let kinds: Result<Vec<_>, _> = real.into_iter().map(|kind| self.schema(kind)).collect();
        Ok(Map::from_iter([("anyOf".to_owned(), json!(kinds?))]))
    }

    fn all_of(&mut self, kinds: &'d [Type]) -> Result<Schema, String> {
        let mut joined = with("object", "properties", json!({}));
        let mut joint = Joint::default();
        for kind in kinds {
            let part = self.schema(kind)?;
            if !part.contains_key("properties") {
                return Err("only object types can be joined by `&`".to_owned());
            }
            if !joint.join(&mut joined, &part) {
                return Err("types joined by `&` contradict each other".to_owned());
            }
        }
        Ok(joined)
    }

    fn named(&mut self, name: &'d str, arguments: &'d [Type]) -> Result<Schema, String> {
        if let Some(kind) = self.types.get(name) {
            return self.declared(name, kind);
        }
        match (name, arguments) {
            ("String" | "Number" | "Boolean", []) => Ok(word(&name.to_ascii_lowercase())),
            ("bigint", []) => Ok(word("integer")),
            ("unknown", []) => Ok(word("any")),
            ("Object", []) => Ok(word("object")),
            ("undefined" | "void" | "never", []) => Ok(word("null")),
            ("typeof" | "keyof" | "unique" | "asserts", _) => {
                Err(format!("`{name}` types are computed, which is not supported"))
            }
            ("Array" | "ReadonlyArray" | "Set" | "ReadonlySet" | "Iterable", [inner]) => {
                Ok(with("array", "items", json!(self.schema(inner)?)))
            }
            ("Record" | "Map" | "ReadonlyMap", [key, value]) => self.record(key, value),
            ("Promise" | "Readonly" | "NonNullable" | "Awaited", [inner]) => self.schema(inner),
            ("Partial", [inner]) => self.with_required(inner, |_| Vec::new()),
            ("Required", [inner]) => {
                self.with_required(inner, |properties| properties.keys().cloned().collect())
            }
            ("Pick", [inner, keys]) => self.chosen(inner, keys, true),
            ("Omit", [inner, keys]) => self.chosen(inner, keys, false),
            (_, []) => Ok(word(name)),
            _ => Err(format!("unknown type `{name}<…>`")),
        }
    }

    fn declared(&mut self, name: &'d str, kind: &'d Type) -> Result<Schema, String> {
        if self.stack.contains(&name) {
            return Err(format!("the type `{name}` is recursive"));
        }
        self.stack.push(name);
        let schema = self.schema(kind)?;
        self.stack.pop();
        Ok(schema)
    }

    /// Returns an object with one type for all members, or for the listed ones.
    fn record(&mut self, key: &'d Type, value: &'d Type) -> Result<Schema, String> {
        let schema = Value::Object(self.schema(value)?);
        let Some(keys) = self.keys(key) else {
            return Ok(with("object", "additionalProperties", schema));
        };
        let properties: Map<_, _> = keys.iter().map(|key| (key.clone(), schema.clone())).collect();
        let mut schema = with("object", "properties", Value::Object(properties));
        schema.insert("required".to_owned(), json!(keys));
        Ok(schema)
    }

    /// Returns the texts that a type lists.
    fn keys(&self, kind: &Type) -> Option<Vec<String>> {
        let text = |kind: &Type| {
            if let Type::Literal(Value::String(text)) = kind { Some(text.clone()) } else { None }
        };
        match kind {
            Type::Literal(_) => Some(vec![text(kind)?]),
            Type::AnyOf(kinds) => kinds.iter().map(text).collect(),
            Type::Named(name, _) => match self.types.get(name)? {
                Type::AnyOf(kinds) => kinds.iter().map(text).collect(),
                _ => None,
            },
            _ => None,
        }
    }

    fn with_required(
        &mut self,
        inner: &'d Type,
        required: impl FnOnce(&Schema) -> Vec<String>,
    ) -> Result<Schema, String> {
        let mut schema = self.schema(inner)?;
        let properties =
            schema.get("properties").and_then(Value::as_object).ok_or("expected an object type")?;
        let required = required(properties);
        schema.insert("required".to_owned(), json!(required));
        Ok(schema)
    }

    /// Returns an object type with some of its members: the listed ones, or all others.
    fn chosen(&mut self, inner: &'d Type, keys: &'d Type, is_listed: bool) -> Result<Schema, String> {
        let keys = self.keys(keys).ok_or("expected the names of members")?;
        let mut schema = self.schema(inner)?;
        let is_kept = |name: &str| keys.iter().any(|key| key == name) == is_listed;
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.retain(|name, _| is_kept(name));
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|name| name.as_str().is_some_and(is_kept));
        }
        Ok(schema)
    }
}

fn word(kind: &str) -> Schema {
    Map::from_iter([("type".to_owned(), json!(kind))])
}

fn with(kind: &str, key: &str, value: Value) -> Schema {
    Map::from_iter([("type".to_owned(), json!(kind)), (key.to_owned(), value)])
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        _ => "number",
    }
}

/// Returns the schema of a type with a list of allowed values; both booleans together are not a list.
fn choices(values: &[&Value]) -> Schema {
    let kind = values.first().map_or("string", |value| kind_of(value));
    if kind == "boolean" && values.len() > 1 { word(kind) } else { with(kind, "enum", json!(values)) }
}

fn is_nothing(kind: &Type) -> bool {
    matches!(kind, Type::Named(name, _) if ["null", "undefined", "void", "never"].contains(&name.as_str()))
}

fn holds_undefined(kind: &Type) -> bool {
    let is_undefined = |kind: &Type| matches!(kind, Type::Named(name, _) if name == "undefined");
    matches!(kind, Type::AnyOf(kinds) if kinds.iter().any(is_undefined))
}
