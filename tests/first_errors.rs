//! The errors of the first hour: each names what is wrong, and how to go on.

// A test that cannot set itself up may fail where it stands.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod support;

use std::path::Path;
use std::process::Command;

use support::{output, shown, toolsieve};

const REQUEST: &str = r#"{"query": "When is low tide?", "functions": "[{\"name\": \"tide\", \"description\": \"Returns the tide.\"}]"}"#;

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn snapshot(name: &str, text: &str, folder: &Path) {
    let text = text.replace(path(folder), "FOLDER");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
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
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;

    let mode =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(folder, 0o755);
    let program = folder.join("toolsieve");
    let built = toolsieve();
    if !program.exists() && std::fs::hard_link(built.get_program(), &program).is_err() {
        std::fs::copy(built.get_program(), &program).unwrap();
    }
    let mut command = Command::new(&program);
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("TOOLSIEVE_SETS", "no-such-folder");
    let before = locked.metadata().unwrap().mode();
    // The superuser may open everything, and may become another user; others can only lock themselves out.
    let is_superuser = folder.metadata().unwrap().uid() == 0;
    mode(locked, if is_superuser { 0o700 } else { 0 });
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
