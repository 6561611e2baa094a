//! What `callsieve audit` reads: rows in the forms of training sets, calls, plain text, and the files of a benchmark.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::support::{callsieve, shown};
use serde_json::{Value, json};
use tempfile::TempDir;

const TIDE: &str = "What time is high tide in Leith on Friday, and how high will the water be?";
const OTHER: &str = "Polish the brass lamps in the hall.";
const CALL: &str = "{\"name\": \"book_ferry\", \"arguments\": {\"from_port\": \"Oban\", \"to_port\": \"Mull\", \"seats\": 2}}";

/// A folder with a benchmark of BFCL and other files.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let this = Self(tempfile::tempdir().unwrap());
        let ferry = json!({"name": "book_ferry", "description": "Books seats on a ferry.", "parameters": {"type": "dict",
            "properties": {"from_port": {"type": "string"}, "to_port": {"type": "string"}, "seats": {"type": "integer"}}}});
        let entry = |id: &str, text: &str| json!({"id": id, "question": [[{"role": "user", "content": text}]], "function": [ferry]});
        let ferry = "Book two seats on the ferry from Oban to Mull at 9:15, near the window.";
        this.write("bench/BFCL_v4_simple_python.json", lines(&[entry("tide", TIDE), entry("ferry", ferry)]));
        this.write("bench/possible_answer/BFCL_v4_simple_python.json", lines(&[answer("Oban")]));
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn audit(&self, train: &str, bench: &[&str], out: &str) -> Output {
        let mut command = callsieve();
        command.current_dir(self.0.path()).args(["audit", "--train", train, "--out", out, "--bench"]);
        command.args(bench).output().unwrap()
    }

    /// Audits a file, and returns its contaminated rows.
    fn contaminated(&self, train: &str, bench: &[&str], out: &str) -> BTreeSet<String> {
        let done = self.audit(train, bench, out);
        assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
        let hits = self.read(&format!("{out}/hits.jsonl"));
        let hits = hits.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let found = hits.filter(|hit| hit["verdict"] == "contaminated");
        found.map(|hit| hit["train_id"].as_str().unwrap().to_owned()).collect()
    }

    fn report(&self, out: &str) -> Value {
        serde_json::from_str(&self.read(&format!("{out}/audit.json"))).unwrap()
    }

    /// Audits a set that is refused, and returns the message as one line.
    fn refused(&self, train: &str, bench: &[&str], code: i32) -> String {
        let done = self.audit(train, bench, "refused");
        let text = shown(&done);
        assert_eq!(done.status.code(), Some(code), "{text}");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn answer(from: &str) -> Value {
    json!({"id": "ferry", "ground_truth": [{"book_ferry": {"from_port": [from], "to_port": ["Mull"], "seats": [2]}}]})
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn ids(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_question_is_found_in_every_form_of_a_row() {
    let folder = Folder::new();
    let user = |text: &str| json!({"role": "user", "content": text});
    let model = json!({"role": "assistant", "content": "At noon."});
    let half = TIDE.split_at(TIDE.find(", and").unwrap() + 1);
    let rows = [
        json!({"id": "preference", "prompt": [user(TIDE)], "chosen": [model], "rejected": [model]}),
        json!({"id": "implicit", "chosen": [user(TIDE), model], "rejected": [user(TIDE), model]}),
        json!({"id": "in-text", "conversations": json!([{"from": "human", "value": TIDE}]).to_string()}),
        json!({"id": "role-case", "messages": [{"role": "User", "content": TIDE}]}),
        json!({"id": "gemini", "contents": [{"role": "user", "parts": [{"text": TIDE}]}]}),
        json!({"id": "responses", "input": [user(TIDE)]}),
        json!({"id": "dialog", "dialog": [user(TIDE)]}),
        json!({"id": "wrapped", "data": {"messages": [user(TIDE)]}}),
        json!({"id": "glaive", "chat": format!("USER: {TIDE}\n\n\nASSISTANT: At noon. <|endoftext|>")}),
        json!({"id": "history", "instruction": "Thanks.", "input": "", "history": [[TIDE, "At noon."]]}),
        json!({"id": "key-case", "Instruction": TIDE, "Response": "At noon."}),
        json!({"id": "alpaca", "instruction": half.0, "input": half.1.trim(), "output": "At noon."}),
        json!({"id": "clean", "prompt": [user(OTHER)], "chosen": [model], "rejected": [user(TIDE)]}),
    ];
    folder.write("train.jsonl", lines(&rows));
    folder.write("list.jsonl", lines(&[json!([user(TIDE), model])]));
    let mut expected: BTreeSet<String> =
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    expected.remove("clean");
    assert_eq!(folder.contaminated("train.jsonl", &["bench"], "out"), expected);
    assert_eq!(folder.report("out")["rows"]["unscorable"], 0);
    assert_eq!(folder.read("out/dataset/train.jsonl"), lines(&rows[12..]));
    assert_eq!(folder.contaminated("list.jsonl", &["bench"], "list"), ids(&["list.jsonl:1"]));
}

#[test]
fn a_gold_call_is_found_in_the_notations_of_models() {
    let folder = Folder::new();
    let arguments = "{\"from_port\": \"Oban\", \"to_port\": \"Mull\", \"seats\": 2}";
    let said = |id: &str, text: String| json!({"id": id, "messages": [{"role": "user", "content": "Two of us."}, {"role": "assistant", "content": text}]});
    let rows = [
        said("prose", format!("I book it.\n<tool_call>\n{CALL}\n</tool_call>")),
        said("glaive", format!("<functioncall> {{\"name\": \"book_ferry\", \"arguments\": '{arguments}'}} <|endoftext|>")),
        said("function", format!("<function=book_ferry>{arguments}</function>")),
        said("qwen", "<tool_call>\n<function=book_ferry>\n<parameter=from_port>\nOban\n</parameter>\n<parameter=to_port>\nMull\n</parameter>\n<parameter=seats>\n2\n</parameter>\n</function>\n</tool_call>".to_owned()),
        said("deepseek", format!("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>book_ferry\n```json\n{arguments}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>")),
        json!({"id": "swift", "messages": [{"role": "user", "content": "Two of us."}, {"role": "tool_call", "content": CALL}, {"role": "tool_response", "content": "ok"}]}),
        json!({"id": "responses", "input": [{"role": "user", "content": "Two of us."}, {"type": "function_call", "call_id": "1", "name": "book_ferry", "arguments": arguments}]}),
        json!({"id": "chosen", "prompt": [{"role": "user", "content": "Two of us."}], "chosen": [{"role": "assistant", "content": CALL}], "rejected": [{"role": "assistant", "content": "No."}]}),
        json!({"id": "rejected", "prompt": [{"role": "user", "content": "Two of us."}], "chosen": [{"role": "assistant", "content": "No."}], "rejected": [{"role": "assistant", "content": CALL}]}),
        said("words", "I could call book_ferry from Oban to Mull with 2 seats.".to_owned()),
    ];
    folder.write("calls.jsonl", lines(&rows));
    assert_eq!(
        folder.contaminated("calls.jsonl", &["bench"], "out"),
        ids(&["prose", "glaive", "function", "qwen", "deepseek", "swift", "responses", "chosen"])
    );
}

#[test]
fn a_gold_call_is_found_with_values_that_are_hidden_from_a_comparison() {
    let folder = Folder::new();
    let hidden = [
        ("zero-width", "O\u{200b}ban"),
        ("soft-hyphen", "Oba\u{ad}n"),
        ("no-break", "\u{a0}Oban"),
        ("entity", "&nbsp;Oban"),
        ("code", "O&#98;an"),
        ("percent", "Oban%20"),
        ("wide", "Ｏban"),
        ("mark", "O\u{336}ban"),
        ("escape", "\\u004fban"),
        ("control", "Ob\u{7f}an"),
    ];
    let row = |id: &str, name: &str, argument: &str, value: &str| {
        let call = json!({"name": name, "arguments": {argument: value, "to_port": "Mull", "seats": 2}});
        let tool = json!({"name": "ring", "arguments": {"bell": "Ob\u{200b}an"}});
        let calls: Vec<Value> =
            [tool, call].into_iter().map(|call| json!({"type": "function", "function": call})).collect();
        json!({"id": id, "messages": [{"role": "user", "content": "Two of us."}, {"role": "assistant", "content": "", "tool_calls": calls}]})
    };
    let mut rows: Vec<Value> =
        hidden.iter().map(|(id, value)| row(id, "book_ferry", "from_port", value)).collect();
    rows.push(row("name", "book\u{200b}_ferry", "from_port", "Oban"));
    rows.push(row("argument", "book_ferry", "from\u{ad}_port", "Oban"));
    rows.push(row("other", "book_ferry", "from_port", "Ob\u{200b}en"));
    folder.write("train.jsonl", lines(&rows));
    let mut expected = ids(&["name", "argument"]);
    expected.extend(hidden.iter().map(|(id, _)| (*id).to_owned()));
    assert_eq!(folder.contaminated("train.jsonl", &["bench"], "out"), expected);
}

#[test]
fn a_table_with_carriage_returns_is_compared_and_cleaned_byte_for_byte() {
    let folder = Folder::new();
    let clean = format!("2,\"{OTHER}\nTwice.\"");
    folder.write("train.csv", format!("id,prompt\r1,\"{TIDE}\"\r{clean}\r3,Stop."));
    assert_eq!(folder.contaminated("train.csv", &["bench"], "out"), ids(&["1"]));
    assert_eq!(folder.report("out")["train"][0]["rows"], 3);
    assert_eq!(folder.read("out/dataset/train.csv"), format!("id,prompt\r{clean}\r3,Stop.\r"));
    let named = format!("sep=;\r\nID;Prompt\r\n1;\"{TIDE}\"\r\n2;Stop.\r\n");
    folder.write("named.csv", &named);
    assert_eq!(folder.contaminated("named.csv", &["bench"], "named"), ids(&["1"]));
    assert_eq!(folder.read("named/dataset/named.csv"), "sep=;\r\nID;Prompt\r\n2;Stop.\r\n");
    let line = |text: &str| json!({"id": text.len(), "prompt": text}).to_string();
    folder.write("train.jsonl", format!("{}\r{}\r{}\r", line(OTHER), line(TIDE), line("Stop.")));
    assert_eq!(folder.contaminated("train.jsonl", &["bench"], "lines"), ids(&[&TIDE.len().to_string()]));
    assert_eq!(folder.read("lines/dataset/train.jsonl"), format!("{}\r{}\r", line(OTHER), line("Stop.")));
}

#[test]
fn a_line_of_plain_text_is_a_row_and_stays_as_it_is() {
    let folder = Folder::new();
    let kept = ["Hello world, this is \"plain\" text.", "", "[INST] Mow the lawn. [/INST]", "{not json}"];
    folder.write("plain.txt", format!("{}\n{TIDE}\n{}\n{}\n{}\n", kept[0], kept[1], kept[2], kept[3]));
    assert_eq!(folder.contaminated("plain.txt", &["bench"], "out"), ids(&["plain.txt:2"]));
    assert_eq!(folder.read("out/dataset/plain.txt"), kept.map(|line| format!("{line}\n")).concat());
    assert_eq!(folder.report("out")["train"][0]["rows"], 4);
    // JSON lines under this name are JSON lines.
    folder.write("json.txt", lines(&[json!({"id": "a", "text": TIDE}), json!({"id": "b", "text": OTHER})]));
    assert_eq!(folder.contaminated("json.txt", &["bench"], "json"), ids(&["a"]));
    folder.write("page.md", "Hello world, this is text.\n");
    folder.write("page", "Hello world, this is text.\n");
    assert!(folder.refused("page.md", &["bench"], 2).contains(
        "page.md: unknown kind of file: found the ending .md and text that is not JSON, expected .jsonl, .ndjson"
    ));
    assert!(
        folder
            .refused("page", &["bench"], 2)
            .contains("page: unknown kind of file: found no ending and text")
    );
    folder.write("rows.bak", lines(&[json!({"id": "a", "text": TIDE})]));
    assert_eq!(folder.contaminated("rows.bak", &["bench"], "bak"), ids(&["a"]));
}

#[test]
fn a_benchmark_row_that_cannot_be_read_is_an_error_with_its_line() {
    let folder = Folder::new();
    folder.write("train.jsonl", lines(&[json!({"id": "a", "text": TIDE})]));
    let rows = format!("{{\"text\": {}, \"x\": NaN}}\n\n{{\"zzz\": 1}}\n", json!(TIDE));
    folder.write("rows.jsonl", &rows);
    assert_eq!(folder.contaminated("train.jsonl", &["rows.jsonl"], "out"), ids(&["a"]));
    assert_eq!(folder.report("out")["categories"][0]["entries"], 1);
    folder.write("bad.jsonl", format!("{rows}not json\n"));
    assert!(
        folder
            .refused("train.jsonl", &["bad.jsonl"], 2)
            .contains("bad.jsonl:4: unreadable row of a benchmark: found")
    );
    folder.write("latin.jsonl", [&b"{\"text\": \"\xe9\"}\n"[..], rows.as_bytes()].concat());
    assert!(folder.refused("train.jsonl", &["latin.jsonl"], 2).contains("latin.jsonl:1: unreadable row"));
    folder.write("cells.csv", format!("id,text\na,\"{TIDE}\"\nb,{OTHER},more\n"));
    assert!(folder.refused("train.jsonl", &["cells.csv"], 2).contains("cells.csv:3: unreadable row"));
    folder.write("rows.parquet", "PAR1");
    assert!(folder.refused("train.jsonl", &["rows.parquet"], 2).contains("rows.parquet"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, rows.repeat(9).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    folder.write("cut.jsonl.gz", &packed[..packed.len() - 9]);
    assert!(folder.refused("train.jsonl", &["cut.jsonl.gz"], 2).contains("unreadable row of a benchmark"));
}

#[test]
fn a_run_is_used_again_only_if_the_files_next_to_the_benchmark_are_the_same() {
    let folder = Folder::new();
    let row = json!({"id": "call", "messages": [{"role": "user", "content": "Two of us."}, {"role": "assistant", "content": CALL}]});
    folder.write("train.jsonl", lines(&[row]));
    let bench = ["bench/BFCL_v4_simple_python.json"];
    let answers = "bench/possible_answer/BFCL_v4_simple_python.json";
    fs::remove_file(folder.path(answers)).unwrap();
    assert_eq!(folder.contaminated("train.jsonl", &bench, "out"), ids(&[]));
    folder.write(answers, lines(&[answer("Oban")]));
    assert_eq!(folder.contaminated("train.jsonl", &bench, "out"), ids(&["call"]));
    folder.write(answers, lines(&[answer("Craignure")]));
    assert_eq!(folder.contaminated("train.jsonl", &bench, "out"), ids(&[]));
    // Other files of the folder are not read.
    folder.write("bench/notes.json", "[1, 2]");
    let again = folder.audit("train.jsonl", &bench, "out");
    assert!(shown(&again).contains("reused"), "{}", shown(&again));
}

#[cfg(unix)]
#[test]
fn links_pipes_and_runs_in_the_folder_of_a_benchmark_do_no_harm() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    folder.write("train.jsonl", lines(&[json!({"id": "a", "text": TIDE})]));
    folder.write("rows/sub/rows.jsonl", lines(&[json!({"text": TIDE})]));
    symlink("nowhere", folder.path("rows/.#lock")).unwrap();
    symlink("nowhere", folder.path("rows/gone.jsonl")).unwrap();
    // A link to nothing may be entries that are missing.
    let gone = folder.audit("train.jsonl", &["rows"], "rows/out");
    assert_eq!(gone.status.code(), Some(2), "{}", shown(&gone));
    assert!(shown(&gone).contains("gone.jsonl"), "{}", shown(&gone));
    std::fs::remove_file(folder.path("rows/gone.jsonl")).unwrap();
    symlink(".", folder.path("rows/one")).unwrap();
    symlink("..", folder.path("rows/sub/two")).unwrap();
    symlink("sub/rows.jsonl", folder.path("rows/again.jsonl")).unwrap();
    folder.write("rows/.git/big.jsonl", "not json");
    let pipe = std::process::Command::new("mkfifo").arg(folder.path("rows/pipe.jsonl")).status().unwrap();
    assert!(pipe.success());
    for out in ["rows/out", "rows/out", "rows/out2"] {
        assert_eq!(folder.contaminated("train.jsonl", &["rows"], out), ids(&["a"]));
        let categories = folder.report(out)["categories"].clone();
        assert_eq!(categories.as_array().unwrap().len(), 1, "{categories}");
    }
    let again = folder.audit("train.jsonl", &["rows"], "rows/out");
    assert!(shown(&again).contains("reused"), "{}", shown(&again));
}

#[test]
fn a_benchmark_file_that_is_given_twice_counts_once() {
    let folder = Folder::new();
    folder.write("train.jsonl", lines(&[json!({"id": "a", "text": TIDE})]));
    let given =
        ["bench", "bench/BFCL_v4_simple_python.json", "./bench/../bench", "bench/BFCL_v4_simple_python.json"];
    assert_eq!(folder.contaminated("train.jsonl", &given, "out"), ids(&["a"]));
    let report = folder.report("out");
    let categories = report["categories"].as_array().unwrap();
    assert_eq!((categories.len(), &categories[0]["entries"]), (1, &json!(2)), "{categories:?}");
}

#[test]
fn lines_in_the_forms_that_logs_may_have_are_compared_and_cleaned() {
    let folder = Folder::new();
    let row = |id: &str, text: &str| {
        json!({"id": id, "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]}).to_string()
    };
    let python = |id: &str, text: &str| {
        format!("{{'id': '{id}', 'messages': [{{'role': 'user', 'content': \"{text}\"}}], 'x': None}}")
    };
    let list = |text: &str| json!([{"role": "user", "content": text}]).to_string();
    for (name, copy, other) in [
        ("comma", row("a", TIDE) + ",", row("b", OTHER) + ","),
        ("comma-and-blanks", row("a", TIDE) + " , ", row("b", OTHER) + "\t,"),
        ("python", python("a", TIDE), python("b", OTHER)),
        ("python-and-comma", python("a", TIDE) + ",", python("b", OTHER) + ","),
        (
            "number-and-comma",
            row("a", TIDE).replace("\"id\"", "\"x\": NaN, \"id\"") + ",",
            row("b", OTHER) + ",",
        ),
        ("lists", list(TIDE) + ",", list(OTHER) + ","),
    ] {
        let file = format!("{name}.jsonl");
        folder.write(&file, format!("{other}\n{copy}\n{other}\n"));
        assert_eq!(folder.contaminated(&file, &["bench"], name).len(), 1, "{name}");
        assert_eq!(folder.read(&format!("{name}/dataset/{file}")), format!("{other}\n{other}\n"), "{name}");
        let report = folder.report(name);
        assert_eq!(
            (&report["train"][0]["rows"], &report["train"][0]["unreadable"]),
            (&json!(3), &json!(0)),
            "{name}"
        );
    }
    // What cannot be compared is counted, and never as a row.
    let text =
        format!("{}\ndata: {{\"object\": \"x\"}}\n\ndata: [DONE]\n[1],\n{{\"id\": 1\n", row("b", OTHER));
    folder.write("odd.jsonl", &text);
    assert_eq!(
        folder.audit("odd.jsonl", &["bench"], "odd").status.code(),
        Some(1),
        "too many lines are unreadable"
    );
    let report = folder.report("odd");
    assert_eq!(
        (&report["train"][0]["rows"], &report["train"][0]["unreadable"]),
        (&json!(1), &json!(4)),
        "{report}"
    );
    assert_eq!(folder.read("odd/dataset/odd.jsonl"), text);
}

#[test]
fn words_that_are_hidden_from_a_comparison_and_not_from_a_reader_are_found() {
    let folder = Folder::new();
    let question =
        "Where is the café of the pilots of Zürich, and who didn't pay for the lemonade on the quay?";
    folder.write("rows.jsonl", lines(&[json!({"id": "cafe", "text": question})]));
    let each = |by: &dyn Fn(char) -> String| question.chars().map(by).collect::<String>();
    let after_letters =
        |mark: &str| each(&|c| if c.is_alphabetic() { format!("{c}{mark}") } else { c.to_string() });
    let parts = |open: &str, close: &str| -> String {
        let hidden = question.split(' ').map(|word| {
            let first = word.chars().next().map_or(0, char::len_utf8);
            format!("{open}{}{close}{}", &word[..first], &word[first..])
        });
        hidden.collect::<Vec<_>>().join(" ")
    };
    let percent = |blank: &str| {
        let code = |byte: u8| match byte {
            b' ' => blank.to_owned(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        };
        question.bytes().map(code).collect::<String>()
    };
    let hidden = [
        ("zero-width", after_letters("\u{200b}")),
        ("joiners", after_letters("\u{200d}")),
        ("soft-hyphens", after_letters("\u{ad}")),
        ("byte-order-marks", after_letters("\u{feff}")),
        ("selectors", after_letters("\u{fe0f}")),
        ("tags", after_letters("\u{e0061}")),
        ("strokes", after_letters("\u{336}")),
        ("accents", question.replace('é', "e\u{301}").replace('ü', "u\u{308}")),
        ("entities", each(&|c| if c == ' ' { c.to_string() } else { format!("&#{};", u32::from(c)) })),
        ("named", question.replace('é', "&eacute;").replace('ü', "&uuml;").replace('\'', "&apos;")),
        ("percent", percent("%20")),
        ("plus", percent("+")),
        ("line-ends", question.replace(' ', "\\n")),
        ("escapes", question.replace('é', "\\u00e9").replace('ü', "\\u00fc")),
        ("bold", parts("**", "**")),
        ("italic", parts("*", "*")),
        ("elements", parts("<b>", "</b>")),
        ("wide", question.replace(' ', "\u{3000}")),
    ];
    let rows: Vec<Value> = hidden.iter().map(|(id, text)| json!({"id": id, "text": text})).collect();
    folder.write("train.jsonl", lines(&rows));
    let expected: BTreeSet<String> = hidden.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(folder.contaminated("train.jsonl", &["rows.jsonl"], "out"), expected);
    let exact = folder.read("out/hits.jsonl").lines().filter(|line| line.contains("\"exact\"")).count();
    assert_eq!(exact, hidden.len());
    // Places are those of the text as written, and the same holds with a benchmark that hides its words.
    for line in folder.read("out/hits.jsonl").lines().filter(|line| line.contains("\"exact\"")) {
        let hit: Value = serde_json::from_str(line).unwrap();
        let text = &hidden.iter().find(|(id, _)| hit["train_id"] == *id).unwrap().1;
        let at = |end: usize| usize::try_from(hit["train_spans"][0]["bytes"][end].as_u64().unwrap()).unwrap();
        assert!(text.get(at(0)..at(1)).is_some() && at(0) < 4 && text.len() - at(1) < 12, "{line}");
    }
    folder.write("plain.jsonl", lines(&[json!({"id": "plain", "text": question})]));
    assert_eq!(folder.contaminated("plain.jsonl", &["train.jsonl"], "turned"), ids(&["plain"]));
}

#[test]
fn words_whose_letters_are_all_marked_or_escaped_are_found() {
    let folder = Folder::new();
    folder.write("rows.jsonl", lines(&[json!({"id": "tide", "text": TIDE})]));
    let letters = |by: &dyn Fn(char) -> String| -> String {
        TIDE.chars().map(|c| if c.is_alphabetic() { by(c) } else { c.to_string() }).collect()
    };
    let around = |open: &str, close: &str| letters(&|c| format!("{open}{c}{close}"));
    let inside = |hidden: &str| {
        let words = TIDE.split(' ').map(|word| format!("{}{hidden}{}", &word[..1], &word[1..]));
        words.collect::<Vec<_>>().join(" ")
    };
    let hidden = [
        ("elements", around("<b>", "</b>")),
        ("nested", around("<i><span class=\"x\">", "</span></i>")),
        ("escaped-elements", around("&lt;b&gt;", "&lt;/b&gt;")),
        ("strong", around("**", "**")),
        ("emphasis", around("*", "*")),
        ("underscores", around("__", "__")),
        ("escaped-strong", around("&#42;&#42;", "&#42;&#42;")),
        ("every-other", letters(&|c| if "aeiou".contains(c) { format!("**{c}**") } else { c.to_string() })),
        ("colour", around("\u{1b}[31m", "\u{1b}[0m")),
        ("written-colour", around("\\x1b[31m", "\\x1b[0m")),
        ("python", letters(&|c| format!("\\U{:08x}", u32::from(c)))),
        ("javascript", letters(&|c| format!("\\u{{{:x}}}", u32::from(c)))),
        ("no-semicolon", letters(&|c| format!("&#{}", u32::from(c)))),
        ("comments", inside("<!-- -->")),
        ("null", inside("\0")),
        ("escape", inside("\u{1b}")),
        ("delete", inside("\u{7f}")),
        ("c1", inside("\u{9c}")),
        ("shorthand", inside("\u{1bca0}")),
        ("unassigned", inside("\u{fff4}")),
        ("object", inside("\u{fffc}")),
        ("coded-control", inside("&#1;")),
    ];
    let rows: Vec<Value> = hidden.iter().map(|(id, text)| json!({"id": id, "text": text})).collect();
    folder.write("train.jsonl", lines(&rows) + &lines(&[json!({"id": "clean", "text": OTHER})]));
    let expected: BTreeSet<String> = hidden.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(folder.contaminated("train.jsonl", &["rows.jsonl"], "out"), expected);
    let exact = folder.read("out/hits.jsonl").lines().filter(|line| line.contains("\"exact\"")).count();
    assert_eq!(exact, hidden.len());
}
