//! The sink `instructions`: the kept rows in every form that training programs read, and as BFCL entries.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use callsieve_bfcl::category::Category;
use callsieve_bfcl::conversation::{Message, Role};
use callsieve_bfcl::ids::Ids;
use callsieve_bfcl::writer::{NewEntry, write_category};
use callsieve_docs::fix::renames::{Rename, carry};
use callsieve_docs::fix::{Safety, mended};
use callsieve_engine::columns::{EXTERNAL_ID, PROGRAM, TEXT};
use callsieve_engine::context::Context;
use callsieve_engine::contract::Contract;
use callsieve_engine::disk::create;
use callsieve_engine::entries::EntryOrigin;
use callsieve_engine::error::{At as _, Error, Result};
use callsieve_engine::frame::{FrameWriter, Values};
use callsieve_engine::kind::KindSettings;
use callsieve_engine::sink::{Exported, FinishedTables, Sink};
use callsieve_engine::view::View;
use callsieve_engine::vocabulary::{ColumnSpec, RowIx, TableId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::form::{FORMS, MultiTurnEntry, Sample, answer, category, multi_turn_entry};
use crate::record::Record;
use crate::source::messages;

/// The sink. It has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InstructionSet {}

impl KindSettings for InstructionSet {
    const NAME: &'static str = "instructions";
    const SUMMARY: &'static str = "instruction sets in the forms of training programs, and as BFCL entries";
}

/// The folder of instructions whose calls were not executed.
pub const UNVERIFIED: &str = "unverified";
/// The folder of the BFCL entries.
const BFCL: &str = "bfcl";
/// The table of all instructions.
const TABLE: &str = "instructions.parquet";
/// Its columns; all hold texts, and those after the fifth hold JSON.
const COLUMNS: [&str; 8] =
    ["id", "stratum", "instruction", "answer", "environment", "messages", "tools", "program"];

/// A kept row.
struct Kept {
    row: RowIx,
    list: RowIx,
    row_id: String,
    id: String,
    record: Record,
}

impl Sink for InstructionSet {
    fn reads(&self) -> Vec<ColumnSpec> {
        vec![EXTERNAL_ID, PROGRAM, TEXT]
    }

    fn write(&self, from: &FinishedTables<'_>, into: &Path, cx: &Context<'_>) -> Result<Exported> {
        let view = View::new(from.corpus, &Contract::of(TableId::Requests).reads(self.reads()));
        let as_offered = view.parents(cx, |list| list.json::<Vec<Value>>(TEXT).unwrap_or_default())?;
        let fixed = view
            .parents(cx, |list| mended(&list.json::<Vec<Value>>(TEXT).unwrap_or_default(), Safety::Unsafe))?;
        let kept = kept_rows(&view, cx)?;
        let functions = |list: RowIx| as_offered.of_list(list).map_or(&[][..], Vec::as_slice);
        let nothing: InBfcl = (Vec::new(), Vec::new());
        let in_bfcl = |list: RowIx| fixed.of_list(list).unwrap_or(&nothing);
        let (executed, others): (Vec<&Kept>, Vec<&Kept>) =
            kept.iter().partition(|row| row.record.is_executed());
        for (folder, rows) in [(into.to_owned(), &executed), (into.join(UNVERIFIED), &others)] {
            // The folder of executed instructions is always there.
            if folder == into || !rows.is_empty() {
                write_forms(&folder, rows, functions, cx)?;
                write_table(&folder.join(TABLE), rows, functions)?;
                write_bfcl(&folder.join(BFCL), rows, in_bfcl)?;
                let other =
                    rows.iter().filter(|row| category(&row.record, in_bfcl(row.list).0.len()).is_none());
                write_multi_turn(&folder.join(BFCL), other.copied())?;
            }
        }
        Ok(exported(&kept, &view))
    }
}

/// Writes a file of each form.
fn write_forms<'f>(
    folder: &Path,
    kept: &[&Kept],
    functions: impl Fn(RowIx) -> &'f [Value],
    cx: &Context<'_>,
) -> Result<()> {
    for form in &FORMS {
        let path = folder.join(form.file);
        let mut file = open(&path)?;
        for row in kept {
            let sample = Sample { id: &row.id, record: &row.record, functions: functions(row.list) };
            if let Some(line) = (form.line)(&sample) {
                writeln!(file, "{line}").at("writing", &path)?;
            }
        }
        file.flush().at("writing", &path)?;
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
    }
    Ok(())
}

/// The kept rows with their records, in the order of their candidates.
fn kept_rows(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    view.for_each_batch(cx, |batch| {
        let rows = batch.map_rows(|row| {
            let id = row.text(EXTERNAL_ID).unwrap_or_default().to_owned();
            (row.ix(), id, row.json::<Record>(PROGRAM))
        })?;
        kept.extend(rows.into_iter().filter_map(|(row, id, record)| {
            let (list, row_id) = (view.list_of(row), view.row_id(row).to_string());
            Some(Kept { row, list, row_id, id, record: record? })
        }));
        Ok(())
    })?;
    kept.sort_by_key(|kept| view.position(kept.row));
    Ok(kept)
}

/// Writes the table: texts, so that no reader fills keys of one row into another.
fn write_table<'f>(path: &Path, kept: &[&Kept], functions: impl Fn(RowIx) -> &'f [Value]) -> Result<()> {
    const GROUP_ROWS: usize = 4096;
    let mut table = FrameWriter::create(path);
    let groups: Vec<&[&Kept]> = if kept.is_empty() { vec![&[]] } else { kept.chunks(GROUP_ROWS).collect() };
    for group in groups {
        let rows: Vec<[String; COLUMNS.len()]> =
            group.iter().map(|row| cells(row, functions(row.list))).collect();
        let texts = |at: usize| Values::Text(rows.iter().map(|row| Some(row[at].as_str())).collect());
        table.write(COLUMNS.iter().enumerate().map(|(at, name)| (*name, texts(at))).collect())?;
    }
    table.finish().map(|_| ())
}

/// The cells of a row, in the order of [`COLUMNS`].
fn cells(row: &Kept, functions: &[Value]) -> [String; COLUMNS.len()] {
    let record = &row.record;
    [
        row.id.clone(),
        record.stratum.name().to_owned(),
        record.instruction.clone(),
        record.answer.clone(),
        record.environment.clone(),
        json!(messages(record)).to_string(),
        json!(functions).to_string(),
        json!(record).to_string(),
    ]
}

/// The functions of a list in the form of BFCL, and the names that this form changed.
type InBfcl = (Vec<Value>, Vec<Rename>);

/// Writes the entries that a live category can hold: those of one turn whose calls are made at once.
fn write_bfcl<'f>(folder: &Path, kept: &[&Kept], in_bfcl: impl Fn(RowIx) -> &'f InBfcl) -> Result<()> {
    let mut by_category: BTreeMap<Category, Vec<&Kept>> = BTreeMap::new();
    for &row in kept {
        if let Some(category) = category(&row.record, in_bfcl(row.list).0.len()) {
            by_category.entry(category).or_default().push(row);
        }
    }
    for (category, mut rows) in by_category {
        // Entries of one list follow each other.
        rows.sort_by_key(|row| row.list);
        let questions: Vec<Vec<Message>> =
            rows.iter().map(|row| vec![Message::text(Role::User, row.record.instruction.clone())]).collect();
        let answers: Vec<Vec<Value>> = rows
            .iter()
            .map(|row| {
                let (functions, renames) = in_bfcl(row.list);
                answer(&row.record, functions, |name, arguments| carry(renames, name, arguments))
            })
            .collect();
        let entries: Vec<NewEntry<'_>> = rows
            .iter()
            .zip(questions.iter().zip(&answers))
            .map(|(row, (messages, answer))| NewEntry {
                request_id: &row.row_id,
                messages,
                functions: &in_bfcl(row.list).0,
                ground_truth: category.has_answers().then_some(answer),
                list: row.list,
            })
            .collect();
        let path = folder.join(category.file_name());
        let mut questions = open(&path)?;
        let mut of_answers: Box<dyn std::io::Write> = match category.answer_path() {
            Some(answers) => Box::new(open(&folder.join(answers))?),
            None => Box::new(std::io::sink()),
        };
        write_category(category, &mut Ids::new("is", ""), &entries, &mut questions, &mut of_answers)
            .at("writing", &path)?;
        questions.flush().at("writing", &path)?;
        of_answers.flush().at("writing", &path)?;
    }
    Ok(())
}

/// Writes the multi-turn entries of rows. The last part of an id is the number of the candidate.
fn write_multi_turn<'k>(folder: &Path, kept: impl Iterator<Item = &'k Kept>) -> Result<()> {
    let number = |row: &Kept| row.id.trim_start_matches('p').parse().ok();
    let mut entries: Vec<MultiTurnEntry> =
        kept.filter_map(|row| multi_turn_entry(&row.record, number(row)?)).collect();
    entries.sort_by_key(|entry| entry.category);
    for of_category in entries.chunk_by(|one, next| one.category == next.category) {
        let category = of_category[0].category;
        let lines = |path: String, line: fn(&MultiTurnEntry) -> &Value| {
            let path = folder.join(path);
            let mut file = open(&path)?;
            of_category
                .iter()
                .try_for_each(|entry| writeln!(file, "{}", line(entry)))
                .at("writing", &path)?;
            file.flush().at("writing", &path)
        };
        lines(category.path(), |entry| &entry.question)?;
        lines(category.answer_path(), |entry| &entry.answer)?;
    }
    Ok(())
}

fn open(path: &Path) -> Result<BufWriter<File>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).at("making", folder)?;
    }
    Ok(BufWriter::new(create(path)?))
}

/// What was written, by stratum.
fn exported(kept: &[Kept], view: &View<'_>) -> Exported {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for row in kept {
        *counts.entry(row.record.stratum.name()).or_default() += 1;
    }
    let origin = |row: &Kept| EntryOrigin {
        set: if row.record.is_executed() { InstructionSet::NAME } else { UNVERIFIED }.to_owned(),
        id: row.id.clone(),
        published_id: None,
        request_id: Some(row.row_id.clone()),
        list_id: Some(view.parent().row_id(row.list).to_string()),
        answer_from: None,
    };
    Exported {
        rows: kept.iter().map(|row| row.row).collect(),
        counts: counts.into_iter().map(|(stratum, n)| (stratum.to_owned(), n)).collect(),
        frozen: Vec::new(),
        origins: kept.iter().map(origin).collect(),
    }
}
