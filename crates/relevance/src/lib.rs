//! Relevance: whether a call of the functions of its doc list can answer a request.
//!
//! First rules (`low_quality`), then a logistic regression (`model`) over features of the query
//! and its docs (`features`, one file per family) and over the recorded answers (`evidence`).
//! `calibrate` fits the weights, `fit` and `measure` hold the mathematics, `operating` counts the
//! decisions of a run at the thresholds in use, and `basis` reads what a judgement is based on.
//! The features cover words, spelling and form; what they leave open, a language model can be asked
//! (`crate::judging`). Deliberately absent: language models and network access.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod background;
pub mod bar;
pub mod basis;
pub mod benchmark;
pub mod calibrate;
mod closeness;
mod coverage;
pub mod docs;
pub mod evidence;
pub mod features;
pub mod fit;
mod form;
pub mod grounded;
pub mod language_group;
pub mod low_quality;
pub mod measure;
mod missing_value;
pub mod model;
mod open_tools;
pub mod operating;
mod overlap;
pub mod query;
mod script;
pub mod soft_votes;
mod topical;
mod topics;
mod values;
mod words;

use callsieve_models::embed::hashed::Hashed;

/// The vector space of queries and docs. The weights are fitted in it; another space needs a new fit.
pub const SPACE: Hashed = Hashed::V1;

/// The relevance label of a request: the values of the column `relevance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relevance {
    /// A function fits the query.
    Relevant,
    /// No function fits the query.
    Irrelevant,
    /// The query does not ask anything sensible.
    LowQuality,
}

impl Relevance {
    /// All labels.
    pub const ALL: [Self; 3] = [Self::Relevant, Self::Irrelevant, Self::LowQuality];

    /// Returns the name of the label in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relevant => "relevant",
            Self::Irrelevant => "irrelevant",
            Self::LowQuality => "low-quality",
        }
    }

    /// Returns the label with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relevance| relevance.name() == name)
    }
}
