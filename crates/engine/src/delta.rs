//! The files of one stage: its fates and edits as Parquet, its counts as a manifest. Its links are in `links`.
//!
//! Together with the columns file that `verdict` writes, these files are the whole result of a stage. A later run
//! applies them instead of running the stage again.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contract::Role;
use super::error::{Result, damaged};
use super::fate::FateEvent;
use super::frame::{ColumnCells, FrameFile, FrameWriter, Values, write_frame};
use super::vocabulary::{Action, Edit, Evidence, Metric, Reason, RowIx, TableId};
use callsieve_system::memory::Memory;

/// Number of events of one row group. It limits memory: a log may have one fate per row, and events are written as
/// text.
pub(super) const GROUP_ROWS: usize = 1 << 14;

/// File of fates.
pub const FATES: &str = "fates.parquet";
/// File of edits.
pub const EDITS: &str = "edits.parquet";
/// File of columns.
pub const COLUMNS: &str = "columns.parquet";

/// One edit, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEdit {
    /// The row's table.
    pub table: TableId,
    /// The row.
    pub row: RowIx,
    /// The changed column.
    pub column: String,
    /// Reason code.
    pub reason: String,
    /// `safe`, `unsafe` or `suggest`.
    pub safety: String,
    /// RFC 6902, or one operation `redact`; JSON text.
    pub patch: String,
}

impl StoredEdit {
    pub(super) fn new(table: TableId, row: RowIx, edit: Edit) -> Self {
        Self {
            table,
            row,
            column: edit.column.name.to_owned(),
            reason: edit.reason.code.to_owned(),
            safety: edit.safety.name().to_owned(),
            patch: edit.patch,
        }
    }
}

/// A finished stage's manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StageManifest {
    /// Resume key.
    pub key: String,
    /// The key of the step before it.
    pub upstream: String,
    /// The instance's id in the pipeline.
    pub id: String,
    /// What kind of stage it is.
    pub kind: String,
    /// The settings it ran with, defaults included.
    pub settings: Value,
    /// The table it judged.
    pub table: TableId,
    /// Its special role, if it has one.
    #[serde(default, skip_serializing_if = "Role::is_plain")]
    pub role: Role,
    /// Kept rows when it began.
    pub before: KeptRows,
    /// Kept rows when it ended.
    pub after: KeptRows,
    /// Fates by table, action and reason; fates that follow from a parent or children are counted separately.
    pub fates: Vec<FateCount>,
    /// Edits made, by reason.
    pub edits: BTreeMap<String, u64>,
    /// Suggested edits, which are only shown, by reason.
    pub suggestions: BTreeMap<String, u64>,
    /// Notes of the stage about the whole table, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, Value>,
    /// Wall time.
    pub seconds: f64,
    /// Memory of the process when it ended, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Bytes on disk.
    pub bytes: u64,
}

/// The name of the note of a step in which rows [failed](super::verdict::Verdict::fail).
pub(super) const INCOMPLETE_NOTE: &str = "incomplete";

impl StageManifest {
    /// Returns the table whose personal values the stage removed.
    pub fn redacts(&self) -> Option<TableId> {
        (self.role == Role::Redaction).then_some(self.table)
    }
}

/// Kept rows of each table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptRows {
    /// Requests.
    pub requests: u64,
    /// Doc lists.
    pub doc_lists: u64,
}

/// The number of rows with one fate and reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FateCount {
    /// The rows' table.
    pub table: TableId,
    /// What happened.
    pub action: Action,
    /// Reason code.
    pub reason: String,
    /// The fate followed from the fate of the parent or the children.
    pub cascaded: bool,
    /// The number of rows.
    pub rows: u64,
}

/// Counts fates by table, action, reason, and whether they followed from others.
pub fn count_fates(fates: &[FateEvent]) -> Vec<FateCount> {
    let mut counts: BTreeMap<(TableId, &str, &str, bool), (Action, u64)> = BTreeMap::new();
    for fate in fates {
        let key = (fate.table, fate.action.name(), fate.reason.code, fate.cascaded);
        counts.entry(key).or_insert((fate.action, 0)).1 += 1;
    }
    let count = |((table, _, reason, cascaded), (action, rows)): ((_, _, &str, _), _)| FateCount {
        table,
        action,
        reason: reason.to_owned(),
        cascaded,
        rows,
    };
    counts.into_iter().map(count).collect()
}

/// Counts edits by reason.
pub(super) fn count_edits<'e>(edits: impl Iterator<Item = &'e StoredEdit>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for edit in edits {
        *counts.entry(edit.reason.clone()).or_default() += 1;
    }
    counts
}

/// Writes the fates of a stage.
///
/// # Errors
/// The file cannot be written.
pub fn write_fates(path: &Path, fates: &[FateEvent]) -> Result<()> {
    let mut writer = FrameWriter::create(path);
    if fates.is_empty() {
        write_fate_group(&mut writer, fates)?;
    }
    for group in fates.chunks(GROUP_ROWS) {
        write_fate_group(&mut writer, group)?;
    }
    writer.finish().map(drop)
}

fn write_fate_group(writer: &mut FrameWriter, fates: &[FateEvent]) -> Result<()> {
    let details: Vec<Option<String>> =
        fates.iter().map(|fate| fate.evidence.detail.as_ref().map(ToString::to_string)).collect();
    let text = |get: fn(&FateEvent) -> &'static str| {
        Values::Text(fates.iter().map(|fate| Some(get(fate))).collect())
    };
    let metric = |fate: &FateEvent| fate.evidence.score.map(|(metric, _)| metric.name());
    writer.write(vec![
        ("table", text(|fate| fate.table.name())),
        ("row", Values::U32(fates.iter().map(|fate| fate.row).collect())),
        ("action", text(|fate| fate.action.name())),
        ("reason", text(|fate| fate.reason.code)),
        ("into", Values::Int(fates.iter().map(|fate| fate.into.map(i64::from)).collect())),
        ("cascaded", Values::Int(fates.iter().map(|fate| Some(i64::from(fate.cascaded))).collect())),
        (
            "score",
            Values::Float(fates.iter().map(|fate| fate.evidence.score.map(|(_, score)| score)).collect()),
        ),
        ("metric", Values::Text(fates.iter().map(metric).collect())),
        ("detail", Values::Text(details.iter().map(Option::as_deref).collect())),
    ])
}

/// The stored fates of a stage; cells are decoded on access.
pub(super) struct StoredFates {
    n_fates: usize,
    table: ColumnCells,
    row: ColumnCells,
    action: ColumnCells,
    reason: ColumnCells,
    into: ColumnCells,
    cascaded: ColumnCells,
    score: ColumnCells,
    metric: ColumnCells,
    detail: ColumnCells,
}

/// One fate, as stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredFate<'a> {
    /// The row's table.
    pub(super) table: TableId,
    /// The row.
    pub(super) row: RowIx,
    /// `drop`, `merge` or `hold`.
    pub(super) action: &'a str,
    /// Reason code.
    pub(super) reason: &'a str,
    /// For a merge: the row that it was merged into.
    pub(super) into: Option<RowIx>,
    /// It follows from the fate of the parent or the children.
    pub(super) cascaded: bool,
    /// The metric and the score.
    pub(super) score: Option<(&'a str, f64)>,
    /// Anything else, JSON.
    pub(super) detail: Option<&'a str>,
}

impl StoredFates {
    /// Reads a stage's file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a file of fates.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let frame = FrameFile::open(path)?.read_all()?;
        let column = |name: &str| {
            frame.cells(name).ok_or_else(|| damaged(path, format!("the column {name} of fates is missing")))
        };
        let fates = Self {
            n_fates: frame.height(),
            table: column("table")?,
            row: column("row")?,
            action: column("action")?,
            reason: column("reason")?,
            into: column("into")?,
            cascaded: column("cascaded")?,
            score: column("score")?,
            metric: column("metric")?,
            detail: column("detail")?,
        };
        match (0..fates.n_fates).find(|&at| fates.get(at).is_none()) {
            Some(at) => Err(damaged(path, format!("row {at} is not a fate"))),
            None => Ok(fates),
        }
    }

    /// Returns the fates in the order of the file.
    pub(super) fn iter(&self) -> impl Iterator<Item = StoredFate<'_>> {
        (0..self.n_fates).filter_map(|at| self.get(at))
    }

    /// Returns the row of each fate, with the index of the fate.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, TableId, RowIx)> {
        self.iter().enumerate().map(|(at, fate)| (at, fate.table, fate.row))
    }

    /// Returns the fate at an index.
    pub(super) fn get(&self, at: usize) -> Option<StoredFate<'_>> {
        Some(StoredFate {
            table: table_of(self.table.text(at)?)?,
            row: self.row.u32(at)?,
            action: self.action.text(at)?,
            reason: self.reason.text(at)?,
            into: self.into.int(at).and_then(|into| RowIx::try_from(into).ok()),
            cascaded: self.cascaded.int(at)? == 1,
            score: self.metric.text(at).zip(self.score.float(at)),
            detail: self.detail.text(at),
        })
    }
}

/// Reads the scores of a stage's fates of one table.
///
/// # Errors
/// The file is damaged.
pub(super) fn read_scores(path: &Path, of: TableId) -> Result<Vec<(RowIx, f64)>> {
    let frame = FrameFile::open(path)?.read_columns(&["table", "row", "score"])?;
    let [tables, rows, scores] = ["table", "row", "score"].map(|name| frame.cells(name));
    let (Some(tables), Some(rows), Some(scores)) = (tables, rows, scores) else {
        return Err(damaged(path, "a column of fates is missing"));
    };
    let scored = |at| Some((rows.u32(at)?, scores.float(at)?));
    let is_of_table = |at: &usize| tables.text(*at) == Some(of.name());
    Ok((0..frame.height()).filter(is_of_table).filter_map(scored).collect())
}

/// Reads the fates of a stage with these possible `reasons`.
///
/// # Errors
/// The file is damaged, or names another reason.
pub fn read_fates(path: &Path, reasons: &[&'static Reason]) -> Result<Vec<FateEvent>> {
    let stored = StoredFates::open(path)?;
    let read =
        |(at, fate)| fate_of(fate, reasons).ok_or_else(|| damaged(path, format!("row {at} is not a fate")));
    stored.iter().enumerate().map(read).collect()
}

fn fate_of(stored: StoredFate<'_>, reasons: &[&'static Reason]) -> Option<FateEvent> {
    let StoredFate { table, row, action, reason, into, cascaded, score, detail } = stored;
    let score = match score {
        Some((metric, score)) => Some((Metric::from_name(metric)?, score)),
        None => None,
    };
    let detail = match detail {
        Some(detail) => Some(Box::new(serde_json::from_str(detail).ok()?)),
        None => None,
    };
    Some(FateEvent {
        table,
        row,
        action: Action::from_name(action)?,
        reason: reasons.iter().copied().find(|known| known.code == reason)?,
        into,
        cascaded,
        evidence: Evidence { score, detail },
    })
}

/// Writes the edits of a stage.
///
/// # Errors
/// The file cannot be written.
pub fn write_edits(path: &Path, edits: &[StoredEdit]) -> Result<()> {
    let text =
        |get: fn(&StoredEdit) -> &str| Values::Text(edits.iter().map(|edit| Some(get(edit))).collect());
    write_frame(
        path,
        vec![
            ("table", text(|edit| edit.table.name())),
            ("row", Values::U32(edits.iter().map(|edit| edit.row).collect())),
            ("column", text(|edit| &edit.column)),
            ("reason", text(|edit| &edit.reason)),
            ("safety", text(|edit| &edit.safety)),
            ("patch", text(|edit| &edit.patch)),
        ],
    )
}

/// Reads the edits of a stage.
///
/// # Errors
/// The file is damaged.
pub fn read_edits(path: &Path) -> Result<Vec<StoredEdit>> {
    let frame = FrameFile::open(path)?.read_all()?;
    let text = |name: &str, row: usize| frame.texts(name)?.get(row).map(str::to_owned);
    let read = |row: usize| {
        Some(StoredEdit {
            table: table_of(&text("table", row)?)?,
            row: frame.u32s("row")?.get(row)?,
            column: text("column", row)?,
            reason: text("reason", row)?,
            safety: text("safety", row)?,
            patch: text("patch", row)?,
        })
    };
    (0..frame.height())
        .map(|row| read(row).ok_or_else(|| damaged(path, format!("row {row} is not an edit"))))
        .collect()
}

pub(super) fn table_of(name: &str) -> Option<TableId> {
    TableId::ALL.into_iter().find(|table| table.name() == name)
}
