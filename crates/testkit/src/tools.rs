//! Programs that are not part of the repository and that some tests start.
//!
//! [`TOOLS`] lists them with the tests that need them, so that `tests/zz_data.rs` can print at the end how many did not run.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A program, and the tests that need it.
pub struct Tool {
    /// Its command.
    pub command: &'static str,
    /// Names of test functions.
    pub tests: &'static [&'static str],
}

/// All tools.
pub const TOOLS: &[Tool] = &[Tool {
    command: "python3",
    tests: &[
        "programs_of_one_worker_do_not_see_each_other",
        "each_failure_has_its_kind",
        "values_have_documented_forms",
        "docs_come_from_signatures_and_docstrings",
        "an_episode_is_a_program_call_by_call",
        "what_cannot_be_opened_has_a_reason",
        "programs_run_on_many_threads_at_once",
    ],
}];

/// Returns `true` if a program can be started.
pub fn is_there(command: &str) -> bool {
    let mut started = Command::new(command);
    started.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    started.status().is_ok_and(|status| status.success())
}

/// Returns the command of Python 3; `None` if there is none.
///
/// # Panics
/// The running test is not listed.
pub fn python3() -> Option<PathBuf> {
    let tool = &TOOLS[0];
    let thread = std::thread::current();
    let test = thread.name().and_then(|name| name.rsplit("::").next()).filter(|name| *name != "main");
    if let Some(test) = test {
        assert!(
            tool.tests.contains(&test),
            "crates/testkit/src/tools.rs does not list {test} with {}",
            tool.command
        );
    }
    is_there(tool.command).then(|| tool.command.into())
}
