//! Sums without special instructions, for any machine.

use super::{N_PANELS, N_PROBES, PANEL_LEN, PanelQuad, ProbeQuad, Quad, Tile};

pub(super) fn write_sums(probes: &[ProbeQuad], starts: &[i32; N_PROBES], quads: &[Quad], tile: &mut Tile) {
    *tile = starts.map(|start| [[start; PANEL_LEN]; N_PANELS]);
    for (words, quad) in probes.iter().zip(quads) {
        for (sums, word) in tile.iter_mut().zip(words) {
            for (sums, quad) in sums.iter_mut().zip(quad) {
                add(sums, quad, *word);
            }
        }
    }
}

/// Adds four products to the sum of each row of a panel.
fn add(sums: &mut [i32; PANEL_LEN], quad: &PanelQuad, word: i32) {
    let numbers = word.to_ne_bytes().map(u8::cast_signed).map(i32::from);
    for (sum, bytes) in sums.iter_mut().zip(quad.as_chunks::<4>().0) {
        for (number, byte) in numbers.iter().zip(bytes) {
            *sum += number * i32::from(*byte);
        }
    }
}
