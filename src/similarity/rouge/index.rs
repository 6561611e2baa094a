//! Sequences laid out so that those near a given one are found without looking at the others.
//!
//! Five bounds come before the exact comparison, each more expensive than the one before: a rare token in common, where
//! there are such, lengths, a bitmap as narrow as the lengths allow, a wider bitmap, and the bags of tokens. None refuses a
//! pair that is above the threshold, so what is found is what comparing all pairs would find.

use std::ops::ControlFlow;

use super::bitmap::{self, CHUNK_LEN, Column};
use super::postings::Postings;
use super::prepared::Prepared;
use super::widths::{Row, WIDTHS};
use crate::engine::context::Cancelled;

/// Some of the sequences, side by side in chunks.
pub(super) struct Index<'p> {
    prepared: &'p Prepared<'p>,
    rows: Vec<Row>,
    columns: Vec<Column>,
    chunks: Vec<Chunk>,
    /// By rare tokens; nothing where that does not pay, and as soon as a sequence is added.
    postings: Option<Postings>,
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
    /// An index of no sequences yet.
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

    /// An index of some sequences, shortest first, so that a chunk holds some of like length. Nothing where it was
    /// called off.
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

    /// Adds a sequence in the last chunk, whatever its length.
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

    /// The sequences it is an index of some of.
    pub(super) fn prepared(&self) -> &'p Prepared<'p> {
        self.prepared
    }

    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Calls `f` with the place of each probe and each indexed sequence that may be near it, itself included, until it
    /// breaks.
    ///
    /// Probes of like length should come together: a chunk is looked at for all of them while it is at hand.
    pub(super) fn candidates(
        &self,
        probes: &[Row],
        mut f: impl FnMut(usize, Row) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some(postings) = &self.postings else {
            let all: Vec<(usize, Row)> = probes.iter().copied().enumerate().collect();
            return self.look(&all, f);
        };
        let (mut not_listed, mut found) = (Vec::new(), Vec::new());
        for (at, &probe) in probes.iter().enumerate() {
            found.clear();
            match postings.candidates(self.prepared, probe, &mut found) {
                Some(()) => found.iter().try_for_each(|&row| f(at, row))?,
                None => not_listed.push((at, probe)),
            }
        }
        self.look(&not_listed, f)
    }

    /// The same by looking at all bitmaps.
    fn look(
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
                    // Behind the last sequence of the last chunk there is nothing.
                    let Some(&row) = rows.get(mask.trailing_zeros() as usize) else { break };
                    f(probe.at, row)?;
                    mask &= mask - 1;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// A sequence that is held against an index.
struct Probe {
    /// Its place among the probes.
    at: usize,
    row: Row,
    n_tokens: usize,
    /// The fewest tokens of a sequence that it can be near to.
    shortest_partner: usize,
}

/// Sequences that are held against an index, with what each look needs.
struct Probes {
    bounds: Vec<Probe>,
    longest: usize,
    shortest_partner: usize,
    bitmaps: Bitmaps,
}

/// The bitmaps of some probes, for each of the widths once it is asked for.
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
    /// The bitmaps of so many words, one probe after the other.
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
