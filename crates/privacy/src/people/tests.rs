//! Tests with a recogniser that knows some words.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::apply::{Finder, redact_json};
use crate::numbers::Numbers;
use crate::{Names, Scanner};

/// Marks these words wherever they are: the last word is only marked after the word before it was replaced.
fn places(text: &str) -> Vec<Place> {
    let kinds = [
        ("Mira Keller", PrivacyKind::Name),
        ("Tomas", PrivacyKind::Name),
        ("mark", PrivacyKind::Name),
        ("5 Old Mill Lane", PrivacyKind::StreetAddress),
        ("Person", PrivacyKind::Name),
    ];
    let mut places: Vec<Place> = kinds
        .iter()
        .filter_map(|(word, kind)| {
            let start = text.find(word)?;
            Some(Place { kind: *kind, start, end: start + word.len() })
        })
        .collect();
    if text.contains("Person 1 and Zoe") {
        let start = text.find("Zoe").unwrap();
        places.push(Place { kind: PrivacyKind::Name, start, end: start + 3 });
    }
    places.sort_by_key(|place| place.start);
    places
}

fn scanner() -> Scanner {
    Scanner::new(&PrivacyKind::ALL, None, Names::default()).with_people(true)
}

/// Reads cells of JSON, each of its own row, until nothing is found, and redacts them.
fn redact(cells: &[String], offered: Option<&OfferedValues>) -> Vec<String> {
    let (scanner, mut people) = (scanner(), People::new(true));
    let mut own = vec![OwnPeople::default(); cells.len()];
    let mut last: Vec<Vec<Person>> = Vec::new();
    for _ in 0..20 {
        let mut is_done = true;
        last.clear();
        for (at, cell) in cells.iter().enumerate() {
            let row = Mutex::default();
            let assistant = AssistantNames::of(cell);
            let search = PeopleOf::new(&people)
                .with_own(Some(&own[at]))
                .with_offered(offered)
                .with_assistant(Some(&assistant))
                .recording(&row);
            crate::apply::read_json(Finder::from(&scanner).with_people(Some(search)), cell);
            let row = row.into_inner().unwrap();
            let own_now = OwnPeople::of(&row.people).with(Some(&own[at]));
            is_done &= row.unread.is_empty() && own_now == own[at];
            own[at] = own_now;
            for unread in row.unread {
                people.add_reading(unread.key, Reading::Places(places(&unread.text)));
            }
            last.push(row.people);
        }
        is_done &= !people.learn(last.iter().flatten()).unwrap();
        if is_done {
            break;
        }
    }
    let mut numbers = Numbers::default();
    for cell in cells {
        crate::apply::in_json(&scanner, cell, |value, _| {
            if let ValueStatus::Placeholder(Some(number)) = value.status {
                numbers.take(value.kind, number);
            }
        });
    }
    for person in last.iter().flatten() {
        numbers.learn(person.kind, &person.value);
    }
    let redacted = |(at, cell): (usize, &String)| {
        let assistant = AssistantNames::of(cell);
        let search = PeopleOf::new(&people)
            .with_own(Some(&own[at]))
            .with_offered(offered)
            .with_assistant(Some(&assistant));
        let new = redact_json(Finder::from(&scanner).with_people(Some(search)), &numbers, cell);
        new.map_or_else(|| cell.clone(), |(new, _)| new)
    };
    cells.iter().enumerate().map(redacted).collect()
}

fn message(content: &str) -> String {
    serde_json::json!([{"role": "user", "content": content}]).to_string()
}

fn redact_messages(contents: &[&str]) -> Vec<String> {
    let cells: Vec<String> = contents.iter().map(|content| message(content)).collect();
    let content = |cell: &String| {
        let read: serde_json::Value = serde_json::from_str(cell).unwrap();
        read[0]["content"].as_str().unwrap().to_owned()
    };
    redact(&cells, None).iter().map(content).collect()
}

#[test]
fn a_name_of_two_words_is_replaced_in_all_rows_and_one_of_a_word_in_its_own() {
    let redacted = redact_messages(&[
        "Ask Mira Keller and Tomas. Tomas knows",
        "MIRA  keller's gate",
        "Is Tomás there, mira?",
        "Write to 5 Old Mill Lane",
        "the 5 old mill lane house",
    ]);
    assert_eq!(
        redacted,
        [
            "Ask Person 1 and Person 2. Person 2 knows",
            "Person 1's gate",
            "Is Tomás there, mira?",
            "Write to 1 Example Street",
            "the 1 Example Street house",
        ]
    );
}

#[test]
fn a_plain_word_is_replaced_only_where_it_was_marked() {
    assert_eq!(redact_messages(&["remind mark to mark it"]), ["remind Person 1 to Person 1 it"]);
    assert_eq!(redact_messages(&["Ask Tomas", "Is Tomas a city"]), ["Ask Person 1", "Is Person 1 a city"]);
}

#[test]
fn what_is_found_only_after_a_replacement_is_found_too() {
    assert_eq!(redact_messages(&["Ask Mira Keller and Zoe now"]), ["Ask Person 1 and Person 2 now"]);
}

#[test]
fn an_answer_follows_its_message() {
    let call = serde_json::json!([{"role": "user", "content": "Invite Mira Keller and Tomas"},
        {"role": "assistant", "content": "", "calls": [{"name": "Tomas", "arguments":
            {"who": "mira keller", "also": "tomas", "surname": "Keller", "city": "Keller Springs"}}]}]);
    let redacted: serde_json::Value = serde_json::from_str(&redact(&[call.to_string()], None)[0]).unwrap();
    assert_eq!(redacted[0]["content"], "Invite Person 1 and Person 2");
    let expected = serde_json::json!([{"name": "Tomas", "arguments":
        {"who": "Person 1", "also": "Person 2", "surname": "Person 3", "city": "Keller Springs"}}]);
    assert_eq!(redacted[1]["calls"], expected);
}

#[test]
fn a_value_that_the_docs_offer_stays() {
    let offered = OfferedValues::of(r#"{"enum": ["Tomas", "Ingrid"]}"#);
    let cells = [message("Book with Tomas and Mira Keller")];
    assert!(redact(&cells, Some(&offered))[0].contains("Book with Tomas and Person 1"));
}

#[test]
fn a_value_of_another_kind_is_hidden_from_the_recogniser() {
    let (scanner, people, row) = (scanner(), People::new(true), Mutex::default());
    let finder = Finder::from(&scanner).with_people(Some(PeopleOf::new(&people).recording(&row)));
    crate::apply::read_json(finder, &message("Tell mira.keller@quillpost.net that Person 7 is late"));
    let unread = row.into_inner().unwrap().unread;
    assert_eq!(unread[0].text, "Tell user1@example.com that Person 1 is late");
}

#[test]
fn numbers_in_the_log_are_not_given_again() {
    let redacted = redact_messages(&["Person 1 and 2 Example Street", "Ask Mira Keller of 5 Old Mill Lane"]);
    assert_eq!(redacted, ["Person 1 and 2 Example Street", "Ask Person 2 of 1 Example Street"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn redacted_text_has_nothing_left_to_redact(
        contents in prop::collection::vec("((Mira|Keller|Tomas|mark|and|Zoe|Person|1|12|5|Old|Mill|Lane|Example|Street|a@b\\.org)( |, |\\. )){0,12}", 1..4)
    ) {
        let cells: Vec<String> = contents.iter().map(|content| message(content)).collect();
        let once = redact(&cells, None);
        prop_assert_eq!(&redact(&once, None), &once);
    }
}

fn redact_conversation(system: &str, user: &str, offered: Option<&OfferedValues>) -> [String; 2] {
    let cell = serde_json::json!([{"role": "system", "content": system}, {"role": "user", "content": user}])
        .to_string();
    let read: serde_json::Value = serde_json::from_str(&redact(&[cell], offered)[0]).unwrap();
    [0, 1].map(|at| read[at]["content"].as_str().unwrap().to_owned())
}

#[test]
fn staff_in_a_system_prompt_have_the_same_placeholder_in_the_messages() {
    let [system, user] = redact_conversation(
        "You are the assistant of Dr. Mira Keller; ask Tomas, extension 4417, if you are stuck",
        "Is Mira Keller in today, or Tomas?",
        None,
    );
    assert_eq!(
        system,
        "You are the assistant of Dr. Person 1; ask Person 2, extension 4417, if you are stuck"
    );
    assert_eq!(user, "Is Person 1 in today, or Person 2?");
}

#[test]
fn the_name_of_the_assistant_and_of_a_function_stay() {
    let [system, user] = redact_conversation(
        "You are Tomas, the helper of Acme. Escalate to Mira Keller",
        "Tomas, is Mira Keller in?",
        None,
    );
    assert_eq!(system, "You are Tomas, the helper of Acme. Escalate to Person 1");
    assert_eq!(user, "Tomas, is Person 1 in?");
    let offered = OfferedValues::of(r#"[{"name": "ask_Tomas", "description": "Asks."}, {"name": "Tomas"}]"#);
    let [system, user] = redact_conversation(
        "Call ask_Tomas for the plan, or Tomas(when) for a date",
        "Is Tomas in?",
        Some(&offered),
    );
    assert_eq!(system, "Call ask_Tomas for the plan, or Tomas(when) for a date");
    assert_eq!(user, "Is Person 1 in?");
}
