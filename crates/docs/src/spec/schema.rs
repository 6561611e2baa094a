//! Resolves the references in schemas of an API description and merges `allOf`.
//!
//! A function is exported without its API description, so everything it refers to has to be included. A recursive
//! schema is cut at its first repetition, which is recorded as a step. A reference is kept if it leads nowhere or would
//! add more than one function or one text may have: `fix` reports it. Only places where the standards allow a schema
//! are searched; examples and defaults are data.

use serde_json::{Map, Value};

use super::note;
use crate::join::Joint;
use crate::parse::step::ParseStep;

const REF: &str = "$ref";
/// Keys with one schema.
const ONE: [&str; 4] = ["items", "additionalProperties", "not", "contains"];
/// Keys with a list of schemas, combining or not.
const LISTS: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keys with schemas by name.
const MAPS: [&str; 2] = ["properties", "patternProperties"];
/// The maximum number of values that the references of one function may add.
const MAX_VALUES: usize = 4_096;
/// The maximum number of values that the references of one text may add, per value of the text.
const MAX_GROWTH: usize = 10;
/// The maximum depth of schemas.
const MAX_DEPTH: usize = 32;
/// The maximum length of a chain of references.
const MAX_HOPS: usize = 16;

/// Resolves the references of one API description.
#[derive(Debug)]
pub struct Resolver<'s> {
    root: &'s Map<String, Value>,
    /// The references being resolved, outermost first.
    stack: Vec<&'s str>,
    depth: usize,
    /// The number of further values allowed: for this function, and in total.
    left: usize,
    left_in_all: usize,
}

impl<'s> Resolver<'s> {
    /// Creates a resolver for a whole description.
    pub fn new(root: &'s Map<String, Value>) -> Self {
        let left_in_all = MAX_VALUES + MAX_GROWTH * root.values().map(n_values).sum::<usize>();
        Self { root, stack: Vec::new(), depth: 0, left: MAX_VALUES, left_in_all }
    }

    /// Resets the count for the next function.
    pub fn next_function(&mut self) {
        self.left = MAX_VALUES;
    }

    /// Resolves an object that is not a schema (a parameter, a body, a path, a response).
    ///
    /// # Errors
    /// The value is not an object, or its reference leads nowhere or in a circle.
    pub fn target(&self, value: &'s Value) -> Result<&'s Map<String, Value>, String> {
        let mut value = value;
        for _ in 0..MAX_HOPS {
            let map = value.as_object().ok_or("expected an object")?;
            let Some(reference) = map.get(REF).and_then(Value::as_str) else { return Ok(map) };
            value = self.at(reference).ok_or_else(|| format!("{reference:?} leads nowhere"))?;
        }
        Err("its references are circular".to_owned())
    }

    /// Returns a schema with its references resolved; a value that is not an object is an empty schema.
    pub fn schema(&mut self, value: &'s Value, steps: &mut Vec<ParseStep>) -> Map<String, Value> {
        match self.resolved(value, steps) {
            Value::Object(schema) => schema,
            _ => Map::new(),
        }
    }

    fn at(&self, reference: &str) -> Option<&'s Value> {
        let path = reference.strip_prefix("#/")?;
        let (first, rest) = path.split_once('/')?;
        self.root.get(first)?.pointer(&format!("/{rest}"))
    }

    fn resolved(&mut self, value: &'s Value, steps: &mut Vec<ParseStep>) -> Value {
        let Value::Object(map) = value else { return value.clone() };
        if self.depth == MAX_DEPTH {
            return value.clone();
        }
        self.depth += 1;
        let target = map.get(REF).and_then(Value::as_str);
        let resolved = match target.and_then(|reference| Some((reference, self.at(reference)?))) {
            Some((reference, target)) => self.follow(reference, target, map, steps),
            None => self.members(map, steps),
        };
        self.depth -= 1;
        Value::Object(with_all_merged(resolved))
    }

    fn members(&mut self, map: &'s Map<String, Value>, steps: &mut Vec<ParseStep>) -> Map<String, Value> {
        if !self.stack.is_empty() {
            self.charge(map.len());
        }
        map.iter().map(|(key, value)| (key.clone(), self.member(key, value, steps))).collect()
    }

    fn member(&mut self, key: &str, value: &'s Value, steps: &mut Vec<ParseStep>) -> Value {
        match value {
            Value::Object(_) if ONE.contains(&key) => self.resolved(value, steps),
            Value::Object(map) if MAPS.contains(&key) => {
                let each = map.iter().map(|(name, schema)| (name.clone(), self.resolved(schema, steps)));
                Value::Object(each.collect())
            }
            Value::Array(list) if LISTS.contains(&key) => {
                list.iter().map(|schema| self.resolved(schema, steps)).collect()
            }
            other => {
                if !self.stack.is_empty() {
                    self.charge(n_values(other));
                }
                other.clone()
            }
        }
    }

    fn charge(&mut self, n_values: usize) {
        self.left = self.left.saturating_sub(n_values);
        self.left_in_all = self.left_in_all.saturating_sub(n_values);
    }

    /// Returns the target merged with the keys next to the reference, which have priority.
    fn follow(
        &mut self,
        reference: &'s str,
        target: &'s Value,
        beside: &'s Map<String, Value>,
        steps: &mut Vec<ParseStep>,
    ) -> Map<String, Value> {
        if self.left == 0 || self.left_in_all == 0 || !target.is_object() {
            return beside.clone();
        }
        self.charge(1);
        let found = if self.stack.contains(&reference) {
            note(steps, ParseStep::RecursionCut);
            cut(target)
        } else {
            self.stack.push(reference);
            let found = self.schema(target, steps);
            self.stack.pop();
            found
        };
        let own = beside.iter().filter(|(key, _)| *key != REF);
        let mut merged: Map<_, _> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        for (key, value) in found {
            merged.entry(key).or_insert(value);
        }
        merged
    }
}

/// Returns the number of values in a value.
fn n_values(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(n_values).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(n_values).sum::<usize>(),
        _ => 1,
    }
}

/// Returns the rest of a schema where it begins to repeat.
fn cut(target: &Value) -> Map<String, Value> {
    let kept = ["type", "description"].into_iter();
    let mut cut: Map<_, _> =
        kept.filter_map(|key| Some((key.to_owned(), target.get(key)?.clone()))).collect();
    cut.entry("type").or_insert_with(|| "object".into());
    cut
}

/// Returns the schema with its `allOf` merged, unless the parts contradict each other.
fn with_all_merged(schema: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Array(parts)) = schema.get("allOf") else { return schema };
    let own = schema.iter().filter(|(key, _)| *key != "allOf");
    let mut merged: Map<_, _> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut joint = Joint::default();
    for part in parts {
        if !part.as_object().is_some_and(|part| joint.join(&mut merged, part)) {
            return schema;
        }
    }
    merged
}
