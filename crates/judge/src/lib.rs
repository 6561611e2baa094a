//! Judging of solution paths.
//!
//! `checks` finds faults of a path without a model: values of the answer that have no source, actions claimed without a call,
//! calls written as text. `verdict` reads replies of a judge model, `votes` counts them, `passing` and `winning` compute pass and
//! win rates from votes, `agreement` compares judges with people, `human` reads the file of people's verdicts, `attempts` computes
//! pass@k. Nothing here calls a model or reads a file. The same input gives the same output.

pub mod agreement;
pub mod attempts;
pub mod checks;
pub mod human;
pub mod passing;
pub mod verdict;
pub mod votes;
pub mod winning;

#[cfg(test)]
mod data_tests;
