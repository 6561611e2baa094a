//! The address of a function's request: host, path with its variables, and a query that the source already has.

use serde_json::Value;

use super::request::Unable;
use crate::tool::{Api, Tool};

/// The address of a request before its parameters are filled in.
#[derive(Debug)]
pub(super) struct Address {
    /// Scheme and host, and the path with its variables.
    pub(super) path: String,
    /// The pairs of its query, as written.
    pub(super) query: Vec<(String, String)>,
}

impl Address {
    /// Returns the address of a function.
    pub(super) fn of(tool: &Tool, api: &Api) -> Result<Self, Unable> {
        let path = api.path.as_deref().map(str::trim).filter(|path| !path.is_empty());
        let whole = absolute(tool.host.as_deref().map(str::trim), path.ok_or(Unable::NoRequest)?)?;
        let whole = whole.split('#').next().unwrap_or_default();
        let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
        let host = path.split_once("://").map_or(path, |(_, rest)| rest).split('/').next();
        if let Some(host) = host.filter(|host| host.contains(['{', '}'])) {
            return Err(Unable::NoAddress(format!("the host {host} is a variable")));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let query = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let query = query.map(|(name, value)| (decoded(name), decoded(value))).collect();
        Ok(Self { path: path.to_owned(), query })
    }

    /// Returns true if a variable of the path has this name.
    pub(super) fn has_variable(&self, name: &str) -> bool {
        self.path.contains(&format!("{{{name}}}")) || self.segments().any(|segment| is_colon(segment, name))
    }

    /// Puts a value in place of a variable of the path.
    pub(super) fn fill(&mut self, name: &str, value: &str) {
        let value = encoded(value);
        let path = self.path.replace(&format!("{{{{{name}}}}}"), &value);
        let path = path.replace(&format!("{{{name}}}"), &value);
        let filled = path.split('/').map(|part| if is_colon(part, name) { &value } else { part });
        self.path = filled.collect::<Vec<_>>().join("/");
    }

    /// Returns a variable of the path that has no value.
    pub(super) fn unfilled(&self) -> Option<&str> {
        self.segments().find(|part| part.contains(['{', '}']) || part.len() > 1 && part.starts_with(':'))
    }

    fn segments(&self) -> impl Iterator<Item = &str> {
        let rest = self.path.split_once("://").map_or(self.path.as_str(), |(_, rest)| rest);
        rest.split('/').skip(1)
    }
}

fn is_colon(segment: &str, name: &str) -> bool {
    segment.strip_prefix(':') == Some(name)
}

/// Joins a host, which may have a scheme and a path, with a path, which may have both. Without a scheme it is `https`.
fn absolute(host: Option<&str>, path: &str) -> Result<String, Unable> {
    if path.contains("://") {
        return Ok(path.to_owned());
    }
    let host = host.filter(|host| !host.is_empty() && !host.starts_with('/'));
    let host = host.ok_or_else(|| Unable::NoAddress("the collection has no host".to_owned()))?;
    let bare = host.split_once("://").map_or(host, |(_, bare)| bare);
    let is_repeated = path.strip_prefix(bare).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let path = if is_repeated { &path[bare.len()..] } else { path };
    let scheme = if host.contains("://") { "" } else { "https://" };
    Ok(format!("{scheme}{}/{}", host.trim_end_matches('/'), path.trim_start_matches('/')))
}

/// Returns a text percent-encoded, except letters, digits and the four signs that never need it.
pub(super) fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

/// Returns a text without percent-encoding, or as it is if that is no text.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Returns a value as a request has it outside of JSON; elements of a list are separated by commas.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}
