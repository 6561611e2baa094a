//! Sequences with the data for the bounds: bags of tokens, bitmaps and lengths.

use rayon::prelude::*;

use super::bitmap;
use super::texts::Tokens;
use super::widths::{Row, own_width, width};
use crate::sequences::Sequences;
use callsieve_system::Cancelled;
use callsieve_text::lcs::LcsScratch;
use callsieve_text::rouge::Threshold;
use callsieve_text::rouge_sum;

/// Sequences with the data for the bounds.
pub(super) struct Prepared<'s> {
    pub(super) tokens: &'s Tokens,
    pub(super) threshold: Threshold,
    /// The tokens of each sequence, sorted by their frequency in all sequences, the rarest first.
    bags: Sequences,
    bitmaps: Vec<u64>,
    /// The end of each sequence's bitmap.
    bitmap_ends: Vec<usize>,
}

impl<'s> Prepared<'s> {
    /// Prepares sequences; returns `None` if cancelled.
    pub(super) fn new(tokens: &'s Tokens, threshold: Threshold, cancelled: Cancelled<'_>) -> Option<Self> {
        let sequences = &tokens.sequences;
        let ranks = ranks(sequences);
        let mut bags = sequences.clone();
        let sorted = bags.slices_mut().into_par_iter().map(|bag| {
            for token in bag.iter_mut() {
                *token = ranks[*token as usize];
            }
            bag.sort_unstable();
            (!cancelled()).then_some(())
        });
        sorted.collect::<Option<()>>()?;
        let mut bitmaps = vec![0; sequences.iter().map(|tokens| own_width(threshold, tokens.len())).sum()];
        let mut rest = &mut bitmaps[..];
        let mut bitmap_ends = Vec::with_capacity(sequences.len());
        let mut of_rows = Vec::with_capacity(sequences.len());
        for bag in bags.iter() {
            let n_words = own_width(threshold, bag.len());
            let (words, after) = std::mem::take(&mut rest).split_at_mut(n_words);
            rest = after;
            bitmap_ends.push(bitmap_ends.last().copied().unwrap_or(0) + n_words);
            of_rows.push((bag, words));
        }
        let drawn = of_rows.into_par_iter().map(|(bag, words)| {
            bitmap::draw(bag, words);
            (!cancelled()).then_some(())
        });
        drawn.collect::<Option<()>>()?;
        Some(Self { tokens, threshold, bags, bitmaps, bitmap_ends })
    }

    pub(super) fn n_tokens(&self, row: Row) -> usize {
        self.tokens.sequences.get(row as usize).len()
    }

    /// Returns the tokens of a sequence as numbers, the rarest first; equal tokens are adjacent.
    pub(super) fn bag(&self, row: Row) -> &[u32] {
        self.bags.get(row as usize)
    }

    /// Returns the bitmap of a sequence, folded into one word.
    pub(super) fn sketch(&self, row: Row) -> u64 {
        bitmap::sketch(self.bitmap(row))
    }

    fn bitmap(&self, row: Row) -> &[u64] {
        let start = (row as usize).checked_sub(1).map_or(0, |before| self.bitmap_ends[before]);
        &self.bitmaps[start..self.bitmap_ends[row as usize]]
    }

    /// Returns the width of the bitmaps, in words, for two sequences with this total number of tokens.
    pub(super) fn width(&self, n_tokens: usize) -> usize {
        width(self.threshold.most_lacking(n_tokens))
    }

    /// Appends the bitmap of a sequence, with this number of words, to others.
    pub(super) fn add_bitmap(&self, row: Row, n_words: usize, bitmaps: &mut Vec<u64>) {
        let own = self.bitmap(row);
        if own.len() >= n_words {
            bitmap::fold(own, n_words, bitmaps);
        } else {
            let start = bitmaps.len();
            bitmaps.resize(start + n_words, 0);
            bitmap::draw(self.bag(row), &mut bitmaps[start..]);
        }
    }

    /// Returns the length of the longest common subsequence of two texts, or the hits of lines; `None` if it is less
    /// than `min_common`. Either is at most the intersection of their bags.
    ///
    /// Also returns `None` if cancelled.
    pub(super) fn common_at_least(
        &self,
        a: Row,
        b: Row,
        min_common: usize,
        scratch: &mut LcsScratch,
        cancelled: Cancelled<'_>,
    ) -> Option<usize> {
        let n_tokens = self.n_tokens(a) + self.n_tokens(b);
        let most = n_tokens.checked_sub(2 * min_common)?;
        let is_refused = bitmap::difference(self.bitmap(a), self.bitmap(b)) > most
            || lack_more_than(self.bag(a), self.bag(b), most);
        if is_refused {
            return None;
        }
        let Some(lines) = &self.tokens.lines else {
            let [a, b] = [a, b].map(|row| self.tokens.sequences.get(row as usize));
            return scratch.lcs_at_least_unless(a, b, min_common, cancelled);
        };
        let [target, prediction] = [a.min(b), a.max(b)].map(|row| self.lines(row, lines));
        Some(rouge_sum::hits(&target, &prediction)).filter(|&hits| hits >= min_common)
    }

    /// Returns the tokens of each line of a text.
    fn lines(&self, row: Row, lines: &Sequences) -> Vec<&[u32]> {
        let mut rest = self.tokens.sequences.get(row as usize);
        let lengths = lines.get(row as usize).iter();
        lengths.map(|&length| rest.split_off(..length as usize).unwrap_or_default()).collect()
    }
}

/// Returns the rank of each token by number of occurrences, the rarest first.
fn ranks(sequences: &Sequences) -> Vec<u32> {
    let tokens = || sequences.iter().flatten();
    let n_tokens = tokens().max().map_or(0, |&token| token as usize + 1);
    let mut n_seen = vec![0_u32; n_tokens];
    tokens().for_each(|&token| n_seen[token as usize] = n_seen[token as usize].saturating_add(1));
    let mut rarest_first: Vec<u32> = (0..).take(n_tokens).collect();
    rarest_first.par_sort_unstable_by_key(|&token| (n_seen[token as usize], token));
    let mut ranks = vec![0; n_tokens];
    (0..).zip(rarest_first).for_each(|(rank, token)| ranks[token as usize] = rank);
    ranks
}

/// Returns whether the symmetric difference of two bags, as sorted tokens, has more than `most` elements.
fn lack_more_than(a: &[u32], b: &[u32], most: usize) -> bool {
    let (mut at_a, mut at_b, mut n_lacking) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
        n_lacking += usize::from(x != y);
        if n_lacking > most {
            return true;
        }
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    n_lacking + (a.len() - at_a) + (b.len() - at_b) > most
}
