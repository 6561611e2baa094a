//! Reads the parameters of declared functions.

use std::cell::Cell;

use super::located::{Located, Node, Section, nearest};
use super::model::{Declaration, Parameter, Table};
use super::read_expression::{Computed, Names};
use super::tables::{read_type, read_value, read_values};
use crate::error::FileFault;
use crate::value_path::ValuePath;

type Read<T> = Result<T, Box<FileFault>>;

/// Reads the parameters of a function.
pub(super) fn parameters(function: &Section<'_>, tables: &[Table]) -> Read<Vec<Parameter>> {
    let Some(section) = function.table("parameters")? else { return Ok(Vec::new()) };
    let none = Names {
        tables,
        parameters: &[],
        slots: Vec::new(),
        computed: Computed::Nothing,
        n_slots: Cell::new(0),
    };
    let parameters = section.members().iter().map(|(name, value)| {
        let section = Section::of(section.file(), section.place(name), value)?;
        let column = section.optional_text("column")?;
        let column = column.map(|path| none.column(&section, "column", path)).transpose()?;
        let base = column.map(|(table, column)| &tables[table].columns[column]);
        let value_type = read_type(&section, base.map(|column| &column.value_type))?;
        let description = section.optional_text("description")?.map(str::to_owned);
        let default = read_value(&section, "default", &value_type)?;
        let own = read_values(&section, "examples", &value_type)?;
        let examples = match base {
            Some(column) if own.is_empty() => column.examples.clone(),
            _ => own,
        };
        let parameter = Parameter {
            name: name.clone(),
            description: description.or_else(|| base.and_then(|column| column.description.clone())),
            is_optional: section.flag("optional")? || default.is_some(),
            value_type,
            column,
            default,
            examples,
            from_results: from_results(&section)?,
            from_state: from_state(&section)?,
        };
        section.finish()?;
        Ok(parameter)
    });
    parameters.collect()
}

/// Checks that the functions exist from which parameters take values.
pub(super) fn check_sources(top: &Section<'_>, functions: &[Declaration]) -> Read<()> {
    let names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    for (function, item) in functions.iter().zip(top.list("functions")?) {
        for parameter in &function.parameters {
            let unknown = parameter.from_results.iter().find(|(name, _)| !names.contains(&name.as_str()));
            if let Some((name, _)) = unknown {
                let place = format!("{}: from_results of {}", function.name, parameter.name);
                let value = Located { line: item.line, node: Node::Text(name.clone()) };
                return Err(top.fault_at(&place, &value, "the name of a function", nearest(name, &names)));
            }
        }
    }
    Ok(())
}

/// Reads `from_results = ["quote_repair.total"]`: the name of a function, a dot, and a path in its result.
fn from_results(section: &Section<'_>) -> Read<Vec<(String, ValuePath)>> {
    let expected = "the name of a function, a dot, and a path, such as get_order.id";
    let places = section.list("from_results")?.iter().map(|item| {
        let fault = || section.fault_at(&section.place("from_results"), item, expected, None);
        let Node::Text(text) = &item.node else { return Err(fault()) };
        let (function, path) = text.split_once('.').ok_or_else(fault)?;
        Ok((function.to_owned(), path.parse().map_err(|_| fault())?))
    });
    places.collect()
}

/// Reads `from_state = ["parts[*].price"]`.
fn from_state(section: &Section<'_>) -> Read<Vec<ValuePath>> {
    let paths = section.list("from_state")?.iter().map(|item| {
        let path = match &item.node {
            Node::Text(text) => text.parse().ok(),
            _ => None,
        };
        let expected = "a path, such as parts[*].price";
        path.ok_or_else(|| section.fault_at(&section.place("from_state"), item, expected, None))
    });
    paths.collect()
}
