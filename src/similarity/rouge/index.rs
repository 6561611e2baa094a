//! Sequences laid out so that those near a given one are found without looking at the others.
//!
//! Four bounds come before the exact comparison, each dearer than the one before: lengths,
//! a small bitmap, a large bitmap, and the bags of tokens. None refuses a pair that is above
//! the threshold, so what is found is what comparing all pairs would find.

use rayon::prelude::*;

use super::bitmap::{self, CHUNK_LEN, Column, WORDS_PER_LOOK};
use super::texts::Tokens;
use crate::similarity::sequences::Sequences;
use crate::text::lcs::LcsScratch;
use crate::text::rouge::Threshold;
use crate::text::rouge_sum;

/// Words of the large bitmap of a sequence.
const N_LARGE_WORDS: usize = 16;

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
    n_words: usize,
    small: Vec<u64>,
    large: Vec<u64>,
}

impl<'s> Prepared<'s> {
    pub(super) fn new(tokens: &'s Tokens, threshold: Threshold) -> Self {
        let sequences = &tokens.sequences;
        let mut bags = sequences.clone();
        bags.slices_mut().into_par_iter().for_each(<[u32]>::sort_unstable);
        let n_words = n_small_words(sequences, threshold);
        let drawn = |n_words: usize| {
            let mut bitmaps = vec![0; n_words * bags.len()];
            let each = bitmaps.par_chunks_mut(n_words).enumerate();
            each.for_each(|(row, words)| bitmap::draw(bags.get(row), words));
            bitmaps
        };
        let (small, large) = (drawn(n_words), drawn(N_LARGE_WORDS));
        Self { tokens, threshold, bags, n_words, small, large }
    }

    pub(super) fn n_tokens(&self, row: Row) -> usize {
        self.tokens.sequences.get(row as usize).len()
    }

    fn small(&self, row: Row) -> &[u64] {
        &self.small[row as usize * self.n_words..][..self.n_words]
    }

    fn large(&self, row: Row) -> &[u64] {
        &self.large[row as usize * N_LARGE_WORDS..][..N_LARGE_WORDS]
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
        let is_refused = bitmap::difference(self.large(a), self.large(b)) > most
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

/// How many words the small bitmap needs, so that sequences with nothing in common differ in more bits than the
/// threshold allows, as a rule. Found by trying.
fn n_small_words(sequences: &Sequences, threshold: Threshold) -> usize {
    let n_tokens: usize = sequences.iter().map(<[u32]>::len).sum();
    let allowed = threshold.most_lacking(2 * n_tokens / sequences.len().max(1));
    match allowed {
        0..=55 => WORDS_PER_LOOK,
        56..=130 => 4 * WORDS_PER_LOOK,
        _ => 8 * WORDS_PER_LOOK,
    }
}

/// The bytes of a [`Prepared`] and of one [`Index`] of all its sequences.
pub(super) fn bytes(sequences: &Sequences, threshold: Threshold) -> usize {
    let n_words = n_small_words(sequences, threshold);
    let bags = size_of::<u32>() * sequences.n_tokens() + size_of::<usize>() * sequences.len();
    let bitmaps = size_of::<u64>() * (n_words + N_LARGE_WORDS) * sequences.len();
    let chunks = sequences.len().next_multiple_of(CHUNK_LEN) * n_words * size_of::<u64>();
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
}

/// What all sequences of a chunk have in common.
struct Chunk {
    /// Tokens of the longest.
    longest: usize,
    /// The fewest tokens of a sequence that one of them can be near to.
    shortest_partner: usize,
}

impl<'p> Index<'p> {
    /// An index of some sequences, shortest first, so that a chunk holds some of like length.
    pub(super) fn of(prepared: &'p Prepared<'p>, mut rows: Vec<Row>) -> Self {
        rows.sort_by_key(|&row| prepared.n_tokens(row));
        let mut index = Self { prepared, rows: Vec::new(), columns: Vec::new(), chunks: Vec::new() };
        for row in rows {
            index.push(row);
        }
        index
    }

    /// Adds a sequence in the last chunk, whatever its length.
    pub(super) fn push(&mut self, row: Row) {
        let at = self.rows.len() % CHUNK_LEN;
        if at == 0 {
            self.columns.resize(self.columns.len() + self.prepared.n_words, [0; CHUNK_LEN]);
            self.chunks.push(Chunk { longest: 0, shortest_partner: usize::MAX });
        }
        let first = self.columns.len() - self.prepared.n_words;
        for (column, word) in self.columns[first..].iter_mut().zip(self.prepared.small(row)) {
            column[at] = *word;
        }
        let n = self.prepared.n_tokens(row);
        let partner = self.prepared.threshold.shortest(n);
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.longest = chunk.longest.max(n);
            chunk.shortest_partner = chunk.shortest_partner.min(partner);
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
        let lengths = probes.iter().map(|&probe| self.prepared.n_tokens(probe));
        let (Some(fewest), Some(most)) = (lengths.clone().min(), lengths.max()) else { return };
        let shortest = threshold.shortest(fewest);
        let chunks = self
            .chunks
            .iter()
            .zip(self.columns.chunks(self.prepared.n_words))
            .zip(self.rows.chunks(CHUNK_LEN));
        for ((chunk, columns), rows) in chunks {
            if chunk.longest < shortest || chunk.shortest_partner > most {
                continue;
            }
            for (at, &probe) in probes.iter().enumerate() {
                let limit = threshold.most_lacking(self.prepared.n_tokens(probe) + chunk.longest) as u64;
                let mut mask = bitmap::within(columns, self.prepared.small(probe), limit);
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
