//! The whole row through the command: every place of a text, a call and a function doc, in the notations and columns of training
//! sets, and what everybody writes, which proves nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{callsieve, shown};
use serde_json::{Value, json};

const QUERY: &str = "Which of the lamps on the northern pier have burnt for more than nine hundred hours since the spring fair?";
const SLOT: &str = "My order number is 4471.";

fn lamps() -> Value {
    json!({"name": "list_pier_lamps", "description": "Lists the lamps of a pier that have burnt for long, with their places.",
        "parameters": {"type": "dict", "required": ["pier", "min_hours"], "properties": {
            "pier": {"type": "string", "description": "The pier on which the lamps stand."},
            "min_hours": {"type": "integer", "description": "How many hours a lamp has burnt at least."},
            "colour": {"type": "string", "description": "The colour of the light.", "enum": ["red", "green", "white", "amber"]}}}})
}

fn lamps_of_an_api() -> Value {
    let text = lamps().to_string().replace("\"dict\"", "\"object\"");
    json!({"type": "function", "function": serde_json::from_str::<Value>(&text).unwrap()})
}

/// A benchmark with one entry of each kind.
fn write_benchmark(folder: &Path) {
    let write = |name: &str, lines: &[Value]| {
        let path = folder.join("bench").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    };
    let one = |id: &str, text: &str, functions: Value| json!({"id": id, "question": [[{"role": "user", "content": text}]], "function": functions});
    let note = json!({"name": "note_down", "description": "Notes a text down.", "parameters": {"type": "dict", "required": ["text"],
        "properties": {"text": {"type": "string", "description": "The text."}}}});
    let weather = json!({"name": "get_current_weather", "description": "Tells the weather.", "parameters": {"type": "dict", "required": ["location"],
        "properties": {"location": {"type": "string", "description": "The place."}, "unit": {"type": "string", "description": "The unit."}}}});
    let moor = json!({"name": "moor_boat", "description": "Moors a boat at a berth.", "parameters": {"type": "dict", "required": ["boat", "berth"],
        "properties": {"boat": {"type": "string", "description": "Its name."}, "berth": {"type": "integer", "description": "The berth."}}}});
    write(
        "BFCL_v4_simple_python.json",
        &[
            one("lamps", QUERY, json!([lamps()])),
            one("note", "Put it down.", json!([note])),
            one("weather", "How warm?", json!([weather])),
            one("moor", "Moor all four of them where they belong tonight.", json!([moor])),
            one("joke", "Tell me a joke.", json!([note])),
            one("slot", SLOT, json!([moor])),
        ],
    );
    let moored = |berth: u32| json!({"moor_boat": {"boat": ["Fulmar"], "berth": [berth]}});
    write(
        "possible_answer/BFCL_v4_simple_python.json",
        &[
            json!({"id": "lamps", "ground_truth": [{"list_pier_lamps": {"pier": ["northern"], "min_hours": [900], "colour": ["", "red"]}}]}),
            json!({"id": "note", "ground_truth": [{"note_down": {"text": ["the bell of the north tower is cracked"]}}]}),
            json!({"id": "weather", "ground_truth": [{"get_current_weather": {"location": ["New York, NY"], "unit": ["fahrenheit"]}}]}),
            json!({"id": "moor", "ground_truth": [moored(3), moored(4), moored(5), moored(6)]}),
        ],
    );
    write(
        "BFCL_v4_multi_turn_base.json",
        &[
            json!({"id": "turns", "question": [[{"role": "user", "content": "Open the sluice of the mill pond now."}],
            [{"role": "user", "content": "And close the weir behind it after dusk."}]], "initial_config": {}, "involved_classes": ["MathAPI"]}),
        ],
    );
    write(
        "possible_answer/BFCL_v4_multi_turn_base.json",
        &[
            json!({"id": "turns", "ground_truth": [["open_sluice(pond='mill',height=3)", "log_water(level=41)"], ["close_weir(name='upper',hour=21)"]]}),
        ],
    );
    let of_class = |name: &str, first: &str, second: &str| {
        json!({"name": name, "description": format!("This tool belongs to the water works: {name} with care."),
            "parameters": {"type": "dict", "required": [first], "properties": {
                first: {"type": "string", "description": format!("The {first}.")}, second: {"type": "integer", "description": format!("The {second}.")}}}})
    };
    write(
        "multi_turn_func_doc/math_api.json",
        &[
            of_class("open_sluice", "pond", "height"),
            of_class("log_water", "level", "gauge"),
            of_class("close_weir", "name", "hour"),
        ],
    );
}

/// Audits rows, and returns the verdict and the surest object of each.
fn verdicts(rows: &[(String, Value)], more: &[&str]) -> BTreeMap<String, String> {
    audited(rows, more).0
}

/// The same, with what the program says, its lines joined.
fn audited(rows: &[(String, Value)], more: &[&str]) -> (BTreeMap<String, String>, String) {
    let folder = tempfile::tempdir().unwrap();
    write_benchmark(folder.path());
    let lines = rows.iter().map(|(id, row)| {
        let mut row = row.clone();
        row["id"] = json!(id);
        format!("{row}\n")
    });
    fs::write(folder.path().join("train.jsonl"), lines.collect::<String>()).unwrap();
    let arguments =
        ["audit", "--train", "train.jsonl", "--bench", "bench", "--out", "out", "--contaminated", "keep"];
    let done = callsieve().current_dir(folder.path()).args(arguments).args(more).output().unwrap();
    assert!(matches!(done.status.code(), Some(0 | 1)), "{}", shown(&done));
    let hits = fs::read_to_string(folder.path().join("out/hits.jsonl")).unwrap();
    let mut found: BTreeMap<String, String> =
        rows.iter().map(|(id, _)| (id.clone(), "clean".to_owned())).collect();
    let rank = |verdict: &str| {
        ["clean", "environment", "suspect", "contaminated"].iter().position(|it| *it == verdict)
    };
    for hit in hits.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (id, verdict) = (hit["train_id"].as_str().unwrap(), hit["verdict"].as_str().unwrap());
        let known = found.get_mut(id).unwrap();
        let is_surer = rank(known.split(' ').next().unwrap()) < rank(verdict);
        if is_surer {
            *known = format!("{verdict} {}", hit["object"].as_str().unwrap());
        }
    }
    (found, shown(&done).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A row in which a model says something to an unrelated request.
fn says(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": "As always."}, {"role": "assistant", "content": text}]})
}

fn calls(calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}))
        .collect();
    json!({"messages": [{"role": "user", "content": "As always."}, {"role": "assistant", "content": null, "tool_calls": calls}]})
}

fn check(cases: &[(&str, Value, &str)]) {
    let rows: Vec<(String, Value)> =
        cases.iter().map(|(id, row, _)| ((*id).to_owned(), row.clone())).collect();
    let found = verdicts(&rows, &[]);
    let expected: BTreeMap<String, String> =
        cases.iter().map(|(id, _, verdict)| ((*id).to_owned(), (*verdict).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn calls_are_weighed_by_their_values() {
    let moored = |berth: u32| ("moor_boat", json!({"boat": "Fulmar", "berth": berth}));
    check(&[
        (
            "one-strong",
            calls(&[("note_down", json!({"text": "the bell of the north tower is cracked"}))]),
            "contaminated call",
        ),
        (
            "left-out",
            calls(&[("list_pier_lamps", json!({"pier": "northern", "min_hours": 900}))]),
            "contaminated call",
        ),
        (
            "prefixed",
            calls(&[("harbour-list_pier_lamps", json!({"pier": "northern", "min_hours": 900}))]),
            "contaminated call",
        ),
        ("most", calls(&[moored(3), moored(4), moored(5)]), "suspect call"),
        ("half", calls(&[moored(3), moored(4)]), "clean"),
        ("all", calls(&[moored(6), moored(5), moored(4), moored(3)]), "contaminated call"),
        (
            "turn",
            calls(&[
                ("open_sluice", json!({"pond": "mill", "height": 3})),
                ("log_water", json!({"level": 41})),
            ]),
            "suspect call",
        ),
        (
            "everyday",
            calls(&[("get_current_weather", json!({"location": "New York, NY", "unit": "fahrenheit"}))]),
            "suspect call",
        ),
        ("other", calls(&[("list_pier_lamps", json!({"pier": "southern", "min_hours": 900}))]), "clean"),
    ]);
}

#[test]
fn calls_are_read_in_every_notation() {
    let named = "list_pier_lamps(pier='northern', min_hours=900)";
    let object =
        "{\"name\": \"list_pier_lamps\", \"arguments\": {\"pier\": \"northern\", \"min_hours\": 900}}";
    let texts = [
        ("back-ticks", format!("The right call is `{named}`, which lists two.")),
        ("fence", format!("Here it is:\n```json\n{object}\n```\nThat lists two.")),
        ("lines", format!("```python\n{named}\nmoor_boat(boat='Gull', berth=1)\n```")),
        ("assigned", format!("```python\nlamps = {named}\nprint(lamps)\n```")),
        ("code", format!("<code>\nlamps = {named}\nfinal_answer(lamps)\n</code>")),
        ("tool-code", format!("```tool_code\nprint({named})\n```")),
        ("react", "Thought: I look.\nAction: list_pier_lamps\nAction Input: {\"pier\": \"northern\", \"min_hours\": 900}\nObservation: 2\nFinal Answer: two".to_owned()),
        ("invoke", "<function_calls>\n<invoke name=\"list_pier_lamps\">\n<parameter name=\"pier\">northern</parameter>\n<parameter name=\"min_hours\">900</parameter>\n</invoke>\n</function_calls>".to_owned()),
        ("positional", "[list_pier_lamps('northern', 900)]".to_owned()),
        ("javascript", "list_pier_lamps({pier: 'northern', min_hours: 900})".to_owned()),
        ("bracketed", format!("<TOOLCALL>[{object}]</TOOLCALL>")),
        ("after-thought", format!("I think.\n</think>\n[{named}]")),
    ];
    let mut cases: Vec<(&str, Value, &str)> =
        texts.iter().map(|(id, text)| (*id, says(text), "contaminated call")).collect();
    cases.push(("own-function", says("```python\ndef list_pier_lamps(pier, min_hours):\n    return []\nlist_pier_lamps('northern', 900)\n```"), "clean"));
    cases.push(("mention", says("I would use list_pier_lamps with the northern pier."), "clean"));
    check(&cases);
}

#[test]
fn texts_of_others_are_compared_word_by_word() {
    let user = json!({"role": "user", "content": "As always."});
    let system = |text: String| json!({"messages": [{"role": "system", "content": text}, user, {"role": "assistant", "content": "ok"}]});
    let rows = [
        ("few-shot", system(format!("Example.\nUser: {QUERY}\nAssistant: I call one function."))),
        ("assistant", says(&format!("Before I begin, a question of another list reads: {QUERY}"))),
        (
            "result",
            json!({"messages": [user, {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "look", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": format!("1. {QUERY}")}, {"role": "assistant", "content": "ok"}]}),
        ),
        (
            "sharegpt",
            json!({"conversations": [{"from": "system", "value": QUERY}, {"from": "human", "value": "As always."}, {"from": "gpt", "value": "ok"}]}),
        ),
        (
            "observation",
            json!({"conversations": [{"from": "human", "value": "As always."}, {"from": "function_call", "value": "{}"},
            {"from": "observation", "value": QUERY}, {"from": "gpt", "value": "ok"}]}),
        ),
        ("system-column", json!({"system": QUERY, "instruction": "As always.", "output": "ok"})),
        ("way-to-say", says("Put it down. Then go home and rest until the morning comes.")),
    ];
    let rows: Vec<(String, Value)> = rows.map(|(id, row)| (id.to_owned(), row)).to_vec();
    let expected = |verdicts: [&str; 7]| -> BTreeMap<String, String> {
        rows.iter().map(|(id, _)| id.clone()).zip(verdicts.map(str::to_owned)).collect()
    };
    let text = "contaminated text";
    assert_eq!(verdicts(&rows, &[]), expected([text, text, text, text, text, text, "clean"]));
    assert_eq!(verdicts(&rows, &["--objects", "query,docs,calls"]), expected(["clean"; 7]));
    // What a whole set has in its prompt is boilerplate.
    let shared: Vec<(String, Value)> = (0..30)
        .map(|n| {
            let said = json!({"role": "user", "content": format!("Count the gulls on roof {n}.")});
            let prompt = json!({"role": "system", "content": format!("You answer. {QUERY}")});
            (n.to_string(), json!({"messages": [prompt, said, {"role": "assistant", "content": "Nine."}]}))
        })
        .collect();
    let (found, said) = audited(&shared, &[]);
    assert!(found.values().all(|verdict| verdict == "clean"), "{found:?}");
    assert!(said.contains("a text that 30 of 30 rows share, such as their prompt, holds the message of v4_simple_python lamps"), "{said}");
    // What one row says again and again is not.
    let again = vec![json!({"role": "assistant", "content": format!("Try asking: {QUERY}")}); 25];
    let turns: Vec<Value> = again
        .into_iter()
        .flat_map(|answer| [json!({"role": "user", "content": "As always."}), answer])
        .collect();
    let rows = [("again".to_owned(), json!({ "messages": turns })), ("other".to_owned(), says("ok"))];
    let found = verdicts(&rows, &[]);
    assert_eq!((found["again"].as_str(), found["other"].as_str()), (text, "clean"));
}

#[test]
fn calls_are_read_beside_earlier_turns_in_any_message_and_under_other_names() {
    let gold = json!({"pier": "northern", "min_hours": 900});
    let call = format!("<tool_call>{}</tool_call>", json!({"name": "list_pier_lamps", "arguments": gold}));
    let turn = |role: &str, text: &str| json!({"role": role, "content": text});
    let earlier = json!([turn("user", "Hello."), turn("assistant", "Hi."), turn("user", "As always.")]);
    let rows: Vec<(String, Value)> = [
        ("completion", json!({"prompt": earlier, "completion": [turn("assistant", &call)]})),
        (
            "chosen",
            json!({"prompt": earlier, "chosen": [turn("assistant", &call)], "rejected": [turn("assistant", "No.")]}),
        ),
        ("label", json!({"messages": [turn("user", "As always.")], "label": call})),
        (
            "template",
            json!({"text": "### Instruction:\nAs always.\n\n### Response:\n[list_pier_lamps(pier='northern', min_hours=900)]"}),
        ),
        (
            "python",
            json!({"messages": [turn("user", "As always."), {"role": "assistant", "content": "", "tool_calls": [
                {"type": "function", "function": {"name": "list_pier_lamps", "arguments": "{'pier': 'northern', 'min_hours': 900}"}}]}]}),
        ),
        ("camel", says("list_pier_lamps(pier='northern', minHours=900)")),
        ("no-call", json!({"prompt": earlier, "completion": [turn("assistant", "ok")]})),
    ]
    .map(|(id, row)| (id.to_owned(), row))
    .to_vec();
    let mut expected: BTreeMap<String, String> =
        rows.iter().map(|(id, _)| (id.clone(), "contaminated call".to_owned())).collect();
    expected.insert("no-call".to_owned(), "clean".to_owned());
    assert_eq!(verdicts(&rows, &[]), expected);
}

#[test]
fn function_docs_are_found_under_other_names_and_in_any_column() {
    let messages = json!([{"role": "user", "content": "As always."}, {"role": "assistant", "content": "ok"}]);
    let doc = lamps_of_an_api();
    let mut renamed = doc.clone();
    let properties = renamed["function"]["parameters"]["properties"].as_object_mut().unwrap();
    *properties = properties.iter().map(|(name, schema)| (format!("in_{name}"), schema.clone())).collect();
    renamed["function"]["parameters"]["required"] = json!(["in_pier"]);
    let mut reworded = doc.clone();
    reworded["function"]["name"] = json!("old_lights");
    reworded["function"]["description"] = json!("Which lights should be changed soon?");
    for (_, schema) in reworded["function"]["parameters"]["properties"].as_object_mut().unwrap() {
        schema["description"] = json!("See above.");
    }
    let mut both = renamed.clone();
    both["function"]["name"] = json!("old_lights");
    let typescript = "# Tools\n\nnamespace functions {\n\n// Lists the lamps of a pier that have burnt for long, with their places.\n\
        type list_pier_lamps = (_: {\n// The pier on which the lamps stand.\npier: string,\n\
        // How many hours a lamp has burnt at least.\nmin_hours: number,\n// The colour of the light.\ncolour?: string,\n}) => any;\n\n} // namespace functions\n\nBe brief.";
    let python = "You can call:\n```python\ndef list_pier_lamps(pier: str, min_hours: int, colour: str):\n    \"\"\"Lists the lamps of a pier that have burnt for long, with their places.\n\n    Args:\n        pier: The pier on which the lamps stand.\n        min_hours: How many hours a lamp has burnt at least.\n        colour: The colour of the light.\n    \"\"\"\n```";
    let with = |key: &str, value: Value| {
        let mut row = json!({ "messages": messages });
        row[key] = value;
        row
    };
    let list = json!([doc]).to_string();
    let functions = "contaminated function";
    check(&[
        ("renamed-parameters", with("tools", json!([renamed])), functions),
        ("renamed-and-reworded", with("tools", json!([reworded])), "suspect function"),
        (
            "python",
            json!({"messages": [{"role": "system", "content": python}, messages[0], messages[1]]}),
            functions,
        ),
        (
            "json-in-prompt",
            json!({"messages": [{"role": "system", "content": format!("Invoke one tool.\n\n{list}\n\nBe brief.")}, messages[0], messages[1]]}),
            functions,
        ),
        ("available_tools", with("available_tools", json!(list)), functions),
        (
            "xml_tools",
            with("chat_template_kwargs", json!({"python_tools": [], "xml_tools": [doc.to_string()]})),
            functions,
        ),
        ("metadata", with("metadata", json!(json!({"tools": [doc]}).to_string())), functions),
        ("both-renamed", with("tools", json!([both])), functions),
        (
            "message-level",
            json!({"messages": [{"role": "user", "content": "As always.", "tools": [doc]}, messages[1]]}),
            functions,
        ),
        ("deep", with("meta", json!({"extra": {"functions": [doc]}})), functions),
        (
            "typescript",
            json!({"messages": [{"role": "system", "content": typescript}, messages[0], messages[1]]}),
            functions,
        ),
        (
            "beside-code",
            json!({"messages": messages, "code": "print(1)", "tools": "None", "mine": [doc]}),
            functions,
        ),
        (
            "beside-an-answer",
            json!({"prompt": format!("Tools: {list}\nQuestion: as always."), "answer": "{\"name\": \"zzz\", \"parameters\": {\"a\": 1}}"}),
            functions,
        ),
        ("any-column", with("the_tools_of_the_row", json!(list)), functions),
        (
            "responses",
            json!({"responses_create_params": {"input": [messages[0]], "tools": [doc["function"]]}}),
            functions,
        ),
        (
            "expected_action",
            json!({"responses_create_params": {"input": [messages[0]], "tools": []}, "expected_action": {"type": "function_call",
            "name": "list_pier_lamps", "arguments": "{\"pier\": \"northern\", \"min_hours\": 900}"}}),
            "contaminated call",
        ),
        (
            "verl",
            json!({"prompt": [messages[0]], "reward_model": {"style": "rule",
            "ground_truth": "[{\"name\": \"list_pier_lamps\", \"arguments\": {\"pier\": \"northern\", \"min_hours\": 900}}]"}}),
            "contaminated call",
        ),
        (
            "answers",
            json!({"question": "As always.", "tools": [], "answers": {"direct": "x",
            "tool_call": "<TOOLCALL>[{\"name\": \"list_pier_lamps\", \"arguments\": {\"pier\": \"northern\", \"min_hours\": 900}}]</TOOLCALL>"}}),
            "contaminated call",
        ),
    ]);
}

#[test]
fn what_everybody_writes_is_suspect_at_most_and_a_shared_environment_is_no_contamination() {
    let asks = |text: &str| json!({"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "ok"}]});
    let tool = |name: &str, first: &str, second: &str| {
        json!({"type": "function", "function": {"name": name, "description": format!("This tool belongs to the water works: {name} with care."),
            "parameters": {"type": "object", "required": [first], "properties": {
                first: {"type": "string", "description": format!("The {first}.")}, second: {"type": "integer", "description": format!("The {second}.")}}}}})
    };
    let mut shared = asks("Which knots hold a wet rope best?");
    shared["tools"] = json!([tool("open_sluice", "pond", "height"), tool("close_weir", "name", "hour")]);
    check(&[
        ("joke", asks("Tell me a joke."), "suspect query"),
        ("slot", asks("Hello, my order number is 9002."), "suspect query"),
        ("own-slot", asks("My order number is 9002."), "suspect query"),
        ("environment", shared, "environment functions"),
    ]);
}

#[test]
fn what_was_not_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    write_benchmark(folder.path());
    fs::write(folder.path().join("train.jsonl"), format!("{}\n", says("Aye."))).unwrap();
    let arguments = ["audit", "--train", "train.jsonl", "--bench", "bench", "--out", "out"];
    let done = callsieve().current_dir(folder.path()).args(arguments).output().unwrap();
    let text = shown(&done).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("train.jsonl: no function doc was found in its row"), "{text}");
    assert!(text.contains("train.jsonl: no call was found in its row"), "{text}");
    let report: Value =
        serde_json::from_slice(&fs::read(folder.path().join("out/audit.json")).unwrap()).unwrap();
    assert_eq!(
        report["train"][0]["read"],
        json!({"rows": 1, "queries": 1, "docs": 0, "calls": 0, "texts": 1})
    );
    let statement = fs::read_to_string(folder.path().join("out/statement.md")).unwrap();
    assert!(statement.contains("BFCL V4 (7 entries, 2 files, SHA-256 "), "{statement}");
}
