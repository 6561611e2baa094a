//! Merges short texts by their words, else by their vectors.
//!
//! The same leader rule as in `rouge::leaders`, with two measures: a query joins the leader with
//! the highest ROUGE-L above the threshold, else the one with the highest cosine at or above the
//! other threshold, else it becomes a leader. Both measures are applied in one pass, so that no
//! leader is merged later. The result is the same as from comparing every query with every leader,
//! but proven bounds avoid nearly all comparisons, because the log of one assistant is a single
//! large scope. `tests` has the reference implementation. The caller provides one vector per
//! query; none if the cosine is off.

mod by_vectors;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::embed::EmbedError;
use crate::embed::scopes::ScopeVectors;
use crate::engine::context::Cancelled;
use crate::similarity::Merge;
use crate::similarity::rouge::leaders::{BLOCK_LEN, LeaderMatch, Leaders, Ties};
use crate::similarity::rouge::spaces::Spaces;
use crate::similarity::rouge::texts::Texts;
use crate::similarity::rouge::widths::{Row, row};
use crate::similarity::sequences::Sequences;
use crate::text::lcs::lcs;
use crate::text::profile::Profile;
use crate::text::rouge::{self, Threshold};
use crate::text::tokens::Tokenizer;

/// The thresholds for a match; `None` turns a measure off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gates {
    /// The ROUGE-L F1 must be above this.
    pub rouge_l: Option<Threshold>,
    /// The cosine must be at least this.
    pub cosine: Option<f64>,
}

/// The measure by which two queries match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchMethod {
    /// ROUGE-L of their words, with this tokenizer.
    Words(Tokenizer),
    /// The cosine of their vectors.
    Vectors,
}

/// The leader that a query joined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct QueryMatch {
    /// The index of the leader, always an earlier query.
    pub leader: usize,
    /// The measure.
    pub by: MatchMethod,
    /// The score with the leader.
    pub score: f64,
}

/// Returns the ROUGE-L F1 of the words of two texts; `None` if one of them has none.
pub(crate) fn f1_of_words(one: &str, other: &str) -> Option<f64> {
    let tokens = Sequences::encode(&[one, other], Tokenizer::Unicode);
    let (own, others) = (tokens.get(0), tokens.get(1));
    let is_empty = own.is_empty() || others.is_empty();
    (!is_empty).then(|| rouge::f1(lcs(own, others), own.len(), others.len()))
}

/// Merges each query into an earlier one, or keeps it (`None`); returns one entry per query.
///
/// `queries` should be normalised already, so that equal ones have equal scores.
///
/// # Errors
/// If a query cannot be embedded, or cancelled.
pub(crate) fn merge_queries(
    queries: &[&str],
    vectors: &mut ScopeVectors<'_>,
    gates: Gates,
    cancelled: Cancelled<'_>,
) -> Result<Vec<Option<QueryMatch>>, EmbedError> {
    in_blocks(&Task { queries, n_fixed: None, gates, block_len: BLOCK_LEN }, vectors, cancelled)
}

/// Finds, for each query after the first `n_settled`, the best match among those, by the same measures; the other
/// queries are not compared with each other.
///
/// # Errors
/// As [`merge_queries`].
pub(crate) fn nearest_of_first(
    n_settled: usize,
    queries: &[&str],
    vectors: &mut ScopeVectors<'_>,
    gates: Gates,
    cancelled: Cancelled<'_>,
) -> Result<Vec<Option<QueryMatch>>, EmbedError> {
    let n_fixed = Some(n_settled);
    in_blocks(&Task { queries, n_fixed, gates, block_len: BLOCK_LEN }, vectors, cancelled)
}

/// The parameters of a search.
struct Task<'q> {
    queries: &'q [&'q str],
    /// The number of queries at the start that are the leaders; `None` if queries become leaders.
    n_fixed: Option<usize>,
    gates: Gates,
    /// Number of queries that are compared with the leaders before them together.
    block_len: usize,
}

fn in_blocks(
    task: &Task<'_>,
    vectors: &mut ScopeVectors<'_>,
    cancelled: Cancelled<'_>,
) -> Result<Vec<Option<QueryMatch>>, EmbedError> {
    let Task { queries, n_fixed, gates, block_len } = *task;
    let encode = |_| Texts::encode_unless(queries, Profile::Auto, cancelled).ok_or(EmbedError::Interrupted);
    let texts = gates.rouge_l.map(encode).transpose()?.unwrap_or_default();
    let prepared = |threshold| Spaces::new(&texts, threshold, cancelled).ok_or(EmbedError::Interrupted);
    let spaces = gates.rouge_l.map(prepared).transpose()?;
    let n_leaders = n_fixed.unwrap_or(0);
    let fixed: Vec<Row> = (0..n_leaders).map(row).collect();
    let leaders =
        |spaces| Leaders::fixed(spaces, Ties::Floats, &fixed, cancelled).ok_or(EmbedError::Interrupted);
    let mut search = Search {
        texts: &texts,
        words: spaces.as_ref().map(leaders).transpose()?,
        vectors: gates.cosine.map(|threshold| by_vectors::Leaders::new(threshold, queries.len())),
        cancelled,
    };
    for block in blocks(0..n_leaders, block_len) {
        search.add_vectors(block, vectors)?;
    }
    search.settle()?;
    let mut near = Vec::with_capacity(queries.len() - n_leaders);
    for block in blocks(n_leaders..queries.len(), block_len) {
        let is_last = block.end == queries.len();
        search.search_block(block, vectors, n_fixed.is_none(), &mut near)?;
        if !is_last {
            search.settle()?;
        }
    }
    Ok(near)
}

fn blocks(range: Range<usize>, block_len: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(block_len).map(move |start| start..end.min(start + block_len))
}

/// The leaders so far, by both measures.
struct Search<'s> {
    texts: &'s Texts,
    words: Option<Leaders<'s>>,
    vectors: Option<by_vectors::Leaders>,
    cancelled: Cancelled<'s>,
}

impl Search<'_> {
    /// Adds the vectors of queries that are leaders.
    fn add_vectors(&mut self, block: Range<usize>, vectors: &mut ScopeVectors<'_>) -> Result<(), EmbedError> {
        let Some(leaders) = &mut self.vectors else { return Ok(()) };
        let part = vectors.next(block.len())?;
        let rows: Vec<&[f32]> = (0..block.len()).map(|at| part.get(at)).collect();
        let probes = leaders.probes(&rows, self.cancelled).ok_or(EmbedError::Interrupted)?;
        block.zip(&probes).for_each(|(leader, probe)| leaders.push(leader, probe));
        Ok(())
    }

    /// Finds the best leader of each query in a block; queries without one become leaders if `may_lead`.
    fn search_block(
        &mut self,
        block: Range<usize>,
        vectors: &mut ScopeVectors<'_>,
        may_lead: bool,
        near: &mut Vec<Option<QueryMatch>>,
    ) -> Result<(), EmbedError> {
        let by_words = self.best_settled(&block)?;
        // Queries that match by words need no comparison of vectors.
        let undecided = || (0..block.len()).filter(|&at| by_words[at].is_none());
        let part = self.vectors.is_some().then(|| vectors.next(block.len())).transpose()?;
        let mut probes = match (&mut self.vectors, &part) {
            (Some(leaders), Some(part)) => {
                let rows: Vec<&[f32]> = undecided().map(|at| part.get(at)).collect();
                leaders.probes(&rows, self.cancelled).ok_or(EmbedError::Interrupted)?
            }
            _ => Vec::new(),
        }
        .into_iter();
        for (at, settled) in block.zip(&by_words) {
            let mut probe = if settled.is_none() { probes.next() } else { None };
            let found = self.best(at, *settled, probe.as_mut())?;
            if found.is_none() && may_lead {
                self.push(at, probe.as_ref());
            }
            near.push(found);
        }
        Ok(())
    }

    /// Finds the best of the settled leaders by words.
    fn best_settled(&self, block: &Range<usize>) -> Result<Vec<Option<LeaderMatch>>, EmbedError> {
        let rows: Vec<Row> = block.clone().map(row).collect();
        match &self.words {
            Some(words) => words.best_settled(&rows, self.cancelled).ok_or(EmbedError::Interrupted),
            None => Ok(vec![None; rows.len()]),
        }
    }

    /// Finds the best of all leaders: by words, else by vectors.
    fn best(
        &mut self,
        at: usize,
        settled: Option<LeaderMatch>,
        probe: Option<&mut by_vectors::Probe<'_>>,
    ) -> Result<Option<QueryMatch>, EmbedError> {
        let by_words = match &mut self.words {
            Some(words) => words.best(row(at), settled, self.cancelled).ok_or(EmbedError::Interrupted)?,
            None => None,
        };
        if let Some(Merge { leader, score }) = by_words.map(LeaderMatch::merge) {
            return Ok(Some(QueryMatch {
                leader,
                by: MatchMethod::Words(self.texts.tokenizer_of(at, leader)),
                score,
            }));
        }
        let by_vectors = self.vectors.as_ref().zip(probe).and_then(|(leaders, probe)| leaders.best(probe));
        Ok(by_vectors.map(|Merge { leader, score }| QueryMatch { leader, by: MatchMethod::Vectors, score }))
    }

    fn push(&mut self, at: usize, probe: Option<&by_vectors::Probe<'_>>) {
        if let Some(words) = &mut self.words {
            words.push(row(at));
        }
        if let Some((leaders, probe)) = self.vectors.as_mut().zip(probe) {
            leaders.push(at, probe);
        }
    }

    fn settle(&mut self) -> Result<(), EmbedError> {
        let words = self.words.iter_mut().try_for_each(|words| words.settle(self.cancelled));
        let vectors = self.vectors.iter_mut().try_for_each(|vectors| vectors.settle(self.cancelled));
        words.and(vectors).ok_or(EmbedError::Interrupted)
    }
}
