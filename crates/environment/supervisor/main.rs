//! The supervisor as a program of its own, for the tests of this crate. callsieve has it as a hidden command.

use std::process::ExitCode;

fn main() -> ExitCode {
    callsieve_environment::supervise::main(std::env::args_os().skip(1)).into()
}
