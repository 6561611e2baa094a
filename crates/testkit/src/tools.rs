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
        "the_sample_and_its_server_have_the_same_docs",
        "random_calls_have_the_same_results_in_the_sample_and_its_server",
        "noise_is_skipped_and_requests_of_the_server_are_answered",
        "a_server_that_fails_has_a_failure_of_its_own_kind",
        "what_is_no_server_has_a_reason",
        "a_used_server_is_kept_only_if_its_state_is_that_of_a_new_one",
        "a_killed_program_leaves_no_process_and_no_folder",
        "a_closed_input_ends_a_process_that_ignores_it",
        "a_deadline_ends_everything",
        "a_command_that_ends_takes_its_daemons_with_it",
        "memory_is_limited",
        "there_is_no_network_where_the_system_can_take_it_away",
        "programs_of_one_worker_do_not_see_each_other",
        "each_failure_has_its_kind",
        "results_that_the_settings_call_errors_are_failures",
        "values_have_documented_forms",
        "docs_come_from_signatures_and_docstrings",
        "an_episode_is_a_program_call_by_call",
        "what_cannot_be_opened_has_a_reason",
        "exploring_is_the_same_except_for_what_earlier_programs_left",
        "programs_run_on_many_threads_at_once",
        "the_workshop_as_a_server_gives_the_same_instructions",
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
