//! Forms of results, and what a system is.

use super::*;

fn output(line: &Value) -> Output {
    let mut rows = Vec::new();
    read_row(Path::new("r"), 1, line.as_object().unwrap().clone(), &mut rows).unwrap();
    rows.remove(0).output
}

#[test]
fn calls_of_every_form_are_the_same() {
    let expected = Output::Calls(json!([{"ring": "{\"bell\": 2}"}]));
    let call = json!({"type": "function", "function": {"name": "ring", "arguments": "{\"bell\": 2}"}});
    for line in [
        json!({"id": "a", "result": [{"ring": "{\"bell\": 2}"}]}),
        json!({"id": "a", "tool_calls": [call]}),
        json!({"id": "a", "response": {"choices": [{"message": {"content": null, "tool_calls": [call]}}]}}),
        json!({"id": "batch_1", "custom_id": "a", "response": {"status_code": 200, "body": {"choices": [
            {"message": {"content": null, "tool_calls": [call]}}]}}}),
    ] {
        assert_eq!(output(&line), expected, "{line}");
    }
}

#[test]
fn a_failed_request_is_no_answer() {
    let line = json!({"custom_id": "a", "response": null, "error": {"code": "expired"}});
    assert_eq!(output(&line), Output::Failed("{\"code\":\"expired\"}".to_owned()));
}

#[test]
fn a_system_with_an_empty_list_among_its_texts_has_no_function_calling() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    for (other, is_calls) in [("[]", false), (r#"[{"ring": "{}"}]"#, true), (r#"[[[{"ring": "{}"}]]]"#, true)]
    {
        std::fs::write(
            &path,
            format!("{{\"id\": \"a\", \"result\": \"ring()\"}}\n{{\"id\": \"b\", \"result\": {other}}}\n"),
        )
        .unwrap();
        let systems = read(std::slice::from_ref(&path), true).unwrap();
        assert_eq!(systems[0].is_calls, is_calls, "{other}");
        assert_eq!(matches!(systems[0].rows[0].output, Output::Text(_)), !is_calls, "{other}");
    }
}

#[test]
fn conversations_that_fill_a_memory_are_no_results() {
    let folder = tempfile::tempdir().unwrap();
    let agentic = folder.path().join("agentic/memory/kv");
    std::fs::create_dir_all(&agentic).unwrap();
    for name in ["memory_kv", "memory_kv_prereq"] {
        let line = format!("{{\"id\": \"{name}_0\", \"result\": [[\"Yes.\"]]}}\n");
        std::fs::write(agentic.join(format!("BFCL_v4_{name}_result.json")), line).unwrap();
    }
    let systems = read(&[folder.path().to_owned()], true).unwrap();
    assert_eq!(systems[0].rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["memory_kv_0"]);
}
