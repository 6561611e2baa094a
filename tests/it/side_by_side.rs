//! Tests of `report --compare`: two finished runs on one page, and as one JSON object.

use std::path::Path;

use crate::support::{output, run_sample, shown};
use serde_json::Value;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn compared(before: &Path, after: &Path, form: &str) -> String {
    let found = output(&["report", "--compare", text(before), text(after), form]);
    assert!(found.status.success(), "{}", shown(&found));
    String::from_utf8(found.stdout).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn two_runs_are_drawn_side_by_side_with_the_table_of_each_picture() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("first"), folder.path().join("tweak"));
    run_sample(&before, &[]);
    let decisions = folder.path().join("own-decisions.jsonl");
    std::fs::write(&decisions, "{\"id\": \"r0034\", \"decision\": \"keep\"}\n").unwrap();
    run_sample(&after, &["--set", "merge-near-docs.threshold=0.6", "--decisions", text(&decisions)]);

    // The figures are those of both reports, and what `compare` lists.
    let all = json(&compared(&before, &after, "--json"));
    assert_eq!((&all["job"], &all["differs"]), (&"dataset".into(), &true.into()));
    for (key, run) in [("before", &before), ("after", &after)] {
        let report = json(&std::fs::read_to_string(run.join("report.json")).unwrap());
        for same in ["exported", "frozen", "entries", "distributions"] {
            assert_eq!(all[key][same], report[same], "{same} of {key}");
        }
        for fate in ["rows", "kept", "merged", "held", "dropped"] {
            assert_eq!(all[key]["requests"][fate], report["requests"][fate], "{fate} of {key}");
        }
        let held: u64 = all[key]["held"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(Some(held), report["requests"]["held"].as_u64());
        assert_eq!(all[key]["run"], run.file_name().unwrap().to_str().unwrap());
    }
    let listed = output(&["compare", text(&before), text(&after), "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    // Of absolute paths only the last part is there.
    let with_paths = ["before", "after", "settings", "inputs"];
    for (key, value) in listed.as_object().unwrap() {
        assert!(with_paths.contains(&key.as_str()) || all[key] == *value, "{key}");
    }
    assert_eq!(all["settings"].as_array().map(Vec::len), listed["settings"].as_array().map(Vec::len));
    assert!(!all.to_string().contains(text(before.parent().unwrap())), "{all}");

    let page = compared(&before, &after, "--html");
    assert_eq!(page, compared(&before, &after, "--html"));
    let figures = page.matches("<figure").count();
    assert!(
        figures >= 12 && page.matches("<details><summary>Table</summary>").count() == figures,
        "{figures}"
    );
    for id in ["flow-before", "flow-after", "scored", "unverified", "held", "words", "gone", "why-merged"] {
        assert!(page.contains(&format!("<figure class=\"chart\" id=\"{id}\">")), "{id}");
    }
    assert!(page.contains("<code>merge-near-docs.threshold</code>"));
    assert!(page.contains("callsieve why tweak "), "{page}");
    // Nothing of this machine, and nothing of the log.
    assert!(page.contains("&quot;own-decisions.jsonl&quot;") && !page.contains(text(folder.path())));
    let step = |side: &str| {
        let steps = all["funnel"].as_array().unwrap();
        steps.iter().find(|it| it["step"] == "merge-near-docs").unwrap()[side]["requests"].as_u64().unwrap()
    };
    let cell = |n: u64| {
        format!("data-label=\"{}\">{n}</td>", if n == step("before") { "requests before" } else { "after" })
    };
    assert!(page.contains(&cell(step("before"))) && page.contains(&cell(step("after"))), "{page}");

    // The screen has what `compare` prints.
    let screen = output(&["report", "--compare", text(&before), text(&after)]);
    assert_eq!(shown(&screen), shown(&output(&["compare", text(&before), text(&after)])));
}

#[test]
fn a_run_beside_itself_differs_in_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let page = compared(&out, &out, "--html");
    for nothing in [
        "The two runs do not differ.",
        "The settings are the same.",
        "The inputs are the same.",
        "Every reason has the same number of rows in both.",
    ] {
        assert!(page.contains(nothing), "{nothing}");
    }
    assert!(!page.contains("id=\"gone\"") && !page.contains("id=\"new\""));
    assert_eq!(json(&compared(&out, &out, "--json"))["differs"], false);
}

#[test]
fn runs_of_different_jobs_are_refused_and_audits_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    run_sample(&at("dataset"), &[]);
    let row = |n: usize| {
        let functions = r#"[{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["bell"], "properties": {"bell": {"type": "string", "description": "Which bell."}}}}]"#;
        let prompt = format!("Ring the bell number {n} of the tower in the old town three times");
        serde_json::json!({"prompt": prompt, "function": functions}).to_string() + "\n"
    };
    std::fs::write(at("train.jsonl"), (0..9).map(row).collect::<String>()).unwrap();
    std::fs::write(at("bench.jsonl"), row(7)).unwrap();
    for (name, objects) in [("audit", "query"), ("again", "query,docs")] {
        let audit = output(&[
            "audit",
            "--train",
            text(&at("train.jsonl")),
            "--bench",
            text(&at("bench.jsonl")),
            "--bench-format",
            "rows",
            "--objects",
            objects,
            "--out",
            text(&at(name)),
        ]);
        assert!(audit.status.success(), "{}", shown(&audit));
    }
    let page = compared(&at("audit"), &at("again"), "--html");
    assert!(page.contains("drop-benchmark-overlap.objects") && !page.contains("id=\"dataset\""), "{page}");
    let refused = output(&["report", "--compare", text(&at("dataset")), text(&at("audit")), "--html"]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    let error = String::from_utf8(refused.stderr).unwrap().replace(text(folder.path()), "FOLDER");
    assert_eq!(
        error,
        "error: FOLDER/dataset is a run of the job dataset, FOLDER/audit of the job audit: expected two runs of one job\n\
         hint: `callsieve report RUN --html` draws one of them\n"
    );
    for (arguments, word) in [
        (vec!["report", "--compare", "a"], "2 values required"),
        (vec!["report", "a", "--compare", "b", "c"], "cannot be used with"),
        (vec!["report", "--compare", "b", "c", "--markdown"], "cannot be used with"),
        (vec!["report"], "required"),
    ] {
        let refused = output(&arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8(refused.stderr).unwrap().contains(word), "{arguments:?}");
    }
}
