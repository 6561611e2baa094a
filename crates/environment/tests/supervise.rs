//! Nothing outlives the program: processes are ended with it, whatever they do.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write small files to temporary folders"
)]
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const SUPERVISOR: &str = env!("CARGO_BIN_EXE_callsieve-supervisor");

/// Ignores every signal that can be ignored, forks twice, leaves its session, and writes its process ids into a file. With
/// `leave`, it ends and only its descendant stays.
const STUBBORN: &str = r#"
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
def note():
    with open(sys.argv[1], "a") as file:
        file.write("%d\n" % os.getpid())
note()
if os.fork() == 0:
    os.setsid()
    note()
    if os.fork() == 0:
        os.setsid()
        note()
        while True:
            time.sleep(60)
    os._exit(0)
while len(open(sys.argv[1]).readlines()) < 3:
    time.sleep(0.01)
if "leave" not in sys.argv:
    while True:
        time.sleep(60)
"#;

/// A program that starts its arguments with pipes, as callsieve does.
const PROGRAM: &str = r"
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
time.sleep(600)
";

struct Stubborn {
    folder: TempDir,
}

impl Stubborn {
    fn new() -> Option<Self> {
        callsieve_testkit::tools::python3()?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("stubborn.py"), STUBBORN).unwrap();
        Some(Self { folder })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the arguments of a supervisor for the stubborn process.
    fn arguments(&self, options: &str, more: &str) -> Vec<std::ffi::OsString> {
        let mut arguments: Vec<std::ffi::OsString> = options.split_whitespace().map(Into::into).collect();
        arguments.extend([
            "--".into(),
            "python3".into(),
            self.file("stubborn.py").into(),
            self.file("ids").into(),
        ]);
        arguments.extend(more.split_whitespace().map(Into::into));
        arguments
    }

    fn start(&self, options: &str, more: &str) -> Child {
        let mut command = Command::new(SUPERVISOR);
        command.args(self.arguments(options, more));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Waits until all processes wrote their ids.
    fn ids(&self) -> Vec<u32> {
        let ids = || ids_in(&self.file("ids"));
        wait_until(|| ids().len() == 3);
        ids()
    }
}

fn ids_in(file: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn is_alive(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // A process that ended and waits for its parent is not alive.
    stat.rsplit_once(')').is_some_and(|(_, fields)| !fields.trim_start().starts_with('Z'))
}

/// Waits for something that happens soon; the limit is for machines under load.
fn wait_until(happens: impl Fn() -> bool) {
    let start = Instant::now();
    while !happens() {
        assert!(start.elapsed() < Duration::from_mins(1), "it did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn run(options: &[&str], command: &[&str]) -> Output {
    let mut supervisor = Command::new(SUPERVISOR);
    supervisor.args(options).arg("--").args(command);
    // The other end of the input stays open until the command ends.
    let child = supervisor.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.unwrap();
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    output
}

#[test]
fn a_killed_program_leaves_no_process_and_no_folder() {
    let Some(stubborn) = Stubborn::new() else { return };
    let home = stubborn.file("callsieve-episode-1");
    std::fs::create_dir(&home).unwrap();
    let mut program = Command::new("python3");
    let options = format!("--grace-ms 20 --remove {}", home.display());
    program.args(["-c", PROGRAM, SUPERVISOR]).args(stubborn.arguments(&options, ""));
    let mut program =
        program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let ids = stubborn.ids();
    assert!(is_alive(ids[0]) && is_alive(ids[2]));
    // The program may be a script that started Python; only the process with the pipes counts.
    program.kill().unwrap();
    program.wait().unwrap();
    wait_until(|| !ids.iter().any(|id| is_alive(*id)));
    wait_until(|| !home.exists());
}

#[test]
fn a_closed_input_ends_a_process_that_ignores_it() {
    let Some(stubborn) = Stubborn::new() else { return };
    let mut supervisor = stubborn.start("--grace-ms 20", "");
    let ids = stubborn.ids();
    drop(supervisor.stdin.take());
    supervisor.wait().unwrap();
    assert!(!ids.iter().any(|id| is_alive(*id)), "all are gone when the supervisor is");
}

#[test]
fn a_deadline_ends_everything() {
    let Some(stubborn) = Stubborn::new() else { return };
    let mut supervisor = stubborn.start("--deadline-ms 400", "");
    let stdin = supervisor.stdin.take();
    assert_eq!(supervisor.wait().unwrap().code(), Some(124));
    // However far it came.
    let ids = ids_in(&stubborn.file("ids"));
    assert!(!ids.iter().any(|id| is_alive(*id)));
    drop(stdin);
}

#[test]
fn a_command_that_ends_takes_its_daemons_with_it() {
    let Some(stubborn) = Stubborn::new() else { return };
    let mut supervisor = stubborn.start("", "leave");
    let stdin = supervisor.stdin.take();
    let ids = stubborn.ids();
    assert_eq!(supervisor.wait().unwrap().code(), Some(0));
    assert!(!ids.iter().any(|id| is_alive(*id)));
    drop(stdin);
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    assert_eq!(run(&[], &["sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(run(&[], &["sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    assert_eq!(run(&[], &["/nowhere"]).status.code(), Some(125));
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().to_str().unwrap();
    assert_eq!(run(&["--remove", other], &["true"]).status.code(), Some(0));
    assert!(folder.path().exists(), "only folders of episodes are removed");
    assert_eq!(run(&["--what"], &["true"]).status.code(), Some(125));
}

#[test]
fn memory_is_limited() {
    if Stubborn::new().is_none() {
        return;
    }
    let ask = ["python3", "-c", "bytearray(1 << 30); print('got it')"];
    assert_eq!(run(&["--memory-bytes", "3000000000"], &ask).stdout, b"got it\n");
    assert_eq!(run(&["--memory-bytes", "500000000"], &ask).stdout, b"");
}

#[test]
fn there_is_no_network_where_the_system_can_take_it_away() {
    let probe = Command::new(SUPERVISOR).arg("--no-network").status().unwrap();
    if !probe.success() || Stubborn::new().is_none() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let ask = format!(
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', {}), 5)\n    print('connected')\nexcept OSError:\n    print('refused')",
        address.port()
    );
    let ask = ["python3", "-c", ask.as_str()];
    assert_eq!(run(&[], &ask).stdout, b"connected\n");
    assert_eq!(run(&["--no-network"], &ask).stdout, b"refused\n");
}
