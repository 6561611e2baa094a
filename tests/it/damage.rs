//! Tests of damaged run folders: damaged files are found and written again, foreign files stay, and interrupted
//! commands are finished by the same call.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{assert_same_bytes, callsieve, copy_folder, output, shown, stable_bytes};
use serde_json::{Value, json};

/// Questions with answers: some alike, one useless, with personal values in questions and docs, and a broken line.
fn write_log(path: &Path) {
    let mut text = String::new();
    for (n, what) in ["depth", "length", "owner", "tariff", "depth", "owner"].into_iter().enumerate() {
        let docs = json!([{"name": format!("quay_{what}"), "description": format!("Finds the {what} of a quay; ask {what}@fjordmail.no."),
            "parameters": {"type": "object", "required": ["quay"],
                "properties": {"quay": {"type": "str", "description": "Which quay."}}}}]);
        let call = json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function":
            {"name": format!("quay_{what}"), "arguments": json!({"quay": format!("pier {n}")}).to_string()}}]});
        let query = format!("Which {what} has pier {n} in the old harbour? Write to marta{n}@fjordmail.no");
        let row = json!({"id": format!("r{n}"), "ts": 1_900_000_000 + n, "prompt": query, "function": docs.to_string(),
            "response": call});
        text += &format!("{row}\n");
    }
    text += "{broken\n{\"prompt\": \"hi\", \"function\": \"[]\", \"id\": \"r6\"}\n";
    std::fs::write(path, text).unwrap();
}

/// A log, and the finished run of it.
struct Sample {
    home: tempfile::TempDir,
    log: PathBuf,
    whole: PathBuf,
}

impl Sample {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let (log, whole) = (home.path().join("log.jsonl"), home.path().join("whole"));
        write_log(&log);
        let sample = Self { home, log, whole };
        let run = sample.run(&sample.whole, &[]);
        assert!(run.status.success(), "{}", shown(&run));
        sample
    }

    fn run(&self, out: &Path, more: &[&str]) -> Output {
        let mut command = callsieve();
        command.args(["run", "--set", "max_fault_share=1", "--quiet", "--input"]).arg(&self.log);
        command.arg("--out").arg(out).args(more).output().unwrap()
    }

    fn copy(&self) -> PathBuf {
        let copy = self.home.path().join("copy");
        if copy.exists() {
            std::fs::remove_dir_all(&copy).unwrap();
        }
        copy_folder(&self.whole, &copy);
        copy
    }
}

fn verified(run: &Path) -> (Option<i32>, Value) {
    let output = output(&["verify", run.to_str().unwrap(), "--json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

fn assert_whole(run: &Path) {
    let (code, told) = verified(run);
    assert_eq!((code, &told["faults"]), (Some(0), &json!([])));
}

/// A kind of damage to a file.
type Damage = (&'static str, fn(&Path));

const DAMAGES: [Damage; 4] = [
    ("a flipped bit", |path| {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        std::fs::write(path, bytes).unwrap();
    }),
    ("a lost end", |path| {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() * 2 / 3]).unwrap();
    }),
    ("nothing in it", |path| std::fs::write(path, "").unwrap()),
    ("no file", |path| std::fs::remove_file(path).unwrap()),
];

#[test]
fn a_damaged_step_is_named_and_runs_again_and_the_dataset_is_the_same() {
    let sample = Sample::new();
    let bytes = stable_bytes(&sample.whole);
    let files = [
        "ingest/requests.parquet",
        "ingest/requests.index.parquet",
        "ingest/doc_lists.index.parquet",
        "ingest/lines.parquet",
        "ingest/manifest.json",
        "stages/01-redact/columns.parquet",
        "stages/07-drop-spam/fates.parquet",
        "stages/13-fix-docs/edits.parquet",
        "stages/15-draft-answers/manifest.json",
    ];
    for (nth, file) in files.into_iter().enumerate() {
        // Each file is damaged in two of the ways, one after another.
        for (what, damage) in [DAMAGES[nth % 4], DAMAGES[(nth + 1) % 4]] {
            let run = sample.copy();
            let file = if run.join(file).is_file() { file.to_owned() } else { renumbered(&run, file) };
            damage(&run.join(&file));
            let (code, told) = verified(&run);
            assert_eq!((code, told["faults"][0]["file"].as_str()), (Some(1), Some(&*file)), "{what}: {told}");
            for command in [["report", "--json"], ["why", "r1"], ["diff", "--json"]] {
                let read = output(&[command[0], run.to_str().unwrap(), command[1]]);
                let text = shown(&read);
                assert_eq!(read.status.code(), Some(2), "{command:?} of {file} with {what}: {text}");
                assert!(text.contains("hint: ") && !text.contains("panicked"), "{text}");
            }
            let again = sample.run(&run, &[]);
            let text = shown(&again);
            assert!(again.status.success(), "{file} with {what}: {text}");
            assert!(text.contains(&format!("{file} is damaged (")), "{file} with {what}: {text}");
            let told =
                if file.starts_with("ingest") { "the inputs are read again" } else { "the stage runs again" };
            assert!(text.contains(told), "{text}");
            assert_same_bytes(&bytes, &stable_bytes(&run));
            assert_whole(&run);
        }
    }
}

/// Returns the path of the file of the same stage in a run with other stage numbers.
fn renumbered(run: &Path, file: &str) -> String {
    let stage = file.split('/').nth(1).unwrap();
    let id = stage.split_once('-').unwrap().1;
    let folders = std::fs::read_dir(run.join("stages")).unwrap();
    let mut names = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let here = names.find(|name| name.split_once('-').is_some_and(|(_, of)| of == id));
    file.replace(stage, &here.unwrap_or_else(|| panic!("no stage {id}")))
}

#[test]
fn verify_names_what_is_damaged_missing_and_unexpected() {
    let sample = Sample::new();
    assert_whole(&sample.whole);
    let verify = |run: &Path| output(&["verify", run.to_str().unwrap()]);
    let whole = verify(&sample.whole);
    assert!(whole.status.success() && whole.stdout.is_empty(), "{}", shown(&whole));
    assert!(shown(&whole).contains("KiB: all intact"), "{}", shown(&whole));
    let run = sample.copy();
    std::fs::write(run.join("notes.txt"), "mine").unwrap();
    std::fs::write(run.join("stages/01-redact/columns.parquet.partial"), "x").unwrap();
    let told = verify(&run);
    assert_eq!(told.status.code(), Some(0), "what is unexpected is no damage: {}", shown(&told));
    assert_eq!(
        String::from_utf8(told.stdout).unwrap(),
        "unexpected  notes.txt: callsieve did not write it
unexpected  stages/01-redact/columns.parquet.partial: an interrupted command left it\n"
    );
    for (damaged, file) in
        ["dataset/README.md", "ledger.parquet", "report.json", "run.json"].into_iter().enumerate()
    {
        let run = sample.copy();
        DAMAGES[damaged].1(&run.join(file));
        let told = verify(&run);
        assert_eq!(told.status.code(), Some(1), "{file}: {}", shown(&told));
        assert!(shown(&told).contains(&format!("  {file}: ")), "{}", shown(&told));
        assert!(sample.run(&run, &[]).status.success());
        assert_whole(&run);
        assert_same_bytes(&stable_bytes(&sample.whole), &stable_bytes(&run));
    }
    let run = sample.copy();
    DAMAGES[0].1(&run.join("rows.parquet"));
    let compared = output(&["compare", run.to_str().unwrap(), sample.whole.to_str().unwrap()]);
    assert_eq!(compared.status.code(), Some(2), "{}", shown(&compared));
    assert!(shown(&compared).contains("rows.parquet: the checksum differs"), "{}", shown(&compared));
    for other in [sample.home.path(), &sample.home.path().join("none")] {
        assert_eq!(verify(other).status.code(), Some(2), "{}", shown(&verify(other)));
    }
}

#[test]
fn the_finished_steps_of_an_unfinished_run_are_verified() {
    let sample = Sample::new();
    let run = sample.copy();
    let outcome =
        ["report.json", "report.html", "ledger.parquet", "rows.parquet", "lists.parquet", "links.parquet"];
    for name in ["run.json", "entries.parquet"].into_iter().chain(outcome) {
        std::fs::remove_file(run.join(name)).unwrap();
    }
    std::fs::remove_dir_all(run.join("dataset")).unwrap();
    let told = output(&["verify", run.to_str().unwrap()]);
    assert!(told.status.success(), "{}", shown(&told));
    assert!(shown(&told).contains("the run is not finished"), "{}", shown(&told));
    DAMAGES[0].1(&run.join("stages/01-redact/columns.parquet"));
    assert_eq!(verified(&run).0, Some(1));
}

#[test]
fn a_run_is_intact_after_purge_and_forget() {
    let sample = Sample::new();
    let run = sample.copy();
    let called = |arguments: &[&str]| {
        let told = output(&[&[arguments[0], run.to_str().unwrap()], &arguments[1..]].concat());
        assert!(told.status.success(), "{}", shown(&told));
        shown(&told)
    };
    assert!(called(&["forget", "--id", "r3"]).contains("forgotten 1 request"));
    assert_whole(&run);
    assert!(called(&["purge", "--raw"]).contains("ingest/requests.parquet"));
    assert_whole(&run);
    called(&["forget", "--id", "r1"]);
    assert_whole(&run);
    called(&["report"]);
    // A damaged list of forgotten records would bring records back.
    let list = run.join("forgotten.json");
    let text = std::fs::read_to_string(&list).unwrap();
    let digit = text.find("\"records\"").unwrap() + 20;
    let changed = if &text[digit..=digit] == "0" { "1" } else { "0" };
    std::fs::write(&list, format!("{}{changed}{}", &text[..digit], &text[digit + 1..])).unwrap();
    let told = sample.run(&run, &[]);
    assert!(
        !told.status.success() && shown(&told).contains("forgotten.json: the checksum differs"),
        "{}",
        shown(&told)
    );
}

/// Files that a command writes; a folder of the same name interrupts it there.
fn obstacle(run: &Path, file: &str) -> PathBuf {
    run.join(format!("{file}.partial"))
}

#[test]
fn an_interrupted_purge_or_forget_can_be_read_and_finished() {
    let sample = Sample::new();
    let cases: [(&[&str], &[&str]); 2] = [
        (&["purge", "--raw"], &["ingest/doc_lists.parquet", "ingest/lines.parquet", "ingest/manifest.json"]),
        (
            &["forget", "--id", "r3"],
            &[
                "forgotten.parquet",
                "dataset/data/scored.parquet",
                "ingest/doc_lists.parquet",
                "ingest/manifest.json",
                "stages/01-redact/fates.parquet",
                "stages/01-redact/manifest.json",
                "stages/15-draft-answers/columns.parquet",
                "ingest/doc_lists.index.parquet",
                "rows.parquet",
                "dataset/README.md",
                "run.json",
            ],
        ),
    ];
    for (arguments, files) in cases {
        let call = |run: &Path| output(&[&[arguments[0], run.to_str().unwrap()], &arguments[1..]].concat());
        let done = sample.home.path().join("done");
        copy_folder(&sample.whole, &done);
        assert!(call(&done).status.success());
        for file in files {
            let run = sample.copy();
            let file = if run.join(file).is_file() || !file.starts_with("stages") {
                (*file).to_owned()
            } else {
                renumbered(&run, file)
            };
            let obstacle = obstacle(&run, &file);
            std::fs::create_dir(&obstacle).unwrap();
            // A folder of that name is not removed as a temporary file, and cannot be written as a file.
            std::fs::write(obstacle.join("mine"), "").unwrap();
            let cut = call(&run);
            assert_eq!(cut.status.code(), Some(3), "{arguments:?} at {file}: {}", shown(&cut));
            std::fs::remove_dir_all(&obstacle).unwrap();
            let why = output(&["why", run.to_str().unwrap(), "r1"]);
            assert!(why.status.success(), "{arguments:?} at {file}: {}", shown(&why));
            let (_, told) = verified(&run);
            let kinds =
                told["faults"].as_array().unwrap().iter().map(|fault| fault["fault"].as_str().unwrap());
            let kinds: Vec<&str> = kinds.filter(|kind| *kind != "unexpected").collect();
            assert!(kinds.iter().all(|kind| *kind == "unfinished"), "{arguments:?} at {file}: {told}");
            let again = call(&run);
            assert!(again.status.success(), "{arguments:?} at {file}: {}", shown(&again));
            assert_same_bytes(&stable_bytes(&done), &stable_bytes(&run));
            assert_whole(&run);
        }
        std::fs::remove_dir_all(&done).unwrap();
    }
}

#[test]
fn a_folder_of_other_files_is_refused_under_any_name() {
    let sample = Sample::new();
    let project = sample.home.path().join("project");
    std::fs::create_dir_all(project.join("dataset")).unwrap();
    std::fs::write(project.join(".lock"), "").unwrap();
    std::fs::write(project.join("dataset/mydata.csv"), "precious").unwrap();
    for more in [&[][..], &["--fresh"]] {
        let refused = sample.run(&project, more);
        assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
        assert!(
            shown(&refused).contains("hint: give an empty or new folder with --out"),
            "{}",
            shown(&refused)
        );
    }
    assert_eq!(std::fs::read_to_string(project.join("dataset/mydata.csv")).unwrap(), "precious");
    // A run folder without its marker can be read, but not written to.
    let run = sample.copy();
    std::fs::remove_file(run.join(".callsieve")).unwrap();
    for refused in [sample.run(&run, &[]), output(&["purge", run.to_str().unwrap(), "--raw"])] {
        assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
        assert!(shown(&refused).contains("has no valid file .callsieve"), "{}", shown(&refused));
    }
    assert!(output(&["report", run.to_str().unwrap()]).status.success());
}

#[test]
fn a_foreign_file_stops_the_run_before_anything_is_removed() {
    let sample = Sample::new();
    let run = sample.copy();
    let fresh = |run: &Path| sample.run(run, &["--fresh"]);
    for name in [
        "ingest/keep.txt",
        "stages/01-redact/keep.txt",
        "stages/notes/keep.txt",
        "dataset/LICENSE",
        "dataset/data/k.json",
    ] {
        let path = run.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "precious").unwrap();
        for refused in [fresh(&run), sample.run(&run, &["--set", "seed=7"])] {
            assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
            assert!(shown(&refused).contains(name), "{}", shown(&refused));
            assert!(shown(&refused).contains("hint: a run replaces ingest/, stages/ and dataset/"));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
        std::fs::remove_file(&path).unwrap();
    }
    // The files of an interrupted run are its own, and files elsewhere are no obstacle.
    for name in ["stages/01-redact.partial/columns.parquet", "dataset/README.md.partial", "notes.txt"] {
        let path = run.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "x").unwrap();
    }
    std::fs::remove_file(run.join("run.json")).unwrap();
    std::fs::remove_file(run.join("stages/02-redact-docs/manifest.json")).unwrap();
    assert!(fresh(&run).status.success());
    assert_eq!(std::fs::read_to_string(run.join("notes.txt")).unwrap(), "x");
}

#[cfg(unix)]
#[test]
fn links_in_a_run_folder_are_refused_and_their_targets_stay() {
    use std::os::unix::fs::symlink;
    let sample = Sample::new();
    let other = sample.home.path().join("other");
    std::fs::create_dir_all(other.join("01-mine")).unwrap();
    std::fs::write(other.join("01-mine/precious"), "precious").unwrap();
    let file = other.join("01-mine/precious");
    for (below, target) in [
        (".lock", &file),
        ("stages", &other),
        ("dataset", &other),
        ("dataset/README.md.partial", &file),
        ("forgotten.json", &file),
        ("ingest", &other),
    ] {
        let run = sample.copy();
        let path = run.join(below);
        if path.is_dir() {
            std::fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            std::fs::remove_file(&path).unwrap();
        }
        symlink(target, &path).unwrap();
        for call in [
            sample.run(&run, &[]),
            output(&["purge", run.to_str().unwrap(), "--raw"]),
            output(&["forget", run.to_str().unwrap(), "--id", "r1"]),
        ] {
            assert_eq!(call.status.code(), Some(2), "{below}: {}", shown(&call));
            assert!(shown(&call).contains("is a symbolic link"), "{below}: {}", shown(&call));
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious", "{below}");
        assert_eq!(std::fs::read_dir(&other).unwrap().count(), 1, "{below}");
    }
}

#[test]
fn a_broken_set_is_listed_and_stops_only_the_run_that_needs_it() {
    let sample = Sample::new();
    let sets = sample.home.path().join("sets");
    std::fs::create_dir_all(sets.join("mine")).unwrap();
    std::fs::write(sets.join("mine/set.toml"), "id = \"mine\"\nformat = ").unwrap();
    let listed = output(&["sets", "list", "--dir", sets.to_str().unwrap()]);
    assert!(listed.status.success(), "{}", shown(&listed));
    let text = shown(&listed);
    assert!(text.contains("nexusraven") && text.contains("mine is broken: "), "{text}");
    let out = sample.home.path().join("out");
    let run = |more: &[&str]| {
        let mut command = callsieve();
        command.env("CALLSIEVE_SETS", &sets).args([
            "run",
            "--set",
            "max_fault_share=1",
            "--quiet",
            "--input",
        ]);
        command.arg(&sample.log).arg("--out").arg(&out).args(more).output().unwrap()
    };
    let free = run(&[]);
    assert!(free.status.success(), "{}", shown(&free));
    std::fs::remove_dir_all(&out).unwrap();
    let needs = run(&["--set", "drop-public-overlap.sets=[\"mine\"]"]);
    assert_eq!(needs.status.code(), Some(2), "{}", shown(&needs));
    assert!(shown(&needs).contains("set.toml"), "{}", shown(&needs));
    assert!(!out.exists(), "it stops before it begins");
}

/// Returns the first question file of a run, by its name there.
fn question_file(run: &Path) -> String {
    let in_folder = |folder: &str| {
        let entries = std::fs::read_dir(run.join(folder)).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("BFCL_")).map(|name| format!("{folder}/{name}")).min()
    };
    in_folder("dataset").or_else(|| in_folder("dataset/unverified")).unwrap()
}

/// A file, a description of its damage, and the damage.
type DamageOf<'a> = (&'a str, &'static str, fn(&Path));

#[test]
fn a_changed_baseline_stops_the_next_run_at_its_start() {
    let sample = Sample::new();
    let next = sample.home.path().join("next");
    let questions = question_file(&sample.whole);
    let baseline = sample.copy();
    let more = ["--baseline", baseline.to_str().unwrap(), "--freeze"];
    let run = sample.run(&next, &more);
    assert!(run.status.success(), "{}", shown(&run));
    let bytes = stable_bytes(&next);
    let files = [questions.as_str(), "entries.parquet", "rows.parquet", "dataset/data/scored.parquet"];
    let mut damages: Vec<DamageOf<'_>> = Vec::new();
    for (nth, file) in files.into_iter().enumerate() {
        damages
            .extend([0, 3].map(|step| DAMAGES[(nth + step) % 4]).map(|(what, damage)| (file, what, damage)));
    }
    damages.push((&questions, "a letter changed", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, text.replacen("harbour", "Harbour", 1)).unwrap();
    }));
    damages.push(("dataset/BFCL_v4_live_relevance.json", "a file more", |path| {
        std::fs::write(path, "").unwrap();
    }));
    #[cfg(unix)]
    damages.push((&questions, "a pipe", |path| {
        std::fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }));
    for (file, what, damage) in damages {
        sample.copy();
        damage(&baseline.join(file));
        for more in [&more[..], &more[..2]] {
            let run = sample.run(&next, more);
            let text = shown(&run);
            assert_eq!(run.status.code(), Some(2), "{file} with {what}: {text}");
            let hint = format!("`callsieve verify {}`", baseline.display());
            assert!(text.contains(file) && text.contains(&hint), "{file} with {what}: {text}");
        }
        assert_same_bytes(&stable_bytes(&next), &bytes);
    }
    sample.copy();
    std::fs::remove_file(baseline.join("run.json")).unwrap();
    let run = sample.run(&next, &more);
    assert!(run.status.code() == Some(2) && shown(&run).contains("is not finished"), "{}", shown(&run));
}

#[test]
fn an_unreadable_folder_of_question_files_stops_run_and_check_at_the_start() {
    let sample = Sample::new();
    let folder = sample.home.path().join("files");
    std::fs::create_dir(&folder).unwrap();
    let questions = folder.join("BFCL_v4_live_simple.json");
    std::fs::write(&questions, "{broken\n").unwrap();
    for more in
        [&["--baseline", folder.to_str().unwrap()][..], &["--baseline", folder.to_str().unwrap(), "--freeze"]]
    {
        let run = sample.run(&sample.home.path().join("next"), more);
        let text = shown(&run);
        assert!(run.status.code() == Some(2) && text.contains("BFCL_v4_live_simple.json:1: "), "{text}");
    }
    #[cfg(unix)]
    for name in ["BFCL_v4_live_simple.json", "possible_answer/BFCL_v4_live_simple.json"] {
        let line = json!({"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring."}]], "function": []});
        std::fs::write(&questions, format!("{line}\n")).unwrap();
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let check = output(&["check", folder.to_str().unwrap()]);
        let text = shown(&check);
        assert!(check.status.code() == Some(2) && text.contains("expected a file"), "{text}");
        std::fs::remove_file(&path).unwrap();
    }
}
