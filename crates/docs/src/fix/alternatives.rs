//! Alternatives where BFCL has one schema or type, without null.

use serde_json::{Map, Value};

/// Returns the types of a list, except null.
pub(super) fn listed_types(schema: &Map<String, Value>) -> Option<(&Value, Vec<&str>)> {
    let before @ Value::Array(list) = schema.get("type")? else { return None };
    let types = list.iter().filter(|kind| !kind.is_null()).map(Value::as_str).collect::<Option<Vec<_>>>()?;
    let mut real: Vec<_> = types.into_iter().filter(|kind| !kind.eq_ignore_ascii_case("null")).collect();
    real.dedup();
    Some((before, real))
}

/// Returns the branches that are not null; `None` if one of them is not a schema.
pub(super) fn real_branches(value: &Value) -> Option<Vec<&Map<String, Value>>> {
    let branches = value.as_array()?.iter().map(Value::as_object).collect::<Option<Vec<_>>>()?;
    let is_null = |branch: &Map<String, Value>| {
        branch.get("type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("null"))
    };
    Some(branches.into_iter().filter(|branch| !is_null(branch)).collect())
}
