//! The audit of the official BFCL releases against themselves, each other and a public set.

use std::collections::BTreeSet;
use std::path::PathBuf;

use callsieve::audit::benchmark::{Benchmark, Thresholds};
use callsieve::audit::hit::{Method, Object, Verdict};
use callsieve::audit::item::Item;
use callsieve::audit::rows::Fallback;
use callsieve::docs::parse::parse;
use callsieve::ingest::log_formats::Columns;
use callsieve::text::rouge::Threshold;
use callsieve_testkit::data;
use serde_json::Value;

fn read(paths: &[PathBuf]) -> Benchmark {
    Benchmark::read(paths, &Columns::default(), Thresholds::default(), &Fallback::default()).unwrap()
}

/// The last message of the user of every entry, with its number.
fn last_messages(benchmark: &Benchmark) -> Vec<String> {
    let mut last = vec![String::new(); benchmark.entries.len()];
    for (entry, _, text) in benchmark.messages() {
        text.clone_into(&mut last[entry as usize]);
    }
    last
}

fn item(message: &str) -> Item {
    Item { queries: vec![message.to_owned()], ..Item::default() }
}

#[test]
fn the_current_live_release_has_its_known_duplicates_contradictions_and_near_pairs() {
    let Some(folder) = data::path("bfcl-v4-live") else { return };
    let live = read(&[folder]);
    assert_eq!(live.entries.len(), 2251);
    let equal = live.equal_messages();
    let n_entries: usize = equal.iter().map(Vec::len).sum();
    assert_eq!((equal.len(), n_entries, n_entries - equal.len()), (86, 217, 131));
    let ids = |group: &Vec<u32>| -> Vec<&str> {
        group.iter().map(|entry| live.entries[*entry as usize].id.as_str()).collect()
    };
    // Two of the pairs differ in their system prompt.
    assert_eq!(live.equal_requests().len(), 8);
    let contradictions: BTreeSet<Vec<&str>> = live.contradictions().iter().map(ids).collect();
    assert_eq!(
        contradictions,
        BTreeSet::from([
            vec!["live_irrelevance_118-7-8", "live_simple_29-7-2"],
            vec!["live_irrelevance_567-175-0", "live_simple_176-102-0"],
            vec!["live_irrelevance_565-173-0", "live_multiple_262-125-1"],
        ])
    );
    let near = live.near_messages(Threshold::try_from(0.8).unwrap(), &|| false).unwrap();
    assert_eq!(near.len(), 421);

    // An audit of the release against itself finds the same pairs, message by message.
    let messages = last_messages(&live);
    let mut found = BTreeSet::new();
    for (entry, message) in (0_u32..).zip(&messages).filter(|(_, message)| !message.is_empty()) {
        for hit in live.hits_of_messages(&item(message)) {
            let others = hit.entries().map(|(other, _)| other).filter(|other| *other != entry);
            found.extend(others.map(|other| (entry.min(other), entry.max(other))));
        }
    }
    let missed: Vec<_> = near.iter().filter(|pair| !found.contains(&(pair.a, pair.b))).collect();
    assert!(missed.is_empty(), "{missed:?}");
    let surplus =
        equal.iter().all(|group| group[1..].iter().all(|entry| found.contains(&(group[0], *entry))));
    assert!(surplus);
}

#[test]
fn the_current_live_release_has_messages_of_the_first_categories() {
    let (Some(live), Some(first)) = (data::path("bfcl-v4-live"), data::path("bfcl-v4-nonlive")) else {
        return;
    };
    let (live, first) = (read(&[live]), read(&[first]));
    let (mut equal, mut contaminated) = (BTreeSet::new(), BTreeSet::new());
    for (entry, _, message) in first.messages() {
        let id = first.entries[entry as usize].id.as_str();
        for hit in live.hits_of_messages(&item(message)) {
            if hit.verdict == Verdict::Contaminated {
                contaminated.insert(id);
            }
            if hit.method == Method::Exact {
                equal.insert(id);
            }
        }
    }
    let expected = [
        "irrelevance_0",
        "irrelevance_233",
        "irrelevance_69",
        "irrelevance_78",
        "multiple_26",
        "simple_python_14",
    ];
    assert_eq!(equal, BTreeSet::from(expected));
    let changed: Vec<&str> = contaminated.difference(&equal).copied().collect();
    assert_eq!(changed, ["irrelevance_25", "parallel_73", "parallel_multiple_132", "parallel_multiple_83"]);
}

#[test]
fn functions_of_nexus_raven_are_found_in_the_current_live_release() {
    let (Some(live), Some(raven)) =
        (data::path("bfcl-v4-live"), data::text("public/nexusraven-v2/functions.jsonl"))
    else {
        return;
    };
    let live = read(&[live]);
    let mut found = BTreeSet::new();
    for line in raven.lines() {
        let definition =
            serde_json::from_str::<Value>(line).unwrap()["definition"].as_str().unwrap().to_owned();
        let functions = parse(&definition).unwrap().functions;
        for hit in live.hits_of_functions(&functions) {
            if hit.verdict == Verdict::Contaminated && hit.object == Object::Function {
                assert!(matches!(hit.method, Method::NameParameters | Method::ParametersText));
                found.extend(hit.entries().map(|(entry, _)| live.entries[entry as usize].id.clone()));
            }
        }
    }
    for id in ["live_irrelevance_286-68-0", "live_irrelevance_731-246-0"] {
        assert!(found.contains(id), "{id}: {found:?}");
    }
}
