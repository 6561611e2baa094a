//! Where values of parameters come from, derived from declarations.
//!
//! A parameter of a column that identifies rows, or by which rows are searched, takes values of this column: from the
//! state, and from results that have it. A column and the columns that refer to it have the same values. A parameter
//! that is only written takes its listed examples: a new telephone number is not one of another person.

use super::expression::Expression;
use super::model::{Declaration, Filter, KeyedRow, Model, Operation, Outcome, Target, Write};
use crate::environment::{ParameterSource, ValueSource};
use crate::value_path::{Step, ValuePath};

/// A table and a column.
type Place = (usize, usize);

/// Returns all sources, in the order of functions and parameters.
pub(super) fn value_sources(model: &Model) -> Vec<ParameterSource> {
    let results: Vec<(&str, Vec<(ValuePath, Place)>)> = model
        .functions
        .iter()
        .map(|function| (function.name.as_str(), columns_of_result(model, function)))
        .collect();
    let mut sources = Vec::new();
    for function in &model.functions {
        let searched = searched(function);
        for (position, parameter) in function.parameters.iter().enumerate() {
            let mut add = |source: ValueSource| {
                let (function, parameter) = (function.name.clone(), parameter.name.clone());
                sources.push(ParameterSource { function, parameter, source });
            };
            if let Some(place) = parameter.column {
                let root = root(model, place);
                let is_identity = root.1 == model.tables[root.0].key;
                if is_identity || searched.contains(&position) {
                    add(ValueSource::State { path: path_in_state(model, root) });
                    for (name, columns) in &results {
                        for (path, _) in columns.iter().filter(|(_, place)| *place == root) {
                            add(ValueSource::Result { function: (*name).to_owned(), path: path.clone() });
                        }
                    }
                }
            }
            for path in &parameter.from_state {
                add(ValueSource::State { path: path.clone() });
            }
            for (function, path) in &parameter.from_results {
                add(ValueSource::Result { function: function.clone(), path: path.clone() });
            }
            if !parameter.examples.is_empty() {
                add(ValueSource::Values(parameter.examples.clone()));
            }
        }
    }
    sources
}

/// Returns the column whose values this column has: the key of the table that it refers to, or itself.
fn root(model: &Model, (table, column): Place) -> Place {
    match model.tables[table].columns[column].reference {
        // A key can refer to another table; loops of references end here.
        Some(target) => (target, model.tables[target].key),
        None => (table, column),
    }
}

fn path_in_state(model: &Model, (table, column): Place) -> ValuePath {
    let table = &model.tables[table];
    ValuePath::default().member(&*table.name).then(Step::Each).member(&*table.columns[column].name)
}

/// Returns the places of a result that hold cells, each with its root column.
fn columns_of_result(model: &Model, function: &Declaration) -> Vec<(ValuePath, Place)> {
    let rows = |base: &ValuePath, table: usize, columns: &[usize]| -> Vec<(ValuePath, Place)> {
        let name = |column: usize| model.tables[table].columns[column].name.as_str();
        columns
            .iter()
            .map(|&column| (base.clone().member(name(column)), root(model, (table, column))))
            .collect()
    };
    let base = ValuePath::default();
    let members = match &function.result {
        Outcome::Row { table, columns, .. } => return rows(&base, *table, columns),
        Outcome::Members(members) => members,
    };
    let places = members.iter().flat_map(|(name, expression)| {
        let base = base.clone().member(name.as_str());
        match expression {
            Expression::Cell { table, column, .. } => vec![(base, root(model, (*table, *column)))],
            Expression::Row { table, columns, .. } => rows(&base, *table, columns),
            Expression::Found { table, columns } => rows(&base.then(Step::Each), *table, columns),
            Expression::Parameter(parameter) => match function.parameters[*parameter].column {
                Some(place) => vec![(base, root(model, place))],
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    });
    places.collect()
}

/// Returns the parameters by which the function finds rows.
fn searched(function: &Declaration) -> Vec<usize> {
    let mut found = Vec::new();
    let key = |row: &KeyedRow, found: &mut Vec<usize>| add(&row.key, found);
    let filter =
        |filter: &Filter, found: &mut Vec<usize>| filter.iter().for_each(|test| add(&test.operand, found));
    for row in &function.rows {
        key(row, &mut found);
    }
    let mut writes: Vec<&Write> = function.also.iter().collect();
    match &function.operation {
        Operation::Read(row) => key(row, &mut found),
        Operation::Find { filter: tests, .. }
        | Operation::Count { filter: tests, .. }
        | Operation::Sum { filter: tests, .. } => filter(tests, &mut found),
        Operation::Convert { .. } => {}
        Operation::Write(write) => writes.push(write),
    }
    for write in writes {
        match write {
            Write::Insert { .. } => {}
            Write::Update { target, .. } | Write::Delete { target } => match target {
                Target::Key(row) => key(row, &mut found),
                Target::Filter { filter: tests, .. } => filter(tests, &mut found),
            },
        }
    }
    found
}

fn add(expression: &Expression, found: &mut Vec<usize>) {
    match expression {
        Expression::Parameter(parameter) => found.push(*parameter),
        Expression::List(items) => items.iter().for_each(|item| add(item, found)),
        _ => {}
    }
}
