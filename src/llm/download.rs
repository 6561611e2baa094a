//! Files from a server, straight to disk.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use reqwest::{Method, Request, StatusCode, Url};
use tokio::runtime::Runtime;

use super::Error;
use super::client::{Patience, runtime};
use super::key::Key;
use super::retry::is_passing;
use super::sender::{Sender, shown};
use crate::engine::context::Cancelled;

/// Gets files, one after the other.
pub struct Downloader {
    sender: Sender,
    runtime: Runtime,
}

/// How an attempt ended.
enum Attempt {
    Done,
    NotThere,
    Again(Option<Duration>, Error),
}

impl Downloader {
    /// Takes the key that is sent to the first server; one that it leads on to does not get it.
    ///
    /// # Errors
    /// There can be no client.
    pub fn new(key: Option<Key>, patience: Patience) -> Result<Self, Error> {
        Ok(Self { sender: Sender::new(key, patience)?, runtime: runtime()? })
    }

    /// Writes what an address holds into a file; says whether there is anything.
    ///
    /// # Errors
    /// The server cannot be reached or refuses, or the file cannot be written.
    pub fn get(&self, url: &str, path: &Path, cancelled: Cancelled<'_>) -> Result<bool, Error> {
        let url = Url::parse(url).map_err(|error| Error::Setting(format!("no address: {error}")))?;
        self.runtime.block_on(async {
            let mut n_attempts = 0;
            loop {
                n_attempts += 1;
                match self.attempt(&url, path, n_attempts, cancelled).await? {
                    Attempt::Done => return Ok(true),
                    Attempt::NotThere => return Ok(false),
                    Attempt::Again(None, error) => return Err(error),
                    Attempt::Again(Some(wait), _) => tokio::time::sleep(wait).await,
                }
            }
        })
    }

    async fn attempt(
        &self,
        url: &Url,
        path: &Path,
        n_attempts: u32,
        cancelled: Cancelled<'_>,
    ) -> Result<Attempt, Error> {
        let again = |error: reqwest::Error| {
            let error = Error::Unreachable { url: shown(url), what: self.sender.told(error) };
            Ok(Attempt::Again(self.sender.patience.wait(n_attempts, None), error))
        };
        let request = self.sender.keyed(Request::new(Method::GET, url.clone()));
        let mut response = match self.sender.http.execute(request).await {
            Ok(response) => response,
            Err(error) => return again(error),
        };
        let status = response.status();
        if status == StatusCode::NOT_FOUND {
            return Ok(Attempt::NotThere);
        }
        if !status.is_success() {
            let wait = self.sender.patience.wait(n_attempts, Some(response.headers()));
            let message = status.canonical_reason().unwrap_or("refused").to_owned();
            let error = Error::Refused { url: shown(url), status: status.as_u16(), message };
            return Ok(Attempt::Again(wait.filter(|_| is_passing(status, "")), error));
        }
        let failed = |cause| Error::File { path: path.to_owned(), cause };
        let mut file = File::create(path).map_err(failed)?;
        loop {
            if cancelled() {
                return Err(Error::Interrupted);
            }
            match response.chunk().await {
                Ok(Some(bytes)) => file.write_all(&bytes).map_err(failed)?,
                Ok(None) => return Ok(Attempt::Done),
                Err(error) => return again(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::server::{Reply, Server};
    use super::*;

    fn impatient() -> Patience {
        Patience {
            first_wait: Duration::from_millis(1),
            max_wait: Duration::from_millis(5),
            ..Patience::default()
        }
    }

    #[test]
    fn a_file_comes_whole_or_not_at_all_and_what_breaks_off_is_asked_for_again() {
        let server = Server::start(|asked, number| match (asked.path.as_str(), number) {
            ("/there", 0) => Reply::new(503, "busy"),
            ("/there", 1) => Reply::new(200, "whole file").cut(4),
            ("/there", _) => Reply::new(200, "whole file"),
            _ => Reply::new(404, "no"),
        });
        let folder = tempfile::tempdir().unwrap();
        let (path, downloader) = (folder.path().join("f"), Downloader::new(None, impatient()).unwrap());
        assert!(downloader.get(&format!("{}/there", server.url), &path, &|| false).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole file");
        assert!(!downloader.get(&format!("{}/absent", server.url), &path, &|| false).unwrap());
        assert_eq!(server.asked().len(), 4);
    }

    #[test]
    fn a_server_that_refuses_is_named_without_what_may_be_secret() {
        let server = Server::start(|_, _| Reply::new(403, "no"));
        let downloader = Downloader::new(Some(Key::new("hf-secret").unwrap()), impatient()).unwrap();
        let url = format!("{}/model?token=hf-secret", server.url.replace("http://", "http://me:hf-secret@"));
        let folder = tempfile::tempdir().unwrap();
        let error = downloader.get(&url, &folder.path().join("f"), &|| false).unwrap_err();
        assert_eq!(error.to_string(), format!("{}/model answered 403: Forbidden", server.url));
        assert_eq!(server.asked()[0].header("authorization"), Some("Bearer hf-secret"));
    }
}
