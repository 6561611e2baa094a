//! The batch service of a server: upload a file, create a batch, look at it, download its answers.
//!
//! The paths are those of OpenAI: `/files` and `/batches`. A batch that is created is paid for, so its creation is never simply
//! sent again: after a request without an answer the list of batches shows whether it was accepted.

use std::sync::Arc;

use async_openai::middleware::HttpRequestFactory;
use reqwest::header::CONTENT_TYPE;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::super::Error;
use super::super::client::Client;
use super::super::sender::Sender;
use callsieve_engine::context::Cancelled;
use callsieve_text::outside::shortened;

/// The endpoint of the requests of a batch.
const ENDPOINT: &str = "/v1/chat/completions";

/// The time that the service has for its answers; no other is offered.
const WINDOW: &str = "24h";

/// The member of a batch's metadata that has our id of it.
const OUR_ID: &str = "callsieve";

/// Batches of the list that are looked through for one of ours, and batches of one page.
const MAX_PAGES: usize = 20;
const PAGE: usize = 100;

/// A batch as the server describes it. Servers leave out what they do not know.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RemoteBatch {
    /// Its id on the server.
    pub id: String,
    /// Its state, in the server's word.
    pub status: String,
    /// The file of its requests.
    pub input_file_id: Option<String>,
    /// The file of its answers.
    pub output_file_id: Option<String>,
    /// The file of its failed requests.
    pub error_file_id: Option<String>,
    /// How many requests ended.
    pub request_counts: Option<RequestCounts>,
    errors: Value,
    metadata: Value,
}

/// How many requests of a batch ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct RequestCounts {
    /// All.
    #[serde(deserialize_with = "number")]
    pub total: u64,
    /// Those with an answer.
    #[serde(deserialize_with = "number")]
    pub completed: u64,
    /// Those that failed.
    #[serde(deserialize_with = "number")]
    pub failed: u64,
}

/// Reads a number that servers write in several ways; 0 if it is none.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(from)?;
    let text = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
    let whole = text.strip_suffix(".0").unwrap_or(&text);
    Ok(whole.parse().unwrap_or(0))
}

impl RemoteBatch {
    /// Returns whether nothing more will be answered.
    pub fn has_ended(&self) -> bool {
        ["completed", "failed", "expired", "cancelled"].contains(&self.status.as_str())
    }

    /// Returns why the batch failed, the first reasons.
    pub fn errors(&self) -> Vec<String> {
        let list = self.errors["data"].as_array().into_iter().flatten();
        let described = list.filter_map(|error| {
            let message = shortened(error["message"].as_str()?);
            Some(match error["line"].as_u64() {
                Some(line) => format!("line {line}: {message}"),
                None => message.into_owned(),
            })
        });
        described.take(3).collect()
    }
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    data: Vec<RemoteBatch>,
    #[serde(default)]
    has_more: bool,
}

impl Client {
    /// Uploads the requests of a batch, and returns the id of the file.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or it is cancelled.
    pub fn upload(&self, name: &str, requests: &str, cancelled: Cancelled<'_>) -> Result<String, Error> {
        let boundary = format!("callsieve-{}", name.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let form: Arc<[u8]> = multipart(&boundary, name, requests).into();
        let request = self.request(reqwest::Method::POST, "files", move |request| {
            let kind = format!("multipart/form-data; boundary={boundary}");
            request.header(CONTENT_TYPE, kind).body(form.to_vec())
        });
        let file: Value = self.json("files", self.sender(), request, cancelled)?;
        let id = file["id"].as_str().filter(|id| is_id(id));
        id.map(str::to_owned).ok_or_else(|| self.unlike("files", "the response has no id of a file"))
    }

    /// Creates a batch of an uploaded file. The request is sent once: after an error it is not known whether it was accepted,
    /// unless the server refused.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or it is cancelled.
    pub fn create_batch(
        &self,
        file: &str,
        our_id: &str,
        cancelled: Cancelled<'_>,
    ) -> Result<RemoteBatch, Error> {
        let body = json!({"input_file_id": file, "endpoint": ENDPOINT, "completion_window": WINDOW,
            "metadata": {OUR_ID: our_id}});
        let request = self.request(reqwest::Method::POST, "batches", move |request| {
            request.header(CONTENT_TYPE, "application/json").body(body.to_string())
        });
        self.batch(self.sender().once_only(), request, cancelled)
    }

    /// Returns a batch.
    ///
    /// # Errors
    /// The server cannot be reached or does not know it, or it is cancelled.
    pub fn find_batch(&self, id: &str, cancelled: Cancelled<'_>) -> Result<RemoteBatch, Error> {
        let request = self.request(reqwest::Method::GET, &format!("batches/{id}"), |request| request);
        self.batch(self.sender(), request, cancelled)
    }

    /// Returns the batch that was created of a file, or with our id, if the server has one among its latest.
    ///
    /// # Errors
    /// The server cannot be reached or has no list, or it is cancelled.
    pub fn find_ours(
        &self,
        file: &str,
        our_id: &str,
        cancelled: Cancelled<'_>,
    ) -> Result<Option<RemoteBatch>, Error> {
        let mut after = String::new();
        for _ in 0..MAX_PAGES {
            let path = format!("batches?limit={PAGE}{after}");
            let request = self.request(reqwest::Method::GET, &path, |request| request);
            let page: Page = self.json("batches", self.sender(), request, cancelled)?;
            let is_ours = |batch: &&RemoteBatch| {
                batch.metadata[OUR_ID] == our_id || batch.input_file_id.as_deref() == Some(file)
            };
            if let Some(batch) = page.data.iter().find(is_ours) {
                return Ok(Some(batch.clone()));
            }
            match page.data.last() {
                Some(last) if page.has_more && is_id(&last.id) => after = format!("&after={}", last.id),
                _ => break,
            }
        }
        Ok(None)
    }

    /// Returns the content of a file.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or it is cancelled.
    pub fn download_file(&self, id: &str, cancelled: Cancelled<'_>) -> Result<Vec<u8>, Error> {
        if !is_id(id) {
            return Err(self.unlike("files", "the id of a file has characters of no id"));
        }
        let path = format!("files/{id}/content");
        let request = self.request(reqwest::Method::GET, &path, |request| request);
        self.bytes(self.sender(), request, cancelled)
    }

    fn request(
        &self,
        method: reqwest::Method,
        path: &str,
        fill: impl Fn(reqwest::RequestBuilder) -> reqwest::RequestBuilder + Send + Sync + 'static,
    ) -> HttpRequestFactory {
        let (http, url) = (self.sender().http, self.url(path));
        HttpRequestFactory::new(move || {
            let request = fill(http.request(method.clone(), &url)).build();
            async move { Ok(request?) }
        })
    }

    fn batch(
        &self,
        sender: Sender,
        request: HttpRequestFactory,
        cancelled: Cancelled<'_>,
    ) -> Result<RemoteBatch, Error> {
        let mut batch: RemoteBatch = self.json("batches", sender, request, cancelled)?;
        batch.status = shortened(&batch.status).into_owned();
        if is_id(&batch.id) {
            Ok(batch)
        } else {
            Err(self.unlike("batches", "the response has no id of a batch"))
        }
    }

    fn json<T: serde::de::DeserializeOwned>(
        &self,
        resource: &str,
        sender: Sender,
        request: HttpRequestFactory,
        cancelled: Cancelled<'_>,
    ) -> Result<T, Error> {
        let bytes = self.bytes(sender, request, cancelled)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| self.unlike(resource, &format!("the response cannot be read: {error}")))
    }

    fn bytes(
        &self,
        sender: Sender,
        request: HttpRequestFactory,
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<u8>, Error> {
        let answer = self.send_all(vec![async move { sender.body_of(request).await }], cancelled)?;
        Ok(answer.into_iter().next().unwrap_or_default())
    }

    fn unlike(&self, resource: &str, what: &str) -> Error {
        Error::Answer { url: self.address(resource), what: what.to_owned() }
    }
}

/// Returns whether a text can be the id of a file or batch, which becomes a part of an address.
fn is_id(text: &str) -> bool {
    (1..=200).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

fn multipart(boundary: &str, name: &str, requests: &str) -> Vec<u8> {
    format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/jsonl\r\n\r\n{requests}\r\n--{boundary}--\r\n"
    )
    .into_bytes()
}
