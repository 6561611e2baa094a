//! What a file declares, with every name resolved.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::expression::{Expression, Template};
use super::value_type::ValueType;
use crate::value_path::ValuePath;

/// The cells of a row, in the order of the columns.
pub(super) type Row = Arc<Vec<Value>>;

/// The rows of all tables. A copy shares the rows until one is written.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) tables: Vec<Arc<Vec<Row>>>,
    /// The date of the state, `YYYY-MM-DD`.
    pub(super) today: Arc<str>,
}

#[derive(Debug)]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) tables: Vec<Table>,
    pub(super) conversions: Vec<Conversion>,
    pub(super) functions: Vec<Declaration>,
    pub(super) states: Vec<(String, State)>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// The position of the column that identifies a row.
    pub(super) key: usize,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) value_type: ValueType,
    /// The table whose key the cells are.
    pub(super) reference: Option<usize>,
    pub(super) is_optional: bool,
    pub(super) default: Option<Value>,
    /// The text before the number of a generated id, and the first number.
    pub(super) generate: Option<(String, u64)>,
    pub(super) examples: Vec<Value>,
}

/// A table of factors between units.
#[derive(Debug)]
pub(super) struct Conversion {
    pub(super) name: String,
    /// How many of each unit are one of the base unit.
    pub(super) factors: Vec<(String, f64)>,
    pub(super) decimals: Option<u8>,
}

/// A function of the file.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    /// Rows that are found by a key before anything else. The first slots are theirs, in this order.
    pub(super) rows: Vec<KeyedRow>,
    pub(super) require: Vec<Requirement>,
    pub(super) operation: Operation,
    pub(super) also: Vec<Write>,
    pub(super) result: Outcome,
    /// The number of slots for rows.
    pub(super) n_slots: usize,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) value_type: ValueType,
    /// Table and column whose values it takes.
    pub(super) column: Option<(usize, usize)>,
    pub(super) default: Option<Value>,
    pub(super) is_optional: bool,
    pub(super) examples: Vec<Value>,
    /// Sources that the file names: functions with places in their results, and places of the state.
    pub(super) from_results: Vec<(String, ValuePath)>,
    pub(super) from_state: Vec<ValuePath>,
}

/// A row of a table by its key.
#[derive(Debug)]
pub(super) struct KeyedRow {
    pub(super) slot: usize,
    pub(super) table: usize,
    pub(super) key: Expression,
    pub(super) missing: Template,
}

/// A condition, and the message if it does not hold.
#[derive(Debug)]
pub(super) struct Requirement {
    pub(super) value: Expression,
    pub(super) comparison: Comparison,
    pub(super) operand: Expression,
    pub(super) error: Template,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Is,
    IsNot,
    OneOf,
    NoneOf,
    Contains,
    AtLeast,
    AtMost,
    MoreThan,
    LessThan,
    IsEmpty,
}

/// The names of comparisons in files.
pub(super) const COMPARISONS: [(&str, Comparison); 10] = [
    ("is", Comparison::Is),
    ("is_not", Comparison::IsNot),
    ("one_of", Comparison::OneOf),
    ("none_of", Comparison::NoneOf),
    ("contains", Comparison::Contains),
    ("at_least", Comparison::AtLeast),
    ("at_most", Comparison::AtMost),
    ("more_than", Comparison::MoreThan),
    ("less_than", Comparison::LessThan),
    ("is_empty", Comparison::IsEmpty),
];

/// A test of one column.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) column: usize,
    pub(super) comparison: Comparison,
    pub(super) operand: Expression,
}

/// All tests hold.
pub(super) type Filter = Vec<Test>;

#[derive(Debug)]
pub(super) enum Operation {
    Read(KeyedRow),
    Find { table: usize, filter: Filter, sort: Vec<(usize, bool)>, limit: Option<Expression> },
    Count { table: usize, filter: Filter },
    Sum { table: usize, column: usize, filter: Filter },
    Convert { conversion: usize, amount: Expression, from: Expression, to: Expression },
    Write(Write),
}

#[derive(Debug)]
pub(super) enum Write {
    Insert {
        table: usize,
        slot: usize,
        values: Vec<(usize, Expression)>,
    },
    /// `set` sees the row before the change in the slot of the target.
    Update {
        target: Target,
        set: Vec<(usize, Expression)>,
    },
    Delete {
        target: Target,
    },
}

/// The rows that are written.
#[derive(Debug)]
pub(super) enum Target {
    Key(KeyedRow),
    Filter { table: usize, slot: usize, filter: Filter },
}

/// What a function returns.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Columns of the row in a slot.
    Row { slot: usize, table: usize, columns: Vec<usize> },
    /// Members of an object.
    Members(Vec<(String, Expression)>),
}

impl Table {
    /// Returns a row as an object.
    pub(super) fn object(&self, row: &[Value], columns: &[usize]) -> Value {
        let members = columns.iter().map(|&column| (self.columns[column].name.clone(), row[column].clone()));
        Value::Object(members.collect::<Map<_, _>>())
    }

    pub(super) fn all_columns(&self) -> Vec<usize> {
        (0..self.columns.len()).collect()
    }

    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

impl State {
    /// Returns the position of the row with a key.
    pub(super) fn position(&self, tables: &[Table], table: usize, key: &Value) -> Option<usize> {
        let column = tables[table].key;
        self.tables[table].iter().position(|row| row[column] == *key)
    }

    /// Returns the state as JSON: the date, and each table as a list of objects.
    pub(super) fn json(&self, tables: &[Table]) -> Value {
        let mut members = Map::new();
        members.insert("today".to_owned(), Value::String(self.today.to_string()));
        for (table, rows) in tables.iter().zip(&self.tables) {
            let columns = table.all_columns();
            members.insert(table.name.clone(), rows.iter().map(|row| table.object(row, &columns)).collect());
        }
        Value::Object(members)
    }
}
