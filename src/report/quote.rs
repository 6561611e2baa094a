//! Short quotes of evidence and patches, for examples.
//!
//! A quote is one line of a few dozen characters: what was found, or the first change of a patch. Whether a text may
//! be quoted at all is decided by the caller; see `events`.

use serde_json::Value;

/// Maximum number of characters of a quoted value …
const MAX_VALUE_CHARS: usize = 60;
/// … and of the whole quote.
const MAX_CHARS: usize = 160;
/// Reasons of this topic mean that a public set holds the row: its text may be under any licence.
const OVERLAP: &str = "overlap/";
/// Of such a row only these are quoted: they name the record of the set.
const OVERLAP_KEYS: [&str; 4] = ["set", "record", "metric", "score"];

/// Reasons of this topic are decisions of people …
pub(super) const DECISION: &str = "decision/";
/// … of which it is quoted who decided and why. The card leaves that out: it is for those who have the run folder.
const DECISION_KEYS: [&str; 2] = ["by", "why"];

/// Whether the reason means that a public set holds the row.
pub(super) fn is_overlap(reason: &str) -> bool {
    reason.starts_with(OVERLAP)
}

/// Maximum number of characters of evidence beside a text.
const MAX_EVIDENCE_CHARS: usize = 300;
/// Maximum number of characters of a value before or after an edit; the comparison cuts what both share.
const MAX_CHANGE_CHARS: usize = 4_000;

/// All values of some evidence as `key: value`, with the keys of inner objects; values that are not known are left out.
pub(super) fn all(reason: &str, evidence: &Value) -> Option<String> {
    if is_overlap(reason) || reason.starts_with(DECISION) {
        return self::evidence(reason, evidence);
    }
    let mut parts = Vec::new();
    gather("", evidence, &mut parts);
    (!parts.is_empty()).then(|| cut(&parts.join(", "), MAX_EVIDENCE_CHARS))
}

/// The numbers that a model read; without its weights they mean nothing.
const FEATURES: &str = "features";

fn gather(key: &str, value: &Value, parts: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(members) => {
            for (inner, value) in members.iter().filter(|(key, _)| *key != FEATURES) {
                let key = if key.is_empty() { inner.replace('_', " ") } else { format!("{key} {inner}") };
                gather(&key, value, parts);
            }
        }
        value if key.is_empty() => parts.push(plain(value)),
        value => parts.push(format!("{key}: {}", plain(value))),
    }
}

/// The first change of a patch.
pub(super) struct Change {
    /// The place, and how many other changes there are.
    pub(super) place: String,
    /// The value before; empty if there was none, or it was a personal value.
    pub(super) before: String,
    /// The value after; empty if there is none.
    pub(super) after: String,
}

/// Returns the first change of a patch, with its values; `None` for a patch without one.
pub(super) fn change(patch: &Value) -> Option<Change> {
    let ops = patch.as_array()?;
    let op_of = |op: &Value| op["op"].as_str().unwrap_or_default().to_owned();
    let is_change = |op: &Value| op_of(op) != "test" && !(op_of(op) == "move" && op["from"] == op["path"]);
    let changes: Vec<usize> = (0..ops.len()).filter(|&at| is_change(&ops[at])).collect();
    let &at = changes.first()?;
    let first = &ops[at];
    let whole = |value: &Value| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        cut(&text, MAX_CHANGE_CHARS)
    };
    let before = at.checked_sub(1).map(|before| &ops[before]).filter(|op| op_of(op) == "test");
    let before = before.map(|op| whole(&op["value"])).unwrap_or_default();
    let (before, after) = match op_of(first).as_str() {
        "replace" | "add" => (before, whole(&first["value"])),
        "remove" => (before, String::new()),
        "move" => (first["from"].as_str().unwrap_or_default().to_owned(), path(first).to_owned()),
        "redact" => (format!("({})", plain(&first["kind"])), whole(&first["value"])),
        _ => return None,
    };
    let more = if changes.len() > 1 { format!(" and {} more", changes.len() - 1) } else { String::new() };
    let place = if path(first).is_empty() { "the whole text" } else { path(first) };
    Some(Change { place: cut(place, MAX_CHARS) + &more, before, after })
}

/// The plain values of some evidence, as `key: value`.
pub(super) fn evidence(reason: &str, evidence: &Value) -> Option<String> {
    let is_overlap = is_overlap(reason);
    let is_decision = reason.starts_with(DECISION);
    let parts: Vec<String> = match evidence {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null())
            .filter(|(key, _)| !is_overlap || OVERLAP_KEYS.contains(&key.as_str()))
            .filter(|(key, _)| !is_decision || DECISION_KEYS.contains(&key.as_str()))
            .map(|(key, value)| format!("{key}: {}", plain(value)))
            .collect(),
        Value::String(_) if !is_overlap => vec![plain(evidence)],
        _ => vec![],
    };
    let would_be = || evidence.get("would_be").filter(|_| !is_overlap).and_then(patch);
    if parts.is_empty() { would_be() } else { Some(cut(&parts.join(", "), MAX_CHARS)) }
}

/// The first change of a patch, and how many more there are.
pub(super) fn patch(patch: &Value) -> Option<String> {
    let ops = patch.as_array()?;
    let op_of = |op: &Value| op["op"].as_str().unwrap_or_default().to_owned();
    let is_move_in_place = |op: &Value| op_of(op) == "move" && op["from"] == op["path"];
    let changes: Vec<(usize, &Value)> =
        ops.iter().enumerate().filter(|(_, op)| op_of(op) != "test" && !is_move_in_place(op)).collect();
    let Some(&(at, first)) = changes.first() else {
        let only = ops.first()?;
        return Some(cut(&format!("{}: {}", path(only), plain(&only["value"])), MAX_CHARS));
    };
    let before = at.checked_sub(1).map(|before| &ops[before]).filter(|op| op_of(op) == "test");
    let before = before.map(|op| plain(&op["value"]));
    let change = match (op_of(first).as_str(), before) {
        ("replace", Some(before)) => format!("{}: {before} → {}", path(first), plain(&first["value"])),
        ("replace" | "add", _) => format!("{}: + {}", path(first), plain(&first["value"])),
        ("remove", before) => format!("{}: - {}", path(first), before.unwrap_or_default()),
        ("move", _) => format!("{} to {}", first["from"].as_str().unwrap_or_default(), path(first)),
        ("redact", _) => {
            let place = if path(first).is_empty() { "in the text" } else { path(first) };
            format!("{place}: {} → {}", plain(&first["kind"]), plain(&first["value"]))
        }
        (other, _) => format!("{}: {other}", path(first)),
    };
    let more = changes.len() - 1;
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    Some(cut(&change, MAX_CHARS) + &more)
}

fn path(op: &Value) -> &str {
    op["path"].as_str().unwrap_or_default()
}

fn plain(value: &Value) -> String {
    cut(&value.as_str().map_or_else(|| value.to_string(), str::to_owned), MAX_VALUE_CHARS)
}

/// Returns one line of at most this many characters.
fn cut(text: &str, max_chars: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(max_chars) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_values_of_evidence_are_quoted_and_cut() {
        let quoted = evidence("spam/mash", &json!({"query": "x\ny".repeat(60), "n": 3})).unwrap();
        assert!(quoted.starts_with("query: x yx y") && quoted.ends_with("…, n: 3"), "{quoted}");
        assert_eq!(evidence("a/b", &json!({"inner": {"text": "secret"}})), None);
        assert_eq!(evidence("a/b", &json!({"at_byte": null, "n": 1})), Some("n: 1".to_owned()));
        let judged = json!({"by_text": 0.5, "features": {"cosine": 1}, "at_byte": null, "evidence": {"worked": 0}, "names": ["a"]});
        assert_eq!(all("a/b", &judged).unwrap(), "by text: 0.5, evidence worked: 0, names: [\"a\"]");
        assert_eq!(all("overlap/x", &json!({"set": "s", "text": "t"})).unwrap(), "set: s");
        assert_eq!(evidence("a/b", &json!("word")), Some("word".to_owned()));
    }

    #[test]
    fn of_a_row_in_a_public_set_only_the_record_is_named() {
        let found = json!({"set": "nexusraven", "record": "12", "text": "def f()", "function": "vt_get", "score": 0.9});
        let quoted = evidence("overlap/public-function", &found).unwrap();
        assert_eq!(quoted, "set: nexusraven, record: 12, score: 0.9");
        assert_eq!(evidence("overlap/public-function", &json!("def f()")), None);
    }

    #[test]
    fn a_patch_is_told_by_its_first_change() {
        let test = json!({"op": "test", "path": "/0/type", "value": "object"});
        let replace = json!({"op": "replace", "path": "/0/type", "value": "dict"});
        let add = json!({"op": "add", "path": "/0/required", "value": []});
        assert_eq!(patch(&json!([test, replace, add])).unwrap(), "/0/type: object → dict and 1 more");
        assert_eq!(patch(&json!([add])).unwrap(), "/0/required: + []");
        assert_eq!(patch(&json!([test])).unwrap(), "/0/type: object");
        let redact = |path| json!([{"op": "redact", "path": path, "from": 8, "to": 25, "kind": "email", "value": "user1@example.com"}]);
        assert_eq!(patch(&redact("/2/content")).unwrap(), "/2/content: email → user1@example.com");
        assert_eq!(patch(&redact("")).unwrap(), "in the text: email → user1@example.com");
        assert_eq!(patch(&json!([])), None);
        let Change { place, before, after } = change(&json!([test, replace, add])).unwrap();
        assert_eq!([&*place, &*before, &*after], ["/0/type and 1 more", "object", "dict"]);
        let Change { place, before, after } = change(&redact("")).unwrap();
        assert_eq!([&*place, &*before, &*after], ["the whole text", "(email)", "user1@example.com"]);
        assert!(change(&json!([test])).is_none());
    }
}
