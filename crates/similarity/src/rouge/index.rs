//! An index of sequences that finds the candidates for a given one without comparing all.
//!
//! Five bounds precede the exact comparison, each more expensive than the previous: a shared rare token (if tokens are
//! rare enough), lengths, a bitmap as narrow as the lengths allow, a wider bitmap, and the bags of tokens. None
//! rejects a pair above the threshold, so the result is the same as from comparing all pairs.

use std::ops::ControlFlow;

use super::bitmap::{self, CHUNK_LEN, Column};
use super::postings::Postings;
use super::prepared::Prepared;
use super::widths::{Row, WIDTHS};
use callsieve_system::Cancelled;

/// An index of some sequences, in chunks with interleaved bitmaps.
pub(super) struct Index<'p> {
    prepared: &'p Prepared<'p>,
    rows: Vec<Row>,
    columns: Vec<Column>,
    chunks: Vec<Chunk>,
    /// The postings of rare tokens; `None` if they would not be faster, and after a sequence is added.
    postings: Option<Postings>,
    /// A buffer for the bitmap of an added sequence, as wide as its chunk.
    folded: Vec<u64>,
}

/// The bounds of the sequences in a chunk.
struct Chunk {
    /// The start of its columns.
    start: usize,
    /// The number of its columns: the words in the bitmaps of its sequences.
    n_words: usize,
    /// The number of tokens of the longest sequence.
    longest: usize,
    /// The minimum number of tokens of a sequence that one of them can match.
    shortest_partner: usize,
}

impl<'p> Index<'p> {
    /// Returns an empty index.
    pub(super) fn new(prepared: &'p Prepared<'p>) -> Self {
        Self {
            prepared,
            rows: Vec::new(),
            columns: Vec::new(),
            chunks: Vec::new(),
            postings: None,
            folded: Vec::new(),
        }
    }

    /// Builds an index of some sequences, shortest first, so that each chunk has sequences of similar length. Returns
    /// `None` if cancelled.
    pub(super) fn of(
        prepared: &'p Prepared<'p>,
        mut rows: Vec<Row>,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        rows.sort_by_key(|&row| prepared.n_tokens(row));
        let postings = Postings::of(prepared, &rows, cancelled);
        let mut index = Self::new(prepared);
        for row in rows {
            if cancelled() {
                return None;
            }
            index.push(row);
        }
        Some(Self { postings, ..index })
    }

    /// Adds a sequence of any length to the last chunk.
    pub(super) fn push(&mut self, row: Row) {
        self.postings = None;
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
            self.prepared.add_bitmap(row, chunk.n_words, &mut self.folded);
            for (column, word) in self.columns[chunk.start..].iter_mut().zip(&self.folded) {
                column[at] = *word;
            }
        }
        self.rows.push(row);
    }

    /// Returns all prepared sequences, of which this is an index of some.
    pub(super) fn prepared(&self) -> &'p Prepared<'p> {
        self.prepared
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Calls `f` with the index of each probe and each indexed sequence that may match it, including the probe itself,
    /// until `f` breaks.
    ///
    /// Pass probes of similar length together: each chunk is compared with all of them while it is in the cache.
    pub(super) fn candidates(
        &self,
        probes: &[Row],
        mut f: impl FnMut(usize, Row) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(postings) = &self.postings else {
            let all: Vec<(usize, Row)> = probes.iter().copied().enumerate().collect();
            return self.compare_bitmaps(&all, f);
        };
        let (mut not_listed, mut found) = (Vec::new(), Vec::new());
        for (at, &probe) in probes.iter().enumerate() {
            found.clear();
            match postings.candidates(self.prepared, probe, &mut found) {
                Some(()) => found.iter().try_for_each(|&row| f(at, row))?,
                None => not_listed.push((at, probe)),
            }
        }
        self.compare_bitmaps(&not_listed, f)
    }

    /// Finds the candidates by comparing all bitmaps.
    fn compare_bitmaps(
        &self,
        probes: &[(usize, Row)],
        mut f: impl FnMut(usize, Row) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if probes.is_empty() {
            return ControlFlow::Continue(());
        }
        let threshold = self.prepared.threshold;
        let mut probes = Probes::new(self.prepared, probes);
        for (chunk, rows) in self.chunks.iter().zip(self.rows.chunks(CHUNK_LEN)) {
            if chunk.longest < probes.shortest_partner || chunk.shortest_partner > probes.longest {
                continue;
            }
            let columns = &self.columns[chunk.start..][..chunk.n_words];
            let bitmaps = probes.bitmaps.of_width(self.prepared, &probes.bounds, chunk.n_words);
            for (probe, words) in probes.bounds.iter().zip(bitmaps.chunks_exact(chunk.n_words)) {
                if chunk.longest < probe.shortest_partner || chunk.shortest_partner > probe.n_tokens {
                    continue;
                }
                let limit = threshold.most_lacking(probe.n_tokens + chunk.longest) as u64;
                let mut mask = bitmap::within(columns, words, limit);
                while mask != 0 {
                    // The last chunk may be incomplete.
                    let Some(&row) = rows.get(mask.trailing_zeros() as usize) else { break };
                    f(probe.at, row)?;
                    mask &= mask - 1;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// A sequence that is compared with an index.
struct Probe {
    /// Its index among the probes.
    at: usize,
    row: Row,
    n_tokens: usize,
    /// The minimum number of tokens of a sequence that it can match.
    shortest_partner: usize,
}

/// Sequences that are compared with an index, with their bounds and bitmaps.
struct Probes {
    bounds: Vec<Probe>,
    longest: usize,
    shortest_partner: usize,
    bitmaps: Bitmaps,
}

/// The bitmaps of some probes, computed for each width on first use.
#[derive(Default)]
struct Bitmaps([Vec<u64>; WIDTHS.len()]);

impl Probes {
    fn new(prepared: &Prepared<'_>, probes: &[(usize, Row)]) -> Self {
        let bound = |&(at, row): &(usize, Row)| {
            let n_tokens = prepared.n_tokens(row);
            Probe { at, row, n_tokens, shortest_partner: prepared.threshold.shortest(n_tokens) }
        };
        let bounds: Vec<Probe> = probes.iter().map(bound).collect();
        let longest = bounds.iter().map(|probe| probe.n_tokens).max().unwrap_or(0);
        let shortest_partner = bounds.iter().map(|probe| probe.shortest_partner).min().unwrap_or(usize::MAX);
        Self { bounds, longest, shortest_partner, bitmaps: Bitmaps::default() }
    }
}

impl Bitmaps {
    /// Returns the bitmaps with this number of words, one probe after the other.
    fn of_width(&mut self, prepared: &Prepared<'_>, probes: &[Probe], n_words: usize) -> &[u64] {
        let at = WIDTHS.iter().position(|&(width, _)| width == n_words).unwrap_or(0);
        let bitmaps = &mut self.0[at];
        if bitmaps.is_empty() {
            bitmaps.reserve(n_words * probes.len());
            for probe in probes {
                prepared.add_bitmap(probe.row, n_words, bitmaps);
            }
        }
        bitmaps
    }
}
