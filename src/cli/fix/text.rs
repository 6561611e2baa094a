//! What became of a doc list, for people: how it was read, each change before and after, what is wrong.

use serde_json::Value;

use super::outcome::{Outcome, Told, Wrong};
use crate::cli::diff::changes;
use crate::console;

/// One list as text.
pub(super) fn told(outcome: &Outcome) -> String {
    let mut text = heading(outcome);
    text += &outcome.faults.iter().map(wrong).collect::<String>();
    text += &outcome.edits.iter().map(edit).collect::<String>();
    text + "\n"
}

fn heading(outcome: &Outcome) -> String {
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
    format!("{}  {state}\n", console::painted(console::Paint::Bold, &id))
}

fn wrong(fault: &Wrong) -> String {
    let at = match &fault.at {
        Value::Null => String::new(),
        Value::String(pointer) => format!(" at {pointer}"),
        byte => format!(" at byte {byte}"),
    };
    let what = format!("{}{at}: {}", fault.reason, fault.message);
    let paint = if fault.is_blocking { console::Paint::Red } else { console::Paint::Plain };
    format!("  ! {}\n", console::painted(paint, &what))
}

fn edit(edit: &Told) -> String {
    let safety = match (edit.is_applied, edit.safety) {
        (false, _) => "  (not made)",
        (true, crate::docs::fix::Safety::Safe) => "",
        (true, _) => "  (unsafe)",
    };
    let patch = serde_json::to_string(&edit.patch).unwrap_or_default();
    let lines: String = changes("", &patch).lines().map(|line| painted(line) + "\n").collect();
    format!("  {}{safety}\n{lines}", edit.reason)
}

fn painted(line: &str) -> String {
    let paint = match line.trim_start().as_bytes().first() {
        Some(b'-') => console::Paint::Red,
        Some(b'+') => console::Paint::Green,
        _ => console::Paint::Plain,
    };
    console::painted(paint, line)
}
