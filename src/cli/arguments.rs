//! Arguments that several commands have in common, and the command line itself.

use anyhow::Context as _;
use clap::builder::RangedI64ValueParser;

/// The most threads: more of them need minutes to start, and no machine has as many cores.
const MAX_THREADS: i64 = 1024;

/// The parser of `--threads`.
pub(super) fn threads() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=MAX_THREADS)
}

/// Uses this number of threads for the rest of the process. Call it before anything is done: the first use of threads, such as the
/// reading of a benchmark, fixes their number.
///
/// # Errors
/// Threads were used before, or cannot be started.
pub(super) fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global().context("--threads")
}

/// The command line of this process. Arguments need not be UTF-8: what cannot be shown becomes U+FFFD.
pub(super) fn command_line() -> impl Iterator<Item = String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned())
}
