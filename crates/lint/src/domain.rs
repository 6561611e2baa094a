//! Whether the values of an answer are in the enums of their docs, and the keys of dicts in their properties.
//!
//! The evaluator reads neither, so a model that follows the doc fails, and one that contradicts it passes. A value is
//! in an enum if the evaluator treats it as equal to a member. A default outside the enum is accepted, and an enum of
//! another type than the value is not applied, because both are faults of the doc with codes of their own.

use std::cell::RefCell;
use std::mem::{Discriminant, discriminant};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use callsieve_bfcl::types::Type;
use callsieve_checker::{same, standardized};
use callsieve_docs::fix::values::{brief, brief_list};
use callsieve_docs::patch::token;
use callsieve_text::listed::listed;

/// A value or key that the doc does not allow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outside {
    /// The rule.
    pub(super) code: &'static str,
    /// The JSON pointer into the alternative.
    pub(super) at: String,
    /// What was found.
    pub(super) found: String,
    /// What was expected.
    pub(super) expected: String,
}

/// What the doc of a parameter allows. An enum is prepared once for all alternatives.
pub(super) struct Domain<'s> {
    schema: &'s Value,
    enums: RefCell<FxHashMap<*const Vec<Value>, Rc<Members<'s>>>>,
}

/// The members of an enum.
struct Members<'s> {
    list: &'s [Value],
    /// Texts as the evaluator compares them.
    texts: FxHashSet<String>,
    others: FxHashSet<&'s Value>,
    kinds: FxHashSet<Discriminant<Value>>,
    has_lists: bool,
}

impl<'s> Members<'s> {
    fn of(list: &'s [Value]) -> Self {
        let texts = list.iter().filter_map(Value::as_str).map(standardized).collect();
        let kinds = list.iter().map(discriminant).collect();
        let others = list.iter().filter(|member| !member.is_string()).collect();
        Self { list, texts, others, kinds, has_lists: list.iter().any(Value::is_array) }
    }

    /// Whether the evaluator treats a value as equal to a member.
    fn have(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.texts.contains(&standardized(text)),
            _ => self.others.contains(value) || self.list.iter().any(|member| same(member, value)),
        }
    }
}

impl<'s> Domain<'s> {
    /// Returns the domain of a parameter.
    pub(super) fn of(schema: &'s Value) -> Self {
        Self { schema, enums: RefCell::default() }
    }

    /// Checks one alternative of the parameter.
    pub(super) fn outside(&self, value: &Value) -> Vec<Outside> {
        let mut outside = Vec::new();
        self.judge(self.schema, value, "", true, &mut outside);
        outside
    }

    /// Checks a value. The members of a dict are lists of alternatives one level deep, and plain values below.
    fn judge(
        &self,
        schema: &'s Value,
        value: &Value,
        at: &str,
        lists_alternatives: bool,
        outside: &mut Vec<Outside>,
    ) {
        self.in_enum(schema, value, at, outside);
        match (Type::of(schema), value) {
            (Some(Type::Dict), Value::Object(members)) => {
                self.of_members(schema, members, at, lists_alternatives, outside);
            }
            (Some(Type::Array | Type::Tuple), Value::Array(elements)) => {
                for (n, element) in elements.iter().enumerate() {
                    let at = format!("{at}/{n}");
                    self.judge(&schema["items"], element, &at, lists_alternatives, outside);
                }
            }
            _ => {}
        }
    }

    fn of_members(
        &self,
        schema: &'s Value,
        members: &Map<String, Value>,
        at: &str,
        lists_alternatives: bool,
        outside: &mut Vec<Outside>,
    ) {
        let properties =
            schema.get("properties").and_then(Value::as_object).filter(|named| !named.is_empty());
        let Some(properties) = properties else { return };
        for (key, member) in members {
            let at = format!("{at}/{}", token(key));
            let Some(property) = properties.get(key) else {
                outside.push(Outside {
                    code: "answer/unknown-key",
                    at,
                    found: format!("{key:?}"),
                    expected: format!("one of {}", listed(properties.keys(), "keys")),
                });
                continue;
            };
            match member {
                Value::Array(alternatives) if lists_alternatives => {
                    for (n, one) in alternatives.iter().enumerate() {
                        self.judge(property, one, &format!("{at}/{n}"), false, outside);
                    }
                }
                one => self.judge(property, one, &at, false, outside),
            }
        }
    }

    fn in_enum(&self, schema: &'s Value, value: &Value, at: &str, outside: &mut Vec<Outside>) {
        let Some(list) = schema.get("enum").and_then(Value::as_array) else { return };
        let default = schema.get("default").filter(|default| !default.is_null());
        if default.is_some_and(|default| same(default, value)) {
            return;
        }
        let members = Rc::clone(
            self.enums
                .borrow_mut()
                .entry(std::ptr::from_ref(list))
                .or_insert_with(|| Members::of(list).into()),
        );
        // The enum of an array lists its elements, unless its members are arrays.
        let values = match value {
            Value::Array(elements) if !members.has_lists => elements.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values.iter().filter(|value| **value != "" && !value.is_null()) {
            let is_checked = members.kinds.contains(&discriminant(value));
            let is_default = default.is_some_and(|default| same(default, value));
            if is_checked && !is_default && !members.have(value) {
                outside.push(Outside {
                    code: "answer/not-in-enum",
                    at: at.to_owned(),
                    found: brief(value),
                    expected: format!("one of {}", brief_list(list)),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outside(schema: &Value, value: &Value) -> Vec<(&'static str, String)> {
        Domain::of(schema).outside(value).into_iter().map(|found| (found.code, found.at)).collect()
    }

    #[test]
    fn values_outside_the_enum_are_found_at_any_depth() {
        let bell = json!({"type": "string", "enum": ["Noon", "Storm"], "default": "any"});
        for value in [json!("noon"), json!("NO-ON"), json!("any"), json!(""), json!(null), json!(3)] {
            assert_eq!(outside(&bell, &value), [], "{value}");
        }
        let found = |at: &str| vec![("answer/not-in-enum", at.to_owned())];
        assert_eq!(outside(&bell, &json!("door")), found(""));
        let bells = json!({"type": "array", "items": bell});
        assert_eq!(outside(&bells, &json!(["noon", "door"])), found("/1"));
        let of_elements = json!({"type": "array", "items": {"type": "string"}, "enum": ["noon"]});
        assert_eq!(outside(&of_elements, &json!(["noon"])), []);
        assert_eq!(outside(&of_elements, &json!(["door"])), found(""));
        let dict = json!({"type": "dict", "properties": {"bell": bell, "in": {"type": "dict", "properties": {"bell": bell}}}});
        assert_eq!(outside(&dict, &json!({"bell": ["", "noon", "door"]})), found("/bell/2"));
        assert_eq!(outside(&dict, &json!({"in": [{"bell": "door"}]})), found("/in/0/bell"));
    }

    #[test]
    fn keys_outside_the_properties_are_found_if_the_doc_names_any() {
        let dict = json!({"type": "dict", "properties": {"a": {"type": "string"}}});
        assert_eq!(outside(&dict, &json!({"a": ["x"]})), []);
        assert_eq!(outside(&dict, &json!({"b": ["x"]})), [("answer/unknown-key", "/b".to_owned())]);
        let array = json!({"type": "array", "items": dict});
        assert_eq!(outside(&array, &json!([{"b": ["x"]}])), [("answer/unknown-key", "/0/b".to_owned())]);
        assert_eq!(outside(&json!({"type": "dict", "properties": {}}), &json!({"b": ["x"]})), []);
    }
}
