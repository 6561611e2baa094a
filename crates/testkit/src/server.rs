//! A small HTTP server for tests: it responds with a script and records the requests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The method, such as `POST`.
    pub method: String,
    /// The path of the address.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
    /// The body.
    pub bytes: Vec<u8>,
}

impl ReceivedRequest {
    /// Returns a header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Parses the body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A response of the script.
pub struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Closes the connection after this number of bytes of the body.
    cut: Option<usize>,
}

impl Reply {
    /// Returns a response.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), cut: None }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// Closes the connection after this number of bytes of the body.
    #[must_use]
    pub fn cut(mut self, n_bytes: usize) -> Self {
        self.cut = Some(n_bytes);
        self
    }
}

/// A function from a request and its number, counted from 0, to a response.
type Script = dyn Fn(&ReceivedRequest, usize) -> Reply + Send + Sync;

/// A server on its own port that runs until the process ends.
pub struct Server {
    /// Its address.
    pub url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    /// Starts a server.
    pub fn start(script: impl Fn(&ReceivedRequest, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (script, requests): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&received));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, requests) = (Arc::clone(&script), Arc::clone(&requests));
                std::thread::spawn(move || serve(&stream, &script, &requests));
            }
        });
        Self { url, requests: received }
    }

    /// Returns all requests so far, in order.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, script: &Arc<Script>, requests: &Mutex<Vec<ReceivedRequest>>) -> Option<()> {
    let request = read(stream)?;
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    let reply = script(&request, number);
    let mut head = format!("HTTP/1.1 {} Status\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
    for (name, value) in reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += "connection: close\r\n\r\n";
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())]).ok()
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let (body, bytes) = (String::new(), Vec::new());
    let mut request = ReceivedRequest { method, path, headers, body, bytes };
    let n_bytes: u64 = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    reader.take(n_bytes).read_to_end(&mut request.bytes).ok()?;
    request.body = String::from_utf8_lossy(&request.bytes).into_owned();
    Some(request)
}
