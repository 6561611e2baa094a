//! Whether to compare all rows, or to have a graph propose pairs.
//!
//! Both costs grow with the dimensions; comparing all grows with the number of pairs, a graph with the rows
//! and a little faster. So up to some size all are compared, which misses nothing. Costs are of the instructions that
//! the machine has and of one thread, whatever there are: the plan, and with it the answer, is the same for any number
//! of threads, but can be another on a machine of another kind. Whoever needs the same on all says which plan.

use multiversion::multiversion;
use multiversion::target::match_target;

/// How pairs are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// All rows are compared; every pair is found.
    Exact,
    /// A graph proposes pairs; some may be missed, and how many is estimated.
    Approximate(Graph),
}

/// How a graph is built and asked. Higher numbers find more pairs and take longer; those out of range are taken as the
/// nearest that is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph {
    /// Links of a row in a layer, 2 to 256.
    pub m: usize,
    /// Rows that are looked at for the links of a new one, at least 1.
    pub ef_construction: usize,
    /// Neighbours a row is asked for at first, at least 1; more where the last of them is near enough.
    pub k: usize,
    /// Rows that are looked at for the neighbours of one, at least 1; never fewer than twice as many as are asked for.
    pub ef: usize,
}

impl Default for Graph {
    fn default() -> Self {
        Self { m: 16, ef_construction: 128, k: 16, ef: 64 }
    }
}

impl Graph {
    fn in_range(self) -> Self {
        Self {
            m: self.m.clamp(2, 256),
            ef_construction: self.ef_construction.max(1),
            k: self.k.max(1),
            ef: self.ef.max(1),
        }
    }
}

/// By how much a graph must be cheaper: it is built by one thread, and may miss pairs.
const WORTH: f64 = 2.0;

/// Rows that are compared to insert one into a graph with the default settings and to ask for it, for each doubling of
/// the number of rows.
const N_COMPARED: f64 = 200.0;

/// Seconds that comparing two rows in a graph takes: getting to them, and for each dimension.
const SECONDS_TO_GET_THERE: f64 = 6e-7;
const SECONDS_A_DIMENSION: f64 = 4e-10;

impl Plan {
    /// The plan with settings that there can be.
    pub(super) fn in_range(self) -> Self {
        match self {
            Self::Exact => Self::Exact,
            Self::Approximate(graph) => Self::Approximate(graph.in_range()),
        }
    }

    /// The cheaper plan for all pairs of so many rows.
    pub fn of_self_join(n_rows: usize, n_dims: usize) -> Self {
        cheaper(count(n_rows) * count(n_rows) / 2.0, count(n_rows), count(n_rows), n_dims)
    }

    /// The cheaper plan for all pairs of a row of one collection and a row of another.
    pub fn of_join(n_a: usize, n_b: usize, n_dims: usize) -> Self {
        cheaper(count(n_a) * count(n_b), count(n_a + n_b), count(n_b), n_dims)
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn count(n: usize) -> f64 {
    n as f64
}

fn cheaper(n_pairs: f64, n_asked: f64, n_indexed: f64, n_dims: usize) -> Plan {
    let exact = n_pairs * count(n_dims) * exact_seconds_a_dimension();
    let n_compared = N_COMPARED * n_indexed.max(2.0).log2();
    let graph = n_asked * n_compared * (SECONDS_TO_GET_THERE + count(n_dims) * SECONDS_A_DIMENSION);
    if exact <= WORTH * graph { Plan::Exact } else { Plan::Approximate(Graph::default()) }
}

/// Seconds that holding two rows against each other takes for each of their dimensions, with the widest instructions of
/// the machine: as measured at a threshold of 0.9 on a processor of 2023, but for ARM, which is a guess.
#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd+avx512vnni",
    "x86_64+avx+avx2+avxvnni",
    "x86_64+avx+avx2",
    "aarch64+neon+dotprod"
))]
fn exact_seconds_a_dimension() -> f64 {
    match_target! {
        "x86_64+avx512f+avx512vnni" => 1.6e-12,
        "x86_64+avx2+avxvnni" => 2.2e-12,
        "x86_64+avx2" => 7.2e-12,
        "aarch64+neon+dotprod" => 1e-11,
        _ => 9.4e-11,
    }
}
