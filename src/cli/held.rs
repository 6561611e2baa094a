//! `callsieve held`: the rows that wait for a decision by a person, as a file that `--decisions` reads back.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use serde_json::Value;

use crate::cli::console::{self, Paint, Painted, Screen, counted};
use crate::cli::layout::{Cell, labelled, paragraph, words};
use crate::decisions::is_blank_review;
use crate::engine::disk::{put_in_place, write_atomic};
use crate::engine::frame::{FrameWriter, Values};
use crate::engine::layout::temporary_path;
use crate::run::{FIELDS, Review, ReviewRow, Selection, check_output, open};
use crate::stages::Registry;
use crate::text::short::shortened;
use crate::text::spreadsheet::guarded;
use crate::text::visible::visible_line;

/// Width of the labels of a row.
const LABEL: usize = 12;

/// Longer texts are shortened in the list; files have all of them.
const MAX_CHARS: usize = 400;

/// Without this mark Excel takes a CSV file for one in the encoding of the system.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Arguments of `held`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Fill in the column `decision` and run again with --decisions FILE; rows without a decision are skipped. Decisions: keep, drop, relevant, irrelevant, answer (the calls in ground_truth, or else in recorded_answer), edit (the patch, or else the functions), accept (the recorded answer or the label of an unverified entry).

Examples:
  callsieve held out/mylog                                      what is held, and why
  callsieve held out/mylog --out held.csv                       as a table for a spreadsheet
  callsieve held out/mylog --unverified --id live_simple_0-ts0-u0 --decide accept
                                                                a decision for one entry"
)]
pub(super) struct HeldArgs {
    /// Run folder.
    run: PathBuf,

    /// Only rows held for this reason, or for a reason of this topic, such as answer.
    #[arg(long, value_name = "CODE")]
    reason: Option<String>,

    /// Lists the unverified entries of the dataset instead of the held rows.
    #[arg(long, conflicts_with = "reason")]
    unverified: bool,

    /// Lists requests whose equal copies have other answers; `ground_truth` has the suggested one.
    #[arg(long, conflicts_with = "unverified")]
    candidates: bool,

    /// Only this row: a request id or list id (its first 8 digits or more), the log's own id, or another name that `why`
    /// takes. If a name means different rows, `external:`, `request:`, `list:`, `place:` or `entry:` before it says which.
    #[arg(long, value_name = "ID")]
    id: Vec<String>,

    /// Lists at most this many rows.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Fills in this decision for every row that is listed and that it can change.
    #[arg(long, value_name = "DECISION", value_parser = ["keep", "drop", "relevant", "irrelevant", "answer", "accept"])]
    decide: Option<String>,

    /// Format of the rows [default: a table for people on a terminal, else jsonl]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ReviewFormat>,

    /// Writes the rows to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A format of a review file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReviewFormat {
    /// One JSON object per line.
    Jsonl,
    /// A table with a header; nested values are JSON text.
    Csv,
    /// The same table as Parquet.
    Parquet,
}

impl ReviewFormat {
    /// The format that a file's name asks for.
    ///
    /// # Errors
    /// The name has another extension, or none.
    fn of(path: &Path) -> anyhow::Result<Self> {
        match path.extension().unwrap_or_default().to_ascii_lowercase().to_str() {
            Some("jsonl" | "json" | "ndjson") => Ok(Self::Jsonl),
            Some("csv") => Ok(Self::Csv),
            Some("parquet") => Ok(Self::Parquet),
            _ => bail!(
                "{}: found a name that gives no format, expected .csv, .jsonl or .parquet\nhint: spreadsheets open .csv, e.g. --out {}; --format gives a format for any name",
                path.display(),
                path.with_extension("csv").display()
            ),
        }
    }
}

pub(super) fn held(args: HeldArgs, registry: &Registry) -> anyhow::Result<()> {
    if let Some(out) = &args.out {
        check_target(out)?;
    }
    let format = match (args.format, &args.out) {
        (None, Some(out)) => Some(ReviewFormat::of(out)?),
        (format, _) => format,
    };
    if format == Some(ReviewFormat::Parquet) && args.out.is_none() {
        bail!("Parquet is not printed\nhint: name a file, e.g. --out held.parquet");
    }
    let is_list = format.is_none() && args.out.is_none() && console::is_read_by_a_person();
    let review = Review {
        selection: match (args.unverified, args.candidates) {
            (true, _) => Selection::Unverified,
            (_, true) => Selection::Candidates,
            _ => Selection::Held,
        },
        reason: args.reason,
        ids: args.id,
        limit: args.limit,
        decision: args.decide.unwrap_or_default(),
    };
    let opened = open(&args.run, registry)?;
    let rows = opened.review(&review)?;
    let unfilled = unfilled(&rows, &review)?;
    if is_list {
        let n_waiting = if is_all(&review) { opened.n_waiting_lists() } else { 0 };
        let screen = Screen::of_stdout();
        return Ok(console::print_painted(&list(&rows, &args.run, review.selection, n_waiting, screen))?);
    }
    let format = format.unwrap_or(ReviewFormat::Jsonl);
    let Some(out) = &args.out else {
        match format {
            ReviewFormat::Csv => console::write_json(&String::from_utf8_lossy(&csv(&rows)?))?,
            _ => console::write_json(&jsonl(&rows)?)?,
        }
        if let Some(unfilled) = unfilled {
            console::print_status(&unfilled);
        }
        return Ok(());
    };
    match format {
        ReviewFormat::Jsonl => write_atomic(out, jsonl(&rows)?.as_bytes())?,
        ReviewFormat::Csv => write_atomic(out, &[BYTE_ORDER_MARK, &csv(&rows)?].concat())?,
        ReviewFormat::Parquet => parquet(&rows, out)?,
    }
    let next = match (review.decision.as_str(), unfilled) {
        ("", _) => "fill in the column decision, then ".to_owned(),
        (_, None) => "the decisions are filled in; ".to_owned(),
        (_, Some(unfilled)) => format!("{unfilled}; "),
    };
    let out = out.display();
    console::print_status(&format!(
        "{} written to {out}; {next}run with --decisions {out}",
        rows_counted(&rows)
    ));
    Ok(())
}

/// Refuses a file that holds anything but an unfilled review file, and any file of a run folder.
fn check_target(out: &Path) -> anyhow::Result<()> {
    check_output("--out", out, &[])?;
    let shown = out.display();
    let Ok(found) = std::fs::metadata(out) else { return Ok(()) };
    if found.is_dir() {
        bail!("{shown}: this is a folder\nhint: name a file, e.g. --out {}", out.join("held.csv").display());
    }
    if !found.is_file() {
        bail!("{shown}: this is no regular file\nhint: without --out the rows go to standard output");
    }
    if !is_blank_review(out).with_context(|| format!("{shown}: the file exists and cannot be read"))? {
        bail!(
            "{shown}: the file exists and is not an unfilled review file\nhint: name a new file; `held` replaces only a review file in which no decision is filled in"
        );
    }
    Ok(())
}

/// Returns the note that a decision was filled in for some rows only; `None` where it is for all of them.
///
/// # Errors
/// It can change none of the rows.
fn unfilled(rows: &[ReviewRow], review: &Review) -> anyhow::Result<Option<String>> {
    let decision = &review.decision;
    let n_unfilled = rows.iter().filter(|row| row.decision.is_empty()).count();
    if decision.is_empty() || n_unfilled == 0 {
        return Ok(None);
    }
    if n_unfilled == rows.len() {
        let row = &rows[0];
        let reason = row.reason.as_deref().unwrap_or(row.table);
        bail!(
            "{decision} can change no row that is listed\nhint: these can change {} ({reason}): {}",
            row.entry_id.as_deref().or(row.external_id.as_deref()).unwrap_or(&row.id),
            row.possible_decisions
        );
    }
    let n_filled = counted((rows.len() - n_unfilled) as u64, "row", "rows");
    Ok(Some(format!("{decision} is filled in for {n_filled}, and cannot change the other {n_unfilled}")))
}

/// The rows for people, each with what a decision needs, and how to go on.
fn list(rows: &[ReviewRow], run: &Path, selection: Selection, n_waiting: u64, screen: Screen) -> Painted {
    let mut text = Painted::default();
    for row in rows {
        text.append(listed(row, screen));
    }
    let n_rows = rows.len() as u64;
    // Each selection has its own file, so that one does not replace another.
    let (n_rows, flag, file) = match selection {
        Selection::Unverified => {
            (counted(n_rows, "unverified entry", "unverified entries"), " --unverified", "unverified.csv")
        }
        Selection::Candidates => (
            counted(n_rows, "request with other answers", "requests with other answers"),
            " --candidates",
            "candidates.csv",
        ),
        Selection::Held => (format!("held: {}", rows_counted(rows)), "", "held.csv"),
    };
    if n_waiting > 0 {
        let lists = counted(n_waiting, "doc list waits", "doc lists wait");
        let waiting = format!("not listed: {lists} for held requests (cascade/no-request-left)");
        text.append(paragraph("", 0, &words(&waiting), screen));
    }
    // Commands are not wrapped, so that they can be copied.
    let run = run.display();
    text.add(
        Paint::Plain,
        &format!("{n_rows}; to decide:\n  callsieve held {run}{flag} --out {file}\nthen run with --decisions {file}\n"),
    );
    text
}

fn listed(row: &ReviewRow, screen: Screen) -> Painted {
    let id = row.entry_id.as_deref().or(row.external_id.as_deref()).unwrap_or(&row.id[..12]);
    let why = row.reason.as_deref().or(row.category.as_deref()).unwrap_or_default();
    let place = match (&row.file, row.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => row.table.to_owned(),
    };
    let mut text = Painted::default();
    let head = [Cell::new(Paint::Held, why), Cell::from(visible_line(&place).into_owned())];
    text.append(labelled(&Cell::new(Paint::Title, &visible_line(id)), 2, &head, screen));
    let names =
        row.functions.as_array().into_iter().flatten().filter_map(|function| function["name"].as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    let question = row.question.clone().unwrap_or_default();
    let suggested = answer_text(&row.ground_truth);
    for (label, content) in [
        ("  question", question),
        ("  functions", names),
        ("  answer", answer_text(&row.recorded_answer)),
        ("  suggested", suggested),
        ("  possible", row.possible_decisions.clone()),
    ] {
        if !content.is_empty() {
            let content = shortened(&visible_line(&content), MAX_CHARS);
            text.append(labelled(&Cell::new(Paint::Heading, label), LABEL, &words(&content), screen));
        }
    }
    text
}

/// Whether all held rows are listed.
fn is_all(review: &Review) -> bool {
    review.selection == Selection::Held
        && review.reason.is_none()
        && review.ids.is_empty()
        && review.limit.is_none()
}

/// Rows by table: `12 requests, 3 doc lists`.
fn rows_counted(rows: &[ReviewRow]) -> String {
    let n_lists = rows.iter().filter(|row| row.table == "doc_lists").count();
    let requests = counted((rows.len() - n_lists) as u64, "request", "requests");
    if n_lists == 0 {
        return requests;
    }
    format!("{requests}, {}", counted(n_lists as u64, "doc list", "doc lists"))
}

/// Returns an answer as calls with the alternatives of each parameter, such as `ring(bell=["noon"], times=["", 1])`.
fn answer_text(answer: &Value) -> String {
    let call = |call: &Value| {
        let (name, parameters) = call.as_object()?.iter().next()?;
        let parameters = parameters.as_object()?.iter().map(|(name, values)| format!("{name}={values}"));
        Some(format!("{name}({})", parameters.collect::<Vec<_>>().join(", ")))
    };
    match answer {
        Value::Null => String::new(),
        Value::Array(calls) => calls
            .iter()
            .map(call)
            .collect::<Option<Vec<_>>>()
            .map_or_else(|| answer.to_string(), |calls| calls.join(", ")),
        _ => answer.to_string(),
    }
}

fn jsonl(rows: &[ReviewRow]) -> anyhow::Result<String> {
    let mut text = String::new();
    for row in rows {
        text += &serde_json::to_string(row)?;
        text.push('\n');
    }
    Ok(text)
}

/// The cells of a row as text, in the order of [`FIELDS`]; a null is no text.
fn cells(row: &ReviewRow) -> anyhow::Result<Vec<Option<String>>> {
    let object = serde_json::to_value(row)?;
    Ok(FIELDS
        .iter()
        .map(|&field| match &object[field] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        })
        .collect())
}

fn csv(rows: &[ReviewRow]) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(FIELDS)?;
    for row in rows {
        let cells = cells(row)?;
        let cells = cells.iter().map(|cell| guarded(cell.as_deref().unwrap_or_default()).into_owned());
        writer.write_record(cells)?;
    }
    writer.flush()?;
    writer.into_inner().map_err(csv::IntoInnerError::into_error).context("writing CSV")
}

fn parquet(rows: &[ReviewRow], out: &Path) -> anyhow::Result<()> {
    let all: Vec<Vec<Option<String>>> = rows.iter().map(cells).collect::<anyhow::Result<_>>()?;
    let temporary = temporary_path(out);
    let mut writer = FrameWriter::create(&temporary);
    let columns = FIELDS
        .iter()
        .enumerate()
        .map(|(at, &field)| (field, Values::Text(all.iter().map(|row| row[at].as_deref()).collect())));
    writer.write(columns.collect())?;
    writer.finish()?;
    Ok(put_in_place(&temporary, out)?)
}
