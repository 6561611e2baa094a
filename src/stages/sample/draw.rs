//! Selects rows from strata: applies the caps, selects the rows and computes the weight of each.
//!
//! Every row has a random number derived from its id, and the lowest numbers are selected. So
//! adding or removing a row changes little: the others keep their numbers. A row counts towards
//! the population of its stratum even if a cap excludes it, so the weights add up to the number
//! of input rows. Strata without a row to select (more strata than seats, or all rows beyond a
//! cap) are pooled with the smallest stratum that has one. Nothing depends on the order of rows.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Allocation;
use super::allocation::{Share, allocate};

/// The properties of a row that decide its selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The random number of the row, and its id to break ties.
    pub(super) draw: (u128, u128),
    /// Its stratum; on equal sizes the smaller index comes first.
    pub(super) stratum: usize,
    /// Its doc list.
    pub(super) list: u32,
    /// Its user, if the log names one.
    pub(super) user: Option<u32>,
}

/// The sample size and its limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Number of rows to keep; all if absent.
    pub(super) size: Option<u64>,
    /// How the rows are allocated to strata.
    pub(super) allocation: Allocation,
    /// Maximum number of rows of one doc list.
    pub(super) max_per_list: Option<u64>,
    /// Maximum number of rows of one user.
    pub(super) max_per_user: Option<u64>,
}

/// The outcome of the selection for one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Selection {
    /// The row is kept.
    Kept {
        /// The number of rows in its stratum that it represents.
        weight: f64,
    },
    /// The cap of its doc list excludes the row; the value is its rank within the list.
    OverList(u64),
    /// The cap of its user excludes the row; the value is its rank within the user's rows.
    OverUser(u64),
    /// The row is not selected.
    NotDrawn {
        /// Its rank among the stratum's rows that could be selected, from 1.
        rank: u64,
        /// The number of rows selected from the stratum.
        drawn: u64,
    },
}

/// Returns the outcome for each candidate, in their order, and the number of strata that were pooled with another.
pub(super) fn draw(candidates: &[Candidate], plan: Plan) -> (Vec<Selection>, usize) {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_unstable_by_key(|&at| candidates[at].draw);
    let mut drawn: Vec<Option<Selection>> = caps(candidates, &order, plan);
    let mut strata: BTreeMap<usize, Stratum> = BTreeMap::new();
    for &at in &order {
        let stratum = strata.entry(candidates[at].stratum).or_default();
        stratum.population += 1;
        if drawn[at].is_none() {
            stratum.rows.push(at);
        }
    }
    let n_strata = strata.len();
    let n_left = strata.values().map(|stratum| stratum.rows.len() as u64).sum();
    let seats = plan.size.map_or(n_left, |size| size.min(n_left));
    let pooled = pooled(strata, seats, candidates);
    let shares: Vec<Share> = pooled
        .iter()
        .map(|stratum| Share {
            weight: if plan.allocation == Allocation::Equal { 1 } else { stratum.population },
            rows: stratum.rows.len() as u64,
        })
        .collect();
    for (stratum, n_drawn) in pooled.iter().zip(allocate(&shares, seats)) {
        // Counts of rows are far below 2^52, so the division is exact enough.
        #[allow(clippy::cast_precision_loss)]
        let weight = stratum.population as f64 / n_drawn as f64;
        for (rank, &at) in (1..).zip(&stratum.rows) {
            let is_drawn = rank <= n_drawn;
            drawn[at] = Some(if is_drawn {
                Selection::Kept { weight }
            } else {
                Selection::NotDrawn { rank, drawn: n_drawn }
            });
        }
    }
    let n_pooled = n_strata - pooled.len();
    (
        drawn
            .into_iter()
            .map(|drawn| drawn.expect("every row that no cap excludes is in a stratum"))
            .collect(),
        n_pooled,
    )
}

#[derive(Default)]
struct Stratum {
    /// All its rows.
    population: u64,
    /// The rows that no cap excludes, in the order of their random numbers.
    rows: Vec<usize>,
}

/// Applies the caps: keeps the first rows of each list and user, in the order of their random numbers.
fn caps(candidates: &[Candidate], order: &[usize], plan: Plan) -> Vec<Option<Selection>> {
    let mut of_list: FxHashMap<u32, u64> = FxHashMap::default();
    let mut of_user: FxHashMap<u32, u64> = FxHashMap::default();
    let mut drawn = vec![None; candidates.len()];
    for &at in order {
        let Candidate { list, user, .. } = candidates[at];
        let n_list = of_list.get(&list).copied().unwrap_or_default() + 1;
        let n_user = user.map_or(0, |user| of_user.get(&user).copied().unwrap_or_default() + 1);
        if plan.max_per_list.is_some_and(|most| n_list > most) {
            drawn[at] = Some(Selection::OverList(n_list));
        } else if plan.max_per_user.is_some_and(|most| n_user > most) {
            drawn[at] = Some(Selection::OverUser(n_user));
        } else {
            of_list.insert(list, n_list);
            of_user.extend(user.map(|user| (user, n_user)));
        }
    }
    drawn
}

/// Returns the strata that get seats, largest first. Strata without a seat or without a selectable row become part of
/// the last.
fn pooled(strata: BTreeMap<usize, Stratum>, seats: u64, candidates: &[Candidate]) -> Vec<Stratum> {
    let (mut able, empty): (Vec<Stratum>, Vec<Stratum>) =
        strata.into_values().partition(|stratum| !stratum.rows.is_empty());
    // A stable sort keeps strata of the same size in their order.
    able.sort_by_key(|stratum| Reverse(stratum.population));
    let n_own = usize::try_from(seats).unwrap_or(usize::MAX).min(able.len());
    let rest: Vec<Stratum> = able.drain(n_own..).chain(empty).collect();
    if let Some(last) = able.last_mut() {
        for stratum in rest {
            last.population += stratum.population;
            last.rows.extend(stratum.rows);
        }
        last.rows.sort_unstable_by_key(|&at| candidates[at].draw);
    }
    able
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(size: Option<u64>) -> Plan {
        Plan { size, allocation: Allocation::Proportional, max_per_list: None, max_per_user: None }
    }

    fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
        let row = (any::<u64>(), 0_usize..6, 0_u32..5, proptest::option::of(0_u32..4));
        proptest::collection::vec(row, 0..60).prop_map(|rows| {
            let row = |(id, (draw, stratum, list, user))| Candidate {
                draw: (u128::from(draw), id),
                stratum,
                list,
                user,
            };
            (0_u128..).zip(rows).map(row).collect()
        })
    }

    fn plans() -> impl Strategy<Value = Plan> {
        let cap = || proptest::option::of(1_u64..8);
        (proptest::option::of(1_u64..70), any::<bool>(), cap(), cap()).prop_map(
            |(size, equal, max_per_list, max_per_user)| {
                let allocation = if equal { Allocation::Equal } else { Allocation::Proportional };
                Plan { size, allocation, max_per_list, max_per_user }
            },
        )
    }

    fn kept(candidates: &[Candidate], drawn: &[Selection]) -> Vec<u128> {
        let is_kept = |drawn: &Selection| matches!(drawn, Selection::Kept { .. });
        let ids = candidates.iter().zip(drawn).filter(|(_, drawn)| is_kept(drawn));
        let mut ids: Vec<u128> = ids.map(|(candidate, _)| candidate.draw.1).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn strata_without_a_row_are_pooled_with_the_smallest_that_has_one() {
        let row = |draw, stratum| Candidate { draw: (draw, draw), stratum, list: 0, user: None };
        let rows = [row(5, 0), row(4, 0), row(3, 0), row(2, 1), row(1, 2)];
        let (drawn, n_pooled) = draw(&rows, plan(Some(2)));
        assert_eq!(n_pooled, 1);
        let expected = [
            Selection::NotDrawn { rank: 3, drawn: 1 },
            Selection::NotDrawn { rank: 2, drawn: 1 },
            Selection::Kept { weight: 3.0 },
            Selection::NotDrawn { rank: 2, drawn: 1 },
            Selection::Kept { weight: 2.0 },
        ];
        assert_eq!(drawn, expected);
    }

    proptest! {
        #[test]
        fn the_weights_of_kept_rows_add_up_to_all_rows(candidates in candidates(), plan in plans()) {
            let (drawn, _) = draw(&candidates, plan);
            let weights = drawn.iter().filter_map(|drawn| match drawn { Selection::Kept { weight } => Some(weight), _ => None });
            #[allow(clippy::cast_precision_loss)]
            let population = candidates.len() as f64;
            prop_assert!((weights.sum::<f64>() - population).abs() < 1e-6);
        }

        #[test]
        fn the_sample_has_the_requested_size_or_all_rows_within_the_caps(candidates in candidates(), plan in plans()) {
            let (drawn, _) = draw(&candidates, plan);
            let left = drawn.iter().filter(|drawn| matches!(drawn, Selection::Kept { .. } | Selection::NotDrawn { .. })).count();
            let wanted = plan.size.map_or(left, |size| left.min(usize::try_from(size).unwrap()));
            prop_assert_eq!(kept(&candidates, &drawn).len(), wanted);
            let most = |of: &dyn Fn(&Candidate) -> Option<u32>| {
                let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
                for (candidate, _) in candidates.iter().zip(&drawn).filter(|(_, drawn)| matches!(drawn, Selection::Kept { .. })) {
                    if let Some(of) = of(candidate) {
                        *counts.entry(of).or_default() += 1;
                    }
                }
                counts.into_values().max().unwrap_or_default()
            };
            prop_assert!(most(&|candidate| Some(candidate.list)) <= plan.max_per_list.unwrap_or(u64::MAX));
            prop_assert!(most(&|candidate| candidate.user) <= plan.max_per_user.unwrap_or(u64::MAX));
        }

        #[test]
        fn the_order_of_rows_changes_nothing(candidates in candidates(), plan in plans(), by in any::<u64>()) {
            let mut other = candidates.clone();
            other.sort_by_key(|candidate| candidate.draw.1.wrapping_mul(u128::from(by | 1)) % 61);
            let (drawn, _) = draw(&candidates, plan);
            let (redrawn, _) = draw(&other, plan);
            prop_assert_eq!(kept(&candidates, &drawn), kept(&other, &redrawn));
            for (candidate, drawn) in candidates.iter().zip(drawn) {
                let at = other.iter().position(|other| other == candidate).unwrap();
                prop_assert_eq!(drawn, redrawn[at]);
            }
        }

        #[test]
        fn adding_a_row_changes_at_most_one_other(candidates in candidates(), size in 1_u64..40, draw_of in any::<u64>()) {
            let mut candidates: Vec<Candidate> =
                candidates.into_iter().map(|candidate| Candidate { stratum: 0, ..candidate }).collect();
            let (drawn, _) = draw(&candidates, plan(Some(size)));
            let before = kept(&candidates, &drawn);
            candidates.push(Candidate { draw: (u128::from(draw_of), 1000), stratum: 0, list: 0, user: None });
            let (drawn, _) = draw(&candidates, plan(Some(size)));
            let after = kept(&candidates, &drawn);
            prop_assert!(before.iter().filter(|id| !after.contains(id)).count() <= 1);
        }
    }
}
