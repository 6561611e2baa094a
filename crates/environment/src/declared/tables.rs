//! Reads the tables, conversions and initial states of a declaration.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Number, Value};

use super::expression::factor;
use super::located::{Located, Node, Section, nearest};
use super::model::{Column, Conversion, Row, State, Table};
use super::value_type::{KINDS, Kind, ValueType, date};
use crate::canonical::canonical;
use crate::error::FileFault;

type Read<T> = Result<T, Box<FileFault>>;

/// The member of a state with its date, which is no table.
const TODAY: &str = "today";

/// What a date looks like in messages.
const DATE: &str = "a date such as \"2026-03-02\"";

/// Reads all tables. References between them are resolved.
pub(super) fn tables(top: &Section<'_>) -> Read<Vec<Table>> {
    let section = top.table("tables")?.ok_or_else(|| top.fault("tables", "a table for each table", None))?;
    let mut tables = Vec::new();
    let mut references = Vec::new();
    for (name, value) in section.members() {
        let place = section.place(name);
        check_name(&section, name, value)?;
        if name == TODAY {
            let hint = "the state has its date under this name".to_owned();
            return Err(section.fault_at(&place, value, "another name", Some(hint)));
        }
        let table = Section::of(section.file(), place, value)?;
        tables.push(read_table(name, &table, tables.len(), &mut references)?);
    }
    if tables.is_empty() {
        return Err(top.fault("tables", "at least one table", None));
    }
    for Reference { table, column, name, fault } in references {
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        let Some(target) = names.iter().position(|known| *known == name) else {
            return Err(Box::new(FileFault { hint: nearest(&name, &names), ..*fault }));
        };
        tables[table].columns[column].reference = Some(target);
    }
    Ok(tables)
}

/// A reference whose table may come later in the file.
struct Reference {
    table: usize,
    column: usize,
    name: String,
    fault: Box<FileFault>,
}

fn read_table(
    name: &str,
    section: &Section<'_>,
    index: usize,
    references: &mut Vec<Reference>,
) -> Read<Table> {
    section.optional_text("description")?;
    let key = section.optional_text("key")?.unwrap_or("id");
    let columns_at = section
        .table("columns")?
        .ok_or_else(|| section.fault("columns", "a table with a key for each column", None))?;
    section.finish()?;
    let mut columns = Vec::new();
    for (name, value) in columns_at.members() {
        check_name(&columns_at, name, value)?;
        let place = columns_at.place(name);
        let section = Section::of(columns_at.file(), place, value)?;
        let column = read_column(name, &section)?;
        if let Some(target) = section.optional_text("references")? {
            let fault = section.fault("references", "the name of a table", None);
            references.push(Reference {
                table: index,
                column: columns.len(),
                name: target.to_owned(),
                fault,
            });
        }
        section.finish()?;
        columns.push(column);
    }
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let Some(key) = names.iter().position(|name| *name == key) else {
        return Err(section.fault("key", "the name of a column (the default is id)", nearest(key, &names)));
    };
    if columns[key].is_optional {
        return Err(columns_at.fault(&columns[key].name, "a key column that is not optional", None));
    }
    Ok(Table { name: name.to_owned(), columns, key })
}

fn check_name(section: &Section<'_>, name: &str, value: &Located) -> Read<()> {
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit());
    if is_name {
        Ok(())
    } else {
        Err(section.fault_at(&section.place(name), value, "a name of letters, digits and _", None))
    }
}

fn read_column(name: &str, section: &Section<'_>) -> Read<Column> {
    let value_type = read_type(section, None)?;
    let mut column = Column {
        name: name.to_owned(),
        description: section.optional_text("description")?.map(str::to_owned),
        reference: None,
        is_optional: section.flag("optional")?,
        default: None,
        generate: read_generate(section)?,
        examples: read_values(section, "examples", &value_type)?,
        value_type,
    };
    column.default = read_value(section, "default", &column.value_type)?;
    Ok(column)
}

/// Reads the type of a column or parameter; what it does not say is as in the type it derives from.
pub(super) fn read_type(section: &Section<'_>, base: Option<&ValueType>) -> Read<ValueType> {
    let mut read = base.cloned().unwrap_or_else(|| ValueType::of(Kind::Text));
    match section.optional_text("type")? {
        Some(name) => {
            let names = KINDS.map(|(name, _)| name);
            let found = KINDS.iter().find(|(known, _)| *known == name);
            let expected = || format!("one of {}", names.join(", "));
            read.kind = found.ok_or_else(|| section.fault("type", &expected(), nearest(name, &names)))?.1;
        }
        None if base.is_none() => {
            let names = KINDS.map(|(name, _)| name).join(", ");
            return Err(section.fault("type", &format!("one of {names}"), None));
        }
        None => {}
    }
    for (key, limit) in [("minimum", &mut read.minimum), ("maximum", &mut read.maximum)] {
        if let Some(number) = section.number(key)? {
            *limit = Some(number.clone());
        }
    }
    if let Some(decimals) = section.number("decimals")? {
        let decimals = decimals.as_u64().filter(|decimals| *decimals <= 9);
        let decimals = decimals.ok_or_else(|| section.fault("decimals", "a number from 0 to 9", None))?;
        read.decimals = u8::try_from(decimals).ok();
    }
    let items = section.list("enum")?;
    if !items.is_empty() {
        let base = ValueType { choices: Vec::new(), ..read.clone() };
        read.choices = Vec::with_capacity(items.len());
        for item in items {
            let value = item.json();
            let one =
                if read.kind == Kind::Texts { Value::Array(vec![value.clone()]) } else { value.clone() };
            base.check(&one)
                .map_err(|expected| section.fault_at(&section.place("enum"), item, &expected, None))?;
            read.choices.push(value);
        }
    }
    Ok(read)
}

/// Reads a value of a type.
pub(super) fn read_value(
    section: &Section<'_>,
    key: &'static str,
    value_type: &ValueType,
) -> Read<Option<Value>> {
    let Some(value) = section.get(key) else { return Ok(None) };
    let json = value.json();
    value_type.check(&json).map_err(|expected| section.fault(key, &expected, None))?;
    Ok(Some(value_type.stored(json)))
}

/// Reads a list of values of a type.
pub(super) fn read_values(
    section: &Section<'_>,
    key: &'static str,
    value_type: &ValueType,
) -> Read<Vec<Value>> {
    let values = section.list(key)?.iter().map(|item| {
        let value = item.json();
        value_type
            .check(&value)
            .map_err(|expected| section.fault_at(&section.place(key), item, &expected, None))?;
        Ok(value)
    });
    values.collect()
}

/// Reads `generate = "R-{number}"` and `start = 1001`.
fn read_generate(section: &Section<'_>) -> Read<Option<(String, u64)>> {
    let start = section.number("start")?.map_or(Some(1), Number::as_u64);
    let start = start.ok_or_else(|| section.fault("start", "a whole number", None))?;
    let Some(pattern) = section.optional_text("generate")? else { return Ok(None) };
    match pattern.strip_suffix("{number}") {
        Some(prefix) if !prefix.contains('{') => Ok(Some((prefix.to_owned(), start))),
        _ => Err(section.fault(
            "generate",
            "a text that ends with {number}",
            Some("for example \"R-{number}\"".to_owned()),
        )),
    }
}

/// Reads the tables of factors.
pub(super) fn conversions(top: &Section<'_>) -> Read<Vec<Conversion>> {
    let Some(section) = top.table("conversions")? else { return Ok(Vec::new()) };
    let conversions = section.members().iter().map(|(name, value)| {
        let section = Section::of(section.file(), section.place(name), value)?;
        let decimals =
            section.number("decimals")?.and_then(Number::as_u64).and_then(|n| u8::try_from(n).ok());
        let factors_at = section
            .table("factors")?
            .ok_or_else(|| section.fault("factors", "a table with a factor for each unit", None))?;
        section.finish()?;
        let factors = factors_at.members().iter().map(|(unit, value)| match &value.node {
            Node::Number(number) if factor(number).is_some() => {
                Ok((unit.clone(), factor(number).unwrap_or(1.0)))
            }
            _ => Err(factors_at.fault(unit, "a number above 0", None)),
        });
        Ok(Conversion { name: name.clone(), factors: factors.collect::<Read<Vec<_>>>()?, decimals })
    });
    conversions.collect()
}

/// Reads the initial states. Their rows are checked against the columns, and references against the rows.
pub(super) fn states(top: &Section<'_>, tables: &[Table]) -> Read<Vec<(String, State)>> {
    let section =
        top.table("states")?.ok_or_else(|| top.fault("states", "a table for each initial state", None))?;
    if section.members().is_empty() {
        return Err(top.fault("states", "at least one initial state", None));
    }
    let states = section.members().iter().map(|(name, value)| {
        let section = Section::of(section.file(), section.place(name), value)?;
        Ok((name.clone(), read_state(&section, tables)?))
    });
    states.collect()
}

fn read_state(section: &Section<'_>, tables: &[Table]) -> Read<State> {
    section.optional_text("description")?;
    let today = section.text("today")?;
    date(today).ok_or_else(|| section.fault("today", DATE, None))?;
    let rows_at =
        section.table("rows")?.ok_or_else(|| section.fault("rows", "a list of rows for each table", None))?;
    section.finish()?;
    let mut state = State { tables: tables.iter().map(|_| Arc::default()).collect(), today: today.into() };
    for (name, value) in rows_at.members() {
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        let Some(index) = names.iter().position(|known| known == name) else {
            return Err(rows_at.fault_at(
                &rows_at.place(name),
                value,
                "rows of a declared table",
                nearest(name, &names),
            ));
        };
        let Node::List(items) = &value.node else { return Err(rows_at.fault(name, "a list of rows", None)) };
        let rows = items.iter().enumerate().map(|(place, item)| {
            let place = format!("{}[{place}]", rows_at.place(name));
            read_row(&rows_at, &place, item, &tables[index])
        });
        let rows: Vec<Row> = rows.collect::<Read<_>>()?;
        let key = tables[index].key;
        let mut keys = BTreeSet::new();
        for ((place, row), item) in rows.iter().enumerate().zip(items) {
            if !keys.insert(canonical(&row[key])) {
                let place = format!("{}[{place}]", rows_at.place(name));
                let expected = format!("another {} than an earlier row", tables[index].columns[key].name);
                return Err(rows_at.fault_at(&place, item, &expected, None));
            }
        }
        state.tables[index] = Arc::new(rows);
    }
    check_references(&rows_at, &state, tables)?;
    Ok(state)
}

/// A row is a list in the order of the columns, where `""` in an optional column is an empty cell, or a table.
fn read_row(section: &Section<'_>, place: &str, item: &Located, table: &Table) -> Read<Row> {
    let mut cells = Vec::with_capacity(table.columns.len());
    match &item.node {
        Node::List(values) if values.len() == table.columns.len() => {
            for (column, value) in table.columns.iter().zip(values) {
                cells.push(read_cell(section, place, value, column)?);
            }
        }
        Node::Table(_) => {
            let row = Section::of(section.file(), place, item)?;
            for (name, value) in row.members() {
                let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
                if !names.contains(&name.as_str()) {
                    return Err(row.fault_at(
                        &row.place(name),
                        value,
                        "a column of the table",
                        nearest(name, &names),
                    ));
                }
            }
            for column in &table.columns {
                let value = row.members().iter().find(|(name, _)| *name == column.name);
                cells.push(match (value, &column.default) {
                    (Some((_, value)), _) => read_cell(section, place, value, column)?,
                    (None, Some(default)) => default.clone(),
                    (None, None) if column.is_optional => Value::Null,
                    (None, None) => return Err(row.fault(&column.name, "a value", None)),
                });
            }
        }
        _ => {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let expected = format!("a table, or a list of {} values: {}", names.len(), names.join(", "));
            return Err(section.fault_at(place, item, &expected, None));
        }
    }
    Ok(Arc::new(cells))
}

fn read_cell(section: &Section<'_>, place: &str, value: &Located, column: &Column) -> Read<Value> {
    let json = value.json();
    if column.is_optional && json == "" {
        return Ok(Value::Null);
    }
    let place = format!("{place}.{}", column.name);
    column.value_type.check(&json).map_err(|expected| section.fault_at(&place, value, &expected, None))?;
    Ok(column.value_type.stored(json))
}

fn check_references(section: &Section<'_>, state: &State, tables: &[Table]) -> Read<()> {
    let keys = |(table, rows): (&Table, &Arc<Vec<Row>>)| -> BTreeSet<String> {
        rows.iter().map(|row| canonical(&row[table.key])).collect()
    };
    let keys: Vec<BTreeSet<String>> = tables.iter().zip(&state.tables).map(keys).collect();
    for (table, rows) in tables.iter().zip(&state.tables) {
        for (position, column) in table.columns.iter().enumerate() {
            let Some(target) = column.reference else { continue };
            let cells = rows.iter().map(|row| &row[position]).filter(|cell| !cell.is_null());
            if let Some(cell) = cells.into_iter().find(|cell| !keys[target].contains(&canonical(cell))) {
                let expected =
                    format!("the key of a row of {}, found {cell} in {}", tables[target].name, column.name);
                return Err(section.fault(&table.name, &expected, None));
            }
        }
    }
    Ok(())
}
