//! The widths of bitmaps, and the memory for prepared sequences.

use crate::sequences::Sequences;
use callsieve_text::rouge::Threshold;

/// The number of a sequence.
pub type Row = u32;

/// Returns the number of the sequence at an index.
///
/// # Panics
/// If there are 2³² rows or more.
pub fn row(at: usize) -> Row {
    Row::try_from(at).expect("no machine holds 2³² sequences")
}

/// Widths of the bitmaps of a chunk in words, each with the maximum number of elements in which two sequences may
/// differ: for these, unrelated sequences usually differ in more bits than that. Measured up to 32 words; each
/// further step is for twice as many elements.
pub(crate) const WIDTHS: [(usize, usize); 9] = [
    (4, 50),
    (8, 95),
    (16, 170),
    (32, 340),
    (64, 680),
    (128, 1_360),
    (256, 2_720),
    (512, 5_440),
    (MAX_WIDTH, usize::MAX),
];

const MAX_WIDTH: usize = 1_024;

/// Returns the smallest width for sequences that may differ in this number of elements.
pub(crate) fn width(allowed: usize) -> usize {
    WIDTHS.iter().find(|(_, most)| allowed <= *most).map_or(MAX_WIDTH, |(n_words, _)| *n_words)
}

/// The factor between the width of a sequence's own bitmap and that in its chunk.
const WIDER: usize = 4;

/// Returns the width of the own bitmap of a sequence with this number of tokens. It is wider than in a chunk, to reject
/// more pairs.
pub(super) fn own_width(threshold: Threshold, n_tokens: usize) -> usize {
    (WIDER * width(threshold.most_lacking(2 * n_tokens))).min(MAX_WIDTH)
}

/// Returns the memory in bytes of a [`Prepared`](super::prepared::Prepared) and of one index of all its sequences.
pub(super) fn bytes(sequences: &Sequences, threshold: Threshold) -> usize {
    let words =
        |tokens: &[u32]| own_width(threshold, tokens.len()) + width(threshold.most_lacking(2 * tokens.len()));
    let bitmaps = size_of::<u64>() * sequences.iter().map(words).sum::<usize>();
    let bags = size_of::<u32>() * sequences.n_tokens() + 2 * size_of::<usize>() * sequences.len();
    let rows = 3 * size_of::<Row>() * sequences.len();
    bags + bitmaps + rows
}
