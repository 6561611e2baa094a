//! `callsieve stages`: the reference of every kind of stage, made from the list in `stages`.

use serde_json::{Value, json};

use crate::cli::console::{self, Paint, Painted, Screen};
use crate::cli::layout::{paragraph, words};
use crate::engine::vocabulary::ColumnSpec;
use crate::stages::{Registry, StageKind};

/// Arguments of `stages`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve stages                                  all kinds of stages
  callsieve stages merge-near-docs                  one kind, with its settings and their defaults
  callsieve stages --json | jq -r .kind             the names")]
pub(super) struct StagesArgs {
    /// The kind to show [default: all]
    kind: Option<String>,

    /// Prints one JSON object per line.
    #[arg(long)]
    json: bool,
}

pub(super) fn stages(args: &StagesArgs, registry: &Registry) -> anyhow::Result<()> {
    let wanted: Vec<&StageKind> = registry
        .kinds()
        .iter()
        .filter(|kind| args.kind.as_ref().is_none_or(|name| name == kind.name))
        .collect();
    if wanted.is_empty() {
        let names: Vec<&str> = registry.kinds().iter().map(|kind| kind.name).collect();
        anyhow::bail!(
            "there is no kind of stage \"{}\"\nhint: kinds: {}",
            args.kind.as_deref().unwrap_or_default(),
            names.join(", ")
        );
    }
    if args.json {
        let lines: String = wanted.into_iter().map(|kind| format!("{}\n", as_json(kind))).collect();
        return Ok(console::write_json(&lines)?);
    }
    let screen = Screen::of_stdout();
    let mut text = Painted::default();
    for kind in wanted {
        text.append(as_text(kind, screen));
    }
    Ok(console::print_painted(&text)?)
}

fn names(columns: &[ColumnSpec]) -> Vec<&'static str> {
    columns.iter().map(|column| column.name).collect()
}

fn as_json(kind: &StageKind) -> Value {
    let contract = kind.with_defaults().contract();
    json!({
        "kind": kind.name,
        "summary": kind.summary,
        "judges": contract.table.name(),
        "reads": names(&contract.reads),
        "reads_if_there": names(&contract.reads_if_there),
        "writes": names(&contract.writes),
        "idempotent": contract.idempotent,
        "reasons": contract.reasons.iter().map(|reason| json!({"code": reason.code, "kind": reason.kind, "sentence": reason.sentence})).collect::<Vec<_>>(),
        "settings": (kind.schema)(),
    })
}

/// Width of the labels of a kind's lines.
const LABEL: usize = 11;

fn as_text(kind: &StageKind, screen: Screen) -> Painted {
    let contract = kind.with_defaults().contract();
    let line = |name: &str, text: &str| paragraph(name, LABEL, &words(text), screen);
    let mut text = Painted::default();
    text.add(Paint::Title, kind.name);
    text.add(Paint::Plain, "\n");
    text.append(paragraph("", 2, &words(kind.summary), screen));
    text.append(line("  works on", &contract.table.name().replace('_', " ")));
    let columns = [
        ("  reads", &contract.reads),
        ("  if there", &contract.reads_if_there),
        ("  writes", &contract.writes),
    ];
    for (name, columns) in columns {
        if !columns.is_empty() {
            text.append(line(name, &names(columns).join(", ")));
        }
    }
    let schema = (kind.schema)();
    for (key, setting) in schema["properties"].as_object().into_iter().flatten() {
        let what = setting["description"].as_str().unwrap_or_default().replace('\n', " ");
        // A list may wrap between its items.
        let default = setting["default"].to_string().replace("\",\"", "\", \"");
        text.append(line("  setting", &format!("{key} = {default}  {what}")));
    }
    for reason in &contract.reasons {
        text.append(line("  reason", &format!("{}: {}", reason.code, reason.sentence)));
    }
    text.add(Paint::Plain, "\n");
    text
}
