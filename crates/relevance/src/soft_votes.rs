//! Soft votes: labels that a language model names in answers that are otherwise unusable, and how often they are right.
//!
//! A small model often names a criterion without a quote from the texts, or with another verdict. How far such an answer can be
//! trusted depends on the model, so it counts only for labels that were measured: `callsieve calibrate --agreement` counts the soft votes of a
//! run on labelled requests, in two folds of the doc lists. A label decides if it is right often enough in both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Relevance;
use callsieve_system::side_file;
use callsieve_text::os_error::cause_of;

/// The share of a label's soft votes that must be right in each fold.
pub const PRECISION: f64 = 0.95;

/// The fewest soft votes of a label in each fold: of 20 votes, 19 right ones are 95 %.
pub const FEWEST: u64 = 20;

/// The version of the file.
const VERSION: u32 = 1;

/// What was measured of the soft votes of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftVotes {
    version: u32,
    /// The name of the model.
    pub model: String,
    /// The data it was measured on.
    pub measured_on: String,
    /// By label: `relevant`, `irrelevant`, `low-quality`.
    #[serde(default)]
    pub labels: BTreeMap<String, SoftLabel>,
}

/// The soft votes for a label, in each of two folds of the doc lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftLabel {
    /// Votes on labelled requests.
    pub votes: [u64; 2],
    /// Votes that are as the requests are labelled.
    pub right: [u64; 2],
}

impl SoftLabel {
    /// Counts a vote.
    pub fn add(&mut self, is_second_fold: bool, is_right: bool) {
        let fold = usize::from(is_second_fold);
        self.votes[fold] += 1;
        self.right[fold] += u64::from(is_right);
    }

    /// Returns `true` if both folds have enough votes, and enough of them are right.
    #[allow(clippy::cast_precision_loss)] // Counts of votes.
    pub fn decides(&self) -> bool {
        let is_enough =
            |(votes, right): (u64, u64)| votes >= FEWEST && right as f64 >= PRECISION * votes as f64;
        self.votes.into_iter().zip(self.right).all(is_enough)
    }
}

/// Why a file of soft votes cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct SoftVotesError {
    path: PathBuf,
    what: String,
}

impl SoftVotes {
    /// Returns what was measured of a model.
    pub fn new(model: String, measured_on: String, labels: BTreeMap<String, SoftLabel>) -> Self {
        Self { version: VERSION, model, measured_on, labels }
    }

    /// Returns `true` if soft votes for a label count.
    pub fn decide(&self, label: &str) -> bool {
        self.labels.get(label).is_some_and(SoftLabel::decides)
    }

    /// Reads the file of a model.
    ///
    /// # Errors
    /// The file cannot be read, is not valid, or is about another model.
    pub fn read(path: &Path, model: &str) -> Result<Self, SoftVotesError> {
        let failed = |what: String| SoftVotesError { path: path.to_owned(), what };
        let text = side_file::read_text(path).map_err(|error| failed(cause_of(&error)))?;
        let measured: Self =
            toml::from_str(&text).map_err(|error| failed(error.to_string().trim_end().to_owned()))?;
        measured.check(model).map_err(failed)?;
        Ok(measured)
    }

    fn check(&self, model: &str) -> Result<(), String> {
        const HINT: &str = "hint: `callsieve calibrate --run RUN --labels FILE --agreement --soft-votes FILE` measures a model";
        if self.version != VERSION {
            return Err(format!("version is {}, expected {VERSION}\n{HINT}", self.version));
        }
        if self.model != model {
            return Err(format!("it is about the model {:?}, expected {model:?}\n{HINT}", self.model));
        }
        for (label, counts) in &self.labels {
            if Relevance::from_name(label).is_none() {
                let known: Vec<&str> = Relevance::ALL.iter().map(|label| label.name()).collect();
                return Err(format!("unknown label {label:?}, expected one of {}", known.join(", ")));
            }
            if counts.right.iter().zip(counts.votes).any(|(right, votes)| *right > votes) {
                return Err(format!("more right votes than votes for the label {label:?}"));
            }
        }
        Ok(())
    }

    /// Returns the text of the file.
    #[allow(clippy::missing_panics_doc)] // Texts and numbers are TOML.
    pub fn to_toml(&self) -> String {
        format!(
            "# Soft votes of a language model on labelled requests, in two folds of the doc lists; written by `callsieve calibrate`.\n\
             # judge-queries.soft_votes counts the votes for labels with at least {FEWEST} votes and {:.0} % of them right in both folds.\n\n{}",
            PRECISION * 100.0,
            toml::to_string(self).expect("texts and numbers are TOML")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(votes: [u64; 2], right: [u64; 2]) -> SoftLabel {
        SoftLabel { votes, right }
    }

    #[test]
    fn a_label_decides_if_it_is_right_often_enough_in_both_folds() {
        for (votes, right, expected) in [
            ([20, 20], [19, 20], true),
            ([20, 20], [18, 20], false),
            ([20, 20], [20, 18], false),
            ([19, 200], [19, 200], false),
            ([100, 100], [95, 95], true),
            ([0, 0], [0, 0], false),
        ] {
            assert_eq!(label(votes, right).decides(), expected, "{votes:?} {right:?}");
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let labels = BTreeMap::from([("relevant".to_owned(), label([20, 30], [20, 29]))]);
        let written = SoftVotes::new("m".to_owned(), "labels.jsonl: 50 requests".to_owned(), labels);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("soft.toml");
        std::fs::write(&path, written.to_toml()).unwrap();
        let read = SoftVotes::read(&path, "m").unwrap();
        assert_eq!(read, written);
        assert!(read.decide("relevant") && !read.decide("irrelevant"));
        for (text, model, expected) in [
            (written.to_toml(), "other", "about the model \"m\", expected \"other\""),
            (written.to_toml().replace("version = 1", "version = 9"), "m", "version is 9, expected 1"),
            (written.to_toml().replace("labels.relevant", "labels.good"), "m", "unknown label \"good\""),
            (written.to_toml().replace("[20, 29]", "[20, 31]"), "m", "more right votes than votes"),
            (written.to_toml() + "\nother = 1", "m", "unknown field"),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = SoftVotes::read(&path, model).unwrap_err().to_string();
            assert!(error.contains(expected) && error.starts_with(&path.display().to_string()), "{error}");
        }
    }
}
