//! Removes raw text from the raw tables of a finished run.
//!
//! Afterwards a content cell of the raw tables holds its redacted form, or nothing. The affected columns follow from
//! the contracts of the redaction stages: those that they write and that ingest wrote before. A row that was dropped
//! before redaction is emptied, because its content was never checked. Links, order, ids and the borders of batches
//! stay, so the history of the run can still be shown. But stages can no longer run on the raw tables; the manifest
//! records this before the first file changes.

use std::path::Path;

use super::rewrite::{Group, Rewritten, Touched, replace_files, rewrite};
use crate::columns::{ASSISTANT, FOLLOWING_MESSAGES, MESSAGES, RESPONSE, SESSION, TEXT, USER};
use crate::engine::contract::Role;
use crate::engine::corpus::{Corpus, Table};
use crate::engine::error::{Error, Result, damaged};
use crate::engine::folder::RunFolder;
use crate::engine::instance::StageInstance;
use crate::engine::layout::{INGEST, step_name};
use crate::engine::raw::{self, IngestManifest, LINES, LISTS, REQUESTS};
use crate::engine::runner::{add_columns, replay};
use crate::engine::vocabulary::{ColumnKind, ColumnSpec, Origin, TableId};

/// The columns that must be redacted before the raw tables count as purged.
const NEEDED: [ColumnSpec; 4] = [MESSAGES, RESPONSE, FOLLOWING_MESSAGES, TEXT];

/// The columns that are emptied if nothing was redacted: the conversation, and user, assistant and session. The log's own id
/// stays, because rows are identified by it everywhere.
const CONTENT: [ColumnSpec; 7] = [MESSAGES, RESPONSE, FOLLOWING_MESSAGES, USER, ASSISTANT, SESSION, TEXT];

/// The extent of a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Cells are replaced by their redacted form.
    Redacted,
    /// Content cells are emptied.
    Everything,
}

/// Purges the raw tables, and removes the copy of standard input. Returns the changed files; empty if there is nothing
/// left to do.
///
/// # Errors
/// The run was not redacted, or a stage before redaction may hold raw text ([`Error::Setting`], nothing has changed);
/// or a file cannot be read or written.
pub fn purge(
    folder: &RunFolder,
    ingest: &IngestManifest,
    stages: &[StageInstance],
    extent: Extent,
) -> Result<Vec<Touched>> {
    let run = folder.path();
    let files = folder.sealed::<IngestManifest>(INGEST)?.map(|sealed| sealed.files).unwrap_or_default();
    let plan = match extent {
        Extent::Everything => PurgePlan::emptied(raw::load(run, ingest)?),
        Extent::Redacted => PurgePlan::redacted(run, ingest, stages)?,
    };
    let folder_of = run.join(INGEST);
    let mut rewritten = Vec::new();
    for (name, table) in [(REQUESTS, &plan.corpus.requests), (LISTS, &plan.corpus.lists)] {
        rewritten.push(plan.write(run, &folder_of.join(name), table)?);
    }
    rewritten.push(empty_details(run, &folder_of.join(LINES))?);
    let (rewritten, mut touched): (Vec<Rewritten>, Vec<Touched>) = rewritten.into_iter().unzip();
    let is_changed = rewritten.iter().any(|rewritten| rewritten.changes > 0);
    let manifest = IngestManifest { purged: ingest.purged || is_changed, ..ingest.clone() };
    replace_files(&folder_of, &manifest, files, rewritten, || Ok(None))?;
    if let Some(bytes) = folder.remove_spool()? {
        let spool = Touched::of(run, &folder.spool());
        touched.push(Touched { removed: true, bytes_before: bytes, ..spool });
    }
    touched.retain(|touched| !touched.is_nothing());
    Ok(touched)
}

/// The new content of the cells.
struct PurgePlan {
    /// The tables with only the versions of cells that redaction wrote.
    corpus: Corpus,
    /// The columns that change.
    columns: Vec<ColumnSpec>,
    /// The rows of each table whose cells are emptied.
    unseen: [Vec<bool>; 2],
}

impl PurgePlan {
    fn emptied(corpus: Corpus) -> Self {
        let unseen = [&corpus.requests, &corpus.lists].map(|table| vec![true; table.len()]);
        Self { corpus, columns: CONTENT.to_vec(), unseen }
    }

    fn redacted(run: &Path, ingest: &IngestManifest, stages: &[StageInstance]) -> Result<Self> {
        let mut plan = Self::emptied(raw::load(run, ingest)?);
        plan.columns = Vec::new();
        check_order(stages)?;
        // Fates of all stages are applied, and cells only of those that redact.
        let mut fates = raw::load(run, ingest)?;
        for (at, instance) in stages.iter().enumerate() {
            let step = format!("stages/{}", step_name(at, &instance.id));
            let contract = instance.stage.contract();
            let redacted: Vec<ColumnSpec> =
                contract.writes.iter().copied().filter(|column| column.origin == Origin::Source).collect();
            if contract.role == Role::Redaction && !redacted.is_empty() {
                let table = fates.table(contract.table);
                for (row, unseen) in (0..).zip(&mut plan.unseen[place(contract.table)]) {
                    *unseen &= !table.is_kept(row);
                }
                plan.columns.extend(redacted);
                add_columns(run, &step, &contract, &mut plan.corpus)?;
            }
            replay(run, &step, at, instance, &mut fates)?;
        }
        match NEEDED.into_iter().find(|column| !plan.columns.contains(column)) {
            None => Ok(plan),
            Some(column) => Err(Error::Setting(format!(
                "no stage of the run redacted {} of {}: there is only the raw text
hint: put stages of kind redact and redact-docs first in the pipeline and run again, or remove all text with --everything",
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
                return Err(damaged(path, format!("rows {rows:?} are not a batch of the table")));
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

/// Refuses stages before redaction: their results may quote the raw text, and a purge does not change them.
fn check_order(stages: &[StageInstance]) -> Result<()> {
    let is_redaction = |stage: &StageInstance| stage.stage.contract().role == Role::Redaction;
    let last = stages.iter().rposition(is_redaction).unwrap_or_default();
    match stages[..last].iter().find(|stage| !is_redaction(stage)) {
        None => Ok(()),
        Some(early) => Err(Error::Setting(format!(
            "stage {} ran before {}: its results may quote the raw text
hint: put the redaction first in the pipeline and run again",
            early.id, stages[last].id
        ))),
    }
}

/// Empties the details of lines without a request, which may quote the lines.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::columns::from_ingest;
    use crate::engine::context::{Context, Quiet};
    use crate::engine::contract::Contract;
    use crate::engine::error::Result;
    use crate::engine::fingerprint::Fingerprint;
    use crate::engine::manifest::InputFile;
    use crate::engine::opinion::Opinion;
    use crate::engine::raw::{DocListRow, InputsRead, Intake, RequestRow, RowCells, SourcePlace};
    use crate::engine::runner::{Outcome, run};
    use crate::engine::source::Source;
    use crate::engine::stage::{RowStage, Rows};
    use crate::engine::view::Row;
    use crate::engine::vocabulary::{Edit, Evidence, Reason, Safety};

    static HIDDEN: Reason = Reason::policy("test/hidden", "It held a secret.");
    static OUT: Reason = Reason::policy("test/out", "It is out.");

    /// Hides the word `secret` in a column.
    struct Hide(&'static [ColumnSpec]);

    impl RowStage for Hide {
        type Parent = ();

        fn contract(&self) -> Contract {
            let columns = || self.0.iter().copied();
            Contract::of(self.0[0].table)
                .reads(columns())
                .writes(columns())
                .reasons([&HIDDEN])
                .role(Role::Redaction)
        }

        fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
            Ok(())
        }

        fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
            let mut opinion = Opinion::keep();
            for &column in self.0 {
                if let Some(text) = row.text(column).filter(|text| text.contains("secret")) {
                    let (reason, patch) = (&HIDDEN, "[]".to_owned());
                    opinion.edits.push(Edit { column, reason, safety: Safety::Safe, patch });
                    opinion = opinion.with(column, text.replace("secret", "hidden"));
                }
            }
            opinion
        }
    }

    /// Drops every request whose messages end in a 3, as a stage of this role.
    struct Thirds(Role);

    impl RowStage for Thirds {
        type Parent = ();

        fn contract(&self) -> Contract {
            Contract::of(TableId::Requests).reads([MESSAGES]).reasons([&OUT]).role(self.0)
        }

        fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
            Ok(())
        }

        fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
            match row.text(MESSAGES) {
                Some(text) if text.ends_with('3') => Opinion::drop(&OUT, Evidence::default()),
                _ => Opinion::keep(),
            }
        }
    }

    fn stages(kinds: &[&'static str]) -> Vec<StageInstance> {
        let stage = |kind: &'static str| -> Box<dyn crate::engine::stage::Stage> {
            match kind {
                "redact" => Box::new(Rows(Hide(&[MESSAGES, RESPONSE, FOLLOWING_MESSAGES, USER]))),
                "redact-docs" => Box::new(Rows(Hide(&[TEXT]))),
                "redact-thirds" => Box::new(Rows(Thirds(Role::Redaction))),
                _ => Box::new(Rows(Thirds(Role::Plain))),
            }
        };
        let settings = serde_json::Value::Null;
        let instance = |&kind: &&'static str| StageInstance {
            id: kind.to_owned(),
            kind,
            settings: settings.clone(),
            stage: stage(kind),
        };
        kinds.iter().map(instance).collect()
    }

    /// A log of more requests than one batch holds, every fifth with a secret; counts how often it is read.
    struct Log(AtomicUsize);

    const N_ROWS: u32 = 8200;

    impl Source for Log {
        fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
            Ok(())
        }

        fn columns(&self) -> Vec<ColumnSpec> {
            from_ingest()
        }

        fn inputs(&self) -> Result<Vec<InputFile>> {
            Ok(Vec::new())
        }

        fn read(&self, into: &mut Intake, _: &Context<'_>) -> Result<InputsRead> {
            self.0.fetch_add(1, Ordering::Relaxed);
            for n in 0..N_ROWS {
                let word = if n % 5 == 0 { "secret" } else { "plain" };
                let text = format!("{word} docs {}", n % 10);
                into.request(RequestRow {
                    content_key: u128::from(n),
                    place: SourcePlace { file: 0, line: u64::from(n) + 1, record: u64::from(n) + 1 },
                    list: DocListRow {
                        content_key: u128::from(n % 10),
                        cells: RowCells::default().with(TEXT, Some(text)),
                    },
                    cells: RowCells::default()
                        .with(MESSAGES, Some(format!("{word} {n}")))
                        .with(RESPONSE, (n % 2 == 0).then(|| format!("{word} answer")))
                        .with(USER, Some("u")),
                    ..RequestRow::default()
                })?;
            }
            Ok(InputsRead { items: u64::from(N_ROWS), ..InputsRead::default() })
        }
    }

    fn run_in(folder: &RunFolder, log: &Log, stages: &[StageInstance]) -> Outcome {
        let cancel = AtomicBool::new(false);
        run(folder, log, stages, &Context::new(0, &cancel, &Quiet)).unwrap()
    }

    fn purged(folder: &RunFolder, stages: &[StageInstance]) -> Result<Vec<Touched>> {
        let ingest = folder.manifest("ingest").unwrap().unwrap();
        purge(folder, &ingest, stages, Extent::Redacted)
    }

    /// Returns the raw tables' own cells, without those of stages.
    fn cells(folder: &RunFolder, column: ColumnSpec) -> Vec<Option<String>> {
        let ingest = folder.manifest("ingest").unwrap().unwrap();
        let corpus = raw::load(folder.path(), &ingest).unwrap();
        let table = corpus.table(column.table);
        let mut cells = Vec::new();
        for batch in 0..table.batches() {
            let read = table.read_batch(batch, &[column]).unwrap();
            cells.extend((0..table.batch(batch).len()).map(|at| read.text(column, at).map(str::to_owned)));
        }
        cells
    }

    #[test]
    fn purged_raw_tables_hold_redacted_text_and_are_not_reused() {
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        let (log, stages) = (Log(AtomicUsize::new(0)), stages(&["redact", "redact-docs", "thirds"]));
        run_in(&folder, &log, &stages);
        let (messages, responses) = (cells(&folder, MESSAGES), cells(&folder, RESPONSE));
        let hidden = |cells: &[Option<String>]| -> Vec<Option<String>> {
            cells.iter().map(|cell| cell.as_ref().map(|text| text.replace("secret", "hidden"))).collect()
        };
        let touched = purged(&folder, &stages).unwrap();
        let counts: Vec<(&str, &str, u64)> = touched
            .iter()
            .flat_map(|file| file.cells.iter().map(|(column, n)| (file.file.as_str(), column.as_str(), *n)))
            .collect();
        let requests = "ingest/requests.parquet";
        let expected = [
            (requests, "messages", 1640),
            (requests, "response", 820),
            ("ingest/doc_lists.parquet", "text", 2),
        ];
        assert_eq!(counts, expected);
        assert_eq!(cells(&folder, MESSAGES), hidden(&messages));
        assert_eq!(cells(&folder, RESPONSE), hidden(&responses));
        assert!(cells(&folder, TEXT).iter().flatten().all(|text| !text.contains("secret")));
        assert_eq!(cells(&folder, USER), vec![Some("u".to_owned()); N_ROWS as usize]);

        assert_eq!(purged(&folder, &stages).unwrap(), [], "the second time there is nothing to do");
        let before = log.0.load(Ordering::Relaxed);
        let again = run_in(&folder, &log, &stages);
        assert_eq!(log.0.load(Ordering::Relaxed), before + 1, "purged raw tables are not reused");
        assert_eq!(again.reused, stages.len(), "the steps of the same log are still valid");
        assert_eq!(cells(&folder, MESSAGES), messages);
    }

    #[test]
    fn a_row_that_was_dropped_before_redaction_is_emptied() {
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        let stages = stages(&["redact-thirds", "redact", "redact-docs"]);
        run_in(&folder, &Log(AtomicUsize::new(0)), &stages);
        purged(&folder, &stages).unwrap();
        let hidden = Some("hidden 5".to_owned());
        assert_eq!(
            cells(&folder, MESSAGES)[2..6],
            [Some("plain 2".to_owned()), None, Some("plain 4".to_owned()), hidden]
        );
        // Every request of that list is dropped, so the list was dropped with them.
        assert_eq!(
            cells(&folder, TEXT)[2..5],
            [Some("plain docs 2".to_owned()), None, Some("plain docs 4".to_owned())]
        );
    }

    #[test]
    fn a_stage_before_redaction_may_quote_raw_text_so_the_run_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        let stages = stages(&["thirds", "redact", "redact-docs"]);
        run_in(&folder, &Log(AtomicUsize::new(0)), &stages);
        let error = purged(&folder, &stages).unwrap_err().to_string();
        assert!(error.contains("stage thirds ran before redact-docs"), "{error}");
    }

    #[test]
    fn a_partly_redacted_run_is_refused_and_not_changed() {
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        let stages = stages(&["redact", "thirds"]);
        run_in(&folder, &Log(AtomicUsize::new(0)), &stages);
        let messages = cells(&folder, MESSAGES);
        let error = purged(&folder, &stages).unwrap_err().to_string();
        assert!(error.contains("no stage of the run redacted text of doc_lists"), "{error}");
        assert_eq!(cells(&folder, MESSAGES), messages);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_raw_text() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let folder = RunFolder::take(&home.path().join("run")).unwrap();
        let stages = stages(&["redact", "redact-docs"]);
        run_in(&folder, &Log(AtomicUsize::new(0)), &stages);
        let mode =
            |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
        for purge in [false, true] {
            if purge {
                purged(&folder, &stages).unwrap();
            }
            assert_eq!(mode("ingest"), 0o700);
            for name in [REQUESTS, LISTS, LINES] {
                assert_eq!(mode(&format!("ingest/{name}")), 0o600, "{name}");
            }
        }
    }
}
