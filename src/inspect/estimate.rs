//! Estimates the cost of a full run from the duration of `inspect`.
//!
//! The estimate is deliberately rough: a run also merges and judges, and logs differ in how much there is to merge. The
//! constants were measured in runs over logs of 6,000 to a million lines.

use std::time::Duration;

use super::look::{Look, Run};

/// The time of a run per line, relative to `inspect`: a run does more, but most docs occur repeatedly.
const RUN_TO_LOOK: u32 = 1;
/// The time to start and finish a run.
const BASE_MILLIS: u64 = 300;
/// The memory that does not depend on the log.
const BASE_MEMORY: u64 = 160 << 20;
/// The memory for each request.
const MEMORY_A_REQUEST: u64 = 400;
/// The size of the run folder in percent of the text of the log.
const DISK_PERCENT: u64 = 45;

/// Estimates time, memory and disk of a run over all lines; `took` is the duration of `inspect`.
pub(super) fn estimate(look: &Look, took: Duration) -> Run {
    let lines = &look.lines;
    let in_all = |n: u64| {
        let all = u128::from(n) * u128::from(lines.all);
        all.checked_div(u128::from(lines.looked_at)).and_then(|n| u64::try_from(n).ok()).unwrap_or_default()
    };
    let took = u64::try_from((took * RUN_TO_LOOK).as_millis()).unwrap_or(u64::MAX);
    let text_bytes: u64 = look.files.iter().map(|file| file.text_bytes).sum();
    let requests = in_all(lines.requests);
    Run {
        requests,
        seconds: Duration::from_millis(BASE_MILLIS.saturating_add(in_all(took))).as_secs_f64(),
        memory_bytes: BASE_MEMORY + requests * MEMORY_A_REQUEST,
        disk_bytes: text_bytes / 100 * DISK_PERCENT,
    }
}
