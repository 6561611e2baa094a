//! Tests that no piece and no encoded form of a replaced value stays in a run: requests of thirty countries, whose calls use
//! a value whole, in pieces or encoded. A call must stay the right answer to its question: what the call made of the value
//! is made of the placeholder, and the results are compared.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::{callsieve, shown, text_of};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use callsieve::engine::frame::FrameFile;
use md5::Md5;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// Number of requests with a value, and without one.
const N_REQUESTS: usize = 1_000;
/// Share of the requests that must be exported, in percent.
const LEAST_EXPORTED: usize = 95;

/// A country code and the groups of a national number; `x` is any digit.
const PHONES: [(&str, &str); 30] = [
    ("47", "41 2x xx xx"),
    ("45", "28 1x xx xx"),
    ("65", "912x 4xxx"),
    ("852", "912x 4xxx"),
    ("506", "831x 4xxx"),
    ("503", "701x 3xxx"),
    ("502", "512x 4xxx"),
    ("507", "612x 4xxx"),
    ("216", "20 12x xxx"),
    ("974", "331x 3xxx"),
    ("968", "921x 3xxx"),
    ("372", "512x 4xx"),
    ("371", "21 2xx xxx"),
    ("356", "969x 1xxx"),
    ("357", "96 12x xxx"),
    ("33", "6 12 3x xx xx"),
    ("49", "1512 39x xxxx"),
    ("44", "7911 12x xxx"),
    ("34", "612 34x xxx"),
    ("31", "6 12x xx xxx"),
    ("48", "512 34x xxx"),
    ("46", "70 12x xx xx"),
    ("41", "79 12x xx xx"),
    ("43", "664 12x xxxx"),
    ("39", "320 12x xxxx"),
    ("351", "912 34x xxx"),
    ("81", "90 12xx xxxx"),
    ("91", "98765 4xxxx"),
    ("61", "412 34x xxx"),
    ("1", "415 73x xxxx"),
];

/// Numbers in a fixed order that looks random.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap() % most
    }

    fn digits(&mut self, form: &str) -> String {
        form.chars()
            .map(|c| if c == 'x' { char::from_digit(self.below(10), 10).unwrap() } else { c })
            .collect()
    }
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn national(value: &str) -> String {
    digits(value.split_once(' ').unwrap().1)
}

fn last(text: &str, n: usize) -> String {
    text[text.len() - n..].to_owned()
}

fn number(text: &str) -> Value {
    json!(text.parse::<u64>().unwrap())
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn words_of(text: &str) -> String {
    const NAMES: [&str; 10] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let name = |c: char| NAMES[c.to_digit(10).unwrap() as usize];
    digits(text).chars().map(name).collect::<Vec<_>>().join(" ")
}

/// What a call makes of a value, as its arguments.
type Form = fn(&str) -> Value;

const OF_PHONES: [Form; 14] = [
    |value| json!({ "to": format!("+{}", digits(value)) }),
    |value| json!({ "to": national(value) }),
    |value| json!({ "country": value.split_once(' ').unwrap().0, "to": national(value) }),
    |value| {
        let (country, rest) = value.split_once(' ').unwrap();
        let (area, rest) = rest.split_once(' ').unwrap();
        json!({ "country": country, "area": area, "to": digits(rest) })
    },
    |value| json!({ "groups": value.split(' ').collect::<Vec<_>>() }),
    |value| json!({ "last4": last(&digits(value), 4) }),
    |value| json!({ "to": number(&digits(value)) }),
    |value| json!({ "to": hex(format!("+{}", digits(value))) }),
    |value| json!({ "to": BASE64_STANDARD.encode(format!("+{}", digits(value))) }),
    |value| json!({ "hash": hex(Md5::digest(format!("+{}", digits(value)))) }),
    |value| json!({ "text": words_of(value) }),
    |value| json!({ "to": format!("00{}", digits(value)) }),
    |value| json!({ "body": json!({ "phone": value }).to_string() }),
    |value| json!({ "country": number(&digits(value.split_once(' ').unwrap().0)), "to": number(&national(value)) }),
];

const OF_ADDRESSES: [Form; 10] = [
    |value| json!({ "to": value.to_uppercase() }),
    |value| json!({ "local": value.split_once('@').unwrap().0, "domain": value.split_once('@').unwrap().1 }),
    |value| json!({ "url": format!("https://x.io/u/{}", value.split_once('@').unwrap().0) }),
    |value| json!({ "data": BASE64_STANDARD.encode(value) }),
    |value| json!({ "hash": hex(Md5::digest(value)) }),
    |value| json!({ "hash": hex(Sha256::digest(value)) }),
    |value| json!({ "text": value.chars().rev().collect::<String>() }),
    |value| json!({ "data": hex(value) }),
    |value| json!({ "domain": value.split_once('@').unwrap().1 }),
    |value| json!({ "auth": BASE64_STANDARD.encode(format!("{value}:guest")) }),
];

const OF_CARDS: [Form; 5] = [
    |value| json!({ "groups": value.split(' ').collect::<Vec<_>>() }),
    |value| json!({ "last4": last(value, 4) }),
    |value| json!({ "bin": digits(value)[..6] }),
    |value| json!({ "card": digits(value) }),
    |value| json!({ "card": BASE64_STANDARD.encode(digits(value)) }),
];

const OF_SECURITY_NUMBERS: [Form; 3] = [
    |value| json!({ "a": value[..3], "b": value[4..6], "c": value[7..] }),
    |value| json!({ "last4": last(value, 4) }),
    |value| json!({ "ssn": digits(value) }),
];

const OF_IPS: [Form; 3] = [
    |value| json!({ "octets": value.split('.').map(number).collect::<Vec<_>>() }),
    |value| json!({ "network": format!("{}.0/24", value.rsplit_once('.').unwrap().0) }),
    |value| json!({ "host": value }),
];

const OF_PASSWORDS: [Form; 4] = [
    |value| json!({ "text": value[..value.len() - 1] }),
    |value| json!({ "chars": value.chars().map(String::from).collect::<Vec<_>>() }),
    |value| json!({ "auth": format!("Basic {}", BASE64_STANDARD.encode(format!("kim:{value}"))) }),
    |value| json!({ "password": value }),
];

/// A question with its value, and what its call makes of the value.
struct Request {
    before: String,
    value: String,
    form: Form,
}

fn with_luhn(digits: &str) -> char {
    let sum: u32 = digits
        .chars()
        .rev()
        .enumerate()
        .map(|(at, c)| {
            let digit = c.to_digit(10).unwrap() * if at % 2 == 0 { 2 } else { 1 };
            if digit > 9 { digit - 9 } else { digit }
        })
        .sum();
    char::from_digit((10 - sum % 10) % 10, 10).unwrap()
}

fn requests() -> Vec<Request> {
    let mut draw = Draw(34);
    (0..N_REQUESTS)
        .map(|at| {
            let (before, value, form) = match at % 10 {
                0..=4 => {
                    let (code, groups) = PHONES[at / 10 % PHONES.len()];
                    let value = format!("+{code} {}", draw.digits(groups));
                    ("Ring the phone ", value, OF_PHONES[(at / 2) % OF_PHONES.len()])
                }
                5 | 6 => {
                    let value = draw.digits("mira.kestrelxxx@quillharbour-post.net");
                    ("Write to ", value, OF_ADDRESSES[(at / 3) % OF_ADDRESSES.len()])
                }
                7 => {
                    let body = draw.digits("4539148xxxxxxxx");
                    let all = format!("{body}{}", with_luhn(&body));
                    let value = format!("{} {} {} {}", &all[..4], &all[4..8], &all[8..12], &all[12..]);
                    ("Charge the card ", value, OF_CARDS[at / 10 % OF_CARDS.len()])
                }
                8 if at % 20 == 8 => {
                    let value = draw.digits("52x-4x-7xx6");
                    ("File the form for my ssn ", value, OF_SECURITY_NUMBERS[at / 20 % 3])
                }
                8 => {
                    let [b, c, d] = [0; 3].map(|_| 20 + draw.below(200));
                    ("Ping the server ", format!("83.{b}.{c}.{d}"), OF_IPS[at / 20 % 3])
                }
                _ => {
                    let value = draw.digits("TrxubxdorxxxKy");
                    ("Log in with the password ", value, OF_PASSWORDS[at / 10 % 4])
                }
            };
            Request { before: before.to_owned(), value, form }
        })
        .collect()
}

/// Returns the log line of a request with these arguments, whose function has all of them as parameters.
fn line(at: usize, question: &str, arguments: &Value) -> Value {
    let kind = |value: &Value| match value {
        Value::Number(_) => json!({"type": "integer", "description": "Value."}),
        Value::Array(items) if items[0].is_number() => {
            json!({"type": "array", "items": {"type": "integer"}, "description": "Values."})
        }
        Value::Array(_) => json!({"type": "array", "items": {"type": "string"}, "description": "Values."}),
        _ => json!({"type": "string", "description": "Value."}),
    };
    let properties: Map<String, Value> =
        arguments.as_object().unwrap().iter().map(|(name, value)| (name.clone(), kind(value))).collect();
    let required: Vec<&String> = properties.keys().collect();
    let tools = json!([{"type": "function", "function": {"name": format!("act_{at}"), "description": format!("Acts for desk {at}."),
        "parameters": {"type": "object", "required": required, "properties": properties}}}]);
    let call = json!({"id": "a", "type": "function", "function": {"name": format!("act_{at}"), "arguments": arguments.to_string()}});
    json!({"id": format!("row{at}"), "ts": 1_900_000_000 + at * 3600,
        "request": {"messages": [{"role": "user", "content": question}], "tools": tools},
        "response": {"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}})
}

const PIPELINE: &str = "[[stages]]\nkind = \"redact\"\n[[stages]]\nkind = \"redact-docs\"\n[[stages]]\nkind = \"collapse-conversations\"\n[[stages]]\nkind = \"parse-docs\"
[[stages]]\nkind = \"fix-docs\"\n[[stages]]\nkind = \"draft-answers\"\n[[stages]]\nkind = \"split\"\n[export]\n";

fn run(folder: &Path, rows: &[Value]) -> PathBuf {
    let (log, pipeline, out) = (folder.join("log.jsonl"), folder.join("p.toml"), folder.join("out"));
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    std::fs::write(&log, lines.join("\n")).unwrap();
    std::fs::write(&pipeline, PIPELINE).unwrap();
    let output = callsieve()
        .arg("run")
        .arg(&pipeline)
        .args(["--quiet", "--input"])
        .arg(&log)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(out.join("report.json").exists(), "{}", shown(&output));
    out
}

/// Returns the question and the arguments of each exported entry, by the number in its function's name.
fn entries(run: &Path) -> BTreeMap<usize, (String, Map<String, Value>)> {
    let mut entries = BTreeMap::new();
    for set in ["scored", "unverified"] {
        let frame =
            FrameFile::open(&run.join(format!("dataset/data/{set}.parquet"))).unwrap().read_all().unwrap();
        for row in 0..frame.height() {
            let json = |column: &str| -> Value {
                serde_json::from_str(frame.texts(column).unwrap().get(row).unwrap()).unwrap()
            };
            let question = json("question")[0][0]["content"].as_str().unwrap().to_owned();
            let Some((name, arguments)) = json("ground_truth")[0].as_object().and_then(|call| {
                call.iter().next().map(|(name, arguments)| (name.clone(), arguments.clone()))
            }) else {
                continue;
            };
            let first = |(name, allowed): (&String, &Value)| (name.clone(), allowed[0].clone());
            let arguments = arguments.as_object().unwrap().iter().map(first).collect();
            entries.insert(name.strip_prefix("act_").unwrap().parse().unwrap(), (question, arguments));
        }
    }
    entries
}

/// Returns the texts of the arguments that are a piece of the value or an encoded form: long enough not to be anywhere.
fn telling(arguments: &Value, all: &mut Vec<String>) {
    match arguments {
        Value::String(text) => all.push(text.clone()),
        Value::Number(number) => all.push(number.to_string()),
        Value::Array(items) => {
            let whole: Vec<String> = items.iter().map(ToString::to_string).collect();
            all.push(whole.join(","));
        }
        Value::Object(fields) => fields.values().for_each(|value| telling(value, all)),
        _ => {}
    }
}

#[test]
fn calls_with_pieces_of_values_are_exported_and_right_and_no_piece_is_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let requests = requests();
    let question = |at: usize, value: &str| format!("{}{value} for the fair", requests[at].before);
    let rows: Vec<Value> = requests
        .iter()
        .enumerate()
        .map(|(at, request)| line(at, &question(at, &request.value), &(request.form)(&request.value)))
        .collect();
    let out = run(folder.path(), &rows);
    let entries = entries(&out);
    let mut wrong = Vec::new();
    for (at, (asked, called)) in &entries {
        let request = &requests[*at];
        let placeholder = asked
            .strip_prefix(&*request.before)
            .and_then(|rest| rest.strip_suffix(" for the fair"))
            .unwrap_or_else(|| panic!("{asked}"));
        assert_ne!(placeholder, request.value, "{at} was not replaced");
        let wanted = (request.form)(placeholder);
        let is_right = wanted.as_object().unwrap().iter().all(|(name, value)| {
            let same = |text: &Value| text.to_string().to_lowercase();
            called.get(name).is_some_and(|called| same(called) == same(value))
        });
        if !is_right {
            wrong.push(format!("{at}: {} → {asked}: {called:?}, wanted {wanted}", request.value));
        }
    }
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
    assert!(entries.len() * 100 >= N_REQUESTS * LEAST_EXPORTED, "{} of {N_REQUESTS} exported", entries.len());
    let texts = text_of(&out);
    for (at, request) in requests.iter().enumerate() {
        let mut values = vec![request.value.clone()];
        telling(&(request.form)(&request.value), &mut values);
        let placeholder = entries.get(&at).map(|(asked, _)| asked.clone()).unwrap_or_default();
        for value in values.iter().filter(|value| value.len() > 5 && !placeholder.contains(*value)) {
            for (name, text) in &texts {
                assert!(!text.contains(value.as_str()), "{value} of {} in {name}", request.value);
            }
        }
    }
}

#[test]
fn numbers_that_are_no_values_are_neither_held_nor_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut draw = Draw(35);
    let rows: Vec<(String, Value)> = (0..N_REQUESTS)
        .map(|at| match at % 5 {
            0 => {
                let year = 1900 + draw.below(200);
                (format!("Which harvests of {year} were sold in {}?", year + 1), json!({ "year": year }))
            }
            1 => {
                let cents = draw.below(1_000_000);
                let price = format!("{}.{:02}", cents / 100, cents % 100);
                (format!("Is the lamp below {price} euros in stock?"), json!({ "price": price }))
            }
            2 => {
                let id = draw.digits("xxxxxxx");
                (format!("Where is order {id} now?"), json!({ "order_id": id }))
            }
            3 => {
                let id = draw.digits("AC-xxxx-xxxx");
                (format!("Cancel the ticket {id}"), json!({ "ticket": id }))
            }
            _ => {
                let count = draw.below(90_000);
                (format!("Order {count} screws of 45 mm"), json!({ "count": count }))
            }
        })
        .collect();
    let lines: Vec<Value> =
        rows.iter().enumerate().map(|(at, (question, arguments))| line(at, question, arguments)).collect();
    let out = run(folder.path(), &lines);
    let entries = entries(&out);
    assert_eq!(entries.len(), N_REQUESTS);
    for (at, (question, arguments)) in rows.iter().enumerate() {
        let (asked, called) = &entries[&at];
        assert_eq!((asked, &Value::Object(called.clone())), (question, arguments));
    }
}

/// A request whose argument is a piece of which the placeholder has none.
#[test]
fn a_call_with_a_piece_that_the_placeholder_lacks_is_dropped_and_the_piece_is_blanked() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        line(0, "Write to mira.kestrel@quillharbour-post.net", &json!({ "surname": "Kestrel" })),
        line(1, "Greet Kestrel at mira.kestrel@quillharbour-post.net", &json!({ "surname": "Kestrel" })),
    ];
    let out = run(folder.path(), &rows);
    let entries = entries(&out);
    assert_eq!(entries.keys().collect::<Vec<_>>(), [&1], "{entries:#?}");
    // The user wrote the name apart from the address.
    assert_eq!(entries[&1].1["surname"], json!("Kestrel"));
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    let dropped = report["fates"]
        .as_array()
        .unwrap()
        .iter()
        .any(|fate| (&fate["reason"], &fate["action"]) == (&json!("privacy/lost-piece"), &json!("drop")));
    assert!(dropped, "{}", report["fates"]);
}

/// Asserts that no file of a run has these digits, however they are written.
fn assert_no_digits(out: &Path, wanted: &str) {
    for (name, text) in text_of(out) {
        assert!(!digits(&text).contains(wanted), "{wanted} is in {name}");
    }
}

#[test]
fn short_numbers_that_words_keys_or_questions_name_are_values_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let turns = |row: &mut Value, question: &str, answer: &str| {
        row["request"]["messages"] = json!([
            {"role": "user", "content": "Save me"},
            {"role": "assistant", "content": question},
            {"role": "user", "content": answer},
        ]);
    };
    let mut rows = vec![
        line(0, "My phone number is 612 77 308, save it", &json!({ "name": "me", "phone": "61277308" })),
        line(1, "Phone: 612-77-310", &json!({ "to": "61277310" })),
        line(2, "Save me", &json!({ "phone": "6127 7311" })),
        line(3, "", &json!({ "to": "61277312" })),
        line(4, "", &json!({ "order": "61277313" })),
        line(5, "Where is order number 61277314?", &json!({ "order": "61277314" })),
    ];
    turns(&mut rows[3], "What is your phone number?", "612 77 312");
    turns(&mut rows[4], "What is your order number?", "61277313");
    let out = run(folder.path(), &rows);
    for value in ["61277308", "61277310", "61277311", "61277312"] {
        assert_no_digits(&out, value);
    }
    let entries = entries(&out);
    assert_eq!(entries[&0].0, "My phone number is 100 00 001, save it");
    assert_eq!(entries[&0].1["phone"], json!("10000001"));
    assert_eq!(entries[&1].1["to"], json!("10000002"));
    assert_eq!(entries[&5].0, "Where is order number 61277314?");
    assert_eq!(entries[&5].1["order"], json!("61277314"));
}

#[test]
fn a_telephone_number_that_only_the_docs_declare_is_a_value_in_its_call_its_message_and_two_turns() {
    let folder = tempfile::tempdir().unwrap();
    let declared = |mut row: Value| {
        row["request"]["tools"][0]["function"]["parameters"]["properties"]["to"]["description"] =
            json!("Phone number of the recipient.");
        row
    };
    let mut two_turns = declared(line(1, "", &json!({ "to": "06603928472" })));
    two_turns["request"]["messages"] = json!([
        {"role": "user", "content": "Send hi to 0660"},
        {"role": "assistant", "content": "And the rest?"},
        {"role": "user", "content": "392 84 72"},
    ]);
    let rows = [
        declared(line(0, "Send hi to 0547712093", &json!({ "to": "0547712093" }))),
        two_turns,
        line(2, "Move it to shelf 0547712094", &json!({ "to": "0547712094" })),
    ];
    let out = run(folder.path(), &rows);
    for value in ["0547712093", "6603928472", "3928472"] {
        assert_no_digits(&out, value);
    }
    let entries = entries(&out);
    assert_eq!(entries[&0].0, "Send hi to 0000000001");
    assert_eq!(entries[&0].1["to"], json!("0000000001"));
    assert_eq!(entries[&2].1["to"], json!("0547712094"));
}

#[test]
fn a_number_that_answers_a_question_of_another_turn_is_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut row = line(0, "", &json!({ "to": "0151 23984034" }));
    row["request"]["messages"] = json!([
        {"role": "user", "content": "Ring me"},
        {"role": "assistant", "content": "What is your phone number?"},
        {"role": "user", "content": "0151 23984034"},
    ]);
    let out = run(folder.path(), &[row]);
    for (name, text) in text_of(&out) {
        assert!(!digits(&text).contains("015123984034"), "the number is in {name}");
    }
    assert_eq!(entries(&out).len(), 1);
}
