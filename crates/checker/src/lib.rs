//! The answer checker of the Berkeley Function Calling Leaderboard (BFCL), single-turn categories.
//!
//! This is a port of the official evaluator (`bfcl-eval` 2026.3.23): the same decoding of model outputs, the same
//! verdicts, the same error types. No text of a model or a dataset is executed. The module is the only owner of
//! "does the evaluator treat these two values as equal".
//!
//! - [`value`]: values of Python; `repr` writes them.
//! - [`decode`]: model outputs to calls, in all syntaxes that the evaluator reads.
//! - [`handler`]: the models that the evaluator knows, and how the output of each is decoded.
//! - [`rules`]: calls against a ground truth: [`Checker::check`].
//! - [`same`](mod@same): whether two values are equal to the evaluator.
//! - [`satisfy`]: whether an entry can be answered at all.
//! - [`verdict`]: the result.
//!
//! Where the official code crashes, [`Checker::check`] returns an [`EvaluatorException`], because a crash ends the whole official
//! evaluation. `docs/checker.md` lists these and all surprising places.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod assignment;
pub mod convert;
pub mod decode;
pub mod handler;
pub mod keys;
mod mode;
mod repr;
pub mod rules;
pub mod same;
pub mod satisfy;
pub mod value;
pub mod verdict;

pub use handler::Handler;
pub use mode::Mode;
pub use rules::{Case, Checker, Kind, Language, Matching, standardized};
pub use same::{same, same_in_dict};
pub use satisfy::{Acceptance, Problem, ProblemKind, acceptance};
pub use value::{PyDict, PyType, PyValue};
pub use verdict::{ErrorType, EvaluatorException, Failure, Verdict};
