//! Whether what came of a run is good enough.

use std::fmt;

use crate::engine::raw::IngestManifest;
use crate::ingest::source::Ingest;
use crate::text::figures::{self, counted};

/// How a run that was not stopped ended; the dataset is written either way.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// Done.
    Done,
    /// Done, but not good enough, for these reasons.
    GateFailed(Vec<FailedGate>),
}

impl Outcome {
    /// The run is good enough.
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }
}

/// Why a run is not good enough.
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
}

impl fmt::Display for FailedGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRequest { lines } => write!(f, "no request in {}", counted(*lines, "line", "lines")),
            Self::CutInput { path, detail } => write!(f, "{path} was not read to its end: {detail}"),
            Self::FaultShare { share, allowed } => write!(
                f,
                "{} of lines and requests were lost to faults, more than the {} that max_fault_share allows",
                figures::share(*share),
                figures::share(*allowed)
            ),
        }
    }
}

/// How a run ended that read this and lost such a share.
pub(super) fn gate(ingest: &Ingest, read: &IngestManifest, share: f64, allowed: f64) -> Outcome {
    let counts = &read.counts;
    if counts.records == 0 && (counts.lines > counts.not_sampled || counts.lines == 0) {
        return Outcome::GateFailed(vec![FailedGate::NoRequest { lines: counts.lines }]);
    }
    // How much is missing of a file nobody knows, so no share of it is small enough; who takes any share takes this.
    if !read.cut_files.is_empty() && allowed < 1.0 {
        let cut = read.cut_files.iter().map(|cut| {
            let path = ingest.inputs.get(cut.file as usize).map(|path| path.display().to_string());
            FailedGate::CutInput { path: path.unwrap_or_default(), detail: cut.detail.clone() }
        });
        return Outcome::GateFailed(cut.collect());
    }
    if share > allowed {
        return Outcome::GateFailed(vec![FailedGate::FaultShare { share, allowed }]);
    }
    Outcome::Done
}
