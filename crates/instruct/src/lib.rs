//! Instruction sets: rows that are made instead of read, and the API collections that they are made of.
//!
//! `collection` reads tools and writes them with legal names.
//! `source` is the kind of source `programs`: it opens an environment, makes instructions over it, and gives each a row; a
//! rejected candidate is a line with its reason. `record` is what a row holds, and a line of `programs.jsonl`. `sink` writes
//! the kept rows in the forms that training programs read (`form`).

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod collection;
pub mod environment;
pub mod form;
pub mod record;
pub mod sink;
pub mod source;

use callsieve_engine::kind::{SinkKind, SourceKind};

/// The reasons for which candidates are rejected.
pub use callsieve_programs::rejection::Reason as CandidateReason;

/// All of them, in the order of the checks.
pub static CANDIDATE_REASONS: [CandidateReason; CandidateReason::ALL.len()] = CandidateReason::ALL;

/// The kinds of sources of instruction sets.
pub static SOURCES: [SourceKind; 2] =
    [SourceKind::of::<source::Programs>(), SourceKind::of::<collection::source::ApiFiles>()];
/// The kinds of sinks of instruction sets.
pub static SINKS: [SinkKind; 2] =
    [SinkKind::of::<sink::InstructionSet>(), SinkKind::of::<collection::sink::CollectionFiles>()];
