//! The Hugging Face hub: its address and key, and names that are safe in an address of it and as the name of a folder.
//!
//! Source: the [API of the hub](https://huggingface.co/docs/hub/api).

use std::fmt::Write as _;

use callsieve_system::environment::Environment;

use super::Error;
use super::client::RetryPolicy;
use super::download::Downloader;
use super::key::Key;
use super::upload::Uploader;

/// The default server.
const DEFAULT_BASE: &str = "https://huggingface.co";
/// The default revision.
pub const MAIN: &str = "main";

/// The hub of a user: `HF_ENDPOINT` names another server, and `HF_TOKEN` a key.
#[derive(Debug, Clone)]
pub struct Hub {
    base: String,
    key: Option<Key>,
}

impl Hub {
    /// Returns the hub of a user.
    ///
    /// # Errors
    /// If the key cannot be sent.
    pub fn of(environment: &Environment) -> Result<Self, Error> {
        let hub = environment.hub();
        let key = hub.key.as_deref().map(Key::new).transpose()?;
        Ok(Self::at(hub.base.as_deref().unwrap_or(DEFAULT_BASE), key))
    }

    /// Returns the hub at an address.
    pub fn at(base: &str, key: Option<Key>) -> Self {
        Self { base: base.trim().trim_end_matches('/').to_owned(), key }
    }

    /// Returns its address, without a slash at the end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns whether there is a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Returns a client that downloads files.
    ///
    /// # Errors
    /// If the HTTP client cannot be created.
    pub fn downloader(&self) -> Result<Downloader, Error> {
        Downloader::new(self.key.clone(), RetryPolicy::default())
    }

    /// Returns a client that sends files.
    ///
    /// # Errors
    /// If the HTTP client cannot be created.
    pub fn uploader(&self) -> Result<Uploader, Error> {
        Uploader::new(self.key.clone(), RetryPolicy::default())
    }
}

/// A repository of the hub, and one of its revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repository<'n> {
    /// Who owns it.
    pub owner: &'n str,
    /// Its name.
    pub name: &'n str,
    /// A branch, a tag or a commit.
    pub revision: &'n str,
}

impl<'n> Repository<'n> {
    /// Reads `OWNER/NAME[@REVISION]`; `None` if a part is missing or is not [safe](is_plain).
    pub fn parse(named: &'n str) -> Option<Self> {
        let (owner, rest) = named.split_once('/')?;
        let (name, revision) = rest.split_once('@').unwrap_or((rest, MAIN));
        [owner, name, revision].into_iter().all(is_plain).then_some(Self { owner, name, revision })
    }
}

/// Returns whether a text is safe as a part of an address and as the name of a folder.
pub fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with('.')
        && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Returns the path of a file as a part of an address.
pub fn encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_an_owner_a_name_and_may_have_a_revision() {
        let of = |named: &'static str| {
            Repository::parse(named).map(|Repository { owner, name, revision }| [owner, name, revision])
        };
        assert_eq!(of("org/mini"), Some(["org", "mini", "main"]));
        assert_eq!(of("org/mini-v1.5@4a2b"), Some(["org", "mini-v1.5", "4a2b"]));
        for named in
            ["mini", "org/mini/x", "org/../x", "org/.x", "org/mini@", "org/mini@a b", "/mini", "org/se?t"]
        {
            assert_eq!(of(named), None, "{named}");
        }
    }

    #[test]
    fn the_path_of_a_file_is_encoded() {
        assert_eq!(encoded("data/a b#é.jsonl"), "data/a%20b%23%C3%A9.jsonl");
    }

    #[test]
    fn an_address_has_no_slash_at_the_end() {
        assert_eq!(Hub::at(" http://hub.local/ ", None).base(), "http://hub.local");
    }
}
