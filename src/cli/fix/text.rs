//! What became of a doc list, for people: how it was read, each change before and after, what is wrong.

use serde_json::Value;

use super::outcome::{Outcome, Told, Wrong};
use crate::cli::diff::changes;
use crate::console::{Paint, Painted};
use crate::text::visible::visible_line;

/// One list as text.
pub(super) fn told(outcome: &Outcome) -> Painted {
    let mut text = Painted::default();
    heading(&mut text, outcome);
    outcome.faults.iter().for_each(|fault| wrong(&mut text, fault));
    outcome.edits.iter().for_each(|told| edit(&mut text, told));
    text.add(Paint::Plain, "\n");
    text
}

fn heading(text: &mut Painted, outcome: &Outcome) {
    let id = outcome.id.as_str().map_or_else(|| outcome.id.to_string(), str::to_owned);
    let state = match &outcome.functions {
        None => "not read".to_owned(),
        Some(functions) => {
            let plural = if functions.len() == 1 { "" } else { "s" };
            let edits = outcome.edits.iter().filter(|edit| edit.is_applied).count();
            let changed = if edits == 0 { "nothing to change".to_owned() } else { format!("{edits} edits") };
            format!("{} function{plural}, read by {}, {changed}", functions.len(), outcome.steps.join(", "))
        }
    };
    text.add(Paint::Bold, &visible_line(&id));
    text.add(Paint::Plain, &format!("  {state}\n"));
}

fn wrong(text: &mut Painted, fault: &Wrong) {
    let at = match &fault.at {
        Value::Null => String::new(),
        Value::String(pointer) => format!(" at {pointer}"),
        byte => format!(" at byte {byte}"),
    };
    let what = format!("{}{at}: {}", fault.reason, fault.message);
    text.add(Paint::Plain, "  ! ");
    text.add(if fault.is_blocking { Paint::Red } else { Paint::Plain }, &visible_line(&what));
    text.add(Paint::Plain, "\n");
}

fn edit(text: &mut Painted, edit: &Told) {
    let safety = match (edit.is_applied, edit.safety) {
        (false, _) => "  (not made)",
        (true, crate::docs::fix::Safety::Safe) => "",
        (true, _) => "  (unsafe)",
    };
    let patch = serde_json::to_string(&edit.patch).unwrap_or_default();
    text.add(Paint::Plain, &format!("  {}{safety}\n", edit.reason));
    for line in changes("", &patch).lines() {
        let paint = match line.trim_start().as_bytes().first() {
            Some(b'-') => Paint::Red,
            Some(b'+') => Paint::Green,
            _ => Paint::Plain,
        };
        text.add(paint, line);
        text.add(Paint::Plain, "\n");
    }
}
