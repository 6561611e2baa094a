//! `$ref`: a schema defined elsewhere, copied to where it is used.
//!
//! References into the function itself are resolved; a recursive schema is cut at its first repetition. A reference
//! that cannot be resolved, or expands without limit, is unchanged and reported.

use serde_json::{Map, Value, json};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_function;
use crate::patch::token;

const REF: &str = "$ref";
/// Keys whose values are not schemas, or are only reached through a reference.
const NOT_FOLLOWED: [&str; 6] = ["$defs", "definitions", "default", "enum", "examples", "const"];
/// The maximum number of values that the references of one place may add.
const MAX_VALUES: usize = 4_096;
/// The maximum depth of added values.
const MAX_DEPTH: usize = 64;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/reference",
    what: "A schema is a reference.",
    why: "BFCL has no definitions; the schema is copied to where it is used, and a recursive one is cut at its first \
          repetition.",
    safety: Safety::Safe,
    fires: r##"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"p": {"$ref": "#/$defs/P"}},
        "$defs": {"P": {"type": "string", "description": "x"}}}}"##,
    quiet: r##"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"p": {"$ref": "#/$defs/P"}}}}"##,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let Some(parameters) = function.get("parameters") else { return };
        each_reference(parameters, &mut format!("{pointer}/parameters"), &mut |at, referring| {
            let mut resolver = Resolver { function, stack: Vec::new(), left: MAX_VALUES, depth: 0 };
            if let Some(resolved) = resolver.inline(referring) {
                let (holder, key) = at.rsplit_once('/').unwrap_or(("", at));
                opinion.change(Change::at(holder).replace(key, referring, resolved));
            }
        });
    });
}

/// Returns true if the function's parameters contain a reference, not counting definitions.
pub(super) fn holds_reference(function: &Value) -> bool {
    let mut found = false;
    if let Some(parameters) = function.get("parameters") {
        each_reference(parameters, &mut String::new(), &mut |_, _| found = true);
    }
    found
}

/// Visits each outermost object that is a reference, with its pointer.
pub(super) fn each_reference<'v>(
    value: &'v Value,
    pointer: &mut String,
    look: &mut impl FnMut(&str, &'v Value),
) {
    let length = pointer.len();
    match value {
        Value::Object(map) if map.get(REF).is_some_and(Value::is_string) => look(pointer, value),
        Value::Object(map) => {
            for (key, inner) in map.iter().filter(|(key, _)| !NOT_FOLLOWED.contains(&key.as_str())) {
                pointer.push('/');
                pointer.push_str(&token(key));
                each_reference(inner, pointer, look);
                pointer.truncate(length);
            }
        }
        Value::Array(values) => {
            for (n, inner) in values.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&n.to_string());
                each_reference(inner, pointer, look);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

struct Resolver<'f> {
    function: &'f Map<String, Value>,
    /// The references being resolved, outermost first.
    stack: Vec<&'f str>,
    /// The number of further values that may be added.
    left: usize,
    /// The depth of the value within the added ones.
    depth: usize,
}

impl<'f> Resolver<'f> {
    /// Returns the value with all references resolved, or `None` if one cannot be resolved.
    fn inline(&mut self, value: &'f Value) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        self.depth = Some(self.depth + 1).filter(|depth| *depth <= MAX_DEPTH)?;
        let resolved = match value {
            Value::Object(map) => match map.get(REF) {
                Some(Value::String(reference)) => self.follow(reference, map),
                _ => self.inline_members(map).map(Value::Object),
            },
            Value::Array(values) => values.iter().map(|value| self.inline(value)).collect(),
            other => Some(other.clone()),
        };
        self.depth -= 1;
        resolved
    }

    fn inline_members(&mut self, map: &'f Map<String, Value>) -> Option<Map<String, Value>> {
        let members = map.iter().filter(|(key, value)| *key != REF || !value.is_string());
        members
            .map(|(key, inner)| {
                let resolved =
                    if NOT_FOLLOWED.contains(&key.as_str()) { inner.clone() } else { self.inline(inner)? };
                Some((key.clone(), resolved))
            })
            .collect()
    }

    /// Returns the target of a reference; keys next to the reference have priority.
    fn follow(&mut self, reference: &'f str, beside: &'f Map<String, Value>) -> Option<Value> {
        let target = self.target(reference)?;
        let resolved = if self.stack.contains(&reference) {
            json!({"type": target.get("type").and_then(Value::as_str).unwrap_or("object")})
        } else {
            self.stack.push(reference);
            let resolved = self.inline(target)?;
            self.stack.pop();
            resolved
        };
        let Value::Object(resolved) = resolved else { return None };
        let mut own = self.inline_members(beside)?;
        for (key, value) in resolved {
            own.entry(key).or_insert(value);
        }
        Some(Value::Object(own))
    }

    /// Returns the value at `#/…`, from `parameters` or from the function.
    fn target(&self, reference: &str) -> Option<&'f Value> {
        let path = reference.strip_prefix('#')?;
        let parameters = self.function.get("parameters")?;
        let from_function = || {
            let (first, rest) = path.strip_prefix('/')?.split_once('/')?;
            self.function.get(first)?.pointer(&format!("/{rest}"))
        };
        parameters.pointer(path).or_else(from_function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::fix;

    fn properties(parameters: &Value) -> String {
        let function = json!({"name": "f", "description": "d", "parameters": parameters});
        fix(&[function], Safety::Safe).functions[0]["parameters"]["properties"].to_string()
    }

    #[test]
    fn a_reference_to_a_sibling_is_resolved_and_local_keys_have_priority() {
        let parameters = json!({"type": "dict", "required": ["a", "b"], "properties": {
            "a": {"type": "string", "description": "first"},
            "b": {"description": "second", "$ref": "#/properties/a"}}});
        assert_eq!(
            properties(&parameters),
            r#"{"a":{"type":"string","description":"first"},"b":{"description":"second","type":"string"}}"#
        );
    }

    #[test]
    fn a_recursive_schema_is_cut_at_its_first_repetition() {
        let parameters = json!({"type": "dict", "required": ["n"], "properties": {"n": {"$ref": "#/$defs/N"}},
            "$defs": {"N": {"type": "object", "description": "node", "properties": {
                "kids": {"type": "array", "description": "kids", "items": {"$ref": "#/$defs/N"}}}}}});
        assert_eq!(
            properties(&parameters),
            r#"{"n":{"type":"dict","description":"node","properties":{"kids":{"type":"array","description":"kids","items":{"type":"dict"}}}}}"#
        );
    }

    #[test]
    fn references_that_expand_without_limit_are_unchanged() {
        let mut definitions = json!({"x0": {"type": "string"}});
        for n in 1..30 {
            let one = json!({"$ref": format!("#/$defs/x{}", n - 1)});
            definitions[format!("x{n}")] =
                json!({"type": "object", "properties": {"a": one, "b": one, "c": one}});
        }
        let parameters = json!({"type": "dict", "required": ["n"], "properties": {
            "n": {"type": "dict", "description": "n", "$ref": "#/$defs/x29"}}, "$defs": definitions});
        assert_eq!(
            properties(&parameters),
            r##"{"n":{"type":"dict","description":"n","$ref":"#/$defs/x29"}}"##
        );
    }
}
