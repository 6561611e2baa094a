//! Which function of a list a recorded call is of.
//!
//! APIs and fixes change the spelling of a name (`weather.get`, `weather_get`, `weatherGet`), and tables of operations
//! turn it round (`result_get`, `get_result`). So a call is of the function with the same letters and digits, or of the
//! only one with the same set of words if it has a parameter for each argument.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use callsieve_bfcl::conversation::Call;
use callsieve_text::normal::loose_name;

/// The functions that calls can be of, by their names.
#[derive(Debug, Default)]
pub struct CallableFunctions {
    /// The place of each function, by its loose name, the first of those with equal names; and whether it is the only one.
    by_name: FxHashMap<String, (usize, bool)>,
    /// The place of each function and its parameters as loose names, by the words of its name; `None` if several
    /// functions have these words.
    by_words: FxHashMap<Vec<String>, Option<(usize, FxHashSet<String>)>>,
}

impl CallableFunctions {
    /// Prepares the functions of a list, docs in BFCL form.
    pub fn new(functions: &[Value]) -> Self {
        let mut callable = Self::default();
        for (at, function) in functions.iter().enumerate() {
            let Some(name) = function.get("name").and_then(Value::as_str) else { continue };
            let of_name = callable.by_name.entry(loose_name(name)).or_insert((at, true));
            of_name.1 &= of_name.0 == at;
            let of_words = callable.by_words.entry(words(name));
            let mut is_first = false;
            let known = of_words.or_insert_with(|| {
                is_first = true;
                Some((at, parameters(function)))
            });
            if !is_first {
                *known = None;
            }
        }
        callable
    }

    /// Returns whether a call is of one of the functions.
    pub fn has(&self, call: &Call) -> bool {
        self.place_of(call).is_some()
    }

    /// Returns whether a call with this name can be of one of the functions, whatever its arguments.
    pub fn has_name(&self, name: &str) -> bool {
        self.place(name, |_| true).is_some()
    }

    /// Returns the place in the list of the function that a call is of; the first of those with equal names.
    pub fn place_of(&self, call: &Call) -> Option<usize> {
        self.found(call).map(|(at, _)| at)
    }

    /// Returns the place in the list of the only function that a call can be of.
    pub fn only_place_of(&self, call: &Call) -> Option<usize> {
        self.found(call).filter(|(_, is_only)| *is_only).map(|(at, _)| at)
    }

    fn found(&self, call: &Call) -> Option<(usize, bool)> {
        let are_parameters = |parameters: &FxHashSet<String>| {
            let arguments = call.arguments.as_object().into_iter().flat_map(|arguments| arguments.keys());
            arguments.map(|argument| loose_name(argument)).all(|argument| parameters.contains(&argument))
        };
        self.place(&call.name, are_parameters)
    }

    fn place(&self, name: &str, fits: impl FnOnce(&FxHashSet<String>) -> bool) -> Option<(usize, bool)> {
        if let Some(found) = self.by_name.get(&loose_name(name)) {
            return Some(*found);
        }
        let (at, parameters) = self.by_words.get(&words(name))?.as_ref()?;
        fits(parameters).then_some((*at, true))
    }
}

/// Returns the loose names of a function's parameters.
fn parameters(function: &Value) -> FxHashSet<String> {
    let properties = function["parameters"]["properties"].as_object().into_iter().flatten();
    properties.map(|(name, _)| loose_name(name)).collect()
}

/// Returns the distinct words of a name in lower case, sorted. Words end at other signs than letters and digits, and
/// before an upper-case letter after a lower-case one; digits stay with their letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        if !c.is_alphanumeric() || before.is_lowercase() && c.is_uppercase() {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("begins with one").extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn function(name: &str, parameters: &[&str]) -> Value {
        let properties: serde_json::Map<String, Value> =
            parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"name": name, "parameters": {"type": "dict", "required": [], "properties": properties}})
    }

    #[test]
    fn a_call_is_of_the_function_with_the_same_letters_or_the_only_one_with_the_same_words() {
        let functions = [
            function("tide.get_table", &["harbour", "dayOfYear"]),
            function("open_gate", &["lock"]),
            function("gate_open2", &["lock"]),
            function("ship_follow", &["name"]),
            function("followShip", &["name"]),
            function("mooring", &[]),
        ];
        let callable = CallableFunctions::new(&functions);
        let place = |name: &str, arguments: Value| {
            callable.place_of(&Call { id: None, name: name.to_owned(), arguments })
        };
        for (name, arguments, expected) in [
            ("tide_get_table", json!({"harbour": "Bergen"}), Some(0)),
            // The name alone decides if its letters are equal.
            ("TideGetTable", json!({"depth": 3}), Some(0)),
            ("table_get.tide", json!({"harbour": "Bergen", "day_of_year": 3}), Some(0)),
            ("getTableTide", json!({}), Some(0)),
            ("table_get_tide", json!({"depth": 3}), None),
            ("table_get", json!({"harbour": "Bergen"}), None),
            ("gateOpen", json!({"lock": "east"}), Some(1)),
            ("open2_gate", json!({"lock": "east"}), Some(2)),
            // Two functions have these words.
            ("follow.ship.follow", json!({"name": "Elin"}), None),
            ("follow_ship", json!({"name": "Elin"}), Some(4)),
            ("moorings", json!({}), None),
            ("", json!({}), None),
        ] {
            assert_eq!(place(name, arguments), expected, "{name}");
        }
        assert!(callable.has_name("table_get_tide") && !callable.has_name("table_get"));
        let twice =
            CallableFunctions::new(&[function("a.b", &[]), function("a_b", &[]), function("c_d", &[])]);
        let call = |name: &str| Call { id: None, name: name.to_owned(), arguments: json!({}) };
        assert_eq!((twice.place_of(&call("ab")), twice.only_place_of(&call("ab"))), (Some(0), None));
        assert_eq!(twice.only_place_of(&call("d_c")), Some(2));
    }

    #[test]
    fn a_list_without_functions_has_none() {
        let callable = CallableFunctions::new(&[json!({}), json!("text")]);
        assert!(!callable.has_name("") && !callable.has_name("a"));
    }
}
