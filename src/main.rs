//! Parses the command line, runs the command and returns its exit code.

use std::process::ExitCode;

/// A log has millions of short texts on all threads; with the system's allocator they take a fifth of a run.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    callsieve::cli::main()
}
