//! Tests of `callsieve check`: its output for small datasets, and the published audit of the official files.
//!
//! The official files are in the data folder (`callsieve_testkit::data`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::{output, shown};
use callsieve::checker::{Kind, Language, acceptance};
use callsieve::docs::check::rules::Level;
use callsieve::lint::tally::{Count, tally};
use callsieve::lint::{Report, check, input};
use callsieve_testkit::data;

const V4: &str = "bfcl-v4-live";
const V2: &str = "bfcl-v2-live";
/// The files in the order of the audit; a folder is read in the order of names.
const CATEGORIES: [&str; 6] =
    ["simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance"];

/// The findings in a folder, and their counts by code and type.
struct Audit {
    report: Report,
    labels: Vec<String>,
    counts: BTreeMap<(&'static str, &'static str), Count>,
    linter: BTreeMap<(&'static str, &'static str), Count>,
}

fn audit(folder: &str) -> Option<Audit> {
    let files = input::read(&data::path(folder)?).unwrap();
    let report = check(&files);
    let by_code = |told: &[_]| {
        tally(told, files.len()).into_iter().map(|(rule, kind, count)| ((rule.code, kind), count)).collect()
    };
    let labels = files.iter().map(input::InputFile::label).collect();
    let (counts, linter) = (by_code(&report.findings), by_code(&report.linter));
    Some(Audit { report, labels, counts, linter })
}

impl Audit {
    /// Functions by file in the audit's order, in total, and distinct ones.
    fn row(&self, code: &'static str) -> ([usize; 6], usize, usize) {
        self.counts.get(&(code, "")).map_or(([0; 6], 0, 0), |count| self.row_of(count))
    }

    fn row_of(&self, count: &Count) -> ([usize; 6], usize, usize) {
        let at =
            |category| self.labels.iter().position(|label| *label == format!("live_{category}")).unwrap();
        (CATEGORIES.map(|category| count.by_file[at(category)]), count.docs, count.distinct)
    }

    /// Returns the linter's functions by file and in all, and its entries by file.
    fn linted(&self) -> ([usize; 6], usize, [usize; 6]) {
        let of = |category| {
            let label = format!("live_{category}");
            let told = || self.report.linter.iter().filter(|told| self.labels[told.file] == label);
            (told().count(), told().map(|told| &told.id).collect::<BTreeSet<_>>().len())
        };
        let found = CATEGORIES.map(of);
        (found.map(|(docs, _)| docs), self.report.linter.len(), found.map(|(_, entries)| entries))
    }
}

/// The rules of the audit that all official docs follow: (a) to (d), (g), (h).
const NEVER: [&str; 21] = [
    "schema/not-a-function",
    "schema/missing-name",
    "schema/missing-description",
    "schema/missing-parameters",
    "schema/parameters-type",
    "schema/missing-properties",
    "schema/missing-required",
    "schema/required-not-a-list",
    "schema/missing-type",
    "schema/type-synonym",
    "schema/unknown-type",
    "schema/several-types",
    "schema/array-without-items",
    "schema/items-not-a-schema",
    "schema/required-without-property",
    "schema/nested-required",
    "schema/extra-key",
    "schema/key-order",
    "schema/function-name",
    "schema/duplicate-name",
    "schema/colliding-name",
];

#[test]
fn the_audit_of_the_current_release_is_reproduced_exactly() {
    let Some(audit) = audit(V4) else { return };
    assert_eq!((audit.report.n_entries, audit.report.n_functions), (2251, 6659));
    for code in NEVER {
        assert_eq!(audit.row(code), ([0; 6], 0, 0), "{code}");
    }
    let rows = [
        ("schema/python-keyword", [0; 6], 0, 0),
        ("schema/parameter-name", [0; 6], 0, 0),
        // (e), (e''), (f), (f strict) less (f), (f nested)
        ("schema/dict-without-properties", [1, 8, 0, 0, 22, 0], 31, 9),
        ("schema/empty-dict", [1, 6, 0, 0, 5, 0], 12, 4),
        ("schema/optional-without-default", [0, 1, 0, 0, 11, 0], 12, 10),
        ("schema/described-default", [0; 6], 0, 0),
        ("schema/nested-without-default", [7, 32, 0, 0, 173, 0], 212, 86),
    ];
    for (code, by_file, docs, distinct) in rows {
        assert_eq!(audit.row(code), (by_file, docs, distinct), "{code}");
    }
    let totals = [
        ("schema/null-default", 718, 243),
        ("schema/default-not-in-enum", 209, 28),
        ("schema/default-type", 149, 25),
        ("schema/enum-type", 102, 23),
        ("schema/required-with-default", 4, 4),
    ];
    for (code, docs, distinct) in totals {
        let (_, found_docs, found_distinct) = audit.row(code);
        assert_eq!((found_docs, found_distinct), (docs, distinct), "{code}");
    }
    // (e'): all dict parameters define their content.
    let dicts =
        audit.report.findings.iter().filter(|told| told.rule.code == "schema/dict-without-properties");
    assert!(dicts.into_iter().all(|told| told.at.ends_with("/items")));
}

#[test]
fn the_original_release_has_the_numbers_of_the_audit() {
    let Some(audit) = audit(V2) else { return };
    assert_eq!((audit.report.n_entries, audit.report.n_functions), (2251, 6682));
    for code in NEVER {
        assert_eq!(audit.row(code), ([0; 6], 0, 0), "{code}");
    }
    for (code, by_file, docs, distinct) in [
        ("schema/dict-without-properties", [1, 8, 0, 0, 22, 0], 31, 9),
        ("schema/empty-dict", [1, 6, 0, 0, 5, 0], 12, 4),
        ("schema/optional-without-default", [0, 0, 0, 0, 11, 0], 11, 9),
        ("schema/nested-without-default", [7, 32, 0, 0, 173, 0], 212, 85),
    ] {
        assert_eq!(audit.row(code), (by_file, docs, distinct), "{code}");
    }
    assert_eq!(audit.row("schema/python-keyword").1, 106);
}

#[test]
fn the_official_script_refuses_the_same_functions_for_the_same_faults() {
    if let Some(audit) = audit(V4) {
        assert_eq!(audit.linted(), ([1, 123, 0, 3, 60, 1], 188, [1, 99, 0, 3, 50, 1]));
        let kinds = [
            ("schema/enum-type", "boolean", 41),
            ("schema/enum-type", "integer", 39),
            ("schema/enum-type", "array", 22),
            ("schema/default-type", "integer", 29),
            ("schema/default-type", "boolean", 27),
            ("schema/default-type", "float", 14),
            ("schema/default-type", "tuple", 1),
            ("schema/optional-without-default", "", 11),
            ("schema/required-with-default", "", 4),
        ];
        assert_eq!(audit.linter.len(), kinds.len());
        for (code, kind, docs) in kinds {
            assert_eq!(audit.linter[&(code, kind)].docs, docs, "{code} {kind}");
        }
    }
    if let Some(audit) = audit(V2) {
        assert_eq!(audit.linted().0, [8, 497, 0, 11, 168, 31]);
    }
}

#[test]
fn the_entries_that_no_output_can_satisfy_are_the_only_wrong_answers_of_the_current_release() {
    let Some(audit) = audit(V4) else { return };
    let is_wrong = |code: &str, level| level == Level::Error && code.starts_with("answer/");
    let told = audit.report.findings.iter().filter(|told| is_wrong(told.rule.code, told.rule.level));
    let ids: BTreeSet<&str> = told.map(|told| told.id.as_str()).collect();
    let known = [
        "live_multiple_862-181-3",
        "live_multiple_964-207-0",
        "live_simple_106-63-0",
        "live_simple_112-68-0",
    ];
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), known);
    let of = |code: &'static str| {
        let told = audit.report.findings.iter().filter(move |told| told.rule.code == code);
        told.map(|told| told.id.as_str())
    };
    let omittable: Vec<&str> = of("answer/omittable-required").collect();
    assert_eq!(omittable.len(), 9, "{omittable:?}");
    assert_eq!(of("dataset/list-number").collect::<Vec<_>>(), ["live_irrelevance_882-882-0"]);
    assert_eq!(of("answer/unsatisfiable").collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(), known);
    assert_eq!(of("answer/only-empty-value").collect::<Vec<_>>(), ["live_multiple_507-149-4"]);
    assert_eq!(of("answer/dead-alternative").count(), 0);
}

/// The findings of a code: the entry, and what was found.
fn found<'a>(audit: &'a Audit, code: &'static str) -> Vec<(&'a str, &'a str)> {
    let told = audit.report.findings.iter().filter(|told| told.rule.code == code);
    told.map(|told| (told.id.as_str(), told.found.as_ref())).collect()
}

const EQUAL: &str = "the question and functions of ";

#[test]
fn equal_entries_and_contradicting_labels_of_the_official_releases_are_found() {
    if let Some(audit) = audit(V4) {
        let pair = |id, other: &str| (id, format!("{EQUAL}{other}"));
        let found = |code| {
            let found = found(&audit, code).into_iter();
            found.map(|(id, found)| (id, found.to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(
            found("dataset/contradicting-labels"),
            [
                pair("live_multiple_262-125-1", "live_irrelevance_565-173-0"),
                pair("live_simple_29-7-2", "live_irrelevance_118-7-8"),
                pair("live_simple_176-102-0", "live_irrelevance_567-175-0"),
            ]
        );
        assert_eq!(
            found("dataset/duplicate-entry"),
            [
                pair("live_irrelevance_195-32-8", "live_irrelevance_194-32-7"),
                pair("live_irrelevance_212-34-1", "live_irrelevance_211-34-0"),
                pair("live_irrelevance_220-34-9", "live_irrelevance_219-34-8"),
            ]
        );
    }
    if let Some(audit) = audit(V2) {
        assert_eq!(found(&audit, "dataset/contradicting-labels").len(), 8);
        assert_eq!(found(&audit, "dataset/duplicate-entry").len(), 3);
    }
}

#[test]
fn optional_parameters_that_official_answers_leave_out_are_the_known_ones() {
    let entries = |folder: &str| -> Option<Vec<String>> {
        let audit = audit(folder)?;
        assert_eq!(found(&audit, "dataset/contradicting-answers"), []);
        let ids: BTreeSet<&str> =
            found(&audit, "answer/optional-left-out").into_iter().map(|(id, _)| id).collect();
        Some(ids.into_iter().map(str::to_owned).collect())
    };
    if let Some(ids) = entries(V4) {
        let expected = [
            "live_multiple_1033-261-0",
            "live_multiple_1041-268-0",
            "live_multiple_1046-273-0",
            "live_multiple_1048-275-0",
            "live_multiple_1049-276-0",
            "live_multiple_198-90-0",
            "live_multiple_242-107-3",
            "live_multiple_439-143-0",
            "live_multiple_485-147-0",
            "live_multiple_488-147-3",
            "live_multiple_860-181-1",
            "live_multiple_862-181-3",
            "live_multiple_903-186-0",
            "live_multiple_904-186-1",
            "live_multiple_907-186-4",
            "live_parallel_11-7-0",
            "live_parallel_15-11-0",
        ];
        assert_eq!(ids, expected);
    }
    if let Some(ids) = entries("bfcl-v4-nonlive") {
        let expected = [
            "parallel_multiple_12",
            "parallel_multiple_75",
            "simple_javascript_29",
            "simple_javascript_33",
            "simple_javascript_42",
        ];
        assert_eq!(ids, expected);
    }
}

#[test]
fn values_outside_the_enum_are_the_known_ones() {
    let Some(audit) = audit(V4) else { return };
    let outside = [
        ("live_multiple_87-38-4", "\"openai\""),
        ("live_multiple_750-169-5", "\"Any\""),
        ("live_multiple_755-169-10", "\"Any\""),
        ("live_multiple_835-178-10", "\"Reggaeton\""),
        ("live_multiple_870-182-7", "\"Sci-fi,Action\""),
        ("live_multiple_871-182-8", "\"Play\""),
        ("live_multiple_947-197-0", "\"5 minutes\""),
    ];
    let found_outside = found(&audit, "answer/not-in-enum");
    assert_eq!(found_outside[..7], outside);
    assert_eq!(
        found_outside[7..].iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        ["live_parallel_multiple_2-2-0"]
    );
    let keys = [("live_multiple_189-83-0", "\"name\""), ("live_multiple_189-83-0", "\"email\"")];
    assert_eq!(found(&audit, "answer/unknown-key"), keys);
}

#[test]
fn alternatives_that_nothing_matches_in_the_original_release_are_the_known_ones() {
    let Some(audit) = audit(V2) else { return };
    let ids: BTreeSet<&str> =
        found(&audit, "answer/dead-alternative").into_iter().map(|(id, _)| id).collect();
    // The first two have values of parameters that the doc does not have, so that only an omission passes.
    let known = ["live_parallel_4-1-0", "live_parallel_9-5-0", "live_parallel_multiple_8-7-0"];
    assert_eq!(ids.into_iter().collect::<Vec<_>>(), known);
}

#[test]
fn the_official_non_live_files_have_the_known_faults() {
    let Some(audit) = audit("bfcl-v4-nonlive") else { return };
    assert_eq!(audit.report.n_entries, 1390);
    for code in ["dataset/contradicting-labels", "dataset/duplicate-entry", "answer/unsatisfiable"] {
        assert_eq!(found(&audit, code), [], "{code}");
    }
    let ids = |code| found(&audit, code).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids("answer/only-empty-value"), [""; 0]);
    assert_eq!(
        ids("answer/omittable-required"),
        [
            "parallel_88",
            "parallel_multiple_87",
            "parallel_multiple_119",
            "simple_python_17",
            "simple_python_200"
        ]
    );
    // In both the doc does not have the parameter, so that only an omission passes.
    assert_eq!(ids("answer/dead-alternative"), ["parallel_multiple_12", "parallel_multiple_26"]);
    let outside =
        ids("answer/not-in-enum").into_iter().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
    assert_eq!(outside, ["parallel_multiple_173", "parallel_multiple_194", "simple_python_358"]);
}

/// Counts the entries of each file whose output with the first alternatives passes, and all.
fn first_outputs_that_pass(folder: &str) -> Option<Vec<(String, usize, usize)>> {
    let files = input::read(&data::path(folder)?).unwrap();
    let counted = files.iter().filter_map(|file| {
        let questions = file.questions.as_ref()?;
        let answers = file.answers.as_ref()?;
        let passes = |(line, answer): (&input::Line, &input::Line)| {
            let kind = Kind::of_category(&questions.category);
            let truth = &answer.value["ground_truth"];
            acceptance(&line.value["function"], truth, kind, Language::Python).first_refused.is_none()
        };
        let n_passing = file.lines.iter().zip(answers).filter(|pair| passes(*pair)).count();
        Some((questions.category.clone(), n_passing, file.lines.len()))
    });
    Some(counted.collect())
}

#[test]
fn first_alternatives_of_the_official_answers_pass_as_in_the_official_run() {
    let expected = |counts: [(usize, usize); 4]| {
        let categories = ["live_multiple", "live_parallel", "live_parallel_multiple", "live_simple"];
        let counts = categories.into_iter().zip(counts);
        Some(counts.map(|(name, (passing, all))| (name.to_owned(), passing, all)).collect::<Vec<_>>())
    };
    if let Some(found) = first_outputs_that_pass(V4) {
        assert_eq!(Some(found), expected([(1050, 1053), (16, 16), (24, 24), (256, 258)]));
    }
    if let Some(found) = first_outputs_that_pass(V2) {
        assert_eq!(Some(found), expected([(1034, 1037), (16, 16), (24, 24), (256, 258)]));
    }
}

/// Writes question lines of one category and their answers as a dataset.
fn write(folder: &Path, category: &str, questions: &str, answers: Option<&str>) {
    let name = format!("BFCL_v4_live_{category}.json");
    std::fs::create_dir_all(folder.join("possible_answer")).unwrap();
    std::fs::write(folder.join(&name), questions).unwrap();
    if let Some(answers) = answers {
        std::fs::write(folder.join("possible_answer").join(name), answers).unwrap();
    }
}

const RING: &str = r#"{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["bell"], "properties": {"bell": {"type": "string", "description": "Which."}, "times": {"type": "integer", "description": "How often.", "default": 1}}}}"#;
const TOLL: &str = r#"{"name": "toll", "description": "Tolls.", "parameters": {"type": "object", "required": [], "properties": {"class": {"type": "str", "description": "Which.", "default": 1}, "slow": {"type": "boolean", "description": "Whether.", "enum": ["yes", "no"], "default": "maybe"}}}}"#;

fn question(id: &str, functions: &[&str]) -> String {
    let functions = functions.join(", ");
    format!(
        "{{\"id\": \"{id}\", \"question\": [[{{\"role\": \"user\", \"content\": \"Ring it\"}}]], \"function\": [{functions}]}}\n"
    )
}

fn snapshot(name: &str, arguments: &[&str], folder: &Path) {
    let text = shown(&output(arguments)).replace(folder.to_str().unwrap(), "FOLDER");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Writes a dataset of one valid and two invalid entries.
fn bells(folder: &Path) {
    let questions = question("live_simple_0-0-0", &[RING]) + &question("live_simple_1-1-0", &[TOLL]);
    let answers = "{\"id\": \"live_simple_0-0-0\", \"ground_truth\": [{\"ring\": {\"bell\": [\"noon\"], \"times\": [\"\", 1]}}]}\n\
                   {\"id\": \"live_simple_1-1-0\", \"ground_truth\": [{\"tol\": {}}]}\n";
    write(folder, "simple", &questions, Some(answers));
    write(folder, "multiple", &question("live_multiple_0-0-0", &[RING, RING]), None);
}

#[test]
fn faults_of_a_dataset_are_listed_by_line_and_counted_by_rule() {
    let folder = tempfile::tempdir().unwrap();
    bells(folder.path());
    let path = folder.path().to_str().unwrap();
    snapshot("check", &["check", path], folder.path());
    snapshot("check_json", &["check", path, "--json", "--rule", "schema/enum-type"], folder.path());
    snapshot("check_linter", &["check", path, "--rules", "official-linter"], folder.path());
    snapshot("check_limit", &["check", path, "--level", "error", "--limit", "1"], folder.path());
    snapshot("check_help", &["check", "--help"], folder.path());
}

#[test]
fn bare_functions_are_checked_and_no_faults_is_success() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("functions.jsonl");
    std::fs::write(
        &file,
        format!("{{\"id\": \"a\", \"function\": [{RING}]}}\n\n{{\"id\": 7, \"function\": {RING}}}\n"),
    )
    .unwrap();
    snapshot("check_functions", &["check", file.to_str().unwrap()], folder.path());
    std::fs::write(&file, format!("{{\"id\": \"a\", \"function\": {TOLL}}}\n")).unwrap();
    snapshot("check_one_function", &["check", file.to_str().unwrap()], folder.path());
}

#[test]
fn the_dataset_of_a_run_has_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    crate::support::run_sample(&out, &[]);
    let checked = output(&["check", out.to_str().unwrap()]);
    let text = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(0), "{text}");
    assert!(text.contains(" 0 errors"), "{text}");
}

#[test]
fn unreadable_inputs_have_the_place_the_finding_and_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let good = format!("{{\"id\": \"a\", \"function\": [{RING}]}}\n");
    let cases: [(&str, Vec<String>); 8] = [
        ("missing file", vec!["no-such-file.jsonl".to_owned()]),
        ("line 3 is not JSON", vec![write("broken.jsonl", &format!("{good}{good}{{'id': 1}}\n"))]),
        ("a line that is no object", vec![write("list.jsonl", "[1]\n")]),
        ("another key", vec![write("tools.jsonl", "{\"id\": \"a\", \"tools\": []}\n")]),
        ("functions as text", vec![write("text.jsonl", "{\"id\": \"a\", \"function\": \"def f(): ...\"}\n")]),
        ("an answer file", vec![write("answers.json", "{\"id\": \"a\", \"ground_truth\": []}\n")]),
        ("an empty file", vec![write("empty.jsonl", "\n")]),
        ("a folder with a file of answers", vec![folder.path().to_str().unwrap().to_owned()]),
    ];
    let mut text = String::new();
    for (what, path) in &cases {
        text += &format!("== {what}\n{}\n", shown(&output(&["check", &path[0]])));
    }
    text += &format!(
        "== a rule that is not there\n{}",
        shown(&output(&["check", "raw", "--rule", "schema/enumtype"]))
    );
    let text = text.replace(folder.path().to_str().unwrap(), "FOLDER");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("check_errors", text);
    });
}
