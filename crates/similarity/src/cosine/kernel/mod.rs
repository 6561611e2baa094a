//! Sums of products of bytes: the products of the heads of some probes with those of some rows.
//!
//! There is a version per instruction set, and a plain one that the tests compare the others with. All return the same
//! integers, so the version only affects the time.

#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
#[cfg(target_arch = "x86_64")]
mod x86;

use multiversion::multiversion;
use multiversion::target::match_target;

/// Number of rows in a panel.
pub(super) const PANEL_LEN: usize = 16;

/// Number of panels in a look.
pub(super) const N_PANELS: usize = 4;

/// Number of probes in a look. With four panels, the sums leave enough of 32 vector registers for the operands.
pub(super) const N_PROBES: usize = 6;

/// The offset that is added to the numbers of a panel, so that their bytes are unsigned.
pub(super) const OFFSET: i32 = 128;

/// XOR with this removes the offset from a byte.
pub(super) const OFFSET_BIT: u8 = 0x80;

/// Four dimensions of each row in a panel, with [`OFFSET`].
pub(super) type PanelQuad = [u8; 4 * PANEL_LEN];

/// Four dimensions of each row in a look, with [`OFFSET`].
pub(super) type Quad = [PanelQuad; N_PANELS];

/// Four dimensions of each probe, as signed bytes in memory order.
pub(super) type ProbeQuad = [i32; N_PROBES];

/// The sums of a look.
pub(super) type Tile = [[[i32; PANEL_LEN]; N_PANELS]; N_PROBES];

/// Returns the start value of the sums of a probe, which compensates the offset of the bytes in panels.
pub(super) fn start(numbers: impl Iterator<Item = i8>) -> i32 {
    -OFFSET * numbers.map(i32::from).sum::<i32>()
}

/// Writes the sums of products for each probe and each row.
///
/// Probes and rows have the same number of quads; `starts` has the [`start`] of each probe. No intermediate sum may
/// exceed the range of `i32`.
#[multiversion(targets(
    "x86_64+avx+avx2+avx512f+avx512vl+avx512bw+avx512dq+avx512cd+avx512vnni",
    "x86_64+avx+avx2+avxvnni",
    "x86_64+avx+avx2",
    // Every such processor has NEON; a feature that needs detection makes the version a separate function.
    "aarch64+neon+dotprod"
))]
pub(super) fn write_sums(probes: &[ProbeQuad], starts: &[i32; N_PROBES], quads: &[Quad], tile: &mut Tile) {
    match_target! {
        "x86_64+avx512f+avx512vnni" => x86::write_sums_by_avx512_vnni(probes, starts, quads, tile),
        "x86_64+avx2+avxvnni" => x86::write_sums_by_avx_vnni(probes, starts, quads, tile),
        "x86_64+avx2" => x86::write_sums_by_avx2(probes, starts, quads, tile),
        "aarch64+neon+dotprod" => neon::write_sums_by_neon(probes, starts, quads, tile),
        _ => plain::write_sums(probes, starts, quads, tile),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type WriteSums = fn(&[ProbeQuad], &[i32; N_PROBES], &[Quad], &mut Tile);

    /// Returns each version; the plain one if the machine does not have the instructions.
    fn versions() -> [WriteSums; 4] {
        #[multiversion(targets("x86_64+avx2+avx512f+avx512vnni"))]
        fn avx512_vnni(probes: &[ProbeQuad], starts: &[i32; N_PROBES], quads: &[Quad], tile: &mut Tile) {
            match_target! {
                "x86_64+avx512f+avx512vnni" => x86::write_sums_by_avx512_vnni(probes, starts, quads, tile),
                _ => plain::write_sums(probes, starts, quads, tile),
            }
        }
        #[multiversion(targets("x86_64+avx2+avxvnni"))]
        fn avx_vnni(probes: &[ProbeQuad], starts: &[i32; N_PROBES], quads: &[Quad], tile: &mut Tile) {
            match_target! {
                "x86_64+avx2+avxvnni" => x86::write_sums_by_avx_vnni(probes, starts, quads, tile),
                _ => plain::write_sums(probes, starts, quads, tile),
            }
        }
        #[multiversion(targets("x86_64+avx2"))]
        fn avx2(probes: &[ProbeQuad], starts: &[i32; N_PROBES], quads: &[Quad], tile: &mut Tile) {
            match_target! {
                "x86_64+avx2" => x86::write_sums_by_avx2(probes, starts, quads, tile),
                _ => plain::write_sums(probes, starts, quads, tile),
            }
        }
        // On ARM, `write_sums` is the NEON version.
        [write_sums, avx512_vnni, avx_vnni, avx2]
    }

    /// The reference implementation.
    fn expected_sums(probes: &[ProbeQuad], quads: &[Quad]) -> Tile {
        let sum = |probe: usize, panel: usize, lane: usize| {
            let products = probes.iter().zip(quads).flat_map(|(words, quad)| {
                let numbers = words[probe].to_ne_bytes().map(|byte| i32::from(byte.cast_signed()));
                std::array::from_fn::<_, 4, _>(|dim| {
                    numbers[dim] * (i32::from(quad[panel][4 * lane + dim]) - 128)
                })
            });
            products.sum::<i32>()
        };
        std::array::from_fn(|probe| {
            std::array::from_fn(|panel| std::array::from_fn(|lane| sum(probe, panel, lane)))
        })
    }

    /// Generates bytes, with the ends of the range more often.
    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![any::<u8>(), prop::sample::select(vec![0_u8, 1, 127, 128, 129, 255])]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_version_returns_the_expected_sums(
            looks in prop::collection::vec(
                (prop::array::uniform24(byte()), prop::collection::vec(byte(), N_PANELS * 4 * PANEL_LEN)), 0..40
            )
        ) {
            let probes: Vec<ProbeQuad> = looks
                .iter()
                .map(|(bytes, _)| std::array::from_fn(|at| i32::from_ne_bytes(bytes.as_chunks().0[at])))
                .collect();
            let quads: Vec<Quad> = looks
                .iter()
                .map(|(_, bytes)| std::array::from_fn(|at| bytes.as_chunks().0[at]))
                .collect();
            let expected = expected_sums(&probes, &quads);
            let starts = std::array::from_fn(|probe| {
                start(probes.iter().flat_map(|words| words[probe].to_ne_bytes().map(u8::cast_signed)))
            });
            let mut tile = [[[1; PANEL_LEN]; N_PANELS]; N_PROBES];
            plain::write_sums(&probes, &starts, &quads, &mut tile);
            prop_assert_eq!(tile, expected);
            for version in versions() {
                let mut tile = [[[1; PANEL_LEN]; N_PANELS]; N_PROBES];
                version(&probes, &starts, &quads, &mut tile);
                prop_assert_eq!(tile, expected);
            }
        }
    }
}
