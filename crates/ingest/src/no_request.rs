//! Recognises inputs that are no logs: files with lines, of which not one holds a request.

use std::collections::BTreeMap;

use crate::reasons::{BAD_MESSAGE, UNKNOWN_LOG_FORMAT};
use callsieve_engine::error::Error;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::raw::{LineRow, SourcePlace};
use callsieve_text::figures::count;

/// The lines without a request, until the first request is found.
#[derive(Debug, Default)]
pub(super) struct LinesWithoutRequest {
    has_request: bool,
    is_damaged: bool,
    reasons: BTreeMap<&'static str, u64>,
    /// The first line with a detail.
    first: Option<(SourcePlace, String)>,
}

impl LinesWithoutRequest {
    pub(super) fn found_request(&mut self) {
        self.has_request = true;
    }

    pub(super) fn add(&mut self, line: &LineRow) {
        if self.has_request {
            return;
        }
        self.is_damaged |= line.ends_file;
        *self.reasons.entry(line.reason).or_default() += line.n_lines;
        if self.first.is_none() && !line.detail.is_empty() {
            self.first = Some((line.place, line.detail.clone()));
        }
    }

    /// Checks that there is a request, if there is any line. A damaged file is not judged: its requests may be missing.
    ///
    /// # Errors
    /// Lines were read, and none holds a request.
    pub(super) fn check(&self, inputs: &[InputFile]) -> Result<(), Error> {
        if self.has_request || self.is_damaged || self.reasons.is_empty() {
            return Ok(());
        }
        let path = |at: usize| inputs.get(at).map_or("?", |input| &input.path);
        let name = path(self.first.as_ref().map_or(0, |(place, _)| place.file as usize));
        let more = match inputs.len() {
            0 | 1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, n)| format!("{} {reason}", count(*n))).collect();
        let first = self.first.as_ref().map(|(place, detail)| {
            format!("; the first is {}:{}: {detail}", path(place.file as usize), place.line)
        });
        Err(Error::NoRequest(format!(
            "no request was read from {name}{more}: found {}, expected a log of requests with functions{}\nhint: {}",
            reasons.join(", "),
            first.unwrap_or_default(),
            self.hint(name)
        )))
    }

    fn hint(&self, path: &str) -> String {
        if self.reasons.contains_key(BAD_MESSAGE) {
            return "messages are a list of objects such as {\"role\": \"user\", \"content\": \"…\"}; a query without roles is one text".to_owned();
        }
        let columns = if self.reasons.contains_key(UNKNOWN_LOG_FORMAT) {
            "; if columns have other names, set both, such as --set 'ingest.columns.query=[\"text\"]' --set 'ingest.columns.functions=[\"docs\"]'"
        } else {
            ""
        };
        format!("`callsieve inspect {path}` shows what is in the file{columns}")
    }
}
