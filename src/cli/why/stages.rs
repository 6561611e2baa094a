//! Text of what the stages did with a row: a line for each event and each link, with evidence and changes below.

use super::text::Texts;
use crate::cli::console::count;
use crate::engine::corpus::RowId;
use crate::engine::link::Span;
use crate::engine::vocabulary::TableId;
use crate::run::why::{NearRecord, RowEvent, Score, StageHistory};
use crate::text::visible::visible_line;

/// Records near to a row that are shown for each stage.
const MOST_RECORDS: usize = 12;

impl Texts {
    pub(super) fn stage(self, stage: &StageHistory) -> String {
        let label = format!("  {:2} {:24} ", stage.number, stage.id);
        let mut text: String =
            stage.events.iter().map(|event| format!("{label}{}", self.event(event))).collect();
        for link in stage.links.iter().take(MOST_RECORDS) {
            text += &format!("{label}{}", near_record(link));
            if let Some(record) = &link.text {
                text += &format!("      the record: {}\n", self.shown(record));
            }
        }
        if let Some(n_more) = stage.links.len().checked_sub(MOST_RECORDS).filter(|n_more| *n_more > 0) {
            text += &format!("{label}link: {} more; links.parquet has all\n", count(n_more as u64));
        }
        text
    }

    fn event(self, event: &RowEvent) -> String {
        let list = list(event.table, &event.row_id);
        let into = event.merged_into.as_deref().map(|into| format!(" into {}", RowId::short(into)));
        let score = event.score.as_ref().map(|score| format!(", {}", measured(score)));
        let followed = match (event.cascaded, event.table) {
            (false, _) => "",
            (true, TableId::Requests) => " (because of its doc list)",
            (true, TableId::DocLists) => " (because of its requests)",
        };
        let evidence = event.evidence.as_ref();
        let found = evidence.map(|evidence| format!("\n      {}", self.shown(evidence.as_str())));
        let changes = event.edit.iter().flat_map(|edit| &edit.words);
        let changes: String = changes.map(|change| format!("    {change}\n")).collect();
        format!(
            "{list}{}{}: {}{}{followed}{}\n{changes}",
            event.action,
            into.unwrap_or_default(),
            event.reason,
            score.unwrap_or_default(),
            found.unwrap_or_default(),
        )
    }
}

/// The list that an event or link is of; nothing for those of requests.
fn list(table: TableId, id: &str) -> String {
    match table {
        TableId::Requests => String::new(),
        TableId::DocLists => format!("list {} ", RowId::short(id)),
    }
}

/// The links of one object to one record.
fn near_record(link: &NearRecord) -> String {
    let places: Vec<String> = link.spans.iter().map(place).collect();
    let scores: Vec<String> = link.scores.iter().map(measured).collect();
    let more = match link.n_records.saturating_sub(1) {
        0 => String::new(),
        more => format!(" and {} more", count(more.into())),
    };
    format!(
        "{}link: {} {} is near {} {}{more}, {}{}\n",
        list(link.table, &link.row_id),
        link.object,
        places.join(", "),
        link.set,
        visible_line(&link.record),
        scores.join(", "),
        link.verdict.map(|verdict| format!(": {verdict}")).unwrap_or_default()
    )
}

fn place(span: &Span) -> String {
    format!("{}{}", span.column, span.path)
}

fn measured(score: &Score) -> String {
    format!("{} {:.3}", score.metric, score.value)
}
