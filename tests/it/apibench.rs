//! Tests of `apibench`: the rates of a small hub.

use serde_json::{Value, json};

use crate::support::{callsieve, shown};

#[test]
fn responses_are_right_of_another_api_or_of_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path(name), text).unwrap();
    };
    let sound = "torch.hub.load(repo_or_dir='u/sound', model='hear', pretrained=True)";
    let sight = "torch.hub.load(repo_or_dir='u/sight', model='look', pretrained=True)";
    write(
        "apis.jsonl",
        &[json!({"domain": "Sound", "api_call": sound}), json!({"domain": "Sight", "api_call": sight})],
    );
    let asked =
        |call: &str, domain: &str| json!({"code": "", "api_data": {"domain": domain, "api_call": call}});
    write("questions.jsonl", &[asked(sound, "Sound"), asked(sight, "Sight"), asked(sight, "Sight")]);
    let response = |id: u8, call: &str| json!({"question_id": id, "text": format!("<<<domain>>>: x\n<<<api_call>>>: {call}\n<<<api_provider>>>: y")});
    write(
        "responses.jsonl",
        &[
            response(1, sound),
            response(2, sound),
            response(3, "torch.hub.load(repo_or_dir='u/none', model='none', pretrained=True)"),
            json!({"question_id": 3}),
            json!(7),
        ],
    );
    let run = |more: &[&str]| {
        let mut command = callsieve();
        command.arg("apibench").arg(path("responses.jsonl")).args(["--hub", "torch-hub", "--database"]);
        command.arg(path("apis.jsonl")).arg("--questions").arg(path("questions.jsonl")).args(more);
        command.output().unwrap()
    };
    let done = run(&["--json"]);
    assert!(done.status.success(), "{}", shown(&done));
    let line: Value = serde_json::from_slice(&done.stdout).unwrap();
    let counts = |key: &str| line["rates"][key].as_u64().unwrap();
    assert_eq!(
        ["correct", "wrong_api", "hallucinated", "unreadable", "responses"].map(counts),
        [1, 1, 1, 1, 4],
        "{line}"
    );
    assert!(String::from_utf8_lossy(&done.stderr).contains("1 line left out"), "{}", shown(&done));
    let table = run(&["--rules", "careful"]);
    let text = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(text.contains("correct") && text.contains("25.00 %"), "{text}");
    std::fs::write(path("questions.jsonl"), "[]\n").unwrap();
    let refused = run(&[]);
    assert!(
        refused.status.code() == Some(2) && shown(&refused).contains("no line could be read"),
        "{}",
        shown(&refused)
    );
}
