//! The row index: the few bytes per row that stay in memory and determine order and ids, and the files of them.
//!
//! Requests are ordered by time, then line, then place in the line, then content, in any order and under any names of
//! the files. Lists have the order of their earliest request; lists without a request follow, ordered by line and
//! content.

use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::rows::SourcePlace;
use crate::corpus::{IdDigits, RowId};
use crate::error::{Error, Result, damaged};
use crate::frame::{FrameFile, FrameWriter, Values};
use crate::vocabulary::RowIx;
use callsieve_text::content_hash::content_hash;

/// Rows of the row index that are formatted as text at a time.
const INDEX_ROWS: usize = 1 << 14;

/// The sort keys and the list of each request, in the order in which they were read.
#[derive(Default)]
pub(super) struct RowIndex {
    content_keys: Vec<u128>,
    times: Vec<i64>,
    /// The lines, with the places of requests that share a line.
    places: Vec<u64>,
    list_of: Vec<RowIx>,
    /// File and line of the last request, and its place in the line.
    last: (u32, u64, u64),
}

/// Bits of a place in a line; requests after the last place are ordered by content.
const PLACE_BITS: u32 = 20;

impl RowIndex {
    pub(super) fn push(&mut self, content_key: u128, time_ms: Option<i64>, at: SourcePlace, list: RowIx) {
        self.content_keys.push(content_key);
        self.times.push(time_ms.unwrap_or(i64::MAX));
        let (file, line, place) = self.last;
        let place = if (file, line) == (at.file, at.line) { place + 1 } else { 0 };
        self.last = (at.file, at.line, place);
        self.places.push(at.line << PLACE_BITS | place.min((1 << PLACE_BITS) - 1));
        self.list_of.push(list);
    }

    /// Returns the indexes of both tables.
    ///
    /// `lines` are the lines of the lists without a request.
    pub(super) fn finish(
        self,
        list_ids: Vec<u128>,
        lines: &FxHashMap<RowIx, u64>,
    ) -> Result<(TableIndex, TableIndex)> {
        let (ids, position) = order_requests(&self.content_keys, &self.times, &self.places)?;
        let list_position = order_lists(&self.list_of, &position, &list_ids, lines);
        let lists = TableIndex { ids: list_ids, position: list_position, list_of: None };
        Ok((TableIndex { ids, position, list_of: Some(self.list_of) }, lists))
    }
}

/// The row index of one table.
#[derive(Debug, Clone)]
pub(super) struct TableIndex {
    pub(super) ids: Vec<u128>,
    /// The position of each row in canonical order.
    pub(super) position: Vec<u32>,
    /// For requests: the list of each row.
    pub(super) list_of: Option<Vec<RowIx>>,
}

impl TableIndex {
    /// Returns the rows in canonical order.
    pub(super) fn order(&self) -> Vec<RowIx> {
        let mut order = vec![0; self.position.len()];
        for (row, &place) in (0..).zip(&self.position) {
            order[place as usize] = row;
        }
        order
    }
}

/// Orders rows by time, then line and place, then content; the result does not depend on the order of files. Equal
/// records are numbered in that order.
fn order_requests(keys: &[u128], times: &[i64], places: &[u64]) -> Result<(Vec<u128>, Vec<u32>)> {
    let rows = u32::try_from(keys.len()).map_err(|_| {
        Error::Input("more than 2^32 requests in one run\nhint: split the log by time".to_owned())
    })?;
    let mut order: Vec<RowIx> = (0..rows).collect();
    order.par_sort_by_key(|&row| {
        let row = row as usize;
        (times[row], places[row], keys[row])
    });
    let mut occurrences = repeated(keys);
    let mut ids = keys.to_vec();
    let mut position = vec![0; keys.len()];
    for (place, &row) in (0..).zip(&order) {
        position[row as usize] = place;
        let key = keys[row as usize];
        if let Some(occurrence) = occurrences.get_mut(&key) {
            if *occurrence > 0 {
                ids[row as usize] = id_of_repeat(key, *occurrence);
            }
            *occurrence += 1;
        }
    }
    Ok((ids, position))
}

/// Returns the id of the second and later of equal records; `occurrence` counts from 0, which is the first.
pub fn id_of_repeat(key: u128, occurrence: u64) -> u128 {
    let mut bytes = key.to_le_bytes().to_vec();
    bytes.extend(occurrence.to_le_bytes());
    content_hash(&bytes)
}

/// Returns the keys that occur more than once, each with a count of 0. It sorts them, because a map of all keys would
/// use more memory than anything else.
fn repeated(keys: &[u128]) -> FxHashMap<u128, u64> {
    let mut sorted = keys.to_vec();
    sorted.par_sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| (pair[0], 0)).collect()
}

/// Orders lists by their earliest request; lists without one come last, by line and content.
fn order_lists(
    list_of: &[RowIx],
    request_position: &[u32],
    ids: &[u128],
    lines: &FxHashMap<RowIx, u64>,
) -> Vec<u32> {
    let mut earliest = vec![u32::MAX; ids.len()];
    for (&list, &position) in list_of.iter().zip(request_position) {
        let slot = &mut earliest[list as usize];
        *slot = (*slot).min(position);
    }
    let mut order: Vec<u32> = (0..).take(ids.len()).collect();
    order.sort_by_key(|&list| (earliest[list as usize], lines.get(&list), ids[list as usize]));
    let mut position = vec![0; ids.len()];
    for (place, &list) in (0..).zip(&order) {
        position[list as usize] = place;
    }
    position
}

/// Writes the row index of a table.
pub(super) fn write_row_index(path: &Path, TableIndex { ids, position, list_of }: &TableIndex) -> Result<()> {
    let mut writer = FrameWriter::create(path);
    let mut start = 0;
    loop {
        let rows = start..ids.len().min(start + INDEX_ROWS);
        let texts: Vec<IdDigits> = ids[rows.clone()].iter().map(|&id| RowId(id).digits()).collect();
        let mut row_index = vec![
            ("row_id", Values::Text(texts.iter().map(|id| Some(id.as_str())).collect())),
            ("position", Values::U32(position[rows.clone()].to_vec())),
        ];
        let list_of = list_of.as_deref();
        row_index.extend(list_of.map(|list_of| ("doc_list", Values::U32(list_of[rows.clone()].to_vec()))));
        writer.write(row_index)?;
        start = rows.end;
        if start == ids.len() {
            return writer.finish().map(drop);
        }
    }
}

/// Reads the row index of a table.
pub(super) fn read_row_index(path: &Path) -> Result<TableIndex> {
    let file = FrameFile::open(path)?;
    let mut row_index =
        TableIndex { ids: Vec::with_capacity(file.height()), position: Vec::new(), list_of: None };
    let mut is_taken = vec![false; file.height()];
    for start in (0..file.height()).step_by(INDEX_ROWS) {
        let frame = file.read(start, INDEX_ROWS.min(file.height() - start), None)?;
        let (Some(texts), Some(positions)) = (frame.texts("row_id"), frame.u32s("position")) else {
            return Err(damaged(path, "a column of the row index is missing"));
        };
        let list_of = frame.u32s("doc_list");
        for at in 0..frame.height() {
            let row = start + at;
            let id = texts.get(at).and_then(RowId::number);
            row_index.ids.push(id.ok_or_else(|| damaged(path, format!("row {row} has no id")))?);
            let place = positions.get(at).filter(|&place| {
                is_taken.get_mut(place as usize).is_some_and(|taken| !std::mem::replace(taken, true))
            });
            row_index
                .position
                .push(place.ok_or_else(|| damaged(path, format!("row {row} has no position of its own")))?);
            if let Some(list) = list_of.and_then(|list_of| list_of.get(at)) {
                row_index.list_of.get_or_insert_default().push(list);
            }
        }
    }
    Ok(row_index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_records_get_ids_of_their_own_that_do_not_depend_on_the_order_of_files() {
        let keys = [7_u128, 9, 7, 7];
        let (ids, position) = order_requests(&keys, &[5, 1, 5, 5], &[1, 1, 2, 9]).unwrap();
        assert_eq!(position, [1, 0, 2, 3]);
        assert_eq!(ids[0], 7);
        assert!(ids[2] != 7 && ids[3] != 7 && ids[2] != ids[3]);
        let turned = order_requests(&[7, 7, 9, 7], &[5, 5, 1, 5], &[9, 2, 1, 1]).unwrap().0;
        assert_eq!([turned[3], turned[2], turned[1], turned[0]], *ids);
    }

    #[test]
    fn lists_have_the_order_of_their_earliest_request() {
        let none = FxHashMap::default();
        assert_eq!(order_lists(&[1, 0, 1, 2], &[3, 2, 0, 1], &[7, 8, 9], &none), [2, 0, 1]);
    }

    #[test]
    fn lists_without_a_request_come_last_in_the_order_of_the_log_whatever_was_read_first() {
        let lines = FxHashMap::from_iter([(0, 5), (1, 2), (3, 2)]);
        assert_eq!(order_lists(&[2], &[0], &[7, 9, 1, 8], &lines), [3, 2, 0, 1]);
    }
}
