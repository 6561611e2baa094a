//! What became of a doc list, for people: how it was read, each change before and after, what is wrong.

use std::path::Path;

use serde_json::Value;

use crate::cli::console::{Paint, Painted, Screen, counted};
use crate::cli::layout::{Cell, add_changes, labelled};
use crate::docs::convert::Change;
use crate::docs::patch::PatchOp;
use crate::fix::{DocsFault, EditOutcome, Outcome};
use crate::run::patch_lines;
use crate::text::visible::visible_line;

/// One list as text.
pub(super) fn painted(outcome: &Outcome) -> Painted {
    let (mut text, screen) = (Painted::default(), Screen::of_stdout());
    heading(&mut text, outcome);
    outcome.faults.iter().for_each(|fault| wrong(&mut text, fault, screen));
    outcome.edits.iter().for_each(|one| edit(&mut text, one, screen));
    outcome.conversions.iter().flatten().for_each(|change| conversion(&mut text, change, screen));
    text.add(Paint::Plain, "\n");
    text
}

fn heading(text: &mut Painted, outcome: &Outcome) {
    let state = match outcome.n_functions {
        None => "not read".to_owned(),
        Some(n_functions) => {
            let functions = counted(n_functions as u64, "function", "functions");
            let edits = outcome.edits.iter().filter(|edit| edit.is_applied).count() as u64;
            let changed =
                if edits == 0 { "nothing to change".to_owned() } else { counted(edits, "edit", "edits") };
            format!("{functions}, read by {}, {changed}", outcome.steps.join(", "))
        }
    };
    text.add(Paint::Title, &visible_line(&name(outcome)));
    text.add(Paint::Plain, &format!("  {state}\n"));
}

/// The id of a list, after the name of its file if there are several files; of a file that is one list only the file.
fn name(outcome: &Outcome) -> String {
    let id = outcome.id.as_str().map_or_else(|| outcome.id.to_string(), str::to_owned);
    match &outcome.file {
        None => id,
        Some(file) if Path::new(file).file_name().is_some_and(|name| *name == *id) => file.clone(),
        Some(file) => format!("{file}: {id}"),
    }
}

fn wrong(text: &mut Painted, fault: &DocsFault, screen: Screen) {
    let at = match &fault.at {
        Value::Null => String::new(),
        Value::String(pointer) => format!(" at {pointer}"),
        byte => format!(" at byte {byte}"),
    };
    let what = format!("{}{at}: {}", fault.reason, fault.message);
    let paint = if fault.is_blocking { Paint::Error } else { Paint::Plain };
    if screen.is_terminal {
        let pieces = Cell::new(paint, &what).split_words();
        return text.append(labelled(&"  !".into(), 4, &pieces, screen));
    }
    text.add(Paint::Plain, "  ! ");
    text.add(paint, &visible_line(&what));
    text.add(Paint::Plain, "\n");
}

fn edit(text: &mut Painted, edit: &EditOutcome, screen: Screen) {
    let safety = match (edit.is_applied, edit.safety) {
        (false, _) => "  (not made)",
        (true, crate::docs::fix::Safety::Safe) => "",
        (true, _) => "  (unsafe)",
    };
    text.add(Paint::Plain, &format!("  {}{safety}\n", edit.reason));
    before_and_after(text, &edit.patch, screen);
}

fn conversion(text: &mut Painted, change: &Change, screen: Screen) {
    let path = change.at.clone();
    let after = if change.to.is_null() {
        PatchOp::Remove { path }
    } else {
        PatchOp::Replace { path, value: change.to.clone() }
    };
    text.add(Paint::Plain, &format!("  {}\n", change.reason));
    let before = PatchOp::Test { path: change.at.clone(), value: change.from.clone() };
    before_and_after(text, &[before, after], screen);
}

fn before_and_after(text: &mut Painted, patch: &[PatchOp], screen: Screen) {
    let patch = serde_json::to_string(patch).unwrap_or_default();
    add_changes(text, &patch_lines("", &patch), screen);
}
