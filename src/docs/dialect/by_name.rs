//! Maps from names to functions: `{"ring": {"description": "Rings.", "parameters": {…}}}`.
//!
//! Every value has to describe one, and one at least has to bring parameters; any other object is no such map. A
//! value may be written as text.

use serde_json::{Map, Value};

use super::holds_parameters;
use super::inner::Inner;
use crate::allowance::{Allowance, bytes_of};
use crate::notation::repeated::Repeated;

/// The members of an object, and the keys that stand twice in the text of it.
pub(super) type Members = (Map<String, Value>, Vec<Repeated>);

/// The members of an object from names to functions: every value describes one, and one at least has parameters.
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

/// The object, also where it is written as text.
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

/// The function with its name in front: its own, or else its key.
pub(super) fn named_by_key(key: String, mut members: Map<String, Value>) -> Value {
    let own = members.shift_remove("name");
    let is_name = |own: &Value| own.as_str().is_some_and(|own| !own.trim().is_empty());
    let name = own.filter(is_name).unwrap_or(Value::String(key));
    let mut function = Map::from_iter([("name".to_owned(), name)]);
    function.extend(members);
    Value::Object(function)
}
