//! Retrieval: which functions of a collection fit a request, and how well that works on queries whose functions are known.
//!
//! A function is found by a text of the category and name of its tool, its name, its description, and the names and descriptions of
//! its parameters. BM25 scores the words, an embedder the meaning; both together are fused by their ranks. [`evaluate`] measures
//! queries with known functions, [`pairs`] makes training pairs of them: each with functions that rank high and do not fit.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::collection::tool::{Api, Tool};
use crate::embed::Embedder;
use crate::embed::name::EmbedderName;
use crate::engine::context::Cancelled;
use crate::engine::error::{At as _, Error, Result};
use crate::environment::Environment;
use crate::jobs::probe::read_tools;
use crate::retrieval::bm25::Bm25;
use crate::retrieval::fusion::fused;
use crate::retrieval::measures::Measures;
use crate::similarity::vectors::Vectors;

/// How functions are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// By their words.
    Bm25,
    /// By the cosine of vectors.
    Embeddings,
    /// By both, fused.
    Fused,
}

/// A function that can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its legal name in the collection.
    pub name: String,
    /// Its tool.
    pub tool: String,
    /// Its name as written in the source.
    pub original_name: String,
    /// Its description; empty if there is none.
    pub description: String,
    /// The text by which it is found.
    pub text: String,
}

/// The functions of a collection, indexed.
pub struct Index {
    functions: Vec<Found>,
    bm25: Option<Bm25>,
    vectors: Option<(Vectors, Arc<dyn Embedder>)>,
}

impl Index {
    /// Reads and indexes the functions of a collection's run folder.
    ///
    /// # Errors
    /// The folder is not that of a collection, has no function, or the embedder fails.
    pub fn open(
        run: &Path,
        ranking: Ranking,
        embedder: &EmbedderName,
        environment: &Environment,
        cancelled: Cancelled<'_>,
    ) -> Result<Self> {
        let mut functions = Vec::new();
        for tool in read_tools(run)? {
            functions.extend(tool.functions.iter().map(|api| found(&tool, api)));
        }
        if functions.is_empty() {
            return Err(Error::Input(format!("{}: the collection has no function", run.display())));
        }
        let texts: Vec<&str> = functions.iter().map(|function| function.text.as_str()).collect();
        let bm25 = (ranking != Ranking::Embeddings).then(|| Bm25::new(texts.iter().copied()));
        let vectors = if ranking == Ranking::Bm25 {
            None
        } else {
            let failed = |error: crate::embed::EmbedError| Error::Input(error.to_string());
            let embedder = embedder.open(environment).map_err(failed)?;
            Some((embedder.embed(&texts, cancelled).map_err(failed)?, embedder))
        };
        Ok(Self { functions, bm25, vectors })
    }

    /// Returns the functions.
    pub fn functions(&self) -> &[Found] {
        &self.functions
    }

    /// Returns the score of each function for some queries.
    ///
    /// # Errors
    /// The embedder fails, or the user asked to stop.
    pub fn scores(&self, queries: &[&str], cancelled: Cancelled<'_>) -> Result<Vec<Vec<f64>>> {
        let vectors = match &self.vectors {
            Some((_, embedder)) => {
                Some(embedder.embed(queries, cancelled).map_err(|error| Error::Input(error.to_string()))?)
            }
            None => None,
        };
        let of_query = |(at, query): (usize, &&str)| {
            if cancelled() {
                return Err(Error::Interrupted);
            }
            let by_words = self.bm25.as_ref().map(|bm25| bm25.scores(query));
            let by_meaning = vectors.as_ref().zip(self.vectors.as_ref()).map(|(queries, (functions, _))| {
                (0..functions.len())
                    .map(|of| cosine(queries.get(at), functions.get(of)))
                    .collect::<Vec<f64>>()
            });
            Ok(match (by_words, by_meaning) {
                (Some(words), Some(meaning)) => fused(&[&words, &meaning]),
                (Some(scores), None) | (None, Some(scores)) => scores,
                (None, None) => vec![0.0; self.functions.len()],
            })
        };
        queries.par_iter().enumerate().map(of_query).collect()
    }
}

/// Returns the places of the best scores above 0, the best first; of equal ones the first.
pub fn best(scores: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
    order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]).then(one.cmp(other)));
    order.truncate(most);
    order
}

/// The product of vectors of unit length.
fn cosine(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(one, other)| f64::from(one * other)).sum()
}

fn found(tool: &Tool, api: &Api) -> Found {
    let description = api.doc.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut text =
        [tool.category.as_deref().unwrap_or_default(), &tool.name, &api.original_name, description]
            .join("\n");
    let properties = api.doc.get("parameters").and_then(|it| it["properties"].as_object());
    for (name, schema) in properties.into_iter().flatten() {
        text += &format!("\n{name} {}", schema["description"].as_str().unwrap_or_default());
    }
    Found {
        name: api.name.clone(),
        tool: tool.name.clone(),
        original_name: api.original_name.clone(),
        description: description.to_owned(),
        text,
    }
}

/// A query whose functions are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownQuery {
    /// Its text.
    pub query: String,
    /// The places of the functions that fit.
    pub functions: Vec<usize>,
    /// Functions that fit and are not in the collection.
    pub n_missing: usize,
}

/// Reads queries with the functions that fit: JSON lines or a list of `{"query": …, "relevant": [names]}`, or query files of ToolBench
/// (`relevant APIs`: pairs of tool and function).
///
/// # Errors
/// A file cannot be read, or an item is none of both.
pub fn known_queries(paths: &[PathBuf], index: &Index) -> Result<Vec<KnownQuery>> {
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    let mut by_tool: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for (at, function) in index.functions.iter().enumerate() {
        by_name.entry(&function.name).or_insert(at);
        by_tool.entry((&function.tool, &function.original_name)).or_insert(at);
    }
    let mut queries = Vec::new();
    for path in paths {
        let text = crate::side_file::read_text(path).at("reading", path)?;
        for (number, item) in items(&text, path)? {
            let bad = |what: &str| {
                Error::Input(format!(
                    "{}:{number}: expected {what}, found {}\nhint: {{\"query\": \"…\", \"relevant\": [\"name\"]}}, or a query file of ToolBench",
                    path.display(),
                    crate::text::short::shortened(&item.to_string(), 80)
                ))
            };
            let query = item["query"].as_str().ok_or_else(|| bad("a text under \"query\""))?;
            let place = |relevant: &Value| match relevant {
                Value::String(name) => Some(by_name.get(name.as_str()).copied()),
                Value::Array(pair) => {
                    let (tool, api) = (pair.first()?.as_str()?, pair.get(1)?.as_str()?);
                    Some(by_tool.get(&(tool, api)).copied())
                }
                _ => None,
            };
            let listed = ["relevant", "relevant APIs"].iter().find_map(|key| item[*key].as_array());
            let listed = listed.ok_or_else(|| bad("a list under \"relevant\" or \"relevant APIs\""))?;
            let places: Option<Vec<Option<usize>>> = listed.iter().map(place).collect();
            let places = places.ok_or_else(|| bad("names, or pairs of tool and function"))?;
            let mut functions: Vec<usize> = places.iter().copied().flatten().collect();
            functions.sort_unstable();
            functions.dedup();
            let n_missing = places.iter().filter(|place| place.is_none()).count();
            queries.push(KnownQuery { query: query.to_owned(), functions, n_missing });
        }
    }
    Ok(queries)
}

/// The items of a list, or of lines of JSON, with the number of each.
fn items(text: &str, path: &Path) -> Result<Vec<(usize, Value)>> {
    let broken = |number: usize, error: serde_json::Error| {
        Error::Input(format!("{}:{number}: not JSON: {error}", path.display()))
    };
    if text.trim_start().starts_with('[') {
        let list: Vec<Value> = serde_json::from_str(text).map_err(|error| broken(error.line(), error))?;
        return Ok((1..).zip(list).collect());
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| Ok((at + 1, serde_json::from_str(line).map_err(|error| broken(at + 1, error))?)))
        .collect()
}

/// Measures an index on queries whose functions are known.
///
/// # Errors
/// As [`Index::scores`].
pub fn evaluate(index: &Index, queries: &[KnownQuery], cancelled: Cancelled<'_>) -> Result<Measures> {
    let texts: Vec<&str> = queries.iter().map(|query| query.query.as_str()).collect();
    let scores = index.scores(&texts, cancelled)?;
    let are_right: Vec<Vec<bool>> = queries
        .iter()
        .map(|query| {
            let mut is_right = vec![false; index.functions.len()];
            query.functions.iter().for_each(|at| is_right[*at] = true);
            is_right
        })
        .collect();
    Ok(Measures::of(scores.iter().map(Vec::as_slice).zip(are_right.iter().map(Vec::as_slice))))
}

/// Functions that do not fit, for each pair.
const NEGATIVES: usize = 4;

/// Makes training pairs of a retriever: each query with each function that fits, and with the functions of highest rank that do not.
///
/// # Errors
/// As [`Index::scores`].
pub fn pairs(index: &Index, queries: &[KnownQuery], cancelled: Cancelled<'_>) -> Result<Vec<Value>> {
    let texts: Vec<&str> = queries.iter().map(|query| query.query.as_str()).collect();
    let scores = index.scores(&texts, cancelled)?;
    let mut pairs = Vec::new();
    for (query, scores) in queries.iter().zip(&scores) {
        let ranked = best(scores, NEGATIVES + query.functions.len());
        let negatives =
            ranked.into_iter().filter(|at| query.functions.binary_search(at).is_err()).take(NEGATIVES);
        let negatives: Vec<&Found> = negatives.map(|at| &index.functions[at]).collect();
        for at in &query.functions {
            let positive = &index.functions[*at];
            pairs.push(json!({
                "query": query.query,
                "name": positive.name,
                "positive": positive.text,
                "negative_names": negatives.iter().map(|it| &it.name).collect::<Vec<_>>(),
                "negatives": negatives.iter().map(|it| &it.text).collect::<Vec<_>>(),
            }));
        }
    }
    Ok(pairs)
}
