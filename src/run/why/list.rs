//! The history of one doc list: as sent, its requests, the events of each stage, its fate.

use super::story::Story;
use crate::columns::{FUNCTIONS, PARSE_STEPS, TEXT};
use crate::engine::corpus::{Corpus, RowId};
use crate::engine::error::Error;
use crate::engine::ledger::{fate_word, for_each_event};
use crate::engine::links;
use crate::engine::vocabulary::{RowIx, TableId};

/// Requests of a list that are named at most.
const MOST_NAMED: usize = 5;

/// One doc list, and how its history is written.
pub(super) struct ListStory<'a> {
    /// Writes texts and events; its row is not used.
    pub(super) style: Story<'a>,
    pub(super) list: RowIx,
}

impl ListStory<'_> {
    fn corpus(&self) -> &Corpus {
        &self.style.run.corpus
    }

    pub(super) fn text(&self) -> Result<String, Error> {
        let (lists, run) = (&self.corpus().lists, self.style.run);
        let batch = lists.batch_of(self.list);
        let cells = lists.read_batch(batch, &[TEXT, PARSE_STEPS, FUNCTIONS])?;
        let at = self.list as usize - lists.batch(batch).start;
        let mut text = format!("list {}\n", lists.row_id(self.list));
        let sent = cells.text(TEXT, at).unwrap_or(if run.ingest.purged { "removed by purge" } else { "" });
        text += &format!("  sent      {}\n", self.style.shown(sent));
        text += &self.style.digest(cells.text(TEXT, at));
        if let Some(steps) = cells.text(PARSE_STEPS, at) {
            text += &format!("  read by   {}\n", steps.replace(',', ", "));
        }
        if let Some(functions) = cells.text(FUNCTIONS, at) {
            text += &format!("  functions {}\n", self.style.shown(functions));
        }
        text += &self.requests();
        text += "story\n";
        let is_ours = |table, row| table == TableId::DocLists && row == self.list;
        for (nth, stage) in run.stages.iter().enumerate() {
            for_each_event(&run.folder, nth, stage, self.corpus(), is_ours, |events| {
                text.extend(events.iter().map(|event| self.style.event(nth, event)));
                Ok(())
            })?;
            let links = links::of_stage(&run.folder, nth, stage, self.corpus(), is_ours)?;
            text += &self.style.links(nth, &links);
        }
        Ok(text + &self.fate())
    }

    /// The number of requests that were sent with it, and of those that are kept.
    fn requests(&self) -> String {
        let (requests, origin) = (&self.corpus().requests, &self.corpus().origin);
        let of_list = || requests.in_order().iter().copied().filter(|&row| origin[row as usize] == self.list);
        let n_kept = of_list().filter(|&row| requests.is_kept(row)).count();
        let short = |row: RowIx| RowId::short(&requests.row_id(row).to_string()).to_owned();
        let named: Vec<String> = of_list().take(MOST_NAMED).map(short).collect();
        let n_all = of_list().count();
        let more = if n_all > MOST_NAMED { ", …" } else { "" };
        format!("  requests  {n_all} sent with it, {n_kept} of them kept: {}{more}\n", named.join(", "))
    }

    fn fate(&self) -> String {
        let lists = &self.corpus().lists;
        let mut text = format!("fate      {}", fate_word(lists, self.list, false));
        let Some(fate) = lists.fate(self.list) else { return text + "\n" };
        text += &format!(": {}\n          {}\n", fate.reason.code, fate.reason.sentence);
        let mut end = fate.into;
        while let Some(into) = end {
            let id = lists.row_id(into).to_string();
            text += &format!(
                "          merged into {}, which is {}\n",
                RowId::short(&id),
                fate_word(lists, into, false)
            );
            end = lists.fate(into).and_then(|fate| fate.into);
        }
        text
    }
}
