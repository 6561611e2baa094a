//! `callsieve diff`: the edits of a run, before and after, by function and parameter.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::console::{self, Paint, Painted, Screen, count, counted};
use crate::cli::layout;
use crate::columns::FUNCTIONS;
use crate::engine::corpus::RowId;
use crate::engine::vocabulary::{Safety, TableId};
use crate::run::{RowEdit, functions_of, open, patch_in_words};
use crate::stages::Registry;
use crate::text::visible::visible_line;

/// Functions that are named for one edit.
const MAX_NAMES: usize = 3;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve diff out/mylog                                 a few edits for each reason
  callsieve diff out/mylog --reason schema/type-synonym    all edits for one reason
  callsieve diff out/mylog --json | jq .patch              all edits, one per line")]
pub(super) struct DiffArgs {
    /// Run folder.
    run: PathBuf,

    /// Shows all edits for this reason, and no others.
    #[arg(long, value_name = "CODE")]
    reason: Option<String>,

    /// Number of edits to show for each reason.
    #[arg(long, value_name = "N", default_value_t = 3)]
    each: usize,

    /// Prints all edits, one JSON object per line.
    #[arg(long)]
    json: bool,
}

pub(super) fn diff(args: &DiffArgs, registry: &Registry) -> anyhow::Result<()> {
    let run = open(&args.run, registry)?;
    if args.json {
        let mut lines = String::new();
        run.diff(args.reason.as_deref(), |edit| lines += &as_json(edit))?;
        return Ok(console::write_json(&lines)?);
    }
    let each = if args.reason.is_some() { usize::MAX } else { args.each };
    let mut by_reason: BTreeMap<String, EditsOfReason> = BTreeMap::new();
    run.diff(args.reason.as_deref(), |edit| {
        let edits = by_reason.entry(edit.reason.to_owned()).or_default();
        edits.n_edits += 1;
        if edits.n_edits <= each {
            edits.shown.push(ShownEdit::of(edit));
        }
    })?;
    let lists = by_reason.values().flat_map(|edits| &edits.shown);
    let lists = lists.filter(|edit| edit.table == TableId::DocLists).map(|edit| edit.row_id).collect();
    let names = run.function_names(&lists)?;
    let (mut text, screen) = (Painted::default(), Screen::of_stdout());
    for (reason, edits) in &by_reason {
        text.add(Paint::Title, reason);
        text.add(Paint::Plain, &format!("  {}\n", counted(edits.n_edits as u64, "edit", "edits")));
        edits.shown.iter().for_each(|edit| edit.add_to(&mut text, &names, screen));
        if edits.n_edits > each {
            let n_more = count((edits.n_edits - each) as u64);
            text.add(Paint::Heading, &format!("  … and {n_more} more: --reason {reason}\n"));
        }
    }
    Ok(console::print_painted(&text)?)
}

/// The edits of one reason.
#[derive(Default)]
struct EditsOfReason {
    n_edits: usize,
    /// The first of them.
    shown: Vec<ShownEdit>,
}

/// An edit that is shown.
struct ShownEdit {
    table: TableId,
    row_id: RowId,
    safety: String,
    column: String,
    patch: String,
}

impl ShownEdit {
    fn of(edit: &RowEdit<'_>) -> Self {
        Self {
            table: edit.table,
            row_id: edit.row_id,
            safety: edit.safety.to_owned(),
            column: edit.column.to_owned(),
            patch: edit.patch.to_owned(),
        }
    }

    /// Adds the names of the changed functions with the id of their list, or the id of the request, and the changes.
    fn add_to(&self, text: &mut Painted, names: &BTreeMap<RowId, Vec<String>>, screen: Screen) {
        let digits = self.row_id.digits();
        let id = RowId::short(digits.as_str());
        let functions = names.get(&self.row_id).map(Vec::as_slice).unwrap_or_default();
        let safety =
            if self.safety == Safety::Safe.name() { String::new() } else { format!("  ({})", self.safety) };
        text.add(Paint::Plain, "  ");
        match self.table {
            TableId::Requests => text.add(Paint::Plain, &format!("request {id}")),
            TableId::DocLists => {
                text.add(Paint::Plain, &visible_line(&self.changed(functions)));
                text.add(Paint::Heading, &format!("  list {id}"));
            }
        }
        text.add(Paint::Held, &safety);
        text.add(Paint::Plain, "\n");
        let several = functions_of(&self.patch).len() > 1;
        let named = if several { functions } else { &[] };
        layout::add_changes(text, &patch_in_words(&self.column, &self.patch, named), screen);
    }

    /// The names of the functions that the edit changes; of all functions of the list if it changes the list as a whole.
    fn changed(&self, functions: &[String]) -> String {
        let changed = if self.column == FUNCTIONS.name { functions_of(&self.patch) } else { Vec::new() };
        let name = |at: usize| functions.get(at).cloned().unwrap_or_else(|| format!("function {}", at + 1));
        let names: Vec<String> =
            if changed.is_empty() { functions.to_vec() } else { changed.into_iter().map(name).collect() };
        let more = if names.len() > MAX_NAMES {
            format!(" and {} more", names.len() - MAX_NAMES)
        } else {
            String::new()
        };
        if names.is_empty() {
            return "unreadable functions".to_owned();
        }
        names.into_iter().take(MAX_NAMES).collect::<Vec<_>>().join(", ") + &more
    }
}

fn as_json(edit: &RowEdit<'_>) -> String {
    let patch: Value = serde_json::from_str(edit.patch).unwrap_or_default();
    let line = json!({"table": edit.table, "row_id": edit.row_id.to_string(), "stage": edit.stage, "column": edit.column, "reason": edit.reason, "safety": edit.safety, "patch": patch});
    format!("{line}\n")
}
