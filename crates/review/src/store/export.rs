//! Decisions as lines of the program's decision files (docs/human-decisions.md).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Reviews;
use super::line::{Draft, Line, Verdict};
use crate::item::Table;

/// The labels that decision files know.
const LABELS: [&str; 2] = ["relevant", "irrelevant"];

/// Decisions for a decision file, and what is not among them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Export {
    /// The lines, sorted by what they decide on.
    pub lines: Vec<Value>,
    /// Where each of them was decided first: the reviewer, and the number of the line in his file.
    pub places: Vec<(String, u64)>,
    /// The ids of rows and doc lists with decisions that differ. They are left out.
    pub disagreements: Vec<String>,
    /// The ids of rows with decisions that decision files cannot express: edited queries and other labels. They are left out.
    pub unsupported: Vec<String>,
    /// Decisions on content that has changed since. They are left out.
    pub n_outdated: usize,
}

/// What a decision does: on which row or doc list, and the keys of its line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Effect {
    /// `request:ID` or `list:ID`.
    pub(super) target: String,
    was: String,
    keys: Map<String, Value>,
    is_supported: bool,
}

impl Effect {
    pub(super) fn of(line: &Line) -> Self {
        Self::new(line.table, &line.id, &line.was, (line.decision, &line.value))
    }

    fn new(table: Table, id: &str, was: &str, decision: (Verdict, &Value)) -> Self {
        let prefix = if table == Table::Requests { "request" } else { "list" };
        let (mut target, mut was) = (format!("{prefix}:{id}"), was.to_owned());
        let mut is_supported = true;
        let relabel = |label: &Value| json!({"decision": "relabel", "relevance": label});
        let keys = match decision {
            (Verdict::Accept, Value::Null) => json!({"decision": "keep"}),
            (Verdict::Relabel, label) | (Verdict::Accept, label @ Value::String(_)) => {
                is_supported = label.as_str().is_some_and(|label| LABELS.contains(&label));
                relabel(label)
            }
            (Verdict::Accept | Verdict::Answer, answer) => {
                json!({"decision": "answer", "ground_truth": answer})
            }
            (Verdict::EditDoc, value) => {
                if let (Some(id), Some(of_list)) =
                    (value["list"]["id"].as_str(), value["list"]["was"].as_str())
                {
                    (target, was) = (format!("list:{id}"), of_list.to_owned());
                }
                let key = if value.get("patch").is_some() { "patch" } else { "functions" };
                json!({"decision": "edit", key: value[key]})
            }
            (verdict, value) => {
                is_supported = verdict == Verdict::Drop;
                if is_supported {
                    json!({"decision": "drop"})
                } else {
                    json!({"decision": verdict, "value": value})
                }
            }
        };
        let Value::Object(keys) = keys else { unreachable!("each arm makes an object") };
        Self { target, was, keys, is_supported }
    }
}

impl Reviews {
    /// Returns the decisions in effect as lines of a decision file. `is_current` says whether a row still has the content that was decided
    /// on.
    pub fn export(&self, is_current: impl Fn(&Line) -> bool) -> Export {
        let mut export = Export::default();
        let mut by_target: BTreeMap<String, Vec<(Effect, &Line)>> = BTreeMap::new();
        let lines = self.by_reviewer.values().flat_map(super::History::iter);
        for line in lines.filter(|line| line.decision != Verdict::Skip) {
            if is_current(line) {
                let effect = Effect::of(line);
                by_target.entry(effect.target.clone()).or_default().push((effect, line));
            } else {
                export.n_outdated += 1;
            }
        }
        for (target, effects) in by_target {
            let [(first, _), rest @ ..] = effects.as_slice() else { continue };
            if rest.iter().any(|(effect, _)| effect != first) {
                export.disagreements.push(target);
            } else if first.is_supported {
                export.lines.push(line_of(first, &effects));
                let (_, line) = &effects[0];
                export.places.push((line.reviewer.clone(), line.seq));
            } else {
                export.unsupported.push(target);
            }
        }
        export
    }
}

/// What the decisions in effect do, and who made them.
#[derive(Debug, Clone, Default)]
pub struct Made {
    by_target: BTreeMap<String, Vec<(Effect, String)>>,
}

impl Made {
    /// Whether a reviewer decided on this request or doc list.
    pub fn has(&self, table: Table, id: &str) -> bool {
        let effect = Effect::new(table, id, "", (Verdict::Drop, &Value::Null));
        self.by_target.contains_key(&effect.target)
    }

    /// Returns a reviewer whose decision does the same as this one of `reviewer`; `None` if his own is another, which this one replaces.
    pub fn by(&self, draft: &Draft, reviewer: &str) -> Option<&str> {
        let effect = Effect::new(draft.table, &draft.id, &draft.was, (draft.decision, &draft.value));
        let made = self.by_target.get(&effect.target)?;
        let is_replaced = made.iter().any(|(other, by)| by == reviewer && *other != effect);
        let mut equal = made.iter().filter(|(other, _)| *other == effect && !is_replaced);
        equal.next().map(|(_, reviewer)| reviewer.as_str())
    }
}

impl Reviews {
    /// Returns what the decisions in effect do; skipped rows are not among them.
    pub fn made(&self) -> Made {
        let mut made = Made::default();
        for line in self.by_reviewer.values().flat_map(super::History::iter) {
            if line.decision != Verdict::Skip {
                let effect = Effect::of(line);
                let of_target = made.by_target.entry(effect.target.clone()).or_default();
                of_target.push((effect, line.reviewer.clone()));
            }
        }
        made
    }
}

/// Returns the line for a decision on which all reviewers agree.
fn line_of(effect: &Effect, effects: &[(Effect, &Line)]) -> Value {
    let mut line = json!({"id": effect.target});
    for (key, value) in &effect.keys {
        line[key] = value.clone();
    }
    if !effect.was.is_empty() {
        line["was"] = json!(effect.was);
    }
    let mut by: Vec<&str> = effects.iter().map(|(_, line)| line.reviewer.as_str()).collect();
    let mut why: Vec<&str> =
        effects.iter().filter_map(|(_, line)| line.why.as_deref()).filter(|why| !why.is_empty()).collect();
    by.dedup();
    why.dedup();
    line["by"] = json!(by.join(", "));
    if !why.is_empty() {
        line["why"] = json!(why.join("; "));
    }
    line
}
