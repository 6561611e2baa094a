//! The retry policy: which requests are retried, and after which wait.
//!
//! A request to a busy or failing server is retried after the wait that the server requests, or
//! else with exponential backoff. Requests without credit or permission, and invalid requests,
//! are not retried.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, SystemTime};

use callsieve_engine::context::Cancelled;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::Error;

/// The retry policy of a client.
#[derive(Debug, Clone)]
pub struct RetryPolicy {
    /// Maximum number of attempts per request.
    pub max_attempts: u32,
    /// The wait after the first attempt; it doubles with each further attempt.
    pub first_wait: Duration,
    /// The maximum wait that is doubled.
    pub max_wait: Duration,
    /// The longest wait that a server may request: a request to wait longer is a failure.
    pub longest_requested: Duration,
    /// The longest wait for a connection, and for each part of a response.
    pub timeout: Duration,
    /// The longest time of one attempt.
    pub deadline: Duration,
    /// Maximum number of concurrent requests.
    pub max_concurrent: usize,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 6,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_mins(1),
            // The window of the limits of model hubs.
            longest_requested: Duration::from_mins(5),
            timeout: Duration::from_mins(2),
            deadline: Duration::from_mins(10),
            max_concurrent: 4,
        }
    }
}

/// The longest wait for a reply of a language model. Servers send nothing before the whole reply, which takes minutes where a model
/// runs without an accelerator.
const LONGEST_REPLY: Duration = Duration::from_mins(10);

impl RetryPolicy {
    /// Returns the policy of requests to a language model, so many at once.
    pub fn of_models(n_concurrent: usize) -> Self {
        Self {
            timeout: LONGEST_REPLY,
            deadline: 3 * LONGEST_REPLY,
            max_concurrent: n_concurrent.max(1),
            ..Self::default()
        }
    }
}

/// The wait in milliseconds, which some servers send in addition to seconds.
const RETRY_AFTER_MS: &str = "retry-after-ms";
/// The error code with status 429 if waiting does not help.
const NO_CREDIT: &str = "insufficient_quota";

/// Returns whether the same request may succeed later.
pub(super) fn is_retryable(status: StatusCode, body: &str) -> bool {
    match status.as_u16() {
        429 => !body.contains(NO_CREDIT),
        408 | 409 | 425 => true,
        _ => status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED,
    }
}

impl RetryPolicy {
    /// Retries at once, for tests.
    #[cfg(test)]
    pub(super) fn fast() -> Self {
        let [first_wait, max_wait] = [1, 5].map(Duration::from_millis);
        Self { first_wait, max_wait, ..Self::default() }
    }

    /// Returns the wait before the next attempt; `None` if there were `max_attempts`, or if the server wants to be left alone for
    /// longer than `longest_requested`: earlier attempts would only be refused.
    pub(super) fn wait(&self, n_attempts: u32, headers: Option<&HeaderMap>) -> Option<Duration> {
        if n_attempts >= self.max_attempts {
            return None;
        }
        match headers.and_then(retry_after) {
            Some(requested) => (requested <= self.longest_requested).then_some(requested),
            None => Some(self.backoff(n_attempts).min(self.max_wait)),
        }
    }

    /// Returns the wait that a server requests, if it is longer than anything that is waited for.
    fn refused_wait(&self, headers: &HeaderMap) -> Option<Duration> {
        retry_after(headers).filter(|requested| *requested > self.longest_requested)
    }

    /// Says that a server wants to be left alone for too long, before what it says; nothing if it does not.
    pub(super) fn told_wait(&self, headers: &HeaderMap) -> String {
        const LONG: Duration = Duration::from_hours(1000);
        match self.refused_wait(headers) {
            Some(wait) if wait > LONG => "the server asks to wait more than 1,000 hours: ".to_owned(),
            Some(wait) => format!("the server asks to wait {} min: ", wait.as_secs().div_ceil(60)),
            None => String::new(),
        }
    }

    /// Returns the wait before the next attempt without a response; `None` if there were `max_attempts`.
    pub fn wait_between(&self, n_attempts: u32) -> Option<Duration> {
        self.wait(n_attempts, None)
    }

    /// Returns a random wait from nothing to the doubled wait (full jitter), so that clients do not retry at the same time.
    fn backoff(&self, n_attempts: u32) -> Duration {
        let doubled = self.first_wait.saturating_mul(1_u32 << (n_attempts.saturating_sub(1)).min(16));
        let chance = u32::try_from(RandomState::new().hash_one(n_attempts) % 1001).unwrap_or_default();
        doubled / 1000 * chance
    }
}

/// How an attempt ended.
pub(super) enum Attempt<T> {
    /// It has a result.
    Done(T),
    /// It failed; with the wait before the next one, if there may be one.
    Failed(Error, Option<Duration>),
}

/// Attempts a request until it has a result, or may not be attempted again. The attempts are numbered from 1.
///
/// # Errors
/// That of an attempt that may not be repeated, or the user asked to stop.
pub(super) async fn retried<T>(
    cancelled: Cancelled<'_>,
    mut attempt: impl AsyncFnMut(u32) -> Result<Attempt<T>, Error>,
) -> Result<T, Error> {
    const LOOK: Duration = Duration::from_millis(100);
    let mut number = 0;
    loop {
        number += 1;
        let mut wait = match attempt(number).await? {
            Attempt::Done(result) => return Ok(result),
            Attempt::Failed(error, None) => return Err(error),
            Attempt::Failed(_, Some(wait)) => wait,
        };
        while !wait.is_zero() {
            if cancelled() {
                return Err(Error::Interrupted);
            }
            tokio::time::sleep(wait.min(LOOK)).await;
            wait = wait.saturating_sub(LOOK);
        }
    }
}

/// Reads a span of time such as `1s`, `6m0s`, `20ms`, `1h2m3.5s`, or seconds.
pub(super) fn span(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let (mut seconds, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let n_digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..n_digits].parse().ok()?;
        rest = &rest[n_digits..];
        let n_letters = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        seconds += number
            * match &rest[..n_letters] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[n_letters..];
    }
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns the wait that a server requests, in milliseconds, in seconds, or as a time.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    // More than a duration can hold is long as well.
    let span = |number: &str, factor: f64| {
        let seconds = number.parse::<f64>().ok().filter(|number| *number >= 0.0)? * factor;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    };
    if let Some(wait) = text(RETRY_AFTER_MS).and_then(|ms| span(ms, 0.001)) {
        return Some(wait);
    }
    let after = text(RETRY_AFTER.as_str())?;
    span(after, 1.0).or_else(|| {
        let time = jiff::fmt::rfc2822::parse(after).ok().map(|time| SystemTime::from(time.timestamp()));
        // The last years that a date can have are beyond the last time that is a time stamp.
        let is_far = after.contains(" 9999 ");
        let until = |time: SystemTime| time.duration_since(SystemTime::now()).unwrap_or_default();
        time.map(until).or(is_far.then_some(Duration::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn requests_to_busy_and_failing_servers_are_retried_and_others_not() {
        let retryable = |status: u16, body| is_retryable(StatusCode::from_u16(status).unwrap(), body);
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(retryable(status, "plain text"), "{status}");
        }
        for status in [400, 401, 403, 404, 413, 422, 501] {
            assert!(!retryable(status, ""), "{status}");
        }
        assert!(!retryable(429, r#"{"error": {"code": "insufficient_quota"}}"#));
    }

    #[test]
    fn a_server_requests_a_wait_in_milliseconds_in_seconds_or_as_a_time() {
        let policy = RetryPolicy::default();
        let wait = |name, value: &str| policy.wait(1, Some(&headers(name, value))).unwrap();
        assert_eq!(wait("retry-after-ms", "1500"), Duration::from_millis(1500));
        assert_eq!(wait("retry-after", "2"), Duration::from_secs(2));
        assert_eq!(wait("retry-after", "0.25"), Duration::from_millis(250));
        assert_eq!(wait("retry-after", "300"), policy.longest_requested);
        assert_eq!(wait("retry-after", "Thu, 29 Feb 2024 05:34:00 GMT"), Duration::ZERO);
        for far in
            ["301", "9999", "1e30", "inf", "Sat, 29 Feb 2144 05:34:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"]
        {
            assert_eq!(policy.wait(1, Some(&headers("retry-after", far))), None, "{far}");
        }
        let mut both = headers("retry-after", "7");
        both.insert("retry-after-ms", "-1".parse().unwrap());
        assert_eq!(policy.wait(1, Some(&both)), Some(Duration::from_secs(7)));
        for nonsense in ["soon", "-1", "NaN"] {
            assert!(wait("retry-after", nonsense) <= policy.first_wait, "{nonsense}");
        }
    }

    #[test]
    fn spans_of_time_are_read_in_all_forms() {
        for (text, millis) in
            [("20ms", 20), ("1s", 1000), ("6m0s", 360_000), ("1h1m1.5s", 3_661_500), ("2", 2000), ("0s", 0)]
        {
            assert_eq!(span(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["soon", "-1", "NaN", "1d", "s"] {
            assert_eq!(span(text), None, "{text}");
        }
    }

    #[test]
    fn waits_double_and_attempts_are_limited() {
        let policy = RetryPolicy::default();
        for n_attempts in 1..policy.max_attempts {
            let doubled = policy.first_wait * (1 << (n_attempts - 1));
            let wait = policy.wait(n_attempts, None).unwrap();
            assert!(wait <= doubled, "{wait:?}");
        }
        assert_eq!(policy.wait(policy.max_attempts, None), None);
    }
}
