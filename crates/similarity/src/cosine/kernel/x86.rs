//! Sums with the instructions of x86-64.
//!
//! With VNNI, one instruction multiplies four pairs of bytes per lane, an unsigned with a signed one, and adds the
//! products. Without it, bytes are first widened to 16 bits, the even and the odd ones separately. No code here reads
//! memory through a pointer: arrays are converted to vectors by value.

use core::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_dpbusd_avx_epi32, _mm256_madd_epi16,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_slli_epi16, _mm256_srai_epi16, _mm256_srli_epi16,
    _mm512_dpbusd_epi32, _mm512_set1_epi32,
};

use bytemuck::must_cast;

use super::{N_PANELS, N_PROBES, PANEL_LEN, ProbeQuad, Quad, Tile};

/// The sums of a panel and a probe in two registers.
type Halves = [__m256i; 2];

#[target_feature(enable = "avx512f,avx512vnni")]
pub(super) fn write_sums_by_avx512_vnni(
    probes: &[ProbeQuad],
    starts: &[i32; N_PROBES],
    quads: &[Quad],
    tile: &mut Tile,
) {
    let mut sums = [[_mm512_set1_epi32(0); N_PANELS]; N_PROBES];
    for (sums, start) in sums.iter_mut().zip(starts) {
        sums.fill(_mm512_set1_epi32(*start));
    }
    for (words, quad) in probes.iter().zip(quads) {
        for (sums, word) in sums.iter_mut().zip(words) {
            let word = _mm512_set1_epi32(*word);
            for (sum, quad) in sums.iter_mut().zip(quad) {
                *sum = _mm512_dpbusd_epi32(*sum, must_cast(*quad), word);
            }
        }
    }
    *tile = must_cast(sums);
}

#[target_feature(enable = "avx2,avxvnni")]
pub(super) fn write_sums_by_avx_vnni(
    probes: &[ProbeQuad],
    starts: &[i32; N_PROBES],
    quads: &[Quad],
    tile: &mut Tile,
) {
    for panel in 0..N_PANELS {
        let mut sums: [Halves; N_PROBES] = starting_from(*starts);
        for (words, quad) in probes.iter().zip(quads) {
            let quad: Halves = must_cast(quad[panel]);
            for (sums, word) in sums.iter_mut().zip(words) {
                let word = _mm256_set1_epi32(*word);
                for (sum, quad) in sums.iter_mut().zip(quad) {
                    *sum = _mm256_dpbusd_avx_epi32(*sum, quad, word);
                }
            }
        }
        write_panel(tile, panel, &sums);
    }
}

/// Number of probes whose sums fit in 16 registers together with the widened bytes of a panel.
const N_PROBES_BY_AVX2: usize = 3;

#[target_feature(enable = "avx2")]
pub(super) fn write_sums_by_avx2(
    probes: &[ProbeQuad],
    starts: &[i32; N_PROBES],
    quads: &[Quad],
    tile: &mut Tile,
) {
    let starts = starts.as_chunks::<N_PROBES_BY_AVX2>().0;
    for (some, tile) in tile.chunks_exact_mut(N_PROBES_BY_AVX2).enumerate() {
        for panel in 0..N_PANELS {
            let mut sums = starting_from(starts[some]);
            for (words, quad) in probes.iter().zip(quads) {
                let words = &words.as_chunks::<N_PROBES_BY_AVX2>().0[some];
                add_by_avx2(&mut sums, words, must_cast(quad[panel]));
            }
            write_panel(tile, panel, &sums);
        }
    }
}

/// Adds four products to the sum of each row of a panel, for some probes.
#[inline]
#[target_feature(enable = "avx2")]
fn add_by_avx2(sums: &mut [Halves; N_PROBES_BY_AVX2], words: &[i32; N_PROBES_BY_AVX2], quad: Halves) {
    let (even, odd) = widened(quad);
    for (sums, word) in sums.iter_mut().zip(words) {
        let word = _mm256_set1_epi32(*word);
        let even_word = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(word));
        let odd_word = _mm256_srai_epi16::<8>(word);
        for half in 0..2 {
            let even = _mm256_madd_epi16(even[half], even_word);
            let odd = _mm256_madd_epi16(odd[half], odd_word);
            sums[half] = _mm256_add_epi32(sums[half], _mm256_add_epi32(even, odd));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn starting_from<const N: usize>(starts: [i32; N]) -> [Halves; N] {
    let mut sums = [[_mm256_set1_epi32(0); 2]; N];
    for (sums, start) in sums.iter_mut().zip(starts) {
        sums.fill(_mm256_set1_epi32(start));
    }
    sums
}

/// Writes the sums of a panel and some probes.
fn write_panel(tile: &mut [[[i32; PANEL_LEN]; N_PANELS]], panel: usize, sums: &[Halves]) {
    for (tile, sums) in tile.iter_mut().zip(sums) {
        tile[panel] = must_cast(*sums);
    }
}

/// Widens the even and the odd bytes of a panel to 16 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn widened([low, high]: Halves) -> (Halves, Halves) {
    let mask = _mm256_set1_epi16(0xFF);
    let even = [_mm256_and_si256(low, mask), _mm256_and_si256(high, mask)];
    let odd = [_mm256_srli_epi16::<8>(low), _mm256_srli_epi16::<8>(high)];
    (even, odd)
}
