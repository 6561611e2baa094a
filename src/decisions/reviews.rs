//! The decisions that reviewers made on the page of `callsieve review`, as decisions of a run.
//!
//! They are in the run folder, a file for each reviewer. A decision on which reviewers disagree is left out. Whether a row still has
//! the content that was decided on is for the run to see, as with any decision that has `was`.

use std::collections::BTreeMap;
use std::path::Path;

use callsieve_review::store::{EXTENSION, Export, Reviews};
use serde_json::Value;

use super::{DecisionsError, columns, contradict, decision, disagree, possible};
use crate::engine::decision::{Decision, Decisions};
use crate::side_file;

/// The decisions of reviewers.
#[derive(Debug, Clone, Default)]
pub struct Reviewed {
    /// Those that a run applies. Each names the file and line of its first reviewer.
    pub decisions: Decisions,
    /// How many rows and doc lists reviewers decided differently.
    pub n_disagreements: usize,
    /// How many decisions a run cannot apply.
    pub n_unsupported: usize,
}

/// Reads the decisions of all reviewers in a folder; none if it does not exist.
///
/// # Errors
/// A file cannot be read or is damaged, or a decision has a wrong form.
pub fn read_reviews(folder: &Path) -> Result<Reviewed, DecisionsError> {
    let Export { lines, places, disagreements, unsupported, .. } = Reviews::read(folder)?.export(|_| true);
    let file_of = |reviewer: &str| folder.join(format!("{reviewer}.{EXTENSION}"));
    let mut reviewers: Vec<&str> = places.iter().map(|(reviewer, _)| reviewer.as_str()).collect();
    reviewers.sort_unstable();
    reviewers.dedup();
    let mut all: Vec<Decision> = Vec::new();
    let mut faults: BTreeMap<&str, Vec<(usize, String)>> = BTreeMap::new();
    for (line, (reviewer, seq)) in lines.into_iter().zip(&places) {
        let Value::Object(object) = line else { unreachable!("each line is an object") };
        let seq = usize::try_from(*seq).unwrap_or(usize::MAX);
        match decision(seq, object, None) {
            Ok(decision) => {
                let file = reviewers.iter().position(|known| known == reviewer).unwrap_or_default();
                all.push(Decision { file, ..decision });
            }
            Err(fault) => faults.entry(reviewer).or_default().push((seq, fault)),
        }
    }
    if let Some((reviewer, faults)) = faults.into_iter().next() {
        return Err(DecisionsError::Lines { path: file_of(reviewer), faults });
    }
    let decisions = Decisions {
        files: reviewers.iter().map(|reviewer| file_of(reviewer).display().to_string()).collect(),
        columns: Some(columns()),
        all,
        undecided: Vec::new(),
        advice: Some(possible::advice),
        contradict: Some(disagree),
    };
    Ok(Reviewed { decisions, n_disagreements: disagreements.len(), n_unsupported: unsupported.len() })
}

/// Adds the decisions of reviewers to those of files. One that a file has too counts once.
///
/// # Errors
/// A decision of a file contradicts one of a reviewer: all such are named.
pub fn with_reviews(files: &Decisions, reviews: Decisions) -> Result<Decisions, DecisionsError> {
    let mut by_id: BTreeMap<&str, Vec<&Decision>> = BTreeMap::new();
    for decision in &files.all {
        by_id.entry(&decision.id).or_default().push(decision);
    }
    let n_files = files.files.len();
    let (mut added, mut clashes) = (Vec::new(), Vec::new());
    for decision in reviews.all {
        let earlier = by_id.get(decision.id.as_str()).into_iter().flatten();
        match earlier.copied().find(|earlier| contradict(earlier, &decision)) {
            Some(earlier) if super::is_same(earlier, &decision) => {}
            Some(earlier) => {
                let place = files.name_of(earlier.file, earlier.line);
                let later = format!("{}:{}", reviews.files[decision.file], decision.line);
                clashes.push(format!("decisions {later}: {}", super::clash_with(&place, earlier, &decision)));
            }
            None => added.push(Decision { file: n_files + decision.file, ..decision }),
        }
    }
    if !clashes.is_empty() {
        return Err(DecisionsError::Contradictions { clashes });
    }
    let mut joined = files.clone();
    joined.files.extend(reviews.files);
    joined.columns = joined.columns.or(reviews.columns);
    joined.advice = joined.advice.or(reviews.advice);
    joined.contradict = joined.contradict.or(reviews.contradict);
    joined.all.extend(added);
    Ok(joined)
}

/// The keys of a line of an export.
const EXPORTED: [&str; 9] =
    ["id", "decision", "relevance", "ground_truth", "functions", "patch", "was", "by", "why"];

/// Whether a file holds exported decisions of reviewers only, so that another export may replace it; an empty file does.
pub fn is_review_export(path: &Path) -> bool {
    let Ok(text) = side_file::read_text(path) else { return false };
    text.lines().all(|line| {
        let object: Option<serde_json::Map<String, Value>> = serde_json::from_str(line).ok();
        object.is_some_and(|object| {
            let id = object.get("id").and_then(Value::as_str).unwrap_or_default();
            let is_named = id.starts_with("request:") || id.starts_with("list:");
            is_named && object.contains_key("by") && object.keys().all(|key| EXPORTED.contains(&key.as_str()))
        })
    })
}

#[cfg(test)]
mod tests {
    use callsieve_review::item::Table;
    use callsieve_review::store::{Draft, Store, Verdict};
    use serde_json::json;

    use super::*;
    use crate::engine::decision::DecisionKind;

    fn draft(id: char, decision: Verdict, value: Value) -> Draft {
        let id = id.to_string().repeat(32);
        Draft { value, ..Draft::new(id, Table::Requests, "0".repeat(64), decision) }
    }

    #[test]
    fn reviewers_are_folded_and_what_they_disagree_on_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut kim = Store::open(folder.path(), "kim").unwrap();
        let mut lee = Store::open(folder.path(), "lee").unwrap();
        let answer = json!([{"ring": {"times": [2]}}]);
        kim.decide(draft('a', Verdict::Drop, Value::Null), "t").unwrap();
        kim.decide(draft('b', Verdict::Drop, Value::Null), "t").unwrap();
        kim.decide(draft('b', Verdict::Answer, answer.clone()), "t").unwrap();
        kim.decide(draft('d', Verdict::Skip, Value::Null), "t").unwrap();
        lee.decide(draft('a', Verdict::Accept, Value::Null), "t").unwrap();
        lee.decide(draft('c', Verdict::Relabel, json!("irrelevant")), "t").unwrap();
        let Reviewed { decisions, n_disagreements, n_unsupported } = read_reviews(folder.path()).unwrap();
        assert_eq!((n_disagreements, n_unsupported), (1, 0));
        let found: Vec<_> =
            decisions.all.iter().map(|it| (it.kind, &it.body, decisions.name_of(it.file, it.line))).collect();
        let name = |file: &str| folder.path().join(file).display().to_string();
        assert_eq!(
            found,
            [
                (DecisionKind::Answer, &answer, name("kim.jsonl:3")),
                (DecisionKind::Relabel, &json!("irrelevant"), name("lee.jsonl:2"))
            ]
        );
        assert!(decisions.all.iter().all(|it| it.was.is_some() && it.id.starts_with("request:")));
    }

    #[test]
    fn a_file_that_contradicts_a_reviewer_is_refused_and_one_that_agrees_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut kim = Store::open(&folder.path().join("decisions"), "kim").unwrap();
        kim.decide(draft('a', Verdict::Drop, Value::Null), "t").unwrap();
        let reviews = read_reviews(&folder.path().join("decisions")).unwrap().decisions;
        let file = folder.path().join("d.jsonl");
        let joined = |decision: &str| {
            let line = json!({"id": reviews.all[0].id, "decision": decision, "was": "0".repeat(64)});
            std::fs::write(&file, line.to_string()).unwrap();
            with_reviews(&super::super::read(&file).unwrap(), reviews.clone())
        };
        assert_eq!(joined("drop").unwrap().all.len(), 1);
        let refused = joined("keep").unwrap_err().to_string();
        assert!(refused.contains("kim.jsonl:1: ") && refused.contains("d.jsonl:1 (keep)"), "{refused}");
    }

    #[test]
    fn only_an_export_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("d.jsonl");
        let is_export = |text: &str| {
            std::fs::write(&file, text).unwrap();
            is_review_export(&file)
        };
        assert!(is_export(""));
        assert!(is_export("{\"id\":\"request:aa\",\"decision\":\"drop\",\"by\":\"kim\"}\n"));
        assert!(!is_export("{\"id\":\"r1\",\"decision\":\"drop\",\"by\":\"kim\"}\n"), "a file of a person");
        assert!(!is_export("{\"messages\": []}\n") && !is_export("notes"));
    }
}
