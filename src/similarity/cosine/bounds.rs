//! A bound on the cosine of two rows that few bytes of each decide, and the layout it is reckoned in.
//!
//! Of a row `a` the *head* is kept: some dimensions, rounded to whole numbers `q` of -127 to 127 times a scale `s`.
//! Call `s·q`, zero in all other dimensions, `h`, and what is missing `u = a - h`; its part in the dimensions of the
//! head is the rounding `e`. Since `h` is zero wherever `u` is not `e`,
//!
//! `a·b = (h + u)·(h' + u') = h·h' + h·e' + e·h' + u·u' ≤ s·s'·(q·q') + |h|·|e'| + |e|·|h'| + |u|·|u'|`
//!
//! by Cauchy and Schwarz. `q·q'` is exact in integers, and the three lengths stand beside each head, rounded up. So
//! where the right side is below [`least`], the score is below the threshold, and no pair at or above it is refused.
//!
//! Heads of 16 rows stand side by side in a *panel*, four dimensions (a *quad*) of each in turn, as the instructions
//! for sums of products of bytes want them. Rows that match nothing have a bound that is not a number, and that is
//! at least nothing.

use multiversion::multiversion;
use rayon::prelude::*;

use super::kernel::{N_PANELS, N_PROBES, PANEL_LEN, ProbeQuad, Quad, Tile};
use super::rows::{MAX_NORM_SQUARED, UnitRows, row};

/// Rows of as many panels as one look takes.
pub(super) const LOOK_LEN: usize = N_PANELS * PANEL_LEN;

/// Dimensions of a head, at most: their products add up to less than 2³¹.
pub(super) const MAX_HEAD: usize = 1 << 15;

/// What a whole number of a head is kept above: bytes of panels have no sign.
const OFFSET: i32 = 128;

/// The largest whole number of a head.
const MAX_WHOLE: f32 = 127.0;

/// What is left over where double precision takes one sum from another.
const CANCELLED: f64 = 1e-11;

/// Above the rounding of a double to single precision.
const ROUND_UP: f64 = 1.0 + 1e-6;

/// What the bound of a pair with a score of at least `threshold` cannot be below.
///
/// A score may be above the bound by its own rounding and that of the bound. A sum of `n` products in any order is off
/// by at most `n·2⁻²⁴ / (1 - n·2⁻²⁴)` times the lengths (Higham, "Accuracy and Stability of Numerical Algorithms",
/// 3.1); the bound is a handful of operations on numbers below 4.
#[expect(clippy::cast_precision_loss, reason = "counts of dimensions are far below 2⁵³")]
#[expect(clippy::cast_possible_truncation, reason = "the slack holds what is lost")]
pub(super) fn least(threshold: f64, n_dims: usize) -> f32 {
    let rounding = (n_dims + 2) as f64 / f64::from(1 << 24);
    // With more dimensions than a sum in single precision can bear nothing is refused.
    if rounding < 0.5 { (threshold - 2.0 * rounding - 4e-6) as f32 } else { f32::NEG_INFINITY }
}

/// The scale and the lengths of the heads of a panel, for each row one.
#[derive(Clone)]
pub(super) struct Lengths {
    /// `s` of the proof.
    scales: [f32; PANEL_LEN],
    /// `|h|`.
    heads: [f32; PANEL_LEN],
    /// `|e|`.
    errors: [f32; PANEL_LEN],
    /// `|u|`; not a number for a row that matches nothing.
    rests: [f32; PANEL_LEN],
}

impl Lengths {
    const OF_NOTHING: Self = Self {
        scales: [0.0; PANEL_LEN],
        heads: [0.0; PANEL_LEN],
        errors: [0.0; PANEL_LEN],
        rests: [f32::NAN; PANEL_LEN],
    };
}

/// The heads of a collection.
pub(super) struct Heads {
    n_quads: usize,
    quads: Vec<Quad>,
    lengths: Vec<Lengths>,
}

impl Heads {
    /// Heads of some dimensions of each row, at most [`MAX_HEAD`] of them.
    pub(super) fn of(rows: &UnitRows<'_>, dims: &[u32]) -> Self {
        let n_quads = dims.len().div_ceil(4).max(1);
        let n_panels = rows.len().div_ceil(LOOK_LEN) * N_PANELS;
        let mut quads = vec![[0; 4 * PANEL_LEN]; n_panels * n_quads];
        let mut lengths = vec![Lengths::OF_NOTHING; n_panels];
        let panels = quads.par_chunks_mut(n_quads).zip(&mut lengths).enumerate();
        panels.for_each_init(
            || vec![0.0; 4 * n_quads],
            |head, (panel, (quads, lengths))| {
                let first = panel * PANEL_LEN;
                for lane in 0..PANEL_LEN.min(rows.len().saturating_sub(first)) {
                    let row = row(first + lane);
                    if rows.is_fit(row) {
                        gather(head, rows.get(row), dims);
                        write_head(head, lane, quads, lengths);
                    }
                }
            },
        );
        Self { n_quads, quads, lengths }
    }

    /// How many times [`LOOK_LEN`] rows there are.
    pub(super) fn n_looks(&self) -> usize {
        self.lengths.len() / N_PANELS
    }

    /// The panels of one look, and their lengths.
    pub(super) fn look(&self, at: usize) -> ([&[Quad]; N_PANELS], &[Lengths]) {
        let panels = std::array::from_fn(|panel| {
            &self.quads[(at * N_PANELS + panel) * self.n_quads..][..self.n_quads]
        });
        (panels, &self.lengths[at * N_PANELS..][..N_PANELS])
    }

    /// Rows to be held against panels, from `first` on.
    pub(super) fn probes(&self, first: usize) -> Probes {
        let mut probes = Probes {
            first,
            quads: vec![[0; N_PROBES]; self.n_quads],
            starts: [0; N_PROBES],
            lengths: Lengths::OF_NOTHING,
        };
        for (probe, row) in (first..self.lengths.len() * PANEL_LEN).take(N_PROBES).enumerate() {
            self.write_probe(row, probe, &mut probes);
        }
        probes
    }

    fn write_probe(&self, row: usize, probe: usize, probes: &mut Probes) {
        let (panel, lane) = (row / PANEL_LEN, row % PANEL_LEN);
        let quads = &self.quads[panel * self.n_quads..][..self.n_quads];
        let mut sum = 0;
        for (quad, probes) in quads.iter().zip(&mut probes.quads) {
            let wholes: [i8; 4] = std::array::from_fn(|dim| without_offset(quad[4 * lane + dim]));
            sum += wholes.iter().map(|&whole| i32::from(whole)).sum::<i32>();
            probes[probe] = i32::from_ne_bytes(wholes.map(i8::cast_unsigned));
        }
        probes.starts[probe] = -OFFSET * sum;
        let lengths = &self.lengths[panel];
        probes.lengths.scales[probe] = lengths.scales[lane];
        probes.lengths.heads[probe] = lengths.heads[lane];
        probes.lengths.errors[probe] = lengths.errors[lane];
        probes.lengths.rests[probe] = lengths.rests[lane];
    }
}

fn without_offset(byte: u8) -> i8 {
    (byte ^ 0x80).cast_signed()
}

/// Takes the numbers of some dimensions, with zeros behind them.
fn gather(head: &mut [f32], row: &[f32], dims: &[u32]) {
    head[dims.len()..].fill(0.0);
    for (number, &dim) in head.iter_mut().zip(dims) {
        *number = row[dim as usize];
    }
}

/// Rounds a head and writes it with its lengths.
fn write_head(head: &[f32], lane: usize, quads: &mut [Quad], lengths: &mut Lengths) {
    let largest = head.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let scale = largest / MAX_WHOLE;
    let norms = round_into(head, scale, lane, quads);
    let rest = MAX_NORM_SQUARED - norms.exact + norms.error + CANCELLED;
    lengths.scales[lane] = scale;
    lengths.heads[lane] = length_of(norms.rounded);
    lengths.errors[lane] = length_of(norms.error);
    lengths.rests[lane] = length_of(rest.max(CANCELLED));
}

#[expect(clippy::cast_possible_truncation, reason = "it is rounded up by more than a single loses")]
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

/// Writes the whole numbers of a head.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 256")]
fn round_into(head: &[f32], scale: f32, lane: usize, quads: &mut [Quad]) -> Norms {
    let per_unit = if scale > f32::MIN_POSITIVE { scale.recip() } else { 0.0 };
    let mut norms = Norms::default();
    for (numbers, quad) in head.as_chunks::<4>().0.iter().zip(quads) {
        let bytes: &mut [u8] = &mut quad[4 * lane..][..4];
        for (number, byte) in numbers.iter().zip(bytes) {
            // Above zero, so that cutting off what stands behind the point rounds to the nearest.
            *byte = (number * per_unit + 128.5) as u8;
            let rounded = f64::from(scale) * f64::from(without_offset(*byte));
            let error = f64::from(*number) - rounded;
            norms.exact += f64::from(*number) * f64::from(*number);
            norms.rounded += rounded * rounded;
            norms.error += error * error;
        }
    }
    norms
}

/// Some rows, to be held against panels at a look.
pub(super) struct Probes {
    /// The number of the first row.
    pub(super) first: usize,
    /// Their heads, four dimensions of each in turn.
    pub(super) quads: Vec<ProbeQuad>,
    /// What their sums start from, so that the offset of the panels' bytes falls out.
    pub(super) starts: [i32; N_PROBES],
    lengths: Lengths,
}

/// Which rows of a look may be at or above a threshold with which probe: for each probe and panel a bit a row.
pub(super) type Found = [[u16; N_PANELS]; N_PROBES];

/// Looks which bounds are not below `least`.
#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd",
    "x86_64+avx+avx2",
    "aarch64+neon"
))]
#[expect(clippy::cast_precision_loss, reason = "the slack holds what is lost")]
pub(super) fn found(tile: &Tile, probes: &Probes, panels: &[Lengths], least: f32) -> Found {
    let mut found = [[0; N_PANELS]; N_PROBES];
    for (probe, (sums, found)) in tile.iter().zip(&mut found).enumerate() {
        let scale = probes.lengths.scales[probe];
        let head = probes.lengths.heads[probe];
        let error = probes.lengths.errors[probe];
        let rest = probes.lengths.rests[probe];
        for ((sums, panel), found) in sums.iter().zip(panels).zip(found) {
            #[expect(clippy::needless_range_loop, reason = "several arrays of a panel side by side")]
            for lane in 0..PANEL_LEN {
                let bound = sums[lane] as f32 * (scale * panel.scales[lane])
                    + head * panel.errors[lane]
                    + error * panel.heads[lane]
                    + rest * panel.rests[lane];
                *found |= u16::from(bound >= least) << lane;
            }
        }
    }
    found
}
