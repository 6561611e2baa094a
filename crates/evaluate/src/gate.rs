//! Gates of an evaluation: which systems are not good enough.

use std::fmt;

use crate::Evaluation;
use crate::dataset::Dataset;

/// Why a system is not good enough.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FailedGate {
    /// The share of correct outputs is too small.
    Accuracy {
        /// The system.
        system: String,
        /// Its share, from 0 to 1.
        accuracy: f64,
        /// The least that is accepted.
        least: f64,
    },
    /// It has no outputs of some categories.
    NoOutputs {
        /// The system.
        system: String,
        /// The categories.
        categories: Vec<String>,
    },
}

impl fmt::Display for FailedGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accuracy { system, accuracy, least } => {
                write!(f, "{system}: accuracy {accuracy:.4}, expected at least {least}")
            }
            Self::NoOutputs { system, categories } => {
                write!(f, "{system}: no outputs of {}; --partial skips them", categories.join(", "))
            }
        }
    }
}

impl Evaluation<'_> {
    /// Returns the systems of which less than the least share is correct, and those without outputs of a category of the
    /// dataset, unless only the entries with outputs are scored (`is_partial`).
    pub fn failed_gates(&self, least: f64, dataset: &Dataset, is_partial: bool) -> Vec<FailedGate> {
        let mut failed = Vec::new();
        for system in &self.systems {
            let (name, accuracy) = (system.name, system.accuracy());
            if accuracy < least {
                failed.push(FailedGate::Accuracy { system: name.to_owned(), accuracy, least });
            }
            let missing = if is_partial { Vec::new() } else { system.without_outputs(dataset) };
            if !missing.is_empty() {
                let categories = missing.into_iter().map(str::to_owned).collect();
                failed.push(FailedGate::NoOutputs { system: name.to_owned(), categories });
            }
        }
        failed
    }
}
