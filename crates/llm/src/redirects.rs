//! Redirects: a model server may send requests on within itself, and to no other server.
//!
//! A request has texts of rows and a key, and both go where the user said. So only redirects that keep scheme, host, port, method
//! and body are followed; any other is an error that has the address to set. Downloads of public files have no texts, and hubs
//! redirect them to other hosts, which get no key.

use reqwest::header::{HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{StatusCode, Url};

use super::Error;
use super::sender::public_url;
use callsieve_system::environment::OPENAI_BASE;

/// Most redirects of one request.
const MAX_REDIRECTS: usize = 5;

/// The resources below the address of a server.
const RESOURCES: [&str; 4] = ["/chat/completions", "/embeddings", "/files", "/batches"];

/// Which redirects a client follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirects {
    /// Within the server.
    SameServer,
    /// To any server that is as safe: not from an encrypted connection to one that is not.
    AnyServer,
}

impl Redirects {
    pub(super) fn policy(self) -> Policy {
        Policy::custom(move |attempt| {
            let Some(last) = attempt.previous().last() else { return attempt.stop() };
            let is_allowed = match self {
                Self::SameServer => {
                    let keeps_body = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT]
                        .contains(&attempt.status());
                    keeps_body && attempt.url().origin() == last.origin()
                }
                Self::AnyServer => last.scheme() != "https" || attempt.url().scheme() == "https",
            };
            if is_allowed && attempt.previous().len() <= MAX_REDIRECTS {
                attempt.follow()
            } else {
                attempt.stop()
            }
        })
    }
}

/// Returns the error of a response that redirects and was not followed.
pub(super) fn error_of(url: &Url, status: StatusCode, headers: &HeaderMap) -> Option<Error> {
    if !status.is_redirection() {
        return None;
    }
    let target = url.join(headers.get(LOCATION)?.to_str().ok()?).ok()?;
    Some(Error::Redirected { url: public_url(url), target: public_url(&target) })
}

/// Returns how to allow a redirect from one address to another.
pub(super) fn hint(url: &str, target: &str) -> String {
    if url == target {
        return "it goes round in circles".to_owned();
    }
    let base =
        RESOURCES.iter().find_map(|resource| Some(&target[..target.find(resource)?])).unwrap_or(target);
    format!(
        "texts and keys are sent only where {OPENAI_BASE} says; if that is the right server, set {OPENAI_BASE}={base}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_has_the_address_to_set_and_no_secrets() {
        let url = Url::parse("https://a.test/v1/chat/completions?key=secret").unwrap();
        let headers = |location: &str| HeaderMap::from_iter([(LOCATION, location.parse().unwrap())]);
        let error = |status, location| {
            let status = StatusCode::from_u16(status).unwrap();
            error_of(&url, status, &headers(location)).map(|error| error.to_string())
        };
        let moved = error(307, "https://me:secret@b.test/openai/v1/chat/completions?key=secret").unwrap();
        assert!(moved.contains("https://a.test/v1/chat/completions redirects to https://b.test/"), "{moved}");
        assert!(moved.ends_with("set OPENAI_BASE_URL=https://b.test/openai/v1"), "{moved}");
        assert!(!moved.contains("secret"), "{moved}");
        assert!(error(302, "/login").unwrap().ends_with("set OPENAI_BASE_URL=https://a.test/login"));
        assert!(error(307, "/v1/chat/completions").unwrap().ends_with("it goes round in circles"));
        assert_eq!((error(200, "/x"), error(307, "http://[")), (None, None));
        assert_eq!(
            error_of(&url, StatusCode::NOT_MODIFIED, &HeaderMap::new()).map(|error| error.to_string()),
            None
        );
    }
}
