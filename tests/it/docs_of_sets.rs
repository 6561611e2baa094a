//! Tests of the docs of published sets: all are read, the count is right, and issues that no fix changes are listed.
//!
//! The sets are in the data folder (`callsieve_testkit::data`).

use std::collections::BTreeMap;

use callsieve::docs::fix::{Safety, fix};
use callsieve::docs::parse::parse;
use callsieve_testkit::data;
use serde_json::Value;

/// The findings that the evaluator does not accept, after all fixes.
const BLOCKING: [&str; 6] = [
    "schema/unreadable-parameters",
    "schema/unreadable-property",
    "schema/combined-schemas",
    "schema/unknown-type",
    "schema/illegal-name",
    "schema/duplicate-name",
];

fn json(path: &str) -> Option<Value> {
    data::text(path).map(|text| serde_json::from_str(&text).unwrap())
}

/// Returns the elements of a file that is a list, each as a text.
fn elements(path: &str) -> Vec<String> {
    json(path)
        .and_then(|list| list.as_array().cloned())
        .unwrap_or_default()
        .iter()
        .map(Value::to_string)
        .collect()
}

/// Returns the number of functions, and of each blocking finding after all fixes.
fn outcome(texts: &[String]) -> (usize, BTreeMap<&'static str, usize>) {
    let (mut n_functions, mut blocking) = (0, BTreeMap::new());
    for text in texts {
        let parsed =
            parse(text).unwrap_or_else(|fault| panic!("{}: {fault}: {text:.200}", fault.kind.code()));
        n_functions += parsed.functions.len();
        let fixed = fix(&parsed.functions, Safety::Unsafe);
        let codes = fixed.findings.iter().map(|finding| finding.rule.code);
        for code in codes.filter(|code| BLOCKING.contains(code)) {
            *blocking.entry(code).or_default() += 1;
        }
    }
    (n_functions, blocking)
}

#[track_caller]
fn assert_outcome(name: &str, texts: &[String], n_functions: usize, blocking: &[(&'static str, usize)]) {
    if !texts.is_empty() {
        assert_eq!(outcome(texts), (n_functions, blocking.iter().copied().collect()), "{name}");
    }
}

#[test]
fn tools_of_servers_are_read_server_by_server() {
    let servers = elements("apis/livemcpbench/tools/LiveMCPTool/tools.json");
    assert_outcome("servers", &servers, 527, &[]);
}

#[test]
fn records_with_a_map_of_parameters_are_read() {
    for (name, n_functions) in [
        ("executable/executable", 39),
        ("non-executable/non-executable-sgd", 30),
        ("non-executable/non-executable-glaive", 70),
    ] {
        assert_outcome(name, &elements(&format!("apis/nestful/data/{name}-spec.json")), n_functions, &[]);
    }
    let tools = data::text("apis/seal-tools/Seal-Tools_Dataset/tool.jsonl").unwrap_or_default();
    let tools: Vec<String> = tools.lines().map(str::to_owned).collect();
    assert_outcome("seal", &tools, 4_076, &[]);
}

#[test]
fn lists_of_apis_are_read_and_names_of_several_tools_are_reported() {
    // Two tools of a query have the same API name; the name of the tool is not part of it.
    for (name, n_functions, blocking) in [
        ("G1_tool", 794, &[][..]),
        ("G1_category", 644, &[]),
        // Two lists of parameters have one name twice.
        ("G1_instruction", 862, &[("schema/unreadable-parameters", 2)]),
        ("G2_category", 728, &[("schema/illegal-name", 5)]),
        ("G2_instruction", 690, &[("schema/duplicate-name", 6)]),
        ("G3_instruction", 352, &[("schema/duplicate-name", 3), ("schema/illegal-name", 5)]),
    ] {
        let path = format!("apis/stabletoolbench/solvable_queries/test_instruction/{name}.json");
        assert_outcome(name, &elements(&path), n_functions, blocking);
    }
}

#[test]
fn maps_from_names_to_prose_are_read() {
    assert_outcome("real", &elements("public/toolalpaca/data/eval_real.json"), 40, &[]);
    assert_outcome("simulated", &elements("public/toolalpaca/data/eval_simulated.json"), 54, &[]);
}

#[test]
fn lists_in_strings_are_read() {
    for (name, n_functions) in [("en", 219), ("zh", 239)] {
        let rows = json(&format!("public/glaive-llamafactory/data/glaive_toolcall_{name}_demo.json"));
        let rows = rows.and_then(|rows| rows.as_array().cloned()).unwrap_or_default();
        let tools = rows.iter().map(|row| row["tools"].as_str().unwrap().to_owned());
        // Some rows have no tools.
        assert_outcome(name, &tools.filter(|tools| tools != "[]").collect::<Vec<_>>(), n_functions, &[]);
    }
    for (name, n_functions) in [("single_turn", 1_344), ("multi_turn", 119)] {
        let rows =
            data::text(&format!("public/fireworks-eval-v0/{name}-00000-of-00001.jsonl")).unwrap_or_default();
        let tools = |row: &str| serde_json::from_str::<Value>(row).unwrap()["tools"].to_string();
        assert_outcome(name, &rows.lines().map(tools).collect::<Vec<_>>(), n_functions, &[]);
    }
}

#[test]
fn records_that_people_wrote_are_read() {
    // Two records have one name, some types are sentences, and some parameters are bare lists of their values.
    for (name, n_functions, blocking) in [
        ("Datadog_API", 327, &[][..]),
        ("GoogleFormsAPI", 9, &[]),
        ("Google_Chat_API", 24, &[]),
        ("Google_Drive_API", 50, &[]),
        ("Google_Sheets_API", 17, &[]),
        ("Google_Translate_API", 50, &[]),
        ("KubernetesPodPodTemplateAPI", 23, &[]),
        ("Oracle_REST_Data_Services_API", 300, &[]),
        ("REST_API_for_Oracle_Cloud_Infrastructure_Process_Automation", 104, &[]),
        ("Youtube_API", 80, &[]),
        ("aryanvichare", 2, &[]),
        ("felixzhu1", 10, &[("schema/unreadable-parameters", 5)]),
        ("servicenow", 498, &[("schema/unknown-type", 14)]),
        ("yfinance", 12, &[]),
    ] {
        let texts: Vec<String> = data::text(&format!("messy/apizoo/{name}.json")).into_iter().collect();
        assert_outcome(name, &texts, n_functions, blocking);
    }
}

/// Returns the lists of the current official files, with their ids.
fn official() -> Vec<(String, Vec<Value>)> {
    let categories = ["simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance"];
    let files = categories
        .map(|name| data::text(&format!("bfcl-v4-live/BFCL_v4_live_{name}.json")).unwrap_or_default());
    let entries =
        files.iter().flat_map(|file| file.lines()).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let listed = |entry: Value| match &entry["function"] {
        Value::Array(functions) => functions.clone(),
        function => vec![function.clone()],
    };
    entries.map(|entry| (entry["id"].as_str().unwrap().to_owned(), listed(entry))).collect()
}

/// The official lists that break a rule with a safe fix, according to the audit.
const BROKEN: &[(&str, &[&str])] = &[
    (
        "schema/default-as-text",
        &[
            "live_irrelevance_700-229-0",
            "live_irrelevance_880-365-0",
            "live_multiple_883-184-0",
            "live_multiple_884-184-1",
            "live_multiple_885-184-2",
            "live_multiple_886-184-3",
            "live_multiple_887-184-4",
            "live_multiple_888-184-5",
            "live_multiple_889-184-6",
        ],
    ),
    ("schema/enum-value-as-text", &["live_relevance_8-8-0"]),
    (
        "schema/optional-without-default",
        &[
            "live_irrelevance_0-0-0",
            "live_irrelevance_1-0-1",
            "live_irrelevance_2-0-2",
            "live_irrelevance_286-68-0",
            "live_irrelevance_3-0-3",
            "live_irrelevance_4-0-4",
            "live_irrelevance_5-0-5",
            "live_irrelevance_6-0-6",
            "live_irrelevance_7-0-7",
            "live_irrelevance_8-0-8",
            "live_irrelevance_9-0-9",
            "live_multiple_503-149-0",
        ],
    ),
];

#[test]
fn official_docs_are_edited_only_if_they_break_a_rule() {
    let lists = official();
    if lists.is_empty() {
        return;
    }
    assert_eq!(lists.iter().map(|(_, functions)| functions.len()).sum::<usize>(), 6_659);
    let mut broken: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (id, functions) in &lists {
        let mut codes: Vec<_> =
            fix(functions, Safety::Unsafe).edits.iter().map(|edit| edit.rule.code).collect();
        codes.dedup();
        for code in codes {
            broken.entry(code).or_default().push(id);
        }
    }
    for ids in broken.values_mut() {
        ids.sort_unstable();
    }
    let expected: BTreeMap<&str, Vec<&str>> =
        BROKEN.iter().map(|(code, ids)| (*code, ids.to_vec())).collect();
    assert_eq!(broken, expected);
}
