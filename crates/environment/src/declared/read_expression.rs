//! Reads expressions, templates and filters of a declaration.
//!
//! A text that starts with `$` is a reference: `$name` is a parameter or a row, `$name.column` a cell, `$today` the date
//! of the state. A table with one key is an operation on other expressions. Everything else is itself.

use std::cell::Cell;

use serde_json::{Number, Value};

use super::expression::{Expression, OPERATORS, Piece, Template};
use super::located::{Located, Node, Section, nearest};
use super::model::{COMPARISONS, Column, Comparison, Filter, Parameter, Table, Test};
use super::value_type::{Kind, ValueType};
use crate::error::FileFault;

type Read<T> = Result<T, Box<FileFault>>;

/// Keys of operations beside those of [`OPERATORS`].
const OTHER_OPERATIONS: [&str; 5] = ["add_days", "text", "choose", "count", "sum"];

/// What the result of an operation is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Computed {
    Nothing,
    /// `find`: the rows of this table.
    Found(usize),
    /// `count`, `sum` or `convert`, under this name.
    Value(&'static str),
}

/// The names that an expression of a function can refer to.
pub(super) struct Names<'m> {
    pub(super) tables: &'m [Table],
    pub(super) parameters: &'m [Parameter],
    /// Names of rows with their slots and tables.
    pub(super) slots: Vec<(String, usize, usize)>,
    pub(super) computed: Computed,
    pub(super) n_slots: Cell<usize>,
}

impl Names<'_> {
    /// Returns a new slot for a row, under a name from now on.
    pub(super) fn add_slot(&mut self, name: &str, table: usize) -> usize {
        let slot = self.new_slot();
        self.slots.retain(|(known, ..)| known != name);
        self.slots.push((name.to_owned(), slot, table));
        slot
    }

    fn new_slot(&self) -> usize {
        self.n_slots.replace(self.n_slots.get() + 1)
    }

    /// Resolves the text after `$`. The error is a hint.
    fn resolve(&self, reference: &str) -> Result<Expression, Option<String>> {
        let (name, column) = match reference.split_once('.') {
            Some((name, column)) => (name, Some(column)),
            None => (reference, None),
        };
        if let Some((_, slot, table)) = self.slots.iter().find(|(known, ..)| known == name) {
            let table_at = &self.tables[*table];
            return match column {
                None => Ok(Expression::Row { slot: *slot, table: *table, columns: table_at.all_columns() }),
                Some(column) => {
                    let names = || table_at.columns.iter().map(|column| column.name.as_str());
                    let found = table_at.column(column);
                    let found = found.ok_or_else(|| nearest(column, &names().collect::<Vec<_>>()))?;
                    Ok(Expression::Cell { slot: *slot, table: *table, column: found })
                }
            };
        }
        if column.is_none() {
            if let Some(parameter) = self.parameters.iter().position(|parameter| parameter.name == name) {
                return Ok(Expression::Parameter(parameter));
            }
            match self.computed {
                _ if name == "today" => return Ok(Expression::Today),
                Computed::Found(table) if name == "found" => {
                    return Ok(Expression::Found { table, columns: self.tables[table].all_columns() });
                }
                Computed::Value(known) if name == known => return Ok(Expression::Computed),
                _ => {}
            }
        }
        let rows = self.slots.iter().map(|(name, ..)| name.as_str());
        let parameters = self.parameters.iter().map(|parameter| parameter.name.as_str());
        let mut known: Vec<&str> = rows.chain(parameters).chain(["today"]).collect();
        match self.computed {
            Computed::Found(_) => known.push("found"),
            Computed::Value(name) => known.push(name),
            Computed::Nothing => {}
        }
        Err(nearest(name, &known))
    }

    /// Reads an expression.
    pub(super) fn expression(&self, section: &Section<'_>, place: &str, value: &Located) -> Read<Expression> {
        match &value.node {
            Node::Text(text) => match text.strip_prefix('$') {
                Some(reference) => self.resolve(reference).map_err(|hint| {
                    section.fault_at(
                        place,
                        value,
                        "$ and the name of a parameter, of a row, or of a cell",
                        hint,
                    )
                }),
                None => Ok(Expression::Literal(Value::String(text.clone()))),
            },
            Node::List(items) => {
                let items = items.iter().map(|item| self.expression(section, place, item));
                Ok(Expression::List(items.collect::<Read<_>>()?))
            }
            Node::Table(_) => self.operation(&Section::of(section.file(), place, value)?),
            Node::Number(_) | Node::Boolean(_) => Ok(Expression::Literal(value.json())),
        }
    }

    /// Reads the expression at a required key.
    pub(super) fn at(&self, section: &Section<'_>, key: &'static str) -> Read<Expression> {
        let value = section.require(key, "a value, or $ and a name")?;
        self.expression(section, &section.place(key), value)
    }

    fn operation(&self, section: &Section<'_>) -> Read<Expression> {
        for (name, operator) in OPERATORS {
            let operands = section.list(name)?;
            if operands.is_empty() {
                continue;
            }
            if operands.len() < 2 {
                return Err(section.fault(name, "a list of at least two values", None));
            }
            let decimals =
                section.number("decimals")?.and_then(Number::as_u64).and_then(|n| u8::try_from(n).ok());
            let operands =
                operands.iter().map(|operand| self.expression(section, &section.place(name), operand));
            let operands = operands.collect::<Read<_>>()?;
            section.finish()?;
            return Ok(Expression::Arithmetic { operator, operands, decimals });
        }
        let read = if let [date, days] = section.list("add_days")? {
            let place = section.place("add_days");
            let date = Box::new(self.expression(section, &place, date)?);
            Expression::AddDays { date, days: Box::new(self.expression(section, &place, days)?) }
        } else if let Some(value) = section.get("text") {
            Expression::Text(self.template(section, "text", value)?)
        } else if section.get("choose").is_some() {
            self.choose(section)?
        } else if let Some(table) = section.optional_text("count")? {
            let table = self.table(section, "count", table)?;
            Expression::Count { table, filter: self.filter(section, table)? }
        } else if let Some(path) = section.optional_text("sum")? {
            let (table, column) = self.column(section, "sum", path)?;
            Expression::Sum { table, column, filter: self.filter(section, table)? }
        } else {
            let names: Vec<&str> = OPERATORS.iter().map(|(name, _)| *name).chain(OTHER_OPERATIONS).collect();
            let value = Located { line: section.line, node: Node::Table(section.members().to_vec()) };
            return Err(section.fault_at(
                &section.path,
                &value,
                &format!("one of {}", names.join(", ")),
                None,
            ));
        };
        section.finish()?;
        Ok(read)
    }

    /// `{ choose = "$level", cases = { gold = 0.9 }, otherwise = 1.0 }`
    fn choose(&self, section: &Section<'_>) -> Read<Expression> {
        let value = Box::new(self.at(section, "choose")?);
        let cases_at =
            section.table("cases")?.ok_or_else(|| section.fault("cases", "a table of values", None))?;
        let cases = cases_at.members().iter().map(|(case, value)| {
            Ok((Value::String(case.clone()), self.expression(&cases_at, &cases_at.place(case), value)?))
        });
        let cases = cases.collect::<Read<_>>()?;
        let otherwise = section.get("otherwise");
        let otherwise = otherwise
            .map(|value| self.expression(section, &section.place("otherwise"), value))
            .transpose()?;
        Ok(Expression::Choose { value, cases, otherwise: otherwise.map(Box::new) })
    }

    /// Returns the position of a table.
    pub(super) fn table(&self, section: &Section<'_>, key: &str, name: &str) -> Read<usize> {
        let names: Vec<&str> = self.tables.iter().map(|table| table.name.as_str()).collect();
        let found = names.iter().position(|known| *known == name);
        found.ok_or_else(|| section.fault(key, "the name of a table", nearest(name, &names)))
    }

    /// Returns the positions of a table and a column, written `table.column`.
    pub(super) fn column(&self, section: &Section<'_>, key: &str, path: &str) -> Read<(usize, usize)> {
        let expected = "a table and a column, such as orders.id";
        let Some((table, column)) = path.split_once('.') else {
            return Err(section.fault(key, expected, None));
        };
        let names: Vec<&str> = self.tables.iter().map(|table| table.name.as_str()).collect();
        let table = names.iter().position(|known| *known == table);
        let table = table.ok_or_else(|| section.fault(key, expected, nearest(path, &names)))?;
        self.column_of(section, key, table, column).map(|column| (table, column))
    }

    /// Returns the position of a column of a table.
    pub(super) fn column_of(
        &self,
        section: &Section<'_>,
        key: &str,
        table: usize,
        name: &str,
    ) -> Read<usize> {
        let table = &self.tables[table];
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let expected = format!("a column of {}", table.name);
        table.column(name).ok_or_else(|| section.fault(key, &expected, nearest(name, &names)))
    }

    /// Reads `where`: a list of tests that all hold.
    pub(super) fn filter(&self, section: &Section<'_>, table: usize) -> Read<Filter> {
        let place = section.place("where");
        let tests = section.list("where")?.iter().enumerate().map(|(position, item)| {
            let test = Section::of(section.file(), format!("{place}[{position}]"), item)?;
            let column = self.column_of(&test, "column", table, test.text("column")?)?;
            let (comparison, operand) = self.comparison(&test)?;
            check_comparison(&test, &self.tables[table].columns[column], comparison, &operand)?;
            test.finish()?;
            Ok(Test { column, comparison, operand })
        });
        tests.collect()
    }

    /// Reads the comparison of a test or requirement.
    pub(super) fn comparison(&self, section: &Section<'_>) -> Read<(Comparison, Expression)> {
        let mut found = None;
        for (name, comparison) in COMPARISONS {
            if let Some(value) = section.get(name) {
                if found.is_some() {
                    return Err(section.fault(
                        name,
                        "one comparison",
                        Some("write a test for each".to_owned()),
                    ));
                }
                found = Some((comparison, self.expression(section, &section.place(name), value)?));
            }
        }
        let names = COMPARISONS.map(|(name, _)| name).join(", ");
        found.ok_or_else(|| section.fault("is", &format!("one of {names}"), None))
    }

    /// Checks that the value of a requirement, if it is a cell, can be compared so.
    pub(super) fn check_requirement(
        &self,
        section: &Section<'_>,
        value: &Expression,
        (comparison, operand): (Comparison, &Expression),
    ) -> Read<()> {
        match value {
            Expression::Cell { table, column, .. } => {
                check_comparison(section, &self.tables[*table].columns[*column], comparison, operand)
            }
            _ => Ok(()),
        }
    }

    /// Reads a text with placeholders: `{name}` or `{name.column}`; `{{` is a brace.
    pub(super) fn template(&self, section: &Section<'_>, key: &str, value: &Located) -> Read<Template> {
        let Node::Text(text) = &value.node else { return Err(section.fault(key, "a text", None)) };
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            plain.push_str(before);
            if let Some(after) = after.strip_prefix('{') {
                plain.push('{');
                rest = after;
                continue;
            }
            let Some((name, after)) = after.split_once('}') else {
                return Err(section.fault(
                    key,
                    "an end } for each {",
                    Some("{{ is a brace in the text".to_owned()),
                ));
            };
            let value = self.resolve(name).map_err(|hint| {
                section.fault(key, &format!("a name that exists in place of {{{name}}}"), hint)
            })?;
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(Piece::Value(value));
            rest = after;
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        Ok(Template(pieces))
    }
}

/// Checks that a comparison with a column can be true and can be false: that the type of the column has it, and that a constant is of the
/// type, and among the values that the column lists.
fn check_comparison<'c>(
    section: &Section<'_>,
    column: &Column,
    comparison: Comparison,
    operand: &'c Expression,
) -> Read<()> {
    let kind = column.value_type.kind;
    let name = COMPARISONS.iter().find(|(_, known)| *known == comparison).map_or("is", |(name, _)| *name);
    let of_kinds = |kinds: &[Kind], expected: &str| {
        if kinds.contains(&kind) {
            return Ok(());
        }
        let hint = format!("{} is {}", column.name, kind.in_words());
        Err(section.fault(name, &format!("another comparison: this one is for {expected}"), Some(hint)))
    };
    let one = match comparison {
        Comparison::Is | Comparison::IsNot | Comparison::OneOf | Comparison::NoneOf
            if kind != Kind::Texts =>
        {
            column.value_type.clone()
        }
        Comparison::Contains => {
            of_kinds(&[Kind::Text, Kind::Texts], "texts and lists")?;
            let choices = if kind == Kind::Texts { column.value_type.choices.clone() } else { Vec::new() };
            ValueType { choices, ..ValueType::of(Kind::Text) }
        }
        Comparison::AtLeast | Comparison::AtMost | Comparison::MoreThan | Comparison::LessThan => {
            of_kinds(&[Kind::Integer, Kind::Number, Kind::Date], "numbers and dates")?;
            ValueType::of(if kind == Kind::Integer { Kind::Number } else { kind })
        }
        _ => return Ok(()),
    };
    let constants: Vec<&Value> = match operand {
        Expression::Literal(value) => vec![value],
        Expression::List(items) => {
            let constant = |item: &'c Expression| match item {
                Expression::Literal(value) => Some(value),
                _ => None,
            };
            items.iter().filter_map(constant).collect()
        }
        _ => Vec::new(),
    };
    for value in constants {
        if let Err(expected) = one.check(value) {
            let hint = format!("it is compared with {}", column.name);
            return Err(section.fault(name, &expected, Some(hint)));
        }
    }
    Ok(())
}
