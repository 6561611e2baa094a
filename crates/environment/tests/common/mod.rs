//! What the tests of processes share.

use callsieve_environment::process::Supervisor;

/// Returns the supervisor of this crate.
pub(crate) fn supervisor() -> Supervisor {
    Supervisor {
        command: vec![env!("CARGO_BIN_EXE_callsieve-supervisor").into()],
        path: std::env::var_os("PATH").unwrap_or_default(),
    }
}
