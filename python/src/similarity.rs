//! Near-duplicate texts and vectors in memory.

use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use callsieve::embed::name::EmbedderName;
use callsieve::similarity::cosine::join as cosine;
use callsieve::similarity::cosine::plan::Plan;
use callsieve::similarity::rouge::join as rouge;
use callsieve::similarity::rouge::leaders::merge_into_leaders;
use callsieve::similarity::rouge::texts::Texts;
use callsieve::similarity::vectors::Vectors;
use callsieve::similarity::{Merge, Pair, Stopped};
use callsieve::text::profile::Profile;
use callsieve::text::rouge::{Comparison, Threshold};
use pyo3::prelude::*;

use crate::environment;
use crate::failure::Failure;
use crate::table::NativeTable;
use crate::work::{Stops, Watch, work};

/// Bytes of a number of a vector.
const F32_BYTES: usize = size_of::<f32>();

/// What a cancelled join returns, which nobody sees: the exception of the caller is raised.
fn cancelled() -> Failure {
    Failure::new("cancelled")
}

fn joined<T>(joined: Result<T, Stopped<Infallible>>) -> Result<T, Failure> {
    joined.map_err(|stopped| match stopped {
        Stopped::Cancelled => cancelled(),
        Stopped::Sink(never) => match never {},
    })
}

/// The texts that there are, with the numbers of their rows.
fn present(texts: Vec<Option<String>>) -> (Vec<i64>, Vec<String>) {
    let numbered = (0_i64..).zip(texts);
    numbered.filter_map(|(row, text)| text.map(|text| (row, text))).unzip()
}

/// Finds all pairs of texts, or the leader of each text, by ROUGE-L.
#[pyfunction]
#[pyo3(signature = (texts, other, *, threshold, tokenizer, comparison, clusters))]
pub(crate) fn rouge_l_pairs(
    py: Python<'_>,
    texts: Vec<Option<String>>,
    other: Option<Vec<Option<String>>>,
    threshold: f64,
    tokenizer: String,
    comparison: &str,
    clusters: bool,
) -> PyResult<NativeTable> {
    let comparison = match comparison {
        "google-float" => Comparison::GoogleFloat,
        _ => Comparison::Exact,
    };
    work(py, None, Stops::Soon, move |watch| {
        let threshold = Threshold::try_from(threshold)?.compared_by(comparison);
        let profile: Profile = tokenizer.parse()?;
        let (mut rows, mut texts) = present(texts);
        let n_first = texts.len();
        let is_join = other.is_some();
        if let Some((more_rows, more_texts)) = other.map(present) {
            rows.extend(more_rows);
            texts.extend(more_texts);
        }
        let stop = || watch.is_stopped();
        let encoded = Texts::encode_unless(&texts, profile, &stop).ok_or_else(cancelled)?;
        if clusters {
            let merges = merge_into_leaders(&encoded, threshold, &stop).ok_or_else(cancelled)?;
            return leaders(&rows, &merges);
        }
        let mut found = Vec::new();
        let take = |pairs: &[Pair]| {
            found.extend_from_slice(pairs);
            Ok(())
        };
        joined(if is_join {
            rouge::join(&encoded, n_first, threshold, &stop, take)
        } else {
            rouge::self_join(&encoded, threshold, &stop, take)
        })?;
        let (of_a, of_b) = if is_join { rows.split_at(n_first) } else { (&rows[..], &rows[..]) };
        pairs(&found, of_a, of_b)
    })
}

/// Vectors, as bytes of little-endian `f32`, row after row.
#[derive(FromPyObject)]
pub(crate) struct Matrix(usize, Vec<u8>);

impl Matrix {
    fn vectors(self) -> Vectors {
        let values = self.1.chunks_exact(F32_BYTES);
        let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("a chunk has four bytes"));
        Vectors::new(self.0, values.map(number).collect())
    }
}

/// Finds all pairs of vectors by cosine.
#[pyfunction]
#[pyo3(signature = (vectors, other, *, threshold))]
pub(crate) fn cosine_pairs(
    py: Python<'_>,
    vectors: Matrix,
    other: Option<Matrix>,
    threshold: f64,
) -> PyResult<NativeTable> {
    work(py, None, Stops::Soon, move |watch| {
        let threshold = Threshold::try_from(threshold)?;
        let a = vectors.vectors();
        cosine_of(&a, other.map(Matrix::vectors).as_ref(), threshold, watch)
    })
}

/// Finds all pairs of texts by the cosine of their vectors.
#[pyfunction]
#[pyo3(signature = (texts, other, *, threshold, embedder))]
pub(crate) fn cosine_pairs_of_texts(
    py: Python<'_>,
    texts: Vec<String>,
    other: Option<Vec<String>>,
    threshold: f64,
    embedder: String,
) -> PyResult<NativeTable> {
    let environment = environment(py)?;
    work(py, None, Stops::Soon, move |watch| {
        let threshold = Threshold::try_from(threshold)?;
        let embedder: EmbedderName = embedder.parse()?;
        let embedder = embedder.open(&environment)?;
        let all: Vec<&str> = texts.iter().chain(other.iter().flatten()).map(String::as_str).collect();
        let vectors = embedder.embed_rows(&all, &|| watch.is_stopped())?;
        if other.is_none() {
            return cosine_of(&vectors, None, threshold, watch);
        }
        let (a, b) = vectors.split_at(texts.len());
        cosine_of(&a, Some(&b), threshold, watch)
    })
}

fn cosine_of(
    a: &Vectors,
    b: Option<&Vectors>,
    threshold: Threshold,
    watch: &Watch,
) -> Result<NativeTable, Failure> {
    let mut found = Vec::new();
    let take = |pairs: &[Pair]| {
        found.extend_from_slice(pairs);
        Ok(())
    };
    let stop = || watch.is_stopped();
    joined(match b {
        None => cosine::self_join(a, threshold.into(), Plan::Exact, &stop, take),
        Some(b) if !a.is_empty() && !b.is_empty() && a.n_dims() != b.n_dims() => {
            return Err(Failure::new(&format!(
                "vectors of {} and of {} dimensions cannot be compared",
                a.n_dims(),
                b.n_dims()
            )));
        }
        Some(b) => cosine::join(a, b, threshold.into(), Plan::Exact, &stop, take),
    })?;
    let rows: Vec<i64> = (0_i64..).take(a.len().max(b.map_or(0, Vectors::len))).collect();
    pairs(&found, &rows, &rows)
}

/// A table of pairs; `of_a` and `of_b` are the row numbers of their indexes.
fn pairs(found: &[Pair], of_a: &[i64], of_b: &[i64]) -> Result<NativeTable, Failure> {
    let a: Int64Array = found.iter().map(|pair| of_a[pair.a as usize]).collect::<Vec<_>>().into();
    let b: Int64Array = found.iter().map(|pair| of_b[pair.b as usize]).collect::<Vec<_>>().into();
    let score: Float64Array = found.iter().map(|pair| pair.score).collect::<Vec<_>>().into();
    let columns: [(&str, ArrayRef); 3] = [("a", Arc::new(a)), ("b", Arc::new(b)), ("score", Arc::new(score))];
    Ok(NativeTable::of(RecordBatch::try_from_iter(columns)?))
}

/// A table of all texts with their leaders; the score of a leader itself is null.
fn leaders(rows: &[i64], merges: &[Option<Merge>]) -> Result<NativeTable, Failure> {
    let leader = |(at, merge): (usize, &Option<Merge>)| rows[merge.map_or(at, |merge| merge.leader)];
    let leader: Int64Array = merges.iter().enumerate().map(leader).collect::<Vec<_>>().into();
    let score: Float64Array = merges.iter().map(|merge| merge.map(|merge| merge.score)).collect();
    let columns: [(&str, ArrayRef, bool); 3] = [
        ("id", Arc::new(Int64Array::from(rows.to_vec())), false),
        ("leader", Arc::new(leader), false),
        ("score", Arc::new(score), true),
    ];
    Ok(NativeTable::of(RecordBatch::try_from_iter_with_nullable(columns)?))
}
