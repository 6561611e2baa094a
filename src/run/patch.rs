//! Patches for people: the old value, the new value, and where they are.

use serde_json::Value;

use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// Returns a patch as lines: `-` before an old value, `+` before a new one, each at its JSON pointer. `column` is the
/// column it changes.
pub fn patch_lines(column: &str, patch: &str) -> String {
    lines(patch, &Places { column, in_words: false, functions: &[] })
}

/// Returns a patch as [`patch_lines`] does, with places in words instead of pointers. `functions` are the names of the
/// functions of the doc list, each put before its places; none if they are known from the context.
pub fn patch_in_words(column: &str, patch: &str, functions: &[String]) -> String {
    lines(patch, &Places { column, in_words: true, functions })
}

/// Returns the positions of the functions that a patch of a doc list changes, ascending.
pub fn functions_of(patch: &str) -> Vec<usize> {
    let ops: Vec<Value> = serde_json::from_str(patch).unwrap_or_default();
    let first = |pointer: &str| pointer.split('/').nth(1)?.parse().ok();
    let mut functions: Vec<usize> =
        ops.iter().filter_map(|op| first(op["path"].as_str().unwrap_or_default())).collect();
    functions.sort_unstable();
    functions.dedup();
    functions
}

/// How places are written.
struct Places<'a> {
    column: &'a str,
    in_words: bool,
    /// The names that are put before places; none if they are known from the context.
    functions: &'a [String],
}

impl Places<'_> {
    fn written(&self, pointer: &str) -> String {
        if !self.in_words {
            return visible_line(pointer).into_owned();
        }
        let segments: Vec<String> =
            pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
        let Some((first, rest)) = segments.split_first() else { return self.column.to_owned() };
        let Ok(at) = first.parse::<usize>() else { return visible_line(pointer).into_owned() };
        let text = if self.column.ends_with("messages") {
            format!("message {}", at + 1)
        } else {
            let place = in_function(rest);
            self.functions.get(at).map_or_else(|| place.clone(), |name| format!("{name}: {place}"))
        };
        visible_line(&text).into_owned()
    }
}

/// A place in a function: `parameter team.size, type` for `/parameters/properties/team/properties/size/type`.
fn in_function(segments: &[String]) -> String {
    let mut parameter = String::new();
    let mut rest = segments;
    loop {
        rest = match rest {
            [at, keyword, name, rest @ ..]
                if parameter.is_empty() && at == "parameters" && keyword == "properties" =>
            {
                parameter += name;
                rest
            }
            [keyword, name, rest @ ..] if !parameter.is_empty() && keyword == "properties" => {
                parameter += &format!(".{name}");
                rest
            }
            [keyword, rest @ ..] if !parameter.is_empty() && keyword == "items" => {
                parameter += "[]";
                rest
            }
            // A position in a list of names, as in `/parameters/required/0`, is less clear than the name next to it.
            [start @ .., last] if last == "-" || last.parse::<usize>().is_ok() => start,
            _ => break,
        };
    }
    let rest = rest.join(".");
    match (parameter.is_empty(), rest.is_empty()) {
        (true, true) => "function".to_owned(),
        (true, false) => rest,
        (false, true) => format!("parameter {parameter}"),
        (false, false) => format!("parameter {parameter}, {rest}"),
    }
}

fn lines(patch: &str, places: &Places<'_>) -> String {
    let ops: Vec<Value> = serde_json::from_str(patch).unwrap_or_default();
    let mut text = String::new();
    let mut before = None;
    for op in &ops {
        let path = places.written(op["path"].as_str().unwrap_or_default());
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
            Some("redact") => text += &redacted(places, op),
            // A key that is moved to its own place becomes the last one: only the order of keys changes.
            Some("move") if op["from"] == op["path"] => {}
            Some("move") => {
                let from = places.written(op["from"].as_str().unwrap_or_default());
                text += &format!("    > {from} to {path}\n");
            }
            _ => {}
        }
    }
    match (text.is_empty(), before) {
        // A patch that only tests is a finding.
        (true, Some(found)) if ops.len() == 1 => {
            let path = places.written(ops[0]["path"].as_str().unwrap_or_default());
            format!("    ? {path} {}\n", shown(Some(found)))
        }
        (true, _) => "    ~ keys put in order\n".to_owned(),
        (false, _) => text,
    }
}

/// What was replaced where; the old value is recorded nowhere.
fn redacted(places: &Places<'_>, op: &Value) -> String {
    let word = |key: &str| visible_line(op[key].as_str().unwrap_or_default());
    let pointer = op["path"].as_str().unwrap_or_default();
    let place = match (pointer.is_empty(), places.in_words) {
        (true, _) => places.column.to_owned(),
        (false, true) => places.written(pointer),
        (false, false) => format!("{} {}", places.column, places.written(pointer)),
    };
    format!("    ~ {place} {}..{}: {} → {}\n", op["from"], op["to"], word("kind"), word("value"))
}

/// A value, shortened for people.
fn shown(value: Option<&Value>) -> String {
    const MAX_CHARS: usize = 160;
    shortened(&value.map(Value::to_string).unwrap_or_default(), MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_words_name_the_parameter_and_the_key() {
        let places = Places { column: "functions", in_words: true, functions: &[] };
        for (pointer, words) in [
            ("/0/description", "description"),
            ("/0/parameters/type", "parameters.type"),
            ("/0/parameters/required/0", "parameters.required"),
            ("/0/parameters/properties/hut", "parameter hut"),
            ("/0/parameters/properties/type/type", "parameter type, type"),
            ("/0/parameters/properties/a~1b/properties/items/items/enum/2", "parameter a/b.items[], enum"),
            ("/1", "function"),
            ("", "functions"),
        ] {
            assert_eq!(places.written(pointer), words, "{pointer}");
        }
        assert_eq!(Places { column: "messages", ..places }.written("/1/content"), "message 2");
    }

    #[test]
    fn functions_are_named_where_a_patch_changes_several() {
        let patch = r#"[{"op": "add", "path": "/0/strict", "value": true}, {"op": "add", "path": "/1/strict", "value": true}]"#;
        let names = ["ring".to_owned(), "toll".to_owned()];
        assert_eq!(functions_of(patch), [0, 1]);
        assert_eq!(
            patch_in_words("functions", patch, &names),
            "    + ring: strict true\n    + toll: strict true\n"
        );
        assert_eq!(patch_lines("functions", patch), "    + /0/strict true\n    + /1/strict true\n");
    }
}
