//! Supervised processes that speak in lines, with deadlines and limits.
//!
//! A process has PATH, HOME and the variables that its settings list, and nothing else: a server that reports its
//! environment reports no key. HOME is a fresh folder that is removed at the end, and the working folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::supervise;

/// How much of the end of standard error is kept for messages, in bytes.
const ERROR_BYTES: usize = 2_000;
const CHUNK_BYTES: usize = 1 << 16;
/// How often a supervisor that was stopped is looked at.
const PATIENCE: Duration = Duration::from_millis(1);

/// How supervisors are started, and what processes get of the environment.
#[derive(Debug, Clone)]
pub struct Supervisor {
    /// The command that calls [`supervise::main`], such as the program and the name of its hidden command.
    pub command: Vec<OsString>,
    /// The PATH of all processes.
    pub path: OsString,
}

/// Whether processes can reach the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// They cannot, if the system allows it; otherwise the conditions of the environment say `not blocked`.
    #[default]
    Block,
    /// They can.
    Allow,
}

impl Supervisor {
    /// Returns `true` if the network can be taken away on this system. It is tried once.
    pub fn can_block_network(&self) -> bool {
        static ANSWER: OnceLock<bool> = OnceLock::new();
        *ANSWER.get_or_init(|| {
            let tried = self.command("--no-network".into()).map(|mut command| command.status());
            tried.is_some_and(|status| status.is_ok_and(|status| status.success()))
        })
    }

    /// Returns the word for the network of an environment with this setting.
    pub(crate) fn network(&self, setting: Network) -> &'static str {
        match setting {
            Network::Allow => "allowed",
            Network::Block if self.can_block_network() => "blocked",
            Network::Block => "not blocked",
        }
    }

    fn command(&self, argument: OsString) -> Option<Command> {
        let (program, arguments) = self.command.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).arg(argument).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(command)
    }
}

/// What to start.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) command: Vec<OsString>,
    /// Variables; `{home}` in a value is the HOME of the process.
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) network: Network,
    /// How long the process may take to end by itself after its input was closed.
    pub(crate) grace: Duration,
}

/// Why no line came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoLine {
    /// The deadline passed.
    Timeout,
    /// The process closed its output: it ended.
    Ended,
    /// The line has more bytes than are allowed.
    TooLarge,
}

/// A running process.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// What was read after the last line.
    rest: Vec<u8>,
    errors: Arc<Mutex<Vec<u8>>>,
    home: TempDir,
    grace: Duration,
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    /// The supervisor does not start, or the folder cannot be made.
    pub(crate) fn start(supervisor: &Supervisor, launch: &Launch) -> std::io::Result<Self> {
        Self::start_with(supervisor, launch, |_| Ok(()))
    }

    /// Starts a process whose HOME is prepared before.
    ///
    /// # Errors
    /// As for [`start`](Self::start), or the preparation fails.
    pub(crate) fn start_with(
        supervisor: &Supervisor,
        launch: &Launch,
        prepare: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> std::io::Result<Self> {
        let home = tempfile::Builder::new().prefix(supervise::FOLDER_PREFIX).tempdir()?;
        prepare(home.path())?;
        let (program, own) = supervisor.command.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
        let no_network = launch.network == Network::Block && supervisor.can_block_network();
        let arguments = supervise::arguments(
            launch.grace,
            launch.memory_bytes,
            no_network,
            home.path(),
            launch.command.clone(),
        );
        let mut command = Command::new(program);
        command.args(own).args(arguments).env_clear().env("PATH", &supervisor.path).env("HOME", home.path());
        for (name, value) in &launch.variables {
            command.env(name, value.replace("{home}", &home.path().to_string_lossy()));
        }
        command.current_dir(home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        // A process that does not read must not stop the program.
        fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let errors = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&errors);
        std::thread::spawn(move || keep_end(stderr, &kept));
        Ok(Self { child, stdin: Some(stdin), stdout, rest: Vec::new(), errors, home, grace: launch.grace })
    }

    /// Returns `true` while the process runs and was not stopped.
    pub(crate) fn is_running(&mut self) -> bool {
        self.stdin.is_some() && matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the HOME of the process.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Removes everything in HOME.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub(crate) fn empty_home(&self) -> std::io::Result<()> {
        for entry in std::fs::read_dir(self.home())? {
            let entry = entry?;
            let is_folder = entry.file_type()?.is_dir();
            if is_folder {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Returns the last line that the process wrote to standard error, shortened.
    pub(crate) fn last_error(&self) -> Option<String> {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&errors);
        let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        Some(line.chars().take(300).collect())
    }

    /// Writes bytes; `false` if the process ended or does not read until the deadline.
    pub(crate) fn write(&mut self, mut bytes: &[u8], deadline: Instant) -> bool {
        let Some(stdin) = &mut self.stdin else { return false };
        while !bytes.is_empty() {
            match stdin.write(bytes) {
                Ok(0) => return false,
                Ok(n_bytes) => bytes = &bytes[n_bytes..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    if !is_ready(&stdin.as_fd(), PollFlags::POLLOUT, deadline) {
                        return false;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Returns the next line, without its end.
    pub(crate) fn line(&mut self, max_bytes: usize, deadline: Instant) -> Result<Vec<u8>, NoLine> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.rest[searched..].iter().position(|byte| *byte == b'\n') {
                let end = searched + end;
                let after = self.rest.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.rest, after);
                line.truncate(end);
                return if end > max_bytes { Err(NoLine::TooLarge) } else { Ok(line) };
            }
            searched = self.rest.len();
            if searched > max_bytes {
                return Err(NoLine::TooLarge);
            }
            if !is_ready(&self.stdout.as_fd(), PollFlags::POLLIN, deadline) {
                return Err(NoLine::Timeout);
            }
            let start = self.rest.len();
            self.rest.resize(start + CHUNK_BYTES, 0);
            let read = self.stdout.read(&mut self.rest[start..]);
            self.rest.truncate(start + read.as_ref().map_or(0, |n_bytes| *n_bytes));
            match read {
                Ok(0) => return Err(NoLine::Ended),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(NoLine::Ended),
            }
        }
    }

    /// Closes the input, which ends the process and everything that it started. Returns when all of them are gone.
    pub(crate) fn stop(&mut self) {
        self.stdin = None;
        // The supervisor ends its processes within the grace and the time that killing takes.
        let end = Instant::now() + self.grace + Duration::from_secs(6);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > end {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(PATIENCE);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}

fn is_ready(stream: &impl std::os::fd::AsFd, events: PollFlags, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // Rounded up, so that the last millisecond is not a busy loop.
        let left = PollTimeout::try_from(left.as_millis().min(1 << 30) + 1).unwrap_or(PollTimeout::MAX);
        let mut streams = [PollFd::new(stream.as_fd(), events)];
        match poll(&mut streams, left) {
            Ok(0) if Instant::now() < deadline => {}
            Err(Errno::EINTR) => {}
            Ok(n_ready) => return n_ready > 0,
            Err(_) => return false,
        }
    }
}

/// Reads a stream to its end, and keeps the last bytes.
fn keep_end(mut stream: impl std::io::Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(n_bytes @ 1..) = stream.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..n_bytes]);
        let surplus = kept.len().saturating_sub(ERROR_BYTES);
        kept.drain(..surplus);
    }
}
