//! Finds messages of a benchmark whose vectors are near those of a row's messages.
//!
//! Any embedder will do: n-grams find other spellings, a model other words, a multilingual model translations. All pairs are
//! compared, in batches of rows, so the result is exact and the same for any number of threads. A message that is too short
//! for a meaning of its own is not compared. Many entries that are near to one message are a group.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use super::benchmark::Benchmark;
use super::hit::{Group, Hit, MOST_SINGLE, Method, Object, Verdict};
use super::item::Item;
use super::row::ComparedWith;
use super::scope::Scope;
use super::thresholds::CosineThresholds;
use callsieve_engine::context::Cancelled;
use callsieve_models::embed::{EmbedError, Embedder};
use callsieve_similarity::cosine::join::join;
use callsieve_similarity::cosine::plan::Plan;
use callsieve_similarity::vectors::Vectors;
use callsieve_similarity::{Pair, Stopped};
use callsieve_text::words::for_each_word;

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

    /// Finds the messages that are near those of some rows, each with what it is compared with; one list of hits for each row.
    ///
    /// # Errors
    /// The embedder fails, or the user asked to stop.
    pub fn hits(
        &self,
        rows: &[(&Item, ComparedWith<'_>)],
        embedder: &dyn Embedder,
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<Vec<Hit>>, EmbedError> {
        let mut hits = vec![Vec::new(); rows.len()];
        let of_row = |(at, (row, _)): (usize, &(&Item, ComparedWith<'_>))| {
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
        let mut pairs: Vec<Pair> = Vec::new();
        let found = join(&vectors, &self.vectors, self.by.suspect, Plan::Exact, cancelled, |found| {
            pairs.extend_from_slice(found);
            Ok::<_, Infallible>(())
        });
        match found {
            Ok(_) => {}
            Err(Stopped::Cancelled) => return Err(EmbedError::Interrupted),
            Err(Stopped::Sink(never)) => match never {},
        }
        pairs.sort_by_key(|pair| (pair.a, pair.b));
        for of_message in pairs.chunk_by(|one, other| one.a == other.a) {
            let (at, turn, text) = &messages[of_message[0].a as usize];
            hits[*at].extend(self.hits_of_message(of_message, (*turn, text.len()), &rows[*at].1));
        }
        for of_row in &mut hits {
            of_row.sort_by_key(|hit| (hit.in_row.0, hit.entry, hit.in_entry.0));
        }
        Ok(hits)
    }

    /// Returns the hits of message number `turn` of a row, of so many bytes.
    fn hits_of_message(
        &self,
        pairs: &[Pair],
        (turn, n_bytes): (u32, usize),
        compared: &ComparedWith<'_>,
    ) -> Vec<Hit> {
        let is_own = compared.is_own();
        let scope = Scope { is_left_out: &is_own, phrases: compared.phrases, cancelled: compared.cancelled };
        let mut alike: BTreeMap<Verdict, Vec<&Pair>> = BTreeMap::new();
        for pair in pairs {
            let message = &self.messages[pair.b as usize];
            let is_sure = pair.score >= self.by.contaminated;
            let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
            if !is_own(message.entry) {
                let verdict = scope.verdict(message.entry, message.turn, Method::Cosine, verdict);
                alike.entry(verdict).or_default().push(pair);
            }
        }
        let hit = |pair: &Pair, verdict: Verdict, group: Option<Arc<Group>>| {
            let message = &self.messages[pair.b as usize];
            Hit {
                entry: message.entry,
                object: Object::Query,
                method: Method::Cosine,
                score: pair.score.min(1.0),
                verdict,
                in_row: (turn, 0..n_bytes),
                in_entry: (message.turn, 0..message.n_bytes),
                run: 0,
                group,
            }
        };
        let mut hits = Vec::new();
        for (verdict, pairs) in alike {
            if pairs.len() <= MOST_SINGLE {
                hits.extend(pairs.into_iter().map(|pair| hit(pair, verdict, None)));
                continue;
            }
            let message = |pair: &&Pair| &self.messages[pair.b as usize];
            let members = pairs.iter().map(|pair| (message(pair).entry, message(pair).turn)).collect();
            let best = pairs
                .iter()
                .max_by(|a, b| a.score.total_cmp(&b.score).then(message(b).entry.cmp(&message(a).entry)));
            hits.extend(best.map(|pair| hit(pair, verdict, Some(Arc::new(Group::new(members))))));
        }
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::super::benchmark::tests::benchmark_of;
    use super::*;
    use callsieve_models::embed::hashed::Hashed;
    use callsieve_similarity::vectors::dot;

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
        let compared = ComparedWith::all(&benchmark, &|| false);
        let rows: Vec<(&Item, ComparedWith<'_>)> = rows.iter().map(|row| (row, compared)).collect();
        let hits = index.hits(&rows, &Hashed::V2, &|| false).unwrap();
        let found: Vec<Vec<(u32, u32, Verdict)>> = hits
            .iter()
            .map(|hits| hits.iter().map(|hit| (hit.entry, hit.in_row.0, hit.verdict)).collect())
            .collect();
        assert_eq!(found, [vec![(0, 0, Verdict::Suspect)], vec![(3, 2, Verdict::Contaminated)], vec![]]);
        // The score is that of the two vectors alone.
        let vectors = Hashed::V2.vectors(&[texts[0][0], BENCH[0]]);
        let alone = f64::from(dot(vectors.get(0), vectors.get(1)));
        assert!((hits[0][0].score - alone).abs() < 1e-6, "{} {alone}", hits[0][0].score);
        let stopped = index.hits(&rows, &Hashed::V2, &|| true);
        assert!(matches!(stopped, Err(EmbedError::Interrupted)));
    }
}
