//! Tests each parser on one function, each fault on one text, and random texts on all parsers.

use proptest::prelude::*;
use serde_json::json;

use super::fault::ParseFaultKind;
use super::*;

fn codes(steps: &[ParseStep]) -> Vec<&'static str> {
    steps.iter().map(|step| step.code()).collect()
}

#[test]
fn every_parser_reads_the_same_function() {
    let function = json!({"name": "f", "description": "The user's \"city\""});
    let json = function.to_string();
    let python = r#"{'name': 'f', 'description': 'The user\'s "city"'}"#;
    let sent: &[(String, &[&str])] = &[
        (format!("[{json}]"), &["strict-json"]),
        (format!(" \u{feff}[{json}]\n"), &["byte-order-mark", "strict-json"]),
        (format!("```json\n[{json}]\n```"), &["fence", "strict-json"]),
        (format!("Here's what I have:\n```\n[{python}]\n```\nThanks"), &["fence", "python-literal"]),
        (format!("<tools> [{python}] </tools>"), &["tags", "python-literal"]),
        (format!("tools = [{json}]"), &["assignment", "strict-json"]),
        (format!("const tools = [{json},];"), &["assignment", "json5"]),
        (format!("My functions are [{json}]. Use them."), &["prose", "strict-json"]),
        (json!(format!("[{json}]")).to_string(), &["json-string", "strict-json"]),
        (
            json!(json!(json).to_string()).to_string(),
            &["json-string", "json-string", "strict-json", "bare-object"],
        ),
        (format!("[{}]", json.replace('\\', "\\\\").replace('"', "\\\"")), &["escaped-json", "strict-json"]),
        (format!("[{}]", json.replace('"', "&quot;")), &["html-entities", "strict-json"]),
        (format!("\"[{}]\"", json.replace('"', "\"\"")), &["csv-quotes", "strict-json"]),
        (format!("<tools>{json}</tools>"), &["tags", "strict-json", "bare-object"]),
        ("name: f\ndescription: The user's \"city\"\n".to_owned(), &["yaml", "bare-object"]),
        (python.to_owned(), &["python-literal", "bare-object"]),
        (format!("({python},)"), &["python-literal"]),
        (format!("[{json},]"), &["json5"]),
        (format!("[ // spec\n{json}]"), &["json5"]),
        (format!("[{{name: \"f\", {}]", &json[12..]), &["json5"]),
        (format!("[{}]", json.replace(',', "\n")), &["mended"]),
    ];
    for (text, steps) in sent {
        let parsed = parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(
            (parsed.functions, codes(&parsed.steps)),
            (vec![function.clone()], steps.to_vec()),
            "{text}"
        );
    }
}

#[test]
fn functions_are_read_as_libraries_print_them() {
    let bell = "{'bell': {'type': 'str', 'description': 'Which.'}}";
    let schema = r#"{"type": "object", "properties": {"bell": {"type": "string"}}, "required": ["bell"]}"#;
    for (text, step) in [
        (
            format!(
                "Tool Name: ring\nTool Arguments: {bell}\nTool Description: Rings it.\n\nLoud - or not.\n\
                 Tool Name: now\nTool Arguments: {{}}\nTool Description: Tells the time."
            ),
            "crewai",
        ),
        (
            format!(
                "> Tool Name: ring\nTool Description: Rings it.\n\nLoud - or not.\nTool Args: {schema}\n\n\
                 > Tool Name: now\nTool Description: Tells the time.\nTool Args: {{}}\n"
            ),
            "llama-index",
        ),
        (
            format!("ring: Rings it.\n\nLoud - or not., args: {bell}\nnow: Tells the time., args: {{}}"),
            "langchain",
        ),
        (
            format!(
                "ring(bell: str) -> bool - Rings it.\n\nLoud - or not., args: {bell}\n\n\
                 now() - Tells the time., args: {{}}"
            ),
            "langchain",
        ),
        (
            "ring(bell: str) -> bool - Rings it.\n\nLoud - or not.\nnow() -> str - Tells the time."
                .to_owned(),
            "langchain",
        ),
        (
            format!(
                "<tools>\nring: Rings it.\n\nLoud - or not., args: {bell}\nnow: Tells the time., args: {{}}</tools>"
            ),
            "langchain",
        ),
    ] {
        let parsed = parse(&text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        let said = |key: &str| {
            let text = |function: &Value| function[key].as_str().unwrap().trim_end_matches('.').to_owned();
            parsed.functions.iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(said("name"), ["ring", "now"], "{text}");
        assert_eq!(said("description"), ["Rings it.\n\nLoud - or not", "Tells the time"], "{text}");
        let parameters = parsed.functions[0]["parameters"].to_string();
        assert!(parameters.contains("\"bell\":{\"type\":\"str"), "{text}: {parameters}");
        assert!(codes(&parsed.steps).contains(&step) && parsed.faults.is_empty(), "{text}");
    }
}

#[test]
fn other_texts_are_not_read_as_prints_of_libraries() {
    for text in [
        "ring: Rings it, args: none",
        "ring(the bell) - Rings it.",
        "ring(bell=1) - Rings it.",
        "Rings the bell - or not, args: {}",
        "Tool Name: ring\nTool Description: Rings it.",
        "Tool Name: ring\nTool Arguments: {}\nTool Arguments: {}\nTool Description: Rings it.",
        "Tool Name: the bell\nTool Arguments: {}\nTool Description: Rings it.",
        "Tool Name: ring\nTool Arguments: {}\nTool Description: Rings it.\nTool Name: now\nTool Arg",
        "> Tool Name: ring\nTool Args: {}",
    ] {
        let fault = parse(text).map(|parsed| parsed.functions).unwrap_err();
        assert_ne!(fault.kind, ParseFaultKind::Empty, "{text}");
    }
    let yaml = "name: ring\ndescription: \"Rings it, args: {'bell'}\"";
    assert_eq!(codes(&parse(yaml).unwrap().steps), ["yaml", "bare-object"]);
}

#[test]
fn a_print_of_a_library_that_is_cut_off_is_reported() {
    for text in [
        "ring: Rings it, args: {'bell': {'type': 's",
        "now: The time, args: {}\nring: Rings it, args: {'bell': {'type': 'str'}",
        "> Tool Name: ring\nTool Description: Rings it.\nTool Args: {\"type\": \"object\", \"prop",
    ] {
        let kinds: Vec<_> = match parse(text) {
            Ok(parsed) => parsed.faults.iter().map(|fault| fault.kind).collect(),
            Err(fault) => vec![fault.kind],
        };
        assert_eq!(kinds, [ParseFaultKind::Truncated], "{text}");
    }
}

#[test]
fn values_side_by_side_are_a_list() {
    for text in [
        "{\"name\": \"a\"}\n{\"name\": \"b\"}",
        "{'name': 'a'},\n{'name': 'b'},",
        "[{\"name\": \"a\"}]\n[{\"name\": \"b\"}]",
    ] {
        let parsed = parse(text).unwrap();
        assert_eq!(parsed.functions, [json!({"name": "a"}), json!({"name": "b"})], "{text}");
        assert_eq!(parsed.steps[0], ParseStep::Concatenated);
    }
}

#[test]
fn python_definitions_are_read_wherever_a_list_is_allowed() {
    let def = "def now(city: str):\n    \"\"\"Returns the time.\n\n    ```\n    now('Oslo')\n    ```\n    \"\"\"\n    pass\n";
    for (text, steps) in [
        (def.to_owned(), vec!["python-def"]),
        (json!(def).to_string(), vec!["json-string", "python-def"]),
        (json!([def]).to_string(), vec!["strict-json", "python-def"]),
        (format!("Use this:\n```python\n{def}```"), vec!["fence", "python-def"]),
    ] {
        let parsed = parse(&text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(codes(&parsed.steps), steps, "{text}");
        assert_eq!(parsed.functions[0]["parameters"]["required"], json!(["city"]));
    }
}

#[test]
fn every_fault_is_reported_for_its_text() {
    for (text, fault) in [
        ("", ParseFaultKind::Empty),
        (" \u{feff}\n", ParseFaultKind::Empty),
        ("\"\"", ParseFaultKind::Empty),
        ("\0\u{1}\u{2}", ParseFaultKind::ControlCharacters),
        ("<html><body>404</body></html>", ParseFaultKind::Html),
        ("def f(city: str = Field(alias='c')):\n    \"\"\"Weather.\"\"\"", ParseFaultKind::SourceCode),
        ("def f(city: str):\n    \"\"\"Weather.", ParseFaultKind::Truncated),
        ("import json\n\ntools = json.loads('[]')", ParseFaultKind::SourceCode),
        ("<func_start>def f(a: str)<func_end> or else", ParseFaultKind::SourceCode),
        ("none", ParseFaultKind::NotJson),
        ("test", ParseFaultKind::NotJson),
        ("i want a weather function pls", ParseFaultKind::NotJson),
        ("note: call me", ParseFaultKind::NotJson),
        ("\"just a string\"", ParseFaultKind::NotJson),
        ("```\n{}\n```\n```\n{}\n```", ParseFaultKind::NoFunctions),
        ("{\"name\": f\"now\"}", ParseFaultKind::SourceCode),
        ("{name: `now ${n}`}", ParseFaultKind::SourceCode),
        ("{\"name\": NAME + \"x\"}", ParseFaultKind::NotJson),
        ("{\"name\": \"\"", ParseFaultKind::Truncated),
        ("\"[{\\\"name\\\": ", ParseFaultKind::Truncated),
        ("[{...}]", ParseFaultKind::Abbreviated),
        ("{}", ParseFaultKind::NoFunctions),
        ("null", ParseFaultKind::NoFunctions),
        ("[]", ParseFaultKind::NoFunctions),
        ("[null]", ParseFaultKind::NotAFunction),
        ("['go search the web to obtain up-to-date information']", ParseFaultKind::NotAFunction),
        ("{'function': 'search'}", ParseFaultKind::MissingName),
        ("{\"name\": \"\"}", ParseFaultKind::MissingName),
    ] {
        assert_eq!(parse(text).map_err(|fault| fault.kind), Err(fault), "{text:?}");
    }
}

#[test]
fn the_place_of_a_fault_is_in_the_text_as_sent() {
    assert_eq!(parse("  [{\"name\": \"f\"").unwrap().faults[0].at, Some(15));
    let text = "tools = [{\"name\": \"f\"} \"x\": 5]";
    assert!(parse(text).unwrap_err().at.is_some_and(|at| at > 22 && at <= text.len()));
}

#[test]
fn functions_read_despite_a_fault_have_it() {
    let function = json!({"name": "f", "enum": ["a", "b"]});
    for (text, kind) in [
        (r#"{"name": "f", "enum": ["a", "b""#, ParseFaultKind::Truncated),
        (r#"{"name": "f", "enum": ["a", "b"], "desc"#, ParseFaultKind::Truncated),
        (r#"{"name": "f", "enum": ["a", "b"], "strict": tru"#, ParseFaultKind::Truncated),
        (r#""{\"name\": \"f\", \"enum\": [\"a\", \"b"#, ParseFaultKind::Truncated),
        ("{'name': 'f', 'enum': ('a', 'b", ParseFaultKind::Truncated),
        ("```json\n{\"name\": \"f\", \"enum\": [\"a\", \"b", ParseFaultKind::Truncated),
        ("Use this: {\"name\": \"f\", \"enum\": [\"a\", \"b", ParseFaultKind::Truncated),
        (r#"{"name": "f", "enum": ["a", "b", ...]}"#, ParseFaultKind::Abbreviated),
        (r#"{"name": "f", "enum": ["a", "b", …], ...}"#, ParseFaultKind::Abbreviated),
        ("{\"name\": \"f\", \"enum\": [\"a\", \"b\" // ... and more\n]}", ParseFaultKind::Abbreviated),
        (r#"{"name": "f", "enum": ["a" "b"]}"#, ParseFaultKind::AmbiguousRepair),
        (r#"{"name": "g", "enum": ["a", "b"], "name": "f"}"#, ParseFaultKind::DuplicateKey),
        (r#"{"name": "g", "enum": ["a", "b"], "name": "f",}"#, ParseFaultKind::DuplicateKey),
        ("{'name': 'g', 'enum': ['a', 'b'], 'name': 'f'}", ParseFaultKind::DuplicateKey),
        ("{\"name\": \"g\", \"enum\": [\"a\", \"b\"]\n\"name\": \"f\"}", ParseFaultKind::DuplicateKey),
    ] {
        let parsed = parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!(parsed.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [kind], "{text}");
        // A repeated equal value or a joined string would differ here.
        if parsed.functions != [function.clone()] {
            assert_eq!(parsed.functions[0]["enum"], json!(["ab"]), "{text}");
        }
    }
}

#[test]
fn slips_with_one_meaning_are_repaired() {
    let function = json!({"name": "f", "description": "a b"});
    for text in [
        "{\"name\": \"f\"\n \"description\": \"a b\"}",
        "{\"name: \"f\", \"description\": \"a b\"}",
        "{\"name\": \"f\", description\": \"a b\"}",
        "｛＂name＂：＂f＂，＂description＂：＂a b＂｝",
        "{“name”: “f”, “description”: “a b”}",
        "{\"name\": \"f\",, \"description\": \"a b\"}",
        "{\"name\" => \"f\", \"description\" => \"a b\"}",
        "{\"name\": \"f\", \"description\": \"a \" + \"b\"}",
        "{\u{a0}\"name\": \"f\",\u{200b} \"description\": \"a b\"}",
    ] {
        let parsed = parse(text).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        assert_eq!((parsed.functions, parsed.faults), (vec![function.clone()], vec![]), "{text}");
    }
}

#[test]
fn a_list_with_broken_records_keeps_the_others_and_reports_the_broken() {
    let lines = "{\"name\": \"a\"}\n{\"name\": \"b\" \"d\": oops \"x\"}\n{\"name\": \"c\"}";
    let list = format!("[{}]", lines.replace('\n', ",\n"));
    for text in [lines, &list] {
        let parsed = parse(text).unwrap();
        assert_eq!(parsed.functions, [json!({"name": "a"}), json!({"name": "c"})]);
        let [fault] = parsed.faults.as_slice() else { panic!("{:?}", parsed.faults) };
        assert_eq!(fault.kind, ParseFaultKind::UnreadableRecord);
        assert!(fault.message.starts_with("function 1 cannot be read"), "{}", fault.message);
        assert_eq!(fault.at.map(|at| &text[at..=at]), Some("o"));
    }
}

#[test]
fn a_stray_bracket_loses_nothing() {
    let parsed = parse("[{\"name\": \"a\"}, [{\"name\": \"b\"}, {\"name\": \"c\"}]").unwrap();
    assert_eq!((parsed.functions.len(), parsed.faults), (3, vec![]));
    let parsed = parse("[{\"name\": \"a\"}, {\"name\": \"b\", \"enum\": [[\"x\"]").unwrap();
    assert_eq!(parsed.faults[0].kind, ParseFaultKind::Truncated);
}

#[test]
fn depth_is_bounded_for_every_parser() {
    for (open, close) in [("[", "]"), ("{'a':", "}"), ("{a:[", "]}"), ("{\"a\":", "}"), ("(", ")")] {
        let text = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        assert!(parse(&text).is_err());
    }
    let hidden = format!("// it's\u{2028}{}", "[".repeat(100_000));
    assert_eq!(parse(&hidden).unwrap_err().kind, ParseFaultKind::TooDeep);
    let nested = (0..9).fold("[]".to_owned(), |text, _| json!(text).to_string());
    assert_eq!(parse(&nested).unwrap_err().kind, ParseFaultKind::TooDeep);
}

#[test]
fn a_backslash_has_the_meaning_of_the_notation_of_its_quotes() {
    let description = |text: &str| parse(text).unwrap().functions[0]["description"].clone();
    assert_eq!(description(r#"{"name": "f", "description": "a\/b",}"#), "a/b");
    assert_eq!(description(r"{'name': 'f', 'description': 'a\/b'}"), r"a\/b");
    assert_eq!(description(r#"{"name": "f", "description": "\ud83d\ude00",}"#), "😀");
}

#[test]
fn half_of_a_surrogate_pair_is_always_refused() {
    for after in ["é", "語語", "a", "\\n"] {
        let text = format!("[{{name: \"f\", description: \"\\ud83d{after}");
        let fault = parse(&text).unwrap_err();
        assert_eq!(fault.kind, ParseFaultKind::Truncated, "{text}: {fault:?}");
    }
}

#[test]
fn reason_codes_are_unique() {
    let codes: std::collections::BTreeSet<_> = ParseFaultKind::ALL.iter().map(|fault| fault.code()).collect();
    assert_eq!(codes.len(), ParseFaultKind::ALL.len());
    assert!(
        ParseFaultKind::ALL
            .iter()
            .all(|fault| fault.code().starts_with("parse/") && fault.what().ends_with('.'))
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn texts_close_to_json_are_read_or_refused(text in "([\\[\\]{}(),:'\"`#/*=.\\\\]|name|True|null|tools|```|\n| |é|\u{2028}|1|<tools>){0,40}") {
        if let Err(fault) = parse(&text) {
            prop_assert!(fault.at.is_none_or(|at| at <= text.len()), "{:?}", fault);
        }
    }

    #[test]
    fn a_truncated_text_is_never_completed_silently(cut in 1..120_usize) {
        let text = r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"a": {"type": "string"}}, "required": ["a"]}}]"#;
        let fault = parse(&text[..cut]).map_or_else(|fault| fault, |parsed| parsed.faults[0].clone());
        prop_assert_eq!(fault.kind, ParseFaultKind::Truncated);
    }
}
