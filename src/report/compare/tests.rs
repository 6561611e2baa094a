//! Two small runs side by side.

use serde_json::{Value, json};

use super::figures::funnel;
use super::setup::{Difference, InputDifference, inputs, settings};
use crate::engine::manifest::{InputFile, RunFile};
use crate::report::finished::{Figures, Finished};
use crate::report::funnel::FunnelRow;
use crate::report::model::Merges;

fn finished(pipeline: Value, steps: &[(&str, u64)], inputs: &[(&str, &str)]) -> Finished {
    let input =
        |&(path, sha256): &(&str, &str)| InputFile { path: path.into(), sha256: sha256.into(), bytes: 1 };
    let row = |&(step, requests): &(&str, u64)| FunnelRow {
        bfcl: None,
        step: step.into(),
        description: String::new(),
        doc_lists: 1,
        requests,
        percent: 0.0,
    };
    Finished {
        file: RunFile {
            format: 2,
            version: "1".into(),
            pipeline,
            seed: 1,
            inputs: inputs.iter().map(input).collect(),
            baselines: Vec::new(),
            steps: Vec::new(),
            command: Vec::new(),
            reviewed: 0,
        },
        funnel: steps.iter().map(row).collect(),
        stages: Vec::new(),
        merges: Merges::default(),
        figures: Figures::default(),
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
            (step.step.as_str(), step.before.map(|left| left.requests), step.after.map(|left| left.requests))
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
