//! Applies fates to the tables: to the row itself, and to the linked rows of the other table.
//!
//! | row | linked rows |
//! |---|---|
//! | list dropped or held | its requests get the same fate, for the same reason |
//! | list merged | its requests get the leader as their list; the list they were sent with stays recorded |
//! | last kept request of a list no longer kept | the list is dropped with [`NO_REQUEST_LEFT`]; it is held if one of
//! the requests is held |
//!
//! A list that never had a request, as sent or by a merge, is kept until a stage judges otherwise.

use super::corpus::Corpus;
use super::error::{Error, Result};
use super::fate::{Fate, FateEvent};
use super::vocabulary::{Action, Evidence, Reason, RowIx, TableId};

/// The reason of a list that is dropped because none of its requests is kept.
pub static NO_REQUEST_LEFT: Reason =
    Reason::policy("cascade/no-request-left", "No request that was sent with this doc list is kept.");

/// Applies the fates of a stage, and appends the fates that follow for the other table.
pub(crate) fn take_effect(
    corpus: &mut Corpus,
    judged: TableId,
    fates: Vec<FateEvent>,
    stage: usize,
) -> Result<Vec<FateEvent>> {
    take_effect_resolved(corpus, judged, fates, stage, |fate| fate)
}

/// Like [`take_effect`]; `resolved` may change a fate that follows, such as a hold of a row that a person drops.
pub(super) fn take_effect_resolved(
    corpus: &mut Corpus,
    judged: TableId,
    mut fates: Vec<FateEvent>,
    stage: usize,
    resolved: impl Fn(FateEvent) -> FateEvent,
) -> Result<Vec<FateEvent>> {
    apply(corpus, &fates, stage)?;
    let follows: Vec<FateEvent> = cascade(corpus, judged).into_iter().map(resolved).collect();
    apply(corpus, &follows, stage)?;
    fates.extend(follows);
    Ok(fates)
}

/// Sets the fates of rows, and the leader as the list of requests of merged lists.
pub(super) fn apply(corpus: &mut Corpus, fates: &[FateEvent], at: usize) -> Result<()> {
    let stage =
        u16::try_from(at).map_err(|_| Error::Setting("more than 65,535 stages in one pipeline".into()))?;
    for &FateEvent { table, row, action, reason, into, .. } in fates {
        corpus.apply(table, row, Fate { action, stage, reason, into });
    }
    // This changes nothing if only requests were merged.
    if fates.iter().any(|fate| fate.into.is_some()) {
        corpus.follow_merged_lists();
    }
    Ok(())
}

/// Returns the fates that follow for the other table; see the table at the top of the module.
pub fn cascade(corpus: &Corpus, judged: TableId) -> Vec<FateEvent> {
    let mut follows = if judged == TableId::DocLists { requests_of_gone_lists(corpus) } else { Vec::new() };
    follows.extend(lists_without_requests(corpus));
    follows
}

fn requests_of_gone_lists(corpus: &Corpus) -> Vec<FateEvent> {
    let rows = (0..).zip(&corpus.list).filter(|&(row, _)| corpus.requests.is_kept(row));
    rows.filter_map(|(row, &list)| {
        let fate = corpus.lists.fate(list)?;
        Some(followed(TableId::Requests, row, fate.action, fate.reason))
    })
    .collect()
}

fn lists_without_requests(corpus: &Corpus) -> Vec<FateEvent> {
    let mut has_any = vec![false; corpus.lists.len()];
    let mut has_kept = vec![false; corpus.lists.len()];
    let mut has_held = vec![false; corpus.lists.len()];
    for (row, &list) in (0..).zip(&corpus.list) {
        has_any[list as usize] = true;
        match corpus.requests.fate(row) {
            None => has_kept[list as usize] = true,
            Some(fate) => has_held[list as usize] |= fate.action == Action::Hold,
        }
    }
    (0..)
        .zip(has_any.into_iter().zip(has_kept).zip(has_held))
        .filter(|&(row, ((has_any, has_kept), _))| has_any && !has_kept && corpus.lists.is_kept(row))
        .map(|(row, (_, has_held))| {
            let action = if has_held { Action::Hold } else { Action::Drop };
            followed(TableId::DocLists, row, action, &NO_REQUEST_LEFT)
        })
        .collect()
}

fn followed(table: TableId, row: RowIx, action: Action, reason: &'static Reason) -> FateEvent {
    FateEvent { table, row, action, reason, into: None, cascaded: true, evidence: Evidence::default() }
}
