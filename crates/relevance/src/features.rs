//! All features of a request's query and docs, by family; one file per family.
//!
//! The features of a row depend only on its own query and docs, so it gets the same judgement
//! in any log. For features of recorded answers see `evidence`.

use super::background::{self, Background};
use super::docs::PreparedDocs;
use super::query::PreparedQuery;
use super::words::log_count;
use super::{closeness, coverage, form, open_tools, overlap, script, topical, values};

/// The families, with the names of their features in order.
pub const FAMILIES: &[(&str, &[&str])] = &[
    ("closeness", closeness::NAMES),
    ("overlap", overlap::NAMES),
    ("coverage", coverage::NAMES),
    ("values", values::NAMES),
    ("form", form::NAMES),
    ("script", script::NAMES),
    ("topics", topical::NAMES),
    ("open tools", open_tools::NAMES),
    ("offer", OFFER_NAMES),
    ("background", background::NAMES),
];

const OFFER_NAMES: &[&str] = &["functions", "several_functions", "most_parameters"];

/// Returns the names of all features, in the order of [`features`].
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Returns the features of a request, in the order of [`names`]. Most are between 0 and 1; values above 10 only occur
/// in extreme texts.
pub fn features(query: &PreparedQuery, docs: &PreparedDocs, background: &Background) -> Vec<f64> {
    [
        closeness::features(query, docs),
        overlap::features(query, docs),
        coverage::features(query, docs),
        values::features(&query.values),
        form::features(query),
        script::features(query, docs),
        topical::features(query, docs),
        open_tools::features(query, docs),
        offer(docs),
        background::features(query, docs, background),
    ]
    .concat()
}

/// Returns the number of functions, whether there are several, and the largest number of parameters of one. Long docs
/// share words with any query, so the last one qualifies what the shared words say.
fn offer(docs: &PreparedDocs) -> Vec<f64> {
    let n_functions = docs.functions.len();
    let n_parameters = docs.functions.iter().map(|function| function.signature.parameters.len()).max();
    vec![
        log_count(n_functions),
        f64::from(u8::from(n_functions > 1)),
        log_count(n_parameters.unwrap_or_default()),
    ]
}
