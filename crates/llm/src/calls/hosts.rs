//! The hosts that may be called.
//!
//! A host is named exactly, so an address of the own machine or network is called only if the user names it. Names are compared
//! as they are requested: in lower case, and addresses of version 4 in one spelling.

use std::str::FromStr;

use reqwest::Url;
use thiserror::Error;

/// A host that may be called: `api.example.com` with any port, `127.0.0.1:8080` with this one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AllowedHost {
    host: String,
    port: Option<u16>,
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a host, such as api.example.com or 127.0.0.1:8080".to_owned();
        let text = text.trim();
        let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let (host, port) =
            match text.rsplit_once(':').filter(|(host, port)| is_port(port) && !host.ends_with(':')) {
                Some((host, port)) => (host, Some(port.parse().map_err(|_| expected())?)),
                None => (text, None),
            };
        let has_other_parts = host.is_empty() || host.contains(['/', '?', '#', '@', '\\', '*', ' ']);
        let url = Url::parse(&format!("https://{host}/")).ok().filter(|_| !has_other_parts);
        let url = url.filter(|url| url.port().is_none());
        let host = url.as_ref().and_then(Url::host_str).ok_or_else(expected)?;
        Ok(Self { host: host.to_owned(), port })
    }
}

impl AllowedHost {
    fn is_of(&self, url: &Url) -> bool {
        let is_port = self.port.is_none_or(|port| url.port_or_known_default() == Some(port));
        is_port && url.host_str() == Some(&self.host)
    }
}

/// The reason for which an address is not requested.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Denied {
    /// It is no address of a web server.
    #[error("{0} is no address of a web server")]
    NotAnAddress(String),
    /// It has a user name or a password.
    #[error("the address has a user name or a password")]
    HasCredentials,
    /// Its host is not on the list.
    #[error("the host {0} is not allowed")]
    NotAllowed(String),
}

/// The hosts that may be called. An empty list allows none.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Vec<AllowedHost>);

impl AllowedHosts {
    /// Returns a list of hosts.
    pub fn new(hosts: Vec<AllowedHost>) -> Self {
        Self(hosts)
    }

    /// Returns the address that may be requested.
    ///
    /// # Errors
    /// It may not.
    pub(super) fn permit(&self, address: &str) -> Result<Url, Denied> {
        let url = Url::parse(address).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
        let Some(url) = url else {
            return Err(Denied::NotAnAddress(address.chars().take(200).collect()));
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Denied::HasCredentials);
        }
        if self.0.iter().any(|host| host.is_of(&url)) {
            Ok(url)
        } else {
            Err(Denied::NotAllowed(host_of(&url)))
        }
    }

    /// Returns the address as it is requested, without its fragment.
    ///
    /// # Errors
    /// It may not be requested.
    pub fn check(&self, address: &str) -> Result<String, Denied> {
        let mut url = self.permit(address)?;
        url.set_fragment(None);
        Ok(url.into())
    }

    /// Returns true if a redirect is followed: to the same host, if it is allowed there too, and never out of an encrypted
    /// connection.
    pub(super) fn follows(&self, from: &Url, to: &Url) -> bool {
        let is_as_safe = from.scheme() == to.scheme() || to.scheme() == "https";
        is_as_safe && from.host_str() == to.host_str() && self.permit(to.as_str()).is_ok()
    }
}

/// Returns host and port of an address.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(names: &[&str]) -> AllowedHosts {
        AllowedHosts::new(names.iter().map(|name| name.parse().unwrap()).collect())
    }

    #[test]
    fn an_address_is_permitted_by_the_host_that_is_requested() {
        let list = hosts(&["API.Example.com", "127.0.0.1:8080", "[::1]:9"]);
        for address in [
            "https://api.example.com/a",
            "http://api.example.com:81/",
            "HTTP://API.example.COM",
            "http://127.0.0.1:8080/x",
            "http://0x7f.1:8080/",
            "http://[::1]:9/",
        ] {
            assert!(list.check(address).is_ok(), "{address}");
        }
        let denied = |host: &str| Err(Denied::NotAllowed(host.to_owned()));
        assert_eq!(list.check("http://127.0.0.1/"), denied("127.0.0.1"));
        assert_eq!(list.check("http://127.0.0.1:81/"), denied("127.0.0.1:81"));
        assert_eq!(list.check("http://localhost:8080/"), denied("localhost:8080"));
        assert_eq!(list.check("http://evil.test\\@api.example.com/"), denied("evil.test"));
        assert_eq!(list.check("http://evil.test#@api.example.com/"), denied("evil.test"));
        assert_eq!(list.check("http://api.example.com.evil.test/"), denied("api.example.com.evil.test"));
        assert_eq!(list.check("http://api.example.com@evil.test/"), Err(Denied::HasCredentials));
        for address in ["file:///etc/passwd", "ftp://api.example.com/", "api.example.com", "http://"] {
            assert!(matches!(list.check(address), Err(Denied::NotAnAddress(_))), "{address}");
        }
    }

    #[test]
    fn a_host_is_named_alone() {
        for text in [
            "",
            "*",
            "*.example.com",
            "https://a.test",
            "a.test/x",
            "me@a.test",
            "a b",
            "a.test:99999",
            ":80",
        ] {
            assert!(text.parse::<AllowedHost>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_redirect_is_followed_on_the_same_host_only() {
        let list = hosts(&["a.test", "b.test", "c.test:80"]);
        let follows =
            |from: &str, to: &str| list.follows(&Url::parse(from).unwrap(), &Url::parse(to).unwrap());
        assert!(
            follows("http://a.test/x", "http://a.test/y") && follows("http://a.test/", "https://a.test/")
        );
        assert!(
            !follows("https://a.test/", "http://a.test/") && !follows("http://a.test/", "http://b.test/")
        );
        assert!(
            !follows("http://c.test/", "http://c.test:81/") && !follows("http://a.test/", "http://u@a.test/")
        );
    }
}
