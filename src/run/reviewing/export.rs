//! The rows to review as a table for spreadsheets, with the decisions in effect filled in.

use std::collections::{BTreeMap, BTreeSet};

use callsieve_review::store::Export;
use serde_json::Value;

use super::import::listed_words;
use super::source::{ROWS_AT_ONCE, RunSource};
use super::{Kind, Place, ReviewingOptions};
use crate::columns::{MESSAGES, TEXT};
use crate::engine::vocabulary::{RowIx, TableId};
use crate::run::review::{ReviewOptions, ReviewRow, ReviewTable, Selection};
use crate::run::{Error, OpenRun};

impl OpenRun {
    /// Returns the rows of the page, held rows first, each with its digest (`was`), and with the decision on which its reviewers agree.
    ///
    /// # Errors
    /// A file of the run is damaged.
    pub fn reviewed_table(self, export: &Export) -> Result<ReviewTable, Error> {
        let decided: BTreeMap<&str, &Value> =
            export.lines.iter().filter_map(|line| Some((line["id"].as_str()?, line))).collect();
        let mut places = self.places(&ReviewingOptions::default(), &ReviewOptions::default())?;
        places.extend(self.edited_lists(&places, &decided));
        places.sort_by_key(|place| {
            (place.table, place.kind, self.corpus.table(place.table).position(place.row))
        });
        let noted = self.noted(Selection::Held)?;
        let (mut rows, mut listed) = (Vec::with_capacity(places.len()), Vec::with_capacity(places.len()));
        for (table, column) in [(&self.corpus.requests, MESSAGES), (&self.corpus.lists, TEXT)] {
            let of_table: Vec<Place> =
                places.iter().copied().filter(|place| place.table == table.id()).collect();
            let wanted: Vec<RowIx> = of_table.iter().map(|place| place.row).collect();
            let digests = Self::digests(table, &wanted, column)?;
            let of_table = of_table.into_iter().zip(digests);
            for (mut row, (place, was)) in self.review_rows(table, &wanted, &noted)?.into_iter().zip(of_table)
            {
                listed.push(place);
                row.was = Some(was);
                let prefix = if place.table == TableId::Requests { "request" } else { "list" };
                if let Some(line) = decided.get(format!("{prefix}:{}", row.id).as_str()) {
                    fill_in(&mut row, line);
                }
                rows.push(row);
            }
        }
        let source = RunSource::new(self, listed.clone())?;
        for (rows, places) in rows.chunks_mut(ROWS_AT_ONCE).zip(listed.chunks(ROWS_AT_ONCE)) {
            for ((row, place), item) in rows.iter_mut().zip(places).zip(source.items(places)?) {
                row.possible_decisions = listed_words(*place, &item).join(", ");
            }
        }
        Ok(ReviewTable { rows, waiting_lists: 0 })
    }

    /// The doc lists that were edited from one of their requests, and are no rows of the page.
    fn edited_lists(&self, places: &[Place], decided: &BTreeMap<&str, &Value>) -> Vec<Place> {
        let known: BTreeSet<RowIx> =
            places.iter().filter(|place| place.table == TableId::DocLists).map(|place| place.row).collect();
        let lists = &self.corpus.lists;
        let is_decided = |row: RowIx| decided.contains_key(format!("list:{}", lists.row_id(row)).as_str());
        let has_lists = decided.keys().any(|target| target.starts_with("list:"));
        let all = (0..).take(if has_lists { lists.len() } else { 0 });
        all.filter(|row| !known.contains(row) && is_decided(*row))
            .map(|row| Place { kind: Kind::Decided, table: TableId::DocLists, row })
            .collect()
    }
}

/// Fills in a decision, as a line of a decision file has it.
fn fill_in(row: &mut ReviewRow, line: &Value) {
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    row.decision = match line["decision"].as_str() {
        Some("relabel") => text("relevance"),
        _ => text("decision"),
    };
    row.by = text("by");
    row.why = text("why");
    row.ground_truth = line["ground_truth"].clone();
    row.patch = line["patch"].clone();
    if let Some(functions) = line.get("functions") {
        row.functions = functions.clone();
    }
}
