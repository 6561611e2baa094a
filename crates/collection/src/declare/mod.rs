//! Drafts of declared environments: tables, and what each function of an API does to them.
//!
//! The draft is derived from the resources of an API description by its paths, methods and schemas. It is a start for a
//! person, who corrects it: what is a guess has a note, and a function whose effect the description does not show is left
//! out with a reason. Nothing is called. `file` writes the draft as the file of a declared environment.

mod binding;
mod columns;
pub mod file;
mod paging;
mod plan;
mod resource;
mod table;

use serde::Serialize;
use serde_json::Value;

use crate::fault::{FaultKind, ReadFault};
use crate::read::read_value;
use crate::tool::{Origin, Tool};

use binding::function;
use plan::plans;
use table::tables;

/// A draft of an environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Draft {
    /// The name of the API.
    pub name: String,
    /// The tables, in the order of their first function.
    pub tables: Vec<Table>,
    /// The functions with their effects, in the order of the description.
    pub functions: Vec<DraftFunction>,
    /// The functions without a known effect.
    pub left_out: Vec<LeftOut>,
}

/// A table of an environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The name, from the path: lower case, `_` between words.
    pub name: String,
    /// The column that identifies a row.
    pub key: String,
    /// The columns, the key first.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The name, as the schemas write it.
    pub name: String,
    /// The type of its values.
    pub kind: ColumnType,
    /// The allowed values; empty for any.
    pub values: Vec<Value>,
    /// The description.
    pub description: Option<String>,
    /// The table whose key the values are.
    pub references: Option<String>,
}

/// The types of columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// Text.
    #[default]
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts.
    Texts,
    /// Another list or an object, as JSON.
    Json,
}

/// What a function does to its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Returns the row with a key.
    Read,
    /// Returns the rows that match filters.
    Find,
    /// Adds a row.
    Insert,
    /// Changes a row, or the rows that match.
    Update,
    /// Removes a row, or the rows that match.
    Delete,
}

/// The effect of one function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DraftFunction {
    /// The legal name of the function.
    pub name: String,
    /// The description; empty if there is none.
    pub description: String,
    /// The operation.
    pub operation: Operation,
    /// The table.
    pub table: String,
    /// What each parameter is for, in their order.
    pub parameters: Vec<Binding>,
    /// What a person should check.
    pub notes: Vec<String>,
}

/// What a parameter is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The parameter.
    pub parameter: String,
    /// Its role.
    pub role: Role,
    /// The column that it concerns.
    pub column: Option<String>,
    /// Whether a call has to have it.
    pub is_required: bool,
}

/// The roles of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Names the row by its key.
    Key,
    /// Names several rows by a list of keys (`ids`).
    Keys,
    /// Only rows with this value in the column.
    Filter,
    /// The new value of the column.
    Value,
    /// The most rows.
    Limit,
    /// How many rows are left out, or the page.
    Offset,
    /// No effect on the table: formats, languages, credentials.
    Ignored,
}

/// A function without a known effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The legal name of the function.
    pub name: String,
    /// Why it is left out.
    pub why: String,
}

/// Drafts an environment from an API description.
///
/// # Errors
/// The value is not an API description with an operation.
pub fn draft_environment(name: &str, document: Value) -> Result<Draft, ReadFault> {
    let mut read = read_value(name, document);
    if read.tools.len() == 1 && read.tools[0].functions.iter().any(|api| api.path.is_some()) {
        return Ok(draft_of(&read.tools.swap_remove(0)));
    }
    let no_tool = || ReadFault {
        origin: Origin { source: name.to_owned(), at: String::new() },
        kind: FaultKind::NoFunctions,
        message: "it is not an API description with operations".to_owned(),
    };
    Err(read.faults.into_iter().next().unwrap_or_else(no_tool))
}

/// Drafts an environment from a tool whose functions have methods and paths.
pub fn draft_of(tool: &Tool) -> Draft {
    let (plans, left_out) = plans(tool);
    let tables = tables(&plans);
    let functions = plans.iter().map(|plan| function(plan, &tables)).collect();
    Draft { name: tool.name.clone(), tables, functions, left_out }
}

#[cfg(test)]
mod tests;
