//! Which requests are answered, and the headers of all responses.
//!
//! Other programs and web pages on this machine can reach the port. A request needs the token, in a cookie that pages of other sites
//! cannot send; the `Host` of this server, so that a foreign name that points here is refused (DNS rebinding); and, unless it only reads,
//! the `Origin` of this server. Everything else is answered with 403 and without a reason.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, LOCATION, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::page;

/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// What a request must have.
#[derive(Clone)]
pub(super) struct Guard {
    token: Arc<str>,
    /// Browsers send cookies to all ports of a host, so that servers on two ports need two names.
    cookie: Arc<str>,
    hosts: Arc<[String; 2]>,
}

impl Guard {
    /// Makes a random token for a port.
    pub(super) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let mut token = String::new();
        for byte in bytes {
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self {
            token: token.into(),
            cookie: format!("callsieve_review_{port}").into(),
            hosts: Arc::new([format!("127.0.0.1:{port}"), format!("localhost:{port}")]),
        })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the host of a request that is one of this server.
    fn host<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        only(headers, &HOST).filter(|host| self.hosts.iter().any(|known| known == host))
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|all| all.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == &*self.cookie && self.is_token(value))
    }

    /// Compares all bytes, so that the time tells nothing about the token.
    fn is_token(&self, text: &str) -> bool {
        let differs =
            self.token.bytes().zip(text.bytes()).fold(0, |differs, (one, other)| differs | (one ^ other));
        text.len() == self.token.len() && differs == 0
    }

    fn is_allowed(&self, method: &Method, path: &str, headers: &HeaderMap) -> bool {
        let Some(host) = self.host(headers) else { return false };
        let is_reading = method == Method::GET || method == Method::HEAD;
        let is_own_origin =
            || only(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://")) == Some(host);
        // Sent by browsers only, and true there.
        let site = headers.get(HeaderName::from_static("sec-fetch-site"));
        let is_own_site = site.is_none_or(|site| site == "same-origin" || site == "none");
        self.has_cookie(headers)
            && (is_reading || is_own_origin())
            && (!path.starts_with("/api/") || is_own_site)
    }

    /// Whether the query of the first page load has the token.
    fn is_first_load(&self, request: &Request) -> bool {
        let token = request.uri().query().and_then(|query| query.strip_prefix("token="));
        request.method() == Method::GET
            && request.uri().path() == "/"
            && self.host(request.headers()).is_some()
            && token.is_some_and(|token| self.is_token(token))
    }
}

/// Returns a header that the request has once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

/// Answers only allowed requests, and adds the headers of all responses.
pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = if guard.is_first_load(&request) {
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", guard.cookie, guard.token);
        (StatusCode::SEE_OTHER, [(LOCATION, "/".to_owned()), (SET_COOKIE, cookie)]).into_response()
    } else if guard.is_allowed(request.method(), request.uri().path(), request.headers()) {
        next.run(request).await
    } else {
        let text = "Not allowed. Open the address that the program printed.\n";
        (StatusCode::FORBIDDEN, [(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::policy()));
    response
}
