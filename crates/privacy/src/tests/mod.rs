//! Tests of the values found, of look-alikes, and of the format of placeholders.

mod labelled;
mod laws;

use serde_json::{Value, json};

use super::apply::{in_json, in_text, redact_json, redact_text};
use super::numbers::Numbers;
use super::vendors::{INNERS, Letters, VENDORS, WEBHOOKS};
use super::{Names, PrivacyKind, Region, Scanner, ValueStatus, masked};

fn scanner() -> Scanner {
    Scanner::new(&PrivacyKind::ALL, None, Names::default())
}

/// Returns the text, redacted on its own.
fn redacted(text: &str) -> String {
    let (scanner, mut numbers) = (scanner(), Numbers::default());
    in_text(&scanner, text, |found, _| learn(&mut numbers, found));
    redact_text(&scanner, &numbers, text).map_or_else(|| text.to_owned(), |(new, _)| new)
}

fn learn(numbers: &mut Numbers, found: &super::FoundValue) {
    match found.status {
        ValueStatus::Personal => numbers.learn(found.kind, &found.value),
        ValueStatus::Placeholder(Some(number)) => numbers.take(found.kind, number),
        ValueStatus::Placeholder(None) => {}
    }
}

#[test]
fn placeholders_have_the_format_of_the_replaced_values() {
    let cases = [
        ("Write to Mira.Keller@quillpost.net.", "Write to user1@example.com."),
        ("mailto:mira@quillpost.net?cc=x", "mailto:user1@example.com?cc=x"),
        ("?to=mira%40quillpost.net&x=1", "?to=user1%40example.com&x=1"),
        ("Call +1 (415) 555-2671.", "Call +1 (555) 555-0001."),
        ("Call 415.555.2671", "Call 555.555.0001"),
        ("Call +44 (0)20 7946 0321!", "Call +44 (0)00 0000 0001!"),
        ("Handy: 0171 3920012", "Handy: 0000 0000001"),
        ("电话：13825551234", "电话：10000000001"),
        ("Call 0049 30 23125321", "Call 0049 00 00000001"),
        ("Pay 4539-1488-0343-6467", "Pay 4000-0000-0000-0010"),
        ("Pay 4539148803436467", "Pay 4000000000000010"),
        ("IBAN NL02 ABNA 0123 4567 89", "IBAN NL23 XXXX 0000 0000 01"),
        ("SSN 536-22-8713", "SSN 900-00-0001"),
        ("key sk-9aQ2mZx74LpTgB3vWc81RkYd", "key sk-000000000000000000000001"),
        ("https://me:gH7!kQ2@quillpost.net/x", "https://me:000!001@quillpost.net/x"),
        ("Where is 81.143.22.97?", "Where is 192.0.2.1?"),
        ("Where is 2a01:4f8:c17:b0f::2?", "Where is 2001:db8::1?"),
        ("Block 3c:22:fb:9a:41:d7", "Block 00:00:5e:00:53:01"),
        ("Block 3C-22-FB-9A-41-D7", "Block 00-00-5E-00-53-01"),
        ("Block 3c22.fb9a.41d7", "Block 0000.5e00.5301"),
        ("mira [at] quillpost [dot] net", "user1@example.com"),
        ("mira.keller @ quillpost.net", "user1@example.com"),
        ("mira.keller@gmail, please", "user1@example.com, please"),
        ("to mira dot keller at gmail.", "to user1@example.com."),
        ("reach me at gmail", "reach me at gmail"),
        ("decode bWlyYUBxdWlsbHBvc3QubmV0 now", "decode dXNlcjFAZXhhbXBsZS5jb20= now"),
        ("Cookie: session=8c2f7ab19d3e4f50; theme=dark", "Cookie: session=0000000000000001; theme=dark"),
        ("mira:$apr1$8sKq2mZx$Qm9xT7vB5nR2yLw8Zk3m91", "mira:$apr1$00000000$0000000000000000000001"),
        (
            "my private key 0x9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "my private key 0x0000000000000000000000000000000000000000000000000000000000000001",
        ),
        ("Pay ④⑤③⑨ ①④⑧⑧ ⓪③④③ ⑥④⑥⑦", "Pay 4000 0000 0000 0010"),
        ("iban nl02 abna 0123 4567 89", "iban nl23 xxxx 0000 0000 01"),
        ("SSN: 530.21.7745", "SSN: 900.00.0001"),
        ("taxpayer id 418 22 9031", "taxpayer id 900 00 0001"),
        ("card 4539.1488.0343.6467", "card 4000.0000.0000.0010"),
        ("мой номер 8 935 063-98-77", "мой номер 8 000 000-00-01"),
        ("mysql -u app -pRedp0ll7", "mysql -u app -p00000001"),
    ];
    for (text, expected) in cases {
        assert_eq!(redacted(text), expected);
    }
}

#[test]
fn spellings_of_one_value_share_a_placeholder_and_other_values_do_not() {
    let text = "call +1 415-555-2671 or (415) 555-2671, not 415-555-2672; A@quillpost.net a@quillpost.net";
    let expected =
        "call +1 555-555-0001 or (555) 555-0001, not 555-555-0002; user1@example.com user1@example.com";
    assert_eq!(redacted(text), expected);
}

#[test]
fn a_placeholder_in_the_log_is_not_assigned_again() {
    assert_eq!(redacted("user1@example.com, mira@quillpost.net"), "user1@example.com, user2@example.com");
}

#[test]
fn a_number_in_json_stays_a_number_and_an_escape_is_not_part_of_an_address() {
    let cell = json!([{"role": "user", "content": "Hi\nmira@quillpost.net"}, {"calls": [{"arguments":
        {"card": 4_539_148_803_436_467_u64, "note": "card 4539 1488 0343 6467", "n": 12}}]}])
    .to_string();
    let (scanner, mut numbers) = (scanner(), Numbers::default());
    in_json(&scanner, &cell, |found, _| learn(&mut numbers, found));
    let (new, replaced) = redact_json(&scanner, &numbers, &cell).unwrap();
    let new: Value = serde_json::from_str(&new).unwrap();
    assert_eq!(new[0]["content"], "Hi\nuser1@example.com");
    assert_eq!(new[1]["calls"][0]["arguments"]["card"], 4_000_000_000_000_010_u64);
    assert_eq!(new[1]["calls"][0]["arguments"]["note"], "card 4000 0000 0000 0010");
    let places: Vec<(&str, usize, usize)> =
        replaced.iter().map(|place| (place.path.as_str(), place.start, place.end)).collect();
    let expected =
        [("/0/content", 3, 21), ("/1/calls/0/arguments/card", 0, 16), ("/1/calls/0/arguments/note", 5, 24)];
    assert_eq!(places, expected);
}

#[test]
fn a_value_is_read_with_its_key_and_keys_are_redacted_too() {
    let cell = r#"{"phone": {"number": "0171 3920012"}, "password": "gH7!kQ2", "mira@quillpost.net": 1}"#;
    let (scanner, mut numbers) = (scanner(), Numbers::default());
    in_json(&scanner, cell, |found, _| learn(&mut numbers, found));
    let (new, replaced) = redact_json(&scanner, &numbers, cell).unwrap();
    assert_eq!(new, r#"{"phone":{"number":"0000 0000001"},"password":"000!001","user1@example.com":1}"#);
    assert!(replaced.iter().all(|place| !place.path.contains("quillpost")), "{replaced:?}");
}

#[test]
fn raw_docs_keep_their_syntax() {
    let text = r#"[{'name': 'f', "d": "by\nmira@quillpost.net", "x": "{\"phone\": \"+44 20 7946 0321\"}", "phone": 4155552671}]"#;
    let expected = r#"[{'name': 'f', "d": "by\nuser1@example.com", "x": "{\"phone\": \"+44 00 0000 0001\"}", "phone": 5555550002}]"#;
    assert_eq!(redacted(text), expected);
}

#[test]
fn a_region_finds_national_forms_without_a_word_and_names_are_found_from_a_list() {
    let region = Region::try_from("IN".to_owned()).unwrap();
    let names = Names::new(&["Mira Keller".to_owned()]).unwrap();
    let with = Scanner::new(&PrivacyKind::ALL, Some(region), names);
    let kinds =
        |scanner: &Scanner, text: &str| scanner.scan(text).iter().map(|it| it.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&with, "98765 43210 ist MIRA KELLER"), [PrivacyKind::Phone, PrivacyKind::Name]);
    assert_eq!(kinds(&scanner(), "98765 43210 ist MIRA KELLER"), []);
    assert!(Region::try_from("Germany".to_owned()).is_err());
}

#[test]
fn names_are_found_in_any_case_of_any_script_and_only_whole() {
    let names = ["Jürgen Müller", "Mira", "Mira Kell", "张伟"].map(str::to_owned);
    let scanner = Scanner::new(&[], None, Names::new(&names).unwrap());
    let found = |text: &str| {
        scanner.scan(text).iter().map(|it| text[it.start..it.end].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("Mit JÜRGEN MÜLLER, jürgen müllers"), ["JÜRGEN MÜLLER"]);
    assert_eq!(found("Mira Keller, Mirañ, éMira, İMIRA, MIRA"), ["Mira", "MIRA"]);
    assert_eq!(found("我是张伟。"), ["张伟"]);
}

#[test]
fn keys_with_the_same_placeholder_stay_different() {
    let cell = r#"{"a@quillpost.net": 1, "A@quillpost.net": 2, "user1@example.com": 3}"#;
    let (scanner, mut numbers) = (scanner(), Numbers::default());
    numbers.learn(PrivacyKind::Email, "a@quillpost.net");
    let (new, _) = redact_json(&scanner, &numbers, cell).unwrap();
    assert_eq!(new, r#"{"user1+2@example.com":1,"user1+3@example.com":2,"user1@example.com":3}"#);
    assert_eq!(redact_json(&scanner, &numbers, &new), None);
}

#[test]
fn an_address_in_a_key_stays_an_address() {
    for (cell, expected) in [
        (r#"{"mira@quillpost.net": 1}"#, r#"{"user1@example.com":1}"#),
        (r#"{"orders/mira@quillpost.net/2": 1}"#, r#"{"orders/user1@example.com/2":1}"#),
        (r#"{"user:mira@quillpost.net": 1}"#, r#"{"user:user1@example.com":1}"#),
        (r#"{"password:mira.k3ller@quillpost.net": 1}"#, r#"{"password:user1@example.com":1}"#),
        (r#"{"api_key:Mira.K3ller@quillpost.net": 1}"#, r#"{"api_key:user1@example.com":1}"#),
        (r#"{"password": "Mira.K3ller@quillpost.net"}"#, r#"{"password":"user1@example.com"}"#),
        (
            r#"{"of:mira@quillpost.net": 1, "of:MIRA@quillpost.net": 2}"#,
            r#"{"of:user1@example.com":1,"of:user1+2@example.com":2}"#,
        ),
    ] {
        let (scanner, mut numbers) = (scanner(), Numbers::default());
        in_json(&scanner, cell, |found, _| learn(&mut numbers, found));
        let (new, _) = redact_json(&scanner, &numbers, cell).unwrap();
        assert_eq!(new, expected);
        assert_eq!(redact_json(&scanner, &numbers, &new), None);
    }
    // A password with an at-sign is none.
    assert_eq!(redacted("password: tG7v@qLmRz9!x"), "password: 0000@000000!1");
}

#[test]
fn a_value_that_needs_its_key_is_found_far_from_it() {
    let far = "long ".repeat(40);
    let cells = [
        r#"{"phone": [4155552671,4158672672]}"#.to_owned(),
        format!(r#"{{"contact":{{"note":"{far}","number":4158672672}}}}"#),
        format!(r#"{{"password":{{"note":"{far}","password":"gH7!kQ2"}}}}"#),
        format!(r#"{{"password":["{far}","gH7!kQ2"]}}"#),
        r#"{"host":["::", "2a01:4f8:c17:b0f:1:2:3:4"]}"#.to_owned(),
    ];
    for cell in cells {
        let (scanner, mut numbers) = (scanner(), Numbers::default());
        in_json(&scanner, &cell, |found, _| learn(&mut numbers, found));
        assert!(redact_json(&scanner, &numbers, &cell).is_some(), "{cell}");
    }
}

/// Returns the kinds and the texts of the values found.
fn found(text: &str) -> Vec<(PrivacyKind, &str)> {
    let values = scanner().scan(text);
    values.iter().filter(|it| it.is_personal()).map(|it| (it.kind, &text[it.start..it.end])).collect()
}

#[test]
fn values_are_found_however_their_characters_are_written() {
    let cases = [
        ("to mira&#64;quillpost.net now", PrivacyKind::Email, "mira&#64;quillpost.net"),
        ("to mira＠quillpost．net now", PrivacyKind::Email, "mira＠quillpost．net"),
        ("to mi\u{ad}ra@quill\u{200b}post.net now", PrivacyKind::Email, "mi\u{ad}ra@quill\u{200b}post.net"),
        (r"to mira\u0040quillpost\u002enet now", PrivacyKind::Email, r"mira\u0040quillpost\u002enet"),
        (r"call \u002B4915123984413 now", PrivacyKind::Phone, r"\u002B4915123984413"),
        ("电话：１３８２５５５１２３４", PrivacyKind::Phone, "１３８２５５５１２３４"),
        ("call &#43;44 20 7946 0321", PrivacyKind::Phone, "&#43;44 20 7946 0321"),
        ("visa 4539\u{a0}1488\u{a0}0343\u{a0}6467", PrivacyKind::Card, "4539\u{a0}1488\u{a0}0343\u{a0}6467"),
        ("visa\\x204539\\x201488\\x200343\\x206467", PrivacyKind::Card, "4539\\x201488\\x200343\\x206467"),
    ];
    for (text, kind, value) in cases {
        assert_eq!(found(text), [(kind, value)], "{text}");
        let once = redacted(text);
        assert_eq!(found(&once), [], "{text} became {once}");
    }
    // All spellings of a value share a placeholder.
    assert_eq!(
        redacted(r"mira@quillpost.net mira\u0040quillpost.net"),
        "user1@example.com user1@example.com"
    );
}

#[test]
fn spelled_out_addresses_are_found_and_prose_is_unchanged() {
    let spelled = [
        ("write to mira at quillpost dot net today", "mira at quillpost dot net"),
        ("mira.keller (at) quillpost (dot) co (dot) uk", "mira.keller (at) quillpost (dot) co (dot) uk"),
        ("mira{at}quillpost{dot}net", "mira{at}quillpost{dot}net"),
        ("my address is MIRA AT QUILLPOST DOT NET", "MIRA AT QUILLPOST DOT NET"),
        ("mi correo: mira arroba quillpost punto es", "mira arroba quillpost punto es"),
        ("mira@quillpost[.]net was blocked", "mira@quillpost[.]net"),
    ];
    for (text, value) in spelled {
        assert_eq!(found(text), [(PrivacyKind::Email, value)], "{text}");
    }
    let prose = [
        "look at example dot com",
        "meet me at quillpost dot net headquarters",
        "she works at the dot com we talked about",
        "the docs live at quillpost.net",
        "main.py at quillpost.net is broken",
        "const x = a.at(0).dot(b)",
        "mail mira at example dot com",
    ];
    for text in prose {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn numbers_of_seven_and_eight_digits_are_found_where_the_words_at_them_name_a_telephone() {
    let cases = [
        ("My phone number is 412 77 308, save it", "412 77 308"),
        ("My phone number is 41277309", "41277309"),
        ("Phone: 412-77-310", "412-77-310"),
        ("What is your phone number, phone number: 412 77 398", "412 77 398"),
        ("Text our branch at 4127731", "4127731"),
        ("Mein Handy: 412 77 31", "412 77 31"),
        ("mi teléfono es el 412.77.30", "412.77.30"),
        ("Mon portable est le 41 27 73", ""),
        ("Tel. 20771234", "20771234"),
    ];
    for (text, value) in cases {
        let expected: Vec<_> =
            (!value.is_empty()).then_some((PrivacyKind::Phone, value)).into_iter().collect();
        assert_eq!(found(text), expected, "{text}");
        let once = redacted(text);
        assert_eq!(redacted(&once), once, "{text}");
    }
    let look_alikes = [
        "order number is 41277309",
        "my phone order number is 41277309",
        "case 412 77 308",
        "ticket number 4127730",
        "Call me about ticket 4127730",
        "Call me on 2024-11-05",
        "Call me on 20241105",
        "My phone costs 1.234.567 pesos",
        "Phone: 555-0134",
        "The harvests of 2019 2024",
        "Call back in 4127730 ms",
        "Pay 4127 7309 for the phone",
    ];
    for text in look_alikes {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_part_of_a_longer_number_is_no_telephone_number() {
    let texts = [
        "Appelle la mairie, mon numéro de dossier est le 2 84 05 75 115 042 68",
        "numéro 1 85 05 78 006 084",
        "el número es 28 1234 5678 9012 40",
    ];
    for text in texts {
        assert_eq!(found(text), [], "{text}");
    }
    // A count, another number, and a place in a list are not part of it.
    for (text, values) in [
        ("Ring for Anna and Bert 0171 3920012 30 times", vec!["0171 3920012"]),
        ("Call Anna 98765 43210 98765 43211", vec!["98765 43210", "98765 43211"]),
        ("Call:\n12 0171 3920012 mobile Anna", vec!["0171 3920012"]),
    ] {
        assert_eq!(found(text).iter().map(|it| it.1).collect::<Vec<_>>(), values, "{text}");
    }
}

#[test]
fn national_ids_are_found_after_their_names_whatever_their_check_digits() {
    let announced = [
        ("mi DNI es ", "48271936K"),
        ("DNI nº ", "48.271.936-K"),
        ("mi NIE: ", "Y-4827193-Q"),
        ("meu CPF é ", "482.719.360-55"),
        ("CNPJ ", "48.271.936/0001-55"),
        ("my Aadhaar number is ", "4827 1936 0552"),
        ("आधार नंबर ", "4827 1936 0552"),
        ("El DNI del cliente es ", "48271936K"),
        ("burgerservicenummer (BSN): ", "482719365"),
        ("il mio codice fiscale è ", "KLRMRA82D41F205Q"),
        ("codice_fiscale=", "klrmra82d41f205q"),
        ("PESEL: ", "82041512345"),
        ("mijn BSN is ", "482719365"),
        ("meine Steuer-ID lautet ", "48 271 936 055"),
        ("Steueridentifikationsnummer: ", "48271936055"),
        ("Mon numéro de sécurité sociale est le ", "2 84 05 75 115 042 68"),
        ("numéro de sécu : ", "284052A11504268"),
        ("mitt personnummer är ", "820415-2385"),
        ("我的身份证号码是", "11010519820415123X"),
        ("SSN: ", "666-12-3456"),
        ("my social security number is ", "987-65-4329"),
        ("National Insurance number ", "QQ482719C"),
        ("CURP: ", "KELM820415MDFLRR09"),
        ("주민등록번호: ", "820415-2123456"),
    ];
    for (before, value) in announced {
        for text in [format!("{before}{value}"), format!("{before}{value}, ok")] {
            assert_eq!(found(&text), [(PrivacyKind::Ssn, value)], "{text}");
            let once = redacted(&text);
            assert!(redacted(&once) == once && found(&once).is_empty(), "{text} became {once}");
        }
    }
    let cell = r#"{"dni": "48271936K", "user": {"userCpf": 48271936055}}"#;
    let (scanner, mut numbers) = (scanner(), Numbers::default());
    in_json(&scanner, cell, |found, _| learn(&mut numbers, found));
    let (new, _) = redact_json(&scanner, &numbers, cell).unwrap();
    assert_eq!(new, r#"{"dni":"00000001X","user":{"userCpf":90000000002}}"#);
    let look_alikes = [
        "482.719.360-55",
        "48271936K",
        "KLRMRA82D41F205Q",
        "order 482719360552",
        "RFC 2616",
        "the number of DNI readers is 48",
        "nie wiem, 4827193",
        "pan to 1234567890",
        "one sin 482719365",
        "DNI reader 48271936",
        "CPF: 123.456",
        "Steuer-ID folgt am 12.05.2027",
        "PESEL 8204151234567",
    ];
    for text in look_alikes {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn decimals_series_and_counts_are_no_telephone_numbers() {
    let texts = [
        "Call me at 48.856613, 2.352222",
        "call the taxi to 40.712776 -74.005974",
        "contact the shop at 37.774929 -122.419418",
        "mobile position +59.913869",
        "ring me when it costs 104523.871234",
        "the number 3.141592653",
        "call for the years 2019 2020 2021 2022",
        "numbers 1001 1002 1003 1004",
        "call rooms 1204 1205 1206",
        "The phone sold 12 500 000 units",
        "contact 12 250 300 clients",
        "call 1 250 000 users",
        "visa 4001 4002 4003 4004",
    ];
    for text in texts {
        assert_eq!(found(text), [], "{text}");
    }
    for (text, value) in [
        ("call 415.5552671", "415.5552671"),
        ("Handy 0171.3920012", "0171.3920012"),
        ("Phone: +49.1711234567", "+49.1711234567"),
        ("call 9123 4567", "9123 4567"),
        ("call 22 345 678 now", "22 345 678"),
        ("mobile 612 345 678", "612 345 678"),
    ] {
        assert_eq!(found(text), [(PrivacyKind::Phone, value)], "{text}");
    }
}

#[test]
fn numbers_of_articles_and_versions_stay() {
    let texts = [
        "article 536-22-8713",
        "the part number is 536-22-8713",
        "536-22-8713 is the part number",
        "SKU: 536-22-8713",
        "find product 536-22-8713",
        "ticket 536-22-8713",
        "Teilenummer 536-22-8713",
        "la pieza 536-22-8713",
        "número de peça 536-22-8713",
        "réf. produit 536-22-8713",
        "articolo 536-22-8713",
        "артикул 536-22-8713",
        "商品编号 536-22-8713",
        "品番 536-22-8713",
        "firmware 81.143.22.97",
        "the firmware of the router is 81.143.22.97",
        "the version number is 81.143.22.97",
        "v81.143.22.97",
        "app 81.143.22.97",
        "package kiln 81.143.22.97",
        "update the package to 81.143.22.97",
        "kiln==81.143.22.97",
        "is 81.143.22.97 the latest version",
        "versión 81.143.22.97",
        "версия 81.143.22.97",
        "版本 81.143.22.97",
    ];
    for text in texts {
        assert_eq!(found(text), [], "{text}");
    }
    for text in ["my number 536-22-8713", "parts for SSN 536-22-8713", "patient 536-22-8713"] {
        assert_eq!(found(text), [(PrivacyKind::Ssn, "536-22-8713")], "{text}");
    }
    for text in [
        "upgrade the server 81.143.22.97",
        "ping the app at 81.143.22.97",
        "redirect the app to 81.143.22.97",
        "package server 81.143.22.97",
        "if ip == 81.143.22.97",
        "81.143.22.97 is running a new version",
    ] {
        assert_eq!(found(text), [(PrivacyKind::Ipv4, "81.143.22.97")], "{text}");
    }
}

/// Returns random letters of an alphabet.
fn random_body(letters: Letters, length: usize) -> String {
    let alphabet: Vec<char> = (0x30..0x7b_u8)
        .filter(|&byte| byte.is_ascii_alphanumeric() && letters.has(byte))
        .map(char::from)
        .collect();
    let mut state = 7_usize;
    let mut next = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        alphabet[(state >> 12) % alphabet.len()]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn each_row_of_the_table_of_vendors_is_found_and_replaced_by_a_placeholder() {
    let names: std::collections::BTreeSet<&str> =
        VENDORS.iter().map(|vendor| vendor.name).chain(INNERS.iter().map(|inner| inner.name)).collect();
    assert!(names.len() >= 60, "{}", names.len());
    let mut keys: Vec<String> = VENDORS
        .iter()
        .map(|vendor| format!("{}{}", vendor.start, random_body(vendor.letters, vendor.least)))
        .collect();
    keys.extend(WEBHOOKS.iter().map(|(mark, least)| {
        let host = if mark.starts_with('.') { "https://kiln" } else { "https://" };
        format!("{host}{mark}{}", random_body(Letters::Alnum, least.max(&24) + 8))
    }));
    keys.push("5181768598:AAEb9Xzo0zcIFEQ4hBpfey6W-0pVDVMiTSw".to_owned());
    keys.push("353c8c065b9a0db99f4d9f6e4317afaf-us14".to_owned());
    keys.push("W2K8Q~BOxMkCrChEksxXkkHWO~SgWEABlT3MGgLS".to_owned());
    for key in keys {
        let text = format!("with {key} it works");
        let values = found(&text);
        assert!(values.len() == 1 && values[0].1 == key, "{key}: {values:?}");
        let once = redacted(&text);
        assert_eq!(found(&once), [], "{text} became {once}");
    }
}

#[test]
fn secrets_are_found_by_their_form() {
    let body = "MIIEowIBAAKCAQEAu3kQ9cP1fXb7LrVw2nT0yZs8dJm5eHgK4iAqRtWvUxYoClSpDjFzNhGb";
    let cases = [
        format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"),
        format!(r"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
            .trim_end_matches(r"\n")
            .to_owned(),
        format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----"),
        format!("-----BEGIN PRIVATE KEY----- {body}"),
    ];
    for key in cases {
        let text = format!("use {key}");
        assert_eq!(found(&text), [(PrivacyKind::Key, key.as_str())], "{text}");
        let once = redacted(&text);
        assert!(once.contains("PRIVATE KEY") && !once.contains("MIIE") && found(&once).is_empty(), "{once}");
        assert_eq!(once.len(), text.len());
    }
    let values = [
        ("curl -u deploy:Garganey5 https://kiln.io", "Garganey5"),
        ("mysql -h db2 -u shop -pTh1mble shop", "Th1mble"),
        ("sshpass -p 'Wh1mbrel Coast' ssh kiln.io", "Wh1mbrel Coast"),
        ("pg_dump --password Corncr4ke", "Corncr4ke"),
        ("Server=sql7;User Id=hr;Password=Gr4nite.Owl!;Encrypt=true", "Gr4nite.Owl!"),
        ("jdbc:oracle:thin:hr/T1ger-Lily@db2:1521/x", "T1ger-Lily"),
        ("mongodb+srv://svc:tG7v@qLmRz9@c0.kiln.io/shop", "tG7v@qLmRz9"),
        ("mein Passwort lautet Sturm7Vogel", "Sturm7Vogel"),
        ("пароль: Kotleta2019", "Kotleta2019"),
        ("パスワードは Onigiri77", "Onigiri77"),
        (
            "?sr=c&sig=dSSG2ahTva1dy7%2BN4inBV41IZHFn%2FERFYkwPw24NkXe%3D",
            "dSSG2ahTva1dy7%2BN4inBV41IZHFn%2FERFYkwPw24NkXe%3D",
        ),
        ("Authorization: Basic bWlyYTpzZWE=", "bWlyYTpzZWE"),
        ("IDENTIFIED BY 'Sn1pe_Marsh';", "Sn1pe_Marsh"),
    ];
    for (text, value) in values {
        assert_eq!(found(text).iter().map(|it| it.1).collect::<Vec<_>>(), [value], "{text}");
        let once = redacted(text);
        assert_eq!(found(&once), [], "{text} became {once}");
    }
    let none = [
        "mkdir -p src/privacy2",
        "docker run -p 8080:80 kiln",
        "ssh -p 2222 kiln.io",
        "psql -U postgres -p 5432",
        "curl -u $USER:$PASS kiln.io",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIEowIBAAKCAQEAu3kQ9cP1fXb7LrVw2nT0yZs8dJm5eHgK4\n-----END CERTIFICATE-----",
        "cache key: npm-linux-x64-6d0a1b0c9f1e4ab0a9b3f7a6c2d1e8f4",
        "the password is required",
    ];
    for text in none {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_secret_of_any_alphabet_is_found_after_each_word_that_announces_one() {
    const MARKED: &str = "Gx4W!m9Rb#2Tq$7Kd%";
    const JOINED: &str = "Gx4W-m9Rb-2Tq7";
    let announcing = [
        "api_secret: ",
        "api_key: ",
        "secret: ",
        "client_secret: ",
        "token: ",
        "auth_token: ",
        "secret_key: ",
        "access_key=",
        "KILN_TOKEN=",
        "my API secret is ",
        "X-Api-Key: ",
        "Authorization: Bearer ",
        "deploy --api-key ",
        "API-Schlüssel: ",
        "der Schlüssel lautet ",
        "a chave de API é ",
        "ключ: ",
        "API密钥：",
        "トークンは ",
    ];
    for value in [MARKED, JOINED] {
        for before in announcing {
            for text in [format!("{before}{value}"), format!("use {before}{value} for it")] {
                assert_eq!(found(&text).iter().map(|it| it.1).collect::<Vec<_>>(), [value], "{text}");
                let once = redacted(&text);
                assert_eq!(redacted(&once), once, "{text}");
            }
        }
        let quoted = [
            format!(r#"{{"api_secret": "{value}"}}"#),
            format!(r#"{{\"clientSecret\": \"{value}\"}}"#),
            format!("secret = '{value}'"),
        ];
        for text in quoted {
            assert_eq!(found(&text).iter().map(|it| it.1).collect::<Vec<_>>(), [value], "{text}");
        }
    }
    // The punctuation of a sentence is not part of it.
    assert_eq!(redacted(&format!("my API secret is {MARKED}.")), "my API secret is 0000!0000#000$001%.");
    assert_eq!(
        redacted(&format!("{MARKED}; token: {MARKED}, ok")),
        format!("{MARKED}; token: 0000!0000#000$001%, ok")
    );
    // The number of a placeholder in the log is not assigned again.
    assert_eq!(redacted("secret: 0000!0001 token: Gx4W!m9Rb"), "secret: 0000!0001 token: 0000!0002");
    let look_alikes = [
        "api_key = OPENAI_API_KEY",
        "kiln_secret: os.environ/KILN_SECRET_2",
        "token: ${API_TOKEN}",
        "api_key_created_at: 2026-09-09T06:00:00Z",
        "secret_url: https://quillpost.net/Docs/keys2",
        "token_expiry=2027-01-01",
        "secretary: Mara Lind",
        "token: string",
        "api_key: your-api-key-here",
        "secret: \"<your secret>\"",
        "max_tokens: 4096",
        "token = get_token(user)",
        "token = client.readToken2(user)",
        "auth_token: Settings.Token2",
        "the key is Ctrl+Shift+F5",
        "key: Level-2-Bonus",
        "arn:aws:secretsmanager:eu-west-1:498317205566:secret:Kiln/Db-q4W7e2",
        "token expires at 2026-09-09T06:00:00Z",
        "?key=New%20York2",
        "Answer key: Q1=B, Q2=D",
    ];
    for text in look_alikes {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_web_token_of_any_length_is_found() {
    let part = |length: usize| random_body(Letters::Alnum, length);
    for length in [40, 70_000, 200_000] {
        let token = format!("eyJ{}.eyJ{}.{}", part(20), part(length), part(43));
        assert_eq!(found(&format!("decode {token}, please")), [(PrivacyKind::Token, token.as_str())]);
    }
    let encrypted = format!("eyJ{}.{}.{}.{}.{}", part(20), part(40), part(16), part(90), part(22));
    assert_eq!(found(&encrypted), [(PrivacyKind::Token, encrypted.as_str())]);
    for text in ["eyJhbGciOi...", "eyJa.b.c.d.e.f.g", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn national_numbers_of_forty_countries_are_found_with_a_word_of_their_language() {
    let sentences = [
        ("US", "call 212-736-5000"),
        ("CA", "appelle le 418 605-5723"),
        ("GB", "whatsapp 07911 812345"),
        ("IE", "ring 087 542 7517"),
        ("DE", "ruf an: 0171 3920012"),
        ("AT", "Büro 01 811 96 84"),
        ("CH", "Natel 079 727 02 71"),
        ("FR", "mon numéro 06 58 31 77 20"),
        ("BE", "bel 0486/66.54.95"),
        ("NL", "bel 06-42145833"),
        ("IT", "chiama 347 857 1513"),
        ("ES", "llama al 612 345 678"),
        ("PT", "liga 912 345 678"),
        ("BR", "ligue (11) 98765-4321"),
        ("MX", "mi celular 55 2109 6638"),
        ("AR", "mi celu 11 15-7303-2949"),
        ("CO", "llama 310 2345678"),
        ("CL", "mi fono 9 9307 6175"),
        ("PE", "celular 987 654 321"),
        ("SE", "ring 070-818 53 89"),
        ("NO", "ring 951 80 201"),
        ("DK", "tlf. 40590850"),
        ("FI", "soita 040 010 0268"),
        ("PL", "zadzwoń 630 063 740"),
        ("CZ", "zavolej 720 222 092"),
        ("HU", "hívj 06-20-210-6295"),
        ("RO", "sună 0746 442 403"),
        ("GR", "πάρε 6934229104"),
        ("RU", "позвоните 8 (495) 380-42-33"),
        ("UA", "подзвони 0502075015"),
        ("TR", "ara 0532 010 66 47"),
        ("IL", "תתקשר 052-353-2433"),
        ("SA", "اتصل 0550358040"),
        ("EG", "رقم 01107360083"),
        ("AE", "هاتف 050 273 0967"),
        ("IN", "फ़ोन 98765 43210"),
        ("PK", "فون 0321 2456203"),
        ("BD", "ফোন 01747824370"),
        ("ID", "hubungi 0812-0633-4623"),
        ("MY", "hubungi 019-105 9796"),
        ("TH", "โทร 0950255426"),
        ("VN", "gọi 0966 123 915"),
        ("PH", "tawagan 0917 123 4567"),
        ("SG", "call 9123 4567"),
        ("HK", "電話 9563 2335"),
        ("CN", "电话 13825551234"),
        ("TW", "手機 0956-917-710"),
        ("JP", "電話 090-1234-5678"),
        ("KR", "전화 010-6087-8468"),
        ("AU", "mob 0412 536 755"),
        ("NZ", "ring 021 805 691"),
        ("ZA", "call 021 352 6194"),
        ("NG", "call 0803 123 4567"),
        ("KE", "piga simu 0727 817 912"),
    ];
    assert!(sentences.len() >= 40);
    for (country, text) in sentences {
        let values = found(text);
        assert!(
            values.len() == 1 && values[0].0 == PrivacyKind::Phone && text.ends_with(values[0].1),
            "{country}: {text} {values:?}"
        );
    }
    for text in [
        "Bestellung Nr. 0171 3920012",
        "commande 06 58 31 77 20",
        "заказ 8 935 063-98-77",
        "订单0956-917-710",
        "01 02 03 04 05",
        "Boston 02116-3950",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn words_of_docs_and_reserved_addresses_are_unchanged() {
    let texts = [
        "A specific agent on a host, identified by host and port",
        "Update a to-do item identified by requested content",
        "a group identified by user's unique id",
        "IP:192.168.11.33\nAPI name: call",
        "For IP 245.67.89.10 call the scanner",
        "in dot notation (e.g., '192.168.1.1'), text",
        "contact 10.200.30.4",
    ];
    for text in texts {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn look_alikes_of_mac_addresses_are_unchanged() {
    let texts = [
        "at 12:34:56 and 00:41:10",
        "ab:cd:ef:01:23:45:67:89:ab:cd:ef:01:23:45:67:89",
        "2024-02-26-10-15-30",
        "24-02-26-10-15-30",
        "6d0a1b0c-9f1e-4ab0-a9b3-f7a6c2d1e8f4",
        "ff:ff:ff:ff:ff:ff and 00:00:00:00:00:00",
        "version 1234.5678.9012.3456",
        "00:00:5e:00:53:07",
    ];
    for text in texts {
        assert_eq!(found(text), [], "{text}");
    }
    assert_eq!(found("mac 00-11-22-33-44-55"), [(PrivacyKind::Mac, "00-11-22-33-44-55")]);
}

#[test]
fn a_long_text_is_searched_in_linear_time() {
    let count = |text: &str| scanner().scan(text).len();
    assert_eq!(count(&"@".repeat(1 << 20)), 0);
    assert_eq!(count(&"key=".repeat(1 << 13)), 0);
    assert_eq!(count(&"sk-".repeat(1 << 13)), 0);
    for piece in [
        "eyJ.",
        "eyJ-",
        "eyJa.eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        " -p",
        "curl -u ",
        "a at b",
        "a[at]b.",
        "aa:",
        "aa-bb",
        "&#64;",
        r"\u0040",
        r"\",
        "%40",
        "\u{ad}",
        "＠",
        "call 0999 999 999 ",
        "0216 238 87 12 / ",
        "sig=",
        "Client(",
        "password for ",
        "://a:b@",
        ":AA",
        "hooks.slack.com/services/",
        "token ",
        "passwort",
    ] {
        count(&piece.repeat((1 << 15) / piece.len()));
    }
    let addresses: String = (0..50_000).map(|at| format!("mira{at}@quillpost.net ")).collect();
    assert_eq!(count(&addresses), 50_000);
    assert_eq!(count(&format!("{}\ncall 415-555-2671", "11 ".repeat(50_000))), 1);
}

#[test]
fn a_message_about_a_text_is_masked() {
    assert_eq!(masked("an object with the keys mira@quillpost.net, b"), "an object with the keys [email], b");
}

#[test]
fn placeholders_with_large_numbers_are_still_placeholders() {
    let written = [
        "+1 415-555-2671",
        "+49 171 3920012",
        "tel 0171 3920012",
        "4539 1488 0343 6467",
        "NL02 ABNA 0123 4567 89",
        "536-22-8713",
        "sk-9aQ2mZx74LpTgB3vWc81RkYd",
        "81.143.22.97",
        "2a01:4f8:c17:b0f::2",
        "mira@quillpost.net",
    ];
    for text in written {
        let found = scanner().scan(text).remove(0);
        for number in [1, 99, 100, 255, 761, 762, 763, 5_000, 79_799, 65_536] {
            let new = found.stand_in(&text[found.start..found.end], number);
            let again = scanner().scan(&format!("{}{new}", &text[..found.start]));
            assert!(again.iter().all(|it| !it.is_personal()), "{text}: {new} {again:?}");
        }
    }
}
