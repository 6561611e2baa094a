//! Tests of real docs in every syntax in which people paste them: each is read back exactly, or has a fault.
//!
//! The docs are in the data folder (`callsieve_testkit::data`).

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use callsieve::docs::parse::fault::ParseFaultKind;
use callsieve::docs::parse::{Parsed, parse};
use callsieve_testkit::data;
use serde_json::{Value, json};

/// Returns the functions of all `tools.json`, with the keys that parsing renames under their new names.
fn real_tools() -> Option<Vec<Value>> {
    let mut files = Vec::new();
    collect(&data::path("apis/livemcpbench/tools")?, &mut files);
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    let tools: Vec<Value> = texts.flat_map(|text| tools_of(serde_json::from_str(&text).unwrap())).collect();
    println!("{} tools", tools.len());
    Some(tools)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.ends_with("tools.json") {
            files.push(path);
        }
    }
}

/// Returns all lists under a key `tools`, at any level.
fn tools_of(value: Value) -> Vec<Value> {
    match value {
        Value::Object(map) => map
            .into_iter()
            .flat_map(|(key, value)| match value {
                Value::Array(tools) if key == "tools" => {
                    tools.into_iter().filter(|tool| tool["name"].is_string()).collect()
                }
                other => tools_of(other),
            })
            .collect(),
        Value::Array(items) => items.into_iter().flat_map(tools_of).collect(),
        _ => Vec::new(),
    }
}

/// Returns the result of strict JSON, with which every other syntax is compared.
fn expected(tool: &Value) -> Parsed {
    parse(&tool.to_string()).unwrap()
}

/// The syntax in which a doc is printed.
type Print = fn(&Value) -> String;

#[test]
fn real_tools_are_read_back_from_every_syntax() {
    let Some(tools) = real_tools() else { return };
    let spellings: [(&str, Print); 9] = [
        ("python", |tool| repr(tool)),
        ("json5", |tool| json5(tool, 0)),
        ("yaml", |tool| format!("---\n{}", yaml(tool, 0))),
        ("escaped", |tool| tool.to_string().replace('\\', "\\\\").replace('"', "\\\"")),
        ("entities", |tool| {
            tool.to_string().replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
        }),
        ("csv", |tool| tool.to_string().replace('"', "\"\"")),
        ("fenced", |tool| {
            format!("Here it is:\n```json\n{}\n```", serde_json::to_string_pretty(tool).unwrap())
        }),
        ("double-encoded", |tool| json!(tool.to_string()).to_string()),
        ("unseparated", |tool| serde_json::to_string_pretty(tool).unwrap().replace(",\n", "\n")),
    ];
    let mut silent = Vec::new();
    for (name, print) in spellings {
        let (mut n_exact, mut n_told) = (0, 0);
        for tool in &tools {
            let text = print(tool);
            match parse(&text) {
                Ok(parsed) if parsed.functions == expected(tool).functions && parsed.faults.is_empty() => {
                    n_exact += 1;
                }
                Ok(parsed) if parsed.faults.is_empty() => silent.push(format!("{name}: {text}")),
                Ok(parsed) => n_told += usize::from(!parsed.functions.is_empty()),
                Err(fault) => println!("{name} refused: {} {fault:?}", tool["name"]),
            }
        }
        println!("{name}: {n_exact} of {} exact, {n_told} with a fault", tools.len());
        // Adjacent strings in a list may be one or two; such tools are reported.
        assert!(n_exact == tools.len() || name == "unseparated", "{name}");
    }
    assert!(silent.is_empty(), "{} wrong in silence, such as {}", silent.len(), silent[0]);
}

#[test]
fn truncated_real_tools_have_a_fault() {
    let Some(tools) = real_tools() else { return };
    let mut state = 7_usize;
    for (number, tool) in tools.iter().enumerate() {
        for text in [tool.to_string(), repr(tool), json5(tool, 0), json!(tool.to_string()).to_string()] {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let cut = text.floor_char_boundary(1 + (state >> 33) % (text.trim_end().len() - 1));
            let fault = parse(&text[..cut]).map_or_else(
                |fault| fault.kind,
                |parsed| {
                    assert!(!parsed.faults.is_empty(), "{number}: {}", &text[..cut]);
                    parsed.faults[0].kind
                },
            );
            assert_eq!(fault, ParseFaultKind::Truncated, "{number}: {}", &text[..cut]);
        }
    }
}

/// Returns `true` if a YAML text ends with a value, or where a line may end: such a truncation cannot be detected.
fn may_be_whole(text: &str) -> bool {
    let line = text.trim_end().lines().next_back().unwrap_or_default().trim();
    let value = line.split_once(": ").map(|(_, value)| value).or(line.strip_prefix("- "));
    value.is_some_and(|value| !value.is_empty())
}

#[test]
fn truncated_real_tools_in_yaml_have_a_fault_unless_ambiguous() {
    let Some(tools) = real_tools() else { return };
    let (mut state, mut n_silent) = (7_usize, 0);
    for (number, tool) in tools.iter().enumerate() {
        let text = yaml(tool, 0);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let cut = &text[..text.floor_char_boundary(1 + (state >> 33) % (text.trim_end().len() - 1))];
        if parse(cut).is_ok_and(|parsed| parsed.faults.is_empty()) {
            assert!(may_be_whole(cut), "{number}: {cut}");
            n_silent += 1;
        }
    }
    println!("{n_silent} of {} read in silence", tools.len());
}

#[test]
fn all_records_of_hand_written_collections_are_read() {
    let broken = [
        ("Weaviate_API.json", 0),
        ("Datadog_API.jsonl", 0),
        ("Gmail_API.json", 0),
        ("KubernetesAPI.JSON", 164),
        ("KubernetesPod_PodTemplateAPI.json", 0),
        ("Salesforce_API_in_REST_Format.JSON", 0),
        ("KubernetesPodPodTemplateAPI.json", 0),
        ("aryanvichare.json", 0),
        ("aneeshpatel1.json", 0),
        ("motin.jsonl", 0),
        ("nirkal.json", 0),
    ];
    for (name, n_records) in broken {
        let Some(text) = data::text(&format!("messy/apizoo-invalid/{name}")) else { return };
        let parsed = parse(&text).unwrap();
        println!("{name}: {} records, {:?}, {:?}", parsed.functions.len(), parsed.steps, parsed.faults);
        // Each record names its API once.
        let n_records = if n_records > 0 { n_records } else { text.matches("\"api_name\"").count() };
        assert_eq!(parsed.functions.len(), n_records, "{name}");
    }
    let Some(whole) = data::path("messy/apizoo") else { return };
    for entry in std::fs::read_dir(whole).unwrap().map(Result::unwrap) {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let parsed = parse(&text).unwrap();
        println!("{:?}: {} records, {:?}", entry.file_name(), parsed.functions.len(), parsed.faults);
        assert_eq!(parsed.functions.len(), text.matches("\"api_name\"").count());
    }
}

/// Reading one text for this long counts as hanging. Linear parsing takes a second on a busy machine without
/// optimisation, other parsing takes minutes or hours.
const HANGS: Duration = Duration::from_mins(1);

/// Adversarial texts.
#[test]
fn no_text_makes_reading_hang() {
    const N_BYTES: usize = 1 << 16;
    let units = [
        "[",
        "{",
        "(",
        "]",
        "\"",
        "'",
        "`",
        "\\",
        "#",
        "/",
        "/*",
        "//",
        "<",
        "&",
        "&amp;",
        "&quot;",
        "\"\" ",
        "```",
        "{\"a\":",
        "{'a':",
        "\"a\" ",
        "'a' ",
        "\"a\"+",
        "[[",
        "{a:",
        "- ",
        "? ",
        "a: ",
        "&a ",
        "*a ",
        "...",
        "{\"a: ",
        "{\"",
        "\"\\",
        "\\\"",
        "'{",
        "“",
        "{'",
        "[\"",
        "<tools>",
        "<tool></tool>",
        "[TOOLS]",
        "'\n",
        "{}\n",
        "{}{",
        "1,",
        "-",
        "0",
        "\u{a0}",
        "，",
        "a = ",
        "{\"a\" \"b",
        "[\"a\" b\", ",
        "\"x\"y",
        "|\n",
        ">\n ",
        "{,",
        "\"\"\"",
        "'''a",
        "u'",
        "r\"",
        "def f(",
        "dict(",
        "\u{fe0f}é",
    ];
    let starts = ["", "[", "{\"", "[{'a': '", "[{\"a\": \"", "a: ", "x ```\n"];
    let texts = || units.iter().flat_map(move |unit| starts.map(|start| (start, *unit)));
    let (done, is_done) = channel();
    // Never joined: a hanging thread ends with the process.
    std::thread::spawn({
        let texts: Vec<String> =
            texts().map(|(start, unit)| format!("{start}{}", unit.repeat(N_BYTES / unit.len()))).collect();
        move || texts.iter().try_for_each(|text| done.send(parse(text).is_ok()))
    });
    for (start, unit) in texts() {
        is_done.recv_timeout(HANGS).unwrap_or_else(|error| panic!("{start:?} {unit:?}: {error}"));
    }
}

/// Returns a value as Python prints it.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => repr_text(text),
        Value::Array(items) => format!("[{}]", items.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let members = map.iter().map(|(key, value)| format!("{}: {}", repr_text(key), repr(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

fn repr_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut printed = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => printed += "\\\\",
            '\n' => printed += "\\n",
            '\r' => printed += "\\r",
            '\t' => printed += "\\t",
            c if c == quote => printed.extend(['\\', c]),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => printed += &format!("\\x{:02x}", c as u32),
            '\u{a0}' => printed += "\\xa0",
            '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                printed += &format!("\\u{:04x}", c as u32);
            }
            c => printed.push(c),
        }
    }
    printed.push(quote);
    printed
}

/// Returns a value as people write it in JavaScript: bare keys, single quotes, comments, trailing commas.
fn json5(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth + 1);
    match value {
        Value::String(text) => {
            let inner = text
                .replace('\\', "\\\\")
                .replace('\'', "\\'")
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                .replace('\t', "\\t");
            format!("'{inner}'")
        }
        Value::Array(items) => {
            let items: String =
                items.iter().map(|item| format!("{indent}{},\n", json5(item, depth + 1))).collect();
            format!("[ // a list, isn't it\n{items}]")
        }
        Value::Object(map) => {
            let is_bare =
                |key: &str| key.chars().all(|c| c.is_ascii_alphabetic() || c == '_') && !key.is_empty();
            let key = |key: &str| if is_bare(key) { key.to_owned() } else { json!(key).to_string() };
            let members: String = map
                .iter()
                .map(|(name, value)| {
                    format!("{indent}{}: {}, /* {{ */\n", key(name), json5(value, depth + 1))
                })
                .collect();
            format!("{{\n{members}}}")
        }
        other => other.to_string(),
    }
}

/// Returns a value as YAML in block style, with plain strings if possible.
fn yaml(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) if !map.is_empty() => map
            .iter()
            .map(|(key, value)| format!("{indent}{}:{}", yaml_text(key), yaml_below(value, depth)))
            .collect(),
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| format!("{indent}-{}", yaml_below(item, depth))).collect()
        }
        Value::String(text) => yaml_text(text),
        other => other.to_string(),
    }
}

fn yaml_below(value: &Value, depth: usize) -> String {
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty)
        || value.as_array().is_some_and(Vec::is_empty);
    match value {
        Value::Object(_) | Value::Array(_) if !is_empty => format!("\n{}", yaml(value, depth + 1)),
        other => format!(" {}\n", yaml(other, depth + 1)),
    }
}

fn yaml_text(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " ,.()_-/".contains(c))
        && !text.ends_with(' ')
        && !["true", "false", "null", "True", "False", "Null"].contains(&text);
    if is_plain { text.to_owned() } else { json!(text).to_string() }
}
