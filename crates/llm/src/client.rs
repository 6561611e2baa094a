//! The client of a server with an OpenAI-compatible API, and its runtime.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use reqwest::Url;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::Error;
use super::adapted::Refused;
use super::key::Key;
pub use super::retry::RetryPolicy;
use super::sender::{Sender, public_url};
use callsieve_engine::context::Cancelled;
use callsieve_system::environment::{Environment, OPENAI_BASE};

/// The default server.
const DEFAULT_BASE: &str = "https://api.openai.com/v1";

/// Interval of the checks for cancellation.
const POLL: Duration = Duration::from_millis(50);

/// The client of one server.
pub struct Client {
    pub(super) openai: async_openai::Client<OpenAIConfig>,
    sender: Sender,
    runtime: Runtime,
    /// The address without parameters; it may hold secrets.
    base: String,
    shown: String,
    max_concurrent: usize,
    /// Parts of chat requests that the server refused, if requests may go without them.
    pub(super) refused: Option<Arc<Refused>>,
}

impl std::fmt::Debug for Client {
    /// Formats the address, without its secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Client").field(&self.shown).finish()
    }
}

impl Client {
    /// Returns a client of the server in `$OPENAI_BASE_URL` with the key in `$OPENAI_API_KEY`, if there is one.
    ///
    /// # Errors
    /// If the address is invalid, or the key cannot be sent.
    pub fn of(environment: &Environment) -> Result<Self, Error> {
        Self::with_policy(environment, RetryPolicy::default())
    }

    /// Returns a client like [`Client::of`] with another policy.
    ///
    /// # Errors
    /// If the address is invalid, or the key cannot be sent.
    pub fn with_policy(environment: &Environment, policy: RetryPolicy) -> Result<Self, Error> {
        let server = environment.openai();
        let key = server.key.as_deref().map(Key::new).transpose()?;
        Self::new(server.base.as_deref().unwrap_or(DEFAULT_BASE), key, policy)
    }

    /// Returns a client of a server; the address does not include `/embeddings` or another resource. Parameters of the address
    /// are sent with every request.
    ///
    /// # Errors
    /// If the address is invalid, or the runtime cannot be created.
    pub fn new(base: &str, key: Option<Key>, policy: RetryPolicy) -> Result<Self, Error> {
        let base = base.trim().trim_end_matches('/');
        let url = Url::parse(base).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
        let Some(url) = url else {
            return Err(Error::Setting(format!("{OPENAI_BASE} must be an address like {DEFAULT_BASE}")));
        };
        let max_concurrent = policy.max_concurrent;
        let sender = Sender::of_server(&url, key, policy)?;
        // The sender adds the parameters, behind the resource.
        let base = base.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        // The sender adds the key. Empty values here are not read from the environment.
        let config =
            OpenAIConfig::new().with_api_base(base).with_api_key("").with_org_id("").with_project_id("");
        let openai =
            async_openai::Client::build(sender.http.clone(), config).with_http_service(sender.clone());
        let base = base.to_owned();
        Ok(Self {
            openai,
            sender,
            base,
            runtime: runtime()?,
            shown: public_url(&url),
            max_concurrent,
            refused: None,
        })
    }

    /// Lets chat requests go without what the server refuses: the form of the answer, the temperature, the name of the limit.
    #[must_use]
    pub fn adapting(self) -> Self {
        Self { refused: Some(Arc::default()), ..self }
    }

    /// Lets chat requests name the limit of output as the server wants it, and changes nothing else.
    #[must_use]
    pub fn renaming_limit(self) -> Self {
        Self { refused: Some(Arc::new(Refused::only_limit())), ..self }
    }

    /// Returns the address of the server without secrets.
    pub fn base(&self) -> &str {
        self.shown.trim_end_matches('/')
    }

    pub(super) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Returns the address of a resource as it is requested.
    pub(super) fn url(&self, resource: &str) -> String {
        format!("{}/{resource}", self.base)
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(super) fn max_concurrent(&self) -> usize {
        self.max_concurrent
    }

    /// Returns the address of a resource, for messages.
    pub(super) fn address(&self, resource: &str) -> String {
        format!("{}/{resource}", self.base())
    }

    /// Sends several requests concurrently and returns the responses in the order of the requests. The first error
    /// cancels the others.
    pub(super) fn send_all<T: Send + 'static, F: Future<Output = Result<T, Error>> + Send + 'static>(
        &self,
        requests: Vec<F>,
        cancelled: Cancelled<'_>,
    ) -> Result<Vec<T>, Error> {
        let mut responses: Vec<Option<T>> = requests.iter().map(|_| None).collect();
        let mut waiting = requests.into_iter().enumerate();
        self.runtime.block_on(async {
            let mut running = JoinSet::new();
            loop {
                if cancelled() {
                    return Err(Error::Interrupted);
                }
                while running.len() < self.max_concurrent
                    && let Some((at, request)) = waiting.next()
                {
                    running.spawn(async move { (at, request.await) });
                }
                match tokio::time::timeout(POLL, running.join_next()).await {
                    Err(_) => {}
                    Ok(None) => return Ok(()),
                    Ok(Some(Ok((at, response)))) => responses[at] = Some(response?),
                    Ok(Some(Err(error))) => return Err(Error::Setting(error.to_string())),
                }
            }
        })?;
        Ok(responses.into_iter().flatten().collect())
    }

    /// Converts an error of `async-openai`.
    pub(super) fn error(url: &str, error: OpenAIError) -> Error {
        match error {
            OpenAIError::Boxed(error) => match error.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => Error::Answer { url: url.to_owned(), what: other.to_string() },
            },
            // The unreadable response is omitted: it may be long, and may repeat the request.
            OpenAIError::JSONDeserialize(error, _) => {
                Error::Answer { url: url.to_owned(), what: format!("the response cannot be read: {error}") }
            }
            other => Error::Answer { url: url.to_owned(), what: other.to_string() },
        }
    }
}

/// Creates a runtime with one thread, which only waits for servers.
pub(super) fn runtime() -> Result<Runtime, Error> {
    let built = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    built.map_err(|error| Error::Setting(format!("cannot create a runtime for network requests: {error}")))
}
