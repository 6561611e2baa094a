//! A small server of HTTP for tests: it answers as it is told and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Asked {
    /// A header by its name in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// An answer.
pub(crate) struct Reply {
    status: u16,
    header: Option<(&'static str, String)>,
    body: Vec<u8>,
    /// The connection ends behind so many bytes of the body.
    cut: Option<usize>,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, header: None, body: body.into(), cut: None }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl std::fmt::Display) -> Self {
        self.header = Some((name, value.to_string()));
        self
    }

    pub(crate) fn cut(mut self, n_bytes: usize) -> Self {
        self.cut = Some(n_bytes);
        self
    }
}

/// What turns a request and its number, counted from 0, into an answer.
type Script = dyn Fn(&Asked, usize) -> Reply + Send + Sync;

/// A server on a port of its own, until the process ends.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub(crate) fn start(script: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, heard): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, heard) = (Arc::clone(&script), Arc::clone(&heard));
                std::thread::spawn(move || serve(&stream, &script, &heard));
            }
        });
        Self { url, asked }
    }

    /// All requests so far, in the order in which they came.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, script: &Arc<Script>, heard: &Mutex<Vec<Asked>>) -> Option<()> {
    let asked = read(stream)?;
    let number = {
        let mut heard = heard.lock().unwrap();
        heard.push(asked.clone());
        heard.len() - 1
    };
    let reply = script(&asked, number);
    let mut head = format!("HTTP/1.1 {} Status\r\ncontent-length: {}\r\n", reply.status, reply.body.len());
    if let Some((name, value)) = reply.header {
        head += &format!("{name}: {value}\r\n");
    }
    head += "connection: close\r\n\r\n";
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())]).ok()
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let mut asked = Asked { path, headers, body: String::new() };
    let n_bytes: u64 = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    reader.take(n_bytes).read_to_string(&mut asked.body).ok()?;
    Some(asked)
}
