//! The process of the package: how it is isolated, read, and ended.
//!
//! An output can start programs, and these can keep the pipes open after the process has ended. So the threads that read
//! them are not waited for, and where `unshare` can give the process a list of processes of its own, they end with it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callsieve_text::outside::shortened;

/// The program that scores, and runs the services of entries, for the package's Python.
const DRIVER: &str = concat!(include_str!("environments.py"), include_str!("driver.py"));

/// Ways to isolate the process, the best first: no network and no other processes, which end with this one; the same without
/// that; no network only.
const WAYS: [&[&str]; 4] = [
    &["setpriv", "--pdeathsig", "KILL", "unshare", "-rnpmf", "--kill-child", "--mount-proc"],
    &["unshare", "-rnpmf", "--kill-child", "--mount-proc"],
    &["setpriv", "--pdeathsig", "KILL", "unshare", "-rn"],
    &["unshare", "-rn"],
];

/// Lines of the error output in a message.
const MAX_LINES: usize = 5;

/// How long the error output of a process that has ended may take.
const GRACE: Duration = Duration::from_secs(1);

/// A process that scores.
pub(super) struct Process {
    child: Child,
    /// Where it reads outputs.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Arc<Mutex<VecDeque<String>>>,
    errors_end: Receiver<()>,
}

impl Process {
    /// Starts the process with these environment variables and no others: they can be read by what an output executes.
    pub(super) fn start(python: &Path, variables: &[(OsString, OsString)]) -> std::io::Result<Self> {
        let mut command = match way(variables) {
            Some([program, arguments @ ..]) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(python);
                command
            }
            _ => Command::new(python),
        };
        // A signal that an output sends to its process group does not reach this process.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.args(["-I", "-W", "ignore", "-c", DRIVER]);
        command.env_clear().envs(variables.iter().cloned());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let (end, errors_end) = channel();
        let kept = Arc::clone(&last);
        std::thread::spawn(move || {
            if let Some(errors) = errors {
                keep_last(errors, &kept);
            }
            drop(end);
        });
        Ok(Self { child, input, lines, errors: last, errors_end })
    }

    /// Returns where the process reads outputs, once.
    pub(super) fn take_input(&mut self) -> Option<ChildStdin> {
        self.input.take()
    }

    /// Returns the next line, or why there is none.
    pub(super) fn next_line(&self, timeout: Duration) -> Result<String, String> {
        self.lines.recv_timeout(timeout).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!("no verdict within {} s", timeout.as_secs()),
            RecvTimeoutError::Disconnected => "the process ended".to_owned(),
        })
    }

    /// Ends the process and returns the last lines of its error output, each after a line feed. A process that has read
    /// all outputs gets the time to remove its folder.
    pub(super) fn end(mut self, is_done: bool) -> String {
        if is_done {
            let _ = self.lines.recv_timeout(GRACE);
        }
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.errors_end.recv_timeout(GRACE);
        let lines = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(|line| format!("\n{}", shortened(line))).collect()
    }
}

/// Returns how `unshare` can isolate a process here.
fn way(variables: &[(OsString, OsString)]) -> Option<&'static [&'static str]> {
    let works = |way: &&&[&str]| {
        let mut command = Command::new(way[0]);
        command.args(&way[1..]).arg("true").env_clear().envs(variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    WAYS.iter().find(works).copied()
}

fn keep_last(errors: impl Read, kept: &Mutex<VecDeque<String>>) {
    for line in BufReader::new(errors).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        if line.is_empty() {
            continue;
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back(line);
        if kept.len() > MAX_LINES {
            kept.pop_front();
        }
    }
}
