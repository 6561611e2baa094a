//! Names of functions that say nothing, so that a model learns to read descriptions (Hammer, Lin et al., 2024).

use std::collections::BTreeMap;

use callsieve_text::content_hash::content_hash;
use serde_json::Value;

use super::Sample;
use crate::record::Record;

/// An instruction whose functions have other names, and those functions.
#[derive(Debug, Clone)]
pub struct Masked {
    /// The record.
    pub record: Record,
    /// The functions on offer.
    pub functions: Vec<Value>,
}

/// Gives every function of an instruction a name of its own: other ones in each instruction, the same in each run.
pub fn masked(sample: &Sample<'_>) -> Masked {
    let names: BTreeMap<&str, String> = sample
        .functions
        .iter()
        .filter_map(|function| function["name"].as_str())
        .map(|name| (name, format!("f_{:08x}", content_hash(format!("{}\n{name}", sample.id)) >> 96)))
        .collect();
    let masked = |name: &mut String| {
        if let Some(other) = names.get(name.as_str()) {
            other.clone_into(name);
        }
    };
    let mut record = sample.record.clone();
    record.calls.iter_mut().for_each(|call| masked(&mut call.name));
    record.offered.iter_mut().for_each(masked);
    let mut functions = sample.functions.to_vec();
    for function in &mut functions {
        if let Some(name) = function["name"].as_str().and_then(|name| names.get(name)) {
            function["name"] = name.as_str().into();
        }
    }
    Masked { record, functions }
}
