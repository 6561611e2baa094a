//! A patch for the eye: what was there, what is there now.

use serde_json::Value;

use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// A patch as lines: what was there, what is there now. `column` is the column it changes.
pub fn patch_lines(column: &str, patch: &str) -> String {
    let ops: Vec<Value> = serde_json::from_str(patch).unwrap_or_default();
    let mut text = String::new();
    let mut before = None;
    for op in &ops {
        let path = visible_line(op["path"].as_str().unwrap_or_default());
        match op["op"].as_str() {
            Some("test") => before = Some(&op["value"]),
            Some("remove") => {
                text += &format!("    - {path} {}\n", shown(before.take()));
            }
            Some("add") => {
                text += &format!("    + {path} {}\n", shown(Some(&op["value"])));
            }
            Some("replace") => {
                text += &format!(
                    "    - {path} {}\n    + {path} {}\n",
                    shown(before.take()),
                    shown(Some(&op["value"]))
                );
            }
            Some("redact") => text += &redacted(column, op),
            // A key that is moved onto itself goes to the end: only the order of keys changes.
            Some("move") if op["from"] == op["path"] => {}
            Some("move") => {
                let from = visible_line(op["from"].as_str().unwrap_or_default());
                text += &format!("    > {from} to {path}\n");
            }
            _ => {}
        }
    }
    match (text.is_empty(), before) {
        // A patch that only tests tells of a finding.
        (true, Some(found)) if ops.len() == 1 => {
            let path = visible_line(ops[0]["path"].as_str().unwrap_or_default());
            format!("    ? {path} {}\n", shown(Some(found)))
        }
        (true, _) => "    ~ keys put in order\n".to_owned(),
        (false, _) => text,
    }
}

/// What was replaced where; what it was is on no record.
fn redacted(column: &str, op: &Value) -> String {
    let word = |key: &str| visible_line(op[key].as_str().unwrap_or_default());
    let path = if word("path").is_empty() { String::new() } else { format!("{} ", word("path")) };
    format!("    ~ {column} {path}{}..{}: {} → {}\n", op["from"], op["to"], word("kind"), word("value"))
}

/// A value, shortened for the eye.
fn shown(value: Option<&Value>) -> String {
    const MAX_CHARS: usize = 160;
    shortened(&value.map(Value::to_string).unwrap_or_default(), MAX_CHARS)
}
