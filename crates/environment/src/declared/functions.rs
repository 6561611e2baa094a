//! Reads the functions of a declaration.

use std::cell::Cell;

use serde_json::Value;

use super::expression::{Expression, Piece, Template};
use super::located::{Located, Node, Section, nearest};
use super::model::{
    Column, Conversion, Declaration, KeyedRow, Operation, Outcome, Requirement, Table, Target, Write,
};
use super::parameters::{check_sources, parameters};
use super::read_expression::{Computed, Names};
use crate::error::FileFault;

type Read<T> = Result<T, Box<FileFault>>;

/// What a file can write at `operation`.
const OPERATIONS: [&str; 8] = ["read", "find", "insert", "update", "delete", "count", "sum", "convert"];

/// The name of the row that an operation reads or writes.
const ROW: &str = "row";
/// The name of a row that `also` writes.
const WRITTEN: &str = "it";

/// Reads all functions.
pub(super) fn functions(
    top: &Section<'_>,
    tables: &[Table],
    conversions: &[Conversion],
) -> Read<Vec<Declaration>> {
    let mut functions: Vec<Declaration> = Vec::new();
    for (position, item) in top.list("functions")?.iter().enumerate() {
        let section = Section::of(top.file(), format!("functions[{position}]"), item)?;
        let function = FunctionReader { tables, conversions, section: &section }.function()?;
        if functions.iter().any(|other| other.name == function.name) {
            return Err(section.fault("name", "a name that no earlier function has", None));
        }
        functions.push(function);
    }
    if functions.is_empty() {
        return Err(top.fault("functions", "at least one function: [[functions]]", None));
    }
    check_sources(top, &functions)?;
    Ok(functions)
}

struct FunctionReader<'r, 'f> {
    tables: &'r [Table],
    conversions: &'r [Conversion],
    section: &'r Section<'f>,
}

impl FunctionReader<'_, '_> {
    fn function(&self) -> Read<Declaration> {
        let section = self.section;
        let name = section.text("name")?;
        let is_name = name.len() <= 64 && !name.is_empty();
        let is_name =
            is_name && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if !is_name {
            return Err(section.fault("name", "a name of at most 64 letters, digits, _ and -", None));
        }
        let description = section.text("description")?;
        let parameters = parameters(section, self.tables)?;
        let mut names = Names {
            tables: self.tables,
            parameters: &parameters,
            slots: Vec::new(),
            computed: Computed::Nothing,
            n_slots: Cell::new(0),
        };
        let row = self.keyed_row(&mut names)?;
        let rows = self.rows(&mut names)?;
        let (operation, row) = self.operation(&mut names, row)?;
        let require = self.requirements(&names)?;
        let also = self.also(&mut names)?;
        let result = self.result(&mut names, &operation, row)?;
        let n_slots = names.n_slots.get();
        section.finish()?;
        let (name, description) = (name.to_owned(), description.to_owned());
        Ok(Declaration { name, description, parameters, rows, require, operation, also, result, n_slots })
    }

    /// Reads the row that the operation reads or writes by its key. Everything after it can use it.
    fn keyed_row(&self, names: &mut Names<'_>) -> Read<Option<KeyedRow>> {
        let section = self.section;
        let has_key = matches!(section.text("operation")?, "read" | "update" | "delete");
        if !has_key || section.get("where").is_some() {
            return Ok(None);
        }
        let table = names.table(section, "table", section.text("table")?)?;
        self.keyed(section, names, ROW, table).map(Some)
    }

    /// `rows.order = { table = "orders", key = "$order_id", missing = "…" }`
    fn rows(&self, names: &mut Names<'_>) -> Read<Vec<KeyedRow>> {
        let Some(section) = self.section.table("rows")? else { return Ok(Vec::new()) };
        let mut rows = Vec::new();
        for (name, value) in section.members() {
            let section = Section::of(section.file(), section.place(name), value)?;
            let table = names.table(&section, "table", section.text("table")?)?;
            rows.push(self.keyed(&section, names, name, table)?);
            section.finish()?;
        }
        Ok(rows)
    }

    /// Reads `key` and `missing`, and gives the row its name.
    fn keyed(
        &self,
        section: &Section<'_>,
        names: &mut Names<'_>,
        name: &str,
        table: usize,
    ) -> Read<KeyedRow> {
        let key = names.at(section, "key")?;
        let missing = if let Some(value) = section.get("missing") {
            names.template(section, "missing", value)?
        } else {
            let of = &self.tables[table];
            let text = format!("No row of {} has the {} ", of.name, of.columns[of.key].name);
            let key = names.at(section, "key")?;
            Template(vec![Piece::Text(text), Piece::Value(key), Piece::Text(".".to_owned())])
        };
        Ok(KeyedRow { slot: names.add_slot(name, table), table, key, missing })
    }

    /// Returns the operation, with slot and table of the row that it reads or writes.
    fn operation(
        &self,
        names: &mut Names<'_>,
        row: Option<KeyedRow>,
    ) -> Read<(Operation, Option<(usize, usize)>)> {
        let section = self.section;
        let name = section.text("operation")?;
        let table = || names.table(section, "table", section.text("table")?);
        match name {
            "convert" => return self.convert(names).map(|operation| (operation, None)),
            "sum" => {
                let (table, column) = names.column(section, "column", section.text("column")?)?;
                let filter = names.filter(section, table)?;
                names.computed = Computed::Value("total");
                return Ok((Operation::Sum { table, column, filter }, None));
            }
            _ if !OPERATIONS.contains(&name) => {
                let expected = format!("one of {}", OPERATIONS.join(", "));
                return Err(section.fault("operation", &expected, nearest(name, &OPERATIONS)));
            }
            _ => {}
        }
        let table = table()?;
        Ok(match name {
            "read" => {
                let row = row.ok_or_else(|| section.fault("where", "key, since one row is read", None))?;
                let slot = row.slot;
                (Operation::Read(row), Some((slot, table)))
            }
            "find" => {
                let operation = self.find(names, table)?;
                names.computed = Computed::Found(table);
                (operation, None)
            }
            "count" => {
                let filter = names.filter(section, table)?;
                names.computed = Computed::Value("count");
                (Operation::Count { table, filter }, None)
            }
            _ => {
                let (write, slot) = self.write(section, names, name, table, row)?;
                (Operation::Write(write), Some((slot, table)))
            }
        })
    }

    fn find(&self, names: &Names<'_>, table: usize) -> Read<Operation> {
        let section = self.section;
        let filter = names.filter(section, table)?;
        let sort = section.list("sort")?.iter().map(|item| {
            let Node::Text(text) = &item.node else {
                return Err(section.fault_at(
                    &section.place("sort"),
                    item,
                    "a column, or - and a column",
                    None,
                ));
            };
            let (is_descending, column) =
                text.strip_prefix('-').map_or((false, text.as_str()), |name| (true, name));
            Ok((names.column_of(section, "sort", table, column)?, is_descending))
        });
        let sort = sort.collect::<Read<_>>()?;
        let limit = section.get("limit");
        let limit =
            limit.map(|value| names.expression(section, &section.place("limit"), value)).transpose()?;
        Ok(Operation::Find { table, filter, sort, limit })
    }

    fn convert(&self, names: &mut Names<'_>) -> Read<Operation> {
        let section = self.section;
        let name = section.text("conversion")?;
        let known: Vec<&str> = self.conversions.iter().map(|conversion| conversion.name.as_str()).collect();
        let conversion = known.iter().position(|known| *known == name).ok_or_else(|| {
            section.fault(
                "conversion",
                "the name of a table of factors in [conversions]",
                nearest(name, &known),
            )
        })?;
        let amount = names.at(section, "amount")?;
        let (from, to) = (names.at(section, "from")?, names.at(section, "to")?);
        names.computed = Computed::Value("amount_converted");
        Ok(Operation::Convert { conversion, amount, from, to })
    }

    /// Reads an insert, update or delete. Its row gets a name, which `set` can use.
    fn write(
        &self,
        section: &Section<'_>,
        names: &mut Names<'_>,
        verb: &str,
        table: usize,
        row: Option<KeyedRow>,
    ) -> Read<(Write, usize)> {
        let name = if std::ptr::eq(section, self.section) { ROW } else { WRITTEN };
        if verb == "insert" {
            let values = Self::assignments(section, names, "values", table)?;
            let slot = names.add_slot(name, table);
            return Ok((Write::Insert { table, slot, values }, slot));
        }
        let (target, slot) = if let Some(row) = row {
            let slot = row.slot;
            (Target::Key(row), slot)
        } else if section.get("where").is_some() {
            let filter = names.filter(section, table)?;
            let slot = names.add_slot(name, table);
            (Target::Filter { table, slot, filter }, slot)
        } else {
            let row = self.keyed(section, names, name, table)?;
            let slot = row.slot;
            (Target::Key(row), slot)
        };
        let write = if verb == "update" {
            Write::Update { target, set: Self::assignments(section, names, "set", table)? }
        } else {
            Write::Delete { target }
        };
        Ok((write, slot))
    }

    fn assignments(
        section: &Section<'_>,
        names: &Names<'_>,
        key: &'static str,
        table: usize,
    ) -> Read<Vec<(usize, Expression)>> {
        let at =
            section.table(key)?.ok_or_else(|| section.fault(key, "a table of columns and values", None))?;
        let values = at.members().iter().map(|(column, value)| {
            let place = at.place(column);
            let column = names.column_of(&at, column, table, column)?;
            let mut read = names.expression(&at, &place, value)?;
            check_constants(&at, &place, value, &names.tables[table].columns[column], &mut read)?;
            Ok((column, read))
        });
        values.collect()
    }

    fn requirements(&self, names: &Names<'_>) -> Read<Vec<Requirement>> {
        let place = self.section.place("require");
        let requirements = self.section.list("require")?.iter().enumerate().map(|(position, item)| {
            let section = Section::of(self.section.file(), format!("{place}[{position}]"), item)?;
            let value = names.at(&section, "value")?;
            let (comparison, operand) = names.comparison(&section)?;
            names.check_requirement(&section, &value, (comparison, &operand))?;
            let error =
                names.template(&section, "error", section.require("error", "a text for the caller")?)?;
            section.finish()?;
            Ok(Requirement { value, comparison, operand, error })
        });
        requirements.collect()
    }

    /// `also = [{ update = "parts", key = "$part_id", set = { … } }]`
    fn also(&self, names: &mut Names<'_>) -> Read<Vec<Write>> {
        let place = self.section.place("also");
        let mut writes = Vec::new();
        for (position, item) in self.section.list("also")?.iter().enumerate() {
            let section = Section::of(self.section.file(), format!("{place}[{position}]"), item)?;
            let mut found = None;
            for verb in ["insert", "update", "delete"] {
                if let Some(table) = section.optional_text(verb)? {
                    found = Some((verb, names.table(&section, verb, table)?));
                    break;
                }
            }
            let Some((verb, table)) = found else {
                return Err(section.fault(
                    "update",
                    "one of insert, update, delete, with the name of a table",
                    None,
                ));
            };
            writes.push(self.write(&section, names, verb, table, None)?.0);
            section.finish()?;
        }
        Ok(writes)
    }

    /// Reads `result`, or `columns`, or takes what the operation usually returns.
    fn result(
        &self,
        names: &mut Names<'_>,
        operation: &Operation,
        row: Option<(usize, usize)>,
    ) -> Read<Outcome> {
        let section = self.section;
        let table = row.map(|(_, table)| table).or(match names.computed {
            Computed::Found(table) => Some(table),
            _ => None,
        });
        let columns = match table {
            Some(table) => self.columns(names, table)?,
            None => Vec::new(),
        };
        if let Some(at) = section.table("result")? {
            let members = at.members().iter().map(|(name, value)| {
                let read = names.expression(&at, &at.place(name), value)?;
                Ok((
                    name.clone(),
                    match read {
                        Expression::Found { table, .. } => {
                            Expression::Found { table, columns: columns.clone() }
                        }
                        other => other,
                    },
                ))
            });
            return Ok(Outcome::Members(members.collect::<Read<_>>()?));
        }
        Ok(match (row, operation) {
            (Some((slot, table)), _) => Outcome::Row { slot, table, columns },
            (None, Operation::Find { table, .. }) => {
                let found = Expression::Found { table: *table, columns };
                Outcome::Members(vec![(self.tables[*table].name.clone(), found)])
            }
            (None, Operation::Count { .. }) => {
                Outcome::Members(vec![("count".to_owned(), Expression::Computed)])
            }
            (None, Operation::Convert { .. }) => {
                let unit = names.at(section, "to")?;
                Outcome::Members(vec![("amount".to_owned(), Expression::Computed), ("unit".to_owned(), unit)])
            }
            (None, _) => Outcome::Members(vec![("total".to_owned(), Expression::Computed)]),
        })
    }

    fn columns(&self, names: &Names<'_>, table: usize) -> Read<Vec<usize>> {
        let section = self.section;
        if section.get("columns").is_none() {
            return Ok(self.tables[table].all_columns());
        }
        let columns = section.list("columns")?.iter().map(|item| match &item.node {
            Node::Text(name) => names.column_of(section, "columns", table, name),
            _ => Err(section.fault_at(&section.place("columns"), item, "the name of a column", None)),
        });
        columns.collect()
    }
}

/// Checks what a column is set to as far as the file says it: constants, and those that `choose` chooses from. As in states, `""` in an
/// optional column is an empty cell.
fn check_constants(
    section: &Section<'_>,
    place: &str,
    value: &Located,
    column: &Column,
    read: &mut Expression,
) -> Read<()> {
    match read {
        Expression::Literal(constant) if column.is_optional && *constant == "" => *constant = Value::Null,
        Expression::Literal(_) => check_constant(section, place, value, column)?,
        Expression::List(elements)
            if elements.iter().all(|element| matches!(element, Expression::Literal(_))) =>
        {
            check_constant(section, place, value, column)?;
        }
        Expression::Choose { cases, otherwise, .. } => {
            let chosen = Section::of(section.file(), place.to_owned(), value)?;
            let at = chosen.table("cases")?;
            for ((_, case), (name, value)) in cases.iter_mut().zip(at.iter().flat_map(Section::members)) {
                check_constants(section, &format!("{place}.cases.{name}"), value, column, case)?;
            }
            if let (Some(otherwise), Some(value)) = (otherwise, chosen.get("otherwise")) {
                check_constants(section, &format!("{place}.otherwise"), value, column, otherwise)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn check_constant(section: &Section<'_>, place: &str, value: &Located, column: &Column) -> Read<()> {
    let stored = column.value_type.stored(value.json());
    column.value_type.check(&stored).map_err(|expected| {
        let hint = column.is_optional.then(|| "\"\" is an empty cell".to_owned());
        section.fault_at(place, value, &expected, hint)
    })
}
