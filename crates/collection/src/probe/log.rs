//! Reads logs of recorded calls.
//!
//! ```text
//! {"tool": "Bells", "function": "ring", "status": 200, "content_type": "application/json", "body": "{…}",
//!  "latency_ms": 120, "size": 5120}
//! ```
//!
//! Everything except the tool and the function may be missing. `body` is text, or the JSON itself; `error` says that
//! there was no answer (`timeout`). A line that is not a call is a fault. Dialogues of API-Bank and search trees of
//! ToolBench record calls too; see `recorded`.

use serde_json::{Map, Value};

use crate::document::{Content, Source, fault, of_text};
use crate::fault::{FaultKind, ReadFault};
use crate::probe::body::Body;
use crate::reading::{owned, value};

/// One recorded call.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// The tool as the collection calls it.
    pub tool: String,
    /// The function as the collection calls it.
    pub function: String,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The media type of the answer, in lower case and without parameters.
    pub content_type: Option<String>,
    /// The body; none if there was no answer.
    pub body: Option<Body>,
    /// How long the answer took.
    pub latency_ms: Option<f64>,
    /// The bytes of the body, if it was cut or not recorded.
    pub size: Option<u64>,
    /// The reason for which there was no answer.
    pub error: Option<String>,
}

impl Probe {
    /// Creates a call of which only the answer is known.
    pub(super) fn answered(tool: &str, function: &str, body: Body) -> Self {
        Self {
            tool: tool.to_owned(),
            function: function.to_owned(),
            status: None,
            content_type: None,
            body: Some(body),
            latency_ms: None,
            size: None,
            error: None,
        }
    }

    /// Returns true if there was an answer, good or bad.
    pub fn is_answered(&self) -> bool {
        self.error.is_none() && (self.status.is_some() || self.body.is_some())
    }

    /// Returns the number of bytes of the body.
    pub fn n_bytes(&self) -> u64 {
        self.size.unwrap_or_else(|| self.body.as_ref().map_or(0, Body::n_bytes))
    }
}

/// The calls of a log, and the lines that are not calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    /// The calls, in the order of the log.
    pub probes: Vec<Probe>,
    /// The unreadable lines.
    pub faults: Vec<ReadFault>,
}

/// Reads a log with one call a line, or a list of calls.
pub fn read_log(name: &str, text: &str) -> Log {
    read(name, text, probe)
}

/// Reads the calls of a record, which may be none, or returns the reason for which it is not a record.
pub(super) type RecordReader = fn(&Map<String, Value>) -> Result<Vec<Probe>, String>;

/// Reads the records of a text.
pub(super) fn read(name: &str, text: &str, reader: RecordReader) -> Log {
    let source = Source::new(name);
    let mut log = Log::default();
    let document = match of_text(source.clone(), text, &mut log.faults) {
        Ok(document) => document,
        Err(fault) => {
            log.faults.push(fault);
            return log;
        }
    };
    if matches!(document.content, Content::Text(_) | Content::Table(_)) {
        log.faults.push(fault(&source, "", FaultKind::Unreadable, "expected one JSON object a line"));
    }
    for (at, record) in document.records() {
        let read = record.as_object().ok_or_else(|| "expected an object".to_owned()).and_then(reader);
        match read {
            Ok(probes) => log.probes.extend(probes),
            Err(message) => log.faults.push(fault(&source, &at, FaultKind::UnreadableLine, message)),
        }
    }
    log
}

fn probe(map: &Map<String, Value>) -> Result<Vec<Probe>, String> {
    let named = |key: &str| owned(map, &[key]).ok_or_else(|| format!("the call has no `{key}`"));
    let number = |key: &str| {
        value(map, &[key]).map(|value| value.as_f64().ok_or(format!("`{key}` is not a number"))).transpose()
    };
    let status = match value(map, &["status"]) {
        None => None,
        Some(status) => {
            let code = status.as_u64().and_then(|code| u16::try_from(code).ok());
            Some(code.ok_or("`status` is not a status code")?)
        }
    };
    let content_type = owned(map, &["content_type"]).map(|kind| media_type(&kind));
    Ok(vec![Probe {
        tool: named("tool")?,
        function: named("function")?,
        status,
        content_type,
        body: map.get("body").map(Body::of),
        latency_ms: number("latency_ms")?.filter(|latency| latency.is_finite()),
        size: value(map, &["size"])
            .map(|size| size.as_u64().ok_or("`size` is not a number of bytes"))
            .transpose()?,
        error: owned(map, &["error"]),
    }])
}

/// Returns a media type in lower case and without parameters.
fn media_type(written: &str) -> String {
    written.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
