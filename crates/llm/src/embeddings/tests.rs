//! Tests of the client with a local server that behaves like real ones.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use super::super::client::RetryPolicy;
use super::super::key::Key;
use super::*;
use callsieve_testkit::server::{ReceivedRequest, Reply, Server};

const SECRET: &str = "sk-very-secret";

fn client(server: &Server) -> Client {
    let policy = RetryPolicy {
        max_attempts: 3,
        first_wait: Duration::from_millis(1),
        max_wait: Duration::from_secs(2),
        timeout: Duration::from_secs(5),
        max_concurrent: 4,
        ..RetryPolicy::default()
    };
    Client::new(&format!("{}/v1/", server.url), Some(Key::new(SECRET).unwrap()), policy).unwrap()
}

/// Returns a vector that contains the length of its text.
fn vector(text: &str) -> Vec<f32> {
    vec![f32::from(u16::try_from(text.len()).unwrap()), 1.0]
}

/// Returns a correct response with the vectors in reverse order.
fn answer(request: &ReceivedRequest) -> Reply {
    let texts: Vec<String> = serde_json::from_value(request.json()["input"].clone()).unwrap();
    let item = |(at, text): (usize, &String)| json!({"index": at, "embedding": vector(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(item).rev().collect();
    Reply::new(200, json!({ "data": data }).to_string())
}

fn embed(client: &Client, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
    client.embeddings("small-1", texts, &|| false)
}

#[test]
fn many_texts_are_sent_in_several_requests_and_vectors_are_in_order() {
    let server = Server::start(|request, _| answer(request));
    let texts: Vec<String> = (0..100).map(|n| "x".repeat(n + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embed(&client(&server), &texts).unwrap();
    assert_eq!(vectors, texts.iter().map(|text| vector(text)).collect::<Vec<_>>());
    let requests = server.requests();
    assert_eq!(requests.len(), 100_usize.div_ceil(MAX_TEXTS));
    for request in &requests {
        assert_eq!(request.path, "/v1/embeddings");
        assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret"));
        assert_eq!(
            (&request.json()["model"], &request.json()["encoding_format"]),
            (&json!("small-1"), &json!("float"))
        );
    }
}

#[test]
fn long_texts_are_sent_alone() {
    let long = "y".repeat(MAX_CHARS);
    let texts = ["a", &long, "b", "c"];
    assert_eq!(batches(&texts).iter().map(|batch| batch.len()).collect::<Vec<_>>(), [1, 1, 2]);
    assert!(batches(&[]).is_empty());
}

#[test]
fn vectors_may_be_base64_and_without_an_index() {
    let bytes: Vec<u8> = [0.5_f32, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let body = json!({"data": [{"embedding": BASE64_STANDARD.encode(bytes)}, {"embedding": [1, 2.5e0]}]})
        .to_string();
    let server = Server::start(move |_, _| Reply::new(200, body.clone()));
    assert_eq!(embed(&client(&server), &["a", "b"]).unwrap(), [[0.5, -2.0], [1.0, 2.5]]);
}

#[test]
fn requests_to_a_busy_server_are_retried() {
    let server = Server::start(|request, number| match number {
        0 => Reply::new(429, "slow down").header("retry-after-ms", 3),
        1 => answer(request).cut(10),
        _ => answer(request),
    });
    assert_eq!(embed(&client(&server), &["abc"]).unwrap(), [vector("abc")]);
    assert_eq!(server.requests().len(), 3);
}

/// The wait of four minutes is longer than the test. Without the header the client would retry after a millisecond, and get
/// its response before the second check for cancellation.
#[test]
fn the_client_waits_as_long_as_the_server_requests() {
    const WAIT: Duration = Duration::from_mins(4);
    let server = Server::start(|request, number| match number {
        0 => Reply::new(429, "slow down").header("retry-after-ms", WAIT.as_millis()),
        _ => answer(request),
    });
    let n_checks = AtomicUsize::new(0);
    let stops = || !server.requests().is_empty() && n_checks.fetch_add(1, Ordering::Relaxed) >= 5;
    let stopped = client(&server).embeddings("m", &["a"], &stops);
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_wait_of_an_hour_is_a_failure_at_once_and_told() {
    let server = Server::start(|_, _| Reply::new(429, "slow down").header("retry-after", 3600));
    let refused = client(&server).embeddings("m", &["a"], &|| false).unwrap_err().to_string();
    assert!(refused.contains("HTTP status 429: the server asks to wait 60 min: slow down"), "{refused}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn permanent_errors_are_not_retried_and_the_number_of_attempts_is_limited() {
    for (status, body, expected, n_requests) in [
        (
            401,
            json!({"error": {"message": format!("Incorrect API key provided: {SECRET}.")}}).to_string(),
            "HTTP status 401: Incorrect API key provided: ***.",
            1,
        ),
        (404, "no such model".to_owned(), "HTTP status 404: no such model", 1),
        (
            429,
            json!({"error": {"code": "insufficient_quota", "message": "no credit"}}).to_string(),
            "HTTP status 429: no credit",
            1,
        ),
        (503, "<html>busy</html>".to_owned(), "HTTP status 503: <html>busy", 3),
        (200, json!({"error": "model is loading"}).to_string(), "model is loading", 1),
        (
            200,
            json!({"data": [{"index": 0, "embedding": [1.0]}]}).to_string(),
            "received 1 vectors for 2 texts",
            1,
        ),
        (200, json!({"data": [{"index": 5, "embedding": [1.0]}]}).to_string(), "vector 5 of 2", 1),
        (200, json!({"data": [{"index": 0, "embedding": "?"}]}).to_string(), "cannot be read", 1),
    ] {
        let server = Server::start(move |_, _| Reply::new(status, body.clone()));
        let client = client(&server);
        let error = embed(&client, &["a", "b"]).unwrap_err();
        let message = format!("{error} {error:?}");
        assert!(message.contains(expected) && message.contains("/v1/embeddings"), "{message}");
        assert!(!message.contains(SECRET), "{message}");
        assert_eq!(server.requests().len(), n_requests, "{message}");
    }
}

#[test]
fn the_error_for_an_unreachable_server_names_it_without_secrets() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let client = Client::new(
        &format!("http://user:{SECRET}@{closed}/v1?key={SECRET}"),
        None,
        RetryPolicy { max_attempts: 2, first_wait: Duration::from_millis(1), ..RetryPolicy::default() },
    );
    let client = client.unwrap();
    assert_eq!(client.base(), format!("http://{closed}/v1"));
    let error = embed(&client, &["a"]).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains(SECRET), "{error}");
}

#[test]
fn a_cancelled_request_stops_waiting() {
    // The server responds after the client has stopped. A client that waits for the response would end with its own
    // timeout, which is another error.
    let (go_on, waits) = channel();
    let waits = Mutex::new(waits);
    let server = Server::start(move |request, _| {
        let _ = waits.lock().unwrap().recv();
        answer(request)
    });
    let stopped = client(&server).embeddings("m", &["a"], &|| !server.requests().is_empty());
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(server.requests().len(), 1);
    let _ = go_on.send(());
}

#[test]
fn invalid_addresses_and_keys_are_refused_without_repeating_them() {
    for base in ["", "example.org/v1", "ftp://example.org", "sk-very-secret"] {
        let error = Client::new(base, None, RetryPolicy::default()).err().unwrap().to_string();
        assert!(error.contains("OPENAI_BASE_URL must be") && !error.contains(SECRET), "{error}");
    }
    assert!(!Key::new("sk-very\nsecret").unwrap_err().to_string().contains("secret"));
    assert_eq!(format!("{:?}", Key::new(SECRET).unwrap()), "***");
}
