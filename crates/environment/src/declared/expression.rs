//! Expressions of a declaration: references to parameters and cells, arithmetic, texts with placeholders.
//!
//! An expression has no value if it needs an optional parameter that was left out; what uses it is then skipped.

use jiff::ToSpan;
use serde_json::{Number, Value};

use super::model::{Comparison, Filter, Row, State, Table};
use super::value_type::{date, in_text, rounded};

/// The longest text that an expression makes, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) enum Expression {
    Literal(Value),
    Parameter(usize),
    Cell {
        slot: usize,
        table: usize,
        column: usize,
    },
    /// A whole row as an object.
    Row {
        slot: usize,
        table: usize,
        columns: Vec<usize>,
    },
    Today,
    /// The rows that `find` found, as a list of objects.
    Found {
        table: usize,
        columns: Vec<usize>,
    },
    /// What `count`, `sum` or `convert` computed.
    Computed,
    Arithmetic {
        operator: Operator,
        operands: Vec<Expression>,
        decimals: Option<u8>,
    },
    AddDays {
        date: Box<Expression>,
        days: Box<Expression>,
    },
    Text(Template),
    Choose {
        value: Box<Expression>,
        cases: Vec<(Value, Expression)>,
        otherwise: Option<Box<Expression>>,
    },
    Count {
        table: usize,
        filter: Filter,
    },
    Sum {
        table: usize,
        column: usize,
        filter: Filter,
    },
    List(Vec<Expression>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// The names of operators in files.
pub(super) const OPERATORS: [(&str, Operator); 4] = [
    ("add", Operator::Add),
    ("subtract", Operator::Subtract),
    ("multiply", Operator::Multiply),
    ("divide", Operator::Divide),
];

/// A text with placeholders.
#[derive(Debug, Default)]
pub(super) struct Template(pub(super) Vec<Piece>);

#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Value(Expression),
}

/// What an expression can see.
pub(super) struct Scope<'a> {
    pub(super) tables: &'a [Table],
    pub(super) arguments: &'a [Option<Value>],
    pub(super) rows: Vec<Option<Row>>,
    pub(super) found: Vec<Row>,
    pub(super) computed: Option<Value>,
}

/// Why an expression has no result: a sentence for the caller of the function.
pub(super) type Refusal = String;

impl Expression {
    /// Returns the value; `None` if an optional parameter was left out.
    pub(super) fn value(&self, scope: &Scope<'_>, state: &State) -> Result<Option<Value>, Refusal> {
        let some = |value: Value| Ok(Some(value));
        match self {
            Self::Literal(value) => some(value.clone()),
            Self::Parameter(parameter) => Ok(scope.arguments[*parameter].clone()),
            Self::Cell { slot, column, .. } => Ok(scope.rows[*slot].as_ref().map(|row| row[*column].clone())),
            Self::Row { slot, table, columns } => {
                Ok(scope.rows[*slot].as_ref().map(|row| scope.tables[*table].object(row, columns)))
            }
            Self::Today => some(Value::String(state.today.to_string())),
            Self::Found { table, columns } => {
                some(scope.found.iter().map(|row| scope.tables[*table].object(row, columns)).collect())
            }
            Self::Computed => Ok(scope.computed.clone()),
            Self::Arithmetic { operator, operands, decimals } => {
                let values = operands.iter().map(|operand| operand.value(scope, state));
                let Some(values) = values.collect::<Result<Option<Vec<_>>, _>>()? else { return Ok(None) };
                operator.apply(&values, *decimals).map(Some)
            }
            Self::AddDays { date, days } => match (date.value(scope, state)?, days.value(scope, state)?) {
                (Some(date), Some(days)) => add_days(&date, &days).map(Some),
                _ => Ok(None),
            },
            Self::Text(template) => some(Value::String(template.text(scope, state)?)),
            Self::Choose { value, cases, otherwise } => {
                let Some(value) = value.value(scope, state)? else { return Ok(None) };
                let case = cases.iter().find(|(case, _)| is_case(case, &value)).map(|(_, result)| result);
                match case.or(otherwise.as_deref()) {
                    Some(result) => result.value(scope, state),
                    None => Err(format!("There is no rule for {}.", in_text(&value))),
                }
            }
            Self::Count { table, filter } => some(rows_of(*table, filter, scope, state)?.len().into()),
            Self::Sum { table, column, filter } => {
                sum(*column, &rows_of(*table, filter, scope, state)?, scope.tables, *table).map(Some)
            }
            Self::List(items) => {
                let values = items.iter().map(|item| item.value(scope, state));
                Ok(values.collect::<Result<Option<Vec<_>>, _>>()?.map(Value::Array))
            }
        }
    }
}

impl Operator {
    /// Integers stay integers, except for a division.
    fn apply(self, values: &[Value], decimals: Option<u8>) -> Result<Value, Refusal> {
        let integers: Option<Vec<i64>> = values.iter().map(Value::as_i64).collect();
        if let Some(integers) = integers.filter(|_| self != Self::Divide) {
            let result = integers.iter().copied().map(Some).reduce(|left, right| {
                let (left, right) = (left?, right?);
                match self {
                    Self::Add => left.checked_add(right),
                    Self::Subtract => left.checked_sub(right),
                    _ => left.checked_mul(right),
                }
            });
            let result = result.flatten().ok_or("The result is too large.")?;
            return Ok(result.into());
        }
        let numbers: Option<Vec<f64>> = values.iter().map(Value::as_f64).collect();
        let numbers = numbers.ok_or("A value that is needed is not a number.")?;
        let result = numbers.into_iter().reduce(|left, right| match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
        });
        result.and_then(|result| rounded(result, decimals)).ok_or("The result is not a number.".to_owned())
    }
}

fn add_days(from: &Value, days: &Value) -> Result<Value, Refusal> {
    let from = from.as_str().and_then(date).ok_or("A value that is needed is not a date.")?;
    let days =
        days.as_i64().filter(|days| days.abs() < 1_000_000).ok_or("The number of days is too large.")?;
    let to = from.checked_add(days.days()).map_err(|_| "The date is out of range.")?;
    Ok(Value::String(to.to_string()))
}

/// Returns the sum of a column without empty cells, as its type stores it.
pub(super) fn sum(column: usize, rows: &[Row], tables: &[Table], table: usize) -> Result<Value, Refusal> {
    let value_type = &tables[table].columns[column].value_type;
    let cells: Vec<Value> =
        rows.iter().map(|row| row[column].clone()).filter(|cell| !cell.is_null()).collect();
    if cells.is_empty() {
        return Ok(value_type.stored(0.into()));
    }
    Ok(value_type.stored(Operator::Add.apply(&cells, value_type.decimals)?))
}

/// Returns the rows for which all tests hold, in the order of the table. A test without an operand holds.
pub(super) fn rows_of(
    table: usize,
    filter: &Filter,
    scope: &Scope<'_>,
    state: &State,
) -> Result<Vec<Row>, Refusal> {
    let mut tests = Vec::with_capacity(filter.len());
    for test in filter {
        if let Some(operand) = test.operand.value(scope, state)? {
            tests.push((test.column, test.comparison, operand));
        }
    }
    let holds = |row: &&Row| {
        tests.iter().all(|(column, comparison, operand)| comparison.holds(&row[*column], operand))
    };
    Ok(state.tables[table].iter().filter(holds).cloned().collect())
}

impl Comparison {
    /// Compares a value with an operand. An empty value is only equal to an empty one, and in no order.
    pub(super) fn holds(self, value: &Value, operand: &Value) -> bool {
        let is_among = || operand.as_array().is_some_and(|items| items.iter().any(|item| equal(value, item)));
        let order = || compare(value, operand);
        match self {
            Self::Is => equal(value, operand),
            Self::IsNot => !equal(value, operand),
            Self::OneOf => is_among(),
            Self::NoneOf => !is_among(),
            Self::Contains => contains(value, operand),
            Self::AtLeast => order().is_some_and(std::cmp::Ordering::is_ge),
            Self::AtMost => order().is_some_and(std::cmp::Ordering::is_le),
            Self::MoreThan => order().is_some_and(std::cmp::Ordering::is_gt),
            Self::LessThan => order().is_some_and(std::cmp::Ordering::is_lt),
            Self::IsEmpty => Value::Bool(value.is_null()) == *operand,
        }
    }
}

/// Whether a value is a case of `choose`. Keys of tables are texts: `cases = { 1 = 40.0 }` of an integer.
fn is_case(case: &Value, value: &Value) -> bool {
    match (case.as_str(), value.as_f64()) {
        (Some(text), Some(number)) => {
            text.parse::<f64>().is_ok_and(|case| equal(&case.into(), &number.into()))
        }
        (Some(text), None) if value.is_boolean() => text == in_text(value),
        _ => case == value,
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left.partial_cmp(&right) == Some(std::cmp::Ordering::Equal),
        _ => left == right,
    }
}

/// A text contains another in any case; a list contains an element.
fn contains(value: &Value, operand: &Value) -> bool {
    match (value, operand) {
        (Value::String(text), Value::String(part)) => text.to_lowercase().contains(&part.to_lowercase()),
        (Value::Array(items), operand) => items.iter().any(|item| equal(item, operand)),
        _ => false,
    }
}

/// The order of two numbers or two texts; dates are texts.
pub(super) fn compare(left: &Value, right: &Value) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

impl Template {
    /// Returns the text with its values. A value that was left out is empty. A text that is stored and used again could
    /// double with each call, so its length is limited.
    pub(super) fn text(&self, scope: &Scope<'_>, state: &State) -> Result<String, Refusal> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Value(expression) => {
                    text.push_str(&expression.value(scope, state)?.as_ref().map(in_text).unwrap_or_default());
                }
            }
            if text.len() > MAX_TEXT_BYTES {
                return Err("The text is too long.".to_owned());
            }
        }
        Ok(text)
    }
}

/// Returns a number as 64 bits, for factors.
pub(super) fn factor(number: &Number) -> Option<f64> {
    number.as_f64().filter(|factor| factor.is_finite() && *factor > 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arithmetic_keeps_integers_and_refuses_what_has_no_result() {
        let apply = |operator: Operator, values: Value| operator.apply(values.as_array().unwrap(), Some(2));
        assert_eq!(apply(Operator::Subtract, json!([7, 3, 1])), Ok(json!(3)));
        assert_eq!(apply(Operator::Multiply, json!([3, 19.99])).unwrap().to_string(), "59.97");
        assert_eq!(apply(Operator::Divide, json!([7, 2])).unwrap().to_string(), "3.5");
        assert!(apply(Operator::Divide, json!([7, 0])).is_err());
        assert!(apply(Operator::Add, json!([i64::MAX, 1])).is_err());
        assert!(apply(Operator::Add, json!(["7", 1])).is_err());
    }

    #[test]
    fn dates_move_over_the_end_of_a_month() {
        assert_eq!(add_days(&json!("2026-02-27"), &json!(2)), Ok(json!("2026-03-01")));
        assert!(add_days(&json!("9999-12-31"), &json!(1)).is_err());
        assert!(add_days(&json!("soon"), &json!(1)).is_err());
    }

    #[test]
    fn each_comparison_holds_and_does_not_hold() {
        use Comparison as C;
        for (comparison, value, holds, fails) in [
            (C::Is, json!(1), json!(1.0), json!(2)),
            (C::IsNot, json!("a"), json!("b"), json!("a")),
            (C::OneOf, json!("a"), json!(["a"]), json!(["b"])),
            (C::NoneOf, json!("a"), json!(["b"]), json!(["a"])),
            (C::Contains, json!("Ana Berg"), json!("berg"), json!("cruz")),
            (C::AtLeast, json!(2), json!(2), json!(3)),
            (C::AtMost, json!("2026-01-02"), json!("2026-01-02"), json!("2026-01-01")),
            (C::MoreThan, json!(2), json!(1), json!(2)),
            (C::LessThan, json!(2), json!(3), json!(2)),
            (C::IsEmpty, json!(null), json!(true), json!(false)),
        ] {
            assert!(comparison.holds(&value, &holds) && !comparison.holds(&value, &fails), "{comparison:?}");
            let orders = [C::AtLeast, C::AtMost, C::MoreThan, C::LessThan];
            assert!(!orders.contains(&comparison) || !comparison.holds(&Value::Null, &holds));
        }
    }
}
