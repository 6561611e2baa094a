//! `toolsieve` curates function-calling datasets: a log of requests becomes a clean, Live-style evaluation set,
//! and every row's story is kept.
//!
//! Modules in reading order: [`engine`] (stages judge, the runner acts), [`stages`] (the list of stages),
//! [`pipeline`] (the file that puts them in order); then what the stages call: [`ingest`] (log shapes into
//! records), [`conversation`] (what was said), [`bfcl`] (the leaderboard's types, categories, ids and files),
//! [`docs`] (function docs: parse, canonical form, fixes, checks), [`lint`] (what is wrong with a dataset),
//! [`text`] and [`similarity`] (tokens, ROUGE-L, joins), [`embed`] (texts into vectors), [`notation`] (readers of
//! JSON, YAML, Python and TypeScript), `allowance` (how much memory the values of one text may take), [`answers`]
//! (what the log says about the right call), [`relevance`] (whether a function fits what is asked),
//! [`decisions`] (what people decided on rows),
//! [`public_sets`] (public datasets and how they are read), [`llm`] (the only door to the network), [`privacy`]
//! (personal values and their placeholders), [`export`] (datasets), [`report`] (the funnel and the figures),
//! [`inspect`] (a first look at a log); and on top [`cli`] and [`console`], which alone talk to a person.

// Tests lay out small files in temporary folders, where a cut write harms nobody.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod allowance;
pub mod answers;
pub mod bfcl;
pub mod cli;
pub mod console;
pub mod conversation;
pub mod decisions;
pub mod docs;
pub mod embed;
pub mod engine;
pub mod export;
pub mod ingest;
pub mod inspect;
pub mod lint;
pub mod llm;
pub mod notation;
pub mod pipeline;
pub mod privacy;
pub mod public_sets;
pub mod relevance;
pub mod report;
pub mod similarity;
pub mod stages;
pub mod text;

#[cfg(test)]
#[path = "../tests/support/data.rs"]
mod test_data;
