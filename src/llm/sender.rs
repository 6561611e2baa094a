//! Sends requests: so many at a time, each again as long as that may help.
//!
//! The whole answer is read here, so that one that breaks off is asked for again. It stands
//! below `async-openai`, whose own retrying knows neither plain texts nor times.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Request, Response, StatusCode, Url};
use tokio::sync::Semaphore;

use super::Error;
use super::key::Key;
use super::retry::{Patience, is_passing};

/// Characters of a server's words that an error repeats.
const MAX_MESSAGE_CHARS: usize = 300;

/// What sends; cheap to clone, and all clones count together.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) http: reqwest::Client,
    pub(super) key: Option<Key>,
    pub(super) patience: Patience,
    permits: Arc<Semaphore>,
}

/// An answer that has come to its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Sender {
    pub(super) fn new(key: Option<Key>, patience: Patience) -> Result<Self, Error> {
        let http =
            reqwest::Client::builder().connect_timeout(patience.timeout).read_timeout(patience.timeout);
        let http = http.build().map_err(|error| Error::Setting(error.to_string()))?;
        let permits = Arc::new(Semaphore::new(patience.max_concurrent));
        Ok(Self { http, key, patience, permits })
    }

    /// Sends a request until it is answered or it does not help any more.
    async fn send(&self, factory: HttpRequestFactory) -> Result<Response, Error> {
        // Never closed, so there always is a permit to wait for.
        let _permit = self.permits.acquire().await.ok();
        let mut n_attempts = 0;
        loop {
            n_attempts += 1;
            let request =
                self.keyed(factory.build().await.map_err(|error| Error::Setting(error.to_string()))?);
            let url = shown(request.url());
            let outcome = self.once(request).await;
            let wait = match &outcome {
                Ok(answer) if is_passing(answer.status, &answer.text()) => {
                    self.patience.wait(n_attempts, Some(&answer.headers))
                }
                Ok(_) => None,
                Err(_) => self.patience.wait(n_attempts, None),
            };
            match (wait, outcome) {
                (Some(wait), _) => tokio::time::sleep(wait).await,
                (None, Ok(answer)) if answer.status.is_success() => return Ok(answer.into_response()),
                (None, Ok(answer)) => return Err(self.refused(url, &answer)),
                (None, Err(error)) => return Err(Error::Unreachable { url, what: self.told(error) }),
            }
        }
    }

    /// The request with this client's key, or without any.
    pub(super) fn keyed(&self, mut request: Request) -> Request {
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(key) = &self.key {
            request.headers_mut().insert(AUTHORIZATION, key.header());
        }
        request
    }

    async fn once(&self, request: Request) -> Result<Answer, reqwest::Error> {
        let response = self.http.execute(request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Answer { status, headers, body: response.bytes().await?.to_vec() })
    }

    fn refused(&self, url: String, answer: &Answer) -> Error {
        let message = self.hide(answer.message().trim());
        let message = message.chars().take(MAX_MESSAGE_CHARS).collect();
        Error::Refused { url, status: answer.status.as_u16(), message }
    }

    /// An error of the client in one line: what went wrong, and at its bottom why.
    pub(super) fn told(&self, error: reqwest::Error) -> String {
        let error = error.without_url();
        let mut told = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(deeper) = cause {
            told = format!("{error}: {deeper}");
            cause = deeper.source();
        }
        self.hide(&told)
    }

    fn hide(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide(text))
    }
}

/// An address without its user, its password and its parameters, which may be secret.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that have none of it.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

impl Answer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The words of an error, wherever this server puts them.
    fn message(&self) -> String {
        let Ok(body) = serde_json::from_slice::<serde_json::Value>(&self.body) else { return self.text() };
        let places = ["/error/message", "/error", "/message", "/detail"];
        let found = places.iter().find_map(|place| body.pointer(place)?.as_str());
        found.map_or_else(|| self.text(), str::to_owned)
    }

    fn into_response(self) -> Response {
        let mut response = http::Response::new(self.body);
        *response.status_mut() = self.status;
        response.into()
    }
}

impl tower::Service<HttpRequestFactory> for Sender {
    type Response = Response;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let sender = self.clone();
        Box::pin(async move { sender.send(factory).await })
    }
}

impl From<Error> for OpenAIError {
    fn from(error: Error) -> Self {
        Self::Boxed(Box::new(error))
    }
}
