//! A draft as the file of a declared environment, for a person to correct.
//!
//! `docs/environments.md` describes the file. Columns that hold objects, and parameters without a column, have no
//! counterpart and are comments, as are notes and the functions that are left out. Columns are optional, since
//! descriptions seldom say which are always there. There is one initial state, without rows.

use std::collections::{BTreeMap, BTreeSet};

use super::{Binding, Column, ColumnType, Draft, DraftFunction, Operation, Role, Table};

/// The date of the initial state.
const TODAY: &str = "2026-01-01";

/// Names that expressions use for rows and results.
const RESERVED: [&str; 8] = ["row", "it", "today", "found", "count", "total", "amount_converted", "table"];

/// Returns the text of the file; `None` if no function can be declared.
pub fn to_file(draft: &Draft) -> Option<String> {
    let mut names = Names::default();
    let tables = draft.tables.iter().map(|table| (table.name.as_str(), names.free(&table.name))).collect();
    let writer = Writer { draft, tables, generated: generated(draft) };
    let mut text = format!(
        "# A draft from the description of {}. Everything is to be checked.\n\n",
        one_line(&draft.name)
    );
    text += &format!("name = {}\n", quoted(&draft.name));
    for table in &draft.tables {
        text += &writer.table(table);
    }
    let mut names = Names::default();
    for function in &draft.functions {
        text += &writer.function(function, &mut names);
    }
    if names.0.is_empty() {
        return None;
    }
    if !draft.left_out.is_empty() {
        text += "\n# Functions without a known effect:\n";
    }
    for left_out in &draft.left_out {
        text += &format!("# {}: {}\n", one_line(&left_out.name), one_line(&left_out.why));
    }
    text += &format!("\n[states.empty]\ntoday = {TODAY}\n[states.empty.rows]\n");
    Some(text)
}

/// Names of one scope of the file.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// Returns a name of letters, digits and `_` that is not used yet.
    fn free(&mut self, written: &str) -> String {
        let name = identifier(written);
        let mut free = name.clone();
        let mut number = 1;
        while RESERVED.contains(&free.as_str()) || !self.0.insert(free.clone()) {
            number += 1;
            free = format!("{name}_{number}");
        }
        free
    }
}

/// Returns the tables into which rows are inserted without a key: they get generated ones, which are texts.
fn generated(draft: &Draft) -> Vec<&str> {
    let is_keyless = |function: &&DraftFunction| {
        let key = draft.tables.iter().find(|table| table.name == function.table).map(|table| &table.key);
        let sets_key = function.parameters.iter().any(|binding| binding.column.as_ref() == key);
        function.operation == Operation::Insert && !sets_key
    };
    draft.functions.iter().filter(is_keyless).map(|function| function.table.as_str()).collect()
}

/// Writes the parts of a file.
struct Writer<'d> {
    draft: &'d Draft,
    /// The names of tables in the file.
    tables: BTreeMap<&'d str, String>,
    generated: Vec<&'d str>,
}

/// A parameter with the column that it concerns.
struct Bound<'d> {
    binding: &'d Binding,
    /// The name of the parameter in the file.
    name: String,
    /// The name of the column in the file.
    column: String,
}

impl Writer<'_> {
    fn table_name(&self, name: &str) -> String {
        self.tables.get(name).cloned().unwrap_or_else(|| identifier(name))
    }

    fn table(&self, table: &Table) -> String {
        let name = self.table_name(&table.name);
        let key = quoted(&identifier(&table.key));
        let mut text = format!("\n[tables.{name}]\nkey = {key}\n\n[tables.{name}.columns]\n");
        let mut names = BTreeSet::new();
        for column in &table.columns {
            let column_name = identifier(&column.name);
            if column.kind == ColumnType::Json || !names.insert(column_name.clone()) {
                text += &format!(
                    "# {}: an object, or a list of other values than texts\n",
                    one_line(&column.name)
                );
                continue;
            }
            text += &format!("{column_name} = {{ {} }}\n", self.column(column, table).join(", "));
        }
        text
    }

    /// Returns the keys of a column.
    fn column(&self, column: &Column, table: &Table) -> Vec<String> {
        let is_key = column.name == table.key;
        let refers_to_generated =
            column.references.as_deref().is_some_and(|name| self.generated.contains(&name));
        let is_generated = is_key && self.generated.contains(&table.name.as_str());
        let is_id = is_generated || refers_to_generated;
        let kind = if is_id { "string" } else { kind(column.kind) };
        let mut keys = vec![format!("type = {}", quoted(kind))];
        if is_generated {
            let prefix = identifier(&table.name).chars().next().unwrap_or('x').to_ascii_uppercase();
            keys.push(format!("generate = {}", quoted(&format!("{prefix}-{{number}}"))));
        }
        let values: Vec<String> =
            column.values.iter().filter_map(|value| Some(quoted(value.as_str()?))).collect();
        if kind == "string" && !is_id && !values.is_empty() && values.len() == column.values.len() {
            keys.push(format!("enum = [{}]", values.join(", ")));
        }
        if let Some(references) = &column.references {
            keys.push(format!("references = {}", quoted(&self.table_name(references))));
        }
        if !is_key {
            keys.push("optional = true".to_owned());
        }
        keys.extend(column.description.as_ref().map(|text| format!("description = {}", quoted(text))));
        keys
    }

    /// Returns a function, as a comment if its operation has nothing to work on.
    fn function(&self, function: &DraftFunction, names: &mut Names) -> String {
        let notes: String = function.notes.iter().map(|note| format!("# {}\n", one_line(note))).collect();
        let bound = self.bound(function);
        let table = self.table_name(&function.table);
        let Some(operation) = operation(function.operation, &table, &bound) else {
            return format!("\n{notes}# {}: its parameters name no column\n", one_line(&function.name));
        };
        let described = if function.description.is_empty() { &function.name } else { &function.description };
        let name = quoted(&names.free(&function.name));
        let description = quoted(described);
        let mut text =
            format!("\n{notes}[[functions]]\nname = {name}\ndescription = {description}\n{operation}");
        text += "[functions.parameters]\n";
        for Bound { binding, name, column } in bound {
            let is_optional = !binding.is_required && binding.role != Role::Key;
            let optional = if is_optional { ", optional = true" } else { "" };
            text += &format!("{name} = {{ column = {}{optional} }}\n", quoted(&format!("{table}.{column}")));
        }
        text
    }

    /// Returns the parameters that concern a column of the file. A list of keys concerns none.
    fn bound<'d>(&self, function: &'d DraftFunction) -> Vec<Bound<'d>> {
        let table = self.draft.tables.iter().find(|table| table.name == function.table);
        let is_kept = |name: &str| {
            let mut columns = table.into_iter().flat_map(|table| &table.columns);
            columns.any(|column| column.name == name && column.kind != ColumnType::Json)
        };
        let is_list = |binding: &Binding| binding.role == Role::Keys;
        let mut names = Names::default();
        let bindings = function.parameters.iter().filter(|binding| !is_list(binding));
        let bound = bindings.filter_map(|binding| {
            let column = binding.column.as_deref().filter(|column| is_kept(column))?;
            Some(Bound { binding, name: names.free(&binding.parameter), column: identifier(column) })
        });
        bound.collect()
    }
}

fn kind(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Text | ColumnType::Json => "string",
        ColumnType::Integer => "integer",
        ColumnType::Number => "number",
        ColumnType::Boolean => "boolean",
        ColumnType::Texts => "strings",
    }
}

/// Returns the keys of an operation; `None` if it would change nothing, or all rows.
fn operation(operation: Operation, table: &str, bound: &[Bound<'_>]) -> Option<String> {
    let of_role = |role: Role| bound.iter().filter(move |bound| bound.binding.role == role);
    // A column has one value, even if two parameters have it.
    let values: BTreeMap<&str, &str> =
        of_role(Role::Value).map(|bound| (bound.column.as_str(), bound.name.as_str())).collect();
    let assigned: Vec<String> =
        values.iter().map(|(column, name)| format!("{column} = \"${name}\"")).collect();
    let assigned = assigned.join(", ");
    let filters: Vec<String> = of_role(Role::Filter)
        .map(|bound| format!("{{ column = {}, is = \"${}\" }}", quoted(&bound.column), bound.name))
        .collect();
    let filtered = format!("where = [{}]\n", filters.join(", "));
    let keyed = of_role(Role::Key).next().map(|bound| {
        let name = &bound.name;
        format!("key = \"${name}\"\nmissing = \"There is no row {{{name}}} in {table}.\"\n")
    });
    let rows = || keyed.clone().or_else(|| (!filters.is_empty()).then(|| filtered.clone()));
    let (word, keys) = match operation {
        Operation::Read => ("read", keyed?),
        Operation::Find => ("find", filtered),
        Operation::Insert => ("insert", format!("values = {{ {assigned} }}\n")),
        Operation::Update if values.is_empty() => return None,
        Operation::Update => ("update", format!("{}set = {{ {assigned} }}\n", rows()?)),
        Operation::Delete => ("delete", rows()?),
    };
    Some(format!("operation = \"{word}\"\ntable = {}\n{keys}", quoted(table)))
}

/// Returns a name of letters, digits and `_`.
fn identifier(name: &str) -> String {
    let legal: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if legal.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { legal } else { format!("n{legal}") }
}

/// Returns a text as TOML writes it, on one line.
fn quoted(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", plain.trim().replace('\\', "\\\\").replace('"', "\\\""))
}

fn one_line(text: &str) -> String {
    let without_controls: String =
        text.chars().filter(|sign| sign.is_whitespace() || !sign.is_control()).collect();
    without_controls.split_whitespace().collect::<Vec<_>>().join(" ")
}
