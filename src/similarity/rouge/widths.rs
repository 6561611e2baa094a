//! How wide bitmaps are, and what sequences take with what the bounds look at.

use crate::similarity::sequences::Sequences;
use crate::text::rouge::Threshold;

/// The number of a sequence.
pub(in crate::similarity) type Row = u32;

/// The sequence at a place.
pub(in crate::similarity) fn row(at: usize) -> Row {
    Row::try_from(at).expect("no machine holds 2³² sequences")
}

/// Words of the bitmap that sequences of a chunk are looked at by, each next to the most elements that two of them may
/// lack of one another: there, sequences with nothing in common differ in more bits than that, as a rule. Found by
/// trying up to 32; from there on each step is for twice as many elements.
pub(in crate::similarity) const WIDTHS: [(usize, usize); 9] = [
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

/// The narrowest bitmap for sequences that may lack so many elements of one another.
pub(in crate::similarity) fn width(allowed: usize) -> usize {
    WIDTHS.iter().find(|(_, most)| allowed <= *most).map_or(MAX_WIDTH, |(n_words, _)| *n_words)
}

/// How many times as wide the bitmap is that two sequences are compared by as the one they are looked at by.
const WIDER: usize = 4;

/// How many words the bitmap of a sequence of so many tokens has: what such sequences are looked at by, and more, to
/// tell those apart that this does not.
pub(super) fn own_width(threshold: Threshold, n_tokens: usize) -> usize {
    (WIDER * width(threshold.most_lacking(2 * n_tokens))).min(MAX_WIDTH)
}

/// The bytes of a [`Prepared`](super::prepared::Prepared) and of one index of all its sequences.
pub(super) fn bytes(sequences: &Sequences, threshold: Threshold) -> usize {
    let words =
        |tokens: &[u32]| own_width(threshold, tokens.len()) + width(threshold.most_lacking(2 * tokens.len()));
    let bitmaps = size_of::<u64>() * sequences.iter().map(words).sum::<usize>();
    let bags = size_of::<u32>() * sequences.n_tokens() + 2 * size_of::<usize>() * sequences.len();
    let rows = 3 * size_of::<Row>() * sequences.len();
    bags + bitmaps + rows
}
