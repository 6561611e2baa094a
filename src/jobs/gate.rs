//! Gates: the conditions that the result of a run must meet.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

use crate::engine::language_model::ModelUsage;
use crate::engine::raw::IngestManifest;
use crate::report::model::Report;
use crate::text::figures::{self, counted};

/// How a run that was not stopped ended; the dataset is written either way.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Done.
    Done,
    /// Done, and these gates failed.
    GateFailed(Vec<FailedGate>),
}

impl Outcome {
    /// Returns `true` if no gate failed.
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }

    /// Returns how a run ended that failed these gates.
    pub(crate) fn of(failed: Vec<FailedGate>) -> Self {
        if failed.is_empty() { Self::Done } else { Self::GateFailed(failed) }
    }
}

/// A gate that failed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FailedGate {
    /// No request was read.
    NoRequest {
        /// Lines of the inputs.
        lines: u64,
    },
    /// An input was not read to its end; how much of it is missing is unknown.
    CutInput {
        /// The input.
        path: String,
        /// What ended it.
        detail: String,
    },
    /// Too many rows were lost because something went wrong.
    FaultShare {
        /// The share of lines and requests that were lost, from 0 to 1.
        share: f64,
        /// What `max_fault_share` allows.
        allowed: f64,
    },
    /// No tool was read.
    NoTool {
        /// Items of the files that are none.
        items: u64,
    },
    /// The candidates ran out before as many instructions were exported as are wanted.
    TooFewInstructions {
        /// Instructions that were exported.
        exported: u64,
        /// Instructions that are wanted.
        wanted: u64,
        /// Candidates that were made.
        candidates: u64,
        /// Whether language models were asked.
        asked: bool,
        /// Requests to language models without an answer: they failed, or the limit of cost was reached.
        unanswered: u64,
    },
}

impl fmt::Display for FailedGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRequest { lines } => write!(f, "no request in {}", counted(*lines, "line", "lines")),
            Self::CutInput { path, detail } => write!(f, "{path} was not read to its end: {detail}"),
            Self::NoTool { items } => write!(
                f,
                "no tool was read ({} without one)\nhint: `callsieve report RUN --markdown` lists the reasons, docs/collections.md the formats",
                counted(*items, "item", "items")
            ),
            Self::TooFewInstructions { exported, wanted, candidates, asked, unanswered } => {
                let counts =
                    format!("{} of {} instructions", figures::count(*exported), figures::count(*wanted));
                if *unanswered > 0 {
                    let requests = counted(
                        *unanswered,
                        "request to the language model",
                        "requests to the language model",
                    );
                    return write!(
                        f,
                        "{counts}: {requests} had no answer\nhint: run the same command again, with a higher --max-cost if that was reached; `callsieve report RUN --markdown` lists the reasons"
                    );
                }
                let more = if *asked { "" } else { ", or give more values and phrases in the bindings" };
                write!(
                    f,
                    "{counts}: {} were made, and no more are allowed\nhint: raise max_candidates{more}; `callsieve report RUN --markdown` lists the reasons",
                    counted(*candidates, "candidate", "candidates"),
                )
            }
            Self::FaultShare { share, allowed } => write!(
                f,
                "{} of lines and requests were lost to faults, more than the {} that max_fault_share allows",
                figures::share(*share),
                figures::share(*allowed)
            ),
        }
    }
}

/// What gates look at.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'a> {
    /// The inputs, in the order in which rows number them.
    pub inputs: &'a [PathBuf],
    /// What was read.
    pub read: &'a IngestManifest,
    /// The figures of the run.
    pub report: &'a Report,
    /// The share of lines and requests, from 0 to 1, that may be lost because something went wrong.
    pub max_fault_share: f64,
    /// The pipeline, as `run.json` holds it.
    pub pipeline: &'a Value,
    /// Whether it adds to the rows of a finished run, and makes none.
    pub adds_to_run: bool,
}

/// The rows that are left after the last stage, before anything is written.
#[derive(Debug, Clone, Copy)]
pub struct RowsLeft<'a> {
    /// Their number.
    pub kept: u64,
    /// What was made or read.
    pub read: &'a IngestManifest,
    /// What language models were asked, by step.
    pub language_models: &'a BTreeMap<String, ModelUsage>,
    /// The pipeline, as `run.json` holds it.
    pub pipeline: &'a Value,
}

/// Returns the first gate that inputs of requests fail: no request, an input that is cut off, too many faults.
pub fn of_inputs(run: &RunFacts<'_>) -> Vec<FailedGate> {
    let (read, allowed) = (run.read, run.max_fault_share);
    let counts = &read.counts;
    if counts.records == 0 && (counts.lines > counts.not_sampled || counts.lines == 0) {
        return vec![FailedGate::NoRequest { lines: counts.lines }];
    }
    // How much is missing of a file nobody knows, so no share of it is small enough; who takes any share takes this.
    if !read.cut_files.is_empty() && allowed < 1.0 {
        let cut = read.cut_files.iter().map(|cut| {
            let path = run.inputs.get(cut.file as usize).map(|path| path.display().to_string());
            FailedGate::CutInput { path: path.unwrap_or_default(), detail: cut.detail.clone() }
        });
        return cut.collect();
    }
    let share = run.report.fault_share;
    if share > allowed { vec![FailedGate::FaultShare { share, allowed }] } else { Vec::new() }
}
