//! Decisions that the earlier run in a folder applied and that the files given now do not have.
//!
//! A second file of decisions replaces the first one if only the second is given; the run warns of that. Rows are compared
//! by content id, so a row that the log no longer has is not missed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::engine::corpus::Corpus;
use crate::engine::decided::Decided;
use crate::engine::decision::Decisions;
use crate::engine::error::Error;
use crate::engine::frame::FrameFile;
use crate::engine::manifest::read_run_file;
use crate::engine::vocabulary::TableId;
use crate::text::figures::counted;

/// The decisions of the earlier run: rows, by table and content id, with the reason of the ledger.
#[derive(Debug, Default)]
pub(super) struct EarlierDecisions {
    files: Vec<String>,
    rows: BTreeMap<(String, String), String>,
    /// Why they are unknown.
    unread: Option<String>,
}

impl EarlierDecisions {
    /// Reads the decisions of a finished run; none if there is no such run. A damaged ledger is noted for the warning.
    pub(super) fn of(run: &Path) -> Self {
        let Ok(file) = read_run_file(run) else { return Self::default() };
        let files: Vec<String> = match &file.pipeline["decisions"] {
            Value::String(file) => vec![file.clone()],
            Value::Array(files) => files.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => return Self::default(),
        };
        let columns = ["table_name", "row_id", "reason", "cascaded"];
        let ledger = FrameFile::open(&run.join("ledger.parquet")).and_then(|it| it.read_columns(&columns));
        let frame = match ledger {
            Ok(frame) => frame,
            Err(error) => return Self { unread: Some(error.to_string()), ..Self::default() },
        };
        let [tables, ids, reasons] = ["table_name", "row_id", "reason"].map(|name| frame.texts(name));
        let (Some(tables), Some(ids), Some(reasons), Some(cascaded)) =
            (tables, ids, reasons, frame.ints("cascaded"))
        else {
            return Self::default();
        };
        let decision = |row: usize| {
            let reason = reasons.get(row).filter(|reason| reason.starts_with("decision/"))?;
            let is_own = cascaded.get(row) != Some(1);
            is_own.then_some(((tables.get(row)?.to_owned(), ids.get(row)?.to_owned()), reason.to_owned()))
        };
        Self { files, rows: (0..frame.height()).filter_map(decision).collect(), unread: None }
    }

    /// The warning about decisions on rows of the log that no decision of now names.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub(super) fn warning(&self, now: &Decisions, corpus: &Corpus) -> Result<Option<String>, Error> {
        if let Some(error) = &self.unread {
            let what = error.split("\nhint: ").next().unwrap_or_default();
            return Ok(Some(format!(
                "the earlier run in this folder applied decisions that cannot be read: {what}\nhint: pass all files of decisions with --decisions"
            )));
        }
        if self.rows.is_empty() {
            return Ok(None);
        }
        let (mut named, mut known) = (BTreeSet::new(), BTreeSet::new());
        for id in TableId::ALL {
            let table = corpus.table(id);
            let key = |row| (id.name().to_owned(), table.row_id(row).to_string());
            named.extend(Decided::of(now, corpus, id)?.rows().map(key));
            known.extend((0..).take(table.len()).map(key).filter(|key| self.rows.contains_key(key)));
        }
        let mut missing = self.rows.iter().filter(|(row, _)| known.contains(*row) && !named.contains(*row));
        let Some(((_, id), reason)) = missing.next() else { return Ok(None) };
        let n_missing = 1 + missing.count();
        let files: Vec<String> = self
            .files
            .iter()
            .filter(|file| !now.files.contains(file))
            .chain(&now.files)
            .map(|file| format!("--decisions {file}"))
            .collect();
        let what = if n_missing == 1 { "it" } else { "them" };
        Ok(Some(format!(
            "the decision files of this run do not contain {} of the earlier run in this folder, such as `{}` for {id}\nhint: to apply {what} too, pass all files: {}",
            counted(n_missing as u64, "decision", "decisions"),
            reason.trim_start_matches("decision/"),
            files.join(" ")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::disk::write_atomic;
    use crate::engine::layout::RUN_FORMAT;
    use crate::fixture;

    #[test]
    fn decisions_of_a_damaged_ledger_are_missed_in_words() {
        let run = tempfile::tempdir().unwrap();
        let warning = || {
            let earlier = EarlierDecisions::of(run.path());
            earlier.warning(&Decisions::default(), &fixture::corpus(&serde_json::json!({}))).unwrap()
        };
        assert_eq!(warning(), None, "no run");
        let file = serde_json::json!({"version": "1", "format": RUN_FORMAT, "pipeline": {"decisions": "d.jsonl"}, "seed": 1, "inputs": [],
            "baselines": [], "steps": [], "command": []});
        write_atomic(&run.path().join("run.json"), file.to_string().as_bytes()).unwrap();
        write_atomic(&run.path().join("ledger.parquet"), b"PAR1").unwrap();
        let warning = warning().unwrap();
        assert!(
            warning.contains("applied decisions that cannot be read: ") && warning.contains("\nhint: "),
            "{warning}"
        );
    }
}
