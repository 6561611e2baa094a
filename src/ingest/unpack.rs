//! One line that holds several requests is taken apart: spans of a trace, runs of an export, observations.
//!
//! Each part is an item of its own, with the line it stood on and a fate; the first part stands for the line where
//! items of the file are counted. Only a line of no known shape is taken apart.

use serde_json::Value;

use crate::ingest::path::{EACH, Path, at, gather};

/// Where lines keep several.
const PACKS: &[Path] = &[
    &["resourceSpans", EACH, "scopeSpans", EACH, "spans", EACH],
    &["resourceSpans", EACH, "instrumentationLibrarySpans", EACH, "spans", EACH],
    &["resource_spans", EACH, "scope_spans", EACH, "spans", EACH],
    &["batches", EACH, "scopeSpans", EACH, "spans", EACH],
    &["spans", EACH],
    &["runs", EACH],
    &["observations", EACH],
    &["data", EACH],
];

/// What a trace says once for all its observations.
const HANDED_DOWN: &[&str] = &["sessionId", "userId"];

/// The parts of a line, in its order; `None` where it holds no list of objects.
pub(super) fn unpack(line: &mut Value) -> Option<Vec<Value>> {
    if !line.is_object() {
        return None;
    }
    let handed_down: Vec<(&str, Value)> =
        HANDED_DOWN.iter().filter_map(|key| Some((*key, at(line, &[key])?.clone()))).collect();
    let mut parts = Vec::new();
    for path in PACKS {
        let found = gather(line, path);
        if found.iter().all(|part| part.is_object()) {
            parts.extend(found.into_iter().map(Value::take));
        }
    }
    for fields in parts.iter_mut().filter_map(Value::as_object_mut) {
        for (key, value) in &handed_down {
            let field = fields.entry(*key).or_insert(Value::Null);
            if field.is_null() {
                field.clone_from(value);
            }
        }
    }
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spans_of_all_scopes_come_in_order() {
        let mut line = json!({"resourceSpans": [
            {"scopeSpans": [{"spans": [{"n": 1}, {"n": 2}]}, {"spans": []}]},
            {"scopeSpans": [{"spans": [{"n": 3}]}]}]});
        assert_eq!(unpack(&mut line), Some(vec![json!({"n": 1}), json!({"n": 2}), json!({"n": 3})]));
    }

    #[test]
    fn a_trace_hands_its_session_down_to_observations_that_have_none() {
        let mut line = json!({"sessionId": "s", "observations": [{"sessionId": null}, {"sessionId": "t"}]});
        let parts = unpack(&mut line).unwrap();
        assert_eq!((parts[0]["sessionId"].as_str(), parts[1]["sessionId"].as_str()), (Some("s"), Some("t")));
    }

    #[test]
    fn what_holds_no_list_of_objects_is_one() {
        for mut line in [json!({"data": [1, 2]}), json!({"runs": []}), json!({"data": {"a": 1}}), json!([{}])]
        {
            let sent = line.clone();
            assert_eq!((unpack(&mut line), line), (None, sent));
        }
    }
}
