//! Requests to `/embeddings`, which convert texts to vectors.
//!
//! Servers differ in the number of texts per request, in the order of the vectors, and in whether
//! numbers are a list or base64, even if a list was requested. Most refuse empty texts, which are
//! not sent. Only the necessary parts of a response are read.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Error;
use super::client::Client;
use callsieve_engine::context::Cancelled;

/// Maximum number of texts in one request: the limit of the strictest common servers.
const MAX_TEXTS: usize = 32;
/// Maximum number of characters in one request, far below any limit in tokens.
const MAX_CHARS: usize = 100_000;

const RESOURCE: &str = "embeddings";

#[derive(Serialize)]
struct EmbeddingRequest {
    model: String,
    input: Vec<String>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct EmbeddingResponse {
    data: Option<Vec<EmbeddingItem>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: Numbers,
}

/// 32-bit numbers: a list, or little-endian bytes as base64.
struct Numbers(Vec<f32>);

impl Client {
    /// Returns the vectors of some non-empty texts, in their order.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses, or does not return one vector per text.
    pub fn embeddings(
        &self,
        model: &str,
        texts: &[&str],
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<Vec<f32>>, Error> {
        let url = self.address(RESOURCE);
        let questions = batches(texts).into_iter().map(|batch| {
            let (openai, url) = (self.openai.clone(), url.clone());
            let input: Vec<String> = batch.iter().map(|&text| text.to_owned()).collect();
            let (n_texts, model) = (input.len(), model.to_owned());
            async move {
                let question = EmbeddingRequest { model, input, encoding_format: "float" };
                let answer: Result<EmbeddingResponse, _> = openai.embeddings().create_byot(question).await;
                let answer = answer.map_err(|error| Self::error(&url, error))?;
                answer.vectors(n_texts).map_err(|what| Error::Answer { url, what })
            }
        });
        Ok(self.send_all(questions.collect(), cancelled)?.into_iter().flatten().collect())
    }
}

/// Splits texts into batches for one request each.
fn batches<'a>(texts: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut batches = Vec::new();
    let mut rest = texts;
    while !rest.is_empty() {
        let mut n_chars = 0;
        let fits = rest.iter().take(MAX_TEXTS).take_while(|text| {
            n_chars += text.chars().count();
            n_chars <= MAX_CHARS
        });
        let (batch, later) = rest.split_at(fits.count().max(1));
        batches.push(batch);
        rest = later;
    }
    batches
}

impl EmbeddingResponse {
    /// Returns one vector per text, in the order of the texts.
    fn vectors(self, n_texts: usize) -> Result<Vec<Vec<f32>>, String> {
        let Some(data) = self.data else {
            return Err(self.error.map_or("the response has no data".to_owned(), |error| error.to_string()));
        };
        let n_vectors = data.len();
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; n_texts];
        for (at, item) in data.into_iter().enumerate() {
            // Some servers omit the index and keep the order.
            let index = item.index.unwrap_or(at);
            let place = vectors.get_mut(index).filter(|place| place.is_none());
            *place.ok_or_else(|| format!("vector {index} of {n_texts} is a duplicate or out of range"))? =
                Some(item.embedding.0);
        }
        let whole: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
        whole.ok_or_else(|| format!("received {n_vectors} vectors for {n_texts} texts"))
    }
}

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumbersVisitor)
    }
}

struct NumbersVisitor;

impl<'de> Visitor<'de> for NumbersVisitor {
    type Value = Numbers;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of numbers, or base64")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Numbers, A::Error> {
        let mut numbers = Vec::with_capacity(list.size_hint().unwrap_or(0));
        while let Some(number) = list.next_element()? {
            numbers.push(number);
        }
        Ok(Numbers(numbers))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Numbers, E> {
        let bytes =
            BASE64_STANDARD.decode(text).map_err(|_| E::custom("expected a list of numbers or base64"))?;
        let (numbers, []) = bytes.as_chunks() else {
            return Err(E::custom("the base64 ends within a number"));
        };
        Ok(Numbers(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

#[cfg(test)]
mod tests;
