//! The rows that `pairs` compares: those of one file, or of two files one after the other.

use std::path::Path;

use anyhow::bail;
use serde_json::Value;

use super::{MAX_NAMED, PairsArgs};
use crate::cli::console::{self, counted};
use crate::docs::canonical;
use crate::ingest::column::{Column, Wanted};
use crate::ingest::pick::Field;
use crate::text::visible::visible_line;

/// Rows with a text.
pub(super) struct Rows {
    /// Their ids as JSON.
    pub(super) ids: Vec<String>,
    pub(super) texts: Vec<String>,
    /// How many are of the first file.
    pub(super) n_first: usize,
    pub(super) n_unreadable: usize,
}

impl Rows {
    pub(super) fn read(args: &PairsArgs) -> anyhow::Result<Self> {
        let wanted = Wanted {
            field: Field::new(&args.field),
            id_field: args.id_field.as_deref().map(Field::new),
            written: canonical::value_text,
        };
        let mut rows = Self { ids: Vec::new(), texts: Vec::new(), n_first: 0, n_unreadable: 0 };
        rows.add(&args.a, &wanted)?;
        rows.n_first = rows.texts.len();
        if let Some(b) = &args.b {
            rows.add(b, &wanted)?;
        }
        Ok(rows)
    }

    fn add(&mut self, path: &Path, wanted: &Wanted) -> anyhow::Result<()> {
        let column = Column::read(path, wanted)?;
        report_skipped(path, &column, wanted.field.name());
        if column.texts.is_empty() && !column.keys.is_empty() {
            let (path, field, keys) = (path.display(), wanted.field.name(), column.keys.join(", "));
            bail!("{path}: no row has a text at {field}\nhint: the first row has {keys}");
        }
        self.n_unreadable += column.unreadable.len();
        self.ids.extend(column.ids.iter().map(Value::to_string));
        self.texts.extend(column.texts);
        Ok(())
    }
}

/// Reports the rows of a file that are skipped, and why.
fn report_skipped(path: &Path, column: &Column, field: &str) {
    let path = path.display();
    for (line, fault) in column.unreadable.iter().take(MAX_NAMED) {
        console::print_status(&format!("{path}:{line}: {}: {}", fault.reason, visible_line(&fault.detail)));
    }
    let n_more = column.unreadable.len().saturating_sub(MAX_NAMED);
    if n_more > 0 {
        console::print_status(&format!(
            "{path}: {} cannot be read",
            counted(n_more as u64, "more row", "more rows")
        ));
    }
    if !column.without_text.is_empty() {
        let named: Vec<String> =
            column.without_text.iter().take(MAX_NAMED).map(ToString::to_string).collect();
        let n_rows = counted(column.without_text.len() as u64, "row has", "rows have");
        let more = if column.without_text.len() > MAX_NAMED { ", …" } else { "" };
        console::print_status(&format!("{path}: {n_rows} no text at {field}: {}{more}", named.join(", ")));
    }
}
