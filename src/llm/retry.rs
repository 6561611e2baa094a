//! What is tried again, and after how long.
//!
//! A server that is busy or broken is asked again, after as long as it says, else after a wait
//! that doubles. Who has no credit left, no right or a wrong request would be refused again.

use std::hash::{BuildHasher as _, RandomState};
use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How patient a client is.
#[derive(Debug, Clone)]
pub struct Patience {
    /// Requests made of one before it counts as failed.
    pub max_attempts: u32,
    /// The wait after the first; each further one is twice as long.
    pub first_wait: Duration,
    /// The longest wait, also where a server asks for more.
    pub max_wait: Duration,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Requests under way at a time.
    pub max_concurrent: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            max_attempts: 6,
            first_wait: Duration::from_millis(500),
            max_wait: Duration::from_mins(1),
            timeout: Duration::from_mins(2),
            max_concurrent: 4,
        }
    }
}

/// Milliseconds to wait, which some servers give beside the seconds.
const RETRY_AFTER_MS: &str = "retry-after-ms";
/// What a server says with 429 where waiting does not help.
const NO_CREDIT: &str = "insufficient_quota";

/// Whether the same request may be answered later.
pub(super) fn is_passing(status: StatusCode, body: &str) -> bool {
    match status.as_u16() {
        429 => !body.contains(NO_CREDIT),
        408 | 409 | 425 => true,
        _ => status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED,
    }
}

impl Patience {
    /// The wait before another attempt, after so many; nothing where there were enough.
    pub(super) fn wait(&self, n_attempts: u32, headers: Option<&HeaderMap>) -> Option<Duration> {
        if n_attempts >= self.max_attempts {
            return None;
        }
        let wait = headers.and_then(asked_for).unwrap_or_else(|| self.backoff(n_attempts));
        Some(wait.min(self.max_wait))
    }

    /// From a half to the whole of the doubled wait, so that clients that failed together do not come back together.
    fn backoff(&self, n_attempts: u32) -> Duration {
        let doubled = self.first_wait.saturating_mul(1_u32 << (n_attempts.saturating_sub(1)).min(16));
        let chance = u32::try_from(RandomState::new().hash_one(n_attempts) % 1000).unwrap_or_default();
        doubled / 2 + doubled / 2_000 * chance
    }
}

/// The wait that a server asks for: milliseconds, seconds, or a time.
fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(wait) = text(RETRY_AFTER_MS).and_then(|ms| ms.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(wait / 1000.0).ok();
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let time: SystemTime = jiff::fmt::rfc2822::parse(after).ok()?.timestamp().into();
    Some(time.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn busy_and_broken_servers_are_asked_again_and_others_not() {
        let passing = |status: u16, body| is_passing(StatusCode::from_u16(status).unwrap(), body);
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(passing(status, "plain text"), "{status}");
        }
        for status in [400, 401, 403, 404, 413, 422, 501] {
            assert!(!passing(status, ""), "{status}");
        }
        assert!(!passing(429, r#"{"error": {"code": "insufficient_quota"}}"#));
    }

    #[test]
    fn a_server_says_how_long_in_milliseconds_seconds_or_by_a_time() {
        let patience = Patience::default();
        let wait = |name, value: &str| patience.wait(1, Some(&headers(name, value))).unwrap();
        assert_eq!(wait("retry-after-ms", "1500"), Duration::from_millis(1500));
        assert_eq!(wait("retry-after", "2"), Duration::from_secs(2));
        assert_eq!(wait("retry-after", "0.25"), Duration::from_millis(250));
        assert_eq!(wait("retry-after", "9999"), patience.max_wait);
        assert_eq!(wait("retry-after", "Thu, 29 Feb 2024 05:34:00 GMT"), Duration::ZERO);
        assert_eq!(wait("retry-after", "Sat, 29 Feb 2144 05:34:00 GMT"), patience.max_wait);
        for nonsense in ["soon", "-1", "NaN"] {
            assert!(wait("retry-after", nonsense) <= patience.first_wait, "{nonsense}");
        }
    }

    #[test]
    fn waits_double_up_to_a_limit_and_attempts_are_counted() {
        let patience = Patience::default();
        for n_attempts in 1..patience.max_attempts {
            let doubled = patience.first_wait * (1 << (n_attempts - 1));
            let wait = patience.wait(n_attempts, None).unwrap();
            assert!(doubled / 2 <= wait && wait <= doubled, "{wait:?}");
        }
        assert_eq!(patience.wait(patience.max_attempts, None), None);
    }
}
