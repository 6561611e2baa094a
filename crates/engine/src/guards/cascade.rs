//! Tests of every row of the cascade table: the effect of a fate on linked rows.

use serde_json::json;

use super::{BAD, Home, Log, WORSE, drops, stage};
use crate::cascade::take_effect;
use crate::corpus::Corpus;
use crate::fate::FateEvent;
use crate::fixture;
use crate::vocabulary::Action::{self, Drop, Hold, Merge};
use crate::vocabulary::TableId::{DocLists, Requests};
use crate::vocabulary::{Evidence, Reason, RowIx, TableId};

/// The essential part of a fate.
type Short = (TableId, RowIx, Action, &'static str);

/// Requests of these doc lists, none with a fate.
struct Tables {
    corpus: Corpus,
    stage: usize,
}

impl Tables {
    fn of(lists: &[u64]) -> Self {
        let n_lists = lists.iter().max().map_or(0, |list| list + 1);
        let requests: Vec<_> = lists.iter().map(|list| json!({"list": list})).collect();
        let lists: Vec<_> = (0..n_lists).map(|_| json!({"functions": []})).collect();
        Self { corpus: fixture::corpus(&json!({"requests": requests, "doc_lists": lists})), stage: 0 }
    }

    /// Applies fates to rows of one table. Returns the fates that followed.
    fn take(&mut self, table: TableId, fates: &[(RowIx, Action, Option<RowIx>)]) -> Vec<Short> {
        let event = |&(row, action, into): &(RowIx, Action, Option<RowIx>)| FateEvent {
            table,
            row,
            action,
            reason: reason_of(action),
            into,
            cascaded: false,
            evidence: Evidence::default(),
        };
        let spoken: Vec<FateEvent> = fates.iter().map(event).collect();
        let all = take_effect(&mut self.corpus, table, spoken.clone(), self.stage).unwrap();
        assert_eq!(all[..spoken.len()], spoken);
        let follows = &all[spoken.len()..];
        for event in follows {
            assert!(event.cascaded && event.into.is_none() && event.evidence == Evidence::default());
            let fate = self.corpus.table(event.table).fate(event.row).unwrap();
            let stage = usize::from(fate.stage);
            assert_eq!((fate.action, fate.reason, stage), (event.action, event.reason, self.stage));
        }
        self.stage += 1;
        follows.iter().map(|event| (event.table, event.row, event.action, event.reason.code)).collect()
    }
}

fn reason_of(action: Action) -> &'static Reason {
    if action == Hold { &WORSE } else { &BAD }
}

const LEFT: &str = "cascade/no-request-left";

#[test]
fn the_requests_of_a_dropped_list_are_dropped_for_its_reason() {
    let mut tables = Tables::of(&[0, 1, 0]);
    let follows = tables.take(DocLists, &[(0, Drop, None)]);
    assert_eq!(follows, [(Requests, 0, Drop, "test/bad"), (Requests, 2, Drop, "test/bad")]);
    assert!(tables.corpus.requests.is_kept(1) && tables.corpus.lists.is_kept(1));
}

#[test]
fn the_requests_of_a_held_list_are_held_for_its_reason() {
    let mut tables = Tables::of(&[0, 1, 0]);
    let follows = tables.take(DocLists, &[(0, Hold, None)]);
    assert_eq!(follows, [(Requests, 0, Hold, "test/worse"), (Requests, 2, Hold, "test/worse")]);
    assert!(tables.corpus.requests.is_kept(1) && tables.corpus.lists.is_kept(1));
}

#[test]
fn a_request_dropped_before_its_list_keeps_its_own_fate() {
    let mut tables = Tables::of(&[0, 0, 0]);
    assert_eq!(tables.take(Requests, &[(1, Hold, None)]), []);
    let follows = tables.take(DocLists, &[(0, Drop, None)]);
    assert_eq!(follows, [(Requests, 0, Drop, "test/bad"), (Requests, 2, Drop, "test/bad")]);
    let fate = tables.corpus.requests.fate(1).unwrap();
    assert_eq!((fate.action, fate.reason, fate.stage), (Hold, &WORSE, 0));
}

#[test]
fn the_requests_of_a_merged_list_go_to_its_leader_and_their_origin_stays() {
    let mut tables = Tables::of(&[0, 1, 2, 1]);
    assert_eq!(tables.take(DocLists, &[(1, Merge, Some(0))]), []);
    assert_eq!((&*tables.corpus.list, &*tables.corpus.origin), (&[0, 0, 2, 0][..], &[0, 1, 2, 1][..]));
    assert_eq!(tables.corpus.requests.kept(), 4);
    // A leader may itself be merged later, and dropped after that.
    assert_eq!(tables.take(DocLists, &[(0, Merge, Some(2))]), []);
    assert_eq!((&*tables.corpus.list, &*tables.corpus.origin), (&[2, 2, 2, 2][..], &[0, 1, 2, 1][..]));
    let follows = tables.take(DocLists, &[(2, Drop, None)]);
    assert_eq!(follows, [0, 1, 2, 3].map(|row| (Requests, row, Drop, "test/bad")));
}

#[test]
fn a_dropped_request_gets_the_leader_as_its_list_too() {
    let mut tables = Tables::of(&[0, 1, 1]);
    assert_eq!(tables.take(Requests, &[(1, Hold, None)]), []);
    assert_eq!(tables.take(DocLists, &[(1, Merge, Some(0))]), []);
    assert_eq!(tables.corpus.list, [0, 0, 0]);
    // So it counts among those of the leader: one of these is held.
    let follows = tables.take(Requests, &[(0, Drop, None), (2, Drop, None)]);
    assert_eq!(follows, [(DocLists, 0, Hold, LEFT)]);
}

#[test]
fn a_list_whose_requests_were_all_dropped_or_merged_is_dropped() {
    let mut tables = Tables::of(&[0, 0, 1]);
    let follows = tables.take(Requests, &[(0, Drop, None), (1, Merge, Some(2))]);
    assert_eq!(follows, [(DocLists, 0, Drop, LEFT)]);
}

#[test]
fn a_list_of_which_a_request_is_held_is_held() {
    let mut tables = Tables::of(&[0, 0, 0, 1]);
    let follows = tables.take(Requests, &[(0, Drop, None), (1, Merge, Some(3)), (2, Hold, None)]);
    assert_eq!(follows, [(DocLists, 0, Hold, LEFT)]);
}

#[test]
fn a_list_is_dropped_with_its_last_request_whichever_stages_dropped_the_others() {
    let mut tables = Tables::of(&[0, 0, 0, 1]);
    assert_eq!(tables.take(Requests, &[(0, Hold, None)]), []);
    assert_eq!(tables.take(Requests, &[(1, Merge, Some(2))]), []);
    assert_eq!(tables.take(Requests, &[(2, Drop, None)]), [(DocLists, 0, Hold, LEFT)]);
}

#[test]
fn a_list_with_one_kept_request_stays_whatever_the_fate_of_the_others() {
    let mut tables = Tables::of(&[0, 0, 0, 0]);
    let follows = tables.take(Requests, &[(0, Drop, None), (1, Merge, Some(3)), (2, Hold, None)]);
    assert_eq!(follows, []);
    assert!(tables.corpus.lists.is_kept(0));
}

#[test]
fn a_list_with_a_fate_gets_no_second_one() {
    let mut tables = Tables::of(&[0, 1]);
    tables.take(Requests, &[(0, Drop, None)]);
    assert_eq!(tables.take(Requests, &[(1, Hold, None)]), [(DocLists, 1, Hold, LEFT)]);
    let fate = tables.corpus.lists.fate(0).unwrap();
    assert_eq!((fate.action, fate.stage), (Drop, 0));
}

#[test]
fn lists_of_every_fate_in_one_verdict() {
    let mut tables = Tables::of(&[0, 1, 2, 3, 3]);
    let follows = tables.take(DocLists, &[(0, Drop, None), (1, Hold, None), (2, Merge, Some(3))]);
    assert_eq!(follows, [(Requests, 0, Drop, "test/bad"), (Requests, 1, Hold, "test/worse")]);
    assert_eq!(tables.corpus.list, [0, 1, 3, 3, 3]);
    assert_eq!((tables.corpus.requests.kept(), tables.corpus.lists.kept()), (3, 1));
}

#[test]
fn fates_that_follow_are_the_same_when_they_are_read_back() {
    let home = Home::new();
    let log = Log::of(&[0, 0, 1, 1, 2]);
    let stages = [
        stage("merge", DocLists, |_, out| out.merge(1, 0, &BAD, Evidence::default())),
        stage("hold", Requests, |_, out| out.hold(4, &WORSE, Evidence::default())),
        drops("drop", DocLists, 0),
    ];
    let fates = |corpus: &Corpus| {
        let of = |table: TableId, n: RowIx| (0..n).map(move |row| corpus.table(table).fate(row));
        let fates: Vec<_> = of(Requests, 5).chain(of(DocLists, 3)).collect();
        (fates, corpus.list.clone(), corpus.origin.clone())
    };
    let first = home.run(&log, &stages).unwrap();
    let second = home.run(&log, &stages).unwrap();
    assert_eq!((first.reused, second.reused), (0, 4));
    assert_eq!(fates(&first.corpus), fates(&second.corpus));
    let leaves: Vec<Option<Action>> =
        (0..3).map(|row| first.corpus.lists.fate(row).map(|fate| fate.action)).collect();
    assert_eq!(leaves, [Some(Drop), Some(Merge), Some(Hold)]);
}
