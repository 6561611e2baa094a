//! Tests on labelled sentences: their values are found, and look-alikes are unchanged.

use serde_json::Value;

use super::{redacted, scanner};
use crate::PrivacyKind;

/// A sentence, its labels (kind, first byte, byte after the last), and whether it is a look-alike.
pub(super) type Labelled = (String, Vec<(String, usize, usize)>, bool);

/// Reads the labelled sentences of a file.
pub(super) fn labelled(file: &str) -> Vec<Labelled> {
    let path = format!("{}/../../tests/privacy/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let spans = serde_json::from_value(row["spans"].clone()).unwrap();
        (row["text"].as_str().unwrap().to_owned(), spans, row["looks"].is_string())
    };
    text.lines().map(row).collect()
}

#[test]
fn labelled_values_are_found_and_look_alikes_are_unchanged() {
    /// Minimum recall and precision, in percent.
    const MARK: usize = 96;
    /// Maximum share of changed look-alikes, in percent.
    const MOST_CHANGED: usize = 1;
    let scanner = scanner();
    for file in ["open.jsonl", "aside.jsonl"] {
        let mut counts = std::collections::BTreeMap::<String, [usize; 3]>::new();
        let (mut look_alikes, mut changed) = (0, Vec::new());
        for (text, labels, is_look_alike) in labelled(file) {
            let found: Vec<(String, usize, usize)> = scanner
                .scan(&text)
                .iter()
                .filter(|it| it.is_personal())
                .map(|it| (it.kind.name().to_owned(), it.start, it.end))
                .collect();
            look_alikes += usize::from(is_look_alike);
            if is_look_alike && !found.is_empty() {
                changed.push(text.clone());
            }
            for label in &labels {
                let count = counts.entry(label.0.clone()).or_default();
                count[0] += 1;
                count[2] += usize::from(found.contains(label));
            }
            for value in found {
                counts.entry(value.0).or_default()[1] += 1;
            }
        }
        assert_eq!(counts.len(), PrivacyKind::ALL.len());
        assert!(changed.len() * 100 <= look_alikes * MOST_CHANGED, "{file}: {changed:?}");
        for (kind, [labelled, found, right]) in counts {
            assert!(right * 100 >= labelled * MARK, "{file}: of {labelled} of kind {kind} {right} are found");
            assert!(right * 100 >= found * MARK, "{file}: of {found} found of kind {kind} {right} are right");
        }
    }
}

/// The required figures for a file of labelled sentences, in percent.
struct Marks<'a> {
    /// Minimum recall of each kind. Keys and tokens count as one kind, as words announce a secret as either.
    recall: &'a [(&'a str, usize)],
    /// Minimum precision.
    precision: usize,
    /// Maximum share of changed look-alikes.
    look_alikes: usize,
}

fn hold_to(file: &str, marks: &Marks<'_>) {
    let scanner = scanner();
    let kind = |name: &str| if name == "token" { "key".to_owned() } else { name.to_owned() };
    let mut counts = std::collections::BTreeMap::<String, [usize; 3]>::new();
    let (mut look_alikes, mut changed) = (0, 0);
    for (text, labels, is_look_alike) in labelled(file) {
        let labels: Vec<_> = labels.into_iter().map(|(name, start, end)| (kind(&name), start, end)).collect();
        let found = scanner.scan(&text);
        let found: Vec<_> = found
            .iter()
            .filter(|it| it.is_personal())
            .map(|it| (kind(it.kind.name()), it.start, it.end))
            .collect();
        look_alikes += usize::from(is_look_alike);
        changed += usize::from(is_look_alike && !found.is_empty());
        for label in &labels {
            let count = counts.entry(label.0.clone()).or_default();
            count[0] += 1;
            count[2] += usize::from(found.contains(label));
        }
        for value in found {
            counts.entry(value.0).or_default()[1] += 1;
        }
    }
    assert_eq!(counts.len(), marks.recall.len());
    assert!(changed * 100 <= look_alikes * marks.look_alikes, "{changed} of {look_alikes} look-alikes");
    for (kind, mark) in marks.recall {
        let [labelled, found, right] = counts[*kind];
        assert!(right * 100 >= labelled * mark, "of {labelled} of kind {kind} {right} are found");
        assert!(right * 100 >= found * marks.precision, "of {found} found of kind {kind} {right} are right");
    }
}

#[test]
fn values_in_sentences_without_a_template_are_found() {
    let recall = [
        ("email", 96),
        ("phone", 96),
        ("card", 96),
        ("iban", 96),
        ("ssn", 96),
        ("key", 90),
        ("ipv4", 90),
        ("ipv6", 96),
        ("mac", 96),
    ];
    hold_to("written.jsonl", &Marks { recall: &recall, precision: 96, look_alikes: 1 });
    let recall = [
        ("email", 96),
        ("phone", 96),
        ("card", 96),
        ("iban", 96),
        ("ssn", 96),
        ("key", 93),
        ("ipv4", 96),
        ("ipv6", 96),
        ("mac", 96),
    ];
    hold_to("typed.jsonl", &Marks { recall: &recall, precision: 98, look_alikes: 0 });
}

/// The third of those sentences for which recognisers are not tuned, to measure the quality on unseen text. The figures
/// are the current ones, which must not get worse, not a goal.
#[test]
fn recall_and_precision_on_untuned_sentences_do_not_get_worse() {
    let recall = [
        ("email", 89),
        ("phone", 90),
        ("card", 95),
        ("iban", 96),
        ("ssn", 96),
        ("key", 80),
        ("ipv4", 96),
        ("ipv6", 96),
        ("mac", 96),
    ];
    hold_to("written_aside.jsonl", &Marks { recall: &recall, precision: 95, look_alikes: 4 });
    let recall =
        [("email", 96), ("phone", 96), ("card", 78), ("iban", 96), ("ssn", 96), ("key", 88), ("mac", 96)];
    hold_to("typed_aside.jsonl", &Marks { recall: &recall, precision: 90, look_alikes: 3 });
}

#[test]
fn redacting_the_labelled_sentences_again_finds_nothing() {
    let files = [
        "open.jsonl",
        "aside.jsonl",
        "written.jsonl",
        "written_aside.jsonl",
        "typed.jsonl",
        "typed_aside.jsonl",
    ];
    for (text, ..) in files.into_iter().flat_map(labelled) {
        let once = redacted(&text);
        assert!(scanner().scan(&once).iter().all(|it| !it.is_personal()), "{text} became {once}");
    }
}

#[test]
fn street_addresses_are_found_by_rule_and_look_alikes_are_unchanged() {
    use crate::apply::{Finder, redact_json};
    use crate::numbers::Numbers;
    use crate::people::{People, PeopleOf};

    let (scanner, people) = (scanner().with_people(true), People::new(false));
    let (mut labelled_values, mut right) = (0, 0);
    for (text, labels, is_look_alike) in labelled("people.jsonl") {
        let cell = serde_json::json!({ "content": text }).to_string();
        let mut numbers = Numbers::default();
        let row = std::sync::Mutex::default();
        let search = PeopleOf::new(&people).recording(&row);
        crate::apply::read_json(Finder::from(&scanner).with_people(Some(search)), &cell);
        for person in row.into_inner().unwrap().people {
            numbers.learn(person.kind, &person.value);
        }
        let finder = Finder::from(&scanner).with_people(Some(PeopleOf::new(&people)));
        let replaced = redact_json(finder, &numbers, &cell).map(|(_, replaced)| replaced).unwrap_or_default();
        assert!(!is_look_alike || replaced.is_empty(), "{text}");
        let found: Vec<_> =
            replaced.iter().map(|value| (value.kind.name().to_owned(), value.start, value.end)).collect();
        let streets = labels.iter().filter(|label| label.0 == "street-address");
        for label in streets {
            labelled_values += 1;
            right += usize::from(found.contains(label));
        }
        assert!(
            found.iter().all(|value| labels.iter().any(|label| label.1 <= value.1 && value.2 <= label.2)),
            "{text}: {found:?}"
        );
    }
    // Addresses in lower case, and those without a sure word for a street, are left to a model.
    assert!(right * 100 >= labelled_values * 75, "{right} of {labelled_values}");
}
