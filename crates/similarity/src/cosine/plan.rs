//! The choice between comparing all rows and a graph that proposes pairs.
//!
//! Both costs grow with the dimensions; comparing all grows with the number of pairs, a graph slightly faster than the
//! number of rows. So up to some size all pairs are compared, which misses none. Costs depend on the instructions of
//! the machine but are for one thread: the plan, and so the result, is the same for any number of threads, but can
//! differ between machines. If you need the same result on all machines, choose the plan explicitly.

use multiversion::multiversion;
use multiversion::target::match_target;

/// The method of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// All rows are compared; every pair is found.
    Exact,
    /// A graph proposes pairs; some may be missed, and their number is estimated.
    Approximate(Graph),
}

/// The settings of a graph. Higher numbers find more pairs and take longer; numbers out of range are clamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph {
    /// Number of links of a row in a layer, 2 to 256.
    pub m: usize,
    /// Number of candidates for the links of a new row, at least 1.
    pub ef_construction: usize,
    /// Number of neighbours in the first query of a row, at least 1; more are queried if the last of them is near
    /// enough.
    pub k: usize,
    /// Number of candidates in a query, at least 1; always at least twice the number of neighbours.
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

/// The factor by which a graph must be cheaper, because it is built by one thread and may miss pairs.
const WORTH: f64 = 2.0;

/// Number of comparisons to insert and query a row in a graph with the default settings, for each doubling of the
/// number of rows.
const N_COMPARED: f64 = 200.0;

/// Seconds to access two rows in a graph.
const SECONDS_TO_ACCESS: f64 = 6e-7;
/// Seconds to compare two rows in a graph, per dimension.
const SECONDS_PER_DIMENSION: f64 = 4e-10;

impl Plan {
    /// Whether this build has graphs: the feature `ann`.
    pub const HAS_GRAPHS: bool = cfg!(feature = "ann");

    /// Returns the plan with its settings clamped to their ranges; without graphs, that all rows are compared.
    pub(super) fn in_range(self) -> Self {
        match self {
            Self::Approximate(graph) if Self::HAS_GRAPHS => Self::Approximate(graph.in_range()),
            _ => Self::Exact,
        }
    }

    /// Returns the cheaper plan for all pairs of this number of rows.
    pub fn of_self_join(n_rows: usize, n_dims: usize) -> Self {
        cheaper(count(n_rows) * count(n_rows) / 2.0, count(n_rows), count(n_rows), n_dims)
    }

    /// Returns the cheaper plan for all pairs of a row of one collection and a row of another.
    pub fn of_join(n_a: usize, n_b: usize, n_dims: usize) -> Self {
        cheaper(count(n_a) * count(n_b), count(n_a + n_b), count(n_b), n_dims)
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn count(n: usize) -> f64 {
    n as f64
}

fn cheaper(n_pairs: f64, n_queried: f64, n_indexed: f64, n_dims: usize) -> Plan {
    let exact = n_pairs * count(n_dims) * exact_seconds_per_dimension();
    let n_compared = N_COMPARED * n_indexed.max(2.0).log2();
    let graph = n_queried * n_compared * (SECONDS_TO_ACCESS + count(n_dims) * SECONDS_PER_DIMENSION);
    if exact <= WORTH * graph || !Plan::HAS_GRAPHS {
        Plan::Exact
    } else {
        Plan::Approximate(Graph::default())
    }
}

/// Returns the seconds to compare two rows per dimension, with the widest instructions of the machine: measured at a
/// threshold of 0.9 on a processor of 2023, except for ARM, which is an estimate.
#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd+avx512vnni",
    "x86_64+avx+avx2+avxvnni",
    "x86_64+avx+avx2",
    "aarch64+neon+dotprod"
))]
fn exact_seconds_per_dimension() -> f64 {
    match_target! {
        "x86_64+avx512f+avx512vnni" => 1.6e-12,
        "x86_64+avx2+avxvnni" => 2.2e-12,
        "x86_64+avx2" => 7.2e-12,
        "aarch64+neon+dotprod" => 1e-11,
        _ => 9.4e-11,
    }
}
