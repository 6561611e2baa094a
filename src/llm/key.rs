//! API keys, which are sent but never shown.

use std::fmt;

use reqwest::header::HeaderValue;

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
        let found = memchr::memmem::find(&body, self.text.as_bytes());
        if self.text.len() < MIN_SECRET || found.is_none() {
            return body;
        }
        self.hide(&String::from_utf8_lossy(&body)).into_bytes()
    }

    /// Replaces the key in a text.
    pub(super) fn hide(&self, text: &str) -> String {
        text.replace(&self.text, HIDDEN)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
