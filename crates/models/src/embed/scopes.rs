//! Embeds many scopes of texts in batches.
//!
//! A model or a server is efficient with thousands of texts, but most scopes of a log have a few.
//! So scopes are batched, embedded, judged on all threads, and their vectors freed. A scope larger
//! than a batch gets its vectors in chunks, so that a log with a single doc list fits in memory,
//! too. A hash of all vectors identifies the ones that a run used.

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{EmbedError, Embedder};
use callsieve_engine::context::Cancelled;
use callsieve_similarity::vectors::Vectors;
use callsieve_text::content_hash::content_hash;

/// Maximum number of texts in a batch, except for a single larger scope. Higher uses more memory.
const MAX_TEXTS: usize = 4_096;

/// The embedder, number and hash of the vectors that were used.
pub struct UsedVectors {
    id: String,
    n_vectors: usize,
    hash: u128,
}

impl UsedVectors {
    /// The name of the note of a stage.
    pub const NOTE: &'static str = "embedder";

    fn by(embedder: &dyn Embedder) -> Self {
        Self { id: embedder.id(), n_vectors: 0, hash: 0 }
    }

    fn add(&mut self, texts: &[&str], rows: &[&[f32]]) {
        self.n_vectors += rows.len();
        let hashes = texts.par_iter().zip(rows).map(|(text, row)| hash_of(text, row));
        let sum = hashes.reduce(|| 0, u128::wrapping_add);
        self.hash = self.hash.wrapping_add(sum);
    }

    /// Returns the note: the embedder's id, the number of vectors, and the sum of the hashes of text and vector,
    /// which does not depend on their order.
    pub fn note(&self) -> Value {
        json!({ "id": self.id, "vectors": self.n_vectors, "hash": format!("{:032x}", self.hash) })
    }

    /// Joins the notes of several parts of a step; `None` if these are other notes, or of several embedders.
    pub fn join(notes: &[Value]) -> Option<Value> {
        let read = |note: &Value| {
            let n_vectors = usize::try_from(note.get("vectors")?.as_u64()?).ok()?;
            let hash = u128::from_str_radix(note.get("hash")?.as_str()?, 16).ok()?;
            Some(Self { id: note.get("id")?.as_str()?.to_owned(), n_vectors, hash })
        };
        let all: Vec<Self> = notes.iter().map(read).collect::<Option<_>>()?;
        let joined = all.into_iter().reduce(|one, other| Self {
            n_vectors: one.n_vectors + other.n_vectors,
            hash: one.hash.wrapping_add(other.hash),
            id: if one.id == other.id { one.id } else { String::new() },
        })?;
        (!joined.id.is_empty()).then(|| joined.note())
    }
}

fn hash_of(text: &str, row: &[f32]) -> u128 {
    let mut bytes = vec![0; size_of_val(row)];
    for (bytes, value) in bytes.as_chunks_mut().0.iter_mut().zip(row) {
        *bytes = value.to_le_bytes();
    }
    bytes.extend(content_hash(text).to_le_bytes());
    content_hash(&bytes)
}

/// The vectors of a scope's texts, in order and in chunks.
pub struct ScopeVectors<'a>(Source<'a>);

enum Source<'a> {
    /// The remaining vectors; empty without an embedder.
    Computed(&'a [&'a [f32]]),
    /// The remaining texts; their vectors are computed on demand.
    Lazy {
        texts: &'a [&'a str],
        embedder: &'a dyn Embedder,
        used: &'a mut UsedVectors,
        cancelled: Cancelled<'a>,
    },
}

/// A chunk of vectors.
pub enum VectorChunk<'a> {
    /// Vectors that were computed before.
    Borrowed(&'a [&'a [f32]]),
    /// Vectors that were computed for this chunk.
    Owned(Vectors),
}

impl VectorChunk<'_> {
    /// Returns the vector of a text.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn get(&self, at: usize) -> &[f32] {
        match self {
            Self::Borrowed(rows) => rows[at],
            Self::Owned(vectors) => vectors.get(at),
        }
    }
}

impl<'a> ScopeVectors<'a> {
    /// Wraps vectors that are already computed.
    pub fn computed(rows: &'a [&'a [f32]]) -> Self {
        Self(Source::Computed(rows))
    }

    /// Returns the vectors of the next `n` texts, or of the remaining ones.
    ///
    /// # Errors
    /// If a text cannot be embedded, or the run is cancelled.
    pub fn next(&mut self, n: usize) -> Result<VectorChunk<'a>, EmbedError> {
        match &mut self.0 {
            Source::Computed(rows) => {
                let (some, rest) = rows.split_at(n.min(rows.len()));
                *rows = rest;
                Ok(VectorChunk::Borrowed(some))
            }
            Source::Lazy { texts, embedder, used, cancelled } => {
                let (some, rest) = texts.split_at(n.min(texts.len()));
                *texts = rest;
                let vectors = embedder.embed(some, *cancelled)?;
                used.add(some, &vectors.iter().collect::<Vec<_>>());
                Ok(VectorChunk::Owned(vectors))
            }
        }
    }

    /// Computes the remaining vectors, because the note covers all vectors of a scope.
    fn finish(mut self) -> Result<(), EmbedError> {
        while let Source::Lazy { texts: [_, ..], .. } = self.0 {
            self.next(MAX_TEXTS)?;
        }
        Ok(())
    }
}

/// Calls `judge` for each scope with its texts and their vectors; without an embedder there are no vectors.
///
/// # Errors
/// If a text cannot be embedded, or the run is cancelled.
pub fn judge_scopes<T: Send>(
    scopes: &[Vec<&str>],
    embedder: Option<&dyn Embedder>,
    cancelled: Cancelled<'_>,
    judge: impl Fn(usize, &[&str], &mut ScopeVectors<'_>) -> Result<T, EmbedError> + Sync,
) -> Result<(Vec<T>, Option<UsedVectors>), EmbedError> {
    let mut used = embedder.map(UsedVectors::by);
    let mut judged = Vec::with_capacity(scopes.len());
    while judged.len() < scopes.len() {
        let first = judged.len();
        let batch = &scopes[first..first + batch_len(&scopes[first..])];
        if let ([texts], Some(embedder), Some(used)) = (batch, embedder, &mut used)
            && texts.len() > MAX_TEXTS
        {
            let mut vectors = ScopeVectors(Source::Lazy { texts, embedder, used, cancelled });
            judged.push(judge(first, texts, &mut vectors)?);
            vectors.finish()?;
            continue;
        }
        let texts = batch.concat();
        let vectors = match embedder {
            Some(embedder) => embedder.embed(&texts, cancelled)?,
            None => Vectors::default(),
        };
        let rows: Vec<&[f32]> = vectors.iter().collect();
        if let Some(used) = &mut used {
            used.add(&texts, &rows);
        }
        let of_scope = |(at, (texts, rows)): (usize, (&Vec<&str>, &[&[f32]]))| {
            if cancelled() {
                return Err(EmbedError::Interrupted);
            }
            judge(first + at, texts, &mut ScopeVectors::computed(rows))
        };
        let of_batch = batch.par_iter().zip(split_rows(batch, &rows)).enumerate().map(of_scope);
        judged.extend(of_batch.collect::<Result<Vec<T>, EmbedError>>()?);
    }
    Ok((judged, used))
}

/// Returns the number of scopes in the next batch; at least one.
fn batch_len(scopes: &[Vec<&str>]) -> usize {
    let mut n_texts = 0;
    let fits = scopes.iter().take_while(|texts| {
        n_texts += texts.len();
        n_texts <= MAX_TEXTS
    });
    fits.count().max(1)
}

/// Splits the rows by scope; without vectors, each scope gets none.
fn split_rows<'a, 'b>(scopes: &[Vec<&str>], mut rows: &'b [&'a [f32]]) -> Vec<&'b [&'a [f32]]> {
    let of_scope = |texts: &Vec<&str>| {
        let (own, rest) = rows.split_at(texts.len().min(rows.len()));
        rows = rest;
        own
    };
    scopes.iter().map(of_scope).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::hashed::Hashed;

    #[test]
    fn each_scope_has_the_vectors_of_its_own_texts() {
        let texts: Vec<String> = (0..2 * MAX_TEXTS + 500).map(|n| format!("text {n}")).collect();
        let (mut scopes, mut rest): (Vec<Vec<&str>>, _) = (Vec::new(), &texts[..]);
        for len in [0, 3, MAX_TEXTS, 1, MAX_TEXTS + 1, 70].into_iter().cycle() {
            let (scope, others) = rest.split_at(usize::min(len, rest.len()));
            scopes.push(scope.iter().map(String::as_str).collect());
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        let all: Vec<usize> = (0..scopes.len()).collect();
        let as_alone = |at: usize, texts: &[&str], vectors: &mut ScopeVectors<'_>| {
            let alone = Hashed::V1.vectors(texts);
            // Leave the last vectors unread, as a judge may.
            for start in
                (0..texts.len()).step_by(1_000).filter(|start| start + 1_000 < texts.len().max(1_001))
            {
                let some = vectors.next(1_000)?;
                let end = texts.len().min(start + 1_000);
                (start..end).for_each(|at| assert_eq!(some.get(at - start), alone.get(at)));
            }
            Ok(at)
        };
        let (judged, used) = judge_scopes(&scopes, Some(&Hashed::V1), &|| false, as_alone).unwrap();
        assert_eq!(judged, all);
        assert_eq!(used.unwrap().note()["vectors"], texts.len());
        let none = |_: usize, texts: &[&str], vectors: &mut ScopeVectors<'_>| {
            assert!(matches!(vectors.next(texts.len())?, VectorChunk::Borrowed([])));
            Ok(())
        };
        assert!(judge_scopes(&scopes, None, &|| false, none).unwrap().1.is_none());
    }

    #[test]
    fn the_note_depends_on_every_vector_and_text_but_not_on_their_order() {
        let note = |texts: &[&str]| {
            judge_scopes(&[texts.to_vec()], Some(&Hashed::V1), &|| false, |_, _, _| Ok(()))
                .unwrap()
                .1
                .unwrap()
                .note()
        };
        assert_eq!(note(&["a bell", "a gate"]), note(&["a bell", "a gate"]));
        let many = vec!["a bell"; MAX_TEXTS + 1];
        let in_two: Vec<Vec<&str>> = many.chunks(MAX_TEXTS).map(<[&str]>::to_vec).collect();
        let of_two =
            judge_scopes(&in_two, Some(&Hashed::V1), &|| false, |_, _, _| Ok(())).unwrap().1.unwrap();
        assert_eq!(note(&many), of_two.note());
        assert_eq!(note(&["a bell", "a gate"]), note(&["a gate", "a bell"]));
        assert_ne!(note(&["a bell", "a bell"])["hash"], note(&["a gate", "a gate"])["hash"]);
        assert_ne!(hash_of("a bell", &[1.0]), hash_of("a gate", &[1.0]));
        let parts = [note(&["a bell"]), note(&["a gate"])];
        assert_eq!(UsedVectors::join(&parts), Some(note(&["a bell", "a gate"])));
        assert_eq!(UsedVectors::join(&[parts[0].clone(), json!({"id": "another"})]), None);
    }

    #[test]
    fn a_cancelled_run_is_an_error() {
        let cancelled = judge_scopes(&[vec!["a"]], None, &|| true, |_, _, _| Ok(()));
        assert!(matches!(cancelled, Err(EmbedError::Interrupted)));
    }
}
