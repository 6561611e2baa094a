//! Parses the command line, runs the command, gives its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolsieve::cli::main()
}
