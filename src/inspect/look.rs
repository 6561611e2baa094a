//! The result of `inspect`: counts and forms, no values. As JSON these are the keys of `inspect --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Closeness;
use super::lines::{Lines, UnreadLines};
use super::sample::Sampled;
use crate::ingest::log_formats::Columns;

/// The result of an inspection. All counts except those of `files` are of the inspected lines.
#[derive(Debug, Default, Serialize)]
pub struct Look {
    /// The number of lines to inspect.
    pub rows: usize,
    /// The seed of the sample.
    pub seed: u64,
    /// Each file, in the order given.
    pub files: Vec<File>,
    /// The inspected lines by fate.
    pub lines: LineCounts,
    /// The number of requests of each log format.
    pub log_formats: BTreeMap<&'static str, u64>,
    /// Lines that cannot be read, by reason.
    pub unreadable: BTreeMap<&'static str, UnreadLines>,
    /// Lines that hold no request, by reason.
    pub no_request: BTreeMap<&'static str, UnreadLines>,
    /// The columns of lines without a request, the most frequent first.
    pub columns: Vec<Column>,
    /// The guessed column names, if the usual ones are missing; all counts use them.
    pub guessed: Option<BTreeMap<&'static str, String>>,
    /// The findings about requests.
    pub requests: Requests,
    /// The findings about function docs.
    pub docs: DocsFindings,
    /// The public sets that a run would compare with.
    pub public_sets: PublicSets,
    /// The estimated cost of a full run.
    pub run: Run,
    /// Hints for the user.
    pub hints: Vec<String>,
}

/// One file.
#[derive(Debug, Serialize)]
pub struct File {
    /// Its path, as given.
    pub path: String,
    /// `jsonl`, `json`, `csv`, `tsv` or `parquet`.
    pub format: &'static str,
    /// `plain`, `gzip` or `zstd`.
    pub compression: &'static str,
    /// Its size as stored.
    pub bytes: u64,
    /// The size of its text; for Parquet, the approximate size as JSON.
    pub text_bytes: u64,
    /// All its lines.
    pub lines: u64,
    /// Inspected lines.
    pub looked_at: u64,
    /// It is a file of function docs, not a log.
    pub is_docs: bool,
}

/// The inspected lines by fate. All but the first two add up to `looked_at`, or to more if a line holds several requests.
#[derive(Debug, Default, Serialize)]
pub struct LineCounts {
    /// All lines of all files.
    pub all: u64,
    /// Inspected lines.
    pub looked_at: u64,
    /// Lines that hold a request.
    pub requests: u64,
    /// Requests of other assistants or another time than is wanted.
    #[serde(skip_serializing_if = "is_zero")]
    pub unwanted: u64,
    /// Lines that hold the answer to the request of another line.
    pub answers: u64,
    /// Lines that hold neither.
    pub no_request: u64,
    /// Lines that cannot be read.
    pub unreadable: u64,
}

// Serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A column of lines without a request.
#[derive(Debug, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Lines that have it, not null.
    pub lines: u64,
    /// The most frequent kind of its values: `text`, `messages`, `function docs`, `object`, `list`, `number`, `flag`.
    pub holds: &'static str,
    /// The form of the first value, with masked words.
    pub form: String,
}

/// The findings about requests.
#[derive(Debug, Default, Serialize)]
pub struct Requests {
    /// Requests that equal an earlier one, byte for byte.
    pub equal: u64,
    /// Queries that many requests fill with other values.
    pub templates: Templates,
    /// The language of the last user message.
    pub languages: BTreeMap<&'static str, u64>,
    /// Personal values in messages and answers, by kind.
    pub personal: BTreeMap<&'static str, Personal>,
    /// The lengths of conversations.
    pub conversations: Conversations,
    /// The answers in the log.
    pub responses: Responses,
    /// Other facts in the log.
    pub facts: Facts,
}

/// Queries that many requests fill with other values. A template that holds a personal value is counted, not named.
#[derive(Debug, Default, Serialize)]
pub struct Templates {
    /// Their number.
    pub templates: u64,
    /// The requests that fill them.
    pub requests: u64,
    /// The requests of the largest.
    pub of_largest: u64,
    /// Requests in the rhythm of a machine, such as a load test.
    pub of_machines: u64,
    /// The largest, with `{}` in place of each value.
    pub largest: Vec<String>,
}

/// The number of personal values of one kind; the values are never shown.
#[derive(Debug, Default, Serialize)]
pub struct Personal {
    /// Their number.
    pub values: u64,
    /// The number of requests, or doc lists, that hold them.
    pub rows: u64,
}

/// The lengths of conversations.
#[derive(Debug, Default, Serialize)]
pub struct Conversations {
    /// Requests with one user message.
    pub single_turn: u64,
    /// Requests with several.
    pub multi_turn: u64,
    /// User messages in the longest.
    pub most_turns: u64,
    /// Requests that continue after a call: later steps of an agent loop.
    pub agent_steps: u64,
    /// Requests with a system message.
    pub with_system: u64,
    /// Requests without a message of the user.
    pub without_user: u64,
}

/// The answers in the log.
#[derive(Debug, Default, Serialize)]
pub struct Responses {
    /// Answers with calls, also in text.
    pub calls: u64,
    /// Answers without calls.
    pub text: u64,
    /// The request failed, or the answer is unreadable or truncated.
    pub failed: u64,
    /// Requests without an answer in the log.
    pub none: u64,
}

/// Other facts in the log.
#[derive(Debug, Default, Serialize)]
pub struct Facts {
    /// The earliest and the latest time, UTC.
    pub time: Option<[String; 2]>,
    /// Requests with a time.
    pub with_time: u64,
    /// Requests by model asked for.
    pub models: BTreeMap<String, u64>,
    /// Different users.
    pub users: u64,
    /// Different apps, teams or traces.
    pub assistants: u64,
    /// Requests of the assistant that sent most.
    pub of_largest_assistant: u64,
    /// Requests of the user who sent most.
    pub of_largest_user: u64,
    /// Different sessions.
    pub sessions: u64,
    /// Requests with an id of the log.
    pub with_id: u64,
}

/// The findings about function docs.
#[derive(Debug, Default, Serialize)]
pub struct DocsFindings {
    /// Distinct lists; the following fields count these.
    pub lists: u64,
    /// Requests sent with a list that an earlier one had.
    pub equal: u64,
    /// Lists that can be read.
    pub read: u64,
    /// Functions in them.
    pub functions: u64,
    /// Functions in a list: minimum, median, maximum.
    pub functions_a_list: [u64; 3],
    /// Lists by parser step.
    pub steps: BTreeMap<&'static str, u64>,
    /// Lists by parser fault.
    pub faults: BTreeMap<&'static str, UnreadLines>,
    /// Edits that fixing would make, by rule.
    pub fixes: BTreeMap<&'static str, Fix>,
    /// Findings that no fix changes: lists by rule.
    pub findings: BTreeMap<&'static str, u64>,
    /// Lists that need an edit that fills a gap with a guess.
    pub need_unsafe: u64,
    /// Personal values, by kind.
    pub personal: BTreeMap<&'static str, Personal>,
}

/// Edits of one rule.
#[derive(Debug, Serialize)]
pub struct Fix {
    /// `safe` or `unsafe`.
    pub safety: crate::docs::fix::Safety,
    /// Their number.
    pub edits: u64,
    /// The number of lists with such edits.
    pub lists: u64,
}

/// The public sets that a run would compare with.
#[derive(Debug, Default, Serialize)]
pub struct PublicSets {
    /// On disk, or built in.
    pub there: Vec<String>,
    /// Not on disk: a run skips them.
    pub missing: Vec<String>,
    /// The first error of those that cannot be read: a run stops there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// The estimated cost of a full run.
#[derive(Debug, Default, Serialize)]
pub struct Run {
    /// Requests in all files.
    pub requests: u64,
    /// Seconds on this machine.
    pub seconds: f64,
    /// Maximum memory in bytes.
    pub memory_bytes: u64,
    /// Bytes of the run folder.
    pub disk_bytes: u64,
}

/// Guessed column names, for a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Guess {
    /// All column names, with the guessed ones.
    pub(super) columns: Columns,
    /// The guessed names, by key.
    pub(super) new: BTreeMap<&'static str, String>,
}

impl Guess {
    /// Returns the guessed names.
    pub(super) fn named(self) -> BTreeMap<&'static str, String> {
        self.new
    }
}

impl Look {
    /// Returns the findings that are known after the lines are parsed.
    pub(super) fn new(closeness: Closeness, sampled: &[Sampled], lines: &Lines) -> Self {
        let n = |left: &BTreeMap<_, UnreadLines>| left.values().map(|left| left.lines).sum();
        let files: Vec<File> = sampled.iter().map(file).collect();
        let counts = LineCounts {
            all: files.iter().map(|file| file.lines).sum(),
            looked_at: files.iter().map(|file| file.looked_at).sum(),
            requests: lines.records.len() as u64,
            unwanted: lines.unwanted,
            answers: lines.answers,
            no_request: n(&lines.no_request),
            unreadable: n(&lines.unreadable),
        };
        let mut log_formats = BTreeMap::new();
        for record in &lines.records {
            *log_formats.entry(record.log_format).or_default() += 1;
        }
        Self {
            rows: closeness.rows,
            seed: closeness.seed,
            files,
            lines: counts,
            log_formats,
            unreadable: lines.unreadable.clone(),
            no_request: lines.no_request.clone(),
            ..Self::default()
        }
    }
}

fn file(sampled: &Sampled) -> File {
    File {
        path: sampled.path.clone(),
        format: sampled.format,
        compression: sampled.compression,
        bytes: sampled.bytes,
        text_bytes: sampled.text_bytes,
        lines: sampled.n_lines,
        looked_at: sampled.blocks.iter().flat_map(|block| &block.items).map(|item| item.n_items).sum(),
        is_docs: false,
    }
}
