//! Executes a call of a declared function on a state.
//!
//! A call changes everything that its function declares, or nothing: writes go to a copy that replaces the state at the
//! end. Every refusal is a sentence for the caller.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::expression::{Expression, Refusal, Scope, compare, rows_of, sum};
use super::model::{
    Conversion, Declaration, KeyedRow, Model, Operation, Outcome, Parameter, Row, State, Table, Target, Write,
};
use super::value_type::{in_text, rounded};

/// The most rows of a table; an insert beyond is refused.
const MAX_ROWS: usize = 100_000;

/// Executes a call; the error is the text of an error result, and then the state is as before.
pub(super) fn perform(
    model: &Model,
    function: &Declaration,
    arguments: &Map<String, Value>,
    state: &mut State,
) -> Result<Value, Refusal> {
    let arguments = checked(&function.parameters, arguments)?;
    let scope = Scope {
        tables: &model.tables,
        arguments: &arguments,
        rows: vec![None; function.n_slots],
        found: Vec::new(),
        computed: None,
    };
    let mut performance = Performance { model, scope, state: state.clone(), keys_deleted: Vec::new() };
    let result = performance.result(function)?;
    *state = performance.state;
    Ok(result)
}

/// Returns the arguments in the order of the parameters, with defaults.
fn checked(parameters: &[Parameter], arguments: &Map<String, Value>) -> Result<Vec<Option<Value>>, Refusal> {
    let is_known = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    if let Some(unknown) = arguments.keys().find(|name| !is_known(name)) {
        return Err(format!("Unknown parameter \"{unknown}\"."));
    }
    let values = parameters.iter().map(|parameter| match arguments.get(&parameter.name) {
        None if parameter.is_optional => Ok(parameter.default.clone()),
        None => Err(format!("Missing required parameter \"{}\".", parameter.name)),
        Some(value) => match parameter.value_type.check(value) {
            Ok(()) => Ok(Some(value.clone())),
            Err(expected) => Err(format!("Parameter \"{}\" must be {expected}.", parameter.name)),
        },
    });
    values.collect()
}

struct Performance<'m> {
    model: &'m Model,
    scope: Scope<'m>,
    state: State,
    /// Tables and keys of deleted rows, which nothing may refer to at the end.
    keys_deleted: Vec<(usize, Value)>,
}

impl<'m> Performance<'m> {
    fn result(&mut self, function: &'m Declaration) -> Result<Value, Refusal> {
        match &function.operation {
            Operation::Read(row)
            | Operation::Write(
                Write::Update { target: Target::Key(row), .. } | Write::Delete { target: Target::Key(row) },
            ) => {
                self.fetch(row)?;
            }
            _ => {}
        }
        for row in &function.rows {
            self.fetch(row)?;
        }
        for requirement in &function.require {
            let value = requirement.value.value(&self.scope, &self.state)?;
            let operand = requirement.operand.value(&self.scope, &self.state)?;
            if let (Some(value), Some(operand)) = (value, operand)
                && !requirement.comparison.holds(&value, &operand)
            {
                return Err(requirement.error.text(&self.scope, &self.state)?);
            }
        }
        self.operate(&function.operation)?;
        for write in &function.also {
            self.write(write)?;
        }
        self.check_deleted()?;
        self.outcome(&function.result)
    }

    fn fetch(&mut self, row: &KeyedRow) -> Result<(), Refusal> {
        // A key that was left out is a row that is not asked for.
        let Some(key) = row.key.value(&self.scope, &self.state)? else { return Ok(()) };
        let Some(position) = self.state.position(self.tables(), row.table, &key) else {
            return Err(row.missing.text(&self.scope, &self.state)?);
        };
        self.scope.rows[row.slot] = Some(Arc::clone(&self.state.tables[row.table][position]));
        Ok(())
    }

    fn tables(&self) -> &'m [Table] {
        &self.model.tables
    }

    fn operate(&mut self, operation: &Operation) -> Result<(), Refusal> {
        match operation {
            Operation::Read(_) => {}
            Operation::Find { table, filter, sort, limit } => {
                let mut found = rows_of(*table, filter, &self.scope, &self.state)?;
                found.sort_by(|left, right| order(left, right, sort));
                let limit = limit.as_ref().map(|limit| limit.value(&self.scope, &self.state)).transpose()?;
                if let Some(limit) = limit.flatten().and_then(|limit| limit.as_u64()) {
                    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
                }
                self.scope.found = found;
            }
            Operation::Count { table, filter } => {
                self.scope.computed = Some(rows_of(*table, filter, &self.scope, &self.state)?.len().into());
            }
            Operation::Sum { table, column, filter } => {
                let rows = rows_of(*table, filter, &self.scope, &self.state)?;
                self.scope.computed = Some(sum(*column, &rows, self.tables(), *table)?);
            }
            Operation::Convert { conversion, amount, from, to } => {
                let value = |expression: &Expression| expression.value(&self.scope, &self.state);
                let (amount, from, to) = (value(amount)?, value(from)?, value(to)?);
                let conversion = &self.model.conversions[*conversion];
                let [amount, from, to] = [amount, from, to].map(Option::unwrap_or_default);
                self.scope.computed = Some(conversion.convert(&amount, &from, &to)?);
            }
            Operation::Write(write) => self.write(write)?,
        }
        Ok(())
    }

    fn write(&mut self, write: &Write) -> Result<(), Refusal> {
        match write {
            Write::Insert { table, slot, values } => self.insert(*table, *slot, values),
            Write::Update { target, set } => {
                let (table, slot) = target.place();
                for position in self.targets(target)? {
                    let before = Arc::clone(&self.state.tables[table][position]);
                    self.scope.rows[slot] = Some(Arc::clone(&before));
                    let mut cells = (*before).clone();
                    for (column, expression) in set {
                        if let Some(value) = expression.value(&self.scope, &self.state)? {
                            cells[*column] = self.cell(table, *column, value)?;
                        }
                    }
                    let after = Arc::new(cells);
                    Arc::make_mut(&mut self.state.tables[table])[position] = Arc::clone(&after);
                    self.scope.rows[slot] = Some(after);
                }
                Ok(())
            }
            Write::Delete { target } => {
                let (table, slot) = target.place();
                // From the end, so that the earlier positions stay right.
                for position in self.targets(target)?.into_iter().rev() {
                    let row = Arc::make_mut(&mut self.state.tables[table]).remove(position);
                    self.keys_deleted.push((table, row[self.tables()[table].key].clone()));
                    self.scope.rows[slot] = Some(row);
                }
                Ok(())
            }
        }
    }

    /// Returns the positions of the rows to write.
    fn targets(&mut self, target: &Target) -> Result<Vec<usize>, Refusal> {
        match target {
            Target::Key(row) => {
                self.fetch(row)?;
                let key = row.key.value(&self.scope, &self.state)?;
                let position = key.and_then(|key| self.state.position(self.tables(), row.table, &key));
                Ok(position.into_iter().collect())
            }
            Target::Filter { table, filter, .. } => {
                let rows = rows_of(*table, filter, &self.scope, &self.state)?;
                let is_target = |row: &Row| rows.iter().any(|other| Arc::ptr_eq(other, row));
                let all = self.state.tables[*table].iter().enumerate();
                Ok(all.filter(|(_, row)| is_target(row)).map(|(position, _)| position).collect())
            }
        }
    }

    fn insert(&mut self, table: usize, slot: usize, values: &[(usize, Expression)]) -> Result<(), Refusal> {
        let declared = &self.tables()[table];
        if self.state.tables[table].len() >= MAX_ROWS {
            return Err(format!("{} is full.", declared.name));
        }
        let mut cells: Vec<Option<Value>> = vec![None; declared.columns.len()];
        for (column, expression) in values {
            if let Some(value) = expression.value(&self.scope, &self.state)? {
                cells[*column] = Some(self.cell(table, *column, value)?);
            }
        }
        let mut row = Vec::with_capacity(cells.len());
        for (position, (cell, column)) in cells.into_iter().zip(&declared.columns).enumerate() {
            row.push(match (cell, &column.generate, &column.default) {
                (Some(cell), ..) => cell,
                (None, Some((prefix, start)), _) => self.next_id(table, position, prefix, *start),
                (None, None, Some(default)) => default.clone(),
                (None, None, None) if column.is_optional => Value::Null,
                (None, None, None) => {
                    return Err(format!("{} needs a value for {}.", declared.name, column.name));
                }
            });
        }
        let key = &row[declared.key];
        if self.state.position(self.tables(), table, key).is_some() {
            return Err(format!("{} {} exists already.", declared.name, in_text(key)));
        }
        let row = Arc::new(row);
        Arc::make_mut(&mut self.state.tables[table]).push(Arc::clone(&row));
        self.scope.rows[slot] = Some(row);
        Ok(())
    }

    /// Returns the id after the largest one in the table. It depends on the visible rows only.
    fn next_id(&self, table: usize, column: usize, prefix: &str, start: u64) -> Value {
        let numbers = self.state.tables[table]
            .iter()
            .filter_map(|row| row[column].as_str()?.strip_prefix(prefix)?.parse().ok());
        let next = numbers.max().map_or(start, |last: u64| start.max(last.saturating_add(1)));
        Value::String(format!("{prefix}{next}"))
    }

    /// Checks a value for a column, and returns it as the column stores it.
    fn cell(&self, table: usize, column: usize, value: Value) -> Result<Value, Refusal> {
        let declared = &self.tables()[table];
        let column = &declared.columns[column];
        if value.is_null() && column.is_optional {
            return Ok(value);
        }
        let value = column.value_type.stored(value);
        column
            .value_type
            .check(&value)
            .map_err(|expected| format!("{}.{} must be {expected}.", declared.name, column.name))?;
        if let Some(target) = column.reference
            && self.state.position(self.tables(), target, &value).is_none()
        {
            let target = &self.tables()[target];
            return Err(format!(
                "No row of {} has the {} {}.",
                target.name,
                target.columns[target.key].name,
                in_text(&value)
            ));
        }
        Ok(value)
    }

    fn check_deleted(&self) -> Result<(), Refusal> {
        for (deleted, key) in &self.keys_deleted {
            for (table, rows) in self.tables().iter().zip(&self.state.tables) {
                for (position, column) in table.columns.iter().enumerate() {
                    if column.reference == Some(*deleted) && rows.iter().any(|row| row[position] == *key) {
                        return Err(format!("{} is still used in {}.", in_text(key), table.name));
                    }
                }
            }
        }
        Ok(())
    }

    fn outcome(&self, outcome: &Outcome) -> Result<Value, Refusal> {
        match outcome {
            Outcome::Row { slot, table, columns } => {
                let row = self.scope.rows[*slot].as_ref();
                Ok(row.map_or(Value::Object(Map::new()), |row| self.tables()[*table].object(row, columns)))
            }
            Outcome::Members(members) => {
                let mut object = Map::new();
                for (name, expression) in members {
                    if let Some(value) = expression.value(&self.scope, &self.state)? {
                        object.insert(name.clone(), value);
                    }
                }
                Ok(Value::Object(object))
            }
        }
    }
}

impl Target {
    /// Returns the table and the slot of the rows.
    fn place(&self) -> (usize, usize) {
        match self {
            Self::Key(row) => (row.table, row.slot),
            Self::Filter { table, slot, .. } => (*table, *slot),
        }
    }
}

impl Conversion {
    fn convert(&self, amount: &Value, from: &Value, to: &Value) -> Result<Value, Refusal> {
        let factor = |unit: &Value| {
            let known = self.factors.iter().find(|(name, _)| unit == name).map(|(_, factor)| *factor);
            known.ok_or_else(|| format!("Unknown {}: {}.", self.name, in_text(unit)))
        };
        let (from, to) = (factor(from)?, factor(to)?);
        let amount = amount.as_f64().ok_or("The amount is not a number.")?;
        rounded(amount * to / from, self.decimals).ok_or_else(|| "The result is not a number.".to_owned())
    }
}

/// The order of rows by columns; empty cells are last, equal rows stay in the order of the table.
fn order(left: &Row, right: &Row, sort: &[(usize, bool)]) -> std::cmp::Ordering {
    use std::cmp::Ordering::Equal;
    for (column, is_descending) in sort {
        let (left, right) = (&left[*column], &right[*column]);
        let by_null = left.is_null().cmp(&right.is_null());
        let by_value = compare(left, right).unwrap_or(Equal);
        let by_value = if *is_descending { by_value.reverse() } else { by_value };
        let by_column = by_null.then(by_value);
        if by_column != Equal {
            return by_column;
        }
    }
    Equal
}
