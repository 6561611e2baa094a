//! Tests of the judge.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::engine::background_writer::BackgroundWriter;
use crate::engine::context::Quiet;
use crate::fixture;
use crate::relevance::measure::{Label, Point};

/// Returns how many requests with this query are held; `more` has the other columns of each.
fn n_held(query: &str, more: &[Value]) -> usize {
    let list = json!({"functions": [{"name": "ring.bell", "description": "Rings a bell of the tower.", "parameters": {
        "type": "dict", "required": [], "properties": {"times": {"type": "integer", "description": "How often."}}}}]});
    let requests = more.iter().map(|more| {
        let mut request = json!({"list": 0, "messages": [{"role": "user", "content": query}]});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    });
    let tables = json!({"doc_lists": [list], "requests": requests.collect::<Vec<Value>>()});
    let (stage, corpus, cancel) = (JudgeQueries::default(), fixture::corpus(&tables), AtomicBool::new(false));
    let (contract, folder) = (stage.contract(), tempfile::tempdir().unwrap());
    let cx = Context::new(1, &cancel, &Quiet);
    let mut verdict = Verdict::new(
        "judge",
        &contract,
        corpus.table(contract.table),
        &folder.path().join("columns.parquet"),
        &BackgroundWriter::new(usize::MAX),
    );
    stage.judge(&View::new(&corpus, &contract), &cx, &mut verdict).unwrap();
    verdict.finish().unwrap().fates.len()
}

#[test]
fn recorded_answers_decide_unclear_queries_unless_they_were_forced() {
    let called =
        json!({"role": "assistant", "content": "", "calls": [{"name": "ring_bell", "arguments": {}}]});
    let query = "Could you let the noon bell ring?";
    assert_eq!(n_held(query, &[json!({})]), 1);
    assert_eq!(n_held(query, &[json!({"response": called})]), 0);
    assert_eq!(n_held(query, &[json!({"response": called, "tool_choice": "required"})]), 1);
    assert_eq!(n_held(query, &[json!({"response": called, "status": 500})]), 1);
}

#[test]
fn a_call_with_values_of_the_request_decides_an_unclear_query() {
    let list = json!({"functions": [{"name": "tower.execute", "description": "Passes a line to the tower.",
        "parameters": {"type": "dict", "required": ["line"], "properties": {"line": {"type": "string", "description": "It."}}}}]});
    let fates = |line: &str| {
        let response = json!({"role": "assistant", "content": "", "calls": [{"name": "tower.execute", "arguments": {"line": line}}]});
        let request = json!({"list": 0, "messages": [{"role": "user", "content": "Kannst du bitte hush owls 7?"}],
            "response": response, "outcome": "goes-on"});
        let tables = json!({"doc_lists": [list], "requests": [request]});
        let stage =
            JudgeQueries { relevant_from: Some(1.0), irrelevant_to: Some(0.0), ..JudgeQueries::default() };
        fixture::judged(&stage, &tables).fate(0)
    };
    assert_eq!(fates("hush owls 7"), None);
    assert_eq!(fates("ring bells 9"), Some(UNSURE_CODE));
}

#[test]
fn the_text_alone_never_makes_a_request_irrelevant_to_a_tool_that_takes_any_text() {
    let list = |name: &str| {
        json!({"functions": [{"name": "run", "description": "Runs it.", "parameters": {"type": "dict",
            "required": [name], "properties": {name: {"type": "string", "description": "What."}}}}]})
    };
    let fate = |name: &str, response: Value| {
        let messages = json!([{"role": "user", "content": "Delete the old recipes of my aunt"}]);
        let mut request = json!({"list": 0, "messages": messages});
        if !response.is_null() {
            request["response"] = response;
        }
        let tables = json!({"doc_lists": [list(name)], "requests": [request]});
        let stage =
            JudgeQueries { relevant_from: Some(1.0), irrelevant_to: Some(0.99), ..JudgeQueries::default() };
        fixture::judged(&stage, &tables).fate(0)
    };
    assert_eq!(fate("command", Value::Null), Some(UNSURE_CODE));
    assert_eq!(fate("city", Value::Null), None);
    let declined = json!({"role": "assistant", "content": "I cannot do that.", "calls": []});
    assert_eq!(fate("command", declined), None);
}

/// Returns the relevance of requests with one list; each has a query and the model's answer, if any.
fn judged(functions: &Value, requests: &[(&str, Value)]) -> Vec<Option<String>> {
    let rows = requests.iter().map(|(query, response)| {
        let mut row = json!({"messages": [{"role": "user", "content": query}]});
        if !response.is_null() {
            row["response"] = response.clone();
        }
        row
    });
    let tables = json!({"doc_lists": [{"functions": functions}], "requests": rows.collect::<Vec<Value>>()});
    let judged = fixture::judged(&JudgeQueries::default(), &tables);
    (0..).take(requests.len()).map(|row| judged.cell(row, RELEVANCE).map(str::to_owned)).collect()
}

fn prose(text: &str) -> Value {
    json!({"role": "assistant", "content": text, "calls": []})
}

#[test]
fn a_declined_request_is_irrelevant_unless_its_text_speaks_for_a_function() {
    let ferry = json!([{"name": "book_ferry", "description": "Books a ferry from one harbour to another on a date.",
        "parameters": {"type": "dict", "required": ["from_harbour", "to_harbour", "date"], "properties": {
            "from_harbour": {"type": "string", "description": "The harbour of departure."},
            "to_harbour": {"type": "string", "description": "The harbour of arrival."},
            "date": {"type": "string", "description": "The date of the ferry."}}}}]);
    let refusal = prose("I'm sorry, but I cannot help with that.");
    let found = judged(
        &ferry,
        &[
            ("Who wrote the saga of the two owls?", refusal.clone()),
            ("Please book a ferry from Bergen to Stavanger harbour on 2024-05-01", refusal),
        ],
    );
    assert_eq!(found[0].as_deref(), Some("irrelevant"));
    assert_ne!(found[1].as_deref(), Some("irrelevant"), "models refuse wrongly");
}

#[test]
fn a_declined_query_in_the_script_of_its_docs_is_judged_like_an_english_one() {
    let tide = json!([{"name": "get_tide", "description": "查询某个港口在某一天的潮汐时间。",
        "parameters": {"type": "dict", "required": ["harbour"], "properties": {
            "harbour": {"type": "string", "description": "港口名称"}}}}]);
    let refusal = prose("抱歉，我没有可以做到这一点的工具。");
    let found = judged(&tide, &[("请给我讲一个关于猫头鹰的笑话", refusal)]);
    assert_eq!(found[0].as_deref(), Some("irrelevant"));
}

#[test]
fn a_call_whose_name_has_the_same_words_is_of_the_function() {
    let functions = json!([
        {"name": "get_result", "description": "Returns it.", "parameters": {"type": "dict", "required": ["race"],
            "properties": {"race": {"type": "string", "description": "It."}}}},
        {"name": "list_all", "description": "Lists it.", "parameters": {"type": "dict", "required": [], "properties": {}}},
    ]);
    let called = |name: &str, arguments: Value| json!({"role": "assistant", "content": "", "calls": [{"name": name, "arguments": arguments}]});
    let request = |name: &str, arguments: Value| {
        json!({"messages": [{"role": "user", "content": "Kan du slå opp Holmenkollen for meg?"}],
            "response": called(name, arguments)})
    };
    let requests =
        [request("result_get", json!({"race": "Holmenkollen"})), request("result_get", json!({"depth": 3}))];
    let tables = json!({"doc_lists": [{"functions": functions}], "requests": requests});
    let judged = fixture::judged(&JudgeQueries::default(), &tables);
    let counted = |row: usize| -> [u64; 2] {
        let basis: Value = serde_json::from_str(judged.cell(row, RELEVANCE_BASIS).unwrap()).unwrap();
        ["called", "stray"].map(|key| basis["evidence"][key].as_u64().unwrap())
    };
    assert_eq!(counted(0), [1, 0]);
    assert_eq!(counted(1), [0, 1], "the function has no such parameter");
    assert_eq!(judged.cell(0, RELEVANCE), Some("relevant"));
}

#[test]
fn a_query_of_low_quality_is_decided_by_rule_and_kept() {
    assert_eq!(n_held("The user did not provide a query.", &[json!({})]), 0);
}

#[test]
fn thresholds_must_be_probabilities_in_order() {
    let built = |settings: &str| {
        let settings: JudgeQueries = toml::from_str(settings).unwrap();
        settings.check()
    };
    assert_eq!(built("relevant_from = 0.8\nirrelevant_to = 0.2"), Ok(()));
    assert_eq!(built("relevant_from = 80"), Err("relevant_from must be from 0 to 1, not 80".to_owned()));
    assert!(built("relevant_from = 0.1\nirrelevant_to = 0.2").unwrap_err().contains("below relevant_from"));
    assert!(built("weights = \"nowhere.toml\"").unwrap_err().contains("nowhere.toml"));
    for precision in ["0.4", "1.1", "nan"] {
        let error = built(&format!("precision = {precision}")).unwrap_err();
        assert!(error.starts_with("precision must be from 0.5 to 1, not"), "{error}");
    }
}

/// Writes the built-in weights with another curve, which may be empty, to a file.
fn weights(curve: Vec<Point>) -> tempfile::NamedTempFile {
    let mut model = Model::embedded().clone();
    model.text.english.curve = curve;
    model.text.other.curve = Vec::new();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), model.to_toml()).unwrap();
    file
}

fn point(side: Label, precision: f64, threshold: f64) -> Point {
    Point { side, precision, threshold, coverage: 0.5, recall: 0.5, n_decided: 1, n_right: 1 }
}

#[test]
fn a_target_precision_takes_its_thresholds_from_the_curve_and_settings_override_them() {
    let file = weights(vec![point(Label::Relevant, 0.9, 0.0), point(Label::Relevant, 0.99, 0.9999)]);
    let stage = |settings: &str| -> JudgeQueries {
        let weights = format!("weights = {:?}\n", file.path());
        toml::from_str(&(weights + settings)).unwrap()
    };
    let list = json!({"functions": [{"name": "ring.bell", "description": "Rings a bell of the tower.", "parameters": {
        "type": "dict", "required": [], "properties": {"times": {"type": "integer", "description": "How often."}}}}]});
    let request = json!({"messages": [{"role": "user", "content": "Could you let the noon bell ring?"}]});
    let tables = json!({"doc_lists": [list], "requests": [request]});
    for (settings, relevance) in [
        ("", None),
        ("precision = 0.9", Some("relevant")),
        ("precision = 0.85", Some("relevant")),
        ("precision = 0.95", None),
        ("precision = 0.9\nrelevant_from = 0.9999", None),
    ] {
        let judged = fixture::judged(&stage(settings), &tables);
        assert_eq!(judged.cell(0, RELEVANCE), relevance, "{settings}");
        let noted = &judged.delta.notes[OPERATING_POINT];
        assert_eq!(noted["precision"].is_null(), settings.is_empty(), "{noted}");
        let held =
            noted["bins"].as_array().unwrap().iter().map(|bin| bin["held"].as_u64().unwrap()).sum::<u64>();
        assert_eq!(held, u64::from(relevance.is_none()), "{noted}");
        assert_eq!(noted["english"]["curve"][0]["requests"], 1, "{noted}");
        assert_eq!(noted["english"]["curve"][0]["additional"], u64::from(relevance.is_none()), "{noted}");
    }
    assert_eq!(stage("precision = 0.9").check(), Ok(()));
    let error = stage("precision = 0.995").check().unwrap_err();
    assert!(error.contains("not reached for either label"), "{error}");
    let without = weights(Vec::new());
    let stage = JudgeQueries {
        weights: Some(without.path().to_owned()),
        precision: Some(0.9),
        ..JudgeQueries::default()
    };
    let error = stage.check().unwrap_err();
    assert!(error.contains("needs a curve") && error.contains("\nhint: "), "{error}");
}
