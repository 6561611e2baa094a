use std::io::Write as _;

use serde_json::{Value, json};

use super::*;
use crate::item::Table;

const WAS: &str = "0123456789abcdef";

fn draft(id: &str, decision: Verdict) -> Draft {
    Draft::new(id, Table::Requests, WAS, decision)
}

fn with(id: &str, decision: Verdict, value: Value) -> Draft {
    Draft { value, ..draft(id, decision) }
}

fn in_effect(history: &History) -> Vec<(&str, Verdict)> {
    history.iter().map(|line| (line.id.as_str(), line.decision)).collect()
}

fn bytes_of(folder: &Path, reviewer: &str) -> Vec<u8> {
    fs::read(folder.join(format!("{reviewer}.jsonl"))).unwrap()
}

fn append(folder: &Path, reviewer: &str, bytes: &[u8]) {
    let mut file = File::options().append(true).open(folder.join(format!("{reviewer}.jsonl"))).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn decisions_are_there_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("run/decisions");
    let mut store = Store::open(&folder, "kim").unwrap();
    let value = json!([{"book": {"price": [1.50]}}]);
    let first =
        Draft { why: Some("</script>\u{202e}".to_owned()), ..with("a", Verdict::Answer, value.clone()) };
    store.decide(first, "2026-01-01T00:00:00Z").unwrap();
    store.decide(draft("b", Verdict::Drop), "t").unwrap();
    store.decide(draft("b", Verdict::Skip), "t").unwrap();
    drop(store);
    let store = Store::open(&folder, "kim").unwrap();
    assert_eq!(in_effect(store.state()), [("a", Verdict::Answer), ("b", Verdict::Skip)]);
    let line = store.state().get("a").unwrap();
    assert_eq!((line.seq, line.value.to_string()), (1, value.to_string()));
    assert_eq!(line.why.as_deref(), Some("</script>\u{202e}"));
}

#[test]
fn a_cut_at_any_byte_loses_the_last_line_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), "kim").unwrap();
    store.decide(draft("a", Verdict::Drop), "t").unwrap();
    let n_first = bytes_of(folder.path(), "kim").len();
    store.decide(with("b", Verdict::EditQuery, json!("blåbær")), "t").unwrap();
    drop(store);
    let whole = bytes_of(folder.path(), "kim");
    for end in n_first..whole.len() {
        let folder = tempfile::tempdir().unwrap();
        File::create(folder.path().join("kim.jsonl")).unwrap().write_all(&whole[..end]).unwrap();
        let read = Reviews::read(folder.path()).unwrap();
        assert_eq!(in_effect(read.of("kim").unwrap()), [("a", Verdict::Drop)], "{end}");
        let mut store = Store::open(folder.path(), "kim").unwrap();
        store.decide(draft("c", Verdict::Skip), "t").unwrap();
        drop(store);
        let store = Store::open(folder.path(), "kim").unwrap();
        assert_eq!(in_effect(store.state()), [("a", Verdict::Drop), ("c", Verdict::Skip)], "{end}");
    }
}

#[test]
fn other_damage_is_refused_with_file_and_line() {
    let good = {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), "kim").unwrap();
        store.decide(draft("a", Verdict::Drop), "t").unwrap();
        bytes_of(folder.path(), "kim")
    };
    let text = String::from_utf8(good.clone()).unwrap();
    let second = text.replace("\"seq\":1", "\"seq\":2");
    let undo = |undoes: &str, id: &str| {
        let line = second.replace("\"drop\"", "\"undo\"").replace("\"a\"", id);
        line.replace("}\n", &format!(",\"undoes\":{undoes}}}\n"))
    };
    let cases = [
        ("not JSON\n".to_owned(), "found no decision"),
        ("\n".to_owned(), "found no decision"),
        ("\0\0\0\n".to_owned(), "found no decision"),
        (second.replace("\"drop\"", "\"dorp\""), "unknown variant"),
        (second.replace("\"time\"", "\"tiem\""), "unknown field"),
        (text.clone(), "found the number 1, expected 2"),
        (second.replace("kim", "lee"), "found the reviewer \"lee\""),
        (undo("7", "\"a\""), "found an undo of line 7"),
        (undo("0", "\"a\""), "found an undo of line 0"),
        (undo("1", "\"b\""), "found an undo of line 1"),
        (second.replace("\"drop\"", "\"undo\""), "without \"undoes\""),
        (second.replace('}', ",\"undoes\":1}"), "found an undo of line 1"),
    ];
    for (damage, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        File::create(folder.path().join("kim.jsonl")).unwrap().write_all(&good).unwrap();
        append(folder.path(), "kim", damage.as_bytes());
        let opened = Store::open(folder.path(), "kim").unwrap_err().to_string();
        assert!(opened.contains("kim.jsonl:2: ") && opened.contains(expected), "{damage}: {opened}");
        assert_eq!(Reviews::read(folder.path()).unwrap_err().to_string(), opened);
    }
}

#[test]
fn undo_goes_back_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), "kim").unwrap();
    store.decide(draft("a", Verdict::Drop), "t").unwrap();
    store.decide(draft("b", Verdict::Accept), "t").unwrap();
    store.decide(draft("a", Verdict::Accept), "t").unwrap();
    assert_eq!(store.undo("t").unwrap()[0].undoes, Some(3));
    assert_eq!(in_effect(store.state()), [("a", Verdict::Drop), ("b", Verdict::Accept)]);
    store.undo("t").unwrap();
    assert_eq!(store.undo("t").unwrap()[0].undoes, Some(1));
    assert_eq!(in_effect(store.state()), []);
    assert!(matches!(store.undo("t"), Err(StoreError::Rule(_))));
    assert!(store.decide(draft("a", Verdict::Undo), "t").is_err());
    drop(store);
    let mut store = Store::open(folder.path(), "kim").unwrap();
    assert_eq!((store.state().lines().len(), in_effect(store.state())), (6, vec![]));
    assert_eq!(store.decide(draft("a", Verdict::Skip), "t").unwrap().seq, 7);
}

#[test]
fn a_group_is_decided_and_undone_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), "kim").unwrap();
    store.decide(draft("a", Verdict::Accept), "t").unwrap();
    let drafts = vec![draft("b", Verdict::Drop), draft("c", Verdict::Drop)];
    let lines = store.decide_group("g", drafts, "t").unwrap();
    assert_eq!(
        lines.iter().map(|line| (line.seq, line.batch)).collect::<Vec<_>>(),
        [(2, Some(2)), (3, Some(2))]
    );
    assert_eq!(store.state().get("c").unwrap().group.as_deref(), Some("g"));
    assert_eq!(store.undo("t").unwrap().len(), 2);
    assert_eq!(in_effect(store.state()), [("a", Verdict::Accept)]);
    for verdict in [Verdict::Accept, Verdict::Answer, Verdict::Skip, Verdict::EditDoc] {
        assert!(store.decide_group("g", vec![draft("b", verdict)], "t").is_err(), "{verdict:?}");
    }
}

#[test]
fn only_one_process_has_the_decisions_of_a_reviewer_open() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), "kim").unwrap();
    assert!(matches!(Store::open(folder.path(), "kim"), Err(StoreError::Locked(_))));
    Store::open(folder.path(), "lee").unwrap();
    drop(store);
    Store::open(folder.path(), "kim").unwrap();
}

#[test]
fn a_name_is_one_of_a_file() {
    for name in ["kim", "Zoë", "a.b-c_1"] {
        assert!(check_name(name).is_ok(), "{name}");
    }
    for name in ["", ".", "..", ".kim", "a/b", "a\\b", "a b", "a\0", "a:b", &"x".repeat(65)] {
        assert!(check_name(name).is_err(), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_decisions() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    Store::open(folder.path(), "kim").unwrap();
    for entry in fs::read_dir(folder.path()).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o077, 0);
    }
}

/// Decisions of two reviewers: 20 and 15 rows alike, 5 and 10 not.
fn two_reviewers(folder: &Path) {
    let verdicts = [(Verdict::Accept, Verdict::Accept, 20), (Verdict::Accept, Verdict::Drop, 5)];
    let more = [(Verdict::Drop, Verdict::Accept, 10), (Verdict::Drop, Verdict::Drop, 15)];
    let (mut kim, mut lee) = (Store::open(folder, "kim").unwrap(), Store::open(folder, "lee").unwrap());
    let mut n_rows = 0;
    for (first, second, count) in verdicts.into_iter().chain(more) {
        for _ in 0..count {
            n_rows += 1;
            let id = format!("{n_rows:03}");
            kim.decide(draft(&id, first), "t").unwrap();
            lee.decide(draft(&id, second), "t").unwrap();
        }
    }
    kim.decide(draft("only kim", Verdict::Drop), "t").unwrap();
    kim.decide(draft("skipped", Verdict::Drop), "t").unwrap();
    lee.decide(draft("skipped", Verdict::Skip), "t").unwrap();
}

#[test]
fn kappa_of_two_reviewers_is_that_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    two_reviewers(folder.path());
    let reviews = Reviews::read(folder.path()).unwrap();
    let [pair] = &reviews.agreement()[..] else { panic!("one pair") };
    assert_eq!(
        (pair.first.as_str(), pair.second.as_str(), pair.n_rows, pair.n_equal),
        ("kim", "lee", 50, 35)
    );
    assert_eq!(
        (pair.classes.clone(), pair.confusion.clone()),
        (vec!["accept".into(), "drop".into()], vec![vec![20, 5], vec![10, 15]])
    );
    let kappa = pair.kappa.unwrap();
    // Agreement 0.7, chance 0.5; the standard error is 0.126996.
    assert!(
        (kappa.value - 0.4).abs() < 1e-12 && (kappa.to - 0.4 - 1.959_964 * 0.126_996).abs() < 1e-5,
        "{kappa:?}"
    );
    assert_eq!(reviews.disagreements("kim").len(), 15);
    let first = &reviews.disagreements("lee")[0];
    assert_eq!((first.id.as_str(), first.decisions[0].reviewer.as_str()), ("021", "lee"));
    assert_eq!(reviews.disagreements("nobody"), []);
}

#[test]
fn an_edit_of_functions_is_a_decision_on_their_list_and_the_last_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut kim = Store::open(folder.path(), "kim").unwrap();
    let edit = |request: &str, name: &str| {
        let value = json!({"functions": [{"name": name}], "list": {"id": "l", "was": WAS}});
        with(request, Verdict::EditDoc, value)
    };
    kim.decide(edit("a", "first"), "t").unwrap();
    kim.decide(edit("b", "second"), "t").unwrap();
    // A decision on the request does not replace the edit that was made from it.
    kim.decide(draft("b", Verdict::Drop), "t").unwrap();
    let export = Reviews::read(folder.path()).unwrap().export(|_| true);
    assert!(export.disagreements.is_empty(), "{export:?}");
    let targets: Vec<&str> = export.lines.iter().filter_map(|line| line["id"].as_str()).collect();
    assert_eq!(targets, ["list:l", "request:b"]);
    assert_eq!(export.lines[0]["functions"][0]["name"], "second");
    // Undoing goes back step by step.
    kim.undo("t").unwrap();
    assert_eq!(kim.state().get("b").map(|line| line.decision), Some(Verdict::EditDoc));
    kim.undo("t").unwrap();
    assert_eq!(kim.state().get("b"), None);
    assert_eq!(in_effect(kim.state()), [("a", Verdict::EditDoc)]);
}

#[test]
fn accepting_the_answer_or_label_of_another_reviewer_agrees_with_him() {
    let folder = tempfile::tempdir().unwrap();
    let (mut anna, mut bob) =
        (Store::open(folder.path(), "anna").unwrap(), Store::open(folder.path(), "bob").unwrap());
    let answer = json!([{"f": {"a": [1]}}]);
    anna.decide(with("a", Verdict::Answer, answer.clone()), "t").unwrap();
    bob.decide(with("a", Verdict::Accept, answer), "t").unwrap();
    anna.decide(with("b", Verdict::Relabel, json!("irrelevant")), "t").unwrap();
    bob.decide(with("b", Verdict::Accept, json!("irrelevant")), "t").unwrap();
    anna.decide(draft("c", Verdict::Accept), "t").unwrap();
    bob.decide(draft("c", Verdict::Drop), "t").unwrap();
    let reviews = Reviews::read(folder.path()).unwrap();
    let [pair] = &reviews.agreement()[..] else { panic!("one pair") };
    assert_eq!((pair.n_rows, pair.n_equal), (3, 2));
    assert_eq!(reviews.disagreements("anna").len(), 1);
}

#[test]
fn a_decision_that_replaces_another_of_its_reviewer_is_not_made_already() {
    let folder = tempfile::tempdir().unwrap();
    let mut kim = Store::open(folder.path(), "kim").unwrap();
    let mut lee = Store::open(folder.path(), "lee").unwrap();
    kim.decide(draft("a", Verdict::Drop), "t").unwrap();
    lee.decide(with("a", Verdict::Relabel, json!("irrelevant")), "t").unwrap();
    let made = Reviews::read(folder.path()).unwrap().made();
    let relabel = with("a", Verdict::Relabel, json!("irrelevant"));
    assert_eq!(made.by(&relabel, "kim"), None);
    assert_eq!(made.by(&relabel, "lee"), Some("lee"));
    assert_eq!(made.by(&relabel, "max"), Some("lee"));
}

#[test]
fn rows_shown_to_a_reviewer_keep_their_first_decision_for_agreement() {
    let folder = tempfile::tempdir().unwrap();
    two_reviewers(folder.path());
    let mut kim = Store::open(folder.path(), "kim").unwrap();
    let reviews = Reviews::read(folder.path()).unwrap();
    let ids: Vec<String> = reviews.disagreements("kim").into_iter().map(|found| found.id).collect();
    kim.note_shown(ids.iter().map(String::as_str)).unwrap();
    drop(kim);
    let mut kim = Store::open(folder.path(), "kim").unwrap();
    assert!(kim.decide(draft("021", Verdict::Drop), "t").unwrap().informed);
    kim.undo("t").unwrap();
    kim.decide(draft("022", Verdict::Drop), "t").unwrap();
    assert!(!kim.decide(draft("new", Verdict::Drop), "t").unwrap().informed);
    let reviews = Reviews::read(folder.path()).unwrap();
    assert_eq!(reviews.agreement()[0].n_equal, 35);
    assert_eq!(reviews.disagreements("kim").len(), 14);
}

#[test]
fn agreed_decisions_are_exported_and_others_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut kim = Store::open(folder.path(), "kim").unwrap();
    let mut lee = Store::open(folder.path(), "lee").unwrap();
    let answer = json!([{"book": {"city": ["Oslo"]}}]);
    let functions = json!([{"name": "book"}]);
    let edit = json!({"functions": functions, "list": {"id": "l", "was": "ffff"}});
    let why = |why: &str, draft| Draft { why: Some(why.to_owned()), ..draft };
    for draft in [
        draft("a", Verdict::Accept),
        with("b", Verdict::Accept, answer.clone()),
        with("c", Verdict::Relabel, json!("irrelevant")),
        with("d", Verdict::EditDoc, edit),
        with("e", Verdict::EditQuery, json!("x")),
        with("f", Verdict::Relabel, json!("win")),
        draft("g", Verdict::Drop),
        draft("h", Verdict::Skip),
        Draft::new("m", Table::DocLists, "", Verdict::Drop),
        Draft { was: "old".to_owned(), ..draft("o", Verdict::Drop) },
    ] {
        kim.decide(why("k", draft), "t").unwrap();
    }
    lee.decide(why("l", with("b", Verdict::Answer, answer.clone())), "t").unwrap();
    lee.decide(draft("g", Verdict::Accept), "t").unwrap();
    let export = Reviews::read(folder.path()).unwrap().export(|line| line.was != "old");
    assert_eq!(
        export.lines,
        [
            json!({"id": "list:l", "decision": "edit", "functions": functions, "was": "ffff", "by": "kim", "why": "k"}),
            json!({"id": "list:m", "decision": "drop", "by": "kim", "why": "k"}),
            json!({"id": "request:a", "decision": "keep", "was": WAS, "by": "kim", "why": "k"}),
            json!({"id": "request:b", "decision": "answer", "ground_truth": answer, "was": WAS, "by": "kim, lee", "why": "k; l"}),
            json!({"id": "request:c", "decision": "relabel", "relevance": "irrelevant", "was": WAS, "by": "kim", "why": "k"}),
        ]
    );
    assert_eq!(export.disagreements, ["request:g"]);
    assert_eq!(export.unsupported, ["request:e", "request:f"]);
    assert_eq!(export.n_outdated, 1);
}

#[test]
fn the_digest_is_of_the_decisions_and_not_of_the_way_to_them() {
    let digest = |steps: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), "kim").unwrap();
        for step in steps {
            match *step {
                "undo" => drop(store.undo(step).unwrap()),
                "skip" => drop(store.decide(draft("z", Verdict::Skip), step).unwrap()),
                id => drop(store.decide(draft(id, Verdict::Drop), id).unwrap()),
            }
        }
        Reviews::read(folder.path()).unwrap().digest()
    };
    assert_eq!(digest(&["a", "b"]), digest(&["b", "c", "undo", "a", "skip"]));
    assert_ne!(digest(&["a", "b"]), digest(&["a"]));
    assert_eq!(Reviews::read(Path::new("/no/such/folder")).unwrap().digest().len(), 64);
}

#[test]
fn hundred_thousand_decisions_are_opened_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), "kim").unwrap();
    let drafts = (0..100_000).map(|at| draft(&format!("{at:032x}"), Verdict::Drop)).collect();
    store.decide_group("g", drafts, "t").unwrap();
    drop(store);
    let start = std::time::Instant::now();
    let mut store = Store::open(folder.path(), "kim").unwrap();
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let start = std::time::Instant::now();
    assert_eq!(store.undo("t").unwrap().len(), 100_000);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

proptest::proptest! {
    #[test]
    fn what_is_read_back_is_what_was_decided(steps in proptest::collection::vec(0_usize..6, 0..30)) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), "kim").unwrap();
        // An undo takes the last decision back that is in effect, so decisions are a stack.
        let mut stack: Vec<String> = Vec::new();
        for (nth, step) in steps.into_iter().enumerate() {
            if step < 2 {
                assert_eq!(store.undo("t").is_ok(), stack.pop().is_some());
            } else {
                let draft = Draft { why: Some(nth.to_string()), ..draft(&step.to_string(), Verdict::Drop) };
                stack.push(format!("{step} {nth}"));
                store.decide(draft, "t").unwrap();
            }
        }
        let mut expected = std::collections::BTreeMap::new();
        for (id, nth) in stack.iter().filter_map(|entry| entry.split_once(' ')) {
            expected.insert(id, nth);
        }
        drop(store);
        let store = Store::open(folder.path(), "kim").unwrap();
        let found = store.state().iter().map(|line| (line.id.as_str(), line.why.as_deref().unwrap()));
        proptest::prop_assert_eq!(found.collect::<Vec<_>>(), expected.into_iter().collect::<Vec<_>>());
    }
}
