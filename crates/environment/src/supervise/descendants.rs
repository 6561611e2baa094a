//! All processes below this one, and their end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

/// How long the supervisor tries to end processes that keep starting others.
const MAX_ENDING: Duration = Duration::from_secs(5);

/// Makes this process the parent of every descendant that loses its own.
pub(super) fn adopt_orphans() -> nix::Result<()> {
    #[cfg(target_os = "linux")]
    return nix::sys::prctl::set_child_subreaper(true);
    #[cfg(not(target_os = "linux"))]
    Ok(())
}

/// Kills all descendants, whatever they do with signals, and collects them.
pub(super) fn end_all() {
    let start = Instant::now();
    while has_children() && start.elapsed() < MAX_ENDING {
        // Stopped first, so that a process cannot fork faster than it is found.
        let found = descendants(getpid());
        for signal in [Signal::SIGSTOP, Signal::SIGKILL] {
            for pid in &found {
                let _ = kill(*pid, signal);
            }
        }
        while matches!(waitpid(None, Some(WaitPidFlag::WNOHANG)), Ok(status) if status != WaitStatus::StillAlive)
        {
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn has_children() -> bool {
    // Collects what has ended already; the error says that there is nobody left.
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return false,
            Ok(WaitStatus::StillAlive) | Err(_) => return true,
            Ok(_) => {}
        }
    }
}

/// Returns all processes below one. Orphans are children of the supervisor, so none is missing.
fn descendants(root: Pid) -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for pid in entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw()];
    while let Some(pid) = open.pop() {
        // A process is the child of one other, so this ends.
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(below.iter().copied().map(Pid::from_raw));
        open.extend(below);
    }
    found
}

/// Returns the parent of a process: the second field after its name, which may have spaces and brackets.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_and_their_children_are_found() {
        let mut child =
            Command::new("sh").args(["-c", "sleep 60 & wait"]).stdout(Stdio::null()).spawn().unwrap();
        let id = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let start = Instant::now();
        let below = loop {
            let below = descendants(id);
            if !below.is_empty() || start.elapsed() > Duration::from_secs(20) {
                break below;
            }
        };
        assert_eq!(below.len(), 1);
        assert!(descendants(getpid()).contains(&id));
        kill(below[0], Signal::SIGKILL).unwrap();
        assert!(child.wait().unwrap().success() || parent_of(id.as_raw()).is_none());
    }
}
