//! Agreement of two raters, and of several judges with their committee.
//!
//! Cohen's kappa is the agreement beyond chance: 1 is perfect, 0 is chance. It is unweighted, and none where chance alone agrees in
//! all items. Its interval is asymptotic (Fleiss, Cohen and Everitt 1969), without random numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::votes::{Decision, Rate, Tally};

/// How two raters agree on the items that both rated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement<C: Ord> {
    /// All classes that occur, sorted: the rows and columns of `confusion`.
    pub classes: Vec<C>,
    /// The number of items by the class of the first rater, then by the class of the second.
    pub confusion: Vec<Vec<usize>>,
    /// The share of items with equal classes.
    pub agreement: Rate,
    /// Cohen's kappa; none without items, or if both raters have one and the same class only.
    pub kappa: Option<Kappa>,
    /// Items that only the first rater has.
    pub only_first: usize,
    /// Items that only the second rater has.
    pub only_second: usize,
}

/// Cohen's kappa with its asymptotic 95 % interval, from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Kappa {
    /// The value.
    pub value: f64,
    /// The low end of the interval.
    pub from: f64,
    /// The high end of the interval.
    pub to: f64,
}

/// Standard normal quantile of a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// Returns the agreement of two raters, whose classes are by the id of the item.
pub fn agreement<C: Ord + Copy>(first: &BTreeMap<String, C>, second: &BTreeMap<String, C>) -> Agreement<C> {
    let pairs: Vec<(C, C)> = first.iter().filter_map(|(id, one)| Some((*one, *second.get(id)?))).collect();
    let classes: Vec<C> =
        pairs.iter().flat_map(|(one, other)| [*one, *other]).collect::<BTreeSet<C>>().into_iter().collect();
    let mut confusion = vec![vec![0; classes.len()]; classes.len()];
    for (one, other) in &pairs {
        if let (Ok(row), Ok(column)) = (classes.binary_search(one), classes.binary_search(other)) {
            confusion[row][column] += 1;
        }
    }
    let equal = pairs.iter().filter(|(one, other)| one == other).count();
    Agreement {
        kappa: kappa(&confusion),
        classes,
        confusion,
        agreement: Rate::of(equal, pairs.len()),
        only_first: first.len() - pairs.len(),
        only_second: second.len() - pairs.len(),
    }
}

/// Returns kappa of a square table of counts.
#[allow(clippy::cast_precision_loss)] // Counts of items.
fn kappa(confusion: &[Vec<usize>]) -> Option<Kappa> {
    let n: usize = confusion.iter().flatten().sum();
    let share = |count: usize| count as f64 / n as f64;
    let rows: Vec<f64> = confusion.iter().map(|row| share(row.iter().sum())).collect();
    let columns: Vec<f64> =
        (0..rows.len()).map(|at| share(confusion.iter().map(|row| row[at]).sum())).collect();
    let chance: f64 = rows.iter().zip(&columns).map(|(row, column)| row * column).sum();
    if n == 0 || (1.0 - chance).abs() < f64::EPSILON {
        return None;
    }
    let observed: f64 = (0..rows.len()).map(|at| share(confusion[at][at])).sum();
    let value = (observed - chance) / (1.0 - chance);
    let half = Z * (variance(confusion, &rows, &columns, value, chance) / n as f64).max(0.0).sqrt();
    Some(Kappa { value, from: (value - half).max(-1.0), to: (value + half).min(1.0) })
}

/// Returns the variance of kappa, times the number of items.
#[allow(clippy::cast_precision_loss)] // Counts of items.
fn variance(confusion: &[Vec<usize>], rows: &[f64], columns: &[f64], value: f64, chance: f64) -> f64 {
    let n = confusion.iter().flatten().sum::<usize>() as f64;
    let mut sum = 0.0;
    for (row, counts) in confusion.iter().enumerate() {
        for (column, count) in counts.iter().enumerate() {
            let share = *count as f64 / n;
            sum += if row == column {
                share * (1.0 - (rows[row] + columns[row]) * (1.0 - value)).powi(2)
            } else {
                share * ((1.0 - value) * (columns[row] + rows[column])).powi(2)
            };
        }
    }
    (sum - (value - chance * (1.0 - value)).powi(2)) / (1.0 - chance).powi(2)
}

/// Several judges and what they decide together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Committee<C: Ord> {
    /// The class with most votes for each item.
    pub decisions: BTreeMap<String, Decision<C>>,
    /// The agreement of each judge with the committee on items that it decides. The judge is one of the committee, so that the
    /// agreement is higher than with the others alone.
    pub judges: BTreeMap<String, Agreement<C>>,
    /// The number of items without a decision of the committee because votes are tied.
    pub tied: usize,
}

/// Returns the decisions of several judges, each with its classes by the id of the item.
pub fn committee<C: Ord + Copy>(judges: &BTreeMap<String, BTreeMap<String, C>>) -> Committee<C> {
    let ids: BTreeSet<&String> = judges.values().flat_map(BTreeMap::keys).collect();
    let decision = |id: &String| {
        let votes = judges.values().filter_map(|classes| classes.get(id)).map(|class| Ok::<_, ()>(*class));
        Tally::of(votes).decision()
    };
    let decisions: BTreeMap<String, Decision<C>> =
        ids.into_iter().map(|id| (id.clone(), decision(id))).collect();
    let decided: BTreeMap<String, C> = decisions
        .iter()
        .filter_map(
            |(id, decision)| {
                if let Decision::Class(class) = decision { Some((id.clone(), *class)) } else { None }
            },
        )
        .collect();
    let judges = judges.iter().map(|(name, classes)| (name.clone(), agreement(classes, &decided))).collect();
    let tied = decisions.values().filter(|decision| matches!(decision, Decision::Tie)).count();
    Committee { decisions, judges, tied }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rater(classes: &[u8]) -> BTreeMap<String, u8> {
        classes.iter().enumerate().map(|(at, class)| (format!("{at:03}"), *class)).collect()
    }

    #[test]
    fn kappa_is_that_of_a_table_by_hand() {
        // 20 and 15 agreements, 5 and 10 disagreements of 50: agreement 0.7, chance 0.5, kappa 0.4.
        let value = kappa(&[vec![20, 5], vec![10, 15]]).unwrap();
        assert!((value.value - 0.4).abs() < 1e-12);
        // The standard error in another form of the formula (theta 1 to 4) is 0.126996.
        let error = (value.to - value.value) / Z;
        assert!((error - 0.126_996).abs() < 1e-6, "{error}");
        assert_eq!(kappa(&[vec![7]]), None);
        assert_eq!(kappa(&[]), None);
    }

    #[test]
    fn items_of_one_rater_are_counted_apart() {
        let (mut one, other) = (rater(&[1, 1, 2]), rater(&[1, 2, 2, 3]));
        one.insert("x".to_owned(), 1);
        let found = agreement(&one, &other);
        assert_eq!((found.classes, found.confusion), (vec![1, 2], vec![vec![1, 1], vec![0, 1]]));
        assert_eq!(
            (found.only_first, found.only_second, found.agreement.part, found.agreement.whole),
            (1, 1, 2, 3)
        );
    }

    #[test]
    fn a_committee_decides_by_most_votes_and_leaves_ties() {
        let judges: BTreeMap<String, _> = [("a", [1, 1, 2, 1]), ("b", [1, 1, 2, 2]), ("c", [1, 2, 2, 3])]
            .into_iter()
            .map(|(name, classes)| (name.to_owned(), rater(&classes)))
            .collect();
        let found = committee(&judges);
        let decisions: Vec<Decision<u8>> = found.decisions.into_values().collect();
        assert_eq!(decisions, [Decision::Class(1), Decision::Class(1), Decision::Class(2), Decision::Tie]);
        assert_eq!(
            (found.tied, found.judges["a"].agreement.part, found.judges["c"].agreement.part),
            (1, 3, 2)
        );
        assert!((found.judges["a"].kappa.unwrap().value - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn kappa_is_symmetric_and_bounded(pairs in prop::collection::vec((0_u8..4, 0_u8..4), 0..40)) {
            let (one, other): (Vec<u8>, Vec<u8>) = pairs.into_iter().unzip();
            let (forth, back) = (agreement(&rater(&one), &rater(&other)), agreement(&rater(&other), &rater(&one)));
            prop_assert_eq!(forth.agreement, back.agreement);
            match (forth.kappa, back.kappa) {
                (Some(forth), Some(back)) => {
                    prop_assert!((forth.value - back.value).abs() < 1e-9 && (forth.to - back.to).abs() < 1e-6);
                    prop_assert!(forth.from <= forth.value && forth.value <= forth.to && forth.value <= 1.0 + 1e-12);
                }
                (forth, back) => prop_assert_eq!(forth, back),
            }
        }
    }
}
