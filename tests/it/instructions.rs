//! Tests of instruction sets and API collections as commands make them: numbers, bytes, values, forms, exit codes.

use std::path::Path;

use callsieve_programs::program::ResultPath;
use serde_json::{Value, json};

use crate::support::{assert_same_bytes, callsieve, output, shown, stable_bytes};

/// Makes instructions over the sample workshop.
fn generate(out: &Path, accept: &str, more: &[&str]) -> std::process::Output {
    let mut command = callsieve();
    command.args([
        "generate",
        "raw/repair-shop.toml",
        "--bindings",
        "raw/repair-shop.bindings.toml",
        "--quiet",
    ]);
    command.args(["--accept", accept, "--out"]).arg(out).args(more).output().unwrap()
}

fn lines(run: &Path, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(run.join("dataset").join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn as_many_instructions_as_are_wanted_are_written_with_the_same_bytes_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, more] = ["one", "two", "more"].map(|name| folder.path().join(name));
    for (out, accept, threads) in [(&one, "40", "1"), (&two, "40", "3"), (&more, "90", "2")] {
        let made = generate(out, accept, &["--threads", threads]);
        assert!(made.status.success(), "{}", shown(&made));
    }
    assert_same_bytes(&stable_bytes(&one), &stable_bytes(&two));
    let (few, many) = (lines(&one, "programs.jsonl"), lines(&more, "programs.jsonl"));
    assert_eq!((few.len(), many.len()), (40, 90));
    assert_eq!(few, many[..40], "the first instructions are the same however many are wanted");
    let other = folder.path().join("other");
    assert!(generate(&other, "40", &["--seed", "2"]).status.success());
    assert_ne!(few, lines(&other, "programs.jsonl"));
    // The next call finds everything done.
    let again = generate(&one, "40", &[]);
    assert!(again.status.success() && again.stderr.is_empty(), "{}", shown(&again));
}

#[test]
fn every_argument_is_in_the_words_of_the_user_or_in_an_earlier_result() {
    let folder = tempfile::tempdir().unwrap();
    assert!(generate(folder.path(), "80", &[]).status.success());
    let records = lines(folder.path(), "programs.jsonl");
    let (mut n_said, mut n_linked) = (0, 0);
    for record in &records {
        let calls = record["calls"].as_array().unwrap();
        for (nth, call) in calls.iter().enumerate() {
            let provenance = call["provenance"].as_object().unwrap();
            let arguments = call["arguments"].as_object().unwrap();
            assert_eq!(provenance.keys().collect::<Vec<_>>().len(), arguments.len());
            for (parameter, value) in arguments {
                let from = &provenance[parameter];
                if from["from"] == "result" {
                    let place: ResultPath = from["path"].as_str().unwrap().parse().unwrap();
                    assert_eq!(call["references"][parameter], from["path"]);
                    assert!(place.step < nth);
                    assert_eq!(&place.path.find(&calls[place.step]["result"]), std::slice::from_ref(value));
                    n_linked += 1;
                } else {
                    let turn = number(&from["turn"]) - 1;
                    let user = record["turns"][turn]["user"].as_str().unwrap();
                    let [start, end] = [0, 1].map(|at: usize| number(&from["span"][at]));
                    let words: String = user.chars().skip(start).take(end - start).collect();
                    assert_eq!(from["words"], words.as_str());
                    n_said += 1;
                }
            }
        }
    }
    assert!(n_said > 60 && n_linked > 20, "{n_said} {n_linked}");
}

#[test]
fn every_form_has_the_calls_of_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    assert!(generate(folder.path(), "60", &[]).status.success());
    let programs = lines(folder.path(), "programs.jsonl");
    let gold = |record: &Value| -> Vec<Value> {
        let calls = record["calls"].as_array().unwrap().iter();
        calls.map(|call| json!({"name": call["name"], "arguments": call["arguments"]})).collect()
    };
    let parsed = |text: &Value| -> Value { serde_json::from_str(text.as_str().unwrap()).unwrap() };
    for (line, program) in lines(folder.path(), "openai.jsonl").iter().zip(&programs) {
        let messages = line["messages"].as_array().unwrap();
        let calls =
            messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
        let read: Vec<Value> = calls
            .map(|call| json!({"name": call["function"]["name"], "arguments": parsed(&call["function"]["arguments"])}))
            .collect();
        assert_eq!((&line["id"], read), (&program["id"], gold(program)));
        assert_eq!(line["loss_mask"].as_array().unwrap().len(), messages.len());
        // Each result answers a call before it.
        for (at, message) in messages.iter().enumerate().filter(|(_, message)| message["role"] == "tool") {
            let asked = messages[..at]
                .iter()
                .flat_map(|earlier| earlier["tool_calls"].as_array().into_iter().flatten());
            assert!(asked.into_iter().any(|call| call["id"] == message["tool_call_id"]));
        }
        let offered: Vec<&Value> =
            line["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(json!(offered), program["offered"]);
    }
    for (line, program) in lines(folder.path(), "sharegpt.jsonl").iter().zip(&programs) {
        let turns =
            line["conversations"].as_array().unwrap().iter().filter(|turn| turn["from"] == "function_call");
        let read: Vec<Value> = turns
            .flat_map(|turn| match parsed(&turn["value"]) {
                Value::Array(calls) => calls,
                call => vec![call],
            })
            .collect();
        assert_eq!(read, gold(program));
    }
    for line in &lines(folder.path(), "hermes.jsonl") {
        let program = programs.iter().find(|program| program["id"] == line["id"]).unwrap();
        let turns = line["conversations"].as_array().unwrap().iter().filter(|turn| turn["from"] == "gpt");
        let text: String = turns.map(|turn| turn["value"].as_str().unwrap().to_owned() + "\n").collect();
        let calls =
            text.split("<tool_call>\n").skip(1).map(|part| part.split("\n</tool_call>").next().unwrap());
        let read: Vec<Value> = calls.map(|call| serde_json::from_str(call).unwrap()).collect();
        assert_eq!(read, gold(program));
    }
    for line in &lines(folder.path(), "xlam.jsonl") {
        let program = programs.iter().find(|program| program["id"] == line["id"]).unwrap();
        assert_eq!(parsed(&line["answers"]), Value::Array(gold(program)));
    }
    let checked = output(&["check", folder.path().join("dataset/bfcl").to_str().unwrap()]);
    assert!(checked.status.success(), "{}", shown(&checked));
}

#[test]
fn a_collection_without_an_environment_gives_unverified_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let (run, out) = (folder.path().join("shop"), folder.path().join("made"));
    let collected =
        output(&["collect", "examples/repair-shop/tools.json", "--quiet", "--out", run.to_str().unwrap()]);
    assert!(collected.status.success(), "{}", shown(&collected));
    let bindings = folder.path().join("values.toml");
    std::fs::write(
        &bindings,
        "[parameters.order_id]\nvalues = [\"R-1\", \"R-2\", \"R-3\"]\nnoun = \"order\"\n",
    )
    .unwrap();
    let args = [
        "generate",
        run.to_str().unwrap(),
        "--bindings",
        bindings.to_str().unwrap(),
        "--accept",
        "40",
        "--out",
    ];
    let made = output(&[&args[..], &[out.to_str().unwrap()]].concat());
    assert!(made.status.success(), "{}", shown(&made));
    assert!(lines(&out, "programs.jsonl").is_empty());
    let programs = lines(&out, "unverified/programs.jsonl");
    assert_eq!(programs.len(), 40);
    for program in &programs {
        assert_eq!((&program["tier"], &program["origin"]), (&json!("unexecuted"), &json!("unexecuted")));
        assert!(program["calls"].as_array().unwrap().iter().all(|call| call["result"].is_null()));
    }
    for line in lines(&out, "unverified/openai.jsonl") {
        assert!(line["messages"].as_array().unwrap().iter().all(|message| message["role"] != "tool"));
    }
    let card = std::fs::read_to_string(out.join("dataset/README.md")).unwrap();
    assert!(card.contains("Nothing was executed"), "{card}");
    // Of the workshop itself, only the functions of a collection are called.
    let few = folder.path().join("few.json");
    let tools: Vec<Value> =
        serde_json::from_slice(&std::fs::read("examples/repair-shop/tools.json").unwrap()).unwrap();
    let named =
        |tool: &&Value| ["get_order", "find_orders", "cancel_order"].iter().any(|name| tool["name"] == *name);
    std::fs::write(&few, json!(tools.iter().filter(named).collect::<Vec<_>>()).to_string()).unwrap();
    let (run, out) = (folder.path().join("few"), folder.path().join("of-few"));
    let collected = output(&["collect", few.to_str().unwrap(), "--quiet", "--out", run.to_str().unwrap()]);
    assert!(collected.status.success(), "{}", shown(&collected));
    let args = [
        "generate",
        run.to_str().unwrap(),
        "--environment",
        "raw/repair-shop.toml",
        "--accept",
        "10",
        "--out",
    ];
    let made = output(&[&args[..], &[out.to_str().unwrap()]].concat());
    assert!(made.status.success(), "{}", shown(&made));
    for program in lines(&out, "programs.jsonl") {
        assert_eq!(program["tier"], "executed");
        assert!(program["offered"].as_array().unwrap().len() <= 3);
    }
    let of_file = output(&["generate", "raw/repair-shop.toml", "--environment", "raw/repair-shop.toml"]);
    assert_eq!(of_file.status.code(), Some(2), "{}", shown(&of_file));
    let of_no_run = output(&["generate", folder.path().to_str().unwrap()]);
    assert!(shown(&of_no_run).contains("not the run folder of a collection"), "{}", shown(&of_no_run));
}

#[test]
fn the_pipeline_of_a_collection_is_run_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let of_tools = |inputs: &str| {
        let recipe = std::fs::read_to_string("pipelines/collection.toml").unwrap();
        recipe.replace("# inputs = [\"apis/\"]", &format!("inputs = [\"{inputs}\"]"))
    };
    std::fs::write(at("tools.toml"), of_tools("examples/repair-shop/tools.json")).unwrap();
    let run = |collection: &str, out: &str| {
        let set = format!("ingest.collection={collection:?}");
        let args = ["run", "pipelines/instructions.toml", "--set", "ingest.accept=20", "--out", out];
        output(&[&args[..], &["--set", &set]].concat())
    };
    let (first, of_folder) = (at("first"), at("of-folder"));
    let made = run(&at("tools.toml"), &first);
    assert!(made.status.success(), "{}", shown(&made));
    let collection = at("first-collection");
    assert!(Path::new(&collection).join("dataset/functions.jsonl").is_file());
    // The same as with the folder that it made.
    assert!(run(&collection, &of_folder).status.success());
    let programs = |out: &str| std::fs::read(Path::new(out).join("dataset/programs.jsonl")).unwrap();
    assert_eq!(programs(&first), programs(&of_folder));
    // A second run takes both over.
    let again = run(&at("tools.toml"), &first);
    assert!(shown(&again).contains("reused"), "{}", shown(&again));
    assert!(output(&["verify", &first]).status.success());
    let refused = |collection: &str| {
        let made = run(collection, &at("refused"));
        assert_eq!(made.status.code(), Some(2), "{}", shown(&made));
        shown(&made)
    };
    assert!(refused("pipelines/instructions.toml").contains("it makes no collection"));
    std::fs::write(at("none.toml"), of_tools("missing.json")).unwrap();
    assert!(refused(&at("none.toml")).contains("missing.json"));
    assert!(refused(&at("nothing.toml")).contains("nothing.toml"));
    let planned = output(&[
        "plan",
        "pipelines/instructions.toml",
        "--set",
        &format!("ingest.collection={:?}", at("tools.toml")),
    ]);
    assert!(planned.status.success(), "{}", shown(&planned));
}

#[test]
fn recorded_calls_leave_out_functions_that_do_not_answer() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let log = [
        json!({"tool": "tools", "function": "get_order", "status": 200, "body": "{\"id\": \"R-1\"}"}),
        json!({"tool": "tools", "function": "find_orders", "error": "timeout"}),
        json!({"tool": "tools", "function": "get_customer", "status": 500, "body": "Internal Server Error"}),
        json!({"tool": "other", "function": "cancel", "status": 200, "body": "{}"}),
        json!({"function": "get_order"}),
    ];
    let lines: Vec<String> = log.iter().map(Value::to_string).collect();
    std::fs::write(at("log.jsonl"), lines.join("\n")).unwrap();
    let args = ["collect", "examples/repair-shop/tools.json", "--out"];
    let made = output(&[&args[..], &[&at("run"), "--calls", &at("log.jsonl")]].concat());
    assert!(made.status.success(), "{}", shown(&made));
    let text = shown(&made);
    for part in [
        "collect/bad-answers          1",
        "collect/never-answered       1",
        "collect/unreadable-line      1",
        "calls     of 3 functions; 22 were not called and are kept; other calls: 1",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let names = std::fs::read_to_string(folder.path().join("run/dataset/functions.jsonl")).unwrap();
    let has = |name: &str| names.contains(&format!("\"name\":\"{name}\""));
    assert!(has("get_order") && has("cancel_order") && !has("find_orders") && !has("get_customer"));
    // Rules of one's own: a status is no fault.
    let rules = "[verdict]\nmin_good_calls = 1\nmax_bad_share = 0.5\n";
    std::fs::write(at("rules.toml"), rules).unwrap();
    let own = ["--calls", &at("log.jsonl"), "--probe-rules", &at("rules.toml")];
    let made = output(&[&args[..], &[&at("own")], &own].concat());
    assert!(!shown(&made).contains("collect/bad-answers"), "{}", shown(&made));
}

#[test]
fn results_are_shortened_in_the_forms_for_training_only() {
    let folder = tempfile::tempdir().unwrap();
    assert!(generate(folder.path(), "90", &["--set", "export.max_result_tokens=30"]).status.success());
    let programs = lines(folder.path(), "programs.jsonl");
    let (mut n_whole, mut n_shorter) = (0, 0);
    for (line, program) in lines(folder.path(), "openai.jsonl").iter().zip(&programs) {
        let results = line["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
        for (message, call) in results.zip(program["calls"].as_array().unwrap()) {
            let content = message["content"].as_str().unwrap();
            let whole = call["result"].as_str().map_or_else(|| call["result"].to_string(), str::to_owned);
            assert!(content.len() <= whole.len());
            n_whole += usize::from(content == whole);
            n_shorter += usize::from(content != whole);
        }
    }
    assert!(n_whole > 20 && n_shorter > 3, "{n_whole} {n_shorter}");
}

#[test]
fn why_shows_the_calls_of_an_instruction_and_the_page_its_strata() {
    let folder = tempfile::tempdir().unwrap();
    assert!(generate(folder.path(), "60", &[]).status.success());
    let programs = lines(folder.path(), "programs.jsonl");
    let linked = |program: &&Value| {
        program["calls"]
            .as_array()
            .is_some_and(|calls| calls.iter().any(|call| call["references"] != json!({})))
    };
    let chain = programs.iter().find(linked).unwrap();
    let story = shown(&output(&["why", folder.path().to_str().unwrap(), chain["id"].as_str().unwrap()]));
    for call in chain["calls"].as_array().unwrap() {
        assert!(story.contains(call["name"].as_str().unwrap()), "{story}");
        for place in call["references"].as_object().unwrap().values() {
            assert!(story.contains(&format!("from {}", place.as_str().unwrap())), "{story}");
        }
    }
    assert!(story.contains(" in turn 1, taken from "), "{story}");
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    for part in ["Strata", "Rejected candidates", "program/no-program", "multi-turn", "How to rebuild"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("BFCL's") && !page.contains("Lines without a request"), "{page}");
}

#[test]
fn the_workshop_as_a_server_gives_the_same_instructions() {
    if callsieve_testkit::tools::python3().is_none() {
        return;
    }
    let (declared, served) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(generate(declared.path(), "60", &[]).status.success());
    let args = [
        "generate",
        "examples/repair-shop/environment.toml",
        "--bindings",
        "raw/repair-shop.bindings.toml",
        "--accept",
        "60",
    ];
    let made = output(&[&args[..], &["--out", served.path().to_str().unwrap()]].concat());
    assert!(made.status.success(), "{}", shown(&made));
    let programs = |folder: &Path| {
        let mut programs = lines(folder, "programs.jsonl");
        for program in &mut programs {
            // What the results of a server are is for its owner to say.
            program["origin"] = Value::Null;
        }
        programs
    };
    assert_eq!(programs(declared.path()), programs(served.path()));
}

#[test]
fn candidates_that_run_out_have_an_exit_code_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let made = generate(folder.path(), "5000", &["--max-candidates", "300"]);
    assert_eq!(made.status.code(), Some(4), "{}", shown(&made));
    let message = String::from_utf8(made.stderr).unwrap();
    assert!(message.contains("of 5,000 instructions: 300 candidates were made"), "{message}");
    let n = lines(folder.path(), "programs.jsonl").len();
    assert!(n > 50 && n < 300, "{n}");
}

#[test]
fn a_rejected_candidate_has_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    assert!(generate(folder.path(), "60", &[]).status.success());
    let ledger = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&ledger).unwrap();
    let n_rejected: u64 =
        report["line_reasons"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(report["ingest"]["lines"], json!(60 + n_rejected));
    let numbers: Vec<u64> = lines(folder.path(), "programs.jsonl")
        .iter()
        .map(|record| record["id"].as_str().unwrap()[1..].parse().unwrap())
        .collect();
    let rejected = (1..1000).find(|number| !numbers.contains(number)).unwrap();
    let told = output(&["why", folder.path().to_str().unwrap(), &format!("repair-shop.toml#{rejected}")]);
    assert!(shown(&told).contains("no-request: program/"), "{}", shown(&told));
}

#[test]
fn an_environment_or_bindings_with_a_fault_are_named_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let bad = folder.path().join("bindings.toml");
    std::fs::write(&bad, "[functions.cancel]\nskip = true\n").unwrap();
    let refused =
        output(&["generate", "raw/repair-shop.toml", "--bindings", bad.to_str().unwrap(), "--out", "unused"]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    assert!(shown(&refused).contains("unknown function \"cancel\""), "{}", shown(&refused));
    std::fs::write(&bad, "[parameters.order_id]\nfrom = [\"state:orders[*].number\"]\n").unwrap();
    let refused =
        output(&["generate", "raw/repair-shop.toml", "--bindings", bad.to_str().unwrap(), "--out", "unused"]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    assert!(shown(&refused).contains("no initial state has \"number\" there"), "{}", shown(&refused));
    let refused = output(&["generate", "raw/nothing.toml", "--out", "unused"]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
}

#[test]
fn tools_of_several_files_have_legal_names_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (api, tools, out) =
        (folder.path().join("api.json"), folder.path().join("tools.json"), folder.path().join("out"));
    let operation = |id: &str, what: &str| {
        json!({"operationId": id, "description": what, "parameters": [
            {"name": "branch", "in": "query", "schema": {"type": "string", "enum": ["north", "south"], "default": "north"}}]})
    };
    let description = json!({"openapi": "3.0.0", "info": {"title": "Lending desk", "version": "1"},
        "servers": [{"url": "https://desk.example"}],
        "paths": {"/loans": {"get": operation("list loans!", "Lists the loans of a branch.")},
                  "/returns": {"get": operation("list_returns", "")}}});
    std::fs::write(&api, description.to_string()).unwrap();
    let listed = json!({"tools": [{"name": "list_loans_", "description": "Lists loans by reader.", "inputSchema":
        {"type": "object", "properties": {"reader": {"type": ["string", "null"]}}}}]});
    std::fs::write(&tools, listed.to_string()).unwrap();
    let draft = folder.path().join("draft.toml");
    let collected = callsieve().args(["collect", "--out"]).arg(&out).args([&api, &tools]).output().unwrap();
    assert!(collected.status.success(), "{}", shown(&collected));
    assert!(shown(&collected).contains("collect/no-description      1"), "{}", shown(&collected));
    let names: Vec<Value> = lines(&out, "names.jsonl");
    assert_eq!(names.len(), 2, "{names:?}");
    let is_legal =
        |name: &str| name.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"_-".contains(&sign));
    assert!(names.iter().all(|entry| is_legal(entry["name"].as_str().unwrap())), "{names:?}");
    assert_ne!(names[0]["name"], names[1]["name"]);
    let of_desk =
        lines(&out, "tools.jsonl").into_iter().find(|tool| tool["host"] == "https://desk.example").unwrap();
    let parameter = &of_desk["functions"][0]["doc"]["parameters"]["properties"]["branch"];
    assert_eq!((&parameter["default"], &parameter["enum"]), (&json!("north"), &json!(["north", "south"])));
    assert_eq!(of_desk["functions"][0]["path"], "/loans");
    let drafted = callsieve()
        .args(["collect", "--quiet", "--fresh", "--declare"])
        .args([&draft, &api])
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(drafted.status.success(), "{}", shown(&drafted));
    assert!(std::fs::read_to_string(&draft).unwrap().contains("[tables."));
}

#[test]
fn files_without_a_tool_fail_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, out) = (folder.path().join("empty.json"), folder.path().join("out"));
    std::fs::write(&empty, "").unwrap();
    let collected = callsieve().args(["collect", "--out"]).arg(&out).arg(&empty).output().unwrap();
    assert_eq!(collected.status.code(), Some(1), "{}", shown(&collected));
}
