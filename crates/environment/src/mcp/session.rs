//! A session with an MCP server: JSON-RPC 2.0, one message a line.
//!
//! Lines that are no JSON, notifications, and answers to nothing are skipped and counted. Requests of the server get an
//! answer: `ping` and `roots/list` a result, others an error, since nothing here can do what they ask for.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{NoLine, Process};

/// The version of the protocol that is offered. A server may choose an older one.
const PROTOCOL: &str = "2025-06-18";
/// The most pages of a list of tools.
const MAX_PAGES: usize = 1_000;
/// The code of JSON-RPC for a method that is not offered.
const METHOD_NOT_FOUND: i32 = -32_601;

/// A running server.
pub(super) struct Session {
    process: Process,
    last_id: u64,
    max_bytes: usize,
    /// Name and version, as the server reports them.
    pub(super) server: Value,
    /// The number of lines that were skipped.
    pub(super) n_skipped: usize,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Refusal {
    /// The server answered with an error.
    Error(String),
    /// The answer nests too deep to be read.
    TooDeep,
    /// The deadline passed.
    Timeout,
    /// The server ended, or closed its output.
    Ended(String),
    /// A line is too long.
    TooLarge,
}

impl Refusal {
    /// Returns the reason in words.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Error(text) | Self::Ended(text) => text.clone(),
            Self::TooDeep => "The answer nests too deep.".to_owned(),
            Self::Timeout => "The call took longer than its deadline.".to_owned(),
            Self::TooLarge => "The answer has too many bytes.".to_owned(),
        }
    }
}

impl Session {
    /// Introduces the client to a server that was just started.
    pub(super) fn open(process: Process, max_bytes: usize, deadline: Instant) -> Result<Self, Refusal> {
        let mut session = Self { process, last_id: 0, max_bytes, server: Value::Null, n_skipped: 0 };
        let client = json!({"name": "callsieve", "version": env!("CARGO_PKG_VERSION")});
        let offer = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        let mut introduced = session.request("initialize", &offer, deadline)?;
        session.server = introduced.get_mut("serverInfo").map(Value::take).unwrap_or_default();
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), deadline)?;
        Ok(session)
    }

    /// Returns all tools, page by page.
    pub(super) fn tools(&mut self, deadline: Instant) -> Result<Vec<Value>, Refusal> {
        let mut tools = Vec::new();
        let mut cursors: Vec<String> = Vec::new();
        for _ in 0..MAX_PAGES {
            let parameters = cursors.last().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let mut page = self.request("tools/list", &parameters, deadline)?;
            match page.get_mut("tools").map(Value::take) {
                Some(Value::Array(listed)) => tools.extend(listed),
                _ => return Err(Refusal::Error("tools/list has no list of tools".to_owned())),
            }
            match page.get("nextCursor").and_then(Value::as_str) {
                None | Some("") => return Ok(tools),
                Some(cursor) if cursors.iter().any(|known| known == cursor) => break,
                Some(cursor) => cursors.push(cursor.to_owned()),
            }
        }
        Err(Refusal::Error("the pages of tools/list do not end".to_owned()))
    }

    /// Sends a request and returns its result.
    pub(super) fn request(
        &mut self,
        method: &str,
        parameters: &Value,
        deadline: Instant,
    ) -> Result<Value, Refusal> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}), deadline)?;
        loop {
            let line = match self.process.line(self.max_bytes, deadline) {
                Ok(line) => line,
                Err(NoLine::Timeout) => return Err(Refusal::Timeout),
                Err(NoLine::Ended) => return Err(self.ended()),
                Err(NoLine::TooLarge) => return Err(Refusal::TooLarge),
            };
            let messages = match serde_json::from_slice(&line) {
                Ok(Value::Array(messages)) => messages,
                Ok(message) => vec![message],
                // Of a text so deep only the start was read; it is the answer, or the next line will be.
                Err(error) if error.to_string().starts_with("recursion limit") => {
                    return Err(Refusal::TooDeep);
                }
                Err(_) => vec![Value::Null],
            };
            let mut answer = None;
            for message in messages {
                match self.receive(message, id, deadline)? {
                    Some(found) => answer = Some(found),
                    None => self.n_skipped += 1,
                }
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
    }

    /// Returns the result in a message if it is the answer to a request; answers requests of the server.
    fn receive(
        &mut self,
        mut message: Value,
        id: u64,
        deadline: Instant,
    ) -> Result<Option<Result<Value, Refusal>>, Refusal> {
        let own_id = message.get("id").filter(|id| !id.is_null()).cloned();
        if let (Some(method), Some(own_id)) = (message.get("method").and_then(Value::as_str), &own_id) {
            let reply = match method {
                "ping" => json!({"jsonrpc": "2.0", "id": own_id, "result": {}}),
                "roots/list" => json!({"jsonrpc": "2.0", "id": own_id, "result": {"roots": []}}),
                _ => json!({"jsonrpc": "2.0", "id": own_id, "error": {
                    "code": METHOD_NOT_FOUND, "message": format!("this client does not offer {method}")
                }}),
            };
            self.send(&reply, deadline)?;
            return Ok(None);
        }
        if own_id.and_then(|own_id| own_id.as_u64()) != Some(id) {
            return Ok(None);
        }
        if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
            let text =
                error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
            return Ok(Some(Err(Refusal::Error(text))));
        }
        Ok(message.get_mut("result").map(|result| Ok(result.take())))
    }

    fn send(&mut self, message: &Value, deadline: Instant) -> Result<(), Refusal> {
        let mut text = message.to_string();
        text.push('\n');
        if self.process.write(text.as_bytes(), deadline) { Ok(()) } else { Err(self.ended()) }
    }

    fn ended(&self) -> Refusal {
        // The last words arrive on another thread.
        std::thread::sleep(Duration::from_millis(1));
        let text = "The server ended.".to_owned();
        Refusal::Ended(
            self.process.last_error().map_or(text.clone(), |line| format!("{text} Its last line: {line}")),
        )
    }

    /// Returns the process, for its HOME.
    pub(super) fn process(&self) -> &Process {
        &self.process
    }

    /// Ends the server.
    pub(super) fn stop(&mut self) {
        self.process.stop();
    }
}
