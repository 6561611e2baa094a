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
    let Export { lines, places, disagreements, unsupported, .. } =
        Reviews::read(folder)?.export(|_| true);
    let file_of = |reviewer: &str| folder.join(format!("{reviewer}.{EXTENSION}"));
    let mut reviewers: Vec<&str> = places.iter().map(|(reviewer, _)| reviewer.as_str()).collect();
    reviewers.sort_unstable();
    reviewers.dedup();
    let (mut all, mut faults): (Vec<Decision>, BTreeMap<&str, Vec<(usize, String)>>) = Default::default();
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
