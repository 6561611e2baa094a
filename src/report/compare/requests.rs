//! The fate of each request in both runs, matched by id.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::finished::{FateWords, Fates, Finished, RowFate};

/// Requests whose fates are the same or differ.
#[derive(Debug, Default, Serialize)]
pub struct Requests {
    /// With the same fate for the same reason.
    pub same: u64,
    /// Of these: merged into another request than in the first run.
    pub other_leader: u64,
    /// The others: requests of both runs first, the most frequent moves first.
    pub moves: Vec<Move>,
}

/// Requests with one fate in the first run and another in the second.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    /// In the first run.
    pub before: FateWords,
    /// In the second.
    pub after: FateWords,
    /// How many.
    pub rows: u64,
    /// The ids of some, or of all, ascending.
    pub ids: Vec<String>,
}

pub(super) fn requests(before: &Finished, after: &Finished, fates: &mut Fates, max_ids: usize) -> Requests {
    let absent = fates.number(FateWords::absent());
    let fate = |side: Option<RowFate>| side.map_or(absent, |row| row.fate);
    let leader = |side: Option<RowFate>| side.and_then(|row| row.into);
    let mut requests = Requests::default();
    let mut moves: BTreeMap<(usize, usize), (u64, Vec<u128>)> = BTreeMap::new();
    for (id, [from, to]) in side_by_side(before, after) {
        if fate(from) == fate(to) {
            requests.same += 1;
            requests.other_leader += u64::from(leader(from) != leader(to));
            continue;
        }
        let (rows, ids) = moves.entry((fate(from), fate(to))).or_default();
        *rows += 1;
        if ids.len() < max_ids {
            ids.push(id);
        }
    }
    let moves = moves.into_iter().map(|((from, to), (rows, ids))| Move {
        before: fates.words(from).clone(),
        after: fates.words(to).clone(),
        rows,
        ids: ids.into_iter().map(|id| format!("{id:032x}")).collect(),
    });
    requests.moves = moves.collect();
    requests.moves.sort_by(in_order_of_weight);
    requests
}

/// Iterates over the requests of either run, ascending by id, with their fates in both.
fn side_by_side<'r>(
    before: &'r Finished,
    after: &'r Finished,
) -> impl Iterator<Item = (u128, [Option<RowFate>; 2])> {
    let mut sides = [before, after].map(|run| run.requests.iter().peekable());
    std::iter::from_fn(move || {
        let id = sides.iter_mut().filter_map(|side| side.peek().map(|(id, _)| *id)).min()?;
        let fates = sides.each_mut().map(|side| side.next_if(|(at, _)| *at == id).map(|(_, at)| *at));
        Some((id, fates))
    })
}

/// Orders moves: requests of both runs before those of one, whose inputs differ.
fn in_order_of_weight(one: &Move, other: &Move) -> Ordering {
    let is_of_one = |found: &Move| found.before.is_absent() || found.after.is_absent();
    let words = |found: &Move| (found.before.clone(), found.after.clone());
    (is_of_one(one), other.rows, words(one)).cmp(&(is_of_one(other), one.rows, words(other)))
}
