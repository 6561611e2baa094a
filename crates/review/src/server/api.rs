//! The requests of the page: JSON in, JSON out.
//!
//! Reading rows and writing decisions wait for the disk, so they run on threads of their own.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::guard::{Guard, guard};
use super::page;
use super::review::{Refusal, Review};

/// Largest body of a request, in bytes.
pub(super) const MAX_BODY_BYTES: usize = 1 << 20;

type App = State<Arc<Review>>;

pub(super) fn router(review: Arc<Review>, guard_state: Guard) -> Router {
    Router::new()
        .route("/", get(document))
        .route("/favicon.ico", get(|| async { StatusCode::NO_CONTENT }))
        .route("/api/state", get(|State(review): App| run(move || Ok(review.state()))))
        .route("/api/item", get(item))
        .route("/api/groups", get(groups))
        .route("/api/disagreements", get(|State(review): App| run(move || review.disagreements())))
        .route("/api/decide", post(decide))
        .route("/api/decide-group", post(decide_group))
        .route("/api/undo", post(|State(review): App| run(move || review.undo())))
        .route("/api/check", post(check))
        .with_state(review)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(from_fn_with_state(guard_state, guard))
}

async fn document() -> Response {
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], page::page()).into_response()
}

async fn item(State(review): App, RawQuery(query): RawQuery) -> Response {
    let Ok(at) = parameter(query.as_deref(), "at").map(str::parse).transpose() else {
        return respond(Err(Refusal::new(StatusCode::BAD_REQUEST, "expected at=NUMBER")));
    };
    run(move || review.item(at)).await
}

async fn groups(State(review): App, RawQuery(query): RawQuery) -> Response {
    run(move || match parameter(query.as_deref(), "key") {
        Some(key) => review.group(key),
        None => Ok(review.groups()),
    })
    .await
}

async fn decide(State(review): App, headers: HeaderMap, body: Bytes) -> Response {
    run(move || review.decide(parsed(&headers, &body)?)).await
}

async fn decide_group(State(review): App, headers: HeaderMap, body: Bytes) -> Response {
    run(move || review.decide_group(parsed(&headers, &body)?)).await
}

async fn check(State(review): App, headers: HeaderMap, body: Bytes) -> Response {
    run(move || review.check(&parsed(&headers, &body)?)).await
}

/// Returns a parameter of a query. Places and group keys need no decoding.
fn parameter<'a>(query: Option<&'a str>, name: &str) -> Option<&'a str> {
    let mut pairs = query?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

fn parsed<T: DeserializeOwned>(headers: &HeaderMap, body: &[u8]) -> Result<T, Refusal> {
    if headers.get(CONTENT_TYPE).is_none_or(|found| found != "application/json") {
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected application/json"));
    }
    serde_json::from_slice(body).map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))
}

/// Runs what waits for the disk. It is finished even if the page is closed meanwhile.
async fn run(work: impl FnOnce() -> Result<Value, Refusal> + Send + 'static) -> Response {
    let panicked = |_| {
        let error = "internal error (please report it): a request panicked";
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error))
    };
    respond(tokio::task::spawn_blocking(work).await.unwrap_or_else(panicked))
}

fn respond(answer: Result<Value, Refusal>) -> Response {
    let (status, body) = match answer {
        Ok(value) => (StatusCode::OK, value),
        Err(Refusal { status, error, notes }) => (status, json!({"error": error, "notes": notes})),
    };
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
