//! Prints how well a recogniser finds the names and street addresses in `tests/privacy/people.jsonl`.
//!
//! `cargo run --example people_table [rules | local:DIR] [--misses]`

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use callsieve::environment::Environment;
use callsieve::privacy::apply::{Finder, Replaced, read_json, redact_json};
use callsieve::privacy::numbers::Numbers;
use callsieve::privacy::people::{OwnPeople, People, PeopleOf, Reading, RowReading};
use callsieve::privacy::{Names, PrivacyKind, Scanner};
use callsieve::recogniser::RecogniserName;
use callsieve::recogniser::local::LocalRecogniser;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let show_misses = arguments.iter().any(|argument| argument == "--misses");
    let name = arguments.iter().find(|argument| !argument.starts_with("--")).map_or("rules", String::as_str);
    let name: RecogniserName = name.parse().expect("the name of a recogniser");
    assert!(name.asks().is_none(), "a language model is measured by a run");
    let model = name.open(&Environment::default()).expect("the model can be read");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/privacy/people.jsonl");
    let text = std::fs::read_to_string(path).expect("the set is in the repository");
    table(&text, model.as_ref(), show_misses);
}

/// The values of one sentence, each alone, as a run of one request finds them.
fn found(sentence: &str, model: Option<&LocalRecogniser>) -> Vec<Replaced> {
    let scanner = Scanner::new(&PrivacyKind::ALL, None, Names::default()).with_people(true);
    let cell = serde_json::json!({ "content": sentence }).to_string();
    let (mut people, mut own) = (People::new(model.is_some()), OwnPeople::default());
    loop {
        let row = Mutex::new(RowReading::default());
        let search = PeopleOf::new(&people).with_own(Some(&own)).recording(&row);
        read_json(Finder::from(&scanner).with_people(Some(search)), &cell);
        let row = row.into_inner().expect("one thread");
        let is_new = people.learn(&row.people).expect("a sentence has few names");
        let own_now = OwnPeople::of(&row.people).with(Some(&own));
        if row.unread.is_empty() && !is_new && own_now == own {
            let mut numbers = Numbers::default();
            row.people.iter().for_each(|person| numbers.learn(person.kind, &person.value));
            let search = PeopleOf::new(&people).with_own(Some(&own));
            let redacted = redact_json(Finder::from(&scanner).with_people(Some(search)), &numbers, &cell);
            return redacted.map(|(_, replaced)| replaced).unwrap_or_default();
        }
        own = own_now;
        for unread in row.unread {
            let model = model.expect("texts are read by a model");
            let places = model.recognise(&[&unread.text], &|| false).expect("a text can be read").remove(0);
            people.add_reading(unread.key, Reading::Places(places));
        }
    }
}

/// Counts of the labelled values of a kind.
#[derive(Default)]
struct Counts {
    labelled: usize,
    /// Found with both ends.
    right: usize,
    /// Found at least in part, or with more around it.
    touched: usize,
}

// Counts of some hundred sentences.
#[allow(clippy::print_stdout, clippy::cast_precision_loss)]
fn table(text: &str, model: Option<&LocalRecogniser>, show_misses: bool) {
    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut looks: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut time = Duration::ZERO;
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let sentence = row["text"].as_str().expect("a text");
        let labels: Vec<(String, usize, usize)> =
            serde_json::from_value(row["spans"].clone()).expect("spans");
        let start = Instant::now();
        let found = found(sentence, model);
        time += start.elapsed();
        let mut is_missed = labels.is_empty() && !found.is_empty();
        for (kind, start, end) in &labels {
            let of_kind = PrivacyKind::from_name(kind).expect("a kind");
            let count = counts.entry(of_kind.name()).or_default();
            let of_kind = || found.iter().filter(|value| value.kind == of_kind);
            let is_right = of_kind().any(|value| (value.start, value.end) == (*start, *end));
            count.labelled += 1;
            count.right += usize::from(is_right);
            count.touched += usize::from(of_kind().any(|value| value.start < *end && *start < value.end));
            is_missed |= !is_right;
        }
        if let Some(like) = row["looks"].as_str() {
            let (all, changed) = looks.entry(like.to_owned()).or_default();
            *all += 1;
            *changed += usize::from(!found.is_empty());
        }
        if show_misses && is_missed {
            let found: Vec<&str> = found.iter().map(|value| &sentence[value.start..value.end]).collect();
            let labels: Vec<&str> = labels.iter().map(|(_, start, end)| &sentence[*start..*end]).collect();
            println!("{sentence:?}\n  labelled {labels:?}\n  found    {found:?}");
        }
    }
    println!("| kind | labelled | found | recall in % | found at least in part |\n|---|---|---|---|---|");
    for (kind, count) in counts {
        let share = 100.0 * count.right as f64 / count.labelled.max(1) as f64;
        println!("| {kind} | {} | {} | {share:.1} | {} |", count.labelled, count.right, count.touched);
    }
    println!("\n| look-alike | sentences | changed |\n|---|---|---|");
    for (like, (all, changed)) in looks {
        println!("| {like} | {all} | {changed} |");
    }
    println!("\n{:.1} s", time.as_secs_f64());
}
