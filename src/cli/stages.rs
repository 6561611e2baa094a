//! `toolsieve stages`: the reference of every kind of stage, made from the list in `stages`.

use serde_json::{Value, json};

use crate::cli::console;
use crate::engine::vocabulary::ColumnSpec;
use crate::stages::{Registry, StageKind};

/// Arguments of `stages`.
#[derive(Debug, clap::Args)]
pub(super) struct StagesArgs {
    /// One kind only.
    kind: Option<String>,

    /// One JSON object a line.
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
        return Ok(console::give_json(&lines)?);
    }
    Ok(console::print_data(&wanted.into_iter().map(as_text).collect::<String>())?)
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

fn as_text(kind: &StageKind) -> String {
    let contract = kind.with_defaults().contract();
    let mut text = format!("{}\n  {}\n  judges   {}\n", kind.name, kind.summary, contract.table.name());
    if !contract.reads.is_empty() {
        text += &format!("  reads    {}\n", names(&contract.reads).join(", "));
    }
    if !contract.reads_if_there.is_empty() {
        text += &format!("  if there {}\n", names(&contract.reads_if_there).join(", "));
    }
    if !contract.writes.is_empty() {
        text += &format!("  writes   {}\n", names(&contract.writes).join(", "));
    }
    let schema = (kind.schema)();
    for (key, setting) in schema["properties"].as_object().into_iter().flatten() {
        let what = setting["description"].as_str().unwrap_or_default().replace('\n', " ");
        text += &format!("  setting  {key} = {}  {what}\n", setting["default"]);
    }
    for reason in &contract.reasons {
        text += &format!("  reason   {}: {}\n", reason.code, reason.sentence);
    }
    text + "\n"
}
