//! Sums of products of bytes: the heads of some probes against those of some rows, at a look.
//!
//! There is a version an instruction set, and a plain one that the tests hold the others against. All give the same
//! integers, so which one a machine takes shows in nothing but time.

mod plain;
#[cfg(target_arch = "x86_64")]
mod x86;

use multiversion::multiversion;
use multiversion::target::match_target;

/// Rows of a panel.
pub(super) const PANEL_LEN: usize = 16;

/// Panels of a look.
pub(super) const N_PANELS: usize = 4;

/// Probes of a look. With four panels they are as many sums as leave room for operands in 32 vector registers.
pub(super) const N_PROBES: usize = 6;

/// Four dimensions of each row of a panel, as bytes without a sign.
pub(super) type PanelQuad = [u8; 4 * PANEL_LEN];

/// The same of all panels of a look.
pub(super) type Quad = [PanelQuad; N_PANELS];

/// Four dimensions of each probe, as bytes with a sign, in the order of memory.
pub(super) type ProbeQuad = [i32; N_PROBES];

/// The sums of a look.
pub(super) type Tile = [[[i32; PANEL_LEN]; N_PANELS]; N_PROBES];

/// Adds to each sum the products of the bytes of its probe and its row.
///
/// There are as many quads of either. No sum may leave the range of an `i32` on the way.
#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd+avx512vnni",
    "x86_64+avx+avx2+avxvnni",
    "x86_64+avx+avx2",
    "aarch64+neon"
))]
pub(super) fn add_sums(probes: &[ProbeQuad], quads: &[Quad], tile: &mut Tile) {
    match_target! {
        "x86_64+avx512f+avx512vnni" => x86::add_sums_by_avx512_vnni(probes, quads, tile),
        "x86_64+avx2+avxvnni" => x86::add_sums_by_avx_vnni(probes, quads, tile),
        "x86_64+avx2" => x86::add_sums_by_avx2(probes, quads, tile),
        _ => plain::add_sums(probes, quads, tile),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type AddSums = fn(&[ProbeQuad], &[Quad], &mut Tile);

    /// Each version by itself; the plain one where the machine has not the instructions.
    fn versions() -> [AddSums; 5] {
        #[multiversion(targets("x86_64+avx2+avx512f+avx512vnni"))]
        fn avx512_vnni(probes: &[ProbeQuad], quads: &[Quad], tile: &mut Tile) {
            match_target! {
                "x86_64+avx512f+avx512vnni" => x86::add_sums_by_avx512_vnni(probes, quads, tile),
                _ => plain::add_sums(probes, quads, tile),
            }
        }
        #[multiversion(targets("x86_64+avx2+avxvnni"))]
        fn avx_vnni(probes: &[ProbeQuad], quads: &[Quad], tile: &mut Tile) {
            match_target! {
                "x86_64+avx2+avxvnni" => x86::add_sums_by_avx_vnni(probes, quads, tile),
                _ => plain::add_sums(probes, quads, tile),
            }
        }
        #[multiversion(targets("x86_64+avx2"))]
        fn avx2(probes: &[ProbeQuad], quads: &[Quad], tile: &mut Tile) {
            match_target! {
                "x86_64+avx2" => x86::add_sums_by_avx2(probes, quads, tile),
                _ => plain::add_sums(probes, quads, tile),
            }
        }
        [add_sums, plain::add_sums, avx512_vnni, avx_vnni, avx2]
    }

    fn tile_of(starts: [i32; N_PROBES]) -> Tile {
        starts.map(|start| [[start; PANEL_LEN]; N_PANELS])
    }

    /// What each sum is by its definition.
    fn by_hand(probes: &[ProbeQuad], starts: &[i32; N_PROBES], quads: &[Quad]) -> Tile {
        let sum = |probe: usize, panel: usize, lane: usize| {
            let products = probes.iter().zip(quads).flat_map(|(words, quad)| {
                let numbers = words[probe].to_ne_bytes().map(u8::cast_signed).map(i32::from);
                let bytes = &quad[panel][4 * lane..][..4];
                numbers
                    .into_iter()
                    .zip(bytes)
                    .map(|(number, byte)| number * i32::from(*byte))
                    .collect::<Vec<_>>()
            });
            starts[probe] + products.sum::<i32>()
        };
        std::array::from_fn(|probe| {
            std::array::from_fn(|panel| std::array::from_fn(|lane| sum(probe, panel, lane)))
        })
    }

    /// Bytes of all values, those at the ends of the range among them more often.
    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![any::<u8>(), prop::sample::select(vec![0_u8, 1, 127, 128, 129, 255])]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_version_gives_the_sums_of_the_definition(
            looks in prop::collection::vec(
                (prop::array::uniform24(byte()), prop::collection::vec(byte(), N_PANELS * 4 * PANEL_LEN)), 0..40
            ),
            starts in prop::array::uniform6(-1_000_000_i32..1_000_000)
        ) {
            let probes: Vec<ProbeQuad> = looks
                .iter()
                .map(|(bytes, _)| std::array::from_fn(|at| i32::from_ne_bytes(bytes.as_chunks().0[at])))
                .collect();
            let quads: Vec<Quad> = looks
                .iter()
                .map(|(_, bytes)| std::array::from_fn(|at| bytes.as_chunks().0[at]))
                .collect();
            let expected = by_hand(&probes, &starts, &quads);
            for version in versions() {
                let mut tile = tile_of(starts);
                version(&probes, &quads, &mut tile);
                prop_assert_eq!(tile, expected);
            }
        }
    }
}
