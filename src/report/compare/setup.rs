//! The settings and inputs of two runs: settings by key, inputs by their bytes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::manifest::InputFile;
use crate::report::finished::Finished;

/// A setting that differs.
#[derive(Debug, PartialEq, Serialize)]
pub struct Difference {
    /// `stage.key`, `ingest.key`, `seed`, …; `reviewed` counts decisions of reviewers in the run folder.
    pub key: String,
    /// Its value in the first run; null if it has none.
    pub before: Value,
    /// Its value in the second run.
    pub after: Value,
}

/// A file that differs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct InputDifference {
    /// Its path in the run that has it; in the second run if both have it.
    pub path: String,
    /// `input` or `baseline`.
    pub role: &'static str,
    /// Its hash in the first run.
    pub before: Option<String>,
    /// Its hash in the second run.
    pub after: Option<String>,
}

pub(super) fn settings(before: &Finished, after: &Finished) -> Vec<Difference> {
    let (old, new) = (flat_pipeline(before), flat_pipeline(after));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value = |of: &BTreeMap<String, Value>, key: &String| of.get(key).cloned().unwrap_or_default();
    keys.into_iter()
        .map(|key| Difference { key: key.clone(), before: value(&old, key), after: value(&new, key) })
        .filter(|difference| difference.before != difference.after)
        .collect()
}

/// Returns a pipeline as keys and values: `stage.key`, and the order of stages as `stages`. Inputs are compared by
/// content.
fn flat_pipeline(run: &Finished) -> BTreeMap<String, Value> {
    let mut flat = BTreeMap::from([("version".to_owned(), json!(run.file.version))]);
    for (key, value) in run.file.pipeline.as_object().into_iter().flatten() {
        if key != "stages" {
            flatten(key, value, &mut flat);
        }
    }
    flat.remove("ingest.inputs");
    flat.insert("reviewed".to_owned(), json!(run.file.reviewed));
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

pub(super) fn inputs(before: &Finished, after: &Finished) -> Vec<InputDifference> {
    let mut differences = differing("input", &before.file.inputs, &after.file.inputs);
    differences.extend(differing("baseline", &before.file.baselines, &after.file.baselines));
    differences
}

/// Lists the files whose bytes differ; the same bytes under another name are the same file.
fn differing(role: &'static str, before: &[InputFile], after: &[InputFile]) -> Vec<InputDifference> {
    let mut differences: BTreeMap<&str, InputDifference> = BTreeMap::new();
    for (own, others, is_after) in [(before, after, false), (after, before, true)] {
        let there: BTreeSet<&str> = others.iter().map(|other| other.sha256.as_str()).collect();
        for file in own.iter().filter(|file| !there.contains(file.sha256.as_str())) {
            let new = InputDifference { path: file.path.clone(), role, before: None, after: None };
            let difference = differences.entry(&file.path).or_insert(new);
            let hash = if is_after { &mut difference.after } else { &mut difference.before };
            *hash = Some(file.sha256.clone());
        }
    }
    differences.into_values().collect()
}
