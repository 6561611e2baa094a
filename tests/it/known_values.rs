//! Tests that a value identified as personal in one place of a run is replaced in all others: in recorded calls under
//! neutral names, in the history of later rows, in doc lists. No published id depends on such a value.

use std::path::{Path, PathBuf};

use crate::support::{assert_same_bytes, callsieve, shown, stable_bytes, text_of};
use callsieve::engine::frame::FrameFile;
use serde_json::{Value, json};

/// A question that identifies its value, and a call that does not. The value is written as in the question.
struct Case {
    value: &'static str,
    question: &'static str,
    /// As in the call.
    argument: &'static str,
    /// Both after redaction.
    asked: &'static str,
    called: &'static str,
}

const fn case(
    value: &'static str,
    question: &'static str,
    argument: &'static str,
    asked: &'static str,
    called: &'static str,
) -> Case {
    Case { value, question, argument, asked, called }
}

const CASES: [Case; 8] = [
    case(
        "07946 120 733",
        "whatsapp 07946 120 733 the ferry times",
        "07946120733",
        "whatsapp 00000 000 001 the ferry times",
        "00000000001",
    ),
    case(
        "020 7946 0688",
        "Her phone number is 020 7946 0688, invite her",
        "+442079460688",
        "Her phone number is 000 0000 0002, invite her",
        "+440000000002",
    ),
    case(
        "612 48 3391",
        "File the form, ssn 612 48 3391",
        "612-48-3391",
        "File the form, ssn 900 00 0001",
        "900-00-0001",
    ),
    case(
        "612483392",
        "My social security number is 612483392.",
        "612483392",
        "My social security number is 900000002.",
        "900000002",
    ),
    case(
        "qW7rtz2xNp",
        "Connect to postgresql://app:qW7rtz2xNp@db.fernmail.org/x",
        "qW7rtz2xNp",
        "",
        "0000000001",
    ),
    case(
        "Kestrel!48",
        "The password is Kestrel!48, log me in",
        "Kestrel!48",
        "The password is 0000000!02, log me in",
        "0000000!02",
    ),
    case("harbour7", "password: harbour7 please", "harbour7", "password: 00000003 please", "00000003"),
    case("tide#4", "My password is tide#4 for now", "tide#4", "My password is 000#04 for now", ""),
];

fn tools(note: &str) -> Value {
    json!([{"type": "function", "function": {"name": "send", "description": format!("Sends a note. {note}"),
        "parameters": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string", "description": "What goes there."}}}}}])
}

fn row(id: usize, messages: &Value, tools: &Value, argument: &str) -> Value {
    let arguments = json!({ "x": argument }).to_string();
    json!({"id": format!("row{id}"), "ts": 1_900_000_000 + id * 3600, "request": {"messages": messages, "tools": tools},
        "response": {"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "send", "arguments": arguments}}]}, "finish_reason": "tool_calls"}]}})
}

/// Returns the row, with a text of the model next to its call.
fn said(mut row: Value, words: &str) -> Value {
    row["response"]["choices"][0]["message"]["content"] = json!(words);
    row
}

const PIPELINE: &str = "[[stages]]\nkind = \"redact\"\n[[stages]]\nkind = \"redact-docs\"\n[[stages]]\nkind = \"collapse-conversations\"\n[[stages]]\nkind = \"parse-docs\"
[[stages]]\nkind = \"fix-docs\"\n[[stages]]\nkind = \"draft-answers\"\n[[stages]]\nkind = \"split\"\n[export]\n";

fn run(folder: &Path, name: &str, rows: &[Value], threads: &str) -> PathBuf {
    // The tables hold the file's name, and so the same one in every run.
    let (log, pipeline, out) =
        (folder.join(format!("{name}-log/log.jsonl")), folder.join("p.toml"), folder.join(name));
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    std::fs::write(&log, lines.join("\n")).unwrap();
    std::fs::write(&pipeline, PIPELINE).unwrap();
    let mut command = callsieve();
    command.arg("run").arg(&pipeline).args(["--quiet", "--threads", threads, "--input"]);
    let output = command.arg(&log).arg("--out").arg(&out).output().unwrap();
    assert!(out.join("report.json").exists(), "{}", shown(&output));
    out
}

/// Returns the entries of both sets: the last user message and the argument of the answer.
fn entries(run: &Path) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    for set in ["scored", "unverified"] {
        let frame =
            FrameFile::open(&run.join(format!("dataset/data/{set}.parquet"))).unwrap().read_all().unwrap();
        for row in 0..frame.height() {
            let json = |column: &str| -> Value {
                serde_json::from_str(frame.texts(column).unwrap().get(row).unwrap()).unwrap()
            };
            let question = json("question");
            let last =
                question[0].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
            let argument = json("ground_truth")[0]["send"]["x"][0].as_str().unwrap().to_owned();
            entries.push((last, argument));
        }
    }
    entries
}

fn log() -> Vec<Value> {
    let mut rows = Vec::new();
    for (at, case) in CASES.iter().enumerate() {
        let docs = tools(&format!("Ask desk {at}."));
        let asked = json!({"role": "user", "content": case.question});
        rows.push(row(2 * at, &json!([asked]), &docs, case.argument));
        // The next row has the call in its history, and another question.
        let called = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function",
            "function": {"name": "send", "arguments": json!({"x": case.argument}).to_string()}}]});
        let history = json!([asked, called, {"role": "tool", "tool_call_id": "a", "content": "{\"ok\": true}"},
            {"role": "user", "content": format!("And now close ticket {at}")}]);
        rows.push(row(2 * at + 1, &history, &docs, "close"));
    }
    rows
}

#[test]
fn a_value_identified_only_by_its_question_is_replaced_in_calls_and_history_too() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(folder.path(), "out", &log(), "2");
    let texts = text_of(&out);
    for case in &CASES {
        for written in [case.value, case.argument] {
            for (name, text) in &texts {
                assert!(!text.contains(written), "{written} in {name}");
            }
        }
    }
    let entries = entries(&out);
    for case in CASES.iter().filter(|case| !case.asked.is_empty() && !case.called.is_empty()) {
        let wanted = (case.asked.to_owned(), case.called.to_owned());
        assert!(entries.contains(&wanted), "no {wanted:?} in {entries:#?}");
    }
}

#[test]
fn after_a_purge_no_value_is_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(folder.path(), "out", &log(), "2");
    let purged = callsieve().arg("purge").arg(&out).arg("--raw").output().unwrap();
    assert!(purged.status.success(), "{}", shown(&purged));
    for name in ["requests", "doc_lists"] {
        let frame = FrameFile::open(&out.join(format!("ingest/{name}.parquet"))).unwrap().read_all().unwrap();
        for at in 0..frame.height() {
            let text = Value::Object(frame.row_json(at)).to_string();
            for case in &CASES {
                assert!(
                    !text.contains(case.value) && !text.contains(case.argument),
                    "{} in {text}",
                    case.value
                );
            }
        }
    }
}

#[test]
fn doc_lists_and_other_rows_hold_no_value_of_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let rows = [
        row(
            1,
            &asked("whatsapp 07946 120 733 the ferry times"),
            &tools("On duty: 07946-120733."),
            "07946120733",
        ),
        row(2, &asked("What about 07946120733 and desk 4?"), &tools("On duty: 07946-120733."), "desk"),
        row(3, &asked("password: mill-pond today"), &tools("Ask the mill-pond keeper."), "mill-pond"),
        row(4, &asked("Where is the mill-pond?"), &tools("Ask the keeper."), "mill-pond"),
    ];
    let out = run(folder.path(), "out", &rows, "2");
    let texts = text_of(&out);
    for (name, text) in &texts {
        let digits: String = text.chars().filter(|c| !" -".contains(*c)).collect();
        assert!(!digits.contains("07946120733"), "the number is in {name}");
    }
    let entries = entries(&out);
    let has = |asked: &str, called: &str| entries.contains(&(asked.to_owned(), called.to_owned()));
    assert!(has("whatsapp 00000 000 001 the ferry times", "00000000001"), "{entries:#?}");
    assert!(has("What about 00000000001 and desk 4?", "desk"), "{entries:#?}");
    // A word that is a password in one row is a word in another, and in docs.
    assert!(has("Where is the mill-pond?", "mill-pond"), "{entries:#?}");
    let docs = &texts.iter().find(|(name, _)| name == "lists.parquet").unwrap().1;
    assert!(docs.contains("On duty: 00000-000001.") && docs.contains("Ask the mill-pond keeper."), "{docs}");
    let diff = callsieve().arg("diff").arg(&out).args(["--reason", "privacy/phone"]).output().unwrap();
    let diff = String::from_utf8(diff.stdout).unwrap();
    assert!(diff.contains("phone → 00000-000001"), "{diff}");
}

#[test]
fn a_password_that_is_a_word_of_the_format_changes_no_role_and_no_name() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let rows = [
        row(1, &asked("Log in at https://user:user@quillpost.net/x as user"), &tools("Mails."), "user"),
        row(2, &asked("Log in at https://me:assistant@quillpost.net/x"), &tools("Mails."), "assistant"),
    ];
    let out = run(folder.path(), "out", &rows, "2");
    let entries = entries(&out);
    assert_eq!(entries.len(), 2, "{entries:#?}");
    let text: Vec<(String, String)> = text_of(&out);
    let dataset = &text.iter().find(|(name, _)| name == "dataset/data/unverified.parquet").unwrap().1;
    assert!(dataset.matches(r#"\"role\":\"user\""#).count() == 2, "{dataset}");
}

/// Questions that mark a password in many ways, with the text before and after it when it is replaced.
const MARKED: [(&str, &str, &str); 16] = [
    ("keep the password “", "GullHouse35", "” please"),
    ("das Passwort ist „", "MoewenHaus36", "“, danke"),
    ("le mot de passe est « ", "Goelands37", " » merci"),
    ("the password is ‘", "GullHouse38", "’ for now"),
    ("the password is ", "GullHouse39", "— keep it"),
    ("the password is ", "GullHouse40", "… I think"),
    ("पासवर्ड है: ", "GullHouse41", "। ठीक"),
    ("كلمة المرور هي: ", "GullHouse42", "، شكرا"),
    ("كلمة السر: ", "GullHouse43", "؟"),
    ("password: **", "GullHouse44", "** please"),
    ("password: _", "GullHouse45", "_ please"),
    ("密码是", "GullHouse46", "，保存"),
    ("密码是", "GullHouse47", "。请保存"),
    ("パスワードは", "Kamome-Ie48", "です。keep"),
    ("비밀번호는 ", "GullHouse49", "입니다"),
    ("my PW: ", "Gull_House50", "\nthanks"),
];

#[test]
fn marks_around_a_password_are_not_part_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let question = |(before, value, behind): &(&str, &str, &str)| format!("{before}{value}{behind}");
    let rows: Vec<Value> = MARKED
        .iter()
        .enumerate()
        .map(|(at, marked)| row(at, &asked(&question(marked)), &tools(&format!("Desk {at}.")), marked.1))
        .collect();
    let out = run(folder.path(), "out", &rows, "2");
    for (name, text) in text_of(&out) {
        for (_, value, _) in MARKED {
            assert!(!text.contains(value), "{value} in {name}");
        }
    }
    let entries = entries(&out);
    for marked @ (before, _, behind) in &MARKED {
        let found = entries.iter().find(|(asked, called)| *asked == format!("{before}{called}{behind}"));
        assert!(found.is_some(), "{marked:?} in {entries:#?}");
    }
}

#[test]
fn a_secret_is_known_in_any_case_and_without_its_punctuation() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let rows = [
        row(1, &asked("mein PW: Gischt_Wetter7, bitte"), &tools("Desk 1."), "gischt_wetter7"),
        row(2, &asked("password=\"!SprayCoast8!\" please"), &tools("Desk 2."), "SprayCoast8"),
        row(
            3,
            &asked("Use the key sk-9aQ2mZx74LpTgB3vWc81RkYd"),
            &tools("Desk 3."),
            "SK-9AQ2MZX74LPTGB3VWC81RKYD",
        ),
    ];
    let out = run(folder.path(), "out", &rows, "2");
    for (name, text) in text_of(&out) {
        let text = text.to_lowercase();
        for value in ["gischt_wetter7", "spraycoast8", "9aq2mzx74lptgb3vwc81rkyd"] {
            assert!(!text.contains(value), "{value} in {name}");
        }
    }
    assert_eq!(entries(&out).len(), 3);
}

#[test]
fn one_number_has_one_placeholder_with_and_without_dashes() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let rows = [
        row(1, &asked("my ssn is 612-48-3391"), &tools("Desk 1."), "612483391"),
        row(2, &asked("My phone is 4 9 1 5 1 2 3 3 4 8 8 9 2"), &tools("Desk 2."), "4915123348892"),
    ];
    let out = run(folder.path(), "out", &rows, "2");
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let entries = entries(&out);
    assert_eq!(entries.len(), 2);
    for (asked, called) in &entries {
        assert_eq!(digits(asked), digits(called));
        assert!(!called.contains("612483391") && !called.contains("4915123348892"), "{called}");
    }
}

#[test]
fn names_are_found_in_any_spelling_and_also_only_in_docs() {
    let folder = tempfile::tempdir().unwrap();
    let names = folder.path().join("names.txt");
    std::fs::write(&names, "Jürgen Krumm\nIlse-Marie Fabel\nJonas\n").unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let forms = [
        "Ju\u{308}rgen Krumm",
        "J&uuml;rgen Krumm",
        "JÜRGEN   KRUMM",
        "Jürgen\nKrumm",
        "Jürgen-Krumm",
        "Jürgen\u{a0}Krumm",
        "Ilse Marie Fabel",
    ];
    let mut rows: Vec<Value> = forms
        .iter()
        .enumerate()
        .map(|(at, form)| {
            row(at, &asked(&format!("Ask {form} to come")), &tools(&format!("Desk {at}.")), form)
        })
        .collect();
    rows.push(row(90, &asked("Ask my friend"), &tools("A name, e.g. Jonas."), "my friend"));
    let log = folder.path().join("log.jsonl");
    std::fs::write(&log, rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")).unwrap();
    let pipeline = folder.path().join("p.toml");
    let with_names = format!("names = {:?}", names.display().to_string());
    let text = PIPELINE
        .replace("kind = \"redact\"", &format!("kind = \"redact\"\n{with_names}"))
        .replace("kind = \"redact-docs\"", &format!("kind = \"redact-docs\"\n{with_names}"));
    std::fs::write(&pipeline, text).unwrap();
    let out = folder.path().join("out");
    let mut command = callsieve();
    command.arg("run").arg(&pipeline).args(["--quiet", "--input"]).arg(&log).arg("--out").arg(&out);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    for (name, text) in text_of(&out) {
        let text = text.to_lowercase();
        for part in ["krumm", "fabel", "jonas"] {
            assert!(!text.contains(part), "{part} in {name}");
        }
    }
}

#[test]
fn requests_of_one_line_keep_their_order_for_any_values() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let order = |number: &str, name: &str| -> Vec<String> {
        let mut rows: Vec<Value> = (0..12)
            .map(|at| row(at, &asked(&format!("call {number}{at:02} for desk {at}")), &tools("Calls."), "x"))
            .collect();
        for row in &mut rows {
            row["ts"] = json!(1_900_000_000);
        }
        let out = run(folder.path(), name, &[Value::Array(rows)], "2");
        entries(&out).into_iter().map(|(asked, _)| asked).collect()
    };
    let (one, other) = (order("07946 1207", "one"), order("07946 8831", "other"));
    assert_eq!(one.len(), 12);
    assert_eq!(one, other);
    assert!(one.iter().enumerate().all(|(at, asked)| asked.ends_with(&format!("desk {at}"))), "{one:#?}");
}

#[test]
fn a_call_with_a_value_from_nowhere_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let rows = [
        row(1, &asked("Write to Tomas"), &tools("Mails."), "tomas.berg@quillpost.net"),
        row(2, &asked("Write to mira@quillpost.net"), &tools("Mails."), "mira@quillpost.net"),
        row(3, &asked("Write to the desk"), &tools("The desk is desk@quillpost.net."), "desk@quillpost.net"),
        // A value in the model's text next to its call.
        said(
            row(4, &asked("Close the ticket"), &tools("Closes."), "ticket"),
            "Or write to help@quillpost.net",
        ),
    ];
    let out = run(folder.path(), "out", &rows, "2");
    let entries = entries(&out);
    assert_eq!(entries.len(), 3, "{entries:#?}");
    let why = callsieve().arg("why").arg(&out).arg("row1").output().unwrap();
    let why = String::from_utf8(why.stdout).unwrap();
    assert!(why.contains("held: answer/value-not-in-request"), "{why}");
}

#[test]
fn a_dataset_does_not_depend_on_the_values_that_were_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |text: &str| json!([{"role": "user", "content": text}]);
    let rows = |number: &str, key: &str| {
        vec![
            row(1, &asked(&format!("call {number} now")), &tools("Calls."), number),
            row(2, &asked(&format!("Use the key {key}")), &tools(&format!("Hotline, phone {number}.")), key),
        ]
    };
    let one = run(folder.path(), "one", &rows("07946 120 733", "sk-9aQ2mZx74LpTgB3vWc81RkYd"), "1");
    let other = run(folder.path(), "other", &rows("07946 120 752", "sk-8bR3nYw65MqUhC4xVd92SlZe"), "1");
    let tables = |run: &Path| {
        let mut files = stable_bytes(run);
        files.retain(|name, _| {
            name.starts_with("dataset/data") || name.extension().is_some_and(|is| is == "json")
        });
        files
    };
    assert!(tables(&one).len() >= 3);
    assert_same_bytes(&tables(&one), &tables(&other));
    // The card does not either, not even by a hash of the log.
    let card = |run: &Path| std::fs::read_to_string(run.join("dataset/README.md")).unwrap();
    let differ: Vec<(String, String)> = card(&one)
        .lines()
        .zip(card(&other).lines())
        .filter(|(one, other)| one != other)
        .map(|(one, other)| (one.to_owned(), other.to_owned()))
        .collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

#[test]
fn known_values_are_the_same_bytes_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let one = stable_bytes(&run(folder.path(), "one", &log(), "1"));
    let four = stable_bytes(&run(folder.path(), "four", &log(), "4"));
    let but_inputs = |mut files: std::collections::BTreeMap<PathBuf, Vec<u8>>| {
        files.remove(Path::new("dataset/README.md"));
        files
    };
    assert_same_bytes(&but_inputs(one), &but_inputs(four));
}

#[test]
fn values_in_escapes_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let (number, address) = ("+4915223984417", "lea.brandt@fernmail.org");
    let forms = [
        r"\u002B4915223984417",
        r"\\u002B4915223984417",
        r"\x2b4915223984417",
        "&#43;4915223984417",
        "%2B4915223984417",
        "+49\u{200b}15223984417",
        "＋４９１５２２３９８４４１７",
        r"lea.brandt\u0040fernmail.org",
        r"lea.brandt\x40fernmail\u002eorg",
        "lea.brandt&#64;fernmail.org",
        "lea.brandt\u{ad}@fernmail.org",
        "lea.brandt＠fernmail.org",
        r"lea.brandt@fernmail.org\/inbox",
    ];
    let mut lines = Vec::new();
    for (at, form) in forms.iter().enumerate() {
        let function = |name: &str, what: &str| {
            format!(
                r#"{{"name": "{name}", "description": "{what}", "parameters": {{"type": "object", "required": ["x"], "properties": {{"x": {{"type": "string", "description": "To whom."}}}}}}}}"#
            )
        };
        // In docs pasted as JSON, as Python, and in a call in text.
        let json =
            format!("[{}]", function(&format!("json_{at}"), &format!("Sends a note. Ask {form} about it.")));
        let python = json.replace('"', "'").replace("json_", "python_");
        let plain = format!("[{}]", function(&format!("plain_{at}"), "Sends a note."));
        let call =
            format!(r#"<tool_call>{{"name": "plain_{at}", "arguments": {{"x": "{form}"}}}}</tool_call>"#);
        let rows = [(&json, "json", "Fine."), (&python, "python", "Fine."), (&plain, "plain", call.as_str())];
        for (docs, name, answer) in rows {
            let query = format!("Send {name} note {at} to {}", if at < 7 { number } else { address });
            lines.push(
                json!({"id": format!("{name}{at}"), "query": query, "functions": docs, "response": answer}),
            );
        }
    }
    let out = run(folder.path(), "out", &lines, "2");
    let texts = text_of(&out);
    for (name, text) in &texts {
        for wanted in ["5223984417", "５２２３", "brandt"] {
            let at = text.find(wanted);
            let near = at.map(|at| {
                text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect::<String>()
            });
            assert_eq!(near, None, "{wanted} in {name}");
        }
    }
    let docs = &texts.iter().find(|(name, _)| name == "lists.parquet").unwrap().1;
    assert!(docs.contains("json_0") && docs.contains("python_0"), "{docs}");
}
