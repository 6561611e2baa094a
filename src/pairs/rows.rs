//! The rows that are compared: those of one file, or of two files one after the other.

use std::path::Path;

use serde_json::Value;

use super::{PairsError, PairsOptions, PairsSink};
use crate::docs::canonical;
use crate::ingest::column::{Column, Wanted};
use crate::ingest::fields::Field;
use crate::ingest::reasons::ItemFault;

/// Rows with a text.
pub(super) struct Rows {
    /// Their ids as JSON.
    pub(super) ids: Vec<String>,
    pub(super) texts: Vec<String>,
    /// How many are of the first file.
    pub(super) n_first: usize,
    pub(super) n_unreadable: u64,
}

/// Rows of a file that are not compared.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SkippedRows<'c> {
    /// The file.
    pub path: &'c Path,
    /// The lines of the rows that cannot be read, and why.
    pub unreadable: &'c [(u64, ItemFault)],
    /// The ids of the rows without a text in the field.
    pub without_text: &'c [Value],
}

impl Rows {
    pub(super) fn read(options: &PairsOptions, sink: &mut dyn PairsSink) -> Result<Self, PairsError> {
        let wanted = Wanted {
            field: Field::new(&options.field),
            id_field: options.id_field.as_deref().map(Field::new),
            written: canonical::value_text,
        };
        let mut rows = Self { ids: Vec::new(), texts: Vec::new(), n_first: 0, n_unreadable: 0 };
        rows.add(&options.a, &wanted, sink)?;
        rows.n_first = rows.texts.len();
        if let Some(b) = &options.b {
            rows.add(b, &wanted, sink)?;
        }
        Ok(rows)
    }

    fn add(&mut self, path: &Path, wanted: &Wanted, sink: &mut dyn PairsSink) -> Result<(), PairsError> {
        let Column { ids, texts, without_text, unreadable, keys } = Column::read(path, wanted)?;
        sink.skipped(&SkippedRows { path, unreadable: &unreadable, without_text: &without_text });
        if texts.is_empty() && !keys.is_empty() {
            let (path, field, keys) = (path.display(), wanted.field.name(), keys.join(", "));
            return Err(PairsError::Input(format!(
                "{path}: no row has a text at {field}\nhint: the first row has {keys}"
            )));
        }
        self.n_unreadable += unreadable.len() as u64;
        self.ids.extend(ids.iter().map(Value::to_string));
        self.texts.extend(texts);
        Ok(())
    }
}
