//! What each parameter of a function is for.

use serde_json::Value;

use super::paging::{bare, is_limit, is_offset};
use super::plan::Plan;
use super::table::{find, is_variable, parameters, parent_column};
use super::{Binding, DraftFunction, Operation, Role, Table};

/// Returns the effect of a function on its table.
pub(super) fn function(plan: &Plan<'_>, tables: &[Table]) -> DraftFunction {
    let mut notes = plan.notes.clone();
    let table = find(tables, &plan.resource.name);
    let parameters = parameters(plan)
        .map(|(name, _)| {
            let binding = binding(plan, name, table);
            if binding.role == Role::Ignored {
                notes.push(format!("the parameter {name:?} has no column"));
            }
            binding
        })
        .collect();
    DraftFunction {
        name: plan.api.name.clone(),
        description: plan.api.description().trim().to_owned(),
        operation: plan.operation,
        table: table.map_or_else(|| plan.resource.name.clone(), |table| table.name.clone()),
        parameters,
        notes,
    }
}

fn binding(plan: &Plan<'_>, name: &str, table: Option<&Table>) -> Binding {
    let (role, column) = role(plan, name, table);
    let required = plan.api.parameters().get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|required| required.iter().any(|each| each == name));
    Binding { parameter: name.to_owned(), role, column, is_required }
}

fn role(plan: &Plan<'_>, name: &str, table: Option<&Table>) -> (Role, Option<String>) {
    let resource = &plan.resource;
    let is_insert = plan.operation == Operation::Insert;
    if resource.key.as_deref() == Some(name) {
        return (Role::Key, table.map(|table| table.key.clone()));
    }
    if let Some((variable, parent)) = resource.parents.iter().find(|(variable, _)| variable == name) {
        let role = if is_insert { Role::Value } else { Role::Filter };
        return (role, Some(parent_column(variable, parent)));
    }
    debug_assert!(!is_variable(plan, name), "variables of the path have a role");
    if is_limit(name) {
        return (Role::Limit, None);
    }
    if is_offset(name) {
        return (Role::Offset, None);
    }
    let names_key = |table: &&Table| bare(name) == format!("{}s", bare(&table.key)) && resource.key.is_none();
    if let Some(table) = table.filter(names_key).filter(|_| !is_insert) {
        return (Role::Keys, Some(table.key.clone()));
    }
    let column = table.and_then(|table| table.columns.iter().find(|column| bare(&column.name) == bare(name)));
    let Some(column) = column else { return (Role::Ignored, None) };
    let is_key = table.is_some_and(|table| table.key == column.name);
    let role = match plan.operation {
        Operation::Update if is_key && resource.key.is_none() => Role::Key,
        Operation::Insert | Operation::Update => Role::Value,
        Operation::Read | Operation::Find | Operation::Delete => Role::Filter,
    };
    (role, Some(column.name.clone()))
}
