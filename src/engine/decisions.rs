//! Decisions of people: what is applied between what a stage says and what becomes of it.
//!
//! A person's word wins over any stage. The runner itself applies two kinds: `keep` takes back a fate in the stage that
//! gives it, `drop` gives one after the last stage. The others change cells, so the stage that writes them takes them
//! from its rows ([`Row::decision`](super::view::Row::decision)): its contract says which.
//!
//! A decision names its row by content id, or by the log's own id. One that names no row, several, or a row of other
//! content than the person saw is never applied; the last stage's manifest accounts for all of them. Notes and evidence
//! name a decision by its line, never by the id in it, so that a record that is forgotten leaves no id behind. How a
//! file is read is not here: see `decisions` above the engine.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::contract::Contract;
use super::corpus::{Corpus, Table};
use super::error::{Result, damaged};
use super::fingerprint::{Fingerprint, hex};
use super::frame::{FrameFile, FrameWriter, Values};
use super::verdict::FateEvent;
use super::vocabulary::{Action, ColumnSpec, Reason, RowIx, TableId};

/// File of the decisions that were applied in a stage, in its folder; only where there were some.
pub const DECIDED: &str = "decisions.parquet";
/// The action of an event by which a person decided.
pub const DECIDE: &str = "decide";
/// The note of a stage that lists the decisions applied in it, and that of the last stage on the others.
pub const APPLIED_NOTE: &str = "decisions";
/// See [`APPLIED_NOTE`].
pub const NOT_APPLIED_NOTE: &str = "decisions_not_applied";

/// Hex digits of an id or digest that name a row where not all are given.
const LEAST_DIGITS: usize = 8;

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionKind {
    /// No stage drops, merges or holds the row.
    Keep,
    /// The row is dropped.
    Drop,
    /// Whether a function fits what a request asks.
    Relabel,
    /// The answer of a request.
    Answer,
    /// The functions of a doc list.
    Edit,
}

impl DecisionKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Keep, Self::Drop, Self::Relabel, Self::Answer, Self::Edit];

    /// The word for it in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
            Self::Relabel => "relabel",
            Self::Answer => "answer",
            Self::Edit => "edit",
        }
    }

    /// The reason by which the ledger names it.
    pub fn reason(self) -> &'static Reason {
        match self {
            Self::Keep => &KEPT,
            Self::Drop => &DROPPED,
            Self::Relabel => &RELABELLED,
            Self::Answer => &ANSWERED,
            Self::Edit => &EDITED,
        }
    }
}

static KEPT: Reason = Reason::policy("decision/kept", "A person decided to keep the row.");
static DROPPED: Reason = Reason::policy("decision/dropped", "A person decided to drop the row.");
static RELABELLED: Reason =
    Reason::policy("decision/relabelled", "A person decided whether a function fits the request.");
static ANSWERED: Reason = Reason::policy("decision/answered", "A person wrote the answer of the request.");
static EDITED: Reason = Reason::policy("decision/edited", "A person changed the functions of the doc list.");

/// The reasons of decisions.
pub fn reasons() -> [&'static Reason; 5] {
    DecisionKind::ALL.map(DecisionKind::reason)
}

/// One decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Its line in the file, from 1.
    pub line: usize,
    /// The row: its content id or the start of it, or the log's own id of a request.
    pub id: String,
    /// What was decided.
    pub kind: DecisionKind,
    /// The start of the digest of what the person saw; see [`digest`].
    pub was: Option<String>,
    /// Who decided.
    pub by: Option<String>,
    /// Why, in the person's words.
    pub why: Option<String>,
    /// What the kind needs besides: a relevance, an answer, functions or a patch; null otherwise.
    pub body: Value,
}

/// The decisions of a run, in the order of their file.
#[derive(Debug, Clone, Default)]
pub struct Decisions {
    /// The file, as it was named.
    pub file: String,
    /// The columns by which rows are recognised; without decisions nobody asks for them.
    pub columns: Option<Columns>,
    /// The decisions.
    pub all: Vec<Decision>,
}

/// The columns by which rows are recognised.
#[derive(Debug, Clone, Copy)]
pub struct Columns {
    /// The log's own id of a request.
    pub own_id: ColumnSpec,
    /// What a person sees of a request, by which `was` is made.
    pub request: ColumnSpec,
    /// What a person sees of a doc list.
    pub list: ColumnSpec,
}

/// What stands for the content of a row in a decision: the SHA-256 of its cell, in hex. Whoever writes a decision may
/// give its first eight digits or more.
pub fn digest(cell: &str) -> String {
    hex(&Sha256::digest(cell.as_bytes()))
}

impl Decisions {
    /// Adds to a stage's key the decisions that can change what becomes of rows there; nothing where there are none.
    ///
    /// The last stage has all of them: drops take effect in it, and it accounts for the others.
    pub(super) fn fingerprint(&self, contract: &Contract, is_last: bool, fingerprint: &mut Fingerprint) {
        let can_change = |decision: &&Decision| {
            is_last || decision.kind == DecisionKind::Keep || contract.decisions.contains(&decision.kind)
        };
        for Decision { line, id, kind, was, by, why, body } in self.all.iter().filter(can_change) {
            let decision = json!([line, id, kind, was, by, why, body]);
            fingerprint.part("decision", decision.to_string().as_bytes());
        }
    }
}

/// Decisions by the rows of one table that they name, as it stands.
#[derive(Debug, Default)]
pub struct Decided<'d> {
    by_row: BTreeMap<RowIx, Vec<&'d Decision>>,
    /// Of each other decision, by line, why it names no row here.
    unmet: BTreeMap<usize, Unmet>,
}

/// Why a decision names no row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unmet {
    NoRow,
    Several(usize),
    Changed(String),
}

impl<'d> Decided<'d> {
    /// Looks for the rows that decisions name.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub fn of(decisions: &'d Decisions, corpus: &Corpus, table: TableId) -> Result<Self> {
        let mut decided = Self::default();
        let Some(columns) = decisions.columns.filter(|_| !decisions.all.is_empty()) else {
            return Ok(decided);
        };
        let table = corpus.table(table);
        let named = rows_named(decisions, &columns, table)?;
        for (decision, rows) in decisions.all.iter().zip(named) {
            match row_of(decision, &rows, &columns, table)? {
                Ok(row) => decided.by_row.entry(row).or_default().push(decision),
                Err(unmet) => drop(decided.unmet.insert(decision.line, unmet)),
            }
        }
        Ok(decided)
    }

    /// The decision of a kind on a row.
    pub fn on(&self, row: RowIx, kind: DecisionKind) -> Option<&'d Decision> {
        self.by_row.get(&row)?.iter().find(|decision| decision.kind == kind).copied()
    }

    /// Takes back the fates of rows that a person keeps; gives what is left and what was taken back.
    pub(super) fn overrule(&self, fates: Vec<FateEvent>) -> (Vec<FateEvent>, Vec<(RowIx, Ruling)>) {
        let mut rulings = Vec::new();
        let left = fates.into_iter().filter(|fate| {
            let Some(decision) = self.on(fate.row, DecisionKind::Keep) else { return true };
            if fate.reason.binding {
                return true;
            }
            let instead_of =
                json!({"instead_of": {"action": fate.action.name(), "reason": fate.reason.code}});
            rulings.push((fate.row, Ruling::of(decision, instead_of)));
            false
        });
        (left.collect(), rulings)
    }

    /// The fates of kept rows that a person drops.
    pub(super) fn drops(&self, table: &Table) -> Vec<FateEvent> {
        let dropped = self.by_row.keys().filter(|&&row| table.is_kept(row));
        dropped
            .filter_map(|&row| {
                let decision = self.on(row, DecisionKind::Drop)?;
                let evidence = super::vocabulary::Evidence::detail(Ruling::of(decision, Value::Null).detail);
                let (action, reason) = (Action::Drop, &DROPPED);
                Some(FateEvent {
                    table: table.id(),
                    row,
                    action,
                    reason,
                    into: None,
                    cascaded: false,
                    evidence,
                })
            })
            .collect()
    }
}

/// The rows that each decision names, in the order of the table.
fn rows_named(decisions: &Decisions, columns: &Columns, table: &Table) -> Result<Vec<Vec<RowIx>>> {
    let mut by_own_id: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    let mut by_start: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, Decision { id, .. }) in decisions.all.iter().enumerate() {
        by_own_id.entry(id).or_default().push(at);
        let is_hex = id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex && (LEAST_DIGITS..=32).contains(&id.len()) {
            by_start.entry(id.to_ascii_lowercase()).or_default().push(at);
        }
    }
    let mut named = vec![Vec::new(); decisions.all.len()];
    let has_own_ids = table.has(columns.own_id);
    for batch in 0..table.batches() {
        let cells = if has_own_ids { Some(table.read_batch(batch, &[columns.own_id])?) } else { None };
        let start = table.batch(batch).start;
        for row in table.rows_of_batch(batch) {
            let own_id = cells.as_ref().and_then(|cells| cells.text(columns.own_id, row as usize - start));
            let id = table.row_id(row).to_string();
            let starts = (LEAST_DIGITS..=id.len()).filter_map(|digits| by_start.get(&id[..digits]));
            let own = own_id.and_then(|own_id| by_own_id.get(own_id));
            for &at in starts.chain(own).flatten() {
                if named[at].last() != Some(&row) {
                    named[at].push(row);
                }
            }
        }
    }
    Ok(named)
}

/// The one row that a decision means: of several with its id the kept one.
fn row_of(
    decision: &Decision,
    rows: &[RowIx],
    columns: &Columns,
    table: &Table,
) -> Result<std::result::Result<RowIx, Unmet>> {
    let kept: Vec<RowIx> = rows.iter().copied().filter(|&row| table.is_kept(row)).collect();
    let row = match (&kept[..], rows) {
        (&[row], _) | (&[], &[row]) => row,
        ([], []) => return Ok(Err(Unmet::NoRow)),
        ([], rows) | (rows, _) => return Ok(Err(Unmet::Several(rows.len()))),
    };
    let Some(was) = &decision.was else { return Ok(Ok(row)) };
    let content = match table.id() {
        TableId::Requests => columns.request,
        TableId::DocLists => columns.list,
    };
    let batch = table.batch_of(row);
    let cells = table.read_batch(batch, &[content])?;
    let is = digest(cells.text(content, row as usize - table.batch(batch).start).unwrap_or_default());
    let is_same = is.starts_with(&was.to_ascii_lowercase());
    Ok(if is_same { Ok(row) } else { Err(Unmet::Changed(is[..LEAST_DIGITS].to_owned())) })
}

/// A decision that was applied to a row, or that its stage could not apply.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruling {
    /// The line of the decision.
    pub line: usize,
    /// Its kind.
    pub kind: DecisionKind,
    /// For the ledger: the line, who decided and why, and what the decision did.
    pub detail: Value,
    /// Why it could not be applied; nothing where it was.
    pub refused: Option<String>,
}

impl Ruling {
    /// A decision that was applied; `did` is an object of what the ledger shows besides, or null.
    pub fn of(decision: &Decision, did: Value) -> Self {
        let mut detail = json!({"line": decision.line});
        let said = [("by", &decision.by), ("why", &decision.why)];
        for (key, text) in said.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?))) {
            detail[key] = json!(text);
        }
        if let Value::Object(did) = did {
            did.into_iter().for_each(|(key, value)| detail[key.as_str()] = value);
        }
        Self { line: decision.line, kind: decision.kind, detail, refused: None }
    }

    /// A decision that does not fit its row.
    pub fn refused(decision: &Decision, why: impl Into<String>) -> Self {
        Self { refused: Some(why.into()), ..Self::of(decision, Value::Null) }
    }

    /// What a stage's manifest notes of it.
    fn note(&self) -> Note {
        Note { line: self.line, decision: self.kind, why: self.refused.clone() }
    }
}

/// A decision in the notes of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Its line in the file.
    pub line: usize,
    /// Its kind.
    pub decision: DecisionKind,
    /// Why it was not applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Note {
    /// The decisions that a note of a manifest lists.
    pub fn all(note: Option<&Value>) -> Vec<Self> {
        note.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default()
    }
}

/// Notes of a stage on the decisions that were applied in it or refused by it; nothing where there were none.
pub(super) fn noted(rulings: &[(RowIx, Ruling)]) -> Option<Value> {
    let mut notes: Vec<Note> = rulings.iter().map(|(_, ruling)| ruling.note()).collect();
    notes.sort_by_key(|note| note.line);
    notes.dedup();
    (!notes.is_empty()).then(|| json!(notes))
}

/// The decisions that were applied nowhere, each with the reason: what the last stage notes.
///
/// `earlier` are the notes of all stages, `stages` their ids and contracts.
///
/// # Errors
/// A file of the run folder cannot be read.
pub(super) fn not_applied(
    decisions: &Decisions,
    corpus: &Corpus,
    earlier: &[Note],
    stages: &[(&str, Contract)],
) -> Result<Vec<Note>> {
    let tables =
        TableId::ALL.map(|table| Decided::of(decisions, corpus, table).map(|decided| (table, decided)));
    let tables = tables.into_iter().collect::<Result<Vec<_>>>()?;
    let note = |decision: &Decision| {
        let why = why_not(decision, &tables, corpus, earlier, stages)?;
        Some(Note { line: decision.line, decision: decision.kind, why: Some(why) })
    };
    Ok(decisions.all.iter().filter_map(note).collect())
}

fn why_not(
    decision: &Decision,
    tables: &[(TableId, Decided<'_>)],
    corpus: &Corpus,
    earlier: &[Note],
    stages: &[(&str, Contract)],
) -> Option<String> {
    let of_line = || earlier.iter().filter(|note| note.line == decision.line);
    let named = tables.iter().find_map(|(table, decided)| {
        let has_it =
            |(_, of_row): &(&RowIx, &Vec<&Decision>)| of_row.iter().any(|other| other.line == decision.line);
        decided.by_row.iter().find(has_it).map(|(row, _)| (corpus.table(*table), *row))
    });
    let Some((table, row)) = named else {
        // Of what both tables say, that a row is there says more.
        let unmet = tables.iter().filter_map(|(_, decided)| decided.unmet.get(&decision.line));
        return Some(match unmet.max_by_key(|unmet| **unmet != Unmet::NoRow) {
            Some(Unmet::Several(n)) => format!("{n} rows have this id; name the request id instead"),
            Some(Unmet::Changed(is)) => {
                format!("the row is not as the person saw it: the digest of its content begins with {is}")
            }
            Some(Unmet::NoRow) | None => "no row has this id".to_owned(),
        });
    };
    let left = table.fate(row).map(|fate| {
        let word = match fate.action {
            Action::Drop => "dropped",
            Action::Merge => "merged",
            Action::Hold => "held",
        };
        let stage = stages.get(usize::from(fate.stage)).map_or("a command after the run", |(id, _)| *id);
        (fate.reason, format!("the row is {word} by {stage}: {}", fate.reason.code))
    });
    match (decision.kind, left) {
        (DecisionKind::Keep, left) => left.map(|(_, left)| left),
        (DecisionKind::Drop, Some((reason, _))) if reason.code == DROPPED.code => None,
        (DecisionKind::Drop, left) => {
            Some(left.map_or_else(|| "no stage has run".to_owned(), |(_, left)| left))
        }
        _ if of_line().any(|note| note.why.is_none()) => None,
        (kind, left) => {
            let takes = |(_, contract): &(&str, Contract)| {
                contract.table == table.id() && contract.decisions.contains(&kind)
            };
            if !stages.iter().any(takes) {
                return Some(format!(
                    "no stage of the pipeline takes {} of {}",
                    kind.name(),
                    table.id().name()
                ));
            }
            let refused = of_line().find_map(|note| note.why.clone());
            let left = refused.or(left.map(|(_, left)| left));
            Some(left.unwrap_or_else(|| "no stage had a use for it".to_owned()))
        }
    }
}

/// A decision that was applied, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredRuling {
    pub(super) table: TableId,
    pub(super) row: RowIx,
    pub(super) reason: String,
    pub(super) detail: String,
}

/// Writes the decisions that were applied in a stage, except drops, which are fates.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_rulings(path: &Path, table: TableId, rulings: &[(RowIx, Ruling)]) -> Result<()> {
    let details: Vec<String> = rulings.iter().map(|(_, ruling)| ruling.detail.to_string()).collect();
    let mut writer = FrameWriter::create(path);
    writer.write(vec![
        ("table", Values::Text(vec![Some(table.name()); rulings.len()])),
        ("row", Values::U32(rulings.iter().map(|(row, _)| *row).collect())),
        ("reason", Values::Text(rulings.iter().map(|(_, ruling)| Some(ruling.kind.reason().code)).collect())),
        ("detail", Values::Text(details.iter().map(|detail| Some(detail.as_str())).collect())),
    ])?;
    writer.finish().map(drop)
}

/// Reads the decisions that were applied in a stage; none where there is no file.
///
/// # Errors
/// The file is damaged.
pub(super) fn read_rulings(path: &Path) -> Result<Vec<StoredRuling>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let frame = FrameFile::open(path)?.read_all()?;
    let text = |name: &str, at: usize| frame.texts(name)?.get(at).map(str::to_owned);
    let read = |at: usize| {
        Some(StoredRuling {
            table: super::delta::table_of(&text("table", at)?)?,
            row: frame.u32s("row")?.get(at)?,
            reason: text("reason", at)?,
            detail: text("detail", at)?,
        })
    };
    (0..frame.height())
        .map(|at| read(at).ok_or_else(|| damaged(path, format!("row {at} is no decision"))))
        .collect()
}
