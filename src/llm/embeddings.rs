//! `/embeddings`: texts to vectors.
//!
//! Servers differ in how many texts they take at once, whether numbers come as a list or as
//! base64 although a list was asked for, and in what order; most refuse empty texts, which are
//! not sent here. Read is as little of an answer as will do.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::Error;
use super::client::Client;
use crate::engine::context::Cancelled;

/// Texts in one request: what the strictest of common servers take.
const MAX_TEXTS: usize = 32;
/// Characters in one request, far below any limit in tokens.
const MAX_CHARS: usize = 100_000;

const RESOURCE: &str = "embeddings";

#[derive(Serialize)]
struct Question {
    model: String,
    input: Vec<String>,
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Option<Vec<Item>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Numbers,
}

/// Numbers of 32 bits: a list, or their bytes in little endian as base64.
struct Numbers(Vec<f32>);

impl Client {
    /// The vectors of some texts, in their order, as the server gives them; none of the texts may be empty.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, or gives something else than one vector a text.
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
                let question = Question { model, input, encoding_format: "float" };
                let answer: Result<Answer, _> = openai.embeddings().create_byot(question).await;
                let answer = answer.map_err(|error| Self::error(&url, error))?;
                answer.vectors(n_texts).map_err(|what| Error::Answer { url, what })
            }
        });
        Ok(self.ask_all(questions.collect(), cancelled)?.into_iter().flatten().collect())
    }
}

/// Cuts texts into requests.
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

impl Answer {
    /// One vector for each text, in the order of the texts.
    fn vectors(self, n_texts: usize) -> Result<Vec<Vec<f32>>, String> {
        let Some(data) = self.data else {
            return Err(self.error.map_or("the answer holds no data".to_owned(), |error| error.to_string()));
        };
        let n_vectors = data.len();
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; n_texts];
        for (at, item) in data.into_iter().enumerate() {
            // Some servers leave the number out and keep the order.
            let index = item.index.unwrap_or(at);
            let place = vectors.get_mut(index).filter(|place| place.is_none());
            *place.ok_or_else(|| format!("vector {index} of {n_texts} came twice or is none of them"))? =
                Some(item.embedding.0);
        }
        let whole: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
        whole.ok_or_else(|| format!("{n_vectors} vectors came for {n_texts} texts"))
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
        let bytes = BASE64_STANDARD.decode(text).map_err(|_| E::custom("neither numbers nor base64"))?;
        let (numbers, []) = bytes.as_chunks() else { return Err(E::custom("base64 of half a number")) };
        Ok(Numbers(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

#[cfg(test)]
mod tests;
