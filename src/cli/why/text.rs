//! Text of what `why` found: labels, the order of lines, and how long a text may be.

use crate::cli::console::count;
use crate::engine::corpus::RowId;
use crate::run::why::{LineHistory, ListHistory, RecordOfLine, RecordsOfLine, RowFate, Why};
use crate::text::figures::{counted, table};
use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// Characters of a text that are shown by default.
const MAX_CHARS: usize = 200;

/// Digits of a digest that are shown: those that a decision needs and some more.
const DIGITS_SHOWN: usize = 16;

/// Records of one line that are listed at most.
const MAX_LISTED: usize = 20;

/// Requests of a list that are named at most.
const MOST_NAMED: usize = 5;

/// Shown instead of a text that was removed.
pub(super) const PURGED: &str = "removed by purge";

/// How histories are written.
#[derive(Clone, Copy)]
pub(super) struct Texts {
    /// Texts are not shortened, and the digests of contents are shown.
    pub(super) is_full: bool,
}

impl Texts {
    pub(super) fn text(self, why: &Why) -> String {
        match why {
            Why::Requests { requests } => {
                requests.iter().map(|request| self.request(request)).collect::<Vec<_>>().join("\n")
            }
            Why::List(list) => self.list(list),
            Why::Line(line) => line_text(line),
            Why::Records(records) => records_text(records),
            Why::Forgotten { id, reason } => format!("request {id}\nfate      forgotten: {reason}\n"),
        }
    }

    /// A text on one line.
    pub(super) fn shown(self, text: &str) -> String {
        let max_chars = if self.is_full { usize::MAX } else { MAX_CHARS };
        shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), max_chars)
    }

    /// The digest by which a decision names the content.
    pub(super) fn digest(self, digest: Option<&str>) -> String {
        let digest = digest.filter(|_| self.is_full);
        digest.map_or_else(String::new, |digest| format!("  digest    {}\n", &digest[..DIGITS_SHOWN]))
    }

    fn list(self, list: &ListHistory) -> String {
        let sent = &list.sent;
        let text = sent.text.as_deref().unwrap_or(if sent.is_purged { PURGED } else { "" });
        let mut lines = format!("list {}\n  sent      {}\n", sent.list_id, self.shown(text));
        lines += &self.digest(sent.digest.as_deref());
        if !sent.parser_steps.is_empty() {
            lines += &format!("  read by   {}\n", sent.parser_steps.join(", "));
        }
        if let Some(functions) = &list.functions {
            lines += &format!("  functions {}\n", self.shown(functions.as_str()));
        }
        lines += &requests_of_list(list);
        lines += "story\n";
        lines.extend(list.stages.iter().map(|stage| self.stage(stage)));
        lines + &fate_of_list(&list.fate)
    }
}

/// The number of requests that were sent with a list, and of those that are kept.
fn requests_of_list(list: &ListHistory) -> String {
    let ids = &list.requests;
    let named: Vec<&str> = ids.iter().take(MOST_NAMED).map(|id| RowId::short(id)).collect();
    let more = if ids.len() > MOST_NAMED { ", …" } else { "" };
    let (n_all, n_kept, named) = (ids.len(), list.n_kept, named.join(", "));
    format!("  requests  {n_all} sent with it, {n_kept} of them kept: {named}{more}\n")
}

fn fate_of_list(fate: &RowFate) -> String {
    let mut text = format!("fate      {}", fate.name);
    text += &reason(fate).unwrap_or_else(|| "\n".to_owned());
    for into in &fate.merged_into {
        text += &format!("          merged into {}, which is {}\n", RowId::short(&into.id), into.fate);
    }
    text
}

/// The reason of a fate, and its meaning on a line of its own.
pub(super) fn reason(fate: &RowFate) -> Option<String> {
    let (code, description) = (fate.reason?, fate.description.as_deref().unwrap_or_default());
    Some(format!(": {code}\n          {description}\n"))
}

/// A line without a request of its own.
fn line_text(line: &LineHistory) -> String {
    let title = match line.place.record {
        Some(_) => format!("record {}", line.place.with_line()),
        None => format!("line {}", visible_line(&line.name)),
    };
    let mut text = format!("{title}\n  fate      {}: {}\n", line.fate, line.reason);
    let found = visible_line(&line.found);
    if !found.is_empty() {
        text += &format!("  found     {found}\n");
    }
    if let Some(into) = &line.joined_into {
        text += &format!("  into      {}\n", into.with_line());
    }
    text
}

/// The records of one line as a table.
fn records_text(records: &RecordsOfLine) -> String {
    let shown = |record: &RecordOfLine| {
        let id = record.request_id.as_deref().map_or("-", RowId::short);
        let fate = match &record.reason {
            Some(reason) => format!("{}: {reason}", record.fate),
            None => record.fate.clone(),
        };
        vec![record.place.to_string(), id.to_owned(), fate]
    };
    let rows: Vec<Vec<String>> = records.records.iter().take(MAX_LISTED).map(shown).collect();
    let n_records = counted(records.n_records as u64, "record", "records");
    let mut text = format!("{} holds {n_records}\n\n", visible_line(&records.name));
    text += &table(&["record", "request", "fate"], &rows, &[]);
    if let Some(n_more) = records.records.len().checked_sub(MAX_LISTED).filter(|n_more| *n_more > 0) {
        text += &format!("… and {} more\n", count(n_more as u64));
    }
    text
}
