//! Sums of products of bytes: the heads of some probes against some panels at a look.
//!
//! There is one version an instruction set, and a plain one that the tests hold all others against. They give the
//! same integers, so which one the machine takes shows in nothing but time.

mod plain;

/// Rows of a panel.
pub(super) const PANEL_LEN: usize = 16;

/// Panels of a look.
pub(super) const N_PANELS: usize = 4;

/// Probes of a look. With four panels they are as many sums as leave room for operands in 32 vector registers.
pub(super) const N_PROBES: usize = 6;

/// Four dimensions of each row of a panel, as bytes without a sign.
pub(super) type Quad = [u8; 4 * PANEL_LEN];

/// Four dimensions of each probe, as bytes with a sign, in the order of memory.
pub(super) type ProbeQuad = [i32; N_PROBES];

/// The sums of a look.
pub(super) type Tile = [[[i32; PANEL_LEN]; N_PANELS]; N_PROBES];

/// Sums of the products of the bytes of each probe and each row, each from the probe's start on.
pub(super) fn sums(probes: &[ProbeQuad], starts: &[i32; N_PROBES], panels: [&[Quad]; N_PANELS]) -> Tile {
    plain::sums(probes, starts, panels)
}
