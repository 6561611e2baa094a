//! Maps from names to functions: `{"ring": {"description": "Rings.", "parameters": {…}}}`.
//!
//! Every value has to describe a function, and at least one has to have parameters; no other object is such a map. A
//! value may also be JSON text.

use serde_json::{Map, Value};

use super::holds_parameters;
use super::inner::Inner;
use callsieve_notation::allowance::{Allowance, bytes_of};
use callsieve_notation::repeated::Repeated;

/// The members of an object, and the keys that are repeated in its text.
pub(super) type Members = (Map<String, Value>, Vec<Repeated>);

/// Returns the members of a map from names to functions: all describe one, and at least one has parameters.
pub(super) fn members_by_name(
    map: &Map<String, Value>,
    allowance: &Allowance,
) -> Option<Vec<(String, Members)>> {
    let mut found = Vec::with_capacity(map.len());
    for (name, value) in map {
        let (member, repeated) = members(value, allowance).filter(|_| !name.trim().is_empty())?;
        let describes = member.contains_key("description") || holds_parameters(&member);
        found.push((name.clone(), describes.then_some((member, repeated))?));
    }
    found.iter().any(|(_, (member, _))| holds_parameters(member)).then_some(found)
}

/// Returns the object, which may be written as text.
fn members(value: &Value, allowance: &Allowance) -> Option<Members> {
    match value {
        Value::Object(map) => allowance.take(bytes_of(value)).then(|| (map.clone(), Vec::new())),
        Value::String(text) => match Inner::read(text, allowance)? {
            Inner { value: Value::Object(map), repeated } => Some((map, repeated)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the function with its name as the first key: its own name, otherwise its key in the map.
pub(super) fn named_by_key(key: String, mut members: Map<String, Value>) -> Value {
    let own = members.shift_remove("name");
    let is_name = |own: &Value| own.as_str().is_some_and(|own| !own.trim().is_empty());
    let name = own.filter(is_name).unwrap_or(Value::String(key));
    let mut function = Map::from_iter([("name".to_owned(), name)]);
    function.extend(members);
    Value::Object(function)
}
