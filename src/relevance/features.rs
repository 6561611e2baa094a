//! All features of a request that need no answer in the log, by family; one file a family.
//!
//! A row's features depend on its own query and docs alone, so that it is judged alike
//! in any log. What the log's answers say is in `evidence`.

use super::asked::Asked;
use super::offer::Offer;
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
];

const OFFER_NAMES: &[&str] = &["functions", "several_functions"];

/// The names of all features, in the order of [`features`].
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|(_, names)| names.iter().copied())
}

/// The features of a request, in the order of [`names`]. Most lie between 0 and 1, none above 10 but in freak texts.
pub fn features(asked: &Asked, offer: &Offer) -> Vec<f64> {
    let n_functions = offer.functions.len();
    [
        closeness::features(asked, offer),
        overlap::features(asked, offer),
        coverage::features(asked, offer),
        values::features(&asked.values),
        form::features(asked),
        script::features(asked, offer),
        topical::features(asked, offer),
        open_tools::features(asked, offer),
        vec![log_count(n_functions), f64::from(u8::from(n_functions > 1))],
    ]
    .concat()
}
