//! A bound on the cosine of two rows that only needs a few bytes of each, and its memory layout.
//!
//! The *head* of a row `a` is some of its dimensions, rounded to integers `q` from -127 to 127 times a scale `s`.
//! Let `h` be `s·q`, and zero in all other dimensions, and let `u = a - h` be the rest; its part in the dimensions of
//! the head is the rounding error `e`. Since `h` is zero in all dimensions where `u` is not `e`,
//!
//! `a·b = (h + u)·(h' + u') = h·h' + h·e' + e·h' + u·u' ≤ s·s'·(q·q') + |h|·|e'| + |e|·|h'| + |u|·|u'|`
//!
//! by Cauchy and Schwarz. `q·q'` is exact in integers, and the three lengths are stored with each head, rounded up.
//! So if the right side is below [`least`], the score is below the threshold, and no pair at or above it is rejected.
//!
//! Heads are interleaved, four dimensions (a *quad*) of each row in turn, as required by the instructions for sums of
//! products of bytes: 16 rows are a *panel*, and a few panels (a *look*) are processed together. Rows that match
//! nothing have NaN as their bound, which is never at or above the threshold.

use multiversion::multiversion;
use rayon::prelude::*;

use super::kernel::{self, N_PANELS, N_PROBES, OFFSET_BIT, PANEL_LEN, ProbeQuad, Quad, Tile};
use super::rows::{MAX_NORM_SQUARED, UnitRows, row};

/// Number of rows in a look.
pub(super) const LOOK_LEN: usize = N_PANELS * PANEL_LEN;

/// Maximum number of dimensions of a head: their products sum to less than 2³¹.
pub(super) const MAX_HEAD: usize = 1 << 15;

/// The largest integer in a head.
const MAX_WHOLE: f32 = 127.0;

/// The offset of the bytes in panels plus one half, so that truncation of a positive number rounds it.
const ROUNDED_OFFSET: f32 = 128.5;

/// An upper bound of the error of a difference of two sums in double precision.
const CANCELLED: f64 = 1e-11;

/// A factor larger than the rounding of a double to single precision.
const ROUND_UP: f64 = 1.0 + 1e-6;

/// Returns the minimum bound of a pair with a score of at least `threshold`.
///
/// A score may exceed the bound by its rounding error and that of the bound. A sum of `n` products in any order has an
/// error of at most `n·2⁻²⁴ / (1 - n·2⁻²⁴)` times the lengths (Higham, "Accuracy and Stability of Numerical
/// Algorithms",
/// 3.1); the bound is a few operations on numbers below 4.
#[expect(clippy::cast_precision_loss, reason = "counts of dimensions are far below 2⁵³")]
#[expect(clippy::cast_possible_truncation, reason = "the slack covers the rounding")]
pub(super) fn least(threshold: f64, n_dims: usize) -> f32 {
    let rounding = (n_dims + 2) as f64 / f64::from(1 << 24);
    // With too many dimensions for a sum in single precision, no pair is rejected.
    if rounding < 0.5 { (threshold - 2.0 * rounding - 4e-6) as f32 } else { f32::NEG_INFINITY }
}

/// The scale and the lengths of a head, rounded up.
#[derive(Clone, Copy)]
struct Length {
    /// `s` of the proof.
    scale: f32,
    /// `|h|`.
    head: f32,
    /// `|e|`.
    error: f32,
    /// `|u|`; not a number for a row that matches nothing.
    rest: f32,
}

impl Length {
    const OF_NOTHING: Self = Self { scale: 0.0, head: 0.0, error: 0.0, rest: f32::NAN };
}

/// The scales and lengths of the heads in a panel.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    scales: [f32; PANEL_LEN],
    heads: [f32; PANEL_LEN],
    errors: [f32; PANEL_LEN],
    rests: [f32; PANEL_LEN],
}

impl Lengths {
    const OF_NOTHING: Self = Self {
        scales: [Length::OF_NOTHING.scale; PANEL_LEN],
        heads: [Length::OF_NOTHING.head; PANEL_LEN],
        errors: [Length::OF_NOTHING.error; PANEL_LEN],
        rests: [Length::OF_NOTHING.rest; PANEL_LEN],
    };

    fn get(&self, lane: usize) -> Length {
        Length {
            scale: self.scales[lane],
            head: self.heads[lane],
            error: self.errors[lane],
            rest: self.rests[lane],
        }
    }

    fn set(&mut self, lane: usize, length: Length) {
        self.scales[lane] = length.scale;
        self.heads[lane] = length.head;
        self.errors[lane] = length.error;
        self.rests[lane] = length.rest;
    }
}

/// The heads of a collection.
pub(super) struct Heads {
    n_quads: usize,
    quads: Vec<Quad>,
    lengths: Vec<[Lengths; N_PANELS]>,
}

impl Heads {
    /// Computes heads of some dimensions of each row, at most [`MAX_HEAD`].
    pub(super) fn of(rows: &UnitRows<'_>, dims: &[u32]) -> Self {
        let n_quads = dims.len().div_ceil(4).max(1);
        let n_looks = rows.len().div_ceil(LOOK_LEN);
        let mut quads = vec![[[0; 4 * PANEL_LEN]; N_PANELS]; n_looks * n_quads];
        let mut lengths = vec![[Lengths::OF_NOTHING; N_PANELS]; n_looks];
        let looks = quads.par_chunks_mut(n_quads).zip(&mut lengths).enumerate();
        looks.for_each_init(
            || vec![0.0; 4 * n_quads],
            |head, (look, (quads, lengths))| {
                let first = look * LOOK_LEN;
                for row in (first..rows.len().min(first + LOOK_LEN)).map(row).filter(|&row| rows.is_fit(row))
                {
                    gather(head, rows.get(row), dims);
                    write_head(head, Place::of(row as usize), quads, lengths);
                }
            },
        );
        Self { n_quads, quads, lengths }
    }

    /// Returns the number of looks, of [`LOOK_LEN`] rows each.
    pub(super) fn n_looks(&self) -> usize {
        self.lengths.len()
    }

    /// Returns the heads of a look and their lengths.
    pub(super) fn look(&self, at: usize) -> (&[Quad], &[Lengths; N_PANELS]) {
        (&self.quads[at * self.n_quads..][..self.n_quads], &self.lengths[at])
    }

    /// Returns rows, starting with `first`, for the comparison with others.
    pub(super) fn probes(&self, first: usize) -> Probes {
        let mut probes = Probes {
            first,
            quads: vec![[0; N_PROBES]; self.n_quads],
            starts: [0; N_PROBES],
            lengths: [Length::OF_NOTHING; N_PROBES],
        };
        for (probe, row) in (first..self.n_looks() * LOOK_LEN).take(N_PROBES).enumerate() {
            self.write_probe(row, probe, &mut probes);
        }
        probes
    }

    fn write_probe(&self, row: usize, probe: usize, probes: &mut Probes) {
        let (quads, lengths) = self.look(row / LOOK_LEN);
        let Place { panel, lane } = Place::of(row);
        let numbers =
            |quad: &Quad| std::array::from_fn::<_, 4, _>(|dim| without_offset(quad[panel][4 * lane + dim]));
        for (quad, probes) in quads.iter().zip(&mut probes.quads) {
            probes[probe] = i32::from_ne_bytes(numbers(quad).map(i8::cast_unsigned));
        }
        probes.starts[probe] = kernel::start(quads.iter().flat_map(numbers));
        probes.lengths[probe] = lengths[panel].get(lane);
    }
}

/// The position of a row in its look.
#[derive(Clone, Copy)]
struct Place {
    panel: usize,
    lane: usize,
}

impl Place {
    fn of(row: usize) -> Self {
        Self { panel: row / PANEL_LEN % N_PANELS, lane: row % PANEL_LEN }
    }
}

fn without_offset(byte: u8) -> i8 {
    (byte ^ OFFSET_BIT).cast_signed()
}

/// Copies the numbers of some dimensions, padded with zeros.
fn gather(head: &mut [f32], row: &[f32], dims: &[u32]) {
    head[dims.len()..].fill(0.0);
    for (number, &dim) in head.iter_mut().zip(dims) {
        *number = row[dim as usize];
    }
}

/// Rounds a head and writes it with its lengths.
fn write_head(head: &[f32], place: Place, quads: &mut [Quad], lengths: &mut [Lengths; N_PANELS]) {
    let largest = head.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let scale = largest / MAX_WHOLE;
    let norms = round_into(head, scale, place, quads);
    let rest = MAX_NORM_SQUARED - norms.exact + norms.error + CANCELLED;
    let length = Length {
        scale,
        head: length_of(norms.rounded),
        error: length_of(norms.error),
        rest: length_of(rest.max(CANCELLED)),
    };
    lengths[place.panel].set(place.lane, length);
}

#[expect(clippy::cast_possible_truncation, reason = "it is rounded up by more than the conversion loses")]
fn length_of(norm_squared: f64) -> f32 {
    (norm_squared.sqrt() * ROUND_UP) as f32
}

/// Squares of lengths.
#[derive(Default)]
struct Norms {
    exact: f64,
    rounded: f64,
    error: f64,
}

/// Writes the integers of a head.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 256")]
fn round_into(head: &[f32], scale: f32, place: Place, quads: &mut [Quad]) -> Norms {
    let per_unit = if scale > f32::MIN_POSITIVE { scale.recip() } else { 0.0 };
    let mut norms = Norms::default();
    for (numbers, quad) in head.as_chunks::<4>().0.iter().zip(quads) {
        let bytes = &mut quad[place.panel][4 * place.lane..][..4];
        for (number, byte) in numbers.iter().zip(bytes) {
            *byte = (number * per_unit + ROUNDED_OFFSET) as u8;
            let rounded = f64::from(scale) * f64::from(without_offset(*byte));
            let error = f64::from(*number) - rounded;
            norms.exact += f64::from(*number) * f64::from(*number);
            norms.rounded += rounded * rounded;
            norms.error += error * error;
        }
    }
    norms
}

/// Some rows for the comparison with looks.
pub(super) struct Probes {
    /// The number of the first row.
    pub(super) first: usize,
    /// Their heads, four dimensions of each in turn.
    pub(super) quads: Vec<ProbeQuad>,
    /// The start values of their sums.
    pub(super) starts: [i32; N_PROBES],
    lengths: [Length; N_PROBES],
}

/// For each probe, a bit per row of a look: whether the pair may be at or above the threshold.
pub(super) type Found = [u64; N_PROBES];

/// Finds the pairs whose bound is not below `least`.
#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd",
    "x86_64+avx+avx2",
    "aarch64+neon"
))]
#[expect(clippy::cast_precision_loss, reason = "the slack of `least` covers the rounding")]
pub(super) fn found(tile: &Tile, probes: &Probes, lengths: &[Lengths; N_PANELS], least: f32) -> Found {
    let mut found = [0; N_PROBES];
    for ((sums, probe), found) in tile.iter().zip(&probes.lengths).zip(&mut found) {
        for (panel, (sums, lengths)) in sums.iter().zip(lengths).enumerate() {
            let bound = |lane: usize| {
                sums[lane] as f32 * (probe.scale * lengths.scales[lane])
                    + probe.head * lengths.errors[lane]
                    + probe.error * lengths.heads[lane]
                    + probe.rest * lengths.rests[lane]
            };
            // Usually none is, and testing for any is faster than finding which.
            if (0..PANEL_LEN).fold(false, |any, lane| any | (bound(lane) >= least)) {
                let bit = |lane| u64::from(bound(lane) >= least) << (panel * PANEL_LEN + lane);
                *found |= (0..PANEL_LEN).fold(0, |bits, lane| bits | bit(lane));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vectors::{Vectors, dot};

    /// Generates numbers of different magnitudes, so that rounding errors of the smaller ones are large.
    fn number() -> impl Strategy<Value = f32> {
        (-1.0_f32..1.0, 0_i32..4).prop_map(|(number, power)| number * 0.1_f32.powi(power))
    }

    fn rows() -> impl Strategy<Value = Vectors> {
        (1_usize..90, 1_usize..150).prop_flat_map(|(n_dims, n_rows)| {
            let values = prop::collection::vec(number(), n_dims * n_rows);
            values.prop_map(move |values| Vectors::new(n_dims, values))
        })
    }

    /// Returns whether the bound accepts a pair.
    fn passes(heads: &Heads, a: usize, b: usize, least: f32) -> bool {
        let probes = heads.probes(a / N_PROBES * N_PROBES);
        let (quads, lengths) = heads.look(b / LOOK_LEN);
        let mut tile = [[[0; PANEL_LEN]; N_PANELS]; N_PROBES];
        kernel::write_sums(&probes.quads, &probes.starts, quads, &mut tile);
        found(&tile, &probes, lengths, least)[a % N_PROBES] >> (b % LOOK_LEN) & 1 == 1
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn no_pair_is_rejected_at_its_own_score(
            vectors in rows(), n_kept in 0_usize..90, of in any::<(prop::sample::Index, prop::sample::Index)>()
        ) {
            let rows = UnitRows::of(&vectors);
            let dims: Vec<u32> = (0..row(vectors.n_dims())).rev().take(n_kept).collect();
            let heads = Heads::of(&rows, &dims);
            let (a, b) = (of.0.index(rows.len()), of.1.index(rows.len()));
            let is_fit = rows.is_fit(row(a)) && rows.is_fit(row(b));
            let score = f64::from(dot(rows.get(row(a)), rows.get(row(b))));
            prop_assert_eq!(passes(&heads, a, b, least(score, vectors.n_dims())), is_fit);
        }
    }

    #[test]
    fn rows_far_below_the_threshold_are_rejected() {
        let vectors = Vectors::new(4, vec![1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 0.0]);
        let heads = Heads::of(&UnitRows::of(&vectors), &[0, 1, 2, 3]);
        let at = |a, b, threshold| passes(&heads, a, b, least(threshold, 4));
        assert!(at(0, 1, 0.5) && !at(0, 1, 0.52) && !at(0, 2, 0.02) && at(2, 2, 1.0));
        // With a head of two of four dimensions, half of the second row is in the rest; the bound is the best case.
        let half = Heads::of(&UnitRows::of(&vectors), &[2, 3]);
        let at = |threshold| passes(&half, 0, 1, least(threshold, 4));
        assert!(at(0.7) && !at(0.72));
    }

    #[test]
    fn with_too_many_dimensions_no_pair_is_rejected() {
        assert!(least(0.9, 1_536) > 0.899 && least(0.9, 1_536) < 0.9);
        assert_eq!(least(0.9, 1 << 24).to_bits(), f32::NEG_INFINITY.to_bits());
    }
}
