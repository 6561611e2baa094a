//! The sink `instructions`: the kept rows in every form that training programs read, and as BFCL entries.

use std::borrow::Cow;
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
use callsieve_engine::columns::{EXTERNAL_ID, PROGRAM, SOLUTION_FINDINGS, TEXT, TRACES};
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

use crate::attempt::{Attempt, Checked};
use crate::form::{
    Compression, FORMS, Masked, MultiTurnEntry, Sample, answer, category, masked, multi_turn_entry,
    openai_messages, openai_tools, without_useless_keys,
};
use crate::record::Record;
use crate::solutions::{self, Solved};
use crate::split::{Side, Split};

/// The sink and its settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InstructionSet {
    /// The share of instructions for validation, 0 to 0.5. No function is on both sides, nor one whose doc is nearly the same.
    /// They are in `validation/`; those that call functions of both sides are in `both/`.
    pub validation: f64,
    /// Replaces the names of functions by names that say nothing, in the forms for training.
    pub mask_function_names: bool,
    /// The most tokens of a result in the forms for training (one for four characters), 0 for any number. Keys that are
    /// always empty are left out first, then lists and texts are cut; values that a later call or the answer uses stay.
    pub max_result_tokens: usize,
}

impl KindSettings for InstructionSet {
    const NAME: &'static str = "instructions";
    const SUMMARY: &'static str = "instruction sets in the forms of training programs, and as BFCL entries";

    fn check(&self) -> std::result::Result<(), String> {
        if (0.0..=0.5).contains(&self.validation) {
            return Ok(());
        }
        Err(format!("validation must be 0 to 0.5, not {}", self.validation))
    }
}

/// The folder of instructions whose calls were not executed.
pub const UNVERIFIED: &str = "unverified";
/// The folder of instructions for validation.
const VALIDATION: &str = "validation";
/// The folder of instructions that call functions of both sides.
const BOTH: &str = "both";
/// The folders of instructions that are not in the dataset itself.
pub const FOLDERS: [&str; 3] = [VALIDATION, BOTH, UNVERIFIED];
/// The folder of the BFCL entries.
pub const BFCL: &str = "bfcl";
/// The letters in the ids of a folder's BFCL entries, so that no id is there twice.
fn marker(folder: Option<&str>) -> &'static str {
    match folder {
        Some(VALIDATION) => "isv",
        Some(BOTH) => "isb",
        Some(_) => "isu",
        None => "is",
    }
}

/// The table of all instructions of a folder.
pub const TABLE: &str = "instructions.parquet";
/// Its columns with what they hold; all hold texts, and those after the fifth hold JSON.
pub const COLUMNS: [(&str, &str); 8] = [
    ("id", "id of the instruction"),
    ("stratum", "its kind, such as chain or parallel"),
    ("instruction", "the first message of the user"),
    ("answer", "the last answer; empty if there is none"),
    ("environment", "where its calls were executed"),
    ("messages", "all messages and calls in OpenAI's form, as JSON"),
    ("tools", "the functions on offer in OpenAI's form, as JSON"),
    ("program", "the calls with results, and where each value is from: the line of programs.jsonl, as JSON"),
];

/// A kept row.
struct Kept {
    row: RowIx,
    list: RowIx,
    row_id: String,
    id: String,
    record: Record,
    attempts: Vec<Attempt>,
    checked: Vec<Checked>,
}

impl Sink for InstructionSet {
    fn reads(&self) -> Vec<ColumnSpec> {
        vec![EXTERNAL_ID, PROGRAM, TRACES, SOLUTION_FINDINGS, TEXT]
    }

    fn write(&self, from: &FinishedTables<'_>, into: &Path, cx: &Context<'_>) -> Result<Exported> {
        let view = View::new(from.corpus, &Contract::of(TableId::Requests).reads(self.reads()));
        let as_offered = view.parents(cx, |list| list.json::<Vec<Value>>(TEXT).unwrap_or_default())?;
        let fixed = view
            .parents(cx, |list| mended(&list.json::<Vec<Value>>(TEXT).unwrap_or_default(), Safety::Unsafe))?;
        let nothing: InBfcl = (Vec::new(), Vec::new());
        let tables = Offered {
            as_sent: &|list| as_offered.of_list(list).map_or(&[][..], Vec::as_slice),
            in_bfcl: &|list| fixed.of_list(list).unwrap_or(&nothing),
        };
        let mut kept = kept_rows(&view, cx)?;
        let mut rows_of: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::from([(None, Vec::new())]);
        for (at, folder) in self.folders(&mut kept, &tables, cx)?.into_iter().enumerate() {
            rows_of.entry(folder).or_default().push(at);
        }
        for (folder, rows) in rows_of {
            let path = folder.map_or_else(|| into.to_owned(), |folder| into.join(folder));
            let rows: Vec<&Kept> = rows.into_iter().map(|at| &kept[at]).collect();
            self.write_forms(&path, &rows, &tables, cx)?;
            write_table(&path.join(TABLE), &rows, &tables)?;
            write_bfcl(&path.join(BFCL), marker(folder), &rows, &tables)?;
            self.write_solutions(&path, &rows, &tables)?;
        }
        Ok(exported(&kept, &view))
    }
}

impl InstructionSet {
    /// The folder of each row, `None` for the dataset itself. Takes functions of the other side from the rows.
    fn folders(
        &self,
        kept: &mut [Kept],
        tables: &Offered<'_>,
        cx: &Context<'_>,
    ) -> Result<Vec<Option<&'static str>>> {
        let mut split = None;
        if self.validation > 0.0 {
            let mut functions: BTreeMap<String, Value> = BTreeMap::new();
            for function in kept.iter().flat_map(|row| (tables.as_sent)(row.list)) {
                if let Some(name) = function["name"].as_str().filter(|name| !functions.contains_key(*name)) {
                    functions.insert(name.to_owned(), function.clone());
                }
            }
            let records: Vec<&Record> = kept.iter().map(|row| &row.record).collect();
            let cancelled = || cx.cancelled();
            split = Some(
                Split::new(&records, &functions, self.validation, &cancelled).ok_or(Error::Interrupted)?,
            );
        }
        let folder = |row: &mut Kept| {
            if !row.record.is_executed() {
                return Some(UNVERIFIED);
            }
            let split = split.as_ref()?;
            let side = split.side(&row.record);
            split.restrict(&mut row.record, side);
            match side {
                Side::Training => None,
                Side::Validation => Some(VALIDATION),
                Side::Both => Some(BOTH),
            }
        };
        Ok(kept.iter_mut().map(folder).collect())
    }

    /// Writes what models found for the instructions.
    fn write_solutions(&self, folder: &Path, kept: &[&Kept], tables: &Offered<'_>) -> Result<()> {
        let tried = kept.iter().filter(|row| !row.attempts.is_empty());
        let solved: Vec<Solved<'_>> = tried
            .map(|row| Solved {
                id: &row.id,
                record: &row.record,
                functions: tables.of(row),
                attempts: &row.attempts,
                checked: &row.checked,
            })
            .collect();
        solutions::write(folder, &solved, self.mask_function_names)
    }

    /// Writes a file of each form.
    fn write_forms(
        &self,
        folder: &Path,
        kept: &[&Kept],
        tables: &Offered<'_>,
        cx: &Context<'_>,
    ) -> Result<()> {
        let compression = (self.max_result_tokens > 0)
            .then(|| Compression::new(kept.iter().map(|row| &row.record), self.max_result_tokens));
        let shorter = |row: &&Kept| {
            let first = without_useless_keys(&row.record);
            let second = compression.as_ref().and_then(|to| to.of(first.as_ref().unwrap_or(&row.record)));
            second.or(first)
        };
        let shortened: Vec<Option<Record>> = kept.iter().map(shorter).collect();
        for form in &FORMS {
            let path = folder.join(form.file);
            let mut file = open(&path)?;
            let mut n_lines = 0_u64;
            for (row, shortened) in kept.iter().zip(&shortened) {
                let functions = tables.of(row);
                let record = shortened.as_ref().filter(|_| form.is_for_training).unwrap_or(&row.record);
                let sample = Sample { id: &row.id, record, functions: &functions };
                let line = if self.mask_function_names && form.is_for_training {
                    let Masked { record, functions } = masked(&sample);
                    (form.line)(&Sample { id: &row.id, record: &record, functions: &functions })
                } else {
                    (form.line)(&sample)
                };
                if let Some(line) = line {
                    writeln!(file, "{line}").at("writing", &path)?;
                    n_lines += 1;
                }
            }
            file.flush().at("writing", &path)?;
            // Readers of JSON lines stop at an empty file.
            if n_lines == 0 && form.is_for_training {
                std::fs::remove_file(&path).at("removing", &path)?;
            }
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }
}

/// The functions of lists.
struct Offered<'a> {
    /// As they are sent.
    as_sent: &'a dyn Fn(RowIx) -> &'a [Value],
    /// In the form of BFCL.
    in_bfcl: &'a dyn Fn(RowIx) -> &'a InBfcl,
}

impl Offered<'_> {
    /// The functions that a row offers: those of its list, without what the split took away.
    fn of(&self, row: &Kept) -> Cow<'_, [Value]> {
        let all = (self.as_sent)(row.list);
        if all.len() == row.record.offered.len() {
            return Cow::Borrowed(all);
        }
        all.iter().filter(|function| row.offers(function)).cloned().collect()
    }

    /// The same in the form of BFCL, and the names that this form changed. It has the functions in the same order.
    fn of_bfcl(&self, row: &Kept) -> Cow<'_, InBfcl> {
        let (fixed, renames) = (self.in_bfcl)(row.list);
        let all = (self.as_sent)(row.list);
        if all.len() == row.record.offered.len() || all.len() != fixed.len() {
            return Cow::Borrowed((self.in_bfcl)(row.list));
        }
        let functions =
            all.iter().zip(fixed).filter(|(sent, _)| row.offers(sent)).map(|(_, fixed)| fixed.clone());
        Cow::Owned((functions.collect(), renames.clone()))
    }
}

impl Kept {
    fn offers(&self, function: &Value) -> bool {
        self.record.offered.iter().any(|name| function["name"] == name.as_str())
    }
}

/// The kept rows with their records, in the order of their candidates.
fn kept_rows(view: &View<'_>, cx: &Context<'_>) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    view.for_each_batch(cx, |batch| {
        let rows = batch.map_rows(|row| {
            let id = row.text(EXTERNAL_ID).unwrap_or_default().to_owned();
            let attempts = row.json::<Vec<Attempt>>(TRACES).unwrap_or_default();
            let checked = row.json::<Vec<Checked>>(SOLUTION_FINDINGS).unwrap_or_default();
            (row.ix(), id, row.json::<Record>(PROGRAM), (attempts, checked))
        })?;
        kept.extend(rows.into_iter().filter_map(|(row, id, record, (attempts, checked))| {
            let (list, row_id) = (view.list_of(row), view.row_id(row).to_string());
            Some(Kept { row, list, row_id, id, record: record?, attempts, checked })
        }));
        Ok(())
    })?;
    kept.sort_by_key(|kept| view.position(kept.row));
    Ok(kept)
}

/// Writes the table: texts, so that no reader fills keys of one row into another.
fn write_table(path: &Path, kept: &[&Kept], tables: &Offered<'_>) -> Result<()> {
    const GROUP_ROWS: usize = 4096;
    let mut table = FrameWriter::create(path);
    let groups: Vec<&[&Kept]> = if kept.is_empty() { vec![&[]] } else { kept.chunks(GROUP_ROWS).collect() };
    for group in groups {
        let rows: Vec<[String; COLUMNS.len()]> =
            group.iter().map(|row| cells(row, &tables.of(row))).collect();
        let texts = |at: usize| Values::Text(rows.iter().map(|row| Some(row[at].as_str())).collect());
        table.write(COLUMNS.iter().enumerate().map(|(at, (name, _))| (*name, texts(at))).collect())?;
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
        json!(openai_messages(record)).to_string(),
        json!(openai_tools(functions)).to_string(),
        json!(record).to_string(),
    ]
}

/// The functions of a list in the form of BFCL, and the names that this form changed.
type InBfcl = (Vec<Value>, Vec<Rename>);

/// Writes the entries: what a live category can hold, of one turn whose calls are made at once, and the others as multi-turn.
fn write_bfcl(folder: &Path, marker: &str, kept: &[&Kept], tables: &Offered<'_>) -> Result<()> {
    let mut by_category: BTreeMap<Category, Vec<InEntry<'_>>> = BTreeMap::new();
    let mut others = Vec::new();
    for &row in kept {
        let in_bfcl = tables.of_bfcl(row);
        match category(&row.record, in_bfcl.0.len()) {
            Some(category) => by_category.entry(category).or_default().push((row, in_bfcl)),
            None => others.push(row),
        }
    }
    for (category, mut rows) in by_category {
        // Entries of one list follow each other.
        rows.sort_by_key(|(row, _)| row.list);
        write_live(folder, category, marker, &rows)?;
    }
    write_multi_turn(folder, &others)
}

/// A row, with its functions in the form of BFCL.
type InEntry<'a> = (&'a Kept, Cow<'a, InBfcl>);

/// Writes the entries of a live category.
fn write_live(folder: &Path, category: Category, marker: &str, rows: &[InEntry<'_>]) -> Result<()> {
    let question = |(row, _): &InEntry<'_>| vec![Message::text(Role::User, row.record.instruction.clone())];
    let questions: Vec<Vec<Message>> = rows.iter().map(question).collect();
    let ground_truth = |(row, in_bfcl): &InEntry<'_>| {
        let (functions, renames) = &**in_bfcl;
        answer(&row.record, functions, |name, arguments| carry(renames, name, arguments))
    };
    let answers: Vec<Vec<Value>> = rows.iter().map(ground_truth).collect();
    let entries: Vec<NewEntry<'_>> = rows
        .iter()
        .zip(questions.iter().zip(&answers))
        .map(|((row, in_bfcl), (messages, answer))| NewEntry {
            request_id: &row.row_id,
            messages,
            functions: &in_bfcl.0,
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
    write_category(category, &mut Ids::new(marker, ""), &entries, &mut questions, &mut of_answers)
        .at("writing", &path)?;
    questions.flush().at("writing", &path)?;
    of_answers.flush().at("writing", &path)
}

/// Writes the multi-turn entries of rows. The last part of an id is the number of the candidate.
fn write_multi_turn(folder: &Path, kept: &[&Kept]) -> Result<()> {
    let number = |row: &Kept| row.id.trim_start_matches(['p', 'm']).parse().ok();
    let mut entries: Vec<MultiTurnEntry> =
        kept.iter().filter_map(|row| multi_turn_entry(&row.record, number(row)?)).collect();
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

/// Opens a file that is written, in a folder that is made.
pub(crate) fn open(path: &Path) -> Result<BufWriter<File>> {
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
