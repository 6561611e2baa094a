//! What is wrong with functions that say they are BFCL's; nothing is changed.
//!
//! `schema` asks the JSON Schema, `values`, `members` and `names` what a schema cannot
//! say; `rules` is the table of everything that can be found, with how much it matters
//! and to whom; `linter` judges as the official format script does. Codes are those of
//! `fix` where the fault is the same. `fix` judges a doc on its way and lets pass what it
//! need not touch; here a doc is read to the letter, so a whole number as the default of
//! a float is told. What is wrong with questions and answers is `check`, one floor up.

pub mod linter;
mod members;
mod names;
pub mod rules;
mod schema;
mod values;

use std::borrow::Cow;

use serde_json::Value;

use rules::Rule;

pub use schema::SCHEMA;

/// Something that a rule says about a place.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Which rule.
    pub rule: &'static Rule,
    /// The pointer, from the list of functions on.
    pub at: String,
    /// What stands there.
    pub found: Cow<'static, str>,
    /// What should.
    pub expected: Cow<'static, str>,
}

/// Everything there is to say about a list of functions, function by function.
///
/// Rules that only count are among them, see [`rules::Level::Fact`].
pub fn check(functions: &[Value]) -> Vec<Finding> {
    let mut findings = Findings::default();
    schema::check(functions, &mut findings);
    members::check(functions, &mut findings);
    values::check(functions, &mut findings);
    names::check(functions, &mut findings);
    let mut found = findings.found;
    found.sort_by_key(|finding| function_of(&finding.at));
    found
}

/// The index of the function that a pointer leads into.
pub fn function_of(at: &str) -> Option<usize> {
    at.split('/').nth(1)?.parse().ok()
}

/// Where rules put what they find.
#[derive(Debug, Default)]
struct Findings {
    found: Vec<Finding>,
}

impl Findings {
    fn add(
        &mut self,
        code: &str,
        at: impl Into<String>,
        found: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) {
        let rule =
            rules::of(code).expect("a finding's code is in the table: the tests go through all of them");
        let (at, found, expected) = (at.into(), found.into(), expected.into());
        // Two keywords of the schema can tell of one fault.
        if !self.found.iter().any(|told| told.rule.code == rule.code && told.at == at) {
            self.found.push(Finding { rule, at, found, expected });
        }
    }
}

#[cfg(test)]
mod tests;
