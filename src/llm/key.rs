//! A secret that is sent and never shown.

use std::fmt;

use reqwest::header::HeaderValue;

use super::Error;

/// What stands where a key stood.
const HIDDEN: &str = "***";

/// A key that a server knows its users by.
#[derive(Clone)]
pub struct Key {
    text: String,
    header: HeaderValue,
}

impl Key {
    /// Takes a key.
    ///
    /// # Errors
    /// It holds what cannot be sent: a line's end, or something outside ASCII.
    pub fn new(key: &str) -> Result<Self, Error> {
        let text = key.trim().to_owned();
        let header = HeaderValue::from_str(&format!("Bearer {text}"));
        let mut header =
            header.map_err(|_| Error::Setting("the key holds what cannot be sent".to_owned()))?;
        header.set_sensitive(true);
        Ok(Self { text, header })
    }

    pub(super) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// A text without the key.
    pub(super) fn hide(&self, text: &str) -> String {
        text.replace(&self.text, HIDDEN)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
