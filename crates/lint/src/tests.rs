//! Tests of every rule for questions and answers, on an example that breaks it and a similar one that does not.

// Passing `json!` by value keeps the tests readable.
#![allow(clippy::needless_pass_by_value)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Value, json};

use super::rules::RULES;
use super::*;
use callsieve_bfcl::files::QuestionFile;

fn lines(values: Vec<Value>) -> Vec<Line> {
    values.into_iter().enumerate().map(|(at, value)| Line { number: at + 1, value }).collect()
}

fn file(name: &str, questions: Vec<Value>, answers: Option<Vec<Value>>) -> InputFile {
    let path = PathBuf::from(format!("BFCL_{name}.json"));
    let questions_file = QuestionFile::of(&path);
    let answers = answers.map(lines);
    InputFile { path, questions: questions_file, lines: lines(questions), answers, in_folder: true }
}

fn codes(file: InputFile) -> BTreeSet<&'static str> {
    let findings = check(&[file]).findings;
    findings.iter().map(|finding| finding.rule.code).filter(|code| !code.starts_with("schema/")).collect()
}

/// Returns a function with these properties; `a` is required if it exists.
fn function(properties: Value) -> Value {
    let required = if properties.get("a").is_some() { json!(["a"]) } else { json!([]) };
    json!({"name": "f", "description": "d", "parameters": {"type": "dict", "required": required, "properties": properties}})
}

fn question(id: &str, functions: Value) -> Value {
    json!({"id": id, "question": [[{"role": "user", "content": "Ring."}]], "function": functions})
}

/// Returns an entry that no entry with another id equals.
fn plain(id: &str) -> Value {
    let mut entry = question(id, json!([function(json!({}))]));
    entry["question"][0][0]["content"] = json!(format!("Ring {id}."));
    entry
}

/// Checks questions of an irrelevance file, which has no answers.
fn questions(questions: Vec<Value>) -> BTreeSet<&'static str> {
    codes(file("v4_live_irrelevance", questions, None))
}

/// Checks one simple entry whose function has these parameters, with a ground truth.
fn answered(properties: Value, ground_truth: Value) -> BTreeSet<&'static str> {
    let id = "live_simple_0-0-0";
    let questions = vec![question(id, json!([function(properties)]))];
    codes(file("v4_live_simple", questions, Some(vec![json!({"id": id, "ground_truth": ground_truth})])))
}

/// Checks one required parameter of a type with its alternatives.
fn given(kind: &str, alternatives: Value) -> BTreeSet<&'static str> {
    let has_dicts = alternatives.to_string().contains('{');
    let items = if has_dicts { json!({"type": "dict", "properties": {}}) } else { json!({"type": "string"}) };
    let schema = json!({"type": kind, "description": "x", "items": items, "properties": {}});
    answered(json!({"a": schema}), json!([{"f": {"a": alternatives}}]))
}

#[test]
fn a_valid_dataset_has_no_findings() {
    let ids = ["0-0-0", "1-0-1", "2-1-0"].map(|id| format!("live_irrelevance_{id}"));
    assert_eq!(questions(ids.iter().map(|id| plain(id)).collect()), BTreeSet::new());
    let ours = ["0-ts0-u0", "1-ts0-u1", "2-ts1-u0"].map(|id| format!("live_irrelevance_{id}"));
    assert_eq!(questions(ours.iter().map(|id| plain(id)).collect()), BTreeSet::new());
    assert_eq!(
        codes(file("v4_irrelevance", vec![plain("irrelevance_0"), plain("irrelevance_1")], None)),
        BTreeSet::new()
    );
    for (kind, alternatives) in [
        ("string", json!(["noon", "Noon"])),
        ("integer", json!([3])),
        ("float", json!([3, 3.5])),
        ("integer", json!([null])),
        ("array", json!([["a", "b"], []])),
        ("array", json!([[{"b": ["x"]}]])),
        ("dict", json!([{"b": ["x", ""]}])),
        ("any", json!([{"b": 1}, "x"])),
    ] {
        assert_eq!(given(kind, alternatives.clone()), BTreeSet::new(), "{kind} {alternatives}");
    }
}

#[test]
fn every_rule_fires_on_its_example() {
    let id = "live_irrelevance_0-0-0";
    let asks = |question: Value| vec![json!({"id": id, "question": question, "function": []})];
    let user = json!({"role": "user", "content": "Ring."});
    let assistant = json!({"role": "assistant", "content": "Rung."});
    let two = |second: &str| questions(vec![plain(id), plain(second)]);
    let simple =
        |questions: Vec<Value>, answers: Vec<Value>| codes(file("v4_live_simple", questions, Some(answers)));
    let a = json!({"a": {"type": "string", "description": "x"}});
    let cases: Vec<(&str, BTreeSet<&str>)> = vec![
        (
            "dataset/keys",
            questions(vec![json!({"id": id, "question": [[user]], "function": [], "extra": 1})]),
        ),
        ("dataset/key-order", questions(vec![json!({"id": id, "function": [], "question": [[user]]})])),
        ("dataset/id-form", questions(vec![plain("irrelevance_0")])),
        (
            "dataset/id-order",
            questions(
                ["0-0-0", "1-0-1", "0-0-2"].map(|id| plain(&format!("live_irrelevance_{id}"))).to_vec(),
            ),
        ),
        ("dataset/id-gap", two("live_irrelevance_2-1-0")),
        ("dataset/list-number", two("live_irrelevance_1-2-0")),
        ("dataset/duplicate-id", two(id)),
        ("dataset/unreadable-question", questions(asks(json!([[{"role": "user"}]])))),
        ("dataset/question-form", questions(asks(json!([user])))),
        ("dataset/several-turns", questions(asks(json!([[user], [user]])))),
        ("dataset/last-not-user", questions(asks(json!([[user, assistant]])))),
        (
            "dataset/function-count",
            codes(file(
                "v4_live_multiple",
                vec![plain("live_multiple_0-0-0")],
                Some(vec![json!({"id": "live_multiple_0-0-0", "ground_truth": [{"f": {}}]})]),
            )),
        ),
        ("answer/no-file", codes(file("v4_live_simple", vec![plain("live_simple_0-0-0")], None))),
        ("answer/not-aligned", simple(vec![plain("live_simple_0-0-0")], vec![])),
        ("answer/unreadable", answered(json!({}), json!([{"f": {}, "g": {}}]))),
        ("answer/call-count", answered(json!({}), json!([{"f": {}}, {"f": {}}]))),
        ("answer/unknown-function", answered(json!({}), json!([{"g": {}}]))),
        ("answer/unknown-parameter", answered(json!({}), json!([{"f": {"b": [1]}}]))),
        ("answer/missing-required", answered(a, json!([{"f": {}}]))),
        ("answer/no-alternatives", given("string", json!([]))),
        ("answer/alternative-form", given("array", json!(["x"]))),
        ("answer/null-in-container", given("dict", json!([null]))),
        ("answer/mixed-null", given("string", json!(["x", null]))),
        ("answer/omittable-required", given("string", json!(["", "x"]))),
        ("answer/wrong-type", given("boolean", json!(["dontcare"]))),
    ];
    // Found together with others, of which they are the reason or the effect.
    let with = |code: &str| match code {
        "answer/unknown-parameter" | "answer/missing-required" | "answer/no-alternatives" => {
            vec!["answer/unsatisfiable"]
        }
        "answer/mixed-null" => vec!["answer/dead-alternative"],
        _ => vec![],
    };
    for (code, found) in &cases {
        let expected: BTreeSet<&str> = with(code).into_iter().chain([*code]).collect();
        assert_eq!(*found, expected, "{code}");
    }
    let shown: BTreeSet<&str> = cases.iter().map(|(code, _)| *code).collect();
    let others = RULES.iter().filter(|rule| rule.example.is_none());
    assert_eq!(shown, others.map(|rule| rule.code).collect(), "every other rule has a printed example");
}

/// Returns the codes that an example of `explain` gets: entries with their answers, in files by the category of the id.
fn codes_of_entries(entries: &str) -> BTreeSet<&'static str> {
    let entries: Vec<Value> = serde_json::from_str(entries).unwrap();
    let mut files: BTreeMap<String, (Vec<Value>, Vec<Value>)> = BTreeMap::new();
    for mut entry in entries {
        let ground_truth = entry.as_object_mut().unwrap().shift_remove("ground_truth");
        let id = entry["id"].as_str().unwrap().to_owned();
        let (category, _) = id.rsplit_once('_').unwrap();
        let (questions, answers) = files.entry(format!("v4_{category}")).or_default();
        questions.push(entry);
        answers.extend(ground_truth.map(|ground_truth| json!({"id": id, "ground_truth": ground_truth})));
    }
    let files: Vec<InputFile> = files
        .into_iter()
        .map(|(name, (questions, answers))| {
            file(&name, questions, Some(answers).filter(|answers| !answers.is_empty()))
        })
        .collect();
    check(&files).findings.iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn printed_examples_have_one_fault_or_none() {
    let mut n_examples = 0;
    for rule in &RULES {
        let Some(example) = rule.example else { continue };
        assert_eq!(codes_of_entries(example.quiet), BTreeSet::new(), "{}", rule.code);
        let also = (rule.code == "answer/only-empty-value").then_some("answer/omittable-required");
        assert_eq!(codes_of_entries(example.fires), also.into_iter().chain([rule.code]).collect());
        n_examples += 1;
    }
    assert_eq!(n_examples, 10);
}

#[test]
fn a_call_with_any_value_agrees_with_relevance_and_contradicts_irrelevance() {
    let of = |categories: [&str; 2]| {
        let entries = categories.map(|category| {
            let mut entry = plain("x");
            entry["id"] = json!(format!("live_{category}_0-0-0"));
            if !category.contains("relevance") {
                entry["ground_truth"] = json!([{"f": {}}]);
            }
            entry
        });
        codes_of_entries(&json!(entries).to_string())
    };
    assert_eq!(of(["relevance", "simple"]), BTreeSet::from(["dataset/duplicate-entry"]));
    for categories in [["irrelevance", "relevance"], ["irrelevance", "simple"]] {
        assert_eq!(of(categories), BTreeSet::from(["dataset/contradicting-labels"]));
    }
}

#[test]
fn answers_to_one_question_contradict_each_other_where_no_output_passes_both() {
    let of = |category: &str, truths: [Value; 2]| {
        let schema = json!({"type": "dict", "required": [], "properties": {
            "a": {"type": "string", "description": "x", "default": "y"}}});
        let mut nth = 0;
        let entries = truths.map(|truth| {
            let mut entry = plain("x");
            entry["id"] = json!(format!("live_{category}_{nth}-0-{nth}"));
            entry["function"][0]["parameters"] = schema.clone();
            entry["ground_truth"] = truth;
            nth += 1;
            entry
        });
        codes_of_entries(&json!(entries).to_string())
    };
    let call = |alternatives: Value| json!([{"f": {"a": alternatives}}]);
    for (one, two, is_contradiction) in [
        (call(json!(["x"])), call(json!(["z"])), true),
        (call(json!(["x"])), call(json!(["", "y"])), true),
        (call(json!(["Noon bell"])), call(json!(["noon-bell", "z"])), false),
        (call(json!(["", "x"])), call(json!(["", "z"])), false),
        (call(json!(["", "x"])), json!([{"f": {}}]), false),
    ] {
        let found = of("simple", [one.clone(), two.clone()]);
        assert_eq!(
            found.contains("dataset/contradicting-answers"),
            is_contradiction,
            "{one} {two}: {found:?}"
        );
        assert_eq!(found.contains("dataset/duplicate-entry"), !is_contradiction, "{one} {two}: {found:?}");
    }
    let two = |a: &str, b: &str| json!([{"f": {"a": [a]}}, {"f": {"a": [b]}}]);
    assert!(of("parallel", [two("x", "z"), two("z", "x")]).contains("dataset/duplicate-entry"));
    let three = json!([{"f": {"a": ["x"]}}, {"f": {"a": ["x"]}}, {"f": {"a": ["x"]}}]);
    assert!(of("parallel", [two("x", "z"), three]).contains("dataset/contradicting-answers"));
}

#[test]
fn answers_are_paired_by_position() {
    let ids = ["live_simple_0-0-0", "live_simple_1-1-0"];
    let answer = |id: &str| json!({"id": id, "ground_truth": [{"f": {}}]});
    let paired = |answers: Vec<Value>| codes(file("v4_live_simple", ids.map(plain).to_vec(), Some(answers)));
    assert_eq!(paired(ids.map(answer).to_vec()), BTreeSet::new());
    let aligned = BTreeSet::from(["answer/not-aligned"]);
    assert_eq!(paired(vec![answer(ids[1]), answer(ids[0])]), aligned);
    assert_eq!(paired(vec![answer(ids[0]), answer(ids[1]), answer("live_simple_2-2-0")]), aligned);
}

#[test]
fn a_member_of_a_dict_must_list_alternatives() {
    assert_eq!(given("dict", json!([{"b": "x"}])), BTreeSet::from(["answer/alternative-form"]));
    assert_eq!(given("array", json!([[{"b": "x"}]])), BTreeSet::from(["answer/alternative-form"]));
}

#[test]
fn version_two_has_questions_without_turns_and_other_languages_have_other_types() {
    let flat = json!({"id": "live_simple_0-0-0", "question": [{"role": "user", "content": "Ring."}], "function": [function(json!({}))]});
    let answers = vec![json!({"id": "live_simple_0-0-0", "ground_truth": [{"f": {}}]})];
    assert_eq!(codes(file("v2_live_simple", vec![flat], Some(answers))), BTreeSet::new());
    let java =
        question("simple_java_0", json!([function(json!({"a": {"type": "HashMap", "description": "x"}}))]));
    let answers = vec![json!({"id": "simple_java_0", "ground_truth": [{"f": {"a": ["new HashMap<>()"]}}]})];
    let report = check(&[file("v4_simple_java", vec![java], Some(answers))]);
    assert_eq!(report.findings.len() + report.linter.len(), 0, "{:?}", report.findings);
}

#[test]
fn rules_for_answers_have_the_sentences_of_draft_answers() {
    use callsieve_answers::fault::AnswerFault;
    for fault in AnswerFault::ALL {
        if let Some(rule) = RULES.iter().find(|rule| rule.code == fault.code()) {
            assert_eq!(rule.what(), fault.what());
        }
    }
}
