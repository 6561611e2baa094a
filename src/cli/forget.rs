//! `callsieve forget`: removes a record from all files of a finished run.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::purge::what;
use crate::cli::console::{self, Paint, Painted, Screen, count, counted};
use crate::cli::layout::{Column, Table, paragraph, words};
use crate::engine::layout::AUDIT_REPORT;
use crate::run::{self, Forget, ForgetReport};
use crate::stages::Registry;

/// Rows named at most in a message.
const MAX_NAMED: usize = 20;

const NOTHING_TO_DO: &str = "nothing to do: the record was forgotten before\n";

/// Arguments of `forget`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The log and files outside the run folder are not changed. Old files are deleted, but their bytes on disk are not overwritten. \
The run keeps only the file, line and record number of the record. Later runs into the same folder skip it. \
Records with the same bytes are removed together. Other steps of the same conversation are other records.

Examples:
  callsieve forget out/mylog --id 9f3c22a0b17e      by the start of a request id
  callsieve forget out/mylog --id r0042 --all       all records with this id in the log
  callsieve forget out/mylog --id r0042 --json | jq .files"
)]
pub(super) struct ForgetArgs {
    /// Run folder.
    run: PathBuf,

    /// The record: its id in the log, its request id or the start of it (at least 12 digits, unique), or another name that
    /// `why` takes. If a name means different records, `external:`, `request:`, `place:` or `entry:` before it says which.
    #[arg(long, value_name = "ID")]
    id: String,

    /// Removes all records with this id, if the log has several.
    #[arg(long)]
    all: bool,

    /// Prints the removed records and changed files as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn forget(args: &ForgetArgs, registry: &Registry) -> anyhow::Result<()> {
    let Some(forgotten) = run::forget(&args.run, Forget { id: &args.id, all: args.all }, registry)? else {
        let nothing = json!({"run": args.run, "requests": [], "files": []});
        let as_json = || console::write_json(&format!("{nothing}\n"));
        return Ok(if args.json { as_json() } else { console::print_data(NOTHING_TO_DO) }?);
    };
    if args.json {
        console::write_json(&format!("{}\n", as_json(args, &forgotten)))?;
    } else {
        let is_audit = args.run.join(AUDIT_REPORT).exists();
        let has_dataset = args.run.join("dataset").exists();
        console::print_painted(&as_text(&forgotten, (is_audit, has_dataset), Screen::of_stdout()))?;
    }
    if forgotten.has_asked {
        console::print_status(
            "note: the replies of the language model are still in its cache; remove them with `callsieve cache prune`",
        );
    }
    if forgotten.is_other {
        console::print_status(&format!(
            "note: this finished an earlier, interrupted forget; the run has no record {}",
            args.id
        ));
    }
    Ok(())
}

/// Width of the labels of lines.
const LABEL: usize = 10;

fn as_text(forgotten: &ForgetReport, (is_audit, has_dataset): (bool, bool), screen: Screen) -> Painted {
    let mut text = Painted::new("forgotten ");
    text.add(Paint::Plain, &counted(forgotten.requests.len() as u64, "request", "requests"));
    if forgotten.doc_lists > 0 {
        let lists = counted(forgotten.doc_lists as u64, "doc list", "doc lists");
        text.add(Paint::Plain, &format!(", {lists}"));
    }
    text.add(Paint::Plain, "\n");
    for request in &forgotten.requests {
        let place =
            format!("{}: request {}, which now has the id {}", request.place, request.was, request.is);
        text.append(paragraph("", 2, &words(&place), screen));
    }
    text.add(Paint::Plain, "\n");
    let mut table = Table::new([Column::text("file"), Column::wrapped("what was removed")]);
    forgotten.files.iter().for_each(|file| table.row([file.file.clone(), what(file)]));
    text.append(table.fitted(screen));
    let of_all = "also rewritten: ledger.parquet, rows.parquet, lists.parquet, links.parquet, report.json, report.html";
    let of_form = if is_audit {
        "hits.jsonl, hits.parquet, removed.jsonl, audit.json, statement.md. The cleaned sets are written by the next audit into this folder"
    } else if has_dataset {
        "dataset/README.md"
    } else {
        "and dataset/ is removed as a whole, because its rows are in several files. The next run into this folder writes it again"
    };
    text.append(paragraph("", 0, &words(&format!("{of_all}, {of_form}")), screen));
    text.add(Paint::Plain, "\n");
    let counts = &forgotten.counts;
    let sum = format!(
        "{} = {} exported + {} merged + {} held + {} dropped + {} forgotten",
        count(counts.rows),
        count(counts.kept),
        count(counts.merged),
        count(counts.held),
        count(counts.dropped),
        count(counts.forgotten)
    );
    text.append(paragraph("requests", LABEL, &words(&sum), screen));
    for (word, why, ids) in [
        ("held", "got the answer from it", &forgotten.answers_held),
        ("left", "merged into it, which may have the same text", &forgotten.merged_into_them),
        (
            "check",
            "with an answer by a person, into which it was merged: if that answer has values of the record, change the decision and run again",
            &forgotten.answered_by_people,
        ),
    ] {
        if !ids.is_empty() {
            let line = format!("{} {why}: {}", counted(ids.len() as u64, "request", "requests"), named(ids));
            text.append(paragraph(word, LABEL, &words(&line), screen));
        }
    }
    text
}

fn as_json(args: &ForgetArgs, forgotten: &ForgetReport) -> Value {
    let requests: Vec<Value> = forgotten
        .requests
        .iter()
        .map(|request| {
            json!({"was": request.was, "is": request.is, "file": request.file, "line": request.line, "record": request.record})
        })
        .collect();
    json!({"run": args.run, "requests": requests, "doc_lists": forgotten.doc_lists,
        "answers_held": forgotten.answers_held, "merged_into_them": forgotten.merged_into_them,
        "answered_by_people": forgotten.answered_by_people,
        "files": forgotten.files, "counts": forgotten.counts})
}

fn named(ids: &[String]) -> String {
    let mut text = ids.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
    if ids.len() > MAX_NAMED {
        text += " …";
    }
    text
}
