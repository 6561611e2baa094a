//! Arguments that several commands have in common, and the command line itself.

use std::ffi::OsString;
use std::sync::OnceLock;

use anyhow::Context as _;
use clap::builder::RangedI64ValueParser;

use crate::ingest::request_filter::RequestFilter;
use crate::pipeline::Override;

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

/// The command line that runs in this process.
static COMMAND_LINE: OnceLock<Vec<String>> = OnceLock::new();

/// Notes the command line that runs in this process. Arguments need not be UTF-8: what cannot be shown becomes U+FFFD.
pub(super) fn set_command_line(arguments: &[OsString]) {
    COMMAND_LINE
        .get_or_init(|| arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect());
}

/// The command line that runs in this process; empty if there is none.
pub(super) fn command_line() -> impl Iterator<Item = String> {
    COMMAND_LINE.get().into_iter().flatten().cloned()
}

/// Arguments that select requests by assistant and time.
#[derive(Debug, clap::Args)]
pub(super) struct FilterArgs {
    /// Only requests of this assistant: the app, team or trace that the log names. May be repeated.
    #[arg(long, value_name = "NAME")]
    assistant: Vec<String>,

    /// Only requests since this day or time, in UTC: 2026-03-31, 2026-03-31T08:00:00Z.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Only requests until this day or time, in UTC; a day counts as a whole.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

impl FilterArgs {
    /// Reads the filter.
    pub(super) fn filter(&self) -> anyhow::Result<RequestFilter> {
        RequestFilter::new(&self.assistant, self.since.as_deref(), self.until.as_deref())
            .map_err(|error| anyhow::anyhow!("{error}"))
    }

    /// The settings of `[ingest]` with the same meaning.
    pub(super) fn overrides(&self) -> anyhow::Result<Vec<Override>> {
        self.filter()?;
        let set = |key: &str, value: toml::Value| Override {
            id: "ingest".to_owned(),
            key: key.to_owned(),
            value: value.to_string(),
        };
        let assistants = (!self.assistant.is_empty())
            .then(|| set("assistants", toml::Value::from(self.assistant.clone())));
        let times = [("since", &self.since), ("until", &self.until)];
        let times = times.into_iter().filter_map(|(key, time)| Some(set(key, time.clone()?.into())));
        Ok(assistants.into_iter().chain(times).collect())
    }
}
