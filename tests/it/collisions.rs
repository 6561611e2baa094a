//! Tests that content which was made to collide stays apart: two doc lists, two records under `forget`, two cells under
//! redaction; and that what is stored under ids of an earlier form is refused.
//!
//! The texts have one xxh3-128. In the first block of 1,024 bytes it multiplies both halves of eight bytes with each other,
//! after an exclusive or with bytes of a secret that is public. Where the upper half is the secret's, the product is 0
//! whatever the lower half is, so the lower halves of two such places can be swapped.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{callsieve, copy_folder, shown, text_of};
use callsieve::engine::frame::FrameFile;
use callsieve::engine::seal::{Sealed, read_sealed, write_sealed};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_128;

/// The first byte of the first and of the second word that are swapped.
const PLACES: [usize; 2] = [704, 896];
/// What follows the words: a byte of the lower half, and the secret's bytes as characters.
const AFTER: [&str; 2] = ["\u{a9}\u{7ac}\u{628}", " \u{374}Y1"];

/// Returns two texts with one xxh3-128, which differ in the order of two words of three letters. Before a word the text
/// is filled up, and ends with `leads`.
fn colliding(
    start: &str,
    filler: &str,
    leads: [&str; 2],
    between: &str,
    end: &str,
    words: [&str; 2],
) -> [String; 2] {
    let text = |words: [&str; 2]| {
        let mut text = start.to_owned();
        for nth in 0..2 {
            let before = PLACES[nth] - leads[nth].len();
            assert!(text.len() <= before && words[nth].len() == 3, "{} > {before}", text.len());
            text.extend(filler.chars().cycle().take(before - text.len()));
            text += leads[nth];
            text += words[nth];
            text += AFTER[nth];
            text += if nth == 0 { between } else { end };
        }
        text
    };
    let [one, other] = [text(words), text([words[1], words[0]])];
    assert_ne!(one, other);
    assert_eq!(xxh3_128(one.as_bytes()), xxh3_128(other.as_bytes()), "the texts collide:\n{one}\n{other}");
    [one, other]
}

/// A folder with a log, in which runs are made.
struct Home(tempfile::TempDir);

impl Home {
    fn with_log(lines: &[String]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::write(home.path("log.jsonl"), lines.join("\n") + "\n").unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn call(&self, arguments: &[&str]) -> Output {
        callsieve().current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    /// Runs the recipe on the log, on one thread, into a folder.
    fn run(&self, out: &str) -> PathBuf {
        let output = self.call(&["run", "-q", "--threads", "1", "log.jsonl", "--out", out]);
        assert!(self.path(out).join("report.json").exists(), "{}", shown(&output));
        self.path(out)
    }
}

fn cells(table: &Path, columns: &[&str]) -> Vec<Vec<String>> {
    let frame = FrameFile::open(table).unwrap().read_all().unwrap();
    let cell = |row, name: &&str| frame.texts(name).unwrap().get(row).unwrap_or_default().to_owned();
    (0..frame.height()).map(|row| columns.iter().map(|name| cell(row, name)).collect()).collect()
}

fn request(id: &str, seconds: u32, prompt: &str, functions: &str, response: &str) -> String {
    let row = json!({"id": id, "ts": 1_700_000_000 + seconds, "prompt": prompt, "function": functions, "response": response});
    row.to_string()
}

#[test]
fn a_request_is_exported_with_its_own_functions() {
    let start = r#"[{"name":"switch_lamp","description":"Switches the lamp of the pier"#;
    let between = r#"","parameters":{"type":"dict","required":["state"],"properties":{"state":{"type":"string","description":"The state of the lamp"#;
    let end = format!(" {}\"}}}}}}}}]", ".".repeat(250));
    let leads = [" To put it out use the value ", " To light it use the value "];
    let lists = colliding(start, ".", leads, between, &end, ["QQQ", "ZZZ"]);
    let home = Home::with_log(&[
        request("a", 0, "Light the lamp at the end of the pier now", &lists[0], "[switch_lamp(state='ZZZ')]"),
        request(
            "b",
            90,
            "Kindly put out our pier lamp, nobody is fishing tonight",
            &lists[1],
            "[switch_lamp(state='ZZZ')]",
        ),
    ]);
    // Without the stages that merge similar lists.
    let kinds = [
        "redact",
        "collapse-conversations",
        "parse-docs",
        "merge-exact-docs",
        "fix-docs",
        "draft-answers",
        "split",
    ];
    let stages: Vec<String> = kinds.iter().map(|kind| format!("[[stages]]\nkind = \"{kind}\"\n")).collect();
    std::fs::write(home.path("p.toml"), format!("name = \"lists\"\n{}[export]\n", stages.concat())).unwrap();
    let output = home.call(&["run", "-q", "p.toml", "--input", "log.jsonl", "--out", "out"]);
    let run = home.path("out");
    assert!(run.join("report.json").exists(), "{}", shown(&output));
    assert_eq!(cells(&run.join("lists.parquet"), &["list_id"]).len(), 2, "two lists");
    let mut n_entries = 0;
    for set in ["scored", "unverified"] {
        for entry in cells(&run.join(format!("dataset/data/{set}.parquet")), &["question", "function"]) {
            let words = if entry[0].contains("Light") { ["QQQ", "ZZZ"] } else { ["ZZZ", "QQQ"] };
            let [first, second] = words.map(|word| entry[1].find(word).unwrap());
            assert!(first < second, "{entry:?}");
            n_entries += 1;
        }
    }
    assert_eq!(n_entries, 2);
}

const NOTE: &str = r#"[{"name":"send_note","description":"Sends a note to somebody.","parameters":{"type":"dict","required":["text"],"properties":{"text":{"type":"string","description":"What it says."}}}}]"#;

#[test]
fn a_record_is_forgotten_alone() {
    let start = format!(
        r#"{{"id":"r1","ts":1700000000,"function":{},"response":"[send_note(text='x')]","prompt":"Send a note about the "#,
        Value::from(NOTE)
    );
    let filler = "harvest of the orchard on the far side of the brook and ";
    let end = format!(" {}\"}}", filler.repeat(4));
    let records = colliding(&start, filler, [" ", " "], " and the ", &end, ["fig", "nut"]);
    let home = Home::with_log(&records);
    let run = home.run("out");
    let ids = cells(&run.join("rows.parquet"), &["request_id"]).concat();
    assert_eq!(ids.len(), 2);
    let output = home.call(&["forget", "out", "--id", &ids[0]]);
    assert!(shown(&output).contains("forgotten 1 request"), "{}", shown(&output));
    let left = cells(&run.join("rows.parquet"), &["request_id"]).concat();
    assert!(left.contains(&ids[1]) && !left.contains(&ids[0]), "{ids:?} {left:?}");
    // The other one is read again, and the forgotten one is not.
    home.call(&["run", "-q", "--fresh", "log.jsonl", "--out", "out"]);
    assert_eq!(cells(&run.join("rows.parquet"), &["request_id"]).concat(), [ids[1].clone()]);
}

#[test]
fn a_number_is_replaced_after_a_decoy_was_read() {
    const START: &str = r#"[{"role":"user","content":""#;
    const END: &str = r#""}]"#;
    let start = format!("{START}Send a note about the boat race on the lake. ");
    let filler = "there will be soup and bread and songs for the crews and a swim for the brave ones ";
    let end = format!(" {}{END}", filler.repeat(4));
    let cells = colliding(&start, filler, [" ", " my number is +49 1512 398 4"], "", &end, ["527", "abc"]);
    // The decoy has the letters in its number, and is read first.
    assert!(cells[1].contains("398 4527") && cells[0].contains("398 4abc"), "{cells:?}");
    let prompt = |cell: &String| cell.strip_prefix(START).unwrap().strip_suffix(END).unwrap().to_owned();
    let home = Home::with_log(&[
        request("decoy", 0, &prompt(&cells[0]), NOTE, "[send_note(text='x')]"),
        request("real", 1, &prompt(&cells[1]), NOTE, "[send_note(text='x')]"),
    ]);
    let run = home.run("out");
    let texts = text_of(&run);
    let raw: Vec<&String> =
        texts.iter().filter(|(_, text)| text.contains("398 4527")).map(|(name, _)| name).collect();
    assert_eq!(raw, [""; 0], "the number is raw");
    assert!(texts.iter().any(|(name, text)| name.contains("/BFCL_") && text.contains("my number is +49")));
}

/// Makes a run look like one of an earlier build, which has ids of another form.
fn age(run: &Path, has_marker: bool) {
    let path = run.join("run.json");
    let Sealed { mut value, files, .. } = read_sealed::<Map<String, Value>>(&path).unwrap();
    assert_eq!(value.remove("format"), Some(json!(2)));
    write_sealed(&path, &value, &files).unwrap();
    let marker = run.join(".callsieve");
    let text = std::fs::read_to_string(&marker).unwrap();
    assert!(text.starts_with("callsieve run folder, format 2\n"), "{text}");
    if has_marker {
        std::fs::write(&marker, text.replace("format 2", "format 1")).unwrap();
    } else {
        std::fs::remove_file(&marker).unwrap();
    }
}

#[test]
fn a_run_with_ids_of_an_earlier_form_is_refused_by_every_command_that_reads_one() {
    let home = Home::with_log(&[request(
        "a",
        0,
        "Send a note that the tide is low",
        NOTE,
        "[send_note(text='low')]",
    )]);
    let run = home.run("new");
    for (name, has_marker) in [("old", true), ("bare", false)] {
        copy_folder(&run, &home.path(name));
        age(&home.path(name), has_marker);
        let baseline = ["run", "-q", "log.jsonl", "--out", "next", "--baseline", name];
        let frozen = [&baseline[..], &["--freeze"]].concat();
        let mut calls: Vec<Vec<&str>> = vec![
            vec!["why", name, "a"],
            vec!["held", name],
            vec!["held", name, "--unverified"],
            vec!["diff", name],
            vec!["report", name],
            vec!["compare", name, "new"],
            vec!["compare", "new", name],
            baseline.to_vec(),
            frozen,
        ];
        if has_marker {
            calls.push(vec!["run", "-q", "log.jsonl", "--out", name]);
            calls.push(vec!["run", "-q", "log.jsonl", "--out", name, "--fresh"]);
            calls.push(vec!["forget", name, "--id", "a"]);
            calls.push(vec!["purge", name, "--raw"]);
            calls.push(vec!["verify", name]);
        }
        for call in calls {
            let output = home.call(&call);
            let text = shown(&output);
            let refusal = format!(
                "{name} is a run folder of format 1, and this build supports format 2\nhint: its ids have an earlier form; make the run again"
            );
            assert!(output.status.code() == Some(2) && text.contains(&refusal), "{call:?}: {text}");
        }
        assert!(!home.path("next").join("dataset").exists());
    }
    // Without run.json nothing tells the form of the ids.
    copy_folder(&run, &home.path("part"));
    for file in ["run.json", ".callsieve"] {
        std::fs::remove_file(home.path("part").join(file)).unwrap();
    }
    let output = home.call(&["run", "-q", "log.jsonl", "--out", "next", "--baseline", "part"]);
    assert!(shown(&output).contains("hint: name part/dataset"), "{}", shown(&output));
}
