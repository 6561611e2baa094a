//! A server's habits, played by a small one here.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;

use super::super::client::Patience;
use super::super::key::Key;
use super::super::server::{Asked, Reply, Server};
use super::*;

const SECRET: &str = "sk-very-secret";

fn client(server: &Server) -> Client {
    patient_client(server, Duration::from_secs(2))
}

/// Waits so long at most where the server asks for it.
fn patient_client(server: &Server, max_wait: Duration) -> Client {
    let patience = Patience {
        max_attempts: 3,
        first_wait: Duration::from_millis(1),
        max_wait,
        timeout: Duration::from_secs(5),
        max_concurrent: 4,
    };
    Client::new(&format!("{}/v1/", server.url), Some(Key::new(SECRET).unwrap()), patience).unwrap()
}

/// A vector that tells its text: how long it is.
fn vector(text: &str) -> Vec<f32> {
    vec![f32::from(u16::try_from(text.len()).unwrap()), 1.0]
}

/// The right answer, in reverse.
fn answer(asked: &Asked) -> Reply {
    let texts: Vec<String> = serde_json::from_value(asked.json()["input"].clone()).unwrap();
    let item = |(at, text): (usize, &String)| json!({"index": at, "embedding": vector(text)});
    let data: Vec<Value> = texts.iter().enumerate().map(item).rev().collect();
    Reply::new(200, json!({ "data": data }).to_string())
}

fn ask(client: &Client, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
    client.embeddings("small-1", texts, &|| false)
}

#[test]
fn many_texts_go_in_several_requests_and_come_back_in_order() {
    let server = Server::start(|asked, _| answer(asked));
    let texts: Vec<String> = (0..100).map(|n| "x".repeat(n + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = ask(&client(&server), &texts).unwrap();
    assert_eq!(vectors, texts.iter().map(|text| vector(text)).collect::<Vec<_>>());
    let asked = server.asked();
    assert_eq!(asked.len(), 100_usize.div_ceil(MAX_TEXTS));
    for request in &asked {
        assert_eq!(request.path, "/v1/embeddings");
        assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret"));
        assert_eq!(
            (&request.json()["model"], &request.json()["encoding_format"]),
            (&json!("small-1"), &json!("float"))
        );
    }
}

#[test]
fn long_texts_go_alone() {
    let long = "y".repeat(MAX_CHARS);
    let texts = ["a", &long, "b", "c"];
    assert_eq!(batches(&texts).iter().map(|batch| batch.len()).collect::<Vec<_>>(), [1, 1, 2]);
    assert!(batches(&[]).is_empty());
}

#[test]
fn numbers_may_come_as_base64_and_without_their_place() {
    let bytes: Vec<u8> = [0.5_f32, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let body = json!({"data": [{"embedding": BASE64_STANDARD.encode(bytes)}, {"embedding": [1, 2.5e0]}]})
        .to_string();
    let server = Server::start(move |_, _| Reply::new(200, body.clone()));
    assert_eq!(ask(&client(&server), &["a", "b"]).unwrap(), [[0.5, -2.0], [1.0, 2.5]]);
}

#[test]
fn a_busy_server_is_asked_again() {
    let server = Server::start(|asked, number| match number {
        0 => Reply::new(429, "slow down").header("retry-after-ms", 3),
        1 => answer(asked).cut(10),
        _ => answer(asked),
    });
    assert_eq!(ask(&client(&server), &["abc"]).unwrap(), [vector("abc")]);
    assert_eq!(server.asked().len(), 3);
}

/// An hour is longer than the test. Without the header the client would ask again after a millisecond, and have its
/// answer before it looks a second time whether to stop.
#[test]
fn a_busy_server_is_not_asked_again_before_it_says() {
    const HOUR: Duration = Duration::from_hours(1);
    let server = Server::start(|asked, number| match number {
        0 => Reply::new(429, "slow down").header("retry-after-ms", HOUR.as_millis()),
        _ => answer(asked),
    });
    let n_looks = AtomicUsize::new(0);
    let stops = || !server.asked().is_empty() && n_looks.fetch_add(1, Ordering::Relaxed) >= 5;
    let stopped = patient_client(&server, HOUR).embeddings("m", &["a"], &stops);
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn what_waiting_does_not_mend_is_told_at_once_and_patience_ends() {
    for (status, body, says, n_asked) in [
        (
            401,
            json!({"error": {"message": format!("Incorrect API key provided: {SECRET}.")}}).to_string(),
            "answered 401: Incorrect API key provided: ***.",
            1,
        ),
        (404, "no such model".to_owned(), "answered 404: no such model", 1),
        (
            429,
            json!({"error": {"code": "insufficient_quota", "message": "no credit"}}).to_string(),
            "answered 429: no credit",
            1,
        ),
        (503, "<html>busy</html>".to_owned(), "answered 503: <html>busy", 3),
        (200, json!({"error": "model is loading"}).to_string(), "model is loading", 1),
        (
            200,
            json!({"data": [{"index": 0, "embedding": [1.0]}]}).to_string(),
            "1 vectors came for 2 texts",
            1,
        ),
        (200, json!({"data": [{"index": 5, "embedding": [1.0]}]}).to_string(), "vector 5 of 2", 1),
        (200, json!({"data": [{"index": 0, "embedding": "?"}]}).to_string(), "cannot be read", 1),
    ] {
        let server = Server::start(move |_, _| Reply::new(status, body.clone()));
        let client = client(&server);
        let error = ask(&client, &["a", "b"]).unwrap_err();
        let told = format!("{error} {error:?}");
        assert!(told.contains(says) && told.contains("/v1/embeddings"), "{told}");
        assert!(!told.contains(SECRET), "{told}");
        assert_eq!(server.asked().len(), n_asked, "{told}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let client = Client::new(
        &format!("http://user:{SECRET}@{closed}/v1?key={SECRET}"),
        None,
        Patience { max_attempts: 2, first_wait: Duration::from_millis(1), ..Patience::default() },
    );
    let client = client.unwrap();
    assert_eq!(client.base(), format!("http://{closed}/v1"));
    let error = ask(&client, &["a"]).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains(SECRET), "{error}");
}

#[test]
fn it_stops_waiting_when_it_is_told_to() {
    // The server answers once the client has stopped. A client that waits for the answer gives up by its own timeout,
    // which is another error.
    let (go_on, waits) = channel();
    let waits = Mutex::new(waits);
    let server = Server::start(move |asked, _| {
        let _ = waits.lock().unwrap().recv();
        answer(asked)
    });
    let stopped = client(&server).embeddings("m", &["a"], &|| !server.asked().is_empty());
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert_eq!(server.asked().len(), 1);
    let _ = go_on.send(());
}

#[test]
fn an_address_or_a_key_that_is_none_is_refused_without_repeating_it() {
    for base in ["", "example.org/v1", "ftp://example.org", "sk-very-secret"] {
        let error = Client::new(base, None, Patience::default()).err().unwrap().to_string();
        assert!(error.contains("OPENAI_BASE_URL must be") && !error.contains(SECRET), "{error}");
    }
    assert!(!Key::new("sk-very\nsecret").unwrap_err().to_string().contains("secret"));
    assert_eq!(format!("{:?}", Key::new(SECRET).unwrap()), "***");
}
