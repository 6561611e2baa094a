//! Instruction sets: rows that are made instead of read, and the API collections that they are made of.
//!
//! `collection` reads tools and writes them with legal names.
//! `source` is the kind of source `programs`: it opens an environment, makes instructions over it, and gives each a row; a
//! rejected candidate is a line with its reason. `record` is what a row holds, and a line of `programs.jsonl`. `sink` writes
//! the kept rows in the forms that training programs read (`form`). `proposed`, `reworded`, `retrace`, `run_calls` and `attempt` check
//! what models write: instructions, words, calls.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod attempt;
pub mod collection;
pub mod environment;
pub mod form;
pub mod proposed;
pub mod record;
pub mod redaction;
pub mod retrace;
pub mod reworded;
pub mod run_calls;
pub mod samples;
pub mod sink;
pub mod solutions;
pub mod source;
pub mod split;
pub mod text_rules;

use callsieve_collection::fault::FaultKind;
use callsieve_collection::filter::RULES;
use callsieve_collection::probe::of_collection::{BAD_ANSWERS, NEVER_ANSWERED};
use callsieve_engine::kind::{SinkKind, SourceKind};
use callsieve_programs::rejection::Reason;

/// A reason for which a source makes no row of an item.
#[derive(Debug, Clone, Copy)]
pub struct SourceReason {
    /// The code; it never changes.
    pub code: &'static str,
    /// One sentence for people.
    pub sentence: &'static str,
    /// Who reports it, and of what.
    pub reported: &'static str,
}

/// Returns the reasons of all sources of this crate.
pub fn source_reasons() -> Vec<SourceReason> {
    let candidates = Reason::ALL.into_iter().map(|reason| SourceReason {
        code: reason.code(),
        sentence: reason.sentence(),
        reported: "by the source programs, for a candidate",
    });
    let faults = FaultKind::ALL.into_iter().map(|fault| SourceReason {
        code: fault.code(),
        sentence: fault.what(),
        reported: "by the source api-files, for a file or a part of it",
    });
    let functions = RULES.iter().map(|rule| SourceReason {
        code: rule.code,
        sentence: rule.what,
        reported: "by the source api-files, for a function",
    });
    let called = [NEVER_ANSWERED, BAD_ANSWERS].into_iter().map(|(code, sentence)| SourceReason {
        code,
        sentence,
        reported: "by the source api-files, for a function",
    });
    candidates.chain(faults).chain(functions).chain(called).collect()
}

/// Returns the sentence of a reason of [`source_reasons`].
pub fn meaning_of(code: &str) -> Option<&'static str> {
    source_reasons().into_iter().find(|reason| reason.code == code).map(|reason| reason.sentence)
}

/// The kinds of sources of instruction sets.
pub static SOURCES: [SourceKind; 3] = [
    SourceKind::of::<source::Programs>(),
    SourceKind::of::<samples::ToolSamples>(),
    SourceKind::of::<collection::source::ApiFiles>(),
];
/// The kinds of sinks of instruction sets.
pub static SINKS: [SinkKind; 2] =
    [SinkKind::of::<sink::InstructionSet>(), SinkKind::of::<collection::sink::CollectionFiles>()];

#[cfg(test)]
mod data_tests;
