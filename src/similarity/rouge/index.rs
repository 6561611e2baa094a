//! Sequences laid out so that those near a given one are found without looking at the others.
//!
//! Four bounds come before the exact comparison, each dearer than the one before: lengths,
//! a bitmap as narrow as the lengths allow, the whole bitmap, and the bags of tokens. None refuses a pair that is above
//! the threshold, so what is found is what comparing all pairs would find.

use rayon::prelude::*;

use super::bitmap::{self, CHUNK_LEN, Column};
use super::texts::Tokens;
use crate::similarity::sequences::Sequences;
use crate::text::lcs::LcsScratch;
use crate::text::rouge::Threshold;
use crate::text::rouge_sum;

/// Words of the bitmap that sequences of a chunk are looked at by, each next to the most elements that two of them may
/// lack of one another: there, sequences with nothing in common differ in more bits than that, as a rule. Found by
/// trying.
const WIDTHS: [(usize, usize); 4] = [(4, 50), (8, 95), (16, 170), (32, usize::MAX)];

/// The number of a sequence.
pub(super) type Row = u32;

/// The sequence at a place.
pub(super) fn row(at: usize) -> Row {
    Row::try_from(at).expect("no machine holds 2³² sequences")
}

/// Sequences with what the bounds look at.
pub(super) struct Prepared<'s> {
    pub(super) tokens: &'s Tokens,
    pub(super) threshold: Threshold,
    bags: Sequences,
    /// Words in the bitmap of each.
    n_words: usize,
    bitmaps: Vec<u64>,
}

impl<'s> Prepared<'s> {
    pub(super) fn new(tokens: &'s Tokens, threshold: Threshold) -> Self {
        let sequences = &tokens.sequences;
        let mut bags = sequences.clone();
        bags.slices_mut().into_par_iter().for_each(<[u32]>::sort_unstable);
        let n_words = n_words(sequences, threshold);
        let mut bitmaps = vec![0; n_words * bags.len()];
        let each = bitmaps.par_chunks_mut(n_words).enumerate();
        each.for_each(|(row, words)| bitmap::draw(bags.get(row), words));
        Self { tokens, threshold, bags, n_words, bitmaps }
    }

    pub(super) fn n_tokens(&self, row: Row) -> usize {
        self.tokens.sequences.get(row as usize).len()
    }

    fn bitmap(&self, row: Row) -> &[u64] {
        &self.bitmaps[row as usize * self.n_words..][..self.n_words]
    }

    /// The words of the bitmap by which sequences are looked at that have so many tokens together.
    fn width(&self, n_tokens: usize) -> usize {
        width(self.threshold.most_lacking(n_tokens)).min(self.n_words)
    }

    /// What two texts have in common by their measure, or nothing where it is below `min_common`: the length of the
    /// longest common subsequence, or the hits of lines. Either is at most what their bags have in common.
    pub(super) fn common_at_least(
        &self,
        a: Row,
        b: Row,
        min_common: usize,
        scratch: &mut LcsScratch,
    ) -> Option<usize> {
        let n_tokens = self.n_tokens(a) + self.n_tokens(b);
        let most = n_tokens.checked_sub(2 * min_common)?;
        let is_refused = bitmap::difference(self.bitmap(a), self.bitmap(b)) > most
            || lack_more_than(self.bags.get(a as usize), self.bags.get(b as usize), most);
        if is_refused {
            return None;
        }
        let Some(lines) = &self.tokens.lines else {
            let [a, b] = [a, b].map(|row| self.tokens.sequences.get(row as usize));
            return scratch.lcs_at_least(a, b, min_common);
        };
        let [target, prediction] = [a.min(b), a.max(b)].map(|row| self.lines(row, lines));
        Some(rouge_sum::hits(&target, &prediction)).filter(|&hits| hits >= min_common)
    }

    /// The tokens of a text line by line.
    fn lines(&self, row: Row, lines: &Sequences) -> Vec<&[u32]> {
        let mut rest = self.tokens.sequences.get(row as usize);
        let lengths = lines.get(row as usize).iter();
        lengths.map(|&length| rest.split_off(..length as usize).unwrap_or_default()).collect()
    }
}

/// The narrowest bitmap for sequences that may lack so many elements of one another.
fn width(allowed: usize) -> usize {
    WIDTHS.iter().find(|(_, most)| allowed <= *most).map_or(WIDTHS[0].0, |(n_words, _)| *n_words)
}

/// How many words the bitmap of every sequence has: what two of middling length are looked at by, but enough to tell
/// longer ones apart.
fn n_words(sequences: &Sequences, threshold: Threshold) -> usize {
    let middling = sequences.n_tokens() / sequences.len().max(1);
    width(threshold.most_lacking(2 * middling)).max(WIDTHS[2].0)
}

/// The bytes of a [`Prepared`] and of one [`Index`] of all its sequences.
pub(super) fn bytes(sequences: &Sequences, threshold: Threshold) -> usize {
    let n_words = n_words(sequences, threshold);
    let bags = size_of::<u32>() * sequences.n_tokens() + size_of::<usize>() * sequences.len();
    let bitmaps = size_of::<u64>() * n_words * sequences.len();
    // As if all were looked at by the widest.
    let chunks = size_of::<u64>() * n_words * sequences.len().next_multiple_of(CHUNK_LEN);
    let rows = 3 * size_of::<Row>() * sequences.len();
    bags + bitmaps + chunks + rows
}

/// Whether two bags, as sorted tokens, have more than so many elements that the other lacks.
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

/// Some of the sequences, side by side in chunks.
pub(super) struct Index<'p> {
    prepared: &'p Prepared<'p>,
    rows: Vec<Row>,
    columns: Vec<Column>,
    chunks: Vec<Chunk>,
    /// The bitmap of the sequence that comes in, as wide as its chunk.
    folded: Vec<u64>,
}

/// What all sequences of a chunk have in common.
struct Chunk {
    /// Where its columns begin.
    start: usize,
    /// How many it has: words of the bitmap by which its sequences are looked at.
    n_words: usize,
    /// Tokens of the longest.
    longest: usize,
    /// The fewest tokens of a sequence that one of them can be near to.
    shortest_partner: usize,
}

impl<'p> Index<'p> {
    /// An index of some sequences, shortest first, so that a chunk holds some of like length.
    pub(super) fn of(prepared: &'p Prepared<'p>, mut rows: Vec<Row>) -> Self {
        rows.sort_by_key(|&row| prepared.n_tokens(row));
        let mut index = Self {
            prepared,
            rows: Vec::with_capacity(rows.len()),
            columns: Vec::new(),
            chunks: Vec::new(),
            folded: Vec::new(),
        };
        for row in rows {
            index.push(row);
        }
        index
    }

    /// Adds a sequence in the last chunk, whatever its length.
    pub(super) fn push(&mut self, row: Row) {
        let n_tokens = self.prepared.n_tokens(row);
        let at = self.rows.len() % CHUNK_LEN;
        if at == 0 {
            let (start, n_words) = (self.columns.len(), self.prepared.width(2 * n_tokens));
            self.columns.resize(start + n_words, [0; CHUNK_LEN]);
            self.chunks.push(Chunk { start, n_words, longest: 0, shortest_partner: usize::MAX });
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.longest = chunk.longest.max(n_tokens);
            chunk.shortest_partner = chunk.shortest_partner.min(self.prepared.threshold.shortest(n_tokens));
            self.folded.clear();
            bitmap::fold(self.prepared.bitmap(row), chunk.n_words, &mut self.folded);
            for (column, word) in self.columns[chunk.start..].iter_mut().zip(&self.folded) {
                column[at] = *word;
            }
        }
        self.rows.push(row);
    }

    /// The sequences it is an index of some of.
    pub(super) fn prepared(&self) -> &'p Prepared<'p> {
        self.prepared
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Calls `f` with the place of each probe and each indexed sequence that may be near it, itself included.
    ///
    /// Probes of like length should come together: a chunk is looked at for all of them while it is at hand.
    pub(super) fn candidates(&self, probes: &[Row], mut f: impl FnMut(usize, Row)) {
        let threshold = self.prepared.threshold;
        let probes = Probes::new(self.prepared, probes);
        for (chunk, rows) in self.chunks.iter().zip(self.rows.chunks(CHUNK_LEN)) {
            if chunk.longest < probes.shortest_partner || chunk.shortest_partner > probes.longest {
                continue;
            }
            let columns = &self.columns[chunk.start..][..chunk.n_words];
            for (at, (&(n_tokens, shortest), words)) in probes.at_width(chunk.n_words).enumerate() {
                if chunk.longest < shortest || chunk.shortest_partner > n_tokens {
                    continue;
                }
                let limit = threshold.most_lacking(n_tokens + chunk.longest) as u64;
                let mut mask = bitmap::within(columns, words, limit);
                while mask != 0 {
                    // Behind the last sequence of the last chunk there is nothing.
                    let Some(&row) = rows.get(mask.trailing_zeros() as usize) else { break };
                    f(at, row);
                    mask &= mask - 1;
                }
            }
        }
    }
}

/// Sequences that are held against an index, with what each look needs.
struct Probes {
    /// For each its tokens, and the fewest of a sequence that it can be near to.
    bounds: Vec<(usize, usize)>,
    longest: usize,
    shortest_partner: usize,
    /// Their bitmaps, for each of the widths.
    bitmaps: [Vec<u64>; WIDTHS.len()],
}

impl Probes {
    fn new(prepared: &Prepared<'_>, probes: &[Row]) -> Self {
        let bound = |&probe: &Row| {
            let n_tokens = prepared.n_tokens(probe);
            (n_tokens, prepared.threshold.shortest(n_tokens))
        };
        let bounds: Vec<(usize, usize)> = probes.iter().map(bound).collect();
        let mut bitmaps: [Vec<u64>; WIDTHS.len()] = Default::default();
        for (bitmaps, (n_words, _)) in bitmaps.iter_mut().zip(WIDTHS) {
            if n_words <= prepared.n_words {
                bitmaps.reserve(n_words * probes.len());
                for &probe in probes {
                    bitmap::fold(prepared.bitmap(probe), n_words, bitmaps);
                }
            }
        }
        let longest = bounds.iter().map(|&(n_tokens, _)| n_tokens).max().unwrap_or(0);
        let shortest_partner = bounds.iter().map(|&(_, shortest)| shortest).min().unwrap_or(usize::MAX);
        Self { bounds, longest, shortest_partner, bitmaps }
    }

    /// Each probe with its bitmap of so many words.
    fn at_width(&self, n_words: usize) -> impl Iterator<Item = (&(usize, usize), &[u64])> {
        let at = WIDTHS.iter().position(|&(width, _)| width == n_words).unwrap_or(0);
        self.bounds.iter().zip(self.bitmaps[at].chunks_exact(n_words))
    }
}
