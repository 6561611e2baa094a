//! Tests of pieces: a question, a recorded call, and what becomes of both.

use serde_json::{Value, json};

use crate::apply::{Finder, RowCell, redact_row};
use crate::cell_contents::{CellContents, CellKind};
use crate::declared::DeclaredPhones;
use crate::known::{KnownValues, OwnValues, Sighting};
use crate::numbers::Numbers;
use crate::pieces::words_of_docs;
use crate::{Names, PrivacyKind, Scanner};

/// Returns the question, the arguments and the following text after redaction, and whether a piece was lost.
fn redacted(question: &str, arguments: &Value, following: &str, docs: &str) -> (String, Value, String, bool) {
    let messages = json!([{"role": "user", "content": question}]);
    let (messages, arguments, following, is_lost) = redacted_turns(&messages, arguments, following, docs);
    (messages[0]["content"].as_str().unwrap().to_owned(), arguments, following, is_lost)
}

/// The same for several messages.
fn redacted_turns(
    messages: &Value,
    arguments: &Value,
    following: &str,
    docs: &str,
) -> (Value, Value, String, bool) {
    let scanner = Scanner::new(&PrivacyKind::ALL, None, Names::default());
    let declared = DeclaredPhones::of(docs);
    let finder = Finder::from(&scanner).with_declared(declared.as_ref());
    let messages = messages.to_string();
    let answer =
        json!({"role": "assistant", "content": "", "calls": [{"name": "f", "arguments": arguments}]});
    let answer = answer.to_string();
    let after = json!([{"role": "assistant", "content": following}]).to_string();
    let sightings: Vec<Sighting> = [&messages, &answer, &after]
        .into_iter()
        .filter_map(|cell| CellContents::of(finder, cell, CellKind::Json))
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
    let finder = finder.with_known(&known).with_own(&own);
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
    (cell(0, &messages), arguments, text(cell(2, &after)), is_lost)
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
    // An address that ends in 0 is that address.
    let (asked, new, _, _) = redacted("Block 83.149.9.0 now", &json!({"net": "83.149.9.0"}), "", "");
    assert_eq!((&*asked, new), ("Block 192.0.2.1 now", json!({"net": "192.0.2.1"})));
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

#[test]
fn a_short_number_is_replaced_in_a_call_in_any_spelling() {
    for asked in
        ["My phone number is 412 77 308, save it", "Phone: 412-77-308", "My phone number is 41277308"]
    {
        let new =
            called(asked, &json!({"name": "me", "phone": "41277308", "to": "412-77-308", "n": 41_277_308}));
        assert_eq!(
            new,
            json!({"name": "me", "phone": "10000001", "to": "100-00-001", "n": 10_000_001}),
            "{asked}"
        );
    }
    let new = called("Where is it?", &json!({"phone": "41277308", "order_id": "4127 7309"}));
    assert_eq!(new, json!({"phone": "10000001", "order_id": "4127 7309"}));
}

#[test]
fn a_number_that_answers_the_question_of_another_turn_may_be_short() {
    let messages = |question: &str, answer: &str| json!([{"role": "user", "content": "Save me"}, {"role": "assistant", "content": question}, {"role": "user", "content": answer}]);
    let redacted = |question: &str, answer: &str| {
        redacted_turns(&messages(question, answer), &json!({"to": answer}), "", "")
    };
    for question in ["What is your phone number?", "Sure. Which number can the driver ring when he arrives?"]
    {
        let (new, arguments, _, _) = redacted(question, "412 77 398");
        let expected = Some("100 00 001");
        assert_eq!(
            (new[2]["content"].as_str(), arguments["to"].as_str()),
            (expected, expected),
            "{question}"
        );
    }
    for question in
        ["What is your order number?", "When should I call?", "Which ticket number? I text you then."]
    {
        assert_eq!(redacted(question, "412 77 398").0[2]["content"], "412 77 398", "{question}");
    }
}

/// A doc list whose function `f` has a parameter `to`.
fn docs(description: &str) -> String {
    json!([{"name": "f", "parameters": {"type": "object", "properties": {"to": {"type": "string", "description": description}}}}])
        .to_string()
}

#[test]
fn the_description_of_a_parameter_makes_its_value_a_telephone_number() {
    let of = |description: &str, to: &str| {
        let messages = json!([{"role": "user", "content": format!("Send hi to {to}")}]);
        let (new, arguments, _, is_lost) =
            redacted_turns(&messages, &json!({"to": to}), "", &docs(description));
        assert!(!is_lost);
        (new[0]["content"].as_str().unwrap().to_owned(), arguments["to"].as_str().unwrap().to_owned())
    };
    let phone = "Phone number of the recipient.";
    assert_eq!(of(phone, "0547712093"), ("Send hi to 0000000001".to_owned(), "0000000001".to_owned()));
    assert_eq!(of(phone, "4127309"), ("Send hi to 1000001".to_owned(), "1000001".to_owned()));
    assert_eq!(of(phone, "Anna"), ("Send hi to Anna".to_owned(), "Anna".to_owned()));
    for other in ["Id of the recipient's phone number.", "Account of the recipient."] {
        assert_eq!(of(other, "0547712093").1, "0547712093", "{other}");
    }
}

#[test]
fn a_number_and_its_extension_in_one_become_the_placeholder_and_the_extension() {
    for (asked, to, expected) in [
        ("Text our branch at 030 2274418 ext. 91: ok", "030227441891", "000000000191"),
        ("Call (415) 867-5312 x91 please", "415867531291", "555555000191"),
        ("Call 415-867-5312x91 please", "+1415867531291", "+1555555000191"),
        ("Call 415-867-5312, extension 2215", "4158675312 2215", "5555550001 2215"),
        ("Ruf 030 2274418 (Durchwahl 91) an", "+4930227441891", "+4900000000191"),
    ] {
        let (asked_now, new, _, is_lost) =
            redacted(asked, &json!({"to": to, "extension": "2215", "ext": "91"}), "", "");
        assert_eq!((&new["to"], is_lost), (&json!(expected), false), "{asked}: {new}");
        assert_eq!((&new["extension"], &new["ext"]), (&json!("2215"), &json!("91")));
        assert!(!asked_now.contains("2274418") && !asked_now.contains("5312"), "{asked_now}");
    }
}

#[test]
fn the_start_or_end_of_a_secret_in_an_argument_is_a_piece_if_it_mixes_letters_with_digits_or_signs() {
    let asked = "My password is Tr0ub4dor&3y, check its first four characters";
    let cases = [
        (json!({"s": "Tr0u"}), json!({"s": "0000"})),
        (json!({"s": "tr0ub"}), json!({"s": "00000"})),
        (json!({"s": "starts with Tr0u"}), json!({"s": "starts with 0000"})),
        (json!({"s": "r&3y"}), json!({"s": "0&01"})),
        // No start and no end, too short, or a word of the user.
        (json!({"s": "0ub4"}), json!({"s": "0ub4"})),
        (json!({"s": "Tr0"}), json!({"s": "Tr0"})),
        (json!({"s": "characters"}), json!({"s": "characters"})),
    ];
    for (arguments, expected) in cases {
        let (_, new, _, is_lost) = redacted(asked, &arguments, "", "");
        assert!(new == expected || (is_lost && expected != arguments), "{arguments}: {new}");
    }
    let new = called("My password is Hunt&fishing77", &json!({"s": "Hunt", "t": "hunting", "u": "Hunt&"}));
    assert_eq!((&new["s"], &new["t"]), (&json!("Hunt"), &json!("hunting")));
    assert_ne!(new["u"], "Hunt&");
    let new = called("My password is Tr0ub4dor&3y, not Tr0u", &json!({"s": "Tr0u"}));
    assert_eq!(new, json!({"s": "Tr0u"}));
    // The beginning that a placeholder keeps says nothing.
    let new = called("Use the key ghp_9aQ2mZx74LpTgB3vWc81RkYd0123456789ab", &json!({"prefix": "ghp_"}));
    assert_eq!(new, json!({"prefix": "ghp_"}));
}

#[test]
fn a_number_over_two_turns_is_replaced_in_both_if_the_call_has_it_as_a_telephone_number() {
    let turns = |first: &str, second: &str| json!([{"role": "user", "content": first}, {"role": "assistant", "content": "And the rest?"}, {"role": "user", "content": second}]);
    let of = |first: &str, second: &str, arguments: &Value, docs: &str| {
        let (new, arguments, _, is_lost) = redacted_turns(&turns(first, second), arguments, "", docs);
        assert!(!is_lost);
        let text = |at: usize| new[at]["content"].as_str().unwrap().to_owned();
        (text(0), text(2), arguments)
    };
    let expected = ("0000".to_owned(), "000 00 01".to_owned(), json!({"to": "00000000001"}));
    let to = json!({"to": "06603928472"});
    assert_eq!(of("0660", "392 84 72", &to, &docs("Telephone number of the recipient")), expected);
    let (first, second, arguments) =
        of("It begins with 0660.", "then 392 84 72 please", &json!({"phone": "06603928472"}), "");
    assert_eq!((&*first, &*second), ("It begins with 0000.", "then 000 00 01 please"));
    assert_eq!(arguments, json!({"phone": "00000000001"}));
    // A number of another kind, and numbers that are not all of it.
    let same = |first: &str, second: &str, arguments: &Value| {
        let new = of(first, second, arguments, "");
        assert_eq!((&*new.0, &*new.1), (first, second));
    };
    same("0660", "392 84 72", &json!({"order": "06603928472"}));
    same("0661", "392 84 7", &json!({"phone": "06603928472"}));
}

#[test]
fn an_address_in_base32_becomes_the_base32_of_its_placeholder() {
    let asked = "Send it to wren@quillharbour.net";
    for (old, new) in [
        ("O5ZGK3SAOF2WS3DMNBQXEYTPOVZC43TFOQ======", "OVZWK4RRIBSXQYLNOBWGKLTDN5WQ===="),
        ("o5zgk3saof2ws3dmnbqxeytpovzc43tfoq", "ovzwk4rribsxqylnobwgkltdn5wq"),
    ] {
        assert_eq!(called(asked, &json!({"to": old})), json!({"to": new}));
    }
    let new = called(asked, &json!({"to": "MZXW6YTBOI======", "word": "commande"}));
    assert_eq!(new, json!({"to": "MZXW6YTBOI======", "word": "commande"}));
}

#[test]
fn a_login_that_only_the_call_has_is_lost_and_one_that_the_user_writes_stays() {
    let address = "wendelin.krastavac@quillharbour.net";
    let (_, new, _, is_lost) =
        redacted(&format!("Make an account for {address}"), &json!({"login": "wkrastavac"}), "", "");
    assert!(is_lost && !new.to_string().contains("krastavac"), "{new}");
    let new = called(&format!("Make the account wkrastavac for {address}"), &json!({"login": "wkrastavac"}));
    assert_eq!(new, json!({"login": "wkrastavac"}));
}

#[test]
fn an_address_in_a_key_of_an_argument_is_that_of_the_question() {
    let question = "Mark mira77.keller@quillpost.net as absent and MIRA77.keller@quillpost.net as late";
    let arguments = json!({"roster": {"mira77.keller@quillpost.net": "absent", "at:mira77.keller@quillpost.net": "late"}});
    let (question, arguments, following, _) = redacted(question, &arguments, "done for mira77.keller", "");
    assert_eq!(question, "Mark user1@example.com as absent and user1@example.com as late");
    assert_eq!(arguments, json!({"roster": {"user1@example.com": "absent", "at:user1@example.com": "late"}}));
    assert_eq!(following, "done for user1");
}
