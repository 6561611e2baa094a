//! Tests of the decoders of models: chosen by option or folder, named by a warning, and what is not official.

use std::path::PathBuf;

use super::{Bench, RIGHT, callsieve, data};
use serde_json::{Value, json};

/// The right answers as Qwen writes them with function calling.
fn tagged() -> [String; 5] {
    let call = |name: &str, bell: i64| {
        format!("<tool_call>\n{{\"name\": \"{name}\", \"arguments\": {{\"bell\": {bell}}}}}\n</tool_call>")
    };
    [
        call("tower.ring", 1),
        call("tower.ring", 2),
        call("ring", 3),
        format!("{}\n{}", call("ring", 2), call("ring", 1)),
        "There is no bell.".to_owned(),
    ]
}

impl Bench {
    fn tagged(&self, name: &str) {
        self.results(name, tagged().each_ref().map(String::as_str));
    }

    /// Returns what a command prints, without its line ends.
    fn words(&self, arguments: &[&str]) -> String {
        self.run(arguments).0.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Scores result files on a dataset of the data for tests.
fn scored(dataset: &str, arguments: &[&str]) -> Option<Value> {
    let dataset = data::path(dataset)?;
    let output = callsieve()
        .args(["evaluate", "--json", "--partial", "--dataset", dataset.to_str().unwrap()])
        .args(arguments)
        .output()
        .unwrap();
    Some(
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", crate::support::shown(&output))),
    )
}

fn files(folder: &str) -> Option<Vec<PathBuf>> {
    let folder = data::path(folder)?;
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    Some(files)
}

#[test]
fn a_folder_with_the_name_of_a_model_is_read_by_its_handler() {
    let bench = Bench::new();
    bench.tagged("result/Qwen_Qwen3-8B-FC/live/BFCL_v4_live_result.json");
    bench.tagged("qwen.jsonl");
    let of = |arguments: &[&str]| {
        let all = bench.json(arguments);
        (all["systems"][0]["correct"].clone(), all["systems"][0]["decoding"].clone(), all["warnings"].clone())
    };
    let (correct, decoding, warnings) = of(&["--results", "result"]);
    assert_eq!((correct, warnings), (json!(5), json!([])));
    assert_eq!(
        decoding,
        json!({"handler": "Qwen/Qwen3-8B-FC", "decoder": "tool-calls", "by_folder": true, "is_official": true,
               "strips_thinking": false})
    );
    let (text, _) = bench.run(&["--results", "result"]);
    assert!(
        text.contains("Decoded as the handler of Qwen/Qwen3-8B-FC does, by the name of the folder."),
        "{text}"
    );

    let (correct, decoding, warnings) = of(&["--results", "result", "--handler", "Qwen_Qwen3-8B-FC=default"]);
    assert_eq!((correct, &decoding["handler"]), (json!(1), &Value::Null));
    let expected = "Qwen_Qwen3-8B-FC: 5 of 5 outputs do not decode; the official handler of Qwen/Qwen3-8B-FC reads calls in 4 \
                    of these: give --handler Qwen_Qwen3-8B-FC=Qwen/Qwen3-8B-FC, or the name of a model with that form";
    assert_eq!(warnings, json!([expected]));

    let (correct, decoding, warnings) = of(&["--results", "qwen.jsonl"]);
    assert_eq!((correct, &decoding["decoder"]), (json!(1), &json!("default")));
    assert!(warnings[0].as_str().unwrap().contains("give --handler qwen=Qwen/Qwen3-"), "{warnings}");
    for name in ["Qwen/Qwen3-8B-FC", "Qwen_Qwen3-8B-FC", "ibm-granite/granite-4.0-350m"] {
        let (correct, decoding, _) = of(&["--results", "qwen.jsonl", "--handler", &format!("qwen={name}")]);
        assert_eq!((correct, &decoding["decoder"]), (json!(5), &json!("tool-calls")), "{name}");
    }
}

#[test]
fn a_handler_expects_the_names_that_its_model_was_given() {
    let bench = Bench::new();
    bench.tagged("tagged.jsonl");
    let handler = "tagged=NousResearch/Hermes-2-Pro-Mistral-7B";
    let all = bench.json(&["--results", "tagged.jsonl", "--handler", handler]);
    let of = &all["systems"][0];
    // Two entries have a dot in the name of the function.
    let categories = of["categories"].as_array().unwrap();
    let dots: u64 = categories.iter().map(|of| of["only_dots_differ"].as_u64().unwrap()).sum();
    assert_eq!((&of["correct"], dots), (&json!(3), 2));
    assert!(
        bench
            .words(&["--results", "tagged.jsonl", "--handler", handler])
            .contains("names of functions have _ for .")
    );
}

#[test]
fn an_unknown_handler_or_system_is_answered_with_the_way_on() {
    let bench = Bench::new();
    bench.results("right.jsonl", RIGHT);
    for (handler, expected) in [
        (
            "right=granite-20",
            "the official package has no model \"granite-20\"; names with it: ibm-granite/granite-20b",
        ),
        ("right=nothing", "docs/evaluate.md lists a model of each form"),
        ("right", "expected SYSTEM=NAME"),
        ("wrong=Qwen/Qwen3-8B-FC", "--handler: there is no system \"wrong\""),
    ] {
        let (text, code) = bench.run(&["--results", "right.jsonl", "--handler", handler]);
        assert!(code == Some(2) && text.contains(expected), "{handler}: {text}");
    }
}

#[test]
fn lenient_decoding_and_removed_thoughts_are_named_beside_the_scores() {
    let bench = Bench::new();
    bench.tagged("tagged.jsonl");
    let text = bench.words(&["--results", "tagged.jsonl", "--decode", "lenient"]);
    assert!(text.contains("so these scores are not official."), "{text}");
    let lenient = bench.json(&["--results", "tagged.jsonl", "--decode", "lenient"]);
    let of = &lenient["systems"][0];
    assert_eq!((&of["correct"], &of["decoding"]["is_official"]), (&json!(5), &json!(false)));

    let thoughts = RIGHT.map(|text| format!("<think>[ring(bell=9)]</think>\n\n{text}"));
    bench.results("thoughts.jsonl", thoughts.each_ref().map(String::as_str));
    assert_eq!(bench.json(&["--results", "thoughts.jsonl"])["systems"][0]["correct"], 1);
    let stripped = bench.json(&["--results", "thoughts.jsonl", "--strip-thinking"]);
    let of = &stripped["systems"][0];
    assert_eq!((&of["correct"], &of["decoding"]["strips_thinking"]), (&json!(5), &json!(true)));
}

#[test]
fn outputs_in_the_forms_of_fifteen_models_are_right_with_their_handlers() {
    let Some(files) = files("faults/40-models/decode") else { return };
    let stem = |file: &PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned();
    let handlers: Vec<String> = files.iter().map(|file| format!("--handler={0}={0}", stem(file))).collect();
    let mut arguments = vec!["--results"];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    let Some(plain) = scored("bfcl-v4-live", &arguments) else { return };
    let correct = |scores: &Value| {
        scores["systems"]
            .as_array()
            .unwrap()
            .iter()
            .map(|of| of["correct"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(correct(&plain), [0; 15]);
    for file in &files {
        let named = format!("{}: 1 of 1 outputs do not decode; the official handler of ", stem(file));
        let warnings = plain["warnings"].as_array().unwrap();
        assert!(warnings.iter().any(|warning| warning.as_str().unwrap().starts_with(&named)), "{named}");
    }
    arguments.extend(handlers.iter().map(String::as_str));
    let handled = scored("bfcl-v4-live", &arguments).unwrap();
    assert_eq!(correct(&handled), [1; 15], "{handled}");
    assert_eq!(handled["warnings"], json!([]));
}

#[test]
fn posted_outputs_of_hermes_have_the_posted_figure_with_its_handler() {
    let Some(file) = data::path("faults/40-models/posted_hermes/BFCL_v4_irrelevance_result.json") else {
        return;
    };
    let results = ["--results", file.to_str().unwrap()];
    let Some(plain) = scored("bfcl-v4-nonlive", &results) else { return };
    let of = |scores: &Value| {
        let category = &scores["systems"][0]["categories"][0];
        [&category["correct"], &category["n"], &category["unparsed_calls"]].map(|n| n.as_u64().unwrap())
    };
    assert_eq!(of(&plain), [240, 240, 210]);
    let warnings = plain["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|of| of.as_str().unwrap().contains("give --handler BFCL_v4_irrelevance=")),
        "{warnings:?}"
    );
    let handler = "--handler=BFCL_v4_irrelevance=NousResearch/Hermes-2-Pro-Mistral-7B";
    let handled = scored("bfcl-v4-nonlive", &[results[0], results[1], handler]).unwrap();
    assert_eq!(of(&handled)[..2], [54, 240]);
}

#[test]
fn calls_in_any_notation_among_abstentions_are_counted() {
    let Some(files) = files("faults/40-models/abstain") else { return };
    let Some(error) = data::path("faults/40-models/error_row/sys.jsonl") else { return };
    let mut arguments = vec!["--results", error.to_str().unwrap()];
    arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
    let Some(scores) = scored("faults/40-models/abstain/ds", &arguments) else { return };
    let of = |key: &str| -> Vec<u64> {
        let systems = scores["systems"].as_array().unwrap();
        systems.iter().map(|system| system["categories"][0][key].as_u64().unwrap()).collect()
    };
    assert_eq!(of("error_texts").iter().sum::<u64>(), 1);
    assert_eq!(of("unparsed_calls").iter().sum::<u64>(), 16);
}
