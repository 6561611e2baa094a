//! Sends requests with limited concurrency, and retries them.
//!
//! The complete response is read here, so that an interrupted one is retried. The sender replaces
//! the retries of `async-openai`, which do not support plain-text errors and requested waits.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Request, Response, StatusCode, Url};
use tokio::sync::Semaphore;

use super::Error;
use super::key::Key;
use super::limits::Limits;
use super::redirects::{self, Redirects};
use super::retry::{RetryPolicy, is_retryable};
use super::secrets::{Hidden, Secrets};
use super::{tls, tokens};

/// Maximum length of a response with status 200 that may be an error, in bytes.
const MAX_ERROR_BYTES: usize = 10_000;

/// Maximum length of a response, in bytes.
const MAX_BODY: usize = 256 << 20;

/// Why a reply is not used in which a short key cannot be told from a word.
const EXPOSED: &str = "the reply has a word that is the same as the API key, and the key must not be in any file; a longer key \
    cannot be taken for a word";

tokio::task_local! {
    /// What the request of a task takes of the limits of the server.
    pub(super) static DEMAND: Demand;
    /// The seconds that the last attempt of a request took, for a task that measures them.
    pub(super) static SECONDS: Cell<f64>;
}

/// What a request takes of the limits of a server.
#[derive(Debug, Clone, Default)]
pub(super) struct Demand {
    /// The model: each has its own limits. Empty for requests to no model.
    pub(super) model: String,
    /// The tokens that the request takes at most, with its answer.
    pub(super) tokens: u64,
}

/// The sender of requests. Clones are cheap and share the limit of concurrent requests.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) http: reqwest::Client,
    pub(super) key: Option<Key>,
    /// The key, and the secrets of the address.
    secrets: Arc<Secrets>,
    /// The parameters of the address, which every request has.
    parameters: Option<Arc<str>>,
    pub(super) policy: RetryPolicy,
    permits: Arc<Semaphore>,
    /// No request is sent before this time: the server asked one of them to wait.
    pause: Arc<Mutex<Instant>>,
    /// By model.
    limits: Arc<Mutex<BTreeMap<String, Arc<Limits>>>>,
}

/// A complete response.
struct FullResponse {
    /// The address that responded.
    url: Url,
    status: StatusCode,
    headers: HeaderMap,
    /// Without secrets.
    body: Vec<u8>,
    /// Whether the body has words that may be the key.
    is_exposed: bool,
}

impl Sender {
    /// Returns the sender of requests to a server, whose address may have parameters and secrets.
    pub(super) fn of_server(url: &Url, key: Option<Key>, policy: RetryPolicy) -> Result<Self, Error> {
        let sender = Self::new(key, Some(url), policy, Redirects::SameServer)?;
        Ok(Self { parameters: url.query().filter(|query| !query.is_empty()).map(Arc::from), ..sender })
    }

    /// Returns a sender that sends no texts, only requests for public files.
    pub(super) fn of_downloads(key: Option<Key>, policy: RetryPolicy) -> Result<Self, Error> {
        Self::new(key, None, policy, Redirects::AnyServer)
    }

    fn new(
        key: Option<Key>,
        url: Option<&Url>,
        policy: RetryPolicy,
        redirects: Redirects,
    ) -> Result<Self, Error> {
        let http = reqwest::Client::builder().connect_timeout(policy.timeout).read_timeout(policy.timeout);
        // The address of a request can have secrets.
        let http = http.redirect(redirects.policy()).referer(false);
        let http = http.tls_backend_preconfigured(tls::config()?);
        let http = http.build().map_err(|error| Error::Setting(error.to_string()))?;
        let secrets = Arc::new(Secrets::of(key.as_ref().map(Key::text), url));
        let permits = Arc::new(Semaphore::new(policy.max_concurrent));
        let pause = Arc::new(Mutex::new(Instant::now()));
        Ok(Self { http, key, secrets, parameters: None, policy, permits, pause, limits: Arc::default() })
    }

    /// Returns a sender that sends each request once.
    pub(super) fn once_only(&self) -> Self {
        Self { policy: RetryPolicy { max_attempts: 1, ..self.policy.clone() }, ..self.clone() }
    }

    /// Sends a request that takes no tokens, and returns the body of the response.
    pub(super) async fn body_of(&self, factory: HttpRequestFactory) -> Result<Vec<u8>, Error> {
        Ok(DEMAND.scope(Demand::default(), self.answer(factory)).await?.body)
    }

    /// Sends a request, and retries it as long as the policy allows.
    async fn answer(&self, factory: HttpRequestFactory) -> Result<FullResponse, Error> {
        // The semaphore is never closed, so this cannot fail.
        let _permit = self.permits.acquire().await.ok();
        let mut n_attempts = 0;
        loop {
            n_attempts += 1;
            let request = factory.build().await.map_err(|error| Error::Setting(error.to_string()))?;
            let request = self.keyed(self.with_parameters(request));
            let url = public_url(request.url());
            let demand = DEMAND.try_with(Demand::clone).unwrap_or_else(|_| Demand {
                tokens: tokens::estimated(
                    request.body().and_then(|body| body.as_bytes()).map_or(0, <[u8]>::len),
                ),
                ..Demand::default()
            });
            let limits = self.limits_of(&demand.model);
            let admitted = limits.admit(demand.tokens, self.policy.max_wait).await;
            self.wait_for_pause().await;
            // Parts of a response that arrive slowly, one after the other, take no longer than this either.
            let outcome = match tokio::time::timeout(self.policy.deadline, self.once(request)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(format!("no complete response within {} s", self.policy.deadline.as_secs())),
            };
            match &outcome {
                Ok(answer) => admitted.answered(&answer.headers, answer.meant_status().is_success()),
                Err(_) => drop(admitted),
            }
            let wait = match &outcome {
                Ok(answer) if is_retryable(answer.meant_status(), &answer.text()) => {
                    self.policy.wait(n_attempts, Some(&answer.headers))
                }
                Ok(_) => None,
                Err(_) => self.policy.wait(n_attempts, None),
            };
            match (wait, outcome) {
                (Some(wait), outcome) => {
                    // All others would be refused as well.
                    if outcome.is_ok_and(|answer| answer.meant_status() == StatusCode::TOO_MANY_REQUESTS) {
                        self.pause_for(wait);
                    }
                    tokio::time::sleep(wait).await;
                }
                (None, Ok(answer)) if answer.meant_status().is_success() && answer.is_exposed => {
                    return Err(Error::Answer { url, what: EXPOSED.to_owned() });
                }
                (None, Ok(answer)) if answer.meant_status().is_success() => return Ok(answer),
                (None, Ok(answer)) => return Err(self.refused(url, &answer)),
                (None, Err(what)) => return Err(Error::Unreachable { url, what }),
            }
        }
    }

    fn limits_of(&self, model: &str) -> Arc<Limits> {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(limits.entry(model.to_owned()).or_default())
    }

    /// Lets no request of this client be sent for some time.
    fn pause_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut pause = self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        *pause = (*pause).max(until);
    }

    async fn wait_for_pause(&self) {
        loop {
            let until = *self.pause.lock().unwrap_or_else(PoisonError::into_inner);
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until.into()).await;
        }
    }

    /// Adds this client's key to a request, or removes any other.
    pub(super) fn keyed(&self, mut request: Request) -> Request {
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(key) = &self.key {
            request.headers_mut().insert(AUTHORIZATION, key.header());
        }
        request
    }

    /// Adds the parameters of the address to those of a request.
    fn with_parameters(&self, mut request: Request) -> Request {
        if let Some(parameters) = &self.parameters {
            let url = request.url_mut();
            let all = url.query().map_or_else(|| parameters.to_string(), |own| format!("{parameters}&{own}"));
            url.set_query(Some(&all));
        }
        request
    }

    async fn once(&self, request: Request) -> Result<FullResponse, String> {
        let start = Instant::now();
        let mut response = self.http.execute(request).await.map_err(|error| self.describe(error))?;
        let (url, status, headers) = (response.url().clone(), response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.describe(error))? {
            body.extend_from_slice(&part);
            if body.len() > MAX_BODY {
                return Err(format!("the response is longer than {} MiB", MAX_BODY >> 20));
            }
        }
        let body = without_halves(as_utf8(body));
        // Outside of such a task nobody reads it.
        let _ = SECONDS.try_with(|seconds| seconds.set(start.elapsed().as_secs_f64()));
        let Hidden { value: body, is_exposed } = self.secrets.hide_in(body);
        Ok(FullResponse { url, status, headers, body, is_exposed })
    }

    fn refused(&self, url: String, answer: &FullResponse) -> Error {
        if let Some(Error::Redirected { target, .. }) =
            redirects::error_of(&answer.url, answer.status, &answer.headers)
        {
            return Error::Redirected { url, target: self.secrets.hide(&target) };
        }
        let mut message = self.secrets.hide(answer.message().trim());
        if is_retryable(answer.meant_status(), &answer.text()) {
            message = format!("{}{message}", self.policy.told_wait(&answer.headers));
        }
        Error::Refused { url, status: answer.meant_status().as_u16(), message }
    }

    /// Returns a text without secrets.
    pub(super) fn hidden(&self, text: &str) -> String {
        self.secrets.hide(text)
    }

    /// Describes an error in one line, without secrets.
    pub(super) fn describe(&self, error: reqwest::Error) -> String {
        self.secrets.hide(&described(error))
    }
}

/// Describes an error in one line, without the address: the error and its root cause.
pub(super) fn described(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(deeper) = cause {
        text = format!("{error}: {deeper}");
        cause = deeper.source();
    }
    text
}

/// Removes a byte order mark, and replaces bytes that are not UTF-8 by U+FFFD: a reply must not be lost, and paid again, because of one.
fn as_utf8(mut body: Vec<u8>) -> Vec<u8> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    if body.starts_with(MARK) {
        body.drain(..MARK.len());
    }
    match String::from_utf8(body) {
        Ok(text) => text.into_bytes(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into_bytes(),
    }
}

/// Replaces escaped halves of surrogate pairs in JSON, which no text here can hold, by U+FFFD: a reply must not be lost, and
/// paid again, because of one.
fn without_halves(mut body: Vec<u8>) -> Vec<u8> {
    let unit = |body: &[u8], at: usize| -> Option<u32> {
        let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(next) = memchr::memchr(b'\\', &body[at..]) {
        at += next;
        at += match unit(&body, at) {
            Some(0xd800..0xdc00) if matches!(unit(&body, at + 6), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                body[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            // Also the second of two backslashes.
            _ => 2,
        };
        if at >= body.len() {
            break;
        }
    }
    body
}

/// Returns an address without user, password and parameters, which may be secret.
pub(super) fn public_url(url: &Url) -> String {
    let mut url = url.clone();
    // Both only fail for addresses that cannot have user and password.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

impl FullResponse {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the status, or the code of an error that a gateway sends with status 200.
    fn meant_status(&self) -> StatusCode {
        let of_error = || {
            let body: serde_json::Value = serde_json::from_slice(&self.body).ok()?;
            let code = body.get("error")?.get("code")?.as_u64()?;
            let status = StatusCode::from_u16(u16::try_from(code).ok()?).ok()?;
            (status.is_client_error() || status.is_server_error()).then_some(status)
        };
        let may_be_error = self.status.is_success() && self.body.len() <= MAX_ERROR_BYTES;
        Some(self.status).filter(|_| !may_be_error).or_else(of_error).unwrap_or(self.status)
    }

    /// Returns the message of an error, in any of the common places.
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
        Box::pin(async move { Ok(sender.answer(factory).await?.into_response()) })
    }
}

impl From<Error> for OpenAIError {
    fn from(error: Error) -> Self {
        Self::Boxed(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_removed_and_bytes_that_are_no_text_are_replaced() {
        for (body, expected) in [
            (&b"\xef\xbb\xbf{}"[..], "{}"),
            (b"\"a\xffb\xc3\"", "\"a\u{fffd}b\u{fffd}\""),
            ("\"é\"".as_bytes(), "\"é\""),
        ] {
            assert_eq!(String::from_utf8(as_utf8(body.to_vec())).unwrap(), expected);
        }
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else() {
        for (body, expected) in [
            (r#"{"a": "\ud800"}"#, r#"{"a": "\ufffd"}"#),
            (r#"{"a": "\udc00x\uD83D"}"#, r#"{"a": "\ufffdx\ufffd"}"#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""\u00e9 \n \""#, r#""\u00e9 \n \""#),
            (r"\ud8", r"\ud8"),
            ("\\", "\\"),
        ] {
            assert_eq!(String::from_utf8(without_halves(body.into())).unwrap(), expected, "{body}");
        }
    }
}
