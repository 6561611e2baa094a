//! The definition of a look, for any machine.

use super::{N_PANELS, N_PROBES, PANEL_LEN, ProbeQuad, Quad, Tile};

pub(super) fn sums(probes: &[ProbeQuad], starts: &[i32; N_PROBES], panels: [&[Quad]; N_PANELS]) -> Tile {
    let mut tile: Tile = starts.map(|start| [[start; PANEL_LEN]; N_PANELS]);
    for (at, words) in probes.iter().enumerate() {
        for (sums, word) in tile.iter_mut().zip(words) {
            for (sums, panel) in sums.iter_mut().zip(panels) {
                add(sums, &panel[at], *word);
            }
        }
    }
    tile
}

/// Adds four products to the sum of each row of a panel.
fn add(sums: &mut [i32; PANEL_LEN], quad: &Quad, word: i32) {
    let numbers = word.to_ne_bytes().map(|byte| i32::from(byte.cast_signed()));
    for (sum, bytes) in sums.iter_mut().zip(quad.as_chunks::<4>().0) {
        for (number, byte) in numbers.iter().zip(bytes) {
            *sum += number * i32::from(*byte);
        }
    }
}
