//! Parses the command line, runs the command, gives its exit code.

use std::process::ExitCode;

/// A log is millions of short texts on all threads; the system's allocator takes a fifth of a run for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    toolsieve::cli::main()
}
