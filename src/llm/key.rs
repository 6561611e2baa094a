//! API keys, which are sent but never shown.

use std::fmt;

use reqwest::header::HeaderValue;

use super::Error;

/// The replacement for a key in messages.
const HIDDEN: &str = "***";

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
