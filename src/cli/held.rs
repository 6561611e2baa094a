//! `callsieve held`: the rows that wait for a decision by a person, as a file that `--decisions` reads back.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use serde_json::Value;

use crate::cli::arguments::FilterArgs;
use crate::cli::console::{self, Paint, Painted, Screen, counted};
use crate::cli::layout::{Cell, labelled, paragraph, words};
use crate::run::{ReviewFormat, ReviewOptions, ReviewRow, ReviewTable, Selection, check_review_file, open};
use crate::stages::Registry;
use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// Width of the labels of a row.
const LABEL: usize = 12;

/// Longer texts are shortened in the list; files have all of them.
const MAX_CHARS: usize = 400;

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

    #[command(flatten)]
    filter: FilterArgs,

    /// Lists at most this many rows.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Fills in this decision for every row that is listed and that it can change.
    #[arg(long, value_name = "DECISION", value_parser = ["keep", "drop", "relevant", "irrelevant", "answer", "accept"])]
    decide: Option<String>,

    /// Format of the rows [default: a table for people on a terminal, else jsonl]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<FormatArg>,

    /// Writes the rows to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The formats of [`ReviewFormat`], as the flag has them.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    /// One JSON object per line.
    Jsonl,
    /// A table with a header; nested values are JSON text.
    Csv,
    /// The same table as Parquet.
    Parquet,
}

impl From<FormatArg> for ReviewFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Jsonl => Self::Jsonl,
            FormatArg::Csv => Self::Csv,
            FormatArg::Parquet => Self::Parquet,
        }
    }
}

pub(super) fn held(args: HeldArgs, registry: &Registry) -> anyhow::Result<()> {
    if let Some(out) = &args.out {
        check_review_file(out)?;
    }
    let format = match (args.format, &args.out) {
        (None, Some(out)) => Some(ReviewFormat::of(out)?),
        (format, _) => format.map(ReviewFormat::from),
    };
    if format == Some(ReviewFormat::Parquet) && args.out.is_none() {
        bail!("Parquet is not printed\nhint: name a file, e.g. --out held.parquet");
    }
    let is_list = format.is_none() && args.out.is_none() && console::is_read_by_a_person();
    let options = ReviewOptions {
        selection: match (args.unverified, args.candidates) {
            (true, _) => Selection::Unverified,
            (_, true) => Selection::Candidates,
            _ => Selection::Held,
        },
        reason: args.reason,
        ids: args.id,
        filter: args.filter.filter()?,
        limit: args.limit,
        decision: args.decide.unwrap_or_default(),
    };
    let table = open(&args.run, registry)?.review(&options)?;
    if is_list {
        let screen = Screen::of_stdout();
        return Ok(console::print_painted(&list(&table, &args.run, options.selection, screen))?);
    }
    let (format, undecided) = (format.unwrap_or(ReviewFormat::Jsonl), undecided(&table, &options.decision));
    let Some(out) = &args.out else {
        let text = if format == ReviewFormat::Csv { table.csv() } else { table.jsonl() };
        console::write_json(&text)?;
        if let Some(undecided) = undecided {
            console::print_status(&undecided);
        }
        return Ok(());
    };
    table.write(out, format)?;
    let next = match (options.decision.as_str(), undecided) {
        ("", _) => "fill in the column decision, then ".to_owned(),
        (_, None) => "the decisions are filled in; ".to_owned(),
        (_, Some(undecided)) => format!("{undecided}; "),
    };
    let (n_rows, out) = (rows_counted(&table.rows), out.display());
    console::print_status(&format!("{n_rows} written to {out}; {next}run with --decisions {out}"));
    Ok(())
}

/// Returns the note that a decision was filled in for some rows only; `None` if it is for all of them.
fn undecided(table: &ReviewTable, decision: &str) -> Option<String> {
    let n_undecided = table.undecided();
    if decision.is_empty() || n_undecided == 0 {
        return None;
    }
    let n_filled = counted((table.rows.len() - n_undecided) as u64, "row", "rows");
    Some(format!("{decision} is filled in for {n_filled}, and cannot change the other {n_undecided}"))
}

/// The rows for people, each with what a decision needs, and how to go on.
fn list(table: &ReviewTable, run: &Path, selection: Selection, screen: Screen) -> Painted {
    let rows = &table.rows;
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
    if table.waiting_lists > 0 {
        let lists = counted(table.waiting_lists, "doc list waits", "doc lists wait");
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
