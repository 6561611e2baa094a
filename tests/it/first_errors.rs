//! The errors of the first hour: each names what is wrong, and how to go on.

use std::path::Path;
use std::process::Command;

use crate::support::{callsieve, output, shown};

const REQUEST: &str = r#"{"query": "When is low tide?", "functions": "[{\"name\": \"tide\", \"description\": \"Returns the tide.\"}]"}"#;

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn snapshot(name: &str, text: &str, folder: &Path) {
    let text = text.replace(path(folder), "FOLDER");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn each_error_of_the_first_hour_has_a_way_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("log.jsonl", REQUEST);
    write("log.toml", REQUEST);
    write("tools.py", "def tide(harbour: str):\n    \"\"\"Returns the tide.\"\"\"\n");
    write("decisions.jsonl", "{\"id\": \"r1\", \"decision\": \"burn\"}\n");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let (log, out) = (at("log.jsonl"), at("out"));
    let cases: &[(&str, &[&str])] = &[
        ("a log called like a pipeline", &["run", &at("log.toml"), "--out", &out]),
        ("an empty folder", &["run", &at("empty"), "--out", &out]),
        ("a run folder that is a file", &["run", &log, "--out", &log]),
        ("a run folder below a file", &["run", &log, "--out", &at("log.jsonl/march")]),
        ("a faulty decisions file", &["run", &log, "--out", &out, "--decisions", &at("decisions.jsonl")]),
        ("a decisions file that is a folder", &["run", &log, "--out", &out, "--decisions", &at("empty")]),
        ("source code as a log", &["run", &at("tools.py"), "--out", &out]),
        ("source code to check", &["check", &at("tools.py")]),
        ("an empty folder to check", &["check", &at("empty")]),
        ("an empty folder to fix", &["fix", &at("empty")]),
        ("no such file to inspect", &["inspect", &at("none/log.jsonl")]),
    ];
    let mut text = String::new();
    for (what, arguments) in cases {
        let ended = output(arguments);
        let error = String::from_utf8(ended.stderr.clone()).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{what}: {error}");
        assert!(error.contains("\nhint: "), "{what}: {error}");
        assert!(!error.contains("os error"), "{what}: {error}");
        text += &format!("== {what}\n{}\n", shown(&ended));
    }
    snapshot("first_errors", &text, folder.path());
    assert!(!Path::new(&out).exists(), "nothing of a run that cannot begin is written");
}

#[test]
fn a_path_without_a_run_is_answered_with_the_runs_nearby() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(folder.path().join("log.jsonl"), REQUEST).unwrap();
    std::fs::write(folder.path().join("recipe.toml"), "").unwrap();
    let before = shown(&output(&["held", &at("runs")]));
    assert!(before.contains("hint: `callsieve run FILE… --out "), "{before}");
    for name in ["runs/march", "runs/april"] {
        let run = output(&["run", &at("log.jsonl"), "--out", &at(name), "--quiet"]);
        assert!(run.status.success(), "{}", shown(&run));
    }
    let mut text = String::new();
    for name in [
        "log.jsonl",
        "recipe.toml",
        "runs",
        "runs/mach",
        "runs/march/dataset",
        "runs/march/rows.parquet",
        "runs/march/none",
    ] {
        let ended = output(&["held", &at(name)]);
        assert_eq!(ended.status.code(), Some(2));
        text += &format!("== {name}\n{}\n", shown(&ended));
    }
    snapshot("no_run", &text, folder.path());
}

#[test]
fn messages_that_are_texts_are_named_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    for key in ["prompt", "messages"] {
        std::fs::write(
            &log,
            format!("{{\"{key}\": [\"hi\", \"there\"], \"functions\": [{{\"name\": \"a\"}}]}}\n"),
        )
        .unwrap();
        let run = output(&["run", path(&log), "--out", path(&out), "--quiet"]);
        assert_eq!(run.status.code(), Some(1));
        let error = String::from_utf8(run.stderr).unwrap();
        let first = format!(
            "the first is {}:1: message 1 is a text, expected an object with role and content\n",
            log.display()
        );
        assert!(error.contains(&first), "{key}: {error}");
        assert!(error.contains("hint: messages are a list of objects such as"), "{key}: {error}");
        let stdout = String::from_utf8(run.stdout).unwrap();
        assert!(!stdout.contains("requests"), "{key}: no funnel of zeros: {stdout}");
    }
}

#[test]
fn a_folder_of_function_files_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("below")).unwrap();
    let docs = |kind: &str| {
        format!(
            "{{\"id\": \"a\", \"function\": [{{\"name\": \"tide\", \"description\": \"Returns the tide.\", \"parameters\": {{\"type\": \"dict\", \"properties\": {{\"harbour\": {{\"type\": \"{kind}\", \"description\": \"The harbour.\"}}}}, \"required\": [\"harbour\"]}}}}]}}\n"
        )
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("good.jsonl", &docs("string"));
    write("below/bad.json", &docs("text"));
    write("README.md", "Not read.");
    write(".hidden.jsonl", "not read");
    let checked = output(&["check", path(folder.path())]);
    let text = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(1), "{text}");
    assert!(
        text.contains("bad.json:1 a tide /function/0/parameters/properties/harbour/type: found \"text\""),
        "{text}"
    );
    assert!(text.contains("2 functions in 2 entries of 2 files"), "{text}");
}

#[test]
fn sets_add_names_what_it_skips_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (from, dir) = (folder.path().join("download"), folder.path().join("sets"));
    std::fs::create_dir_all(from.join("possible_answer")).unwrap();
    std::fs::write(from.join("train.jsonl"), "{\"messages\": [{\"role\": \"user\", \"content\": \"Ring it\"}], \"tools\": [{\"name\": \"ring\"}]}\n").unwrap();
    std::fs::write(from.join("README.md"), "About.").unwrap();
    std::fs::write(from.join("info.json"), "{\"version\": 3}").unwrap();
    let sets = |arguments: &[&str]| shown(&output(&[&["sets"], arguments, &["--dir", path(&dir)]].concat()));
    let text =
        format!("{}\n{}", sets(&["add", "toolace", path(&from)]), sets(&["list", "toolace", "bfcl-v4"]));
    snapshot("sets_add_folder", &text, folder.path());
}

/// Runs the program as a user who may not open what others keep to themselves. Where the tests cannot start
/// one, the folder is locked for everybody instead.
#[cfg(unix)]
fn as_another_user(folder: &Path, locked: &Path, arguments: &[&str]) -> std::process::Output {
    as_another_user_at(folder, locked, 0o700, arguments)
}

/// The same, where the folder has these rights.
#[cfg(unix)]
fn as_another_user_at(folder: &Path, locked: &Path, rights: u32, arguments: &[&str]) -> std::process::Output {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;

    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(folder, 0o755);
    let program = folder.join("callsieve");
    let built = callsieve();
    if !program.exists() && std::fs::hard_link(built.get_program(), &program).is_err() {
        std::fs::copy(built.get_program(), &program).unwrap();
    }
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("CALLSIEVE_SETS", "no-such-folder");
    let before = locked.metadata().unwrap().mode();
    // The superuser may open everything, and may become another user; others can only lock themselves out.
    let is_superuser = folder.metadata().unwrap().uid() == 0;
    mode(locked, if is_superuser { rights } else { (rights & 0o007) * 0o111 });
    if is_superuser {
        command.uid(65_534).gid(65_534);
    }
    let ended = command.output().unwrap();
    mode(locked, before & 0o7777);
    ended
}

#[cfg(unix)]
#[test]
fn a_run_folder_of_another_user_is_named_with_owner_and_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (log, run) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    std::fs::write(&log, REQUEST).unwrap();
    assert!(output(&["run", path(&log), "--out", path(&run), "--quiet"]).status.success());
    let ingest = run.join("ingest");
    let cases: [(&Path, &[&str]); 7] = [
        (&run, &["report", path(&run)]),
        (&run, &["run", path(&log), "--out", path(&run)]),
        (&run, &["compare", path(&run), path(&run)]),
        (&run, &["verify", path(&run)]),
        (&run, &["check", path(&run)]),
        // Raw text is for its owner alone, also where the run folder is for all.
        (&ingest, &["why", path(&run), "r1"]),
        (&ingest, &["verify", path(&run)]),
    ];
    for (locked, arguments) in cases {
        let ended = as_another_user(folder.path(), locked, arguments);
        let error = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains("permission denied\nhint: "), "{arguments:?}: {error}");
        assert!(error.contains(&format!("{} belongs to ", locked.display())), "{arguments:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_read_is_named_and_never_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["a", "b", "b/below"] {
        std::fs::create_dir_all(at("logs").join(name)).unwrap();
        std::fs::write(at("logs").join(name).join("log.jsonl"), REQUEST).unwrap();
    }
    // Entries of a folder that may only be listed cannot be looked at; the program must not take them for other files.
    for (locked, mode) in [("logs/b", 0o700), ("logs/b/below", 0o700), ("logs/b", 0o744)] {
        for pattern in ["logs/**/*.jsonl", "logs/*/*/*.jsonl", "logs/*/below/log.jsonl", "logs"] {
            for command in [&["plan", pattern][..], &["inspect", pattern], &["run", pattern, "--out", "o"]] {
                let ended = as_another_user_at(folder.path(), &at(locked), mode, command);
                let error = String::from_utf8(ended.stderr).unwrap();
                assert_eq!(ended.status.code(), Some(2), "{command:?}, {locked} {mode:o}: {error}");
                assert!(
                    error.contains("logs/b") && error.contains("permission denied"),
                    "{command:?}: {error}"
                );
                assert!(error.contains("\nhint: "), "{command:?}: {error}");
            }
        }
    }
    // What the pattern does not lead into may be locked.
    let ended = as_another_user(folder.path(), &at("logs/b"), &["plan", "logs/a/*.jsonl"]);
    assert!(ended.status.success(), "{}", shown(&ended));
}

fn in_folder(folder: &Path, arguments: &[&str]) -> std::process::Output {
    callsieve().current_dir(folder).args(arguments).output().unwrap()
}

#[test]
fn a_folder_of_logs_is_read_without_runs_and_decisions_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("log.jsonl", REQUEST);
    assert!(in_folder(folder.path(), &["run", "log.jsonl", "--quiet"]).status.success());
    for format in ["csv", "jsonl", "parquet"] {
        let file = format!("held.{format}");
        let ended = in_folder(folder.path(), &["held", "out/log", "--unverified", "--out", &file]);
        assert!(ended.status.success(), "{}", shown(&ended));
    }
    // A review file without a row has no form.
    write("held.jsonl", "{\"decision\": \"\", \"id\": \"r1\", \"recorded_answer\": null}\n");
    write("decisions.jsonl", "{\"id\": \"r1\", \"decision\": \"keep\"}\n");
    let skipped = "warning: skipped 1 run folder (./out/log) and 4 files of decisions (./decisions.jsonl, …): not logs\n";
    for arguments in [&["run", ".", "--out", "all", "--quiet"][..], &["plan", "."], &["inspect", "."]] {
        let ended = in_folder(folder.path(), arguments);
        let text = shown(&ended);
        assert_eq!(ended.status.code(), Some(0), "{text}");
        let skipped = if arguments[0] == "run" {
            skipped.to_owned()
        } else {
            skipped.replace("1 run folder (./out/log)", "2 run folders (./all, …)")
        };
        assert!(text.contains(&skipped), "{text}");
    }
    let read: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("all/run.json")).unwrap()).unwrap();
    let inputs: Vec<&str> =
        read["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap()).collect();
    assert_eq!(inputs, ["./log.jsonl"]);
    let of_run = in_folder(folder.path(), &["run", "out/log", "--out", "again"]);
    assert!(
        shown(&of_run).contains("error: input out/log: this is a run folder, not a log\nhint: "),
        "{}",
        shown(&of_run)
    );
}

#[test]
fn a_file_that_is_no_log_ends_before_the_first_stage() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("README", "# Tides\n\nWhen the water is low.\n");
    write("main.go", "package main\n\nfunc main() {}\n");
    write("harbours.csv", "harbour,depth\nLeith,4\nOban,7\n");
    write("tools.py", "def tide(harbour: str):\n    \"\"\"Returns the tide.\"\"\"\n");
    let mut text = String::new();
    for arguments in [
        &["run", "README", "--out", "out"][..],
        &["run", "main.go", "--out", "out"],
        &["run", "harbours.csv", "--out", "out"],
        &["init", "README"],
        &["init", "main.go"],
        &["init", "tools.py"],
    ] {
        let ended = in_folder(folder.path(), arguments);
        let error = String::from_utf8(ended.stderr).unwrap();
        let lines: Vec<&str> = error.lines().filter(|line| !line.starts_with("ingest")).collect();
        text += &format!(
            "$ callsieve {}\nexit: {}\n{}\n\n",
            arguments.join(" "),
            ended.status.code().unwrap(),
            lines.join("\n")
        );
        assert!(!folder.path().join("pipelines").exists(), "{text}");
        assert!(
            !folder.path().join("out/stages").exists() && !folder.path().join("out/ingest").exists(),
            "{text}"
        );
    }
    snapshot("no_log", &text, folder.path());
    // The folder is free for the next run.
    write("log.jsonl", REQUEST);
    let ended = in_folder(folder.path(), &["run", "log.jsonl", "--out", "out", "--quiet"]);
    assert!(ended.status.success(), "{}", shown(&ended));
}

#[test]
fn a_table_with_other_column_names_is_answered_with_the_settings_that_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..12)
        .map(|n| {
            let doc = r#"{""name"": ""ring"", ""description"": ""Rings a bell."", ""parameters"": {""type"": ""object"", ""properties"": {}}}"#;
            format!("Ring the bell of tower {n} at noon please,\"{doc}\"\n")
        })
        .collect();
    std::fs::write(folder.path().join("pairs.csv"), format!("asked,api_docs\n{rows}")).unwrap();
    let refused = in_folder(folder.path(), &["run", "pairs.csv"]);
    let text = shown(&refused);
    let settings =
        ["--set 'ingest.columns.functions=[\"api_docs\"]'", "--set 'ingest.columns.query=[\"asked\"]'"];
    assert!(
        refused.status.code() == Some(1) && settings.iter().all(|setting| text.contains(setting)),
        "{text}"
    );
    let read = in_folder(
        folder.path(),
        &[
            "run",
            "pairs.csv",
            "--set",
            "ingest.columns.functions=[\"api_docs\"]",
            "--set",
            "ingest.columns.query=[\"asked\"]",
        ],
    );
    assert!(read.status.success() && shown(&read).contains("lines     12 = 12 requests"), "{}", shown(&read));
}

#[test]
fn standard_input_is_reused_or_refused_with_a_way_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let run = |text: &str| {
        std::fs::write(&log, text).unwrap();
        let mut command = callsieve();
        command.current_dir(folder.path()).args(["run", "-"]).stdin(std::fs::File::open(&log).unwrap());
        command.output().unwrap()
    };
    assert!(run(REQUEST).status.success());
    let again = run(REQUEST);
    assert!(again.status.success() && shown(&again).contains("reused    "), "{}", shown(&again));
    let other = run(&REQUEST.replace("low", "high"));
    assert_eq!(other.status.code(), Some(2));
    snapshot("stdin_again", &shown(&other), folder.path());
}

#[test]
fn a_misspelt_name_is_answered_by_the_one_that_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mylog.jsonl"), REQUEST).unwrap();
    assert!(in_folder(folder.path(), &["run", "mylog.jsonl", "--quiet"]).status.success());
    for (arguments, meant) in [
        (&["explain", "not-in-enum"][..], "did you mean \"answer/not-in-enum\"?"),
        (&["diff", "out/mylog", "--reason", "privacy/emai"], "did you mean \"privacy/email\"?"),
        (&["held", "out/mylog", "--reason", "not-in-enum"], "did you mean \"answer/not-in-enum\"?"),
        (&["run", "mylog.json"], "did you mean mylog.jsonl?"),
        (&["inspect", "./mylog.json"], "did you mean ./mylog.jsonl?"),
        (&["sets", "list", "nexusravn"], "did you mean \"nexusraven\"?"),
        (&["plan", "mylog.jsonl", "--set", "drop-spm.enabled=false"], "did you mean \"drop-spam\"?"),
    ] {
        let ended = in_folder(folder.path(), arguments);
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {}", shown(&ended));
        assert!(shown(&ended).contains(meant), "{arguments:?}: {}", shown(&ended));
    }
}

#[test]
fn a_pattern_of_folders_only_is_answered_with_the_pattern_of_their_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mylog.jsonl"), REQUEST).unwrap();
    std::fs::create_dir(folder.path().join("logs")).unwrap();
    for (pattern, meant) in [("**", "`**/*`"), ("./**", "`./**/*`"), ("logs/**", "`logs/**/*`")] {
        let ended = in_folder(folder.path(), &["run", pattern]);
        assert_eq!(ended.status.code(), Some(2), "{}", shown(&ended));
        let expected = format!(
            "input {pattern}: no file matches this pattern\nhint: `**` matches folders; {meant} names the files in them"
        );
        assert!(shown(&ended).contains(&expected), "{}", shown(&ended));
    }
    let read = in_folder(folder.path(), &["run", "**/*", "--quiet"]);
    assert!(read.status.success(), "{}", shown(&read));
}

#[test]
fn a_setting_of_another_kind_is_answered_with_its_key_and_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mylog.jsonl"), REQUEST).unwrap();
    for (setting, expected) in [
        (
            "merge-near-docs.threshold=off",
            "stage merge-near-docs: threshold: invalid type: string \"off\", expected a number\nhint: write a number",
        ),
        (
            "ingest.limit=off",
            "ingest: limit: invalid type: string \"off\", expected a whole number from 0 up\nhint: write digits",
        ),
    ] {
        let ended = in_folder(folder.path(), &["plan", "mylog.jsonl", "--set", setting]);
        assert_eq!(ended.status.code(), Some(2), "{}", shown(&ended));
        assert!(shown(&ended).contains(expected), "{}", shown(&ended));
    }
}
