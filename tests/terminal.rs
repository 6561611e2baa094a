//! Tests of the output on a terminal: snapshots of screens of 80 and 120 columns, colours, control sequences, and
//! output that cannot be written.
//!
//! No text of a row, name of a file or argument may control the terminal: every command runs with hostile ones on a
//! pseudo terminal.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod support;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nix::pty::{Winsize, openpty};
use serde_json::{Value, json};
use support::{callsieve, output, shown, without_figures};

/// A hostile text: sets the clipboard, clears the line, sets colours, moves back, changes the direction, hides.
const HOSTILE: &str = "EVIL\u{1b}]52;c;cm0=\u{7}\u{1b}]0;title\u{1b}\\\u{1b}[1A\u{1b}[2K\u{1b}[35m\u{9b}35m\u{8}\r\u{7f}\u{85}\u{202e}\u{2066}\u{200f}\u{2028}\u{200b}\u{feff}\u{e0041}";
/// The beginnings of its displayed form, as text and in JSON.
const AS_TEXT: &str = "EVIL\\x1b]52;";
const AS_JSON: &str = "EVIL\\u001b]52;";

/// The sequences with which the program and its argument parser style text …
const COLOURS: [&str; 8] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[4m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[36m",
];
/// … and those with which progress bars move the cursor.
const BARS: [&str; 3] = ["\r\u{1b}[2K", "\u{1b}[2K", "\u{1b}[1A"];

/// Returns the output of a command on a terminal, and its exit code.
fn on_terminal(arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = callsieve();
    command.args(arguments).env_remove("NO_COLOR").env("TERM", "xterm-256color");
    // Wide enough that nothing is shortened.
    written_on_terminal(command, 400)
}

/// Returns the output of a command on a terminal of `columns` columns, and its exit code.
fn written_on_terminal(mut command: Command, columns: u16) -> (String, Option<i32>) {
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    command.stdin(Stdio::null()).stdout(pty.slave.try_clone().unwrap()).stderr(pty.slave);
    let mut child = command.spawn().unwrap();
    // Otherwise the terminal would have a writer until the end of this test.
    drop(command);
    let mut bytes = Vec::new();
    // Linux reports the end of a terminal without writers as an error.
    let _ = File::from(pty.master).read_to_end(&mut bytes);
    (String::from_utf8(bytes).expect("UTF-8"), child.wait().unwrap().code())
}

/// Returns `true` if a character can control a terminal or is invisible. The list is independent of the program's.
fn is_dangerous(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || "\u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\u{2060}\u{feff}".contains(c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
        || ('\u{e0000}'..='\u{e007f}').contains(&c)
}

/// Returns the position of a sequence that the program itself does not use.
fn danger(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some(at) = rest.find(is_dangerous) {
        let found = &rest[at..];
        // A terminal converts the end of a line to two characters.
        let own = ["\r\n"].iter().chain(&COLOURS).chain(&BARS).find(|own| found.starts_with(**own));
        match own {
            Some(own) => rest = &found[own.len()..],
            None => return Some(found),
        }
    }
    None
}

/// The inputs of the commands, with hostile texts in all places.
struct Surroundings {
    folder: tempfile::TempDir,
    log: String,
    table: String,
    docs: String,
    bfcl: String,
    audit: String,
    labels: String,
    pipeline: String,
    run: String,
    other_run: String,
    sets: String,
    id: String,
}

impl Surroundings {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let hostile = |start: &str| format!("{start} {HOSTILE}");
        let this = Self {
            log: path(&format!("{HOSTILE} log.jsonl")),
            table: path(&format!("{HOSTILE} table.csv")),
            docs: path(&format!("{HOSTILE} docs.jsonl")),
            bfcl: path("BFCL_v4_live_simple.json"),
            audit: path(&format!("{HOSTILE} audit")),
            labels: path(&format!("{HOSTILE} labels.jsonl")),
            pipeline: path(&format!("{HOSTILE}.toml")),
            run: path(&format!("{HOSTILE} run")),
            other_run: path(&format!("{HOSTILE} other run")),
            sets: path(&format!("{HOSTILE} sets")),
            id: hostile("r1"),
            folder,
        };
        let parameter = json!({"type": HOSTILE, "description": hostile("How often."), "default": HOSTILE});
        let function = |name: &str, times: &Value| {
            json!({"name": name, "description": hostile("Rings the bell of a town."), "title": HOSTILE,
                "parameters": {"type": "object", "properties": {"town": {"type": "string", "description": "Which."},
                "times": times, (HOSTILE): {"type": "str", "enum": [HOSTILE]}}, "required": ["town", HOSTILE]}})
        };
        let integer = json!({"type": "integer", "description": hostile("How often."), "default": HOSTILE});
        let call = json!({"name": "ring", "arguments": {"town": HOSTILE, (HOSTILE): HOSTILE}});
        let row = |id: &str, query: &str, function: &Value| {
            json!({"id": id, "user": HOSTILE, "session": HOSTILE, "model": HOSTILE, "query": hostile(query),
                "functions": json!([function]).to_string(), "response": call})
        };
        let rows = [
            row(&this.id, "Ring the bell of Bergen three times, please", &function("ring", &integer)),
            row("r2", "Ring the bells of Oslo at noon on Sunday", &function(HOSTILE, &parameter)),
            row("r3", "Ring the bell of Bergen three times, please, now", &function("ring", &integer)),
            json!({"id": HOSTILE, "query": HOSTILE, "functions": HOSTILE}),
            json!({ (HOSTILE): HOSTILE }),
        ];
        let mut lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        lines += &format!("{{broken {HOSTILE}\n");
        std::fs::write(&this.log, &lines).unwrap();
        let table = format!("{HOSTILE},{HOSTILE} b\nRing {HOSTILE},\"[{{}}]\"\nx,y,z\n");
        std::fs::write(&this.table, table.replace('\r', "")).unwrap();
        let docs =
            json!({"id": HOSTILE, "function": [function("ring", &integer), function(HOSTILE, &parameter)]});
        std::fs::write(&this.docs, format!("{docs}\n{{\"id\": \"b\", \"function\": {HOSTILE}\n")).unwrap();
        let question = json!([[{"role": "user", "content": HOSTILE}]]);
        let entry = json!({"id": HOSTILE, "question": question, "function": [function(HOSTILE, &parameter)]});
        std::fs::write(&this.bfcl, format!("{entry}\n")).unwrap();
        let label = json!({"id": HOSTILE, "label": "relevant"});
        std::fs::write(&this.labels, format!("{label}\n")).unwrap();
        let pipeline = format!("name = \"x\"\n# {HOSTILE}\n[[stages]]\nkind = \"{HOSTILE}\n");
        std::fs::write(&this.pipeline, pipeline.replace('\r', "")).unwrap();
        this
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// The text that a command must show.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Shows {
    /// No hostile text is required.
    Nothing,
    /// Hostile text, as text.
    Text,
    /// Hostile text, as JSON.
    Json,
}

fn call(words: &[&str], shows: Shows) -> (Vec<String>, Shows) {
    (words.iter().map(|&word| word.to_owned()).collect(), shows)
}

/// Returns all commands, each with the ways in which data, names and arguments get into its output.
#[allow(clippy::too_many_lines)] // A table of commands.
fn commands(at: &Surroundings) -> Vec<(Vec<String>, Shows)> {
    use Shows::{Json, Nothing, Text};
    let missing = at.path().join(format!("{HOSTILE} missing")).to_str().unwrap().to_owned();
    let decided = at.path().join(format!("{HOSTILE} decided.jsonl")).to_str().unwrap().to_owned();
    let at_line = |line: usize| format!("{}:{line}", at.log);
    let drafted = at.path().join(format!("{HOSTILE} drafted.toml")).to_str().unwrap().to_owned();
    let own = format!("{HOSTILE} licence");
    let parted = at.path().join(format!("{HOSTILE} parts")).to_str().unwrap().to_owned();
    vec![
        call(&["inspect", &at.log], Nothing),
        call(&["inspect", &at.log, "--json"], Json),
        call(&["inspect", &at.table], Nothing),
        call(&["inspect", &missing], Text),
        call(&["init", &at.log, "--out", "-"], Nothing),
        call(&["init", &at.table, "--out", &drafted], Text),
        call(&["init", &at.table, "--out", &drafted], Text),
        call(&["plan", "--input", &at.log], Text),
        call(&["plan", "--input", &missing], Text),
        call(&["plan", &at.pipeline], Text),
        call(&["plan", "--set", HOSTILE], Text),
        call(&["plan", "--set", &format!("{HOSTILE}.x=1")], Text),
        call(&["run", "--input", &missing], Text),
        call(&["run", "--input", &at.log, "--out", &at.run, "--set", "max_fault_share=0.0"], Text),
        call(&["run", "--input", &at.log, "--out", &at.run, "--quiet"], Shows::Nothing),
        call(&["run", "--input", &at.log, "--out", &at.other_run, "--set", "seed=7"], Text),
        call(&["run", "--input", &at.log, "--threads", HOSTILE], Text),
        call(&["run", HOSTILE, "--baseline", HOSTILE], Text),
        call(&["run", "--input", &at.log, "--part", HOSTILE], Text),
        call(&["run", "--input", &at.log, "--out", &parted, "--part", "1/1"], Text),
        call(&["merge", &parted, "--until", HOSTILE], Text),
        call(&["merge", &parted, "--until", "drop-spam"], Text),
        call(&["merge", &parted], Text),
        call(&["merge", &missing], Text),
        call(&["push", &at.run, HOSTILE], Text),
        call(&["push", &missing, "owner/name"], Text),
        call(&["man"], Nothing),
        call(&["why", &at.run, &at.id], Text),
        call(&["why", &at.run, &at.id, "--full"], Text),
        call(&["why", &at.run, &at_line(2)], Text),
        call(&["why", &at.run, &at_line(3)], Text),
        call(&["why", &at.run, &at_line(4)], Text),
        call(&["why", &at.run, &at_line(6)], Text),
        call(&["why", &at.run, HOSTILE], Text),
        call(&["why", &missing, "r1"], Text),
        call(&["verify", &at.run], Nothing),
        call(&["verify", &at.run, "--json"], Json),
        call(&["verify", &missing], Text),
        call(&["report", &at.run], Nothing),
        call(&["report", &at.run, "--json"], Nothing),
        call(&["report", &at.run, "--markdown"], Nothing),
        call(&["report", &at.run, "--html"], Text),
        call(&["report", &missing], Text),
        call(&["fix", &at.docs], Text),
        call(&["fix", &at.docs, "--diff", "--safe-only"], Text),
        call(&["fix", &at.docs, "--json", "--quiet"], Json),
        call(&["fix", &missing], Text),
        call(&["diff", &at.run, "--each", "100"], Text),
        call(&["diff", &at.run, "--json"], Json),
        call(&["held", &at.run], Nothing),
        call(&["held", &at.run, "--format", "csv"], Nothing),
        call(&["held", &at.run, "--unverified", "--format", "jsonl"], Nothing),
        // Without decisions: the page itself would not end.
        call(&["review", &at.run, "--export", &decided], Text),
        call(&["review", &at.run, "--export", &at.log], Text),
        // The name is quoted with its characters escaped.
        call(&["review", &at.run, "--reviewer", HOSTILE], Nothing),
        call(&["review", &at.run, "--reason", HOSTILE], Text),
        call(&["review", &missing], Text),
        call(&["held", &at.run, "--id", HOSTILE], Text),
        call(&["held", &at.run, "--reason", HOSTILE], Text),
        call(&["diff", &at.run, "--reason", HOSTILE], Text),
        call(&["check", &at.bfcl], Text),
        call(&["check", &at.bfcl, "--json"], Json),
        call(&["check", &at.bfcl, "--rules", "official-linter"], Text),
        call(&["check", &at.bfcl, "--rule", HOSTILE], Text),
        call(&["check", &at.run], Text),
        call(&["check", &missing], Text),
        call(&["evaluate", "--dataset", &missing, "--results", &at.docs], Text),
        call(&["evaluate", "--dataset", &at.run, "--results", &at.docs], Text),
        call(&["audit", "--train", &at.log, "--bench", &at.bfcl, "--out", &at.audit], Text),
        call(&["audit", "--train", &missing, "--bench", &at.bfcl], Text),
        call(&["audit", "--train", &at.log, "--bench", &missing], Text),
        call(&["pairs", &at.log, "--field", "query", "--id-field", "id"], Text),
        call(&["pairs", &at.log, "--field", "query", "--id-field", "user", "--quiet"], Json),
        call(&["pairs", &at.log, "--field", "query", "--id-field", "id", "--clusters", "--quiet"], Json),
        call(&["pairs", &at.log, "--field", HOSTILE, "--metric", "cosine"], Text),
        call(&["pairs", &missing, "--field", "query"], Text),
        call(&["compare", &at.run, &at.other_run, "--examples", "9"], Text),
        call(&["compare", &at.run, &at.other_run, "--json"], Json),
        call(&["compare", &at.run, &missing], Text),
        call(&["stages"], Nothing),
        call(&["stages", "--json"], Nothing),
        call(&["stages", HOSTILE], Text),
        call(
            &["sets", "add", "own", &at.log, "--dir", &at.sets, "--format", "columns", "--licence", &own],
            Text,
        ),
        call(&["sets", "add", "own", &at.log, "--dir", &at.sets, "--json"], Json),
        call(&["sets", "add", HOSTILE, &missing, "--dir", &at.sets], Text),
        call(&["sets", "list", "--dir", &at.sets], Text),
        call(&["sets", "list", "--dir", &at.sets, "--json"], Json),
        call(&["sets", "status", "own", "--dir", &at.sets], Text),
        call(&["sets", "status", "own", "--dir", &at.sets, "--json"], Json),
        call(&["sets", "status", HOSTILE, "--dir", &at.sets], Text),
        call(&["sets", "remove", "own", "--dir", &at.sets], Text),
        call(&["explain"], Nothing),
        call(&["explain", "docs/near-duplicate"], Nothing),
        call(&["explain", HOSTILE], Text),
        call(&["calibrate", "--bfcl", HOSTILE], Nothing),
        call(&["calibrate", "--bfcl", &at.bfcl], Nothing),
        call(&["calibrate", "--run", &at.run, "--labels", &at.labels], Text),
        call(&["calibrate", "--precision", HOSTILE], Text),
        call(&["batch", "import", &missing], Text),
        call(&["batch", "export", &missing], Text),
        call(&["cache", "prune", "--older-than", HOSTILE], Text),
        call(&["schema"], Nothing),
        call(&["completions", "bash"], Nothing),
        call(&["completions", HOSTILE], Text),
        call(&["forget", &at.run, "--id", HOSTILE], Text),
        call(&["forget", &at.run, "--id", &at.id], Text),
        call(&["forget", &at.other_run, "--id", &at.id, "--json"], Json),
        call(&["why", &at.run, &at_line(1)], Text),
        call(&["purge", &at.other_run, "--raw", "--everything", "--json"], Json),
        call(&["purge", &at.run, "--raw", "--everything"], Nothing),
        call(&["purge", &missing, "--raw"], Text),
        call(&["why", &at.run, "r2"], Text),
        call(&["help"], Nothing),
        call(&["--help"], Nothing),
        call(&[HOSTILE], Text),
        call(&["run", &format!("--{HOSTILE}")], Text),
    ]
}

/// Calls of `fix` with several files, a folder and the forms of other APIs.
fn fix_commands(at: &Surroundings) -> [(Vec<String>, Shows); 4] {
    let missing = at.path().join(format!("{HOSTILE} missing")).to_str().unwrap().to_owned();
    [
        call(&["fix", &at.docs, "--as", "gemini", "--diff"], Shows::Text),
        call(&["fix", &at.docs, &missing], Shows::Text),
        call(&["fix", &at.docs, &missing, "--json", "--as", "openai", "--quiet"], Shows::Json),
        call(&["fix", at.path().to_str().unwrap()], Shows::Text),
    ]
}

/// Calls of the commands that make rows.
fn maker_commands(at: &Surroundings) -> [(Vec<String>, Shows); 8] {
    let below = |name: &str| at.path().join(name).to_str().unwrap().to_owned();
    let (missing, out) = (below(&format!("{HOSTILE} missing")), below("made"));
    let environment = below(&format!("{HOSTILE} environment.toml"));
    std::fs::write(&environment, "name = 'a'\n[tables.a]\nkey = 3\n").unwrap();
    [
        call(&["collect", &at.docs, "--out", &out], Shows::Nothing),
        call(&["collect", &missing, "--out", &out], Shows::Text),
        call(&["collect", "--mcp", &missing, "--out", &out], Shows::Nothing),
        call(&["generate", &missing, "--out", &out], Shows::Text),
        call(&["generate", &environment, "--out", &out], Shows::Text),
        call(&["annotate", &missing, "--model", HOSTILE], Shows::Text),
        call(&["judge", &missing, "--model", HOSTILE], Shows::Text),
        call(
            &["apibench", &missing, "--hub", "torch-hub", "--database", &missing, "--questions", &missing],
            Shows::Text,
        ),
    ]
}

/// Calls of `probe` and `retrieve` on a collection whose names, paths and addresses are hostile. Nothing is sent.
fn probe_commands(at: &Surroundings) -> [(Vec<String>, Shows); 7] {
    let below = |name: &str| at.path().join(name).to_str().unwrap().to_owned();
    let (missing, apis) = (below(&format!("{HOSTILE} missing")), below("apis"));
    let function = |method: &str| json!({"name": HOSTILE, "method": method, "path": format!("/{HOSTILE}")});
    let tool = json!({"name": HOSTILE, "host": format!("https://{HOSTILE}"),
        "functions": [function("GET"), function(HOSTILE)]});
    std::fs::create_dir_all(at.path().join("apis/dataset")).unwrap();
    std::fs::write(at.path().join("apis/dataset/tools.jsonl"), format!("{tool}\n")).unwrap();
    let allow = ["--allow", "127.0.0.1:9"];
    let of = |more: &[&str], shows| call(&[&["probe"], more, &allow[..]].concat(), shows);
    [
        of(&[&apis, "--dry-run"], Shows::Text),
        of(&[&apis], Shows::Text),
        of(&[&missing], Shows::Text),
        of(&[&apis, "--header", HOSTILE], Shows::Nothing),
        call(&["retrieve", &apis, HOSTILE], Shows::Text),
        call(&["retrieve", &apis, HOSTILE, "--json"], Shows::Json),
        call(&["retrieve", &missing, HOSTILE], Shows::Text),
    ]
}

/// Returns the JSON values in a text, ignoring the text around them.
fn values(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap_or_else(|error| {
        panic!("{error}: {text:?}");
    })
}

#[test]
fn no_foreign_text_acts_on_the_terminal_for_any_command() {
    let at = Surroundings::new();
    let mut walked = BTreeSet::new();
    let makers = maker_commands(&at).into_iter().chain(probe_commands(&at));
    for (arguments, shows) in fix_commands(&at).into_iter().chain(makers).chain(commands(&at)) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (text, code) = on_terminal(&words);
        assert_eq!(danger(&text), None, "{words:?}: {text:?}");
        assert!(matches!(code, Some(0..=3)), "{words:?} ended with {code:?}: {text}");
        match shows {
            Shows::Nothing => {}
            Shows::Text => assert!(text.contains(AS_TEXT), "{words:?}: {text}"),
            // Messages of standard error may be around it.
            Shows::Json => {
                let json: String = text.lines().filter(|line| line.starts_with('{')).collect();
                assert!(json.contains(AS_JSON) && !values(&json).is_empty(), "{words:?}: {text}");
            }
        }
        walked.insert(arguments[0].clone());
    }
    let help = String::from_utf8(output(&["--help"]).stdout).unwrap();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let all: Vec<&str> = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let all: Vec<&str> = all.into_iter().filter(|name| !name.is_empty()).collect();
    assert!(all.len() > 15, "{help}");
    for name in all {
        assert!(walked.contains(name), "no call of `{name}` is walked");
    }
    assert_files_are_harmless(&at);
}

/// Asserts that the files for people are harmless: the page, the card, a drafted pipeline.
fn assert_files_are_harmless(at: &Surroundings) {
    let run = PathBuf::from(&at.run);
    let drafted = at.path().join(format!("{HOSTILE} drafted.toml"));
    for file in [run.join("report.html"), run.join("dataset/README.md"), drafted] {
        let text = std::fs::read_to_string(&file).unwrap();
        let found = text.find(is_dangerous).map(|at| &text[at..]);
        assert_eq!(found, None, "{}", file.display());
    }
}

#[test]
fn json_on_a_terminal_has_the_values_that_a_pipe_gets() {
    let at = Surroundings::new();
    let run = ["run", "--quiet", "--input", &at.log, "--out", &at.run];
    assert!(matches!(output(&run).status.code(), Some(0..=1)));
    for arguments in [
        &["report", &at.run, "--json"][..],
        &["diff", &at.run, "--json"],
        &["fix", &at.docs, "--json", "--quiet"],
        &["check", &at.bfcl, "--json"],
        &["compare", &at.run, &at.run, "--json"],
        &["stages", "--json"],
        &["schema"],
    ] {
        let piped = output(arguments);
        let piped = String::from_utf8(piped.stdout).unwrap();
        let (shown, _) = on_terminal(arguments);
        assert!(!piped.is_empty() && values(&piped) == values(&shown), "{arguments:?}: {shown}");
        // A pipe receives compact JSON.
        assert!(!piped.contains("\\u202e"), "{arguments:?}: {piped}");
    }
}

#[test]
fn the_terminal_shows_colours_and_the_parser_of_arguments_keeps_its_own() {
    let at = Surroundings::new();
    let (text, _) = on_terminal(&["fix", &at.docs]);
    assert!(text.contains("\u{1b}[1m") && text.contains("\u{1b}[32m"), "{text:?}");
    let (text, code) = on_terminal(&["run", "--thread", "1"]);
    assert!(text.contains("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m") && code == Some(2), "{text:?}");
    let piped = output(&["fix", &at.docs, "--diff"]);
    assert!(!shown(&piped).contains('\u{1b}'), "{}", shown(&piped));
}

/// Returns the width of the longest line of a screen, in characters. Commands are one line, so that they can be copied.
fn widest(screen: &str) -> usize {
    let is_command = |line: &&str| line.starts_with("  get ") && line.contains("callsieve");
    screen.lines().filter(|line| !is_command(line)).map(|line| line.chars().count()).max().unwrap_or(0)
}

/// The screens that show figures of the sample run; only their layout is tested here.
const OF_FIGURES: [&str; 4] = ["report", "compare", "check", "verify"];

#[test]
fn screens_fit_80_and_120_columns() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    support::run_sample(&out, &[]);
    support::run_sample(&folder.path().join("other"), &["--set", "merge-near-docs.threshold=0.6"]);
    small_log(folder.path());
    // In the folder, so that no path depends on the machine.
    let commands: [(&str, &[&str]); 16] = [
        ("report", &["report", "run"]),
        ("plan", &["plan", "--input", "log.jsonl"]),
        ("compare", &["compare", "run", "other", "--examples", "1"]),
        ("diff", &["diff", "run", "--each", "1"]),
        ("check", &["check", "run"]),
        ("stages", &["stages", "split"]),
        ("inspect", &["inspect", "log.jsonl"]),
        ("explain", &["explain"]),
        ("held", &["held", "run", "--limit", "4"]),
        ("unverified", &["held", "run", "--unverified", "--limit", "2"]),
        ("why", &["why", "run", "r0012"]),
        ("why_held", &["why", "run", "r0004"]),
        ("sets_list", &["sets", "list"]),
        ("fix", &["fix", "log.jsonl", "--diff"]),
        ("verify", &["verify", "run"]),
        ("forget", &["forget", "RUN", "--id", "r0012"]),
    ];
    // Estimates of time differ from machine to machine.
    let estimate = regex::Regex::new(r"\d+\.\d+ s, \d+ MiB of memory").unwrap();
    for (name, arguments) in commands {
        for columns in [80, 120] {
            let mut command = callsieve();
            // What is forgotten is gone: last, and each time in another run.
            let run = if columns == 80 { "other" } else { "run" };
            let arguments = arguments.iter().map(|argument| if *argument == "RUN" { run } else { argument });
            command.current_dir(folder.path()).args(arguments.clone());
            let arguments: Vec<&str> = arguments.collect();
            let (screen, code) = written_on_terminal(command, columns);
            assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {screen}");
            assert!(widest(&screen) <= usize::from(columns), "{arguments:?} at {columns}: {screen}");
            let screen: String = screen.lines().map(|line| format!("{line}\n")).collect();
            let screen = estimate.replace(&screen, "N s, N MiB of memory");
            let is_of_figures = |line: &str| OF_FIGURES.contains(&name) || line.starts_with("requests  ");
            let line = |line: &str| if is_of_figures(line) { without_figures(line) } else { line.to_owned() };
            let screen: String = screen.lines().map(|text| line(text) + "\n").collect();
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!(format!("screen_{name}_{columns}"), screen);
            });
        }
    }
    let piped = output(&["report", out.to_str().unwrap()]);
    let piped = String::from_utf8(piped.stdout).unwrap();
    assert!(widest(&piped) <= 80, "{piped}");
    let wide = callsieve().args(["report", out.to_str().unwrap()]).env("COLUMNS", "120").output().unwrap();
    assert!(widest(&String::from_utf8(wide.stdout).unwrap()) > 80, "COLUMNS widens what is piped");
}

#[test]
fn reading_the_inputs_shows_the_share_that_is_read_the_rate_and_the_time_left() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    support::write_long_log(&log, 20_000);
    let mut command = callsieve();
    command
        .current_dir(folder.path())
        .args(["run", "log.jsonl", "--limit", "20000"])
        .env("TERM", "xterm-256color");
    let (screen, code) = written_on_terminal(command, 80);
    assert!(matches!(code, Some(0 | 1)), "{screen}");
    let bars: Vec<&str> = screen.split(['\r', '\n']).filter(|line| line.contains("ingest  ")).collect();
    let is_whole =
        |bar: &&&str| [" %  ", "iB/s  ", " left  ", " lines"].iter().all(|part| bar.contains(part));
    assert!(bars.iter().any(|bar| is_whole(&bar)), "{bars:?}");
}

#[test]
fn colours_follow_the_terminal_and_the_variables_that_people_set() {
    let at = Surroundings::new();
    let run = ["run", "--quiet", "--input", &at.log, "--out", &at.run];
    assert!(matches!(output(&run).status.code(), Some(0 | 1)));
    let report = ["report", &at.run];
    let shown = |variables: &[(&str, &str)], is_terminal: bool| {
        let mut command = callsieve();
        // In CI, colours are shown on any terminal.
        command.args(report).env_remove("NO_COLOR").env_remove("CI").env("TERM", "xterm-256color");
        command.envs(variables.iter().copied());
        if is_terminal {
            return written_on_terminal(command, 80).0;
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(shown(&[], true).contains("\u{1b}[2mstep"), "{}", shown(&[], true));
    for variables in [("NO_COLOR", "1"), ("TERM", "dumb"), ("CLICOLOR", "0")] {
        assert!(!shown(&[variables], true).contains('\u{1b}'), "{variables:?}");
    }
    assert!(!shown(&[], false).contains('\u{1b}'));
    assert!(shown(&[("CLICOLOR_FORCE", "1")], false).contains("\u{1b}[2mstep"));
    let (error, _) = on_terminal(&["why", &at.run, "nobody"]);
    assert!(error.contains("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m no row nobody"), "{error}");
    assert!(error.contains("\u{1b}[36mhint:\u{1b}[0m"), "{error}");
}

/// Opens a device that is always full.
#[cfg(target_os = "linux")]
fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes a log of two rows, for fast runs.
fn small_log(folder: &Path) -> String {
    let at = folder.join("log.jsonl");
    let docs = r#"[{"name": "ring", "description": "Rings the bell of a town.", "parameters": {"type": "dict", "properties": {"town": {"type": "string", "description": "Which town."}}, "required": ["town"]}}]"#;
    let row = |query: &str| json!({"query": query, "functions": docs, "response": "[ring(town='Bergen')]"});
    let rows = [row("Ring the bell of Bergen, please"), row("Could the bells of Oslo be rung at noon?")];
    std::fs::write(&at, rows.map(|row| format!("{row}\n")).concat()).unwrap();
    at.to_str().unwrap().to_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_changes_no_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run").to_str().unwrap().to_owned();
    let log = small_log(folder.path());
    let code =
        |arguments: &[&str]| callsieve().args(arguments).stderr(full()).output().unwrap().status.code();
    assert_eq!(code(&["run", "--input", &log, "--out", &out]), Some(0));
    assert!(Path::new(&out).join("report.json").is_file());
    assert_eq!(code(&["why", &out, "nobody"]), Some(2));
    assert_eq!(code(&["no-such-command"]), Some(2));
    assert_eq!(code(&["run", "--input", &log, "--out", &out, "--set", "max_fault_share=0.5"]), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error_that_reports_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run").to_str().unwrap().to_owned();
    let log = small_log(folder.path());
    let to_full = |arguments: &[&str]| callsieve().args(arguments).stdout(full()).output().unwrap();
    let run = to_full(&["run", "--input", &log, "--out", &out]);
    assert_eq!(run.status.code(), Some(3));
    let told = format!(
        "error: the run is complete, but its summary could not be printed: cannot write to standard output: no space left \
         on the device\nhint: `callsieve report {out}` prints it\n"
    );
    assert!(stderr_of(&run).ends_with(&told), "{}", stderr_of(&run));
    let report = output(&["report", &out]);
    assert!(report.status.success() && Path::new(&out).join("dataset/README.md").is_file());
    let docs = folder.path().join("docs.json").to_str().unwrap().to_owned();
    std::fs::write(&docs, r#"[{"name": "ring", "description": "Rings.", "parameters": {}}]"#).unwrap();
    let pairs = ["pairs", &log, "--field", "functions", "--quiet"];
    for arguments in [&["report", &out][..], &["fix", "--quiet", &docs], &pairs, &["schema"], &["--help"]] {
        let ended = to_full(arguments);
        assert_eq!(ended.status.code(), Some(3), "{arguments:?}");
        let told = "error: cannot write to standard output: no space left on the device\n";
        assert_eq!(stderr_of(&ended), told, "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_is_not_an_error_and_keeps_the_exit_code() {
    let at = Surroundings::new();
    let log = small_log(at.path());
    let closed = |arguments: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        callsieve().args(arguments).stdout(writer).output().unwrap()
    };
    let pairs = ["pairs", &log, "--field", "functions", "--quiet"];
    for arguments in [&["schema"][..], &["stages", "--json"], &["explain"], &["--help"], &pairs] {
        let ended = closed(arguments);
        assert_eq!((ended.status.code(), stderr_of(&ended).as_str()), (Some(0), ""), "{arguments:?}");
    }
    let check = closed(&["check", &at.bfcl]);
    assert_eq!((check.status.code(), stderr_of(&check).as_str()), (Some(1), ""));
    let inspect = closed(&["inspect", &at.table]);
    assert_eq!((inspect.status.code(), stderr_of(&inspect).as_str()), (Some(1), ""));
    let run = closed(&["run", "--quiet", "--input", &log, "--out", &at.other_run]);
    assert!(run.status.success() && !stderr_of(&run).contains("error"), "{}", stderr_of(&run));
    let run = closed(&["run", "--quiet", "--input", &at.log, "--out", &at.run]);
    assert_eq!(run.status.code(), Some(1));
    assert!(stderr_of(&run).contains("max_fault_share"), "{}", stderr_of(&run));
}

#[test]
fn a_terminated_run_reports_it_with_the_documented_code() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    support::write_long_log(&log, 20_000);
    for signal in ["-TERM", "-HUP"] {
        let out = folder.path().join(signal);
        let mut run = callsieve();
        run.args(["run", "--quiet", "--input", log.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while !out.join("ingest").exists() && run.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        assert!(Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap().success());
        let ended = run.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", stderr_of(&ended));
        assert!(stderr_of(&ended).starts_with("error: interrupted"), "{}", stderr_of(&ended));
        let resume = format!(" run --quiet --input {} --out {}`\n", log.display(), out.display());
        assert!(stderr_of(&ended).ends_with(&resume), "{}", stderr_of(&ended));
    }
    let page = include_str!("../docs/exit-codes.md");
    assert!(page.contains("| 130 | interrupted, by Ctrl-C, SIGTERM or SIGHUP;"));
}

/// Not a test by itself: the next one starts it in a separate process.
#[test]
fn panics_on_request() {
    if std::env::var_os("CALLSIEVE_TEST_PANIC").is_some() {
        callsieve::cli::console::report_panics();
        panic!("a row said {HOSTILE}");
    }
}

#[test]
fn a_panic_does_not_quote_a_row() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "panics_on_request", "--nocapture", "--test-threads=1"]);
    let ended = child.env("CALLSIEVE_TEST_PANIC", "1").env_remove("RUST_BACKTRACE").output().unwrap();
    assert!(!ended.status.success());
    let told = stderr_of(&ended);
    assert!(told.contains("internal error: panicked at tests/terminal.rs:"), "{told:?}");
    assert!(told.contains(&format!("a row said {AS_TEXT}")) && !told.contains(is_dangerous), "{told:?}");
}
