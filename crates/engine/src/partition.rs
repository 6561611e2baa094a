//! Divides the rows of a step into parts that are judged separately, and joins their results.
//!
//! A contract declares which rows must be judged together. From that the runner divides the kept rows of the stage's
//! table into tasks: each sees the whole run, judges only the rows of its part, and returns a part of the delta. The
//! parts are joined by replaying them through the one [`Verdict`] of the step, so its checks apply to them too, and the
//! bytes do not depend on the number of parts. On one machine the tasks run one after another, each on all threads, so
//! that one part is in memory at a time; a cluster can run the same tasks anywhere.
//!
//! Deliberately absent: the blocks of a join. Leader clustering decides a pair only when it knows which earlier rows
//! are leaders, so its blocks cannot be judged separately; such a stage is [`Partition::Whole`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::context::{Context, Progress};
use super::contract::Partition;
use super::division::{Parts, StagePart};
use super::error::{Error, Result};
use super::stage::Stage;
use super::verdict::{PartDelta, Verdict};
use super::view::View;
use super::vocabulary::RowIx;

/// Divides the kept rows of a view into at most `n` parts. The result is empty if one part would do.
///
/// # Errors
/// The stage's keys cannot be read, or it declares keys and returns none.
pub(super) fn cut(
    stage: &dyn Stage,
    id: &str,
    view: &View<'_>,
    parts: Parts,
    cx: &Context<'_>,
) -> Result<Vec<StagePart>> {
    let n_parts = parts.get();
    let partition = stage.contract().partition;
    if n_parts == 1 || partition == Partition::Whole {
        return Ok(Vec::new());
    }
    let mut rows: Vec<RowIx> = view.rows().collect();
    rows.sort_unstable();
    let n_of_table = view.len();
    let groups: Vec<Vec<RowIx>> = match partition {
        Partition::Whole => return Ok(Vec::new()),
        Partition::Rows => {
            let length = rows.len().div_ceil(n_parts).max(1);
            rows.chunks(length).map(<[RowIx]>::to_vec).collect()
        }
        Partition::Key => {
            let Some(keys) = stage.keys(view, cx)? else {
                let what = "its contract divides rows by key, and it has no keys".to_owned();
                return Err(Error::Verdict { stage: id.to_owned(), what });
            };
            let keys: FxHashMap<RowIx, u128> = keys.into_iter().collect();
            let mut groups: BTreeMap<u128, Vec<RowIx>> = BTreeMap::new();
            for row in rows {
                let key = keys.get(&row).copied().unwrap_or_else(|| u128::from(row));
                groups.entry(key % n_parts as u128).or_default().push(row);
            }
            groups.into_values().collect()
        }
    };
    Ok(groups.iter().map(|rows| StagePart::of(rows, n_of_table)).collect())
}

/// Judges the parts one after another and joins their verdicts in `out`.
///
/// # Errors
/// As [`Stage::judge`]; also if a part judges rows of another part, or if the notes of parts cannot be joined.
pub(super) fn judge(
    stage: &dyn Stage,
    view: &View<'_>,
    parts: &[StagePart],
    cx: &Context<'_>,
    out: &mut Verdict<'_>,
) -> Result<()> {
    let progress = WarnsOnce { progress: cx.progress, warned: Mutex::new(BTreeSet::new()) };
    let cx = Context::new(cx.seed, cx.cancel, &progress).with_services(cx.services.clone());
    let mut joining = Joining::default();
    for part in parts {
        let mut verdict = out.of_part(part);
        stage.judge(&view.of_part(part), &cx, &mut verdict)?;
        let delta = verdict.into_part();
        joining.add(delta, out)?;
    }
    joining.finish(stage, out)
}

/// Joins the verdicts on parts, in their order.
#[derive(Debug, Default)]
pub(super) struct Joining {
    notes: BTreeMap<String, Vec<serde_json::Value>>,
}

impl Joining {
    /// Adds the verdict on the next part.
    ///
    /// # Errors
    /// It breaks a rule of verdicts, or judges a row that an earlier part judged.
    pub(super) fn add(&mut self, mut delta: PartDelta, out: &mut Verdict<'_>) -> Result<()> {
        for (name, note) in std::mem::take(&mut delta.notes) {
            self.notes.entry(name).or_default().push(note);
        }
        out.absorb(delta)
    }

    /// Joins the notes of all parts.
    ///
    /// # Errors
    /// They cannot be joined.
    pub(super) fn finish(self, stage: &dyn Stage, out: &mut Verdict<'_>) -> Result<()> {
        for (name, of_parts) in self.notes {
            let joined = stage.join_notes(&name, of_parts).ok_or_else(|| Error::Verdict {
                stage: out.stage().to_owned(),
                what: format!("its parts note {name:?} differently, and it does not join them"),
            })?;
            out.note(&name, joined);
        }
        Ok(())
    }
}

/// Forwards progress, and each warning once, because every part reports the same fault of a file.
struct WarnsOnce<'a> {
    progress: &'a dyn Progress,
    warned: Mutex<BTreeSet<String>>,
}

impl Progress for WarnsOnce<'_> {
    fn begin(&self, step: &str, total: Option<u64>) {
        self.progress.begin(step, total);
    }

    fn advance(&self, rows: u64) {
        self.progress.advance(rows);
    }

    fn answers(&self, n: u64, of: u64) {
        self.progress.answers(n, of);
    }

    fn wait(&self, what: &str) {
        self.progress.wait(what);
    }

    fn end(&self, outcome: &str) {
        self.progress.end(outcome);
    }

    fn warn(&self, message: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert(message.to_owned()) {
            self.progress.warn(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use serde_json::{Value, json};

    use super::*;
    use crate::background_writer::BackgroundWriter;
    use crate::columns::MESSAGES;
    use crate::context::Quiet;
    use crate::contract::Contract;
    use crate::fingerprint::Fingerprint;
    use crate::fixture;
    use crate::vocabulary::{Evidence, Reason, TableId};

    static ODD: Reason = Reason::policy("test/odd", "Its number is odd.");

    /// A stage that can violate each rule of parts.
    #[derive(Clone, Copy, Default)]
    #[expect(clippy::struct_excessive_bools, reason = "each breaks a rule of its own")]
    struct Odd {
        is_by_key: bool,
        is_whole: bool,
        has_keys: bool,
        is_half_keyed: bool,
        speaks_of_others: bool,
        notes_what_it_saw: bool,
    }

    impl Stage for Odd {
        fn contract(&self) -> Contract {
            let partition = match self {
                Self { is_by_key: true, .. } => Partition::Key,
                Self { is_whole: true, .. } => Partition::Whole,
                _ => Partition::Rows,
            };
            Contract::of(TableId::Requests).reads([MESSAGES]).reasons([&ODD]).partition(partition)
        }

        fn fingerprint(&self, _fingerprint: &mut Fingerprint) -> Result<()> {
            Ok(())
        }

        fn keys(&self, view: &View<'_>, _cx: &Context<'_>) -> Result<Option<Vec<(RowIx, u128)>>> {
            let keyed = view.rows().filter(|&row| !self.is_half_keyed || row < 5 || row == 6);
            Ok(self.has_keys.then(|| keyed.map(|row| (row, u128::from(row % 3))).collect()))
        }

        fn judge(&self, view: &View<'_>, cx: &Context<'_>, out: &mut Verdict<'_>) -> Result<()> {
            let rows: Vec<RowIx> =
                if self.speaks_of_others { view.whole().rows().collect() } else { view.rows().collect() };
            cx.progress.begin("a part", None);
            cx.progress.advance(rows.len() as u64);
            cx.progress.end("judged");
            cx.progress.warn("the same in each part");
            if self.notes_what_it_saw {
                out.note("rows", json!(rows));
            }
            rows.into_iter()
                .filter(|row| row % 2 == 1)
                .try_for_each(|row| out.drop(row, &ODD, Evidence::default()))
        }
    }

    /// Returns the result of the stage on ten requests in `n_parts` parts: the rows of each part, and the dropped ones.
    fn judged(stage: Odd, n_parts: usize, progress: &dyn Progress) -> Result<(Vec<Vec<RowIx>>, Vec<RowIx>)> {
        let requests: Vec<Value> = (0..10).map(|_| json!({"messages": []})).collect();
        let corpus = fixture::corpus(&json!({ "requests": requests }));
        let (contract, cancel) = (stage.contract(), AtomicBool::new(false));
        let cx = Context::new(1, &cancel, progress);
        let folder = tempfile::tempdir().unwrap();
        let background_writer = BackgroundWriter::new(usize::MAX);
        let path = folder.path().join("columns.parquet");
        let mut out = Verdict::new("odd", &contract, &corpus.requests, &path, &background_writer);
        let view = View::new(&corpus, &contract);
        let parts = cut(&stage, "odd", &view, Parts::new(n_parts).unwrap(), &cx)?;
        judge(&stage, &view, &parts, &cx, &mut out)?;
        let rows = |part: &StagePart| (0..10).filter(|&row| part.holds(row)).collect();
        let dropped = out.finish()?.fates.iter().map(|fate| fate.row).collect();
        Ok((parts.iter().map(rows).collect(), dropped))
    }

    fn refusal(stage: Odd) -> String {
        judged(stage, 2, &Quiet).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_divided_into_ranges_and_joined_again() {
        let (parts, dropped) = judged(Odd::default(), 3, &Quiet).unwrap();
        assert_eq!(parts, [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);
        assert_eq!(dropped, [1, 3, 5, 7, 9]);
    }

    #[test]
    fn rows_of_equal_key_are_in_one_part() {
        let stage = Odd { is_by_key: true, has_keys: true, ..Odd::default() };
        let (parts, dropped) = judged(stage, 2, &Quiet).unwrap();
        assert_eq!(parts, [vec![0, 2, 3, 5, 6, 8, 9], vec![1, 4, 7]]);
        assert_eq!(dropped, [1, 3, 5, 7, 9]);
    }

    #[test]
    fn a_row_without_a_key_is_a_group_of_its_own() {
        let stage = Odd { is_by_key: true, has_keys: true, is_half_keyed: true, ..Odd::default() };
        let (parts, dropped) = judged(stage, 2, &Quiet).unwrap();
        assert_eq!(parts, [vec![0, 2, 3, 6, 8], vec![1, 4, 5, 7, 9]], "5, 7, 8 and 9 have no key");
        assert_eq!(dropped, [1, 3, 5, 7, 9]);
    }

    #[test]
    fn a_part_that_judges_a_row_of_another_is_refused() {
        let refused = refusal(Odd { speaks_of_others: true, ..Odd::default() });
        assert!(refused.contains("row 5 is judged in another part"), "{refused}");
    }

    #[test]
    fn a_contract_with_keys_and_a_stage_without_are_refused() {
        let refused = refusal(Odd { is_by_key: true, ..Odd::default() });
        assert!(refused.contains("it has no keys"), "{refused}");
    }

    #[test]
    fn notes_that_differ_and_are_not_joined_are_refused() {
        let refused = refusal(Odd { notes_what_it_saw: true, ..Odd::default() });
        assert!(refused.contains("its parts note \"rows\" differently"), "{refused}");
    }

    #[test]
    fn a_warning_of_every_part_is_shown_once_and_its_progress_each_time() {
        /// Steps that began, rows, steps that ended, warnings.
        struct Counts(Mutex<[u64; 4]>);
        impl Progress for Counts {
            fn begin(&self, _step: &str, _total: Option<u64>) {
                self.0.lock().unwrap()[0] += 1;
            }
            fn advance(&self, rows: u64) {
                self.0.lock().unwrap()[1] += rows;
            }
            fn end(&self, _outcome: &str) {
                self.0.lock().unwrap()[2] += 1;
            }
            fn warn(&self, _message: &str) {
                self.0.lock().unwrap()[3] += 1;
            }
        }
        let counts = Counts(Mutex::new([0; 4]));
        judged(Odd::default(), 5, &counts).unwrap();
        assert_eq!(*counts.0.lock().unwrap(), [5, 10, 5, 1]);
    }

    #[test]
    fn one_part_and_a_stage_that_needs_all_rows_are_not_divided() {
        let corpus = fixture::corpus(&json!({"requests": [{"messages": []}, {"messages": []}]}));
        let cancel = AtomicBool::new(false);
        let n_parts = |stage: &Odd, parts: usize, contract: &Contract| {
            let view = View::new(&corpus, contract);
            let cx = Context::new(1, &cancel, &Quiet);
            cut(stage, "odd", &view, Parts::new(parts).unwrap(), &cx).unwrap().len()
        };
        let stage = Odd::default();
        assert_eq!([1, 2, 7].map(|parts| n_parts(&stage, parts, &stage.contract())), [0, 2, 2]);
        let keyed = Odd { is_by_key: true, ..stage };
        assert_eq!(n_parts(&keyed, 1, &keyed.contract()), 0, "its keys are not read");
        let whole = Odd { is_whole: true, ..stage };
        assert_eq!(n_parts(&whole, 2, &whole.contract()), 0);
    }
}
