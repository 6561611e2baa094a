//! Uploads: JSON and files to a server that keeps files.

use std::collections::BTreeMap;
use std::path::Path;

use reqwest::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Body, Method, Request, StatusCode, Url};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::Error;
use super::client::{RetryPolicy, runtime};
use super::key::Key;
use super::retry::{Attempt, is_retryable, retried};
use super::sender::{Sender, public_url};

/// The longest answer that is read, in bytes.
const MOST_BYTES: usize = 16 << 20;
/// The most characters of an answer that an error quotes.
const MOST_QUOTED: usize = 300;

/// Sends JSON and files, one after the other.
pub struct Uploader {
    sender: Sender,
    runtime: Runtime,
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status: success, or one that the caller [expects](Uploader::ask).
    pub status: u16,
    /// The body; null if it is no JSON.
    pub body: Value,
}

/// What is sent.
#[derive(Clone, Copy)]
enum Content<'c> {
    None,
    Text { text: &'c str, kind: &'c str },
    File { path: &'c Path, headers: &'c BTreeMap<String, String> },
}

impl Uploader {
    /// Returns an uploader with a key for the server of [`ask`](Self::ask) and [`send`](Self::send).
    ///
    /// # Errors
    /// If the HTTP client cannot be created.
    pub fn new(key: Option<Key>, policy: RetryPolicy) -> Result<Self, Error> {
        Ok(Self { sender: Sender::of_downloads(key, policy)?, runtime: runtime()? })
    }

    /// Reads JSON from an address. A status of `expected` is an answer, too.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses.
    pub fn ask(&self, url: &str, expected: &[u16]) -> Result<Answer, Error> {
        self.request(&Method::GET, url, Content::None, expected)
    }

    /// Sends a text of a media type, with the key. A status of `expected` is an answer, too.
    ///
    /// # Errors
    /// If the server cannot be reached, or refuses.
    pub fn send(&self, url: &str, text: &str, kind: &str, expected: &[u16]) -> Result<Answer, Error> {
        self.request(&Method::POST, url, Content::Text { text, kind }, expected)
    }

    /// Sends a file to an address that the server named, with its headers and without the key.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses, or the file cannot be read.
    pub fn put(&self, url: &str, path: &Path, headers: &BTreeMap<String, String>) -> Result<(), Error> {
        self.request(&Method::PUT, url, Content::File { path, headers }, &[]).map(drop)
    }

    fn request(
        &self,
        method: &Method,
        url: &str,
        content: Content<'_>,
        expected: &[u16],
    ) -> Result<Answer, Error> {
        let url = Url::parse(url).map_err(|error| Error::Setting(format!("invalid address: {error}")))?;
        let attempt = async |number| self.attempt(method, &url, content, expected, number).await;
        self.runtime.block_on(retried(&|| false, attempt))
    }

    /// Tries once.
    async fn attempt(
        &self,
        method: &Method,
        url: &Url,
        content: Content<'_>,
        expected: &[u16],
        n_attempts: u32,
    ) -> Result<Attempt<Answer>, Error> {
        let again = |error: reqwest::Error| {
            let error = Error::Unreachable { url: public_url(url), what: self.sender.describe(error) };
            Ok(Attempt::Failed(error, self.sender.policy.wait(n_attempts, None)))
        };
        let request = self.built(method, url, content).await?;
        let response = match self.sender.http.execute(request).await {
            Ok(response) => response,
            Err(error) => return again(error),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let text = match read(response).await {
            Ok(text) => text,
            Err(error) => return again(error),
        };
        if status.is_success() || expected.contains(&status.as_u16()) {
            let body = serde_json::from_str(&text).unwrap_or_default();
            return Ok(Attempt::Done(Answer { status: status.as_u16(), body }));
        }
        let wait = self.sender.policy.wait(n_attempts, Some(&headers));
        let error = Error::Refused {
            url: public_url(url),
            status: status.as_u16(),
            message: format!(
                "{}{}",
                self.sender.policy.told_wait(&headers),
                self.sender.hidden(&said(status, &text))
            ),
        };
        Ok(Attempt::Failed(error, wait.filter(|_| is_retryable(status, ""))))
    }

    async fn built(&self, method: &Method, url: &Url, content: Content<'_>) -> Result<Request, Error> {
        let mut request = Request::new(method.clone(), url.clone());
        let program = HeaderValue::from_static(concat!("callsieve/", env!("CARGO_PKG_VERSION")));
        request.headers_mut().insert(USER_AGENT, program);
        let value = |text: &str| {
            HeaderValue::from_str(text).map_err(|error| Error::Setting(format!("invalid header: {error}")))
        };
        match content {
            Content::None => {}
            Content::Text { text, kind } => {
                request.headers_mut().insert(CONTENT_TYPE, value(kind)?);
                // Servers of large files have a media type of their own, in which they answer.
                let accepted = if kind.ends_with("+json") { kind } else { "*/*" };
                request.headers_mut().insert(ACCEPT, value(accepted)?);
                *request.body_mut() = Some(Body::from(text.to_owned()));
            }
            Content::File { path, headers } => {
                let failed = |cause| Error::File { path: path.to_owned(), cause };
                let file = tokio::fs::File::open(path).await.map_err(failed)?;
                let n_bytes = file.metadata().await.map_err(failed)?.len();
                for (name, text) in headers {
                    let name = HeaderName::from_bytes(name.as_bytes())
                        .map_err(|error| Error::Setting(format!("invalid header: {error}")))?;
                    request.headers_mut().insert(name, value(text)?);
                }
                // A server of stored files takes no file of unknown length.
                request.headers_mut().insert(CONTENT_LENGTH, n_bytes.into());
                *request.body_mut() = Some(Body::from(file));
                return Ok(request);
            }
        }
        Ok(self.sender.keyed(request))
    }
}

async fn read(mut response: reqwest::Response) -> Result<String, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(more) = response.chunk().await? {
        bytes.extend_from_slice(&more);
        if bytes.len() > MOST_BYTES {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What a server says about a refusal.
fn said(status: StatusCode, text: &str) -> String {
    let body: Value = serde_json::from_str(text).unwrap_or_default();
    let said = ["error", "message"].iter().find_map(|key| body[*key].as_str());
    let said = said.unwrap_or_else(|| status.canonical_reason().unwrap_or("refused"));
    said.chars().take(MOST_QUOTED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use callsieve_testkit::server::{Reply, Server};

    fn uploader() -> Uploader {
        Uploader::new(Some(Key::new("hf-secret").unwrap()), RetryPolicy::fast()).unwrap()
    }

    #[test]
    fn a_busy_server_is_asked_again_and_a_refusal_says_why() {
        let server = Server::start(|request, number| match (request.path.as_str(), number) {
            ("/commit", 0) => Reply::new(503, "busy"),
            ("/commit", _) => Reply::new(200, r#"{"commitOid": "c"}"#),
            ("/create", _) => Reply::new(409, r#"{"error": "it exists"}"#),
            _ => Reply::new(403, r#"{"error": "hf-secret may not write"}"#),
        });
        let send = |path: &str, expected: &[u16]| {
            uploader().send(&format!("{}{path}", server.url), "{}", "application/json", expected)
        };
        assert_eq!(send("/commit", &[]).unwrap().body["commitOid"], "c");
        assert_eq!(send("/create", &[409]).unwrap().status, 409);
        let error = send("/other", &[]).unwrap_err().to_string();
        assert!(error.contains("/other: HTTP status 403: ") && error.contains(" may not write"), "{error}");
        assert!(!error.contains("hf-secret"), "{error}");
        assert!(server.requests().iter().all(|it| it.header("authorization") == Some("Bearer hf-secret")));
    }

    #[test]
    fn a_file_is_sent_as_it_is_with_the_headers_of_its_address_and_without_the_key() {
        let server = Server::start(|_, _| Reply::new(200, ""));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"PAR1\0\xff").unwrap();
        let headers = BTreeMap::from([("x-part".to_owned(), "7".to_owned())]);
        uploader().put(&format!("{}/store?signature=s", server.url), &path, &headers).unwrap();
        let request = &server.requests()[0];
        assert_eq!((request.header("x-part"), request.header("authorization")), (Some("7"), None));
        assert_eq!((request.header("content-length"), &request.bytes[..]), (Some("6"), &b"PAR1\0\xff"[..]));
    }
}
