//! Compresses responses of APIs, as ToolLLM does for models with a limited context.
//!
//! A key schema, made once for each function, says which keys of its responses are kept. `compress` applies it to a
//! response that exceeds a budget, and cuts lists and texts if that is not enough. The result is always valid JSON, has no
//! key that the response did not have, and is within the budget, or is the smallest value of its kind. Compressing it
//! again changes nothing. The time is linear in the response.

mod budget;
mod cut;
mod key_schema;
mod shape;

pub use budget::Budget;
pub use key_schema::{KeySchema, key_schema};

use callsieve_notation::MAX_DEPTH;
use callsieve_notation::levels::is_within;
use serde_json::Value;

use cut::{CUTS, Cut, smallest};

/// Compresses a response to a budget. One that is within it is returned as it is.
pub fn compress(schema: &KeySchema, response: &Value, budget: &Budget<'_>) -> Value {
    let shallow =
        if is_within(response, MAX_DEPTH) { None } else { Some(Cut::of_depth(MAX_DEPTH).apply(response)) };
    let response = shallow.as_ref().unwrap_or(response);
    if budget.fits(response) {
        return response.clone();
    }
    let kept = schema.kept(response);
    if budget.fits(&kept) {
        return kept;
    }
    within(&kept, budget).unwrap_or_else(|| smallest(response))
}

/// Returns a value with the first cut that is within the budget, and with longer texts if these are within it too.
fn within(value: &Value, budget: &Budget<'_>) -> Option<Value> {
    let (at, found) =
        CUTS.iter().map(|cut| cut.apply(value)).enumerate().find(|(_, cut)| budget.fits(cut))?;
    let mut longer = CUTS[..at].iter().map(|cut| CUTS[at].with_texts_of(*cut).apply(value));
    Some(longer.find(|cut| budget.fits(cut)).unwrap_or(found))
}

#[cfg(test)]
mod tests;
