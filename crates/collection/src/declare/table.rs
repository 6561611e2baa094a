//! The tables of an API: their columns, from responses and from the values that functions take, and their keys.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::paging::{is_limit, is_offset};
use super::plan::Plan;
use super::resource::singular;
use super::{Column, ColumnType, Operation, Table, columns};

/// Names of keys that do not say of what.
const GENERIC_KEYS: [&str; 6] = ["id", "key", "name", "slug", "uuid", "code"];

/// The name of a key that is not described.
const ID: &str = "id";

/// Returns the parameters of a function.
pub(super) fn parameters<'p>(plan: &'p Plan<'_>) -> impl Iterator<Item = (&'p String, &'p Value)> {
    plan.api.parameters().get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Returns the table of a name, in the singular or the plural.
pub(super) fn find<'t>(tables: &'t [Table], name: &str) -> Option<&'t Table> {
    let name = singular(name);
    tables.iter().find(|table| singular(&table.name) == name)
}

/// Returns the column that a variable of a path before the table is in: `album_id` for `{id}` of an album.
pub(super) fn parent_column(variable: &str, parent: &str) -> String {
    let is_generic = GENERIC_KEYS.contains(&variable.to_lowercase().as_str());
    if is_generic { format!("{}_{variable}", singular(parent)) } else { variable.to_owned() }
}

/// Returns the tables that functions work on.
pub(super) fn tables(plans: &[Plan<'_>]) -> Vec<Table> {
    let mut order: Vec<String> = Vec::new();
    let mut of_table: BTreeMap<String, Vec<&Plan<'_>>> = BTreeMap::new();
    for plan in plans {
        let name = singular(&plan.resource.name);
        if !of_table.contains_key(&name) {
            order.push(name.clone());
        }
        of_table.entry(name).or_default().push(plan);
    }
    let mut tables: Vec<Table> = order.iter().filter_map(|name| Some(table(of_table.get(name)?))).collect();
    refer(&mut tables, plans);
    tables
}

/// Returns the table of these functions, which are not none.
fn table(plans: &[&Plan<'_>]) -> Table {
    let mut found = Columns::default();
    for plan in plans {
        let response = plan.api.response.as_ref();
        let is_list = plan.operation == Operation::Find;
        if let Some(row) = response.and_then(|response| columns::row(response, &plan.resource.name, is_list))
        {
            for column in columns::of_row(row) {
                found.add(column);
            }
        }
    }
    for plan in plans.iter().filter(|plan| matches!(plan.operation, Operation::Insert | Operation::Update)) {
        let in_path = |name: &str| is_variable(plan, name);
        for (name, schema) in
            parameters(plan).filter(|(name, _)| !in_path(name) && !is_limit(name) && !is_offset(name))
        {
            found.add(columns::of_schema(name, schema));
        }
    }
    let key = key(plans, &mut found);
    let mut columns = found.columns;
    columns.sort_by_key(|column| column.name != key);
    // A row is named by a single value, whatever a schema says.
    let named =
        columns.first_mut().filter(|column| matches!(column.kind, ColumnType::Json | ColumnType::Texts));
    if let Some(column) = named {
        column.kind = ColumnType::Text;
    }
    Table { name: plans[0].resource.name.clone(), key, columns }
}

/// Returns true if a parameter is a variable of the path.
pub(super) fn is_variable(plan: &Plan<'_>, name: &str) -> bool {
    let resource = &plan.resource;
    resource.key.as_deref() == Some(name) || resource.parents.iter().any(|(variable, _)| variable == name)
}

/// Columns, each name once.
#[derive(Default)]
struct Columns {
    columns: Vec<Column>,
}

impl Columns {
    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name)
    }

    fn add(&mut self, column: Column) {
        if !self.has(&column.name) {
            self.columns.push(column);
        }
    }
}

/// Returns the name of the key: the variable of a path if a column has its name, `id`, or the variable as a new column.
fn key(plans: &[&Plan<'_>], found: &mut Columns) -> String {
    let mut variables = plans.iter().filter_map(|plan| Some((plan, plan.resource.key.as_deref()?)));
    if let Some((_, variable)) = variables.clone().find(|(_, variable)| found.has(variable)) {
        return variable.to_owned();
    }
    if found.has(ID) {
        return ID.to_owned();
    }
    let Some((plan, variable)) = variables.next() else {
        found.add(Column {
            name: ID.to_owned(),
            kind: ColumnType::Integer,
            values: Vec::new(),
            description: None,
            references: None,
        });
        return ID.to_owned();
    };
    let nothing = Value::Object(Map::new());
    let schema = parameters(plan).find(|(name, _)| *name == variable).map_or(&nothing, |(_, schema)| schema);
    found.add(columns::of_schema(variable, schema));
    variable.to_owned()
}

/// Adds the columns that refer to the rows of tables further left in a path.
fn refer(tables: &mut [Table], plans: &[Plan<'_>]) {
    let names: Vec<String> = tables.iter().map(|table| table.name.clone()).collect();
    for plan in plans {
        let own = singular(&plan.resource.name);
        for (variable, parent) in &plan.resource.parents {
            let name = parent_column(variable, parent);
            let referred = names.iter().find(|name| singular(name) == singular(parent)).cloned();
            let Some(table) = tables.iter_mut().find(|table| singular(&table.name) == own) else { continue };
            if table.columns.iter().all(|column| column.name != name) {
                let schema = parameters(plan).find(|(name, _)| *name == variable).map(|(_, schema)| schema);
                table.columns.push(columns::of_schema(&name, schema.unwrap_or(&Value::Null)));
            }
            let is_key = table.key == name;
            let column = table.columns.iter_mut().find(|column| column.name == name);
            if let Some(column) = column.filter(|column| column.references.is_none() && !is_key) {
                column.references = referred;
            }
        }
    }
}
