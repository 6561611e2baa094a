//! xLAM: a query with its calls. It has no results, so only instructions whose calls are made at once fit.

use serde_json::{Value, json};

use super::Sample;

/// Returns the line: `query`, and `answers` and `tools` as texts.
pub(super) fn line(sample: &Sample<'_>) -> Option<Value> {
    let record = sample.record;
    let [turn] = &record.turns[..] else { return None };
    if record.calls.len() > 1 && !record.together {
        return None;
    }
    let calls: Vec<Value> =
        record.calls.iter().map(|call| json!({"name": call.name, "arguments": call.arguments})).collect();
    Some(json!({
        "id": sample.id,
        "query": turn.user,
        "answers": json!(calls).to_string(),
        "tools": json!(sample.functions).to_string(),
    }))
}
