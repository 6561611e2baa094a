//! Tests against a reference implementation that compares all pairs.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::join::{Notes, join, self_join};
use super::plan::{Graph, Plan};
use super::rows::{Skipped, Unfit};
use crate::vectors::{Vectors, dot};
use crate::{Pair, Stopped};

const GRAPH: Plan = Plan::Approximate(Graph { m: 4, ef_construction: 16, k: 2, ef: 8 });

fn pairs_and_notes(vectors: &Vectors, threshold: f64, plan: Plan) -> (Vec<Pair>, Notes) {
    let mut pairs = Vec::new();
    let notes = self_join::<()>(vectors, threshold, plan, &|| false, |some| {
        pairs.extend(some);
        Ok(())
    });
    (pairs, notes.unwrap())
}

fn pairs(vectors: &Vectors, threshold: f64) -> Vec<Pair> {
    pairs_and_notes(vectors, threshold, Plan::Exact).0
}

fn pairs_of_two_by(a: &Vectors, b: &Vectors, threshold: f64, plan: Plan) -> (Vec<Pair>, Notes) {
    let mut pairs = Vec::new();
    let notes = join::<()>(a, b, threshold, plan, &|| false, |some| {
        pairs.extend(some);
        Ok(())
    });
    (pairs, notes.unwrap())
}

fn pairs_of_two(a: &Vectors, b: &Vectors, threshold: f64) -> Vec<Pair> {
    pairs_of_two_by(a, b, threshold, Plan::Exact).0
}

/// Scales a row to unit length; returns `None` if that is not possible.
fn unit(row: &[f32]) -> Option<Vec<f32>> {
    let mut lanes = [0.0_f64; 16];
    for (at, number) in row.iter().enumerate() {
        lanes[at % 16] += f64::from(*number) * f64::from(*number);
    }
    let squared: f64 = lanes.iter().sum();
    let length = if (squared - 1.0).abs() <= 1e-6 { 1.0 } else { squared.sqrt() };
    #[expect(clippy::cast_possible_truncation, reason = "rows are of single precision")]
    let unit = row.iter().map(|number| (f64::from(*number) / length) as f32).collect();
    (squared.is_finite() && squared > 0.0).then_some(unit)
}

/// The reference implementation of a join: compares all pairs.
fn by_hand(a: &Vectors, b: &Vectors, threshold: f64, is_wanted: fn(u32, u32) -> bool) -> Vec<Pair> {
    let units = |vectors: &Vectors| (0..).zip(vectors.iter().map(unit)).collect::<Vec<(u32, _)>>();
    let (a, b) = (units(a), units(b));
    let mut pairs = Vec::new();
    for (a, x) in &a {
        for (b, y) in b.iter().filter(|(b, _)| is_wanted(*a, *b)) {
            if let (Some(x), Some(y)) = (x, y)
                && f64::from(dot(x, y)) >= threshold
            {
                pairs.push(Pair { a: *a, b: *b, score: f64::from(dot(x, y)) });
            }
        }
    }
    pairs
}

#[test]
fn a_dot_product_includes_every_dimension() {
    let a: Vec<f32> = (0..37_u16).map(f32::from).collect();
    // The sum of the squares up to 36 is exact in an f32.
    assert_eq!(dot(&a, &a).to_bits(), 16_206_f32.to_bits());
    assert_eq!(dot(&[], &[]).to_bits(), 0);
}

#[test]
fn a_score_equal_to_the_threshold_is_found() {
    let vectors = Vectors::new(2, vec![1.0, 0.0, 0.0, 2.0, 0.6, 0.8]);
    let score = f64::from(0.8_f32);
    assert_eq!(pairs(&vectors, score), [Pair { a: 1, b: 2, score }]);
    assert_eq!(pairs(&vectors, score + 1e-9), []);
    assert_eq!(pairs(&vectors, 0.0).len(), 3);
}

#[test]
fn unfit_rows_match_nothing_and_are_listed() {
    let values = vec![0.0, 0.0, 1.0, 0.0, f32::NAN, 1.0, 1.0, 0.0, 0.0, f32::INFINITY];
    let (pairs, notes) = pairs_and_notes(&Vectors::new(2, values.clone()), 0.0, Plan::Exact);
    assert_eq!(pairs, [Pair { a: 1, b: 3, score: 1.0 }]);
    let whys = [(0, Unfit::Zero), (2, Unfit::NotANumber), (4, Unfit::Infinite)];
    assert_eq!(notes.skipped_a, whys.map(|(row, why)| Skipped { row, why }));
    let vectors = Vectors::new(2, values);
    let both: Vec<_> = pairs_of_two(&vectors, &vectors, 0.0).iter().map(|pair| (pair.a, pair.b)).collect();
    assert_eq!(both, [(1, 1), (1, 3), (3, 1), (3, 3)]);
}

#[test]
fn collections_without_rows_have_no_pairs() {
    let (none, some) = (Vectors::default(), Vectors::new(3, vec![1.0; 6]));
    assert_eq!(pairs(&none, 0.0), []);
    assert_eq!(pairs_of_two(&none, &some, 0.0), []);
    assert_eq!(pairs_of_two(&some, &none, 0.0), []);
}

#[test]
#[should_panic(expected = "vectors of 2 and of 3 dimensions")]
fn vectors_of_two_spaces_are_refused() {
    pairs_of_two(&Vectors::new(2, vec![1.0; 2]), &Vectors::new(3, vec![1.0; 3]), 0.5);
}

#[test]
fn a_cancelled_join_is_an_error() {
    let vectors = Vectors::new(4, vec![1.0; 4 * 3_000]);
    for plan in [Plan::Exact, GRAPH] {
        for n_answers in [0, 1, 3] {
            let n_asked = AtomicUsize::new(0);
            let cancelled = || n_asked.fetch_add(1, Ordering::Relaxed) >= n_answers;
            let joined = self_join::<()>(&vectors, 0.8, plan, &cancelled, |_| panic!("pairs came"));
            assert!(matches!(joined, Err(Stopped::Cancelled)));
        }
    }
}

#[test]
fn the_consumer_of_pairs_can_stop_a_join() {
    let vectors = Vectors::new(4, vec![1.0; 16]);
    for plan in [Plan::Exact, GRAPH] {
        let stopped = self_join(&vectors, 0.8, plan, &|| false, |pairs| Err(pairs.len()));
        assert!(matches!(stopped, Err(Stopped::Sink(6))));
    }
}

/// Returns a thousand rows, of which 48 differ.
fn copies() -> Vectors {
    let copy = |n: usize| (0..48).map(move |at| if at == n % 48 { 1.1 } else { 1.0 });
    Vectors::new(48, (0..1_000).flat_map(copy).collect())
}

#[test]
fn all_pairs_of_a_cluster_of_copies_are_found() {
    let found = pairs(&copies(), 0.99);
    assert_eq!(found.len(), 1_000 * 999 / 2);
}

#[cfg(feature = "ann")]
#[test]
fn a_graph_finds_all_pairs_of_a_cluster_of_copies() {
    let vectors = copies();
    let found = pairs(&vectors, 0.99);
    let (by_graph, notes) = pairs_and_notes(&vectors, 0.99, Plan::Approximate(Graph::default()));
    assert!(by_graph == found, "{} of {}", by_graph.len(), found.len());
    let search = notes.search.unwrap();
    assert_eq!((search.n_indexed, search.n_copies), (48, 952));
    assert_eq!(search.recall.share(), Some(1.0));
}

#[cfg(feature = "ann")]
#[test]
fn a_graph_finds_the_pairs_of_two_collections() {
    let row = |n: u16| [f32::from(n % 250), f32::from(n % 7), f32::from(n % 13), 5.0];
    let vectors = |numbers: std::ops::Range<u16>| Vectors::new(4, numbers.flat_map(row).collect());
    let (a, b) = (vectors(0..700), vectors(500..900));
    let found = pairs_of_two(&a, &b, 0.999);
    let (by_graph, notes) = pairs_of_two_by(&a, &b, 0.999, Plan::Approximate(Graph::default()));
    assert!(by_graph == found, "{} of {}", by_graph.len(), found.len());
    assert!(notes.search.unwrap().max_k > Graph::default().k);
}

#[cfg(feature = "ann")]
#[test]
fn settings_out_of_range_are_clamped() {
    let vectors = Vectors::new(2, vec![1.0, 0.0, 0.8, 0.6, 0.0, 1.0]);
    let none = Plan::Approximate(Graph { m: 0, ef_construction: 0, k: 0, ef: 0 });
    let (found, notes) = pairs_and_notes(&vectors, 0.7, none);
    assert_eq!(found, [Pair { a: 0, b: 1, score: f64::from(0.8_f32) }]);
    assert_eq!(notes.plan, Plan::Approximate(Graph { m: 2, ef_construction: 1, k: 1, ef: 1 }));
    let many = Plan::Approximate(Graph { m: 1_000, ..Graph::default() });
    assert!(matches!(pairs_and_notes(&vectors, 0.7, many).1.plan, Plan::Approximate(Graph { m: 256, .. })));
}

#[test]
fn the_plan_is_exact_up_to_some_size() {
    assert_eq!(Plan::of_self_join(0, 0), Plan::Exact);
    assert_eq!(Plan::of_self_join(10_000, 1_536), Plan::Exact);
    let is_approximate = |plan| matches!(plan, Plan::Approximate(_));
    assert_eq!(is_approximate(Plan::of_self_join(1_000_000_000, 1_536)), Plan::HAS_GRAPHS);
    assert_eq!(Plan::of_join(1_000_000_000, 10, 384), Plan::Exact);
}

/// Generates numbers of all magnitudes, most of them near 1.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![8 => -1.0_f32..1.0, 1 => Just(0.0), 1 => (-40_i32..38, -1.0_f32..1.0).prop_map(|(e, x)| x * 10_f32.powi(e))]
}

/// Generates similar and different rows, copies, and unfit rows.
fn rows(n_dims: usize) -> impl Strategy<Value = Vectors> {
    let original = prop_oneof![
        6 => prop::collection::vec(number(), n_dims),
        1 => Just(vec![0.0; n_dims]),
        1 => prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::from_bits(1)])
            .prop_map(move |number| vec![number; n_dims]),
    ];
    let copy =
        (any::<prop::sample::Index>(), prop::collection::vec(number(), n_dims), 0_i32..10, -38_i32..30);
    (prop::collection::vec(original, 1..12), prop::collection::vec(copy, 0..90)).prop_map(
        move |(mut rows, copies)| {
            for (of, noise, power, size) in copies {
                let by = 0.3_f32.powi(power) * f32::from(u8::from(power > 0));
                let scale = if size % 2 == 0 { 1.0 } else { 10_f32.powi(size) };
                let of = of.get(&rows);
                rows.push(
                    of.iter().zip(noise).map(|(number, noise)| scale * (number + by * noise)).collect(),
                );
            }
            Vectors::new(n_dims, rows.concat())
        },
    )
}

fn collections() -> impl Strategy<Value = (Vectors, Vectors)> {
    (1_usize..80).prop_flat_map(|n_dims| (rows(n_dims), rows(n_dims)))
}

fn threshold() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..=1.0, 0.9..=1.0, 0.999..=1.0, Just(1.0), Just(0.0)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_join_equals_the_reference_implementation((a, b) in collections(), threshold in threshold()) {
        prop_assert_eq!(pairs(&a, threshold), by_hand(&a, &a, threshold, |a, b| a < b));
        prop_assert_eq!(pairs_of_two(&a, &b, threshold), by_hand(&a, &b, threshold, |_, _| true));
    }

    #[test]
    fn a_threshold_that_is_a_score_keeps_its_pair((a, _) in collections(), at in any::<prop::sample::Index>()) {
        let all = by_hand(&a, &a, 0.0, |a, b| a < b);
        if !all.is_empty() {
            let pair = *at.get(&all);
            prop_assert!(pairs(&a, pair.score).contains(&pair));
        }
    }

    #[cfg(feature = "ann")]
    #[test]
    fn a_graph_reports_only_pairs_above_the_threshold((a, b) in collections(), threshold in threshold()) {
        let (all, (found, notes)) = (pairs(&a, threshold), pairs_and_notes(&a, threshold, GRAPH));
        let is_ordered = |pairs: &[Pair]| pairs.is_sorted_by_key(|pair| (pair.a, pair.b));
        prop_assert!(is_ordered(&found) && found.iter().all(|pair| all.contains(pair)));
        // The sample is larger than the collection, so the recall is exact.
        let recall = notes.search.unwrap().recall;
        prop_assert_eq!((recall.n_pairs, recall.n_found), (2 * all.len(), 2 * found.len()));
        let (all, (found, notes)) = (pairs_of_two(&a, &b, threshold), pairs_of_two_by(&a, &b, threshold, GRAPH));
        prop_assert!(is_ordered(&found) && found.iter().all(|pair| all.contains(pair)));
        let recall = notes.search.unwrap().recall;
        prop_assert_eq!((recall.n_pairs, recall.n_found), (all.len(), found.len()));
    }

    #[test]
    fn the_number_of_threads_changes_nothing((a, _) in collections(), threshold in threshold()) {
        for plan in [Plan::Exact, GRAPH] {
            let with = |n_threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                pool.install(|| pairs_and_notes(&a, threshold, plan).0)
            };
            prop_assert_eq!(with(1), with(2));
        }
    }
}
