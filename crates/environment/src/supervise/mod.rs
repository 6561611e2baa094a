//! A process between the program and what it starts, so that nothing outlives the program.
//!
//! The supervisor starts one command in a session of its own and adopts every process that loses its parent. It ends all
//! of them when the command ends, when its standard input or output is closed at the other side (the program stopped it, or
//! was killed), or after a deadline. The command has the standard streams of the supervisor, so nothing is copied: the
//! supervisor only watches them. It also limits memory and takes the network away where the system allows that.
//!
//! A program calls [`main`] in a hidden command, and passes that command to the environments as a
//! [`Supervisor`](crate::process::Supervisor). Killing the supervisor itself with SIGKILL is the one way around it.

mod descendants;
mod limits;

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};

/// The exit code if the supervisor itself fails, as `env` and `timeout` have it.
const EXIT_FAILED: u8 = 125;
/// The exit code if the deadline passed.
const EXIT_TIMEOUT: u8 = 124;

/// Held by the thread that ends the processes.
static ENDING: Mutex<()> = Mutex::new(());

/// What the command line of a supervisor says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    deadline: Option<Duration>,
    grace: Duration,
    memory_bytes: Option<u64>,
    no_network: bool,
    /// A folder that is removed at the end.
    remove: Option<PathBuf>,
    command: Vec<OsString>,
}

/// How folders are called that a supervisor removes; it refuses others.
pub(crate) const FOLDER_PREFIX: &str = "callsieve-episode-";

/// Runs a command under supervision: `[--deadline-ms N] [--grace-ms N] [--memory-bytes N] [--no-network] [--remove FOLDER] --
/// COMMAND…`.
///
/// Without a command, it only reports by its exit code whether the limits can be set. Returns the exit code of the command.
pub fn main(arguments: impl Iterator<Item = OsString>) -> u8 {
    let Some(options) = Options::read(arguments) else { return EXIT_FAILED };
    // One thread so far: a user namespace cannot be left by a process with several.
    let is_limited = limits::apply(options.memory_bytes, options.no_network);
    if is_limited.is_err() || options.command.is_empty() {
        return if is_limited.is_ok() { 0 } else { EXIT_FAILED };
    }
    // Fails if it is the leader of a group already, which is as good.
    let _ = setsid();
    if descendants::adopt_orphans().is_err() {
        return EXIT_FAILED;
    }
    let [program, arguments @ ..] = options.command.as_slice() else { return EXIT_FAILED };
    let streams = (Stdio::inherit(), Stdio::inherit(), Stdio::inherit());
    let child =
        Command::new(program).args(arguments).stdin(streams.0).stdout(streams.1).stderr(streams.2).spawn();
    let Ok(child) = child else { return EXIT_FAILED };
    let Ok(pid) = i32::try_from(child.id()) else { return EXIT_FAILED };
    let (deadline, grace, remove) = (options.deadline, options.grace, options.remove.clone());
    std::thread::spawn(move || {
        let code = watch(deadline, grace);
        // Held to the end: the exit code is that of whoever ends the processes.
        let _ending = ENDING.lock();
        finish(remove.as_deref());
        std::process::exit(i32::from(code));
    });
    let code = wait_for(Pid::from_raw(pid));
    let _ending = ENDING.lock();
    finish(options.remove.as_deref());
    code
}

/// Ends all processes, and removes what they may have written.
fn finish(remove: Option<&Path>) {
    descendants::end_all();
    if let Some(folder) = remove {
        // The program removes it as well, unless it was killed.
        let _ = std::fs::remove_dir_all(folder);
    }
}

/// Waits until the command ends, and collects orphans on the way.
fn wait_for(command: Pid) -> u8 {
    loop {
        match waitpid(None, None) {
            Ok(WaitStatus::Exited(pid, code)) if pid == command => {
                return u8::try_from(code).unwrap_or(EXIT_FAILED);
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == command => {
                return u8::try_from(128 + signal as i32).unwrap_or(EXIT_FAILED);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return EXIT_FAILED,
        }
    }
}

/// Returns when everything has to end: the other side of a stream is gone and the grace is over, or the deadline passed.
fn watch(deadline: Option<Duration>, grace: Duration) -> u8 {
    let end = deadline.map(|deadline| Instant::now() + deadline);
    let (input, output) = (std::io::stdin(), std::io::stdout());
    loop {
        // No events are requested: only the end of the other side is reported.
        let mut streams =
            [PollFd::new(input.as_fd(), PollFlags::empty()), PollFd::new(output.as_fd(), PollFlags::empty())];
        let timeout = end.map_or(PollTimeout::NONE, |end| {
            let left = end.saturating_duration_since(Instant::now()).as_millis();
            PollTimeout::try_from(left.min(1 << 30)).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut streams, timeout) {
            Ok(0) if end.is_some_and(|end| Instant::now() >= end) => return EXIT_TIMEOUT,
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => {
                std::thread::sleep(grace);
                return 0;
            }
            Err(_) => return EXIT_FAILED,
        }
    }
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut options = Self::default();
        let number = |value: Option<OsString>| value?.to_str()?.parse::<u64>().ok();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--deadline-ms") => {
                    options.deadline = Some(Duration::from_millis(number(arguments.next())?));
                }
                Some("--grace-ms") => options.grace = Duration::from_millis(number(arguments.next())?),
                Some("--memory-bytes") => options.memory_bytes = Some(number(arguments.next())?),
                Some("--no-network") => options.no_network = true,
                Some("--remove") => {
                    let folder = PathBuf::from(arguments.next()?);
                    let name = folder.file_name()?.to_str()?.to_owned();
                    options.remove = Some(folder).filter(|_| name.starts_with(FOLDER_PREFIX));
                }
                Some("--") => {
                    options.command = arguments.collect();
                    return Some(options);
                }
                _ => return None,
            }
        }
        Some(options)
    }

    /// Returns the arguments that `read` reads as these options.
    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |name: &str, value: Option<u128>| {
            if let Some(value) = value {
                arguments.extend([OsStr::new(name).to_owned(), value.to_string().into()]);
            }
        };
        add("--deadline-ms", self.deadline.map(|deadline| deadline.as_millis()));
        add("--grace-ms", Some(self.grace.as_millis()));
        add("--memory-bytes", self.memory_bytes.map(u128::from));
        if self.no_network {
            arguments.push("--no-network".into());
        }
        if let Some(folder) = &self.remove {
            arguments.extend(["--remove".into(), folder.clone().into_os_string()]);
        }
        if !self.command.is_empty() {
            arguments.push("--".into());
            arguments.extend(self.command.iter().cloned());
        }
        arguments
    }
}

/// Returns the arguments of a supervisor for a command.
pub(crate) fn arguments(
    grace: Duration,
    memory_bytes: Option<u64>,
    no_network: bool,
    remove: &Path,
    command: Vec<OsString>,
) -> Vec<OsString> {
    let remove = Some(remove.to_owned());
    Options { deadline: None, grace, memory_bytes, no_network, remove, command }.arguments()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_back_from_their_arguments() {
        let options = Options {
            deadline: Some(Duration::from_secs(3)),
            grace: Duration::from_millis(20),
            memory_bytes: Some(1 << 30),
            no_network: true,
            remove: Some("/tmp/callsieve-episode-1".into()),
            command: vec!["python3".into(), "--".into(), "-c".into()],
        };
        assert_eq!(Options::read(options.arguments().into_iter()), Some(options));
        assert_eq!(Options::read(["--deadline-ms", "x"].map(OsString::from).into_iter()), None);
        assert_eq!(Options::read(["python3"].map(OsString::from).into_iter()), None);
    }
}
