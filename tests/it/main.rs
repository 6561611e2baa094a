//! The integration tests, in one program: they link the crate once. Tests with an allocator of their own (`bounds`) or
//! of the terminal of their process (`terminal`) are programs of their own.

// A test may panic if its set-up fails, and prints what did not run.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

mod api_sources;
mod apibench;
mod ask;
mod assistants;
mod at_once;
mod audit;
mod audit_benchmarks;
mod audit_forms;
mod audit_groups;
mod audit_official;
mod audit_oracle;
mod audit_scores;
mod audit_whole_rows;
mod batches;
mod by_models;
mod check;
mod cleaned_parquet;
mod cli;
mod collisions;
mod compare;
mod costs;
mod croissant;
mod damage;
mod decisions;
mod deep;
mod determinism;
mod docs_of_sets;
mod documented;
mod drafts;
mod embedders;
mod endless;
mod endpoints;
mod evaluate;
mod faults;
mod ferries;
mod first_errors;
mod fix;
mod held;
mod hub;
mod inputs;
mod inspect;
mod instructions;
mod judge;
mod judging;
mod known_values;
mod large_docs;
mod layers;
mod library;
mod messy;
mod mixed_up;
mod named_files;
mod names_of_rows;
mod overlap;
mod pairs;
mod parser_chain;
mod partition;
mod parts;
mod picture;
mod pieces;
mod privacy;
mod probe;
mod public_names;
mod push;
mod real_collections;
mod recogniser;
mod records;
mod report;
mod retrieve;
mod review;
mod review_files;
mod run;
mod servers;
mod side_by_side;
mod soft_votes;
mod solutions;
#[path = "../support/mod.rs"]
mod support;
mod transcripts;
mod without_a_run;

use callsieve_testkit::server;
