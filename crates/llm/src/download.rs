//! Downloads of files to disk.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use reqwest::{Method, Request, StatusCode, Url};
use tokio::runtime::Runtime;

use super::Error;
use super::client::{RetryPolicy, runtime};
use super::key::Key;
use super::retry::{Attempt, is_retryable, retried};
use super::sender::{Sender, public_url};
use callsieve_engine::context::Cancelled;

/// Downloads files, one after the other.
pub struct Downloader {
    sender: Sender,
    runtime: Runtime,
}

impl Downloader {
    /// Returns a downloader. The key is sent to the server of a URL, but not to servers that it redirects to.
    ///
    /// # Errors
    /// If the HTTP client cannot be created.
    pub fn new(key: Option<Key>, policy: RetryPolicy) -> Result<Self, Error> {
        Ok(Self { sender: Sender::of_downloads(key, policy)?, runtime: runtime()? })
    }

    /// Downloads a URL to a file; returns `false` if the server does not have it.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses, or the file cannot be written.
    pub fn get(&self, url: &str, path: &Path, cancelled: Cancelled<'_>) -> Result<bool, Error> {
        let url = Url::parse(url).map_err(|error| Error::Setting(format!("invalid address: {error}")))?;
        self.runtime
            .block_on(retried(cancelled, async |number| self.attempt(&url, path, number, cancelled).await))
    }

    /// Tries once. The result is `false` if the server does not have the file.
    async fn attempt(
        &self,
        url: &Url,
        path: &Path,
        n_attempts: u32,
        cancelled: Cancelled<'_>,
    ) -> Result<Attempt<bool>, Error> {
        let again = |error: reqwest::Error| {
            let error = Error::Unreachable { url: public_url(url), what: self.sender.describe(error) };
            Ok(Attempt::Failed(error, self.sender.policy.wait(n_attempts, None)))
        };
        let request = self.sender.keyed(Request::new(Method::GET, url.clone()));
        let mut response = match self.sender.http.execute(request).await {
            Ok(response) => response,
            Err(error) => return again(error),
        };
        let status = response.status();
        if status == StatusCode::NOT_FOUND {
            return Ok(Attempt::Done(false));
        }
        if !status.is_success() {
            let wait = self.sender.policy.wait(n_attempts, Some(response.headers()));
            let told = self.sender.policy.told_wait(response.headers());
            let message = format!("{told}{}", status.canonical_reason().unwrap_or("refused"));
            let error = Error::Refused { url: public_url(url), status: status.as_u16(), message };
            return Ok(Attempt::Failed(error, wait.filter(|_| is_retryable(status, ""))));
        }
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        let mut file = File::create(path).map_err(failed)?;
        loop {
            if cancelled() {
                return Err(Error::Interrupted);
            }
            match response.chunk().await {
                Ok(Some(bytes)) => file.write_all(&bytes).map_err(failed)?,
                Ok(None) => return Ok(Attempt::Done(true)),
                Err(error) => return again(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callsieve_testkit::server::{Reply, Server};

    #[test]
    fn an_interrupted_download_is_retried_and_a_missing_file_is_reported() {
        let server = Server::start(|request, number| match (request.path.as_str(), number) {
            ("/there", 0) => Reply::new(503, "busy"),
            ("/there", 1) => Reply::new(200, "whole file").cut(4),
            ("/there", _) => Reply::new(200, "whole file"),
            _ => Reply::new(404, "no"),
        });
        let folder = tempfile::tempdir().unwrap();
        let (path, downloader) =
            (folder.path().join("f"), Downloader::new(None, RetryPolicy::fast()).unwrap());
        assert!(downloader.get(&format!("{}/there", server.url), &path, &|| false).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole file");
        assert!(!downloader.get(&format!("{}/absent", server.url), &path, &|| false).unwrap());
        assert_eq!(server.requests().len(), 4);
    }

    #[test]
    fn the_error_of_a_refused_request_has_no_secrets() {
        let server = Server::start(|_, _| Reply::new(403, "no"));
        let downloader = Downloader::new(Some(Key::new("hf-secret").unwrap()), RetryPolicy::fast()).unwrap();
        let url = format!("{}/model?token=hf-secret", server.url.replace("http://", "http://me:hf-secret@"));
        let folder = tempfile::tempdir().unwrap();
        let error = downloader.get(&url, &folder.path().join("f"), &|| false).unwrap_err();
        assert_eq!(error.to_string(), format!("{}/model: HTTP status 403: Forbidden", server.url));
        assert_eq!(server.requests()[0].header("authorization"), Some("Bearer hf-secret"));
    }
}
