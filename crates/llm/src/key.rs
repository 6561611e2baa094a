//! API keys, which are sent but never shown; `secrets` hides them in what a server sends.

use std::fmt;

use reqwest::header::HeaderValue;

use super::Error;
use super::secrets::HIDDEN;

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

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
