//! An embedder that uses a model on a server with an OpenAI-compatible API.
//!
//! Texts are sent to the server. An empty text is not sent, because servers refuse it, and its
//! vector is all zero. The id has the server and the name of the model. The server may change the
//! model under the same name, so runs note a hash of the vectors that they used.

use std::sync::OnceLock;

use super::{EmbedError, Embedder, to_unit_length};
use callsieve_engine::context::Cancelled;
use callsieve_llm::client::Client;
use callsieve_similarity::vectors::Vectors;

/// A text that is sent to find the number of dimensions, if all other texts are empty.
const PROBE: &str = "a";

/// An embedder on a server.
pub struct Endpoint {
    client: Client,
    model: String,
    n_dims: OnceLock<usize>,
}

impl Endpoint {
    /// Returns the embedder without sending a request.
    pub fn new(client: Client, model: &str) -> Self {
        Self { client, model: model.to_owned(), n_dims: OnceLock::new() }
    }

    fn embeddings(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.client.embeddings(&self.model, texts, cancelled)?;
        for vector in &vectors {
            let n_dims = *self.n_dims.get_or_init(|| vector.len());
            if vector.len() != n_dims || n_dims == 0 {
                let what =
                    format!("{} returned vectors of {n_dims} and of {} numbers", self.model, vector.len());
                return Err(callsieve_llm::Error::Answer { url: self.client.base().to_owned(), what }.into());
            }
        }
        Ok(vectors)
    }

    fn n_dims(&self, cancelled: Cancelled<'_>) -> Result<usize, EmbedError> {
        if self.n_dims.get().is_none() {
            self.embeddings(&[PROBE], cancelled)?;
        }
        Ok(self.n_dims.get().copied().unwrap_or(0))
    }
}

impl Embedder for Endpoint {
    fn id(&self) -> String {
        format!("endpoint-{}-{}-v1", self.model, self.client.base())
    }

    fn embed(&self, texts: &[&str], cancelled: Cancelled<'_>) -> Result<Vectors, EmbedError> {
        if texts.is_empty() {
            return Ok(Vectors::default());
        }
        let full: Vec<usize> = (0..texts.len()).filter(|&at| !texts[at].trim().is_empty()).collect();
        let sent: Vec<&str> = full.iter().map(|&at| texts[at]).collect();
        let vectors = self.embeddings(&sent, cancelled)?;
        let n_dims = self.n_dims(cancelled)?;
        let mut values = vec![0.0; texts.len() * n_dims];
        for (at, mut vector) in full.into_iter().zip(vectors) {
            to_unit_length(&mut vector);
            values[at * n_dims..][..n_dims].copy_from_slice(&vector);
        }
        Ok(Vectors::new(n_dims, values))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use callsieve_llm::client::RetryPolicy;
    use callsieve_testkit::server::{Reply, Server};

    /// Starts a server that returns a vector per text, with a number of dimensions by request number.
    fn server(dims: fn(usize) -> usize) -> Server {
        Server::start(move |request, number| {
            let texts: Vec<String> = serde_json::from_value(request.json()["input"].clone()).unwrap();
            assert!(texts.iter().all(|text| !text.is_empty()));
            let data: Vec<Value> = texts
                .iter()
                .enumerate()
                .map(|(at, text)| json!({"index": at, "embedding": vec![text.len(); dims(number)]}))
                .collect();
            Reply::new(200, json!({ "data": data }).to_string())
        })
    }

    fn endpoint(server: &Server) -> Endpoint {
        Endpoint::new(Client::new(&server.url, None, RetryPolicy::default()).unwrap(), "m")
    }

    #[test]
    fn empty_texts_are_zero_rows_and_are_not_sent() {
        let server = server(|_| 4);
        let endpoint = endpoint(&server);
        let vectors = endpoint.embed(&["", "abc", " \n", "a"], &|| false).unwrap();
        let (zero, unit) = ([0.0; 4], [0.5; 4]);
        assert_eq!(vectors, Vectors::new(4, [zero, unit, zero, unit].concat()));
        assert_eq!(server.requests()[0].json()["input"], json!(["abc", "a"]));
        assert!(server.requests()[0].header("authorization").is_none());
        assert_eq!(endpoint.id(), format!("endpoint-m-{}-v1", server.url));
    }

    #[test]
    fn the_dimensions_of_only_empty_texts_are_requested() {
        let server = server(|_| 3);
        let vectors = endpoint(&server).embed(&["", ""], &|| false).unwrap();
        assert_eq!(vectors, Vectors::new(3, vec![0.0; 6]));
        assert!(endpoint(&server).embed(&[], &|| false).unwrap().is_empty());
        assert_eq!(server.requests().len(), 1);
    }

    #[test]
    fn vectors_of_two_lengths_are_refused() {
        let server = server(|number| 2 + number);
        let endpoint = endpoint(&server);
        endpoint.embed(&["a"], &|| false).unwrap();
        let error = endpoint.embed(&["b"], &|| false).unwrap_err().to_string();
        assert!(error.contains("m returned vectors of 2 and of 3 numbers"), "{error}");
    }
}
