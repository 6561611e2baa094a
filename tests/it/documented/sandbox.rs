//! The folder of a reader of the pages: the project's files, the reader's own log, and a finished run of the sample.
//!
//! `callsieve` is the program under test. `cargo run` starts it too; other subcommands of cargo do nothing.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use regex::Regex;
use tempfile::TempDir;

use crate::support::copy_folder;

/// The result of a command.
pub(crate) struct Ran {
    /// The exit code; 128 and more for a signal.
    pub(crate) code: i32,
    /// Standard output and standard error, interleaved.
    pub(crate) text: String,
}

/// A folder in which commands run.
pub(crate) struct Sandbox(TempDir);

const CARGO: &str = r#"#!/bin/sh
[ "$1" = run ] || exit 0
shift
while [ $# -gt 0 ] && [ "$1" != -- ]; do shift; done
shift
exec callsieve "$@"
"#;

impl Sandbox {
    /// Returns a folder with only the program.
    pub(crate) fn empty() -> Self {
        let sandbox = Self(tempfile::tempdir().unwrap());
        let programs = sandbox.0.path().join(".programs");
        std::fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_callsieve"), programs.join("callsieve")).unwrap();
        std::fs::write(programs.join("cargo"), CARGO).unwrap();
        std::fs::set_permissions(programs.join("cargo"), std::fs::Permissions::from_mode(0o755)).unwrap();
        sandbox
    }

    /// Returns a folder with the project's data, the reader's files, and a run of the sample in `out/sample`.
    pub(crate) fn with_sample() -> Self {
        let sandbox = Self::empty();
        let (from, to) = (Path::new(env!("CARGO_MANIFEST_DIR")), sandbox.0.path());
        for folder in ["raw", "pipelines", "configs", "scripts", "examples"] {
            copy_folder(&from.join(folder), &to.join(folder));
        }
        copy_folder(&from.join("tests/it/documented/files"), to);
        let log = std::fs::read_to_string(to.join("mylog.jsonl")).unwrap();
        let half = log.match_indices('\n').nth(9).unwrap().0 + 1;
        std::fs::create_dir(to.join("logs")).unwrap();
        std::fs::write(to.join("logs/march-1.jsonl"), &log[..half]).unwrap();
        std::fs::write(to.join("logs/march-2.jsonl"), &log[half..]).unwrap();
        let ran = sandbox.run("callsieve run --quiet --out out/sample");
        assert_eq!(ran.code, 0, "{}", ran.text);
        sandbox
    }

    /// Returns a copy of the folder.
    pub(crate) fn copy(&self) -> Self {
        let copy = Self::empty();
        for entry in std::fs::read_dir(self.0.path()).unwrap() {
            let path = entry.unwrap().path();
            let target = copy.0.path().join(path.file_name().unwrap());
            if target.exists() {
                continue;
            }
            if path.is_dir() {
                copy_folder(&path, &target);
            } else {
                std::fs::copy(&path, &target).unwrap();
            }
        }
        copy
    }

    /// Removes the runs: nobody has run anything yet.
    pub(crate) fn forget_runs(&self) {
        std::fs::remove_dir_all(self.0.path().join("out")).unwrap();
    }

    /// Runs a line in a shell, off a terminal.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let folder = self.0.path();
        let path = format!("{}:{}", folder.join(".programs").display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {line}\n}} 2>&1")])
            .current_dir(folder)
            .env("PATH", path)
            .env("HOME", folder)
            .env_remove("XDG_CACHE_HOME")
            .env_remove("RUST_BACKTRACE")
            .env_remove("CALLSIEVE_SETS")
            .env_remove("CALLSIEVE_CACHE")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let code = output.status.code().unwrap_or(128);
        let text = String::from_utf8_lossy(&output.stdout).replace(folder.to_str().unwrap(), "~");
        Ran { code, text }
    }
}

/// Returns a line without times and rates, which differ from run to run.
pub(crate) fn without_clock(line: &str) -> String {
    static CLOCK: OnceLock<Regex> = OnceLock::new();
    let clock = CLOCK.get_or_init(|| {
        Regex::new(r" *\b[0-9][0-9.,]* ?(?:ms|s|min|[KMG]?B/s|rows/s)\b").expect("the pattern is valid")
    });
    clock.replace_all(line, " N s").into_owned()
}

/// Returns `true` if lines of a page match the printed ones, except for times; `...` matches any lines.
pub(crate) fn matches(page: &[String], printed: &[String]) -> bool {
    match page {
        [] => printed.is_empty(),
        [any, rest @ ..] if any == "..." => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        [line, rest @ ..] => printed.split_first().is_some_and(|(first, others)| {
            without_clock(line) == without_clock(first) && matches(rest, others)
        }),
    }
}
