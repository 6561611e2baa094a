//! Limits of a process that its children inherit: memory, core files, the network.

use std::io;

use nix::sys::resource::{Resource, setrlimit};

/// The largest file that a process writes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// Sets the limits for this process and everything that it starts.
///
/// # Errors
/// The system refuses one of them.
pub(super) fn apply(memory_bytes: Option<u64>, no_network: bool) -> io::Result<()> {
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, MAX_FILE_BYTES, MAX_FILE_BYTES)?;
    if let Some(bytes) = memory_bytes {
        // Not the address space: V8 and others reserve far more than they use.
        setrlimit(Resource::RLIMIT_DATA, bytes, bytes)?;
    }
    if no_network { leave_network() } else { Ok(()) }
}

/// Enters a network namespace without any interface, in a user namespace with the same user.
#[cfg(target_os = "linux")]
fn leave_network() -> io::Result<()> {
    use nix::sched::{CloneFlags, unshare};
    use nix::unistd::{getgid, getuid};

    let (user, group) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
    for (file, content) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ] {
        write_own(file, &content)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn write_own(file: &str, content: &str) -> io::Result<()> {
    use std::io::Write as _;
    std::fs::OpenOptions::new().write(true).open(format!("/proc/self/{file}"))?.write_all(content.as_bytes())
}

#[cfg(not(target_os = "linux"))]
fn leave_network() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "network namespaces are a feature of Linux"))
}
