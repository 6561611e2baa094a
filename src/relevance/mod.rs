//! Whether a request can be answered by a call of the functions it was sent with.
//!
//! Rules first (`low_quality`), then a model: features of the query and its docs, one file
//! a family (`features` lists them), and what the log's own answers say (`evidence`),
//! weighed by logistic regression (`model`). `calibrate` fits the weights; `fit` and
//! `measure` are the mathematics; `operating` counts what the lines in use decide of a run,
//! and `basis` tells what a judgement rests on. No language model and no network: this knows words,
//! spelling and form, and leaves the rest undecided.

pub mod asked;
pub mod basis;
pub mod calibrate;
mod closeness;
mod coverage;
pub mod evidence;
pub mod features;
pub mod fit;
mod form;
pub mod grounded;
pub mod low_quality;
pub mod measure;
pub mod model;
pub mod offer;
mod open_tools;
pub mod operating;
mod overlap;
pub mod script;
mod topical;
mod topics;
mod values;
mod words;

use crate::embed::hashed::Hashed;

/// The space in which queries are close to docs. The weights are fitted in it, so another one asks for a new fit.
pub const SPACE: Hashed = Hashed::V1;

/// What is judged of a request: the words of the column `relevance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relevance {
    /// A function fits what is asked.
    Relevant,
    /// None does.
    Irrelevant,
    /// Nothing sensible is asked.
    LowQuality,
}

impl Relevance {
    /// Every word.
    pub const ALL: [Self; 3] = [Self::Relevant, Self::Irrelevant, Self::LowQuality];

    /// The word in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Relevant => "relevant",
            Self::Irrelevant => "irrelevant",
            Self::LowQuality => "low-quality",
        }
    }

    /// What that word says.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|relevance| relevance.name() == name)
    }
}
