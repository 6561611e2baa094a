//! Tests of pieces: a question, a recorded call, and what becomes of both.

use serde_json::{Value, json};

use crate::privacy::apply::{Finder, RowCell, redact_row};
use crate::privacy::known::{KnownValues, OwnValues, Sighting};
use crate::privacy::numbers::Numbers;
use crate::privacy::pieces::words_of_docs;
use crate::privacy::sight::{CellKind, Sight};
use crate::privacy::{Names, PrivacyKind, Scanner};

/// Returns the question, the arguments and the following text after redaction, and whether a piece was lost.
fn redacted(question: &str, arguments: &Value, following: &str, docs: &str) -> (String, Value, String, bool) {
    let scanner = Scanner::new(&PrivacyKind::ALL, None, Names::default());
    let messages = json!([{"role": "user", "content": question}]).to_string();
    let answer =
        json!({"role": "assistant", "content": "", "calls": [{"name": "f", "arguments": arguments}]});
    let answer = answer.to_string();
    let after = json!([{"role": "assistant", "content": following}]).to_string();
    let sightings: Vec<Sighting> = [&messages, &answer, &after]
        .into_iter()
        .filter_map(|cell| Sight::of(Finder::from(&scanner), cell, CellKind::Json))
        .flat_map(|sight| sight.values)
        .collect();
    let known = KnownValues::of(|| sightings.iter());
    let own = OwnValues::of(&sightings);
    let mut numbers = Numbers::default();
    for value in &sightings {
        match known.canonical(value.kind, &value.written) {
            Some((kind, normal, _)) => numbers.learn(kind, normal),
            None => numbers.learn(value.kind, &value.value),
        }
    }
    let finder = Finder::from(&scanner).with_known(&known).with_own(&own);
    let cells = [
        (RowCell::Messages, Some(&*messages)),
        (RowCell::Answer, Some(&*answer)),
        (RowCell::Following, Some(&*after)),
    ];
    let new = redact_row(finder, &numbers, &cells, &words_of_docs(docs));
    let is_lost = new.iter().flatten().flat_map(|(_, replaced)| replaced).any(|value| value.is_lost);
    let cell = |at: usize, old: &str| -> Value {
        serde_json::from_str(new[at].as_ref().map_or(old, |(new, _)| new)).unwrap()
    };
    let text = |cell: Value| cell[0]["content"].as_str().unwrap().to_owned();
    let arguments = cell(1, &answer)["calls"][0]["arguments"].clone();
    (text(cell(0, &messages)), arguments, text(cell(2, &after)), is_lost)
}

/// Returns the arguments after redaction; no piece may be lost.
fn called(question: &str, arguments: &Value) -> Value {
    let (_, new, _, is_lost) = redacted(question, arguments, "", "");
    assert!(!is_lost, "{question}: {new}");
    new
}

#[test]
fn arguments_that_together_are_a_number_are_replaced_in_any_order() {
    let asked = "Text (415) 736-2291 about the boat";
    let wanted = json!({"area": "555", "exchange": "555", "line": "0001"});
    assert_eq!(called(asked, &json!({"area": "415", "exchange": "736", "line": "2291"})), wanted);
    let turned = json!({"line": "2291", "area": 415, "exchange": "736"});
    assert_eq!(called(asked, &turned), json!({"line": "0001", "area": 555, "exchange": "555"}));
    // Alone, three digits are no piece.
    assert_eq!(called(asked, &json!({"floor": "736"})), json!({"floor": "736"}));
}

#[test]
fn an_argument_in_the_notation_of_a_text_answer_is_a_piece_too() {
    let scanner = Scanner::new(&PrivacyKind::ALL, None, Names::default());
    let messages = json!([{"role": "user", "content": "Text (415) 736-2291 about the boat"}]).to_string();
    let answer = json!({"role": "assistant", "content": "[text(area='415', exchange=736, line=\"2291\")]"});
    let answer = answer.to_string();
    let mut numbers = Numbers::default();
    numbers.learn(PrivacyKind::Phone, "+14157362291");
    let cells = [(RowCell::Messages, Some(&*messages)), (RowCell::Answer, Some(&*answer))];
    let new = redact_row(Finder::from(&scanner), &numbers, &cells, "");
    let new = &new[1].as_ref().unwrap().0;
    assert!(new.contains(r#"text(area='555', exchange=555, line=\"0001\")"#), "{new}");
}

#[test]
fn numbers_of_the_user_and_years_are_no_pieces() {
    let asked = "Ring +49 1512 39 2024 7 in 2024, and order 1512 screws";
    let new = called(asked, &json!({"year": 2024, "count": 1512}));
    assert_eq!(new, json!({"year": 2024, "count": 1512}));
    // A year that the user does not write stays under the key of a year.
    let new = called("My card is 4539 1488 0343 2021", &json!({"year": 2021}));
    assert_eq!(new, json!({"year": 2021}));
}

#[test]
fn the_last_digits_in_a_question_are_replaced_if_a_word_or_a_mask_announces_them() {
    let card = "4539 1488 0343 6467";
    let (asked, arguments, after, is_lost) = redacted(
        &format!("Block the card {card}, the one ending in 6467"),
        &json!({"last4": "6467"}),
        "The card **** 6467 is blocked, xxxx6467 too.",
        "",
    );
    assert_eq!(asked, "Block the card 4000 0000 0000 0010, the one ending in 0010");
    assert_eq!(arguments, json!({"last4": "0010"}));
    assert_eq!(after, "The card **** 0010 is blocked, xxxx0010 too.");
    assert!(!is_lost);
    let asked = redacted(&format!("Pay 6467 crowns with {card}"), &json!({}), "", "").0;
    assert_eq!(asked, "Pay 6467 crowns with 4000 0000 0000 0010");
}

#[test]
fn words_of_the_docs_and_common_mailboxes_are_no_pieces() {
    let asked = "Forward it to support@quillharbour.net";
    let new = called(asked, &json!({"team": "support"}));
    assert_eq!(new, json!({"team": "support"}));
    let (_, new, _, is_lost) = redacted(
        "Forward it to mira@quillharbour.net",
        &json!({"site": "quillharbour"}),
        "",
        "One of quillharbour, other.",
    );
    assert_eq!((new, is_lost), (json!({"site": "quillharbour"}), false));
    let new = called("Forward it to mira@quillharbour.net", &json!({"site": "quillharbour"}));
    assert_eq!(new, json!({"site": "example"}));
}

#[test]
fn a_public_domain_is_replaced_only_where_an_answer_needs_it() {
    let (asked, new, after, _) = redacted(
        "Find mira.kestrel@gmail.com in the list",
        &json!({"domain": "gmail.com", "note": "a gmail.com address"}),
        "I searched gmail.com for it.",
        "",
    );
    assert_eq!(asked, "Find user1@example.com in the list");
    assert_eq!(new, json!({"domain": "example.com", "note": "a gmail.com address"}));
    assert_eq!(after, "I searched gmail.com for it.");
}

#[test]
fn a_piece_that_the_placeholder_lacks_is_blanked_and_lost() {
    let (_, new, after, is_lost) = redacted(
        "Write to mira.kestrel@quillharbour.net",
        &json!({"greeting": "Dear Kestrel,"}),
        "I wrote to Kestrel.",
        "",
    );
    assert_eq!((new, &*after, is_lost), (json!({"greeting": "Dear xxxxxxx,"}), "I wrote to xxxxxxx.", true));
}

#[test]
fn the_network_of_an_address_and_its_numbers_follow_the_placeholder() {
    let asked = "Block 83.149.9.216 now";
    let new =
        called(asked, &json!({"net": "83.149.9.0/24", "prefix": "83.149.9", "parts": [83, 149, 9, 216]}));
    assert_eq!(new, json!({"net": "192.0.2.0/24", "prefix": "192.0.2", "parts": [192, 0, 2, 1]}));
}

#[test]
fn one_number_is_the_same_in_all_its_spellings() {
    let new = called(
        "My phone number is 0151 23984413",
        &json!({"a": "+4915123984413", "b": "15123984413", "c": "004915123984413", "d": 15_123_984_413_u64}),
    );
    let wanted = json!({"a": "+4900000000001", "b": "00000000001", "c": "004900000000001", "d": 1});
    assert_eq!(new, wanted);
}

#[test]
fn a_name_beside_its_address_stays() {
    let (asked, new, _, is_lost) = redacted(
        "Ask Mira Keller (mira.keller@quillharbour.net), login mira.keller",
        &json!({"to": "mira keller"}),
        "",
        "",
    );
    assert_eq!(asked, "Ask Mira Keller (user1@example.com), login user1");
    assert_eq!((new, is_lost), (json!({"to": "mira keller"}), false));
}

#[test]
fn redacting_pieces_again_changes_nothing() {
    let cases = [
        ("Ring the phone +47 41 23 98 44", json!({"code": "+47", "to": "41239844"})),
        (
            "Write to mira.kestrel@quillharbour.net",
            json!({"local": "mira.kestrel", "greeting": "Dear Kestrel"}),
        ),
        ("My password is Tr0ub4dor26xq", json!({"start": "Tr0ub4dor26x"})),
        ("My phone number is 28 12 34 19", json!({"to": "+4528123419"})),
    ];
    for (asked, arguments) in cases {
        let (asked, new, _, _) = redacted(asked, &arguments, "", "");
        let again = redacted(&asked, &new, "", "");
        assert_eq!((&again.0, &again.1), (&asked, &new));
    }
}

#[test]
fn numbers_that_the_question_writes_with_separators_are_no_pieces() {
    let cases = [
        ("Price 12.500 for the bike; mobile +34 612 500 812", json!({"price": 12500})),
        ("2,048 MB please, call (212) 736-2048", json!({"mb": 2048})),
        ("19:45 please, call (212) 736-1945", json!({"at": "1945"})),
        ("2.5 km in metres; phone (212) 736-2500", json!({"m": 2500})),
        ("Multiply 3984 by 417. My number is +49 1512 3984417", json!({"a": 3984, "b": 417})),
    ];
    for (asked, arguments) in cases {
        assert_eq!(called(asked, &arguments), arguments, "{asked}");
    }
    let asked = redacted("On 2025-06-12; mobile +34 612 025 061", &json!({}), "", "").0;
    assert_eq!(asked, "On 2025-06-12; mobile +34 000 000 001");
}

#[test]
fn an_amount_with_the_digits_of_a_value_is_for_a_person_to_decide() {
    let asked = "Sum 1500 and 12. My phone is +49 1512 3984417";
    assert!(redacted(asked, &json!({"sum": 1512}), "", "").3);
    let asked = "Set an alarm. My card is 4532 9810 6471 8257";
    assert!(redacted(asked, &json!({"at": "1064"}), "", "").3);
}

#[test]
fn a_login_made_of_the_name_in_an_address_is_lost() {
    let asked = "Make an account for pierre.orsenne@vallombre.fr";
    for login in ["porsenne", "orsennep", "orsenne1984"] {
        let (_, new, _, is_lost) = redacted(asked, &json!({"login": login}), "", "");
        assert!(is_lost && !new.to_string().contains("orsenne"), "{login}: {new}");
    }
    assert_eq!(called(asked, &json!({"plan": "orsennette"})), json!({"plan": "orsennette"}));
}

#[test]
fn a_country_code_that_only_the_call_has_is_kept_before_the_placeholder() {
    let asked = "My phone number is 0151 23984034";
    let new = called(asked, &json!({"a": "4915123984034", "b": "+49 151 23984034", "c": "004915123984034"}));
    let wanted = json!({"a": "4900000000001", "b": "+49 000 00000001", "c": "004900000000001"});
    assert_eq!(new, wanted);
}

#[test]
fn encoded_addresses_have_the_padding_of_their_alphabet() {
    let new = called(
        "Encode mira.kestrel@larchwood-post.se in base64",
        &json!({"data": "bWlyYS5rZXN0cmVsQGxhcmNod29vZC1wb3N0LnNl"}),
    );
    assert_eq!(new, json!({"data": "dXNlcjFAZXhhbXBsZS5jb20="}));
}
