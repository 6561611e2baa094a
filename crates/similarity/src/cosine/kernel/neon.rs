//! Sums with the instructions of every 64-bit ARM processor.
//!
//! Bytes are converted to signed ones, multiplied in pairs to 16 bits, and adjacent products are added to 32-bit
//! sums. The instructions for sums of products of bytes are not available in stable Rust.

use core::arch::aarch64::{
    int8x16_t, int32x4_t, vdupq_n_s32, vdupq_n_u8, veorq_u8, vget_low_s8, vmull_high_s8, vmull_s8,
    vpadalq_s16, vpaddq_s32, vreinterpretq_s8_s32, vreinterpretq_s8_u8,
};

use bytemuck::must_cast;

use super::{N_PANELS, N_PROBES, OFFSET_BIT, PANEL_LEN, PanelQuad, ProbeQuad, Quad, Tile};

/// Number of registers for the bytes of a panel.
const N_PARTS: usize = 4;

/// The sums of four rows, each in two adjacent halves.
type PartSums = [int32x4_t; 2];

/// Number of probes whose sums fit in the registers.
const N_PROBES_BY_NEON: usize = 2;

#[target_feature(enable = "neon")]
pub(super) fn write_sums_by_neon(
    probes: &[ProbeQuad],
    _starts: &[i32; N_PROBES],
    quads: &[Quad],
    tile: &mut Tile,
) {
    for (some, tile) in tile.chunks_exact_mut(N_PROBES_BY_NEON).enumerate() {
        for panel in 0..N_PANELS {
            let mut sums = [[[vdupq_n_s32(0); 2]; N_PARTS]; N_PROBES_BY_NEON];
            for (words, quad) in probes.iter().zip(quads) {
                add(&mut sums, &words.as_chunks::<N_PROBES_BY_NEON>().0[some], &quad[panel]);
            }
            for (tile, sums) in tile.iter_mut().zip(&sums) {
                tile[panel] = added_up(sums);
            }
        }
    }
}

/// Adds four products to the sum of each row of a panel, for some probes.
#[inline]
#[target_feature(enable = "neon")]
fn add(
    sums: &mut [[PartSums; N_PARTS]; N_PROBES_BY_NEON],
    words: &[i32; N_PROBES_BY_NEON],
    quad: &PanelQuad,
) {
    let parts: [[u8; 16]; N_PARTS] = must_cast(*quad);
    for (part, bytes) in parts.into_iter().enumerate() {
        let numbers = vreinterpretq_s8_u8(veorq_u8(must_cast(bytes), vdupq_n_u8(OFFSET_BIT)));
        for (sums, word) in sums.iter_mut().zip(words) {
            add_part(&mut sums[part], numbers, vreinterpretq_s8_s32(vdupq_n_s32(*word)));
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn add_part([low, high]: &mut PartSums, numbers: int8x16_t, probe: int8x16_t) {
    *low = vpadalq_s16(*low, vmull_s8(vget_low_s8(numbers), vget_low_s8(probe)));
    *high = vpadalq_s16(*high, vmull_high_s8(numbers, probe));
}

/// Adds the halves of the sums for the rows of a panel.
#[inline]
#[target_feature(enable = "neon")]
fn added_up(sums: &[PartSums; N_PARTS]) -> [i32; PANEL_LEN] {
    let mut rows = [[0; 4]; N_PARTS];
    for (rows, [low, high]) in rows.iter_mut().zip(sums) {
        *rows = must_cast(vpaddq_s32(*low, *high));
    }
    must_cast(rows)
}
