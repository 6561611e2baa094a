//! A server that speaks OpenAI's protocol, and the runtime that waits for it.

use std::future::Future;
use std::time::Duration;

use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use reqwest::Url;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::Error;
use super::key::Key;
pub use super::retry::Patience;
use super::sender::{Sender, shown};
use crate::engine::context::Cancelled;
use crate::environment::{Environment, OPENAI_BASE};

/// Where no server is named.
const DEFAULT_BASE: &str = "https://api.openai.com/v1";

/// How often it is asked whether to stop.
const POLL: Duration = Duration::from_millis(50);

/// A server, its key and what waits for it.
pub struct Client {
    pub(super) openai: async_openai::Client<OpenAIConfig>,
    runtime: Runtime,
    shown: String,
    max_concurrent: usize,
}

impl Client {
    /// The server of `$OPENAI_BASE_URL` with the key of `$OPENAI_API_KEY`; a server of one's own may need none.
    ///
    /// # Errors
    /// The address is none, or the key cannot be sent.
    pub fn of(environment: &Environment) -> Result<Self, Error> {
        let server = environment.openai();
        let key = server.key.as_deref().map(Key::new).transpose()?;
        Self::new(server.base.as_deref().unwrap_or(DEFAULT_BASE), key, Patience::default())
    }

    /// A server by its address, which ends ahead of `/embeddings` and the like.
    ///
    /// # Errors
    /// The address is none, or the runtime cannot be made.
    pub fn new(base: &str, key: Option<Key>, patience: Patience) -> Result<Self, Error> {
        let base = base.trim().trim_end_matches('/');
        let url = Url::parse(base).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
        let Some(url) = url else {
            return Err(Error::Setting(format!("{OPENAI_BASE} must be an address like {DEFAULT_BASE}")));
        };
        let max_concurrent = patience.max_concurrent;
        let sender = Sender::new(key, patience)?;
        // The sender puts the key in; what is empty here is not read from the environment.
        let config =
            OpenAIConfig::new().with_api_base(base).with_api_key("").with_org_id("").with_project_id("");
        let openai = async_openai::Client::build(sender.http.clone(), config).with_http_service(sender);
        Ok(Self { openai, runtime: runtime()?, shown: shown(&url), max_concurrent })
    }

    /// The server's address, without what may be secret in it.
    pub fn base(&self) -> &str {
        self.shown.trim_end_matches('/')
    }

    /// The address of a resource, for messages.
    pub(super) fn address(&self, resource: &str) -> String {
        format!("{}/{resource}", self.base())
    }

    /// Asks for several things at once; the answers come in the order of the questions. The first error ends all.
    pub(super) fn ask_all<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &self,
        questions: Vec<F>,
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<T>, Error> {
        let mut answers: Vec<Option<T>> = questions.iter().map(|_| None).collect();
        let mut waiting = questions.into_iter().enumerate();
        self.runtime.block_on(async {
            let mut asked = JoinSet::new();
            loop {
                if cancelled() {
                    return Err(Error::Interrupted);
                }
                while asked.len() < self.max_concurrent
                    && let Some((at, question)) = waiting.next()
                {
                    asked.spawn(async move { (at, question.await) });
                }
                match tokio::time::timeout(POLL, asked.join_next()).await {
                    Err(_) => {}
                    Ok(None) => return Ok(()),
                    Ok(Some(Ok((at, answer)))) => answers[at] = Some(answer?),
                    Ok(Some(Err(error))) => return Err(Error::Setting(error.to_string())),
                }
            }
        })?;
        Ok(answers.into_iter().flatten().collect())
    }

    /// What an error of `async-openai` says, in this room's words.
    pub(super) fn error(url: &str, error: OpenAIError) -> Error {
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => Error::Answer { url: url.to_owned(), what: other.to_string() },
            },
            // What could not be read is left out: it may be long, and may repeat what was sent.
            OpenAIError::JSONDeserialize(error, _) => {
                Error::Answer { url: url.to_owned(), what: format!("the answer cannot be read: {error}") }
            }
            other => Error::Answer { url: url.to_owned(), what: other.to_string() },
        }
    }
}

/// A runtime of one thread: it waits, and the work is elsewhere.
pub(super) fn runtime() -> Result<Runtime, Error> {
    let built = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    built.map_err(|error| Error::Setting(format!("cannot wait for a server: {error}")))
}
