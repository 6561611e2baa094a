//! Function docs, derived from declarations: the schemas of parameters and of results.

use serde_json::{Map, Value, json};

use super::expression::{Expression, Operator};
use super::model::{Column, Declaration, Model, Operation, Outcome, Parameter, Table};
use crate::environment::{Effect, Function};

/// Returns the doc of a function, and whether it writes.
pub(super) fn function(model: &Model, declaration: &Declaration) -> Function {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for parameter in &declaration.parameters {
        properties.insert(parameter.name.clone(), Value::Object(parameter_schema(parameter)));
        if !parameter.is_optional {
            required.push(&parameter.name);
        }
    }
    let mut doc = Map::new();
    doc.insert("name".to_owned(), declaration.name.clone().into());
    doc.insert("description".to_owned(), declaration.description.clone().into());
    doc.insert(
        "parameters".to_owned(),
        json!({"type": "object", "properties": properties, "required": required}),
    );
    doc.insert("response".to_owned(), response(model, declaration));
    let writes = matches!(declaration.operation, Operation::Write(_)) || !declaration.also.is_empty();
    Function { doc, effect: Some(if writes { Effect::Writes } else { Effect::ReadOnly }), class: None }
}

fn parameter_schema(parameter: &Parameter) -> Map<String, Value> {
    let mut schema = described(parameter.value_type.schema(), parameter.description.as_deref());
    if let Some(default) = &parameter.default {
        schema.insert("default".to_owned(), default.clone());
    }
    schema
}

/// Returns a schema with its description in the second place, where people write it.
fn described(mut schema: Map<String, Value>, description: Option<&str>) -> Map<String, Value> {
    if let Some(description) = description {
        schema.shift_insert(1, "description".to_owned(), description.into());
    }
    schema
}

fn response(model: &Model, declaration: &Declaration) -> Value {
    match &declaration.result {
        Outcome::Row { table, columns, .. } => row_schema(&model.tables[*table], columns),
        Outcome::Members(members) => {
            let members =
                members.iter().map(|(name, value)| (name.clone(), schema(model, declaration, value)));
            json!({"type": "object", "properties": Value::Object(members.collect())})
        }
    }
}

fn row_schema(table: &Table, columns: &[usize]) -> Value {
    let members = columns.iter().map(|&column| {
        let column = &table.columns[column];
        (column.name.clone(), column_schema(column))
    });
    json!({"type": "object", "properties": Value::Object(members.collect())})
}

fn column_schema(column: &Column) -> Value {
    let mut schema = described(column.value_type.schema(), column.description.as_deref());
    if column.is_optional {
        let name = schema["type"].clone();
        schema.insert("type".to_owned(), json!([name, "null"]));
    }
    Value::Object(schema)
}

/// Returns the schema of what an expression gives.
fn schema(model: &Model, declaration: &Declaration, expression: &Expression) -> Value {
    let of = |expression: &Expression| schema(model, declaration, expression);
    match expression {
        Expression::Literal(value) => json!({"type": type_of(value)}),
        Expression::Parameter(parameter) => {
            let parameter = &declaration.parameters[*parameter];
            Value::Object(described(parameter.value_type.schema(), parameter.description.as_deref()))
        }
        Expression::Cell { table, column, .. } | Expression::Sum { table, column, .. } => {
            column_schema(&model.tables[*table].columns[*column])
        }
        Expression::Row { table, columns, .. } => row_schema(&model.tables[*table], columns),
        Expression::Today | Expression::AddDays { .. } => json!({"type": "string", "format": "date"}),
        Expression::Found { table, columns } => {
            json!({"type": "array", "items": row_schema(&model.tables[*table], columns)})
        }
        Expression::Computed => match &declaration.operation {
            Operation::Count { .. } => json!({"type": "integer"}),
            Operation::Sum { table, column, .. } => column_schema(&model.tables[*table].columns[*column]),
            _ => json!({"type": "number"}),
        },
        Expression::Arithmetic { operator, operands, .. } => {
            let are_integers = operands.iter().all(|operand| of(operand)["type"] == "integer");
            let is_integer = are_integers && *operator != Operator::Divide;
            json!({"type": if is_integer { "integer" } else { "number" }})
        }
        Expression::Text(_) => json!({"type": "string"}),
        Expression::Choose { cases, otherwise, .. } => {
            let first = cases.first().map(|(_, case)| case).or(otherwise.as_deref());
            first.map_or_else(|| json!({}), of)
        }
        Expression::Count { .. } => json!({"type": "integer"}),
        Expression::List(items) => match items.first() {
            Some(item) => json!({"type": "array", "items": of(item)}),
            None => json!({"type": "array"}),
        },
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
