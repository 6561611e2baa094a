//! Tests of calls over servers of the own machine.

use callsieve_testkit::server::{Reply, Server};

use super::*;

fn host(server: &Server) -> AllowedHost {
    server.url.trim_start_matches("http://").parse().unwrap()
}

fn limits() -> CallLimits {
    CallLimits { per_second: 1_000.0, timeout: Duration::from_secs(20), max_bytes: 100 }
}

fn caller(server: &Server, headers: Vec<SecretHeader>) -> Caller {
    Caller::new(AllowedHosts::new(vec![host(server)]), headers, limits()).unwrap()
}

fn get<'r>(method: &'r str, address: &'r str) -> Request<'r> {
    Request { method, address, headers: &[], body: None }
}

fn answer(caller: &Caller, method: &str, address: &str) -> Answer {
    match caller.send(&get(method, address), &|| false).unwrap() {
        Outcome::Answered(answer) => answer,
        Outcome::Unanswered(what) => panic!("{what}"),
    }
}

#[test]
fn redirects_are_followed_within_the_host_and_recorded_otherwise() {
    let other = Server::start(|_, _| Reply::new(200, "other"));
    let to = format!("{}/secret?key=s3cr3t", other.url);
    let server = Server::start(move |request, _| match request.path.as_str() {
        "/away" => Reply::new(302, "moved").header("location", &to),
        "/in" => Reply::new(301, "").header("location", "/there?a=1"),
        "/round" => Reply::new(307, "").header("location", "/round"),
        path => Reply::new(200, path),
    });
    let caller = caller(&server, Vec::new());
    let away = answer(&caller, "GET", &format!("{}/away", server.url));
    assert_eq!((away.status, away.redirect), (302, Some(format!("{}/secret", other.url))));
    assert_eq!(other.requests().len(), 0);
    let within = answer(&caller, "GET", &format!("{}/in", server.url));
    assert_eq!((within.body, within.redirect), (Body::Text("/there?a=1".to_owned()), None));
    // A write is not sent on.
    assert_eq!(answer(&caller, "POST", &format!("{}/in", server.url)).status, 301);
    assert_eq!(answer(&caller, "GET", &format!("{}/round", server.url)).status, 307);
    assert_eq!(server.requests().len(), 1 + 2 + 1 + 1 + MAX_REDIRECTS);
    let denied = caller.send(&get("GET", &other.url), &|| false).unwrap();
    assert!(matches!(denied, Outcome::Unanswered(what) if what.ends_with("is not allowed")));
}

#[test]
fn a_body_is_read_up_to_the_limit() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/whole" => Reply::new(200, "a".repeat(100)),
        "/large" => Reply::new(200, "a".repeat(101)),
        "/binary" => Reply::new(200, [0xff, 0xfe]),
        "/cut" => Reply::new(200, "a".repeat(50)).cut(10),
        _ => Reply::new(204, ""),
    });
    let caller = caller(&server, Vec::new());
    let body = |path: &str| {
        let answer = answer(&caller, "GET", &format!("{}{path}", server.url));
        (answer.body, answer.size)
    };
    assert_eq!(body("/whole"), (Body::Text("a".repeat(100)), 100));
    assert_eq!(body("/large"), (Body::TooLarge, 101));
    assert_eq!(body("/binary"), (Body::NotText, 2));
    assert_eq!(body("/none"), (Body::Text(String::new()), 0));
    let cut = caller.send(&get("GET", &format!("{}/cut", server.url)), &|| false).unwrap();
    assert!(matches!(cut, Outcome::Unanswered(_)));
}

#[test]
fn what_a_server_repeats_of_a_secret_is_hidden() {
    let server = Server::start(|request, _| {
        let sent = request.header("authorization").unwrap().to_owned();
        Reply::new(200, format!("{{\"you\": {sent:?}}}")).header("content-type", format!("text/{sent}"))
    });
    let header = SecretHeader::new("Authorization", "Bearer ", "sk-12345678abc").unwrap();
    assert!(!format!("{header:?}").contains("sk-"));
    let answer = answer(&caller(&server, vec![header]), "GET", &server.url);
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer sk-12345678abc"));
    assert_eq!(answer.body, Body::Text("{\"you\":\"Bearer ***\"}".to_owned()));
    assert_eq!(answer.content_type.as_deref(), Some("text/Bearer ***"));
    let refused = SecretHeader::new("X", "", "s3cr3t\n").unwrap_err().to_string();
    assert!(!refused.contains("s3cr3t"), "{refused}");
}

#[test]
fn requests_keep_their_distance_and_stop_when_asked() {
    let server = Server::start(|_, _| Reply::new(200, "{}"));
    let limits = CallLimits { per_second: 20.0, ..limits() };
    let caller = Caller::new(AllowedHosts::new(vec![host(&server)]), Vec::new(), limits).unwrap();
    let start = Instant::now();
    for _ in 0..4 {
        answer(&caller, "GET", &server.url);
    }
    assert!(start.elapsed() >= Duration::from_millis(150));
    assert!(matches!(caller.send(&get("GET", &server.url), &|| true), Err(Error::Interrupted)));
}
