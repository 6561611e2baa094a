//! Examples of each rule, of good answers that mention errors, and of verdicts.

use std::collections::BTreeMap;

use callsieve_testkit::data;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fault::FaultKind;

/// Returns a call with this answer.
fn probe(status: u16, content_type: &str, body: &Value) -> Probe {
    let line = json!({"tool": "Bells", "function": "ring", "status": status, "content_type": content_type,
        "body": body, "latency_ms": 12});
    let log = read_log("log", &line.to_string());
    assert_eq!(log.faults, []);
    log.probes.into_iter().next().unwrap()
}

/// Returns the code of the rule that hits an answer.
fn hit(probe: &Probe) -> Option<String> {
    let rules = ProbeRules::built_in();
    rules.hit(probe).map(|at| rules.rules[at].code.clone())
}

const JSON: &str = "application/json; charset=utf-8";

#[test]
fn every_rule_hits_a_bad_answer() {
    let long = "x".repeat(5 << 20);
    let bad = [
        (probe(404, JSON, &json!({"bells": [1]})), "probe/status"),
        (probe(302, JSON, &json!({"bells": [1]})), "probe/status"),
        (probe(200, JSON, &json!({"bells": [], "next": null})), "probe/empty-body"),
        (probe(200, "text/plain", &json!("  ")), "probe/empty-body"),
        (probe(200, "text/HTML; charset=utf-8", &json!("<p>Bells</p>")), "probe/html"),
        (probe(200, "text/plain", &json!("\n<!DOCTYPE html><title>500</title>")), "probe/html"),
        (probe(200, JSON, &json!("{\"bells\": [1")), "probe/not-json"),
        (probe(200, "text/plain", &json!("Too many requests, come back later")), "probe/error-text"),
        (probe(200, JSON, &json!("\"<html>Forbidden</html>\"")), "probe/html"),
        (probe(200, "text/plain", &json!("503 Service Unavailable")), "probe/error-text"),
        (
            probe(200, "", &json!("Your Client (working) ---> Gateway (working) ---> API (not working)")),
            "probe/error-text",
        ),
        (
            probe(200, JSON, &json!({"error": "no such bell", "status": 404, "success": false})),
            "probe/error-member",
        ),
        (probe(200, JSON, &json!({"Errors": [{"code": 3}], "data": null})), "probe/error-member"),
        (probe(200, JSON, &json!({"status": "401", "msg": "A bell tower"})), "probe/status-in-body"),
        (
            probe(
                200,
                JSON,
                &json!({"title": "Bad", "status": 400, "traceId": "x", "errors": {"id": ["bad"]}}),
            ),
            "probe/error-member",
        ),
        (probe(200, JSON, &json!({"message": "You are not subscribed to this API."})), "probe/error-message"),
        (
            probe(200, JSON, &json!({"message": "Endpoint '/ring' does not exist", "status": 200})),
            "probe/error-message",
        ),
        (probe(200, "text/plain", &json!(long)), "probe/too-large"),
    ];
    for (probe, code) in bad {
        assert_eq!(hit(&probe).as_deref(), Some(code), "{:?}", probe.status);
    }
}

/// Substring tests on the whole body refuse all of these.
#[test]
fn good_answers_that_mention_errors_are_not_hit() {
    let good = [
        json!({"price": 500, "parameter": "pitch", "text": "HTTP 404 is a status, 401 too"}),
        json!({"error": "", "response": "[{\"id\": 500}]"}),
        json!({"errors": [], "bells": [{"rate limit": "none"}]}),
        json!({"error": false, "message": "Rate limit of the road: 50"}),
        json!({"error": "one bell is missing", "bells": [{"id": 1}]}),
        json!({"message": "The bell rings at noon."}),
        json!({"success": true, "message": "Access denied to nobody."}),
        json!({"detail": "Unauthorized Bells", "album": {"year": 1999}}),
        json!([{"error": "a song"}]),
        json!("The parameter of 500 bells could not be credential parse error 404"),
        json!({"count": 0}),
        json!({"code": 404, "name": "A postal code"}),
        json!(0),
    ];
    for body in good {
        assert_eq!(
            hit(&probe(200, if body.is_string() { "text/plain" } else { JSON }, &body)),
            None,
            "{body}"
        );
    }
}

#[test]
fn lines_that_are_not_calls_are_faults() {
    let log = "{\"tool\": \"a\", \"function\": \"b\"}\n{\"tool\": \"a\"}\n{\n{\"tool\": \"a\", \"function\": \"b\", \"status\": \"ok\"}\n{\"tool\": \"a\", \"function\": \"c\", \"error\": \"timeout\"}\n";
    let log = read_log("log.jsonl", log);
    let places: Vec<_> = log.faults.iter().map(|fault| (fault.kind, fault.origin.at.as_str())).collect();
    let unreadable = ["line 3", "line 2", "line 4"].map(|at| (FaultKind::UnreadableLine, at));
    assert_eq!((log.probes.len(), places), (2, unreadable.to_vec()));
    assert!(log.probes.iter().all(|probe| !probe.is_answered()));
}

#[test]
fn a_file_of_rules_is_checked() {
    let error = |text: &str| ProbeRules::read(text).unwrap_err().to_string();
    assert!(error("[[rule]]\ncode = \"a/b\"\nwhat = \"c\"\nsatus = [\"404\"]").contains("satus"));
    let rule = |condition: &str| error(&format!("[[rule]]\ncode = \"a/b\"\nwhat = \"c\"\n{condition}"));
    assert_eq!(rule(""), "rule 1 (a/b): it has no condition");
    assert!(rule("status = [\"4x\"]").starts_with("rule 1 (a/b): \"4x\" is not a set"));
    assert!(rule("text = \"(\"").contains("the pattern cannot be used"));
    assert_eq!(rule("alone = true"), "rule 1 (a/b): `value` and `alone` need `members`");
    assert_eq!(rule("max_chars = 3"), "rule 1 (a/b): `max_chars` needs `text`");
    assert_eq!(error("[verdict]\nmax_bad_share = 1.5"), "[verdict]: max_bad_share is not between 0 and 1");
}

fn verdict_of(lines: &[Value], expected: &[(&str, &str)]) -> Vec<(String, Verdict)> {
    let log = read_log("log", &json!(lines).to_string());
    let verdicts = Verdicts::of(&ProbeRules::built_in(), &log.probes, expected.iter().copied());
    verdicts.functions.into_iter().map(|function| (function.function, function.verdict)).collect()
}

#[test]
fn a_function_is_kept_with_one_good_call_and_otherwise_has_its_commonest_fault() {
    let call = |function: &str, status: u16, body: Value, latency: u32| json!({"tool": "Bells", "function": function, "status": status, "body": body, "latency_ms": latency});
    let good = || json!({"rung": true});
    let hit = |code: &str| Verdict::RuleHit(code.to_owned());
    let lines = [
        call("mixed", 500, json!(""), 1),
        call("mixed", 200, good(), 1),
        call("bad", 500, good(), 1),
        call("bad", 200, json!([]), 1),
        call("bad", 200, json!({}), 1),
        call("slow", 200, good(), 30_000),
        call("slow", 200, good(), 30_000),
        json!({"tool": "Bells", "function": "silent", "error": "timeout"}),
    ];
    let expected = [
        ("bad", hit("probe/empty-body")),
        ("mixed", Verdict::Kept),
        ("silent", Verdict::NeverAnswered),
        ("slow", hit("probe/slow")),
        ("uncalled", Verdict::NeverAnswered),
    ];
    let expected: Vec<_> = expected.map(|(name, verdict)| (name.to_owned(), verdict)).into();
    assert_eq!(verdict_of(&lines, &[("Bells", "uncalled")]), expected);
}

#[test]
fn one_slow_call_of_twenty_is_not_consistently_slow() {
    let call = |latency: u32| json!({"tool": "Bells", "function": "ring", "status": 200, "body": {"rung": true}, "latency_ms": latency});
    let mut lines = vec![call(5); 19];
    lines.push(call(60_000));
    assert_eq!(verdict_of(&lines, &[])[0].1, Verdict::Kept);
    lines.push(call(60_000));
    assert_eq!(verdict_of(&lines, &[])[0].1, Verdict::RuleHit("probe/slow".to_owned()));
}

#[test]
fn calls_in_dialogues_are_read() {
    let dialogue = "{\"role\": \"User\", \"text\": \"Ring.\"}\n{\"role\": \"API\", \"api_name\": \"Ring\", \"param_dict\": {}, \
        \"result\": {\"input\": {}, \"output\": \"success\", \"exception\": null}}\n{\"role\": \"API\", \"api_name\": \"Stop\", \
        \"result\": {\"output\": null, \"exception\": \"The bell is cracked.\"}}\n";
    let log = read_dialogues("a.jsonl", dialogue);
    assert_eq!((log.probes.len(), log.faults), (2, Vec::new()));
    assert_eq!(hit(&log.probes[0]), None);
    assert_eq!(hit(&log.probes[1]).as_deref(), Some("probe/error-member"));
}

#[test]
fn recorded_calls_of_api_bank_are_good() {
    let Some(folder) = data::path("apis/api-bank") else { return };
    let mut probes = Vec::new();
    for kind in ["level-1-given-desc", "level-2-toolsearcher"] {
        for entry in std::fs::read_dir(folder.join("lv1-lv2-samples").join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            probes.extend(read_dialogues(&path.to_string_lossy(), &text).probes);
        }
    }
    let mut by_code: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for probe in &probes {
        *by_code.entry(hit(probe)).or_default() += 1;
    }
    let verdicts = Verdicts::of(&ProbeRules::built_in(), &probes, []);
    let kept = verdicts.count(&Verdict::Kept);
    assert_eq!(
        (probes.len(), by_code, kept, verdicts.functions.len()),
        (508, BTreeMap::from([(None, 508)]), 50, 50)
    );
}

#[test]
fn answers_in_trees_of_toolbench_are_told_from_errors() {
    let Some(folder) = data::path("apis/toolbench") else { return };
    let mut by_code: BTreeMap<Option<String>, usize> = BTreeMap::new();
    for group in ["G1_answer", "G2_answer", "G3_answer"] {
        for entry in std::fs::read_dir(folder.join("data_example/answer").join(group)).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for probe in read_trees("answer", &text).probes {
                *by_code.entry(hit(&probe)).or_default() += 1;
            }
        }
    }
    // The rest of the good ones are answers, and complaints about an argument.
    let code = |code: &str| Some(format!("probe/{code}"));
    let expected = [
        (None, 121),
        (code("empty-body"), 22),
        (code("error-member"), 82),
        (code("error-message"), 47),
        (code("error-text"), 3),
        (code("html"), 1),
        (code("status-in-body"), 24),
    ];
    assert_eq!(by_code, BTreeMap::from(expected));
}

proptest! {
    #[test]
    fn any_log_is_judged_the_same_in_any_order(
        bodies in prop::collection::vec(callsieve_testkit::arbitrary::json_value(), 1..8),
        seed in any::<prop::sample::Selector>(),
    ) {
        let probes: Vec<Probe> = bodies.iter().enumerate().map(|(index, body)| Probe {
            function: format!("ring {}", index % 3),
            ..probe(200, "", body)
        }).collect();
        let mut shuffled = Vec::new();
        for probe in probes.clone() {
            shuffled.insert(seed.select(0..=shuffled.len()), probe);
        }
        let rules = ProbeRules::built_in();
        let verdicts = Verdicts::of(&rules, &probes, []);
        prop_assert_eq!(&verdicts, &Verdicts::of(&rules, &shuffled, []));
        let calls: usize = verdicts.functions.iter().map(|function| function.calls).sum();
        let bad: usize = verdicts.hits.iter().map(|hits| hits.calls).sum();
        let good: usize = verdicts.functions.iter().map(|function| function.good).sum();
        prop_assert_eq!((calls, good + bad), (probes.len(), probes.len()));
    }
}
