//! The history of one doc list: as sent, its requests, the events of each stage, its fate.

use super::json_text::JsonText;
use super::model::{ListHistory, RowFate};
use super::request::sent_docs;
use super::stages::StagesOf;
use crate::columns::{FUNCTIONS, PARSE_STEPS, TEXT};
use crate::engine::vocabulary::RowIx;
use crate::run::{Error, OpenRun};

/// Returns the history of a doc list.
///
/// # Errors
/// A file of the run folder cannot be read.
pub(super) fn history(run: &OpenRun, list: RowIx) -> Result<ListHistory, Error> {
    let (lists, requests, origin) = (&run.corpus.lists, &run.corpus.requests, &run.corpus.origin);
    let batch = lists.batch_of(list);
    let cells = lists.read_batch(batch, &[TEXT, PARSE_STEPS, FUNCTIONS])?;
    let at = list as usize - lists.batch(batch).start;
    let of_list: Vec<RowIx> =
        requests.in_order().iter().copied().filter(|&row| origin[row as usize] == list).collect();
    Ok(ListHistory {
        sent: sent_docs(run, list, &cells, at),
        functions: cells.text(FUNCTIONS, at).map(JsonText::new),
        n_kept: of_list.iter().filter(|&&row| requests.is_kept(row)).count(),
        requests: of_list.iter().map(|&row| requests.row_id(row).to_string()).collect(),
        stages: StagesOf { run, request: None, lists: &[list] }.histories()?,
        fate: RowFate::of(lists, list, false, |fate| fate.reason.sentence.to_owned()),
    })
}
