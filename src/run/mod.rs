//! What the program does, as functions of the library: run a pipeline, read a finished run, change it, compare two.
//!
//! `cli` parses arguments and prints what these functions return; a program of one's own calls them in the same way.
//! [`execute`] runs a pipeline into a run folder, [`execute_part`] does a part of it beside other processes, an [`Observer`] follows it and may stop it. [`open`] reads a finished
//! run, which [`OpenRun`] reports, lists the edits and the rows to decide on of, and explains row by row. [`purge`] and [`forget`] take something
//! out of a finished run, [`compare`] shows what differs between two, [`calibrate`] fits the weights of `judge-queries`.
//! Nothing here prints, reads the environment or the command line.

mod batches;
pub mod calibrate;
mod compare;
mod containment;
mod diff;
mod earlier_decisions;
mod error;
mod execute;
mod forget;
mod hub_files;
mod inputs;
mod language_model;
mod names;
mod observer;
mod open;
mod options;
mod outcome;
mod own_files;
mod parts;
mod patch;
mod paths;
mod pattern;
mod place;
mod plan;
mod purge;
mod push;
mod report;
mod review;
mod reviewing;
pub mod why;

pub use batches::{
    BatchState, PolledBatch, Submission, SubmitOptions, forget_batch, other_servers, poll_batches, sleep,
    submit_batches,
};
pub use compare::{Compared, ComparedReports, compare, compare_reports};
pub use containment::{check_output, check_outputs};
pub use diff::RowEdit;
pub use error::Error;
use error::refuse;
pub use execute::{Prepared, RunReport, execute, prepare};
pub use forget::{Forget, ForgetReport, ForgottenRequest, forget};
pub use hub_files::{fetch_inputs, fetched, fetched_benchmarks};
pub use inputs::check_file;
pub use language_model::{ModelOptions, ModelPlan, plan_requests};
pub use observer::Observer;
pub use open::{OpenRun, open};
pub use options::{Options, quoted};
pub use parts::{PartsCommand, execute_part, parts_command};
pub use patch::{functions_of, patch_in_words, patch_lines};
pub use paths::{Expanded, expand, run_name};
pub use place::Place;
pub use plan::{Plan, PlannedStage, plan};
pub use purge::{Purged, purge};
pub use push::{PushOptions, Pushed};
pub use review::{FIELDS, ReviewFormat, ReviewOptions, ReviewRow, ReviewTable, Selection, check_review_file};
pub use reviewing::{ExportedReviews, ImportedReviews, Reviewing, ReviewingOptions};
pub use why::{Why, why};

pub use crate::engine::parts::RunPart;
pub use crate::engine::run_parts::PartDone;
pub use crate::engine::verify::{Verified, verify};
pub use crate::erasure::purge::Extent;
pub use crate::erasure::rewrite::Touched;
pub use crate::jobs::gate::{FailedGate, Outcome};
