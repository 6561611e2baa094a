//! Calls of APIs that a user allows: one request, and one bounded answer.
//!
//! A request is sent only to a host on the list, also after a redirect: one to another host is not followed, and is part of the
//! answer. Requests keep a distance in time, redirected ones too, and nothing is sent twice. Headers that the user adds are
//! secret: what a server repeats of them is hidden, as with keys of language models. What an answer means is not known here.

mod hosts;

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use callsieve_engine::context::Cancelled;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, Url};
use tokio::runtime::Runtime;

use super::Error;
use super::client::runtime;
use super::secrets::{Hidden, Secrets};
use super::sender::{described, public_url};
use super::tls;
pub use hosts::{AllowedHost, AllowedHosts, Denied};

/// Interval of the checks for cancellation.
const POLL: Duration = Duration::from_millis(50);

/// The longest time between two requests.
const MAX_DISTANCE: Duration = Duration::from_hours(1);

/// Most redirects of one call.
const MAX_REDIRECTS: usize = 4;

/// The longest media type that is kept, in bytes.
const MAX_CONTENT_TYPE: usize = 200;

/// What is preferred as an answer.
const ACCEPTED: &str = "application/json, */*;q=0.5";

/// A header that each request has. Its value is never shown.
#[derive(Clone)]
pub struct SecretHeader {
    name: HeaderName,
    value: HeaderValue,
    secret: String,
}

impl SecretHeader {
    /// Returns a header with a value that starts with `prefix`, such as `Bearer `, and ends with a secret.
    ///
    /// # Errors
    /// The name or the value cannot be sent. The message has neither.
    pub fn new(name: &str, prefix: &str, secret: &str) -> Result<Self, Error> {
        let fault = |what: &str| {
            Error::Setting(format!("the {what} of a header contains characters that cannot be sent"))
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault("name"))?;
        let mut value = HeaderValue::from_str(&format!("{prefix}{secret}")).map_err(|_| fault("value"))?;
        value.set_sensitive(true);
        Ok(Self { name, value, secret: secret.to_owned() })
    }
}

impl std::fmt::Debug for SecretHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SecretHeader").field(&self.name).finish()
    }
}

/// Limits of calls.
#[derive(Debug, Clone)]
pub struct CallLimits {
    /// The most requests in a second; higher than 0.
    pub per_second: f64,
    /// The longest time of a request, from its start to the end of the answer.
    pub timeout: Duration,
    /// The most bytes of a body.
    pub max_bytes: usize,
}

/// A request.
#[derive(Debug, Clone, Copy)]
pub struct Request<'r> {
    /// The method in capitals.
    pub method: &'r str,
    /// The address with the query.
    pub address: &'r str,
    /// Further headers.
    pub headers: &'r [(String, String)],
    /// The media type of the body and the body.
    pub body: Option<(&'r str, &'r str)>,
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The server answered.
    Answered(Answer),
    /// There was no complete answer, for this reason.
    Unanswered(String),
}

/// An answer. It has none of the secrets of the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The media type as the server writes it, shortened.
    pub content_type: Option<String>,
    /// The body.
    pub body: Body,
    /// The bytes of the body; of one that is too large what the server states, or one more than the limit.
    pub size: u64,
    /// Where the answer redirects to, without parameters, if that was not followed.
    pub redirect: Option<String>,
    /// From the start of the last request to the end of the answer.
    pub latency: Duration,
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A text, which may be empty.
    Text(String),
    /// It is larger than the limit, and was not read to its end.
    TooLarge,
    /// It is no text in UTF-8.
    NotText,
    /// It has words that may be a secret of the request.
    Withheld,
}

/// The client of the APIs that a user allows.
pub struct Caller {
    http: Client,
    runtime: Runtime,
    hosts: AllowedHosts,
    headers: Vec<SecretHeader>,
    secrets: Secrets,
    limits: CallLimits,
    /// When the next request may be sent.
    next: Mutex<Instant>,
}

/// What one request gave.
enum Step {
    Done(Outcome),
    Redirected(Url),
}

impl Caller {
    /// Returns a client that sends these headers with each request.
    ///
    /// # Errors
    /// The HTTP client or its runtime cannot be created.
    pub fn new(hosts: AllowedHosts, headers: Vec<SecretHeader>, limits: CallLimits) -> Result<Self, Error> {
        // The address of a request can have secrets.
        let http = Client::builder().redirect(Policy::none()).referer(false);
        let http = http.user_agent(concat!("callsieve/", env!("CARGO_PKG_VERSION")));
        let http = http.tls_backend_preconfigured(tls::config()?);
        let http = http.build().map_err(|error| Error::Setting(error.to_string()))?;
        let secrets = Secrets::of_texts(headers.iter().map(|header| header.secret.clone()));
        let next = Mutex::new(Instant::now());
        Ok(Self { http, runtime: runtime()?, hosts, headers, secrets, limits, next })
    }

    /// Sends a request, and waits for its answer.
    ///
    /// # Errors
    /// Only [`Error::Interrupted`].
    pub fn send(&self, request: &Request<'_>, cancelled: Cancelled<'_>) -> Result<Outcome, Error> {
        self.runtime.block_on(async {
            let mut call = pin!(self.call(request));
            loop {
                if cancelled() {
                    return Err(Error::Interrupted);
                }
                if let Ok(outcome) = tokio::time::timeout(POLL, call.as_mut()).await {
                    return Ok(outcome);
                }
            }
        })
    }

    async fn call(&self, request: &Request<'_>) -> Outcome {
        let mut url = match self.hosts.permit(request.address) {
            Ok(url) => url,
            Err(denied) => return Outcome::Unanswered(denied.to_string()),
        };
        for n_redirects in 0.. {
            self.keep_distance().await;
            let may_follow = n_redirects < MAX_REDIRECTS;
            let step = tokio::time::timeout(self.limits.timeout, self.once(request, &url, may_follow)).await;
            match step {
                Ok(Ok(Step::Done(outcome))) => return outcome,
                Ok(Ok(Step::Redirected(target))) => url = target,
                Ok(Err(what)) => return Outcome::Unanswered(self.secrets.hide(&what)),
                Err(_) => break,
            }
        }
        let seconds = self.limits.timeout.as_secs_f64();
        Outcome::Unanswered(format!("no complete answer within {seconds} s"))
    }

    /// Waits until the next request may be sent.
    async fn keep_distance(&self) {
        let at = {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let at = (*next).max(Instant::now());
            *next = at + Duration::try_from_secs_f64(1.0 / self.limits.per_second).unwrap_or(MAX_DISTANCE);
            at
        };
        tokio::time::sleep_until(at.into()).await;
    }

    async fn once(&self, request: &Request<'_>, url: &Url, may_follow: bool) -> Result<Step, String> {
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|error| error.to_string())?;
        let reads_only = [Method::GET, Method::HEAD].contains(&method);
        let is_head = method == Method::HEAD;
        let mut builder = self.http.request(method, url.clone()).headers(self.headers(request)?);
        if let Some((kind, body)) = request.body {
            builder = builder.header(CONTENT_TYPE, kind).body(body.to_owned());
        }
        let start = Instant::now();
        let mut response = builder.send().await.map_err(described)?;
        let redirect = target(&response);
        if let Some(target) = &redirect
            && may_follow
            && reads_only
            && self.hosts.follows(url, target)
        {
            return Ok(Step::Redirected(target.clone()));
        }
        let (body, size) =
            if is_head { (Body::Text(String::new()), 0) } else { self.body(&mut response).await? };
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let content_type = content_type.map(|kind| self.secrets.hide(kind));
        Ok(Step::Done(Outcome::Answered(Answer {
            status: response.status().as_u16(),
            content_type: content_type.map(|kind| kind.chars().take(MAX_CONTENT_TYPE).collect()),
            body,
            size,
            redirect: redirect.map(|target| self.secrets.hide(&public_url(&target))),
            latency: start.elapsed(),
        })))
    }

    fn headers(&self, request: &Request<'_>) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in request.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
            headers.insert(name, HeaderValue::from_str(value).map_err(|error| error.to_string())?);
        }
        // The user's own headers win over those of the API's file.
        for header in &self.headers {
            headers.insert(header.name.clone(), header.value.clone());
        }
        Ok(headers)
    }

    /// Reads the body, but not beyond the limit, and returns it with its size.
    async fn body(&self, response: &mut Response) -> Result<(Body, u64), String> {
        let max_bytes = self.limits.max_bytes;
        let limit = max_bytes as u64;
        if let Some(stated) = response.content_length().filter(|stated| *stated > limit) {
            return Ok((Body::TooLarge, stated));
        }
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(described)? {
            body.extend_from_slice(&part);
            if body.len() > max_bytes {
                return Ok((Body::TooLarge, limit + 1));
            }
        }
        let size = body.len() as u64;
        let Hidden { value, is_exposed } = self.secrets.hide_in(body);
        let body = match String::from_utf8(value) {
            _ if is_exposed => Body::Withheld,
            Ok(text) => Body::Text(text),
            Err(_) => Body::NotText,
        };
        Ok((body, size))
    }
}

/// Returns where a response redirects to.
fn target(response: &Response) -> Option<Url> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    response.url().join(location.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests;
