//! What of docs is compared: functions as `fix` would leave them with all its fixes allowed, so that `str` and `string`,
//! or another order of keys, make no difference.
//!
//! Fixing is what takes time, lists share functions, and several stages compare them. So each function is fixed on its
//! own, once ([`Function::of`], kept by whoever compares), and a list is put together from its functions
//! ([`List::of`]). Only where functions of a list could meet under one name is the list fixed as a whole.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::fix::renames::{Rename, name_of};
use super::{canonical, fix, interface};

/// One function in the form in which it is compared.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name as it was sent.
    pub sent: String,
    /// Its name after the fixes.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Canonical JSON.
    pub text: String,
    /// Its descriptions and those of all inside of it, one a line.
    descriptions: String,
    /// What a call sees of it: under its name, and as an only function.
    interface: [String; 2],
    /// The names that fixes changed.
    renames: Vec<Rename>,
    /// The fixes left exactly one function.
    is_one: bool,
}

impl Function {
    /// Fixes a function and takes from it what is compared.
    pub fn of(sent: &Value) -> Self {
        let (fixed, renames) = fix::mended(std::slice::from_ref(sent), fix::Safety::Unsafe);
        let first = fixed.first().unwrap_or(sent);
        let parameters = first.pointer("/parameters/properties").and_then(Value::as_object);
        let mut descriptions = String::new();
        gather_descriptions(first, &mut descriptions);
        Self {
            sent: name_of(sent),
            name: name_of(first),
            parameters: parameters.map(|map| map.keys().cloned().collect()).unwrap_or_default(),
            text: canonical::value_text(first),
            descriptions,
            interface: [interface::of_named(first), interface::of(std::slice::from_ref(first))],
            renames,
            is_one: fixed.len() == 1,
        }
    }

    /// The key under which the form of a function is kept: a hash of the function as it was sent, order of keys included.
    pub fn key(sent: &Value) -> u128 {
        xxh3_128(sent.to_string().as_bytes())
    }
}

/// A doc list in the form in which it is compared.
#[derive(Debug, PartialEq, Eq)]
pub struct List {
    /// The text that near copies are found by: canonical JSON.
    pub text: String,
    /// All descriptions, one a line.
    pub descriptions: String,
    /// What calls see of it.
    pub interface: String,
    /// The names that fixes change on the way: a call recorded against the list is carried along by them.
    pub renames: Vec<Rename>,
    /// The name of the only function as it was sent, and as it is after the fixes.
    pub only: Option<(String, String)>,
}

impl List {
    /// Puts a list together from the forms of its functions, which `form` gives.
    pub fn of(functions: &[Value], form: impl Fn(&Value) -> Arc<Function>) -> Self {
        let forms: Vec<Arc<Function>> = functions.iter().map(form).collect();
        if are_apart(&forms) { Self::joined(&forms) } else { Self::whole(functions) }
    }

    fn joined(forms: &[Arc<Function>]) -> Self {
        let texts: Vec<&str> = forms.iter().map(|form| form.text.as_str()).collect();
        let at = usize::from(forms.len() == 1);
        let mut interface: Vec<&str> = forms.iter().map(|form| form.interface[at].as_str()).collect();
        interface.sort_unstable();
        let renames = forms.iter().enumerate().flat_map(|(function, form)| {
            form.renames.iter().map(move |rename| Rename { function, ..rename.clone() })
        });
        Self {
            text: format!("[{}]", texts.join(",")),
            descriptions: forms.iter().map(|form| form.descriptions.as_str()).collect(),
            interface: interface.join("\n"),
            renames: renames.collect(),
            only: match forms {
                [form] => Some((form.sent.clone(), form.name.clone())),
                _ => None,
            },
        }
    }

    /// The same of a list whose functions are fixed together.
    fn whole(functions: &[Value]) -> Self {
        let (fixed, renames) = fix::mended(functions, fix::Safety::Unsafe);
        let mut descriptions = String::new();
        for function in &fixed {
            gather_descriptions(function, &mut descriptions);
        }
        Self {
            text: canonical::text(&fixed),
            descriptions,
            interface: interface::of(&fixed),
            renames,
            only: match (functions, &fixed[..]) {
                ([sent], [fixed]) => Some((name_of(sent), name_of(fixed))),
                _ => None,
            },
        }
    }
}

/// Whether the fixes of each function know nothing of the others: no two of them can meet under one name. Renames of several
/// functions are in the order in which the rules run over the whole list.
fn are_apart(forms: &[Arc<Function>]) -> bool {
    let mut taken: HashSet<&str> = HashSet::new();
    for form in forms {
        let is_new = taken.insert(&form.sent) && (form.name == form.sent || taken.insert(&form.name));
        if !(is_new && form.is_one) {
            return false;
        }
    }
    forms.iter().filter(|form| !form.renames.is_empty()).count() <= 1
}

/// Adds the descriptions of a function or a schema, and of all inside of it, one a line.
fn gather_descriptions(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => {
                        out.push_str(text);
                        out.push('\n');
                    }
                    value => gather_descriptions(value, out),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                gather_descriptions(value, out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::docs::arbitrary;

    fn joined(functions: &[Value]) -> List {
        List::of(functions, |function| Arc::new(Function::of(function)))
    }

    #[test]
    fn spelling_makes_no_difference() {
        let one =
            Function::of(&json!({"name": "ring", "description": "Rings.", "parameters": {"type": "object",
            "properties": {"bell": {"type": "str", "description": "Which."}}, "required": ["bell"]}}));
        let other = Function::of(
            &json!({"parameters": {"required": ["bell"], "properties": {"bell": {"description": "Which.",
            "type": "string"}}, "type": "dict"}, "description": "Rings.", "name": "ring"}),
        );
        assert_eq!(one.text, other.text);
        assert_eq!((one.name.as_str(), one.parameters), ("ring", vec!["bell".to_owned()]));
    }

    #[test]
    fn functions_that_can_meet_under_one_name_are_fixed_together() {
        let named = |name: &str| json!({"name": name, "description": "Rings.", "parameters": {"type": "object", "properties": {}}});
        for names in [["ring", "ring"], ["ring bell", "ring_bell"], ["ring-bell", "ring bell"], ["", "ring"]]
        {
            let list = names.map(named);
            assert_eq!(joined(&list), List::whole(&list), "{names:?}");
        }
        let twice = [named("ring bell"), named("ring bell")];
        assert_eq!(joined(&twice).renames.len(), List::whole(&twice).renames.len());
    }

    #[test]
    fn official_lists_put_together_are_those_fixed_as_a_whole() {
        let Some(folder) = crate::test_data::path("bfcl-v4-live") else { return };
        for category in ["simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance"] {
            let text = std::fs::read_to_string(folder.join(format!("BFCL_v4_live_{category}.json"))).unwrap();
            for line in text.lines() {
                let entry: Value = serde_json::from_str(line).unwrap();
                let functions = entry["function"].as_array().unwrap();
                assert_eq!(joined(functions), List::whole(functions), "{}", entry["id"]);
            }
        }
    }

    proptest! {
        #[test]
        fn a_list_put_together_is_the_list_fixed_as_a_whole(functions in arbitrary::messy_functions()) {
            prop_assert_eq!(joined(&functions), List::whole(&functions));
        }
    }
}
