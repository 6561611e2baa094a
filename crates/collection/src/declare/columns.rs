//! Columns from JSON Schemas: of a row in a response, and of a parameter.

use serde_json::{Map, Value};

use super::{Column, ColumnType};

/// Members of a response that hold its rows or its row.
const ROWS: [&str; 7] = ["items", "results", "data", "records", "rows", "entries", "result"];

/// Returns the schema of one row of a response: of an element, of the rows in an envelope, or the response itself.
pub(super) fn row<'s>(response: &'s Value, table: &str, is_list: bool) -> Option<&'s Map<String, Value>> {
    let map = response.as_object()?;
    if let Some(items) = map.get("items").filter(|items| properties(items).is_some()) {
        return items.as_object();
    }
    let members = map.get("properties")?.as_object()?;
    let element = |member: &'s Value| member.get("items").filter(|items| properties(items).is_some());
    let is_named = |name: &str| {
        ROWS.contains(&name) || super::resource::singular(name) == super::resource::singular(table)
    };
    let named =
        || members.iter().filter(|(name, _)| is_named(&name.to_lowercase())).map(|(_, member)| member);
    if is_list {
        let lists: Vec<&Value> = members.values().filter_map(element).collect();
        let only = if lists.len() == 1 { lists.first().copied() } else { None };
        return named().find_map(element).or(only).unwrap_or(response).as_object();
    }
    let wrapped = named().find(|member| properties(member).is_some() && members.len() <= 3);
    wrapped.unwrap_or(response).as_object()
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object).filter(|properties| !properties.is_empty())
}

/// Returns the columns of a row.
pub(super) fn of_row(row: &Map<String, Value>) -> Vec<Column> {
    let members = row.get("properties").and_then(Value::as_object).into_iter().flatten();
    members.map(|(name, schema)| of_schema(name, schema)).collect()
}

/// Returns a column for the values of a schema.
pub(super) fn of_schema(name: &str, schema: &Value) -> Column {
    let values = schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let description =
        schema.get("description").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    Column {
        name: name.to_owned(),
        kind: kind(schema),
        values,
        description: description.map(|text| text.trim().to_owned()),
        references: None,
    }
}

fn kind(schema: &Value) -> ColumnType {
    let written = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        Some(kind) => kind.as_str(),
        None => None,
    };
    match written {
        Some("string") => ColumnType::Text,
        Some("integer") => ColumnType::Integer,
        Some("number") => ColumnType::Number,
        Some("boolean") => ColumnType::Boolean,
        Some("array") if schema.pointer("/items/type").is_some_and(|kind| kind == "string") => {
            ColumnType::Texts
        }
        Some("array" | "object") => ColumnType::Json,
        _ if schema.get("properties").is_some() || schema.get("items").is_some() => ColumnType::Json,
        _ => ColumnType::Text,
    }
}
