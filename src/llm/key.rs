//! API keys, which are sent but never shown.

use std::fmt;

use reqwest::header::HeaderValue;
use serde_json::Value;

use super::Error;

/// The replacement for a key in messages.
const HIDDEN: &str = "***";

/// Shorter keys are placeholders such as `EMPTY`, and words of replies.
const MIN_SECRET: usize = 16;

/// An API key.
#[derive(Clone)]
pub struct Key {
    text: String,
    header: HeaderValue,
}

impl Key {
    /// Returns a key.
    ///
    /// # Errors
    /// If it contains characters that cannot be sent: a line break, or a character outside ASCII.
    pub fn new(key: &str) -> Result<Self, Error> {
        let text = key.trim().to_owned();
        let header = HeaderValue::from_str(&format!("Bearer {text}"));
        let mut header = header.map_err(|_| {
            Error::Setting("the API key contains characters that cannot be sent in a header".to_owned())
        })?;
        header.set_sensitive(true);
        Ok(Self { text, header })
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// Replaces the key in a response, since a server may repeat what it received. Servers without keys get placeholders, which
    /// may be words of a reply and are kept.
    pub(super) fn hide_in(&self, body: Vec<u8>) -> Vec<u8> {
        if self.text.len() < MIN_SECRET {
            return body;
        }
        // JSON can write the same text with escapes.
        if memchr::memchr(b'\\', &body).is_some()
            && let Ok(mut value) = serde_json::from_slice::<Value>(&body)
            && self.hide_in_value(&mut value)
        {
            return value.to_string().into_bytes();
        }
        if memchr::memmem::find(&body, self.text.as_bytes()).is_none()
            && memchr::memmem::find(&body, self.with_escaped_slashes().as_bytes()).is_none()
        {
            return body;
        }
        self.hide(&String::from_utf8_lossy(&body)).into_bytes()
    }

    /// Replaces the key in all texts and keys of a value; returns whether there was one.
    fn hide_in_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => {
                let found = text.contains(&self.text);
                if found {
                    *text = self.hide(text);
                }
                found
            }
            Value::Array(array) => {
                array.iter_mut().fold(false, |found, value| self.hide_in_value(value) | found)
            }
            Value::Object(object) => {
                let mut found = false;
                if object.keys().any(|key| key.contains(&self.text)) {
                    let renamed =
                        std::mem::take(object).into_iter().map(|(key, value)| (self.hide(&key), value));
                    *object = renamed.collect();
                    found = true;
                }
                object.values_mut().fold(found, |found, value| self.hide_in_value(value) | found)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    fn with_escaped_slashes(&self) -> String {
        self.text.replace('/', "\\/")
    }

    /// Replaces the key in a text.
    pub(super) fn hide(&self, text: &str) -> String {
        text.replace(&self.text, HIDDEN).replace(&self.with_escaped_slashes(), HIDDEN)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_hidden_however_json_writes_it() {
        let key = Key::new("sk-ab/cd+efgh1234567890").unwrap();
        let escaped: String =
            "sk-ab/cd+efgh1234567890".chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
        for body in [
            r#"{"a": "it is sk-ab/cd+efgh1234567890"}"#.to_owned(),
            r#"{"a": "it is sk-ab\/cd+efgh1234567890"}"#.to_owned(),
            format!(r#"{{"a": ["{escaped}"], "b": 1}}"#),
            format!(r#"{{"{escaped}": 1}}"#),
            r"not JSON: sk-ab\/cd+efgh1234567890".to_owned(),
        ] {
            let shown = String::from_utf8(key.hide_in(body.clone().into_bytes())).unwrap();
            assert!(shown.contains(HIDDEN) && !shown.contains("cd+efgh"), "{body}: {shown}");
            assert!(!shown.contains("\\u0073"), "{shown}");
        }
        let other = json!({"a": "a\nb"}).to_string();
        assert_eq!(key.hide_in(other.clone().into_bytes()), other.into_bytes());
    }
}
