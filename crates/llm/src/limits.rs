//! Limits of requests and tokens that a server reports in its headers, so that it has no reason to refuse.
//!
//! Each limit is a bucket: what remained by the last response, what was refilled since, less the requests under way. A request
//! waits until it fits into both buckets. Tokens of a request are estimated before it is sent; what remains after it is taken
//! from its response. A server whose headers do not show whether it refills steadily counts as one that refills all at once, at
//! the time of its reset. Without headers nothing waits.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use reqwest::header::HeaderMap;
use tokio::sync::Notify;

use super::retry::span;

/// Added to the time of a reset: servers round it, and messages take time.
const MARGIN: Duration = Duration::from_millis(50);

/// The shortest wait: what is under way may be what has no room.
const SHORTEST: Duration = Duration::from_millis(5);

/// Requests and tokens.
const N_KINDS: usize = 2;

/// The kinds of limits that share a bucket, in the names of headers. The scarcest of a kind counts.
const KINDS: [&[&str]; N_KINDS] = [&["requests"], &["tokens", "input-tokens", "output-tokens"]];

/// The limits of one server.
#[derive(Debug, Default)]
pub(super) struct Limits {
    state: Mutex<State>,
    /// A response changed them.
    changed: Notify,
}

/// A request under way; dropped without a response, it no longer counts.
pub(super) struct Admitted<'l> {
    limits: &'l Limits,
    number: u64,
}

impl Limits {
    /// Waits until a request of so many tokens fits, but no longer than `longest`: then the server decides.
    pub(super) async fn admit(&self, tokens: u64, longest: Duration) -> Admitted<'_> {
        let until = Instant::now() + longest;
        loop {
            // Before the check, so that no change is missed.
            let changed = self.changed.notified();
            let wait = {
                let mut state = self.lock();
                let now = Instant::now();
                match state.wait(tokens, now) {
                    Some(wait) if now < until => wait.min(until.saturating_duration_since(now)),
                    _ => return Admitted { limits: self, number: state.admit(tokens) },
                }
            };
            // Both ends are a reason to look again.
            let _ = tokio::time::timeout(wait, changed).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admitted<'_> {
    /// Counts the response.
    pub(super) fn answered(self, headers: &HeaderMap, is_served: bool) {
        let reported = reported(headers, SystemTime::now());
        self.limits.lock().ended(self.number, reported, is_served, Instant::now());
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        self.limits.lock().under_way.remove(&self.number);
        self.limits.changed.notify_waiters();
    }
}

/// What a response reports of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reported {
    limit: f64,
    remaining: f64,
    /// From now to the time at which all is refilled.
    reset: Duration,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next request.
    next: u64,
    /// Tokens of the requests under way, by number.
    under_way: BTreeMap<u64, f64>,
    buckets: [Option<Bucket>; N_KINDS],
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    limit: f64,
    remaining: f64,
    /// When that remained.
    at: Instant,
    /// When all is refilled.
    full: Instant,
    /// Refills steadily, not all at once.
    is_steady: bool,
    /// What was used at some response, and when all was to be refilled by it: as more is used, a steady refill takes longer.
    earlier: (f64, Instant),
    /// The number of the request whose response reported it.
    request: u64,
}

impl Bucket {
    /// What remains, refills included, before the requests under way.
    fn level(&self, now: Instant) -> f64 {
        if now >= self.full {
            return self.limit;
        }
        let refilled = if self.is_steady {
            self.rate() * now.saturating_duration_since(self.at).as_secs_f64()
        } else {
            0.0
        };
        (self.remaining + refilled).min(self.limit)
    }

    /// What is refilled in a second.
    fn rate(&self) -> f64 {
        let seconds = self.full.saturating_duration_since(self.at).as_secs_f64();
        if seconds > 0.0 { (self.limit - self.remaining) / seconds } else { f64::INFINITY }
    }

    /// How long it takes until so much remains.
    fn wait(&self, needed: f64, now: Instant) -> Duration {
        let to_full = self.full.saturating_duration_since(now);
        let missing = needed - self.level(now);
        if !self.is_steady || missing <= 0.0 {
            return to_full;
        }
        Duration::try_from_secs_f64(missing / self.rate()).map_or(to_full, |wait| wait.min(to_full))
    }
}

impl State {
    fn admit(&mut self, tokens: u64) -> u64 {
        let number = self.next;
        self.next += 1;
        self.under_way.insert(number, amount(tokens));
        number
    }

    /// Returns how long a request must wait at least, if it does not fit now.
    fn wait(&self, tokens: u64, now: Instant) -> Option<Duration> {
        let of_tokens: f64 = self.under_way.values().sum();
        let needs = [(1.0, amount(self.under_way.len() as u64)), (amount(tokens), of_tokens)];
        let waits = self.buckets.iter().zip(needs).filter_map(|(bucket, (need, under_way))| {
            let bucket = bucket.as_ref()?;
            // A request above the limit is sent alone, from a full bucket.
            let needed = need.min(bucket.limit) + under_way;
            let has_room = bucket.level(now) >= needed || (under_way <= 0.0 && now >= bucket.full);
            (!has_room).then(|| bucket.wait(needed, now).max(SHORTEST))
        });
        waits.max()
    }

    fn ended(&mut self, request: u64, reported: [Option<Reported>; N_KINDS], is_served: bool, now: Instant) {
        let tokens = self.under_way.remove(&request).unwrap_or(0.0);
        for ((bucket, reported), used) in self.buckets.iter_mut().zip(reported).zip([1.0, tokens]) {
            match (bucket.as_mut(), reported) {
                (None, Some(reported)) => *bucket = Some(Bucket::of(reported, request, now)),
                (Some(bucket), Some(reported)) => bucket.learn(reported, request, now),
                // The server took it, and does not report what remains.
                (Some(bucket), None) if is_served && now < bucket.full => {
                    bucket.remaining = (bucket.level(now) - used).max(0.0);
                    bucket.at = now;
                }
                (_, None) => {}
            }
        }
    }
}

impl Bucket {
    fn of(reported: Reported, request: u64, now: Instant) -> Self {
        let Reported { limit, remaining, reset } = reported;
        let full = now + reset + MARGIN;
        let earlier = (limit - remaining, full);
        Self { limit, remaining, at: now, full, is_steady: false, earlier, request }
    }

    /// Takes what a response reports. One to an earlier request may be older than what is known: it can only lower it.
    fn learn(&mut self, reported: Reported, request: u64, now: Instant) {
        let new = Self::of(reported, request, now);
        let is_later = request >= self.request;
        if !is_later && now < self.full {
            if new.remaining < self.level(now) {
                self.remaining = new.remaining;
                self.at = now;
            }
            return;
        }
        if now >= self.full {
            *self = Self { is_steady: self.is_steady, ..new };
            return;
        }
        let (used_before, full_before) = self.earlier;
        let used = new.limit - new.remaining;
        // By how much a steady refill of what was used since takes longer.
        let expected = (used - used_before) / used * reported.reset.as_secs_f64();
        let moved = new.full.saturating_duration_since(full_before).as_secs_f64();
        let (is_steady, earlier) = if used < used_before {
            (true, new.earlier)
        } else if expected > MARGIN.as_secs_f64() {
            (moved > expected / 2.0, new.earlier)
        } else {
            (self.is_steady, self.earlier)
        };
        *self = Self { is_steady, earlier, ..new };
    }
}

#[allow(clippy::cast_precision_loss)] // Counts of requests and tokens.
fn amount(count: u64) -> f64 {
    count as f64
}

/// Reads the limits of a response, in the headers of OpenAI (which most servers have) and of Anthropic.
fn reported(headers: &HeaderMap, now: SystemTime) -> [Option<Reported>; N_KINDS] {
    KINDS.map(|names| {
        let of_names = names.iter().flat_map(|name| {
            [
                (
                    format!("x-ratelimit-limit-{name}"),
                    format!("x-ratelimit-remaining-{name}"),
                    format!("x-ratelimit-reset-{name}"),
                ),
                (
                    format!("anthropic-ratelimit-{name}-limit"),
                    format!("anthropic-ratelimit-{name}-remaining"),
                    format!("anthropic-ratelimit-{name}-reset"),
                ),
            ]
        });
        let read = of_names.filter_map(|(limit, remaining, reset)| {
            let number = |name: &str| text(headers, name)?.parse::<f64>().ok().filter(|n| n.is_finite());
            let remaining = number(&remaining)?.max(0.0);
            // Without a limit only that nothing remains says something.
            let limit = number(&limit).filter(|limit| *limit > 0.0).or((remaining <= 0.0).then_some(1.0))?;
            let reset = until(text(headers, &reset)?, now)?;
            Some(Reported { limit, remaining: remaining.min(limit), reset })
        });
        read.min_by(|a, b| a.remaining.total_cmp(&b.remaining))
    })
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Reads a span of time, or a time, as the span from now.
fn until(text: &str, now: SystemTime) -> Option<Duration> {
    span(text).or_else(|| {
        let time: SystemTime = text.parse::<jiff::Timestamp>().ok()?.into();
        Some(time.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits with a clock of the test.
    struct Clock {
        state: State,
        start: Instant,
        ms: u64,
    }

    impl Clock {
        fn new() -> Self {
            Self { state: State::default(), start: Instant::now(), ms: 0 }
        }

        fn now(&self) -> Instant {
            self.start + Duration::from_millis(self.ms)
        }

        /// Returns the milliseconds that a request must wait.
        fn wait(&self, tokens: u64) -> Option<u128> {
            self.state.wait(tokens, self.now()).map(|wait| wait.as_millis())
        }

        fn ended(
            &mut self,
            request: u64,
            requests: Option<(f64, f64, u64)>,
            tokens: Option<(f64, f64, u64)>,
        ) {
            let reported = [requests, tokens].map(|reported| {
                let (limit, remaining, ms) = reported?;
                Some(Reported { limit, remaining, reset: Duration::from_millis(ms) })
            });
            let now = self.now();
            self.state.ended(request, reported, true, now);
        }
    }

    const MARGIN_MS: u128 = MARGIN.as_millis();

    #[test]
    fn without_headers_nothing_waits() {
        let mut clock = Clock::new();
        for _ in 0..100 {
            assert_eq!(clock.wait(1_000_000), None);
            let request = clock.state.admit(1_000_000);
            clock.ended(request, None, None);
        }
    }

    #[test]
    fn requests_under_way_count_and_a_window_that_refills_at_once_is_waited_for() {
        let mut clock = Clock::new();
        let first = clock.state.admit(10);
        clock.ended(first, Some((5.0, 3.0, 1000)), None);
        let under_way: Vec<u64> = (0..3)
            .map(|_| {
                assert_eq!(clock.wait(10), None);
                clock.state.admit(10)
            })
            .collect();
        assert_eq!(clock.wait(10), Some(1000 + MARGIN_MS));
        clock.ms = 300;
        // Nothing moved away: all is refilled at once.
        for (n, request) in under_way.into_iter().enumerate() {
            clock.ended(request, Some((5.0, 2.0 - amount(n as u64), 700)), None);
        }
        assert_eq!(clock.wait(10), Some(700 + MARGIN_MS));
        clock.ms = 1049;
        assert_eq!(clock.wait(10), Some(5));
        clock.ms = 1050;
        assert_eq!(clock.wait(10), None);
    }

    #[test]
    fn a_steady_refill_is_waited_for_no_longer_than_needed() {
        let mut clock = Clock::new();
        // Ten tokens a second, 600 at most.
        let first = clock.state.admit(100);
        clock.ended(first, None, Some((600.0, 500.0, 10_000)));
        let second = clock.state.admit(450);
        assert_eq!(clock.wait(100), Some(10_000 + MARGIN_MS), "not known to be steady");
        clock.ended(second, None, Some((600.0, 50.0, 55_000)));
        let wait = clock.wait(100).unwrap();
        assert!((5000..5010).contains(&wait), "{wait}");
        clock.ms = 5010;
        assert_eq!(clock.wait(100), None);
        assert!(clock.wait(200).unwrap() > 9000);
    }

    #[test]
    fn the_estimate_of_a_request_is_replaced_by_what_its_response_reports() {
        let mut clock = Clock::new();
        let first = clock.state.admit(100);
        clock.ended(first, None, Some((1000.0, 900.0, 60_000)));
        let second = clock.state.admit(800);
        assert!(clock.wait(200).is_some());
        // It took 50.
        clock.ended(second, None, Some((1000.0, 850.0, 59_900)));
        assert_eq!(clock.wait(800), None);
        // Without a report it counts as estimated.
        let third = clock.state.admit(800);
        clock.ended(third, None, None);
        assert_eq!((clock.wait(50), clock.wait(51).is_some()), (None, true));
    }

    #[test]
    fn a_response_to_an_earlier_request_only_lowers_what_remains() {
        let mut clock = Clock::new();
        let (first, second, third) = (clock.state.admit(1), clock.state.admit(1), clock.state.admit(1));
        clock.ended(second, Some((10.0, 1.0, 5000)), None);
        clock.ended(first, Some((10.0, 9.0, 5000)), None);
        // The third is under way.
        assert!(clock.wait(1).is_some());
        clock.ended(third, Some((10.0, 0.0, 5000)), None);
        assert!(clock.wait(1).is_some());
    }

    #[test]
    fn a_request_above_the_limit_is_sent_alone_from_a_full_bucket() {
        let mut clock = Clock::new();
        let first = clock.state.admit(10);
        clock.ended(first, None, Some((100.0, 90.0, 1000)));
        assert!(clock.wait(500).is_some());
        clock.ms = 1050;
        assert_eq!(clock.wait(500), None);
        let large = clock.state.admit(500);
        assert!(clock.wait(1).is_some());
        clock.ended(large, None, Some((100.0, 0.0, 1000)));
        assert!(clock.wait(1).is_some());
    }

    #[test]
    fn limits_are_read_from_the_headers_of_openai_and_anthropic() {
        let now: SystemTime = "2026-01-02T03:04:05Z".parse::<jiff::Timestamp>().unwrap().into();
        let of = |pairs: &[(&'static str, &str)]| {
            let pairs = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            reported(&pairs.collect(), now)
        };
        let expected =
            |limit, remaining, ms| Some(Reported { limit, remaining, reset: Duration::from_millis(ms) });
        let openai = [
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-limit-tokens", "150000"),
            ("x-ratelimit-remaining-tokens", "149984"),
            ("x-ratelimit-reset-tokens", "6m0s"),
        ];
        assert_eq!(of(&openai), [expected(60.0, 59.0, 1000), expected(150_000.0, 149_984.0, 360_000)]);
        let anthropic = [
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "2026-01-02T03:04:06Z"),
            ("anthropic-ratelimit-input-tokens-limit", "50000"),
            ("anthropic-ratelimit-input-tokens-remaining", "40000"),
            ("anthropic-ratelimit-input-tokens-reset", "2026-01-02T03:04:04Z"),
            ("anthropic-ratelimit-output-tokens-limit", "10000"),
            ("anthropic-ratelimit-output-tokens-remaining", "9000"),
            ("anthropic-ratelimit-output-tokens-reset", "2026-01-02T03:05:05Z"),
        ];
        assert_eq!(of(&anthropic), [expected(50.0, 49.0, 1000), expected(10_000.0, 9000.0, 60_000)]);
        // What cannot be read is no limit; that nothing remains is one.
        for (remaining, reset) in [("soon", "1s"), ("5", "1s"), ("0", "later"), ("NaN", "1s")] {
            let pairs =
                [("x-ratelimit-remaining-requests", remaining), ("x-ratelimit-reset-requests", reset)];
            assert_eq!(of(&pairs), [None, None], "{remaining} {reset}");
        }
        let none = [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "20ms")];
        assert_eq!(of(&none), [expected(1.0, 0.0, 20), None]);
    }
}
