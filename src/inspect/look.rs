//! What a first look tells: counts and forms, no values. As JSON these are the keys of `inspect --json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Closeness;
use super::lines::{Left, Lines};
use super::sample::Sampled;
use crate::ingest::log_formats::Columns;

/// Everything a look found. All counts but those of `files` are of the lines looked at.
#[derive(Debug, Default, Serialize)]
pub struct Look {
    /// Lines that were to be looked at, and the seed of the draw.
    pub rows: usize,
    /// See `rows`.
    pub seed: u64,
    /// Each file, in the order given.
    pub files: Vec<File>,
    /// What became of the lines looked at.
    pub lines: LineCounts,
    /// How many requests there are of each log format.
    pub log_formats: BTreeMap<&'static str, u64>,
    /// Lines that cannot be read, by reason.
    pub unreadable: BTreeMap<&'static str, Left>,
    /// Lines that hold no request, by reason.
    pub no_request: BTreeMap<&'static str, Left>,
    /// Where lines hold no request: the columns they have, the most frequent first.
    pub columns: Vec<Column>,
    /// Names of columns that were guessed because the usual ones are not there; all counts are with them.
    pub guessed: Option<BTreeMap<&'static str, String>>,
    /// What the requests are.
    pub requests: Requests,
    /// What the function docs are.
    pub docs: Docs,
    /// Which public sets a run would compare with.
    pub public_sets: PublicSets,
    /// What a full run would take: an estimate.
    pub run: Run,
    /// What to do about it.
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
    /// The size of its text; of Parquet, about what it would be as JSON.
    pub text_bytes: u64,
    /// All its lines.
    pub lines: u64,
    /// Lines looked at.
    pub looked_at: u64,
    /// It is no log, but a file of function docs.
    pub is_docs: bool,
}

/// What became of the lines looked at. The last four add up to `looked_at`, and to more where one line holds several
/// requests.
#[derive(Debug, Default, Serialize)]
pub struct LineCounts {
    /// All lines of all files.
    pub all: u64,
    /// Lines looked at.
    pub looked_at: u64,
    /// Lines that hold a request.
    pub requests: u64,
    /// Lines that hold the answer to the request of another line.
    pub answers: u64,
    /// Lines that hold neither.
    pub no_request: u64,
    /// Lines that cannot be read.
    pub unreadable: u64,
}

/// A column of lines without a request.
#[derive(Debug, Serialize)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Lines that have it, not null.
    pub lines: u64,
    /// What most of its values are: `text`, `messages`, `function docs`, `object`, `list`, `number`, `flag`.
    pub holds: &'static str,
    /// The form of the first value, its words masked.
    pub form: String,
}

/// What the requests are.
#[derive(Debug, Default, Serialize)]
pub struct Requests {
    /// Requests that equal an earlier one, byte for byte.
    pub equal: u64,
    /// The language of the last user message.
    pub languages: BTreeMap<&'static str, u64>,
    /// Personal values in messages and answers, by kind.
    pub personal: BTreeMap<&'static str, Personal>,
    /// How long conversations are.
    pub conversations: Conversations,
    /// What the log has as answers.
    pub responses: Responses,
    /// What else the log says.
    pub facts: Facts,
}

/// Personal values of one kind: how many, never which.
#[derive(Debug, Default, Serialize)]
pub struct Personal {
    /// How many.
    pub values: u64,
    /// In how many requests, or doc lists.
    pub rows: u64,
}

/// How long conversations are.
#[derive(Debug, Default, Serialize)]
pub struct Conversations {
    /// Requests with one user message.
    pub single_turn: u64,
    /// Requests with several.
    pub multi_turn: u64,
    /// User messages in the longest.
    pub most_turns: u64,
    /// Requests that go on after a call: later steps of an agent loop.
    pub agent_steps: u64,
    /// Requests with a system message.
    pub with_system: u64,
    /// Requests without a message of the user.
    pub without_user: u64,
}

/// What the log has as answers.
#[derive(Debug, Default, Serialize)]
pub struct Responses {
    /// With calls, be it in text.
    pub calls: u64,
    /// Without.
    pub text: u64,
    /// The request failed, or the answer cannot be read or was cut off.
    pub failed: u64,
    /// None on record.
    pub none: u64,
}

/// What else the log says.
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
    /// Different sessions.
    pub sessions: u64,
    /// Requests with an id of the log.
    pub with_id: u64,
}

/// What the function docs are.
#[derive(Debug, Default, Serialize)]
pub struct Docs {
    /// Lists that differ; what follows counts these.
    pub lists: u64,
    /// Requests sent with a list that an earlier one had.
    pub equal: u64,
    /// Lists that can be read.
    pub read: u64,
    /// Functions in them.
    pub functions: u64,
    /// Functions in a list: the fewest, the median, the most.
    pub functions_a_list: [u64; 3],
    /// Lists by step of reading.
    pub steps: BTreeMap<&'static str, u64>,
    /// Lists by fault of reading.
    pub faults: BTreeMap<&'static str, Left>,
    /// What fixing would change, by rule.
    pub fixes: BTreeMap<&'static str, Fix>,
    /// What is wrong and not mended: lists by rule.
    pub findings: BTreeMap<&'static str, u64>,
    /// Lists that need an edit which fills a gap with a guess.
    pub need_unsafe: u64,
    /// Personal values, by kind.
    pub personal: BTreeMap<&'static str, Personal>,
}

/// Edits of one rule.
#[derive(Debug, Serialize)]
pub struct Fix {
    /// `safe` or `unsafe`.
    pub safety: crate::docs::fix::Safety,
    /// How many.
    pub edits: u64,
    /// In how many lists.
    pub lists: u64,
}

/// Which public sets a run would compare with.
#[derive(Debug, Default, Serialize)]
pub struct PublicSets {
    /// On disk, or built in.
    pub there: Vec<String>,
    /// Not on disk: a run passes them over.
    pub missing: Vec<String>,
}

/// What a full run would take, estimated from the look.
#[derive(Debug, Default, Serialize)]
pub struct Run {
    /// Requests in all files.
    pub requests: u64,
    /// Seconds on this machine.
    pub seconds: f64,
    /// Bytes in memory at most.
    pub memory_bytes: u64,
    /// Bytes of the run folder.
    pub disk_bytes: u64,
}

/// Guessed names, for a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Guess {
    /// With these all lines are read.
    pub(super) columns: Columns,
    /// The names that are new, by key.
    pub(super) new: BTreeMap<&'static str, String>,
}

impl Guess {
    /// The names that are new.
    pub(super) fn named(self) -> BTreeMap<&'static str, String> {
        self.new
    }
}

impl Look {
    /// What is known once lines are read.
    pub(super) fn new(closeness: Closeness, sampled: &[Sampled], lines: &Lines) -> Self {
        let n = |left: &BTreeMap<_, Left>| left.values().map(|left| left.lines).sum();
        let files: Vec<File> = sampled.iter().map(file).collect();
        let counts = LineCounts {
            all: files.iter().map(|file| file.lines).sum(),
            looked_at: files.iter().map(|file| file.looked_at).sum(),
            requests: lines.records.len() as u64,
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
