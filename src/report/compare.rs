//! What differs between two finished runs, and why: settings, inputs, figures, rows, entries.
//!
//! Requests are matched by their id, which is a hash of the record, so the same record is
//! the same request in both whatever file it stood in. Entries are matched by the request
//! they were made of, so that another number in an id is told apart from another
//! question. Printing is a matter of `cli`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use super::finished::{EntryFacts, FateWords, Fates, Finished, Standing};
use crate::engine::folder::InputFile;

/// Everything that differs between two runs.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Settings that differ, in the pipelines as they ran.
    pub settings: Vec<Difference>,
    /// Inputs and baselines that differ by their bytes.
    pub inputs: Vec<InputDifference>,
    /// What was left after each step, in both.
    pub funnel: Vec<Step>,
    /// Fates and edits whose number differs, by stage and reason.
    pub reasons: Vec<ReasonCount>,
    /// Requests by what became of them.
    pub requests: Requests,
    /// Entries of the datasets.
    pub entries: Entries,
    /// Entries by set and category, in both.
    pub categories: Vec<CategoryCount>,
}

/// A setting that differs.
#[derive(Debug, PartialEq, Serialize)]
pub struct Difference {
    /// `stage.key`, `ingest.key`, `seed`, ….
    pub key: String,
    /// Its value in the first run; null where it has none.
    pub before: Value,
    /// Its value in the second run.
    pub after: Value,
}

/// A file that differs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct InputDifference {
    /// Its path as the run that has it, or the second of both, named it.
    pub path: String,
    /// `input` or `baseline`.
    pub role: &'static str,
    /// Its hash in the first run.
    pub before: Option<String>,
    /// Its hash in the second run.
    pub after: Option<String>,
}

/// One step of the funnel; `None` where a run has no such step.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The step.
    pub step: String,
    /// Doc lists and requests left in the first run.
    pub before: Option<Left>,
    /// And in the second.
    pub after: Option<Left>,
}

/// What was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Doc lists.
    pub doc_lists: u64,
    /// Requests.
    pub requests: u64,
}

/// How often a stage named a reason.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ReasonCount {
    /// The stage's id.
    pub stage: String,
    /// `requests`, `doc_lists`, or nothing for an edit.
    pub table: &'static str,
    /// `drop`, `merge`, `hold`, `edit` or `suggest`.
    pub action: &'static str,
    /// The reason's code.
    pub reason: String,
    /// Rows in the first run, those that followed from others included.
    pub before: u64,
    /// And in the second.
    pub after: u64,
}

/// What became of the requests.
#[derive(Debug, Default, Serialize)]
pub struct Requests {
    /// They met the same fate for the same reason.
    pub same: u64,
    /// Of these: merged into another request than before.
    pub other_leader: u64,
    /// The others: first those that both runs have, of each the most frequent first.
    pub moves: Vec<Move>,
}

/// Requests that met one fate in the first run and another in the second.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// In the first run.
    pub before: FateWords,
    /// In the second.
    pub after: FateWords,
    /// How many.
    pub rows: u64,
    /// The ids of some, or of all, ascending.
    pub ids: Vec<String>,
}

/// What became of the entries.
#[derive(Debug, Default, Serialize)]
pub struct Entries {
    /// In both, with the same content.
    pub same: u64,
    /// Of these: under another id.
    pub renumbered: u64,
    /// In both, but something in them differs.
    pub changed: Vec<ChangedEntry>,
    /// Ids of those that only the second dataset has.
    pub new: Vec<String>,
    /// Ids of those that only the first dataset has.
    pub gone: Vec<String>,
}

/// An entry whose content differs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ChangedEntry {
    /// Its id in the first dataset.
    pub before: String,
    /// Its id in the second.
    pub after: String,
    /// What differs: `question`, `docs`, `answer`, `category`, `set`.
    pub what: Vec<&'static str>,
}

/// Entries of one set and category.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct CategoryCount {
    /// `scored` or `unverified`.
    pub set: String,
    /// The category.
    pub category: String,
    /// Entries in the first dataset.
    pub before: u64,
    /// And in the second.
    pub after: u64,
}

impl Comparison {
    /// Compares two runs; of each kind of move at most `max_ids` ids are told.
    pub fn new(before: &Finished, after: &Finished, fates: &mut Fates, max_ids: usize) -> Self {
        Self {
            settings: settings(before, after),
            inputs: inputs(before, after),
            funnel: funnel(before, after),
            reasons: reasons(before, after),
            requests: requests(before, after, fates, max_ids),
            entries: entries(before, after),
            categories: categories(before, after),
        }
    }

    /// Anything differs.
    pub fn differs(&self) -> bool {
        let entries = &self.entries;
        !self.settings.is_empty()
            || !self.inputs.is_empty()
            || self.funnel.iter().any(|step| step.before != step.after)
            || !self.reasons.is_empty()
            || self.requests.other_leader > 0
            || !self.requests.moves.is_empty()
            || entries.renumbered > 0
            || !(entries.changed.is_empty() && entries.new.is_empty() && entries.gone.is_empty())
    }
}

fn settings(before: &Finished, after: &Finished) -> Vec<Difference> {
    let (old, new) = (flat_pipeline(before), flat_pipeline(after));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value = |of: &BTreeMap<String, Value>, key: &String| of.get(key).cloned().unwrap_or_default();
    keys.into_iter()
        .map(|key| Difference { key: key.clone(), before: value(&old, key), after: value(&new, key) })
        .filter(|difference| difference.before != difference.after)
        .collect()
}

/// A pipeline as keys and values: `stage.key`, and the order of stages as `stages`. Inputs are compared by content.
fn flat_pipeline(run: &Finished) -> BTreeMap<String, Value> {
    let mut flat = BTreeMap::from([("version".to_owned(), json!(run.file.version))]);
    for (key, value) in run.file.pipeline.as_object().into_iter().flatten() {
        if key != "stages" {
            flatten(key, value, &mut flat);
        }
    }
    flat.remove("ingest.inputs");
    let stages = run.file.pipeline["stages"].as_array().map(Vec::as_slice).unwrap_or_default();
    for stage in stages {
        let id = stage["id"].as_str().unwrap_or_default();
        flat.insert(format!("{id}.kind"), stage["kind"].clone());
        flatten(id, &stage["settings"], &mut flat);
    }
    flat.insert("stages".to_owned(), stages.iter().map(|stage| stage["id"].clone()).collect());
    flat
}

fn flatten(key: &str, value: &Value, into: &mut BTreeMap<String, Value>) {
    match value.as_object() {
        Some(members) => {
            members.iter().for_each(|(name, member)| flatten(&format!("{key}.{name}"), member, into));
        }
        None => {
            into.insert(key.to_owned(), value.clone());
        }
    }
}

fn inputs(before: &Finished, after: &Finished) -> Vec<InputDifference> {
    let mut differences = differing("input", &before.file.inputs, &after.file.inputs);
    differences.extend(differing("baseline", &before.file.baselines, &after.file.baselines));
    differences
}

/// Files of other bytes; the same bytes under another name are the same file.
fn differing(role: &'static str, before: &[InputFile], after: &[InputFile]) -> Vec<InputDifference> {
    let lacks = |files: &[InputFile], file: &InputFile| files.iter().all(|other| other.sha256 != file.sha256);
    let mut differences: BTreeMap<&str, InputDifference> = BTreeMap::new();
    for (own, others, is_after) in [(before, after, false), (after, before, true)] {
        for file in own.iter().filter(|file| lacks(others, file)) {
            let new = InputDifference { path: file.path.clone(), role, before: None, after: None };
            let difference = differences.entry(&file.path).or_insert(new);
            let hash = if is_after { &mut difference.after } else { &mut difference.before };
            *hash = Some(file.sha256.clone());
        }
    }
    differences.into_values().collect()
}

/// The steps of both, in order: one that only the first run has stands after the step it followed there.
fn funnel(before: &Finished, after: &Finished) -> Vec<Step> {
    let left = |run: &Finished, step: &str| {
        let row = run.funnel.iter().find(|row| row.step == step)?;
        Some(Left { doc_lists: row.doc_lists, requests: row.requests })
    };
    let mut steps: Vec<&str> = after.funnel.iter().map(|row| row.step.as_str()).collect();
    let mut place = 0;
    for row in &before.funnel {
        if let Some(at) = steps.iter().position(|step| *step == row.step) {
            place = at + 1;
        } else {
            steps.insert(place, &row.step);
            place += 1;
        }
    }
    steps
        .into_iter()
        .map(|step| Step { step: step.to_owned(), before: left(before, step), after: left(after, step) })
        .collect()
}

fn reasons(before: &Finished, after: &Finished) -> Vec<ReasonCount> {
    type Key = (usize, String, &'static str, &'static str, String);
    let mut order: Vec<&str> = after.stages.iter().map(|stage| stage.id.as_str()).collect();
    let only_before = before.stages.iter().map(|stage| stage.id.as_str());
    let only_before: Vec<&str> = only_before.filter(|id| !order.contains(id)).collect();
    order.extend(only_before);
    let mut counts: BTreeMap<Key, [u64; 2]> = BTreeMap::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        for stage in &run.stages {
            let place = order.iter().position(|id| *id == stage.id).unwrap_or(order.len());
            let mut add = |table, action, reason: &str, rows: u64| {
                let key = (place, stage.id.clone(), table, action, reason.to_owned());
                counts.entry(key).or_default()[side] += rows;
            };
            for fate in &stage.fates {
                add(fate.table.name(), fate.action.name(), &fate.reason, fate.rows);
            }
            stage.edits.iter().for_each(|(reason, edits)| add("", "edit", reason, *edits));
            stage.suggestions.iter().for_each(|(reason, shown)| add("", "suggest", reason, *shown));
        }
    }
    let differing = counts.into_iter().filter(|(_, [before, after])| before != after);
    differing
        .map(|((_, stage, table, action, reason), [before, after])| ReasonCount {
            stage,
            table,
            action,
            reason,
            before,
            after,
        })
        .collect()
}

fn requests(before: &Finished, after: &Finished, fates: &mut Fates, max_ids: usize) -> Requests {
    let absent = fates.number(FateWords::absent());
    let mut requests = Requests::default();
    let mut moves: BTreeMap<(usize, usize), (u64, Vec<u128>)> = BTreeMap::new();
    let (mut old, mut new) = (before.requests.iter().peekable(), after.requests.iter().peekable());
    loop {
        let (from, to) = match (old.peek(), new.peek()) {
            (None, None) => break,
            (Some((one, _)), Some((other, _))) if one == other => (old.next(), new.next()),
            (Some((one, _)), Some((other, _))) if one > other => (None, new.next()),
            (None, Some(_)) => (None, new.next()),
            (Some(_), _) => (old.next(), None),
        };
        let Some(&(id, _)) = from.or(to) else { break };
        let number = |side: Option<&(u128, Standing)>| side.map_or(absent, |(_, at)| at.fate);
        let key = (number(from), number(to));
        if key.0 == key.1 {
            requests.same += 1;
            let leader = |side: Option<&(u128, Standing)>| side.and_then(|(_, at)| at.into);
            requests.other_leader += u64::from(leader(from) != leader(to));
        } else {
            let (rows, ids) = moves.entry(key).or_default();
            *rows += 1;
            if ids.len() < max_ids {
                ids.push(id);
            }
        }
    }
    requests.moves = moves
        .into_iter()
        .map(|((from, to), (rows, ids))| Move {
            before: fates.words(from).clone(),
            after: fates.words(to).clone(),
            rows,
            ids: ids.into_iter().map(|id| format!("{id:032x}")).collect(),
        })
        .collect();
    // What became of requests that both have says more than what came in or went out with the inputs.
    let is_of_one = |found: &Move| found.before.is_absent() || found.after.is_absent();
    requests.moves.sort_by(|one, other| {
        let words = |found: &Move| (found.before.clone(), found.after.clone());
        (is_of_one(one), other.rows, words(one)).cmp(&(is_of_one(other), one.rows, words(other)))
    });
    requests
}

fn entries(before: &Finished, after: &Finished) -> Entries {
    let mut entries = Entries::default();
    let keys: BTreeSet<u128> = before.entries.keys().chain(after.entries.keys()).copied().collect();
    for key in keys {
        match (before.entries.get(&key), after.entries.get(&key)) {
            (Some(old), Some(new)) => {
                let what = what_differs(old, new);
                if what.is_empty() {
                    entries.same += 1;
                    entries.renumbered += u64::from(old.id != new.id);
                } else {
                    entries.changed.push(ChangedEntry {
                        before: old.id.clone(),
                        after: new.id.clone(),
                        what,
                    });
                }
            }
            (Some(old), None) => entries.gone.push(old.id.clone()),
            (None, Some(new)) => entries.new.push(new.id.clone()),
            (None, None) => {}
        }
    }
    entries.changed.sort_by(|one, other| place(&one.after).cmp(&place(&other.after)));
    entries.new.sort_by(|one, other| place(one).cmp(&place(other)));
    entries.gone.sort_by(|one, other| place(one).cmp(&place(other)));
    entries
}

/// Where an id stands among others: by category, then by the entry's number.
fn place(id: &str) -> (&str, u64, &str) {
    let (category, index) = id.rsplit_once('_').unwrap_or((id, ""));
    (category, index.split('-').next().and_then(|entry| entry.parse().ok()).unwrap_or(0), index)
}

fn what_differs(old: &EntryFacts, new: &EntryFacts) -> Vec<&'static str> {
    let parts = [
        ("question", old.question != new.question),
        ("docs", old.docs != new.docs),
        ("answer", old.answer != new.answer),
        ("category", old.category != new.category),
        ("set", old.set != new.set),
    ];
    parts.into_iter().filter_map(|(part, differs)| differs.then_some(part)).collect()
}

fn categories(before: &Finished, after: &Finished) -> Vec<CategoryCount> {
    let mut counts: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        // Sums over a sorted map: the order of reading reaches nothing.
        #[allow(clippy::iter_over_hash_type)]
        for entry in run.entries.values() {
            counts.entry((entry.set, &entry.category)).or_default()[side] += 1;
        }
    }
    let count = |((set, category), [before, after]): ((&str, &str), [u64; 2])| CategoryCount {
        set: set.to_owned(),
        category: category.to_owned(),
        before,
        after,
    };
    counts.into_iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::folder::RunFile;
    use crate::report::funnel::FunnelRow;

    fn finished(pipeline: Value, steps: &[(&str, u64)], inputs: &[(&str, &str)]) -> Finished {
        let input =
            |&(path, sha256): &(&str, &str)| InputFile { path: path.into(), sha256: sha256.into(), bytes: 1 };
        let row = |&(step, requests): &(&str, u64)| FunnelRow {
            bfcl: None,
            step: step.into(),
            what: String::new(),
            doc_lists: 1,
            requests,
            percent: 0.0,
        };
        Finished {
            file: RunFile {
                version: "1".into(),
                pipeline,
                seed: 1,
                inputs: inputs.iter().map(input).collect(),
                baselines: Vec::new(),
                steps: Vec::new(),
                command: Vec::new(),
            },
            funnel: steps.iter().map(row).collect(),
            stages: Vec::new(),
            requests: Vec::new(),
            entries: rustc_hash::FxHashMap::default(),
        }
    }

    #[test]
    fn a_step_of_one_run_stands_where_it_stood_there() {
        let before = finished(json!({}), &[("a", 9), ("old", 8), ("b", 7), ("end", 6)], &[]);
        let after = finished(json!({}), &[("a", 9), ("b", 7), ("new", 5), ("end", 5)], &[]);
        let steps = funnel(&before, &after);
        let shown: Vec<(&str, Option<u64>, Option<u64>)> = steps
            .iter()
            .map(|step| {
                (
                    step.step.as_str(),
                    step.before.map(|left| left.requests),
                    step.after.map(|left| left.requests),
                )
            })
            .collect();
        let expected = [
            ("a", Some(9), Some(9)),
            ("old", Some(8), None),
            ("b", Some(7), Some(7)),
            ("new", None, Some(5)),
            ("end", Some(6), Some(5)),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn settings_differ_by_their_key_and_files_by_their_bytes() {
        let pipeline = |threshold: f64| json!({"seed": 1, "ingest": {"inputs": ["x"], "columns": {"query": ["q"]}}, "stages": [{"id": "m", "kind": "k", "settings": {"threshold": threshold}}]});
        let before = finished(pipeline(0.8), &[], &[("a.jsonl", "1"), ("b.jsonl", "2"), ("c.jsonl", "3")]);
        let after = finished(pipeline(0.7), &[], &[("moved/a.jsonl", "1"), ("b.jsonl", "9")]);
        let key = "m.threshold".to_owned();
        assert_eq!(settings(&before, &after), [Difference { key, before: json!(0.8), after: json!(0.7) }]);
        let file = |path: &str, before: Option<&str>, after: Option<&str>| InputDifference {
            path: path.into(),
            role: "input",
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        assert_eq!(
            inputs(&before, &after),
            [file("b.jsonl", Some("2"), Some("9")), file("c.jsonl", Some("3"), None)]
        );
    }
}
