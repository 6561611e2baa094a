//! Finds messages of a benchmark whose vectors are near those of a row's messages.
//!
//! Any embedder will do: n-grams find other spellings, a model other words, a multilingual model translations. All pairs are
//! compared, in batches of rows, so the result is exact and the same for any number of threads. A message that is too short
//! for a meaning of its own is not compared.

use std::convert::Infallible;

use super::benchmark::Benchmark;
use super::hit::{Hit, Method, Object, Verdict};
use super::item::Item;
use super::thresholds::CosineThresholds;
use crate::embed::vectors::Vectors;
use crate::embed::{EmbedError, Embedder};
use crate::engine::context::Cancelled;
use crate::similarity::Stopped;
use crate::similarity::cosine::join::join;
use crate::similarity::cosine::plan::Plan;
use crate::text::words::for_each_word;

/// The vectors of a benchmark's messages.
#[derive(Debug)]
pub struct VectorIndex {
    vectors: Vectors,
    messages: Vec<Message>,
    by: CosineThresholds,
}

#[derive(Debug)]
struct Message {
    entry: u32,
    turn: u32,
    n_bytes: usize,
}

/// Whether a message has enough words to be compared.
pub(super) fn is_long_enough(text: &str, by: &CosineThresholds) -> bool {
    let mut n_words = 0;
    for_each_word(text, |_| n_words += 1);
    n_words >= by.min_words
}

impl VectorIndex {
    /// Embeds the messages of a benchmark.
    ///
    /// # Errors
    /// The embedder fails, or the user asked to stop.
    pub fn new(
        benchmark: &Benchmark,
        embedder: &dyn Embedder,
        cancelled: Cancelled<'_>,
    ) -> Result<Self, EmbedError> {
        let by = benchmark.thresholds().cosine;
        let found: Vec<(u32, u32, &str)> =
            benchmark.messages().filter(|(_, _, text)| is_long_enough(text, &by)).collect();
        let texts: Vec<&str> = found.iter().map(|(_, _, text)| *text).collect();
        let vectors = embedder.embed(&texts, cancelled)?;
        let message = |&(entry, turn, text): &(u32, u32, &str)| Message { entry, turn, n_bytes: text.len() };
        Ok(Self { vectors, messages: found.iter().map(message).collect(), by })
    }

    /// Returns the number of messages that can be found.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Returns whether no message can be found.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Finds the messages that are near those of some rows; one list of hits for each row.
    ///
    /// # Errors
    /// The embedder fails, or the user asked to stop.
    pub fn hits(
        &self,
        rows: &[&Item],
        embedder: &dyn Embedder,
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<Vec<Hit>>, EmbedError> {
        let mut hits = vec![Vec::new(); rows.len()];
        let of_row = |(at, row): (usize, &&Item)| {
            let texts = (0_u32..).zip(row.queries.clone());
            texts
                .filter(|(_, text)| is_long_enough(text, &self.by))
                .map(move |(turn, text)| (at, turn, text))
                .collect::<Vec<_>>()
        };
        let messages: Vec<(usize, u32, String)> = rows.iter().enumerate().flat_map(of_row).collect();
        let texts: Vec<&str> = messages.iter().map(|(_, _, text)| text.as_str()).collect();
        if texts.is_empty() || self.is_empty() {
            return Ok(hits);
        }
        let vectors = embedder.embed(&texts, cancelled)?;
        let found = join(&vectors, &self.vectors, self.by.suspect, Plan::Exact, cancelled, |pairs| {
            for pair in pairs {
                let (at, turn, text) = &messages[pair.a as usize];
                let message = &self.messages[pair.b as usize];
                let is_sure = pair.score >= self.by.contaminated;
                hits[*at].push(Hit {
                    entry: message.entry,
                    object: Object::Query,
                    method: Method::Cosine,
                    score: pair.score.min(1.0),
                    verdict: if is_sure { Verdict::Contaminated } else { Verdict::Suspect },
                    in_row: (*turn, 0..text.len()),
                    in_entry: (message.turn, 0..message.n_bytes),
                    run: 0,
                });
            }
            Ok::<_, Infallible>(())
        });
        match found {
            Ok(_) => {}
            Err(Stopped::Cancelled) => return Err(EmbedError::Interrupted),
            Err(Stopped::Sink(never)) => match never {},
        }
        for of_row in &mut hits {
            of_row.sort_by_key(|hit| (hit.in_row.0, hit.entry, hit.in_entry.0));
        }
        Ok(hits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::benchmark::tests::benchmark_of;
    use super::*;
    use crate::embed::hashed::Hashed;
    use crate::embed::vectors::dot;

    const BENCH: [&str; 4] = [
        "When is the next high tide in the harbour of Leith?",
        "Book two seats on the ferry to Mull for me.",
        "Ring it",
        "Which boats are in the harbour of Oban at the moment?",
    ];

    #[test]
    fn near_messages_are_the_hits_and_short_ones_are_not_compared() {
        let benchmark = benchmark_of(&BENCH);
        let index = VectorIndex::new(&benchmark, &Hashed::V2, &|| false).unwrap();
        assert_eq!(index.len(), 3);
        let texts = [
            vec!["When's the next high tide in the harbor of Leith"],
            vec![
                "Ring it",
                "Mow the lawn behind the house of my aunt",
                "WHICH BOATS are in the harbour of Oban at the moment?",
            ],
            vec![],
        ];
        let rows: Vec<Item> = texts
            .iter()
            .map(|texts| Item {
                queries: texts.iter().map(|&text| text.to_owned()).collect(),
                ..Item::default()
            })
            .collect();
        let hits = index.hits(&rows.iter().collect::<Vec<_>>(), &Hashed::V2, &|| false).unwrap();
        let found: Vec<Vec<(u32, u32, Verdict)>> = hits
            .iter()
            .map(|hits| hits.iter().map(|hit| (hit.entry, hit.in_row.0, hit.verdict)).collect())
            .collect();
        assert_eq!(found, [vec![(0, 0, Verdict::Suspect)], vec![(3, 2, Verdict::Contaminated)], vec![]]);
        // The score is that of the two vectors alone.
        let vectors = Hashed::V2.vectors(&[texts[0][0], BENCH[0]]);
        let alone = f64::from(dot(vectors.get(0), vectors.get(1)));
        assert!((hits[0][0].score - alone).abs() < 1e-6, "{} {alone}", hits[0][0].score);
        let stopped = index.hits(&rows.iter().collect::<Vec<_>>(), &Hashed::V2, &|| true);
        assert!(matches!(stopped, Err(EmbedError::Interrupted)));
    }
}
