//! Takes raw text out of the payload of a finished run.
//!
//! After it, a content cell of the payload holds what redaction left of it, or nothing.
//! Which columns are meant follows from the contracts of the redaction stages: those that
//! they write and ingest wrote before. A row that had left before redaction saw it is
//! emptied, since nobody looked at what it holds. Links, order and ids stay, and so do the
//! borders of the batches, so the run still tells its story; but it is no payload to judge
//! by any more, which the manifest says before the first file changes.

use std::path::Path;

use super::columns::{ColumnKind, ColumnSpec, MESSAGES, PAYLOAD, RESPONSE, SESSION, TEXT, USER};
use super::corpus::{Corpus, Table};
use super::error::{Error, Result, damaged};
use super::folder::RunFolder;
use super::payload::{self, IngestManifest, LINES, LISTS, REQUESTS};
use super::rewrite::{Group, Rewritten, Touched, rewrite};
use super::runner::{StageInstance, add_columns, replay, step_name};
use super::stage::TableId;

/// What must be redacted before the payload counts as purged.
const NEEDED: [ColumnSpec; 3] = [MESSAGES, RESPONSE, TEXT];

/// What goes where nothing was redacted: what was said, and who said it. The log's own id stays, since rows are
/// called by it everywhere.
const CONTENT: [ColumnSpec; 5] = [MESSAGES, RESPONSE, USER, SESSION, TEXT];

/// How much is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Cells become what redaction made of them.
    Redacted,
    /// Content cells are emptied.
    Everything,
}

/// Purges the payload, and removes the copy of standard input. Gives what was touched; nothing where nothing is left
/// to do.
///
/// `is_redaction` tells the kinds of stages that redact.
///
/// # Errors
/// The run was not redacted, or something before redaction may hold raw text ([`Error::Setting`], nothing has
/// changed); a file cannot be read or written.
pub fn purge(
    folder: &RunFolder,
    ingest: &IngestManifest,
    stages: &[StageInstance],
    is_redaction: impl Fn(&str) -> bool,
    extent: Extent,
) -> Result<Vec<Touched>> {
    let run = folder.path();
    let plan = match extent {
        Extent::Everything => Plan::emptied(payload::load(run, ingest)?),
        Extent::Redacted => Plan::redacted(run, ingest, stages, is_redaction)?,
    };
    let folder_of = run.join("ingest");
    let mut rewritten = Vec::new();
    for (name, table) in [(REQUESTS, &plan.corpus.requests), (LISTS, &plan.corpus.lists)] {
        rewritten.push(plan.write(run, &folder_of.join(name), table)?);
    }
    if extent == Extent::Everything {
        rewritten.push(empty_details(run, &folder_of.join(LINES))?);
    }
    if rewritten.iter().any(|(rewritten, _)| rewritten.changes > 0) {
        folder.write_manifest("ingest", &IngestManifest { purged: true, ..ingest.clone() })?;
    }
    let mut touched = Vec::new();
    for (rewritten, file) in rewritten {
        rewritten.put_in_place()?;
        touched.push(file);
    }
    if let Some(bytes) = folder.remove_spool()? {
        let spool = Touched::of(run, &folder.spool());
        touched.push(Touched { removed: true, bytes_before: bytes, ..spool });
    }
    touched.retain(|touched| !touched.is_nothing());
    Ok(touched)
}

/// What each cell is to hold.
struct Plan {
    /// The tables with the versions of cells that redaction wrote, and no others.
    corpus: Corpus,
    /// The columns that change.
    columns: Vec<ColumnSpec>,
    /// For each table the rows whose cells are emptied.
    unseen: [Vec<bool>; 2],
}

impl Plan {
    fn emptied(corpus: Corpus) -> Self {
        let unseen = [&corpus.requests, &corpus.lists].map(|table| vec![true; table.len()]);
        Self { corpus, columns: CONTENT.to_vec(), unseen }
    }

    fn redacted(
        run: &Path,
        ingest: &IngestManifest,
        stages: &[StageInstance],
        is_redaction: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let mut plan = Self::emptied(payload::load(run, ingest)?);
        plan.columns = Vec::new();
        check_order(stages, &is_redaction)?;
        // Fates come from all stages, cells from those that redact.
        let mut fates = payload::load(run, ingest)?;
        for (at, instance) in stages.iter().enumerate() {
            let step = format!("stages/{}", step_name(at, &instance.id));
            if is_redaction(instance.kind) {
                let contract = instance.stage.contract();
                let table = fates.table(contract.table);
                for (row, unseen) in (0..).zip(&mut plan.unseen[place(contract.table)]) {
                    *unseen &= !table.is_kept(row);
                }
                plan.columns.extend(contract.writes.iter().filter(|column| PAYLOAD.contains(column)));
                if !contract.writes.is_empty() {
                    add_columns(run, &step, &contract, &mut plan.corpus)?;
                }
            }
            replay(run, &step, at, instance, &mut fates)?;
        }
        match NEEDED.into_iter().find(|column| !plan.columns.contains(column)) {
            None => Ok(plan),
            Some(column) => Err(Error::Setting(format!(
                "no stage of the run redacted {} of {}: the raw text is all there is
hint: put stages of kind redact and redact-docs first in the pipeline and run again, or remove the text wholly with --everything",
                column.name,
                column.table.name()
            ))),
        }
    }

    fn write(&self, run: &Path, path: &Path, table: &Table) -> Result<(Rewritten, Touched)> {
        let columns: Vec<ColumnSpec> =
            self.columns.iter().copied().filter(|column| column.table == table.id()).collect();
        let unseen = &self.unseen[place(table.id())];
        let mut touched = Touched::of(run, path);
        let mut batch = 0;
        let rewritten = rewrite(path, |group| {
            if group.height() == 0 {
                return Ok(0);
            }
            let rows = group.start()..group.start() + group.height();
            if batch >= table.batches() || table.batch(batch) != rows {
                return Err(damaged(path, format!("rows {rows:?} are no batch of the table")));
            }
            let cells = table.read_batch(batch, &columns)?;
            batch += 1;
            let mut changes = 0;
            for at in 0..group.height() {
                let is_unseen = unseen[group.start() + at];
                for column in &columns {
                    let left = if is_unseen || column.kind == ColumnKind::Int {
                        None
                    } else {
                        cells.text(*column, at).map(str::to_owned)
                    };
                    changes += u64::from(set(group, column.name, at, left, &mut touched));
                }
            }
            Ok(changes)
        })?;
        (touched.bytes_before, touched.bytes_after) = (rewritten.before, rewritten.after);
        Ok((rewritten, touched))
    }
}

fn set(group: &mut Group<'_>, column: &str, at: usize, text: Option<String>, touched: &mut Touched) -> bool {
    let changed = group.set_text(column, at, text);
    if changed {
        touched.cell(column);
    }
    changed
}

/// What a stage wrote before redaction may quote the raw text, and is out of reach here.
fn check_order(stages: &[StageInstance], is_redaction: impl Fn(&str) -> bool) -> Result<()> {
    let last = stages.iter().rposition(|stage| is_redaction(stage.kind)).unwrap_or_default();
    match stages[..last].iter().find(|stage| !is_redaction(stage.kind)) {
        None => Ok(()),
        Some(early) => Err(Error::Setting(format!(
            "stage {} ran before {}: what it wrote may quote the raw text
hint: put the redaction first in the pipeline and run again",
            early.id, stages[last].id
        ))),
    }
}

/// Details of lines that gave no request may quote them.
fn empty_details(run: &Path, path: &Path) -> Result<(Rewritten, Touched)> {
    let mut touched = Touched::of(run, path);
    let rewritten = rewrite(path, |group| {
        let mut changes = 0;
        for at in 0..group.height() {
            let is_empty = group.text("detail", at).is_none_or(str::is_empty);
            if !is_empty {
                changes += u64::from(set(group, "detail", at, Some(String::new()), &mut touched));
            }
        }
        Ok(changes)
    })?;
    (touched.bytes_before, touched.bytes_after) = (rewritten.before, rewritten.after);
    Ok((rewritten, touched))
}

fn place(table: TableId) -> usize {
    match table {
        TableId::Requests => 0,
        TableId::DocLists => 1,
    }
}
