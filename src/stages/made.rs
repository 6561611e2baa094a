//! Rows that were made: what stages share that change their program.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::columns::{CHOSEN, FOLLOWING_MESSAGES, MESSAGES, PASS_RATE, PROGRAM, RESPONSE, TRACES};
use crate::conversation::Role;
use crate::docs::patch::push_token;
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::verdict::Verdict;
use crate::engine::view::View;
use crate::engine::vocabulary::{ColumnSpec, Edit, Reason, RowIx, Safety};
use crate::instruct::attempt::{Attempt, Checked, chosen, pass_rate, passing};
use crate::instruct::record::Record;
use crate::instruct::source::messages;

/// The columns of a row that say what its program says.
pub(super) const COLUMNS: [ColumnSpec; 4] = [PROGRAM, MESSAGES, RESPONSE, FOLLOWING_MESSAGES];

/// A row with a program.
pub(super) struct MadeRow {
    /// The row.
    pub(super) row: RowIx,
    /// Its program.
    pub(super) record: Record,
    cells: Cells,
}

/// The cells of [`COLUMNS`] of a row as texts, which take a small part of the memory of values.
type Cells = [Option<Box<str>>; 4];

/// A row with a program that is not parsed yet.
pub(super) struct UnreadRow {
    row: RowIx,
    cells: Cells,
}

impl UnreadRow {
    /// Parses the program.
    pub(super) fn read(self) -> MadeRow {
        let Self { row, cells } = self;
        let program = cells[0].as_deref().unwrap_or_default();
        let record = serde_json::from_str(program).expect("a column that callsieve wrote is JSON");
        MadeRow { row, record, cells }
    }
}

/// Returns the kept rows that have a program.
///
/// # Errors
/// The user asked to stop, or a table cannot be read.
pub(super) fn made_rows(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<MadeRow>> {
    Ok(unread_rows(view, cx)?.into_par_iter().map(UnreadRow::read).collect())
}

/// Returns the kept rows that have a program, for stages that go through them a few at a time.
///
/// # Errors
/// As [`made_rows`].
pub(super) fn unread_rows(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<UnreadRow>> {
    let mut made = Vec::new();
    view.stream(
        cx,
        |row| view.is_kept(row),
        |batch| {
            let read = batch.map_rows(|row| {
                row.text(PROGRAM)?;
                Some(UnreadRow {
                    row: row.ix(),
                    cells: COLUMNS.map(|column| row.text(column).map(Box::from)),
                })
            })?;
            made.extend(read.into_iter().flatten());
            Ok(())
        },
    )?;
    Ok(made)
}

/// The number of the chosen attempt where none is.
pub(super) const NONE_CHOSEN: i64 = -1;

/// Notes which attempt is chosen of those that pass, and what share passes.
///
/// # Errors
/// As [`Verdict::set`].
pub(super) fn set_passing(
    row: RowIx,
    attempts: &[Attempt],
    checked: &[Checked],
    out: &mut Verdict<'_>,
) -> Result<Option<usize>> {
    let chosen = chosen(attempts, checked);
    out.set(row, PASS_RATE, pass_rate(&passing(attempts, checked)).to_string())?;
    out.set(row, CHOSEN, chosen.and_then(|at| i64::try_from(at).ok()).unwrap_or(NONE_CHOSEN))?;
    Ok(chosen)
}

/// A row with the attempts at it.
pub(super) type AttemptedRow = (MadeRow, Vec<Attempt>);

/// Returns the kept rows that have a program and attempts.
///
/// # Errors
/// As [`made_rows`].
pub(super) fn attempted_rows(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<AttemptedRow>> {
    let mut attempts: BTreeMap<RowIx, Vec<Attempt>> = BTreeMap::new();
    view.stream(
        cx,
        |row| view.is_kept(row),
        |batch| {
            let read = batch.map_rows(|row| Some((row.ix(), row.json::<Vec<Attempt>>(TRACES)?)))?;
            attempts.extend(read.into_iter().flatten().filter(|(_, attempts)| !attempts.is_empty()));
            Ok(())
        },
    )?;
    // Most runs have none.
    if attempts.is_empty() {
        return Ok(Vec::new());
    }
    let made = unread_rows(view, cx)?.into_iter();
    Ok(made.filter_map(|row| attempts.remove(&row.row).map(|own| (row.read(), own))).collect())
}

impl MadeRow {
    /// Gives the row a program with the same messages, if it is another one.
    ///
    /// # Errors
    /// As [`Verdict::set`].
    pub(super) fn set_program(
        &self,
        record: &Record,
        reason: &'static Reason,
        out: &mut Verdict<'_>,
    ) -> Result<()> {
        self.set_cell(0, &json!(record), reason, out)
    }

    /// Gives the row another program: its cells, each with an edit.
    ///
    /// # Errors
    /// As [`Verdict::set`].
    pub(super) fn set(&self, record: &Record, reason: &'static Reason, out: &mut Verdict<'_>) -> Result<()> {
        let mut messages = messages(record);
        let following = messages.split_off(messages.len().min(2));
        let response = messages.pop_if(|message| message.role == Role::Assistant);
        let following = if following.is_empty() { Value::Null } else { json!(following) };
        let new = [json!(record), json!(messages), response.map_or(Value::Null, |one| json!(one)), following];
        new.iter().enumerate().try_for_each(|(at, new)| self.set_cell(at, new, reason, out))
    }

    /// Sets the cell of one of [`COLUMNS`], with an edit, if it is another one.
    fn set_cell(&self, at: usize, new: &Value, reason: &'static Reason, out: &mut Verdict<'_>) -> Result<()> {
        let column = COLUMNS[at];
        let old: Value = self.cells[at].as_deref().map_or(Value::Null, |text| {
            serde_json::from_str(text).expect("a column that callsieve wrote is JSON")
        });
        if old == *new {
            return Ok(());
        }
        let mut ops = Vec::new();
        differences(&old, new, &mut String::new(), &mut ops);
        let patch = Value::Array(ops).to_string();
        out.edit(self.row, Edit { column, reason, safety: Safety::Unsafe, patch })?;
        out.set(self.row, column, new.to_string())
    }
}

/// Adds the operations of a JSON patch that make one value of another: replaced parts of lists and objects of the same form, or the
/// whole.
fn differences(old: &Value, new: &Value, at: &mut String, ops: &mut Vec<Value>) {
    let length = at.len();
    match (old, new) {
        (old, new) if old == new => {}
        (Value::Object(old), Value::Object(new)) if old.keys().eq(new.keys()) => {
            for ((key, old), new) in old.iter().zip(new.values()) {
                at.push('/');
                push_token(at, key);
                differences(old, new, at, ops);
                at.truncate(length);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (nth, (old, new)) in old.iter().zip(new).enumerate() {
                at.push('/');
                push_token(at, &nth.to_string());
                differences(old, new, at, ops);
                at.truncate(length);
            }
        }
        (_, new) => ops.push(json!({"op": "replace", "path": at, "value": new})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_replaced() {
        let (old, new) = (json!({"a": [1, {"b/c": "x"}], "d": 1}), json!({"a": [1, {"b/c": "y"}], "d": 1}));
        let mut ops = Vec::new();
        differences(&old, &new, &mut String::new(), &mut ops);
        assert_eq!(ops, [json!({"op": "replace", "path": "/a/1/b~1c", "value": "y"})]);
        ops.clear();
        differences(&json!([1]), &json!([1, 2]), &mut String::new(), &mut ops);
        assert_eq!(ops, [json!({"op": "replace", "path": "", "value": [1, 2]})]);
    }
}
