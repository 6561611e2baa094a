//! How much memory the program has, as the system counts it.

use serde::{Deserialize, Serialize};

/// Memory of the process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// What it has now.
    pub resident: u64,
    /// The most that it had since it started.
    pub peak: u64,
}

impl Memory {
    /// Returns the memory of this process; `None` where the system does not tell, which is anywhere but on Linux.
    pub fn now() -> Option<Self> {
        Self::of(&std::fs::read_to_string("/proc/self/status").ok()?)
    }

    /// Reads the lines of `/proc/self/status`, which count kibibytes.
    fn of(status: &str) -> Option<Self> {
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
        };
        Some(Self { resident: bytes("VmRSS:")?, peak: bytes("VmHWM:")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kibibytes_are_bytes_and_what_is_missing_is_unknown() {
        let status = "Name:\tcallsieve\nVmHWM:\t     200 kB\nVmRSS:\t      12 kB\n";
        assert_eq!(Memory::of(status), Some(Memory { resident: 12 * 1024, peak: 200 * 1024 }));
        assert_eq!(Memory::of("VmRSS:\t12 kB\n"), None);
    }
}
