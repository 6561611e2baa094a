//! Selects requests by assistant and time.
//!
//! An assistant is named as the log has it: the whole cell, or one of its words with commas between them. A day is in UTC
//! and counts as a whole. A request without a time is outside every period. Filters by content are deliberately absent:
//! they are stages, which give a reason.

use std::collections::BTreeSet;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// Which requests are wanted; by default all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Those of these assistants; of any if empty.
    assistants: Vec<String>,
    /// The first millisecond since 1970.
    since_ms: Option<i64>,
    /// The first millisecond that is no longer wanted.
    until_ms: Option<i64>,
}

/// Whether an assistant, which may have several names, is the wanted one.
fn names(assistant: &str, wanted: &str) -> bool {
    wanted == assistant || assistant.split(',').any(|word| word.trim() == wanted)
}

impl RequestFilter {
    /// Reads the filter.
    ///
    /// # Errors
    /// A time cannot be read, or the period is empty.
    pub fn new(assistants: &[String], since: Option<&str>, until: Option<&str>) -> Result<Self, String> {
        let read = |name: &str, text: Option<&str>, end: bool| {
            let read = text.map(|text| {
                instant_ms(text, end).ok_or_else(|| {
                    format!(
                        "{name} is \"{text}\", expected a day or a time such as 2026-03-31 or 2026-03-31T08:00:00Z"
                    )
                })
            });
            read.transpose()
        };
        let filter = Self {
            assistants: assistants.to_vec(),
            since_ms: read("since", since, false)?,
            until_ms: read("until", until, true)?,
        };
        match (filter.since_ms, filter.until_ms) {
            (Some(since), Some(until)) if since >= until => {
                Err("no time is since the one and until the other\nhint: exchange since and until".to_owned())
            }
            _ => Ok(filter),
        }
    }

    /// Whether all requests are wanted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the first assistant of the filter that none of these is.
    pub fn unknown_assistant(&self, known: &BTreeSet<String>) -> Option<&str> {
        let is_known = |wanted: &&String| known.iter().any(|assistant| names(assistant, wanted));
        self.assistants.iter().find(|wanted| !is_known(wanted)).map(String::as_str)
    }

    /// Whether a request is wanted.
    pub fn wants(&self, assistant: Option<&str>, time_ms: Option<i64>) -> bool {
        let is_of = |assistant: &str| self.assistants.iter().any(|wanted| names(assistant, wanted));
        let is_after = |since: i64| time_ms.is_some_and(|time| time >= since);
        let is_before = |until: i64| time_ms.is_some_and(|time| time < until);
        (self.assistants.is_empty() || assistant.is_some_and(is_of))
            && self.since_ms.is_none_or(is_after)
            && self.until_ms.is_none_or(is_before)
    }
}

/// The milliseconds of a day or a time; of a day its start, or as an `end` the start of the next one. A time is included.
fn instant_ms(text: &str, end: bool) -> Option<i64> {
    let text = text.trim();
    let civil_ms = |time: DateTime| Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_millisecond());
    if let Ok(day) = text.parse::<Date>()
        && !text.contains([':', 'T', 't', ' '])
    {
        let day = if end { day.checked_add(1.day()).ok()? } else { day };
        return civil_ms(day.to_datetime(jiff::civil::Time::midnight()));
    }
    let time = text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
    let time = time.or_else(|| civil_ms(text.parse::<DateTime>().ok()?))?;
    time.checked_add(i64::from(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-02T00:00:00Z.
    const DAY: i64 = 1_772_409_600_000;
    const HOUR: i64 = 3_600_000;

    fn filter(assistants: &[&str], since: Option<&str>, until: Option<&str>) -> RequestFilter {
        let assistants: Vec<String> = assistants.iter().map(|name| (*name).to_owned()).collect();
        RequestFilter::new(&assistants, since, until).unwrap()
    }

    #[test]
    fn an_assistant_is_the_whole_cell_or_one_of_its_words() {
        let one = filter(&["kitchen", "a, b"], None, None);
        for (cell, is_wanted) in [
            (Some("kitchen"), true),
            (Some("garden, kitchen"), true),
            (Some("a, b"), true),
            (Some("kitchens"), false),
            (Some("a"), false),
            (Some(""), false),
            (None, false),
        ] {
            assert_eq!(one.wants(cell, None), is_wanted, "{cell:?}");
        }
        assert!(RequestFilter::default().wants(None, None) && RequestFilter::default().is_empty());
    }

    #[test]
    fn a_day_counts_as_a_whole_and_a_time_is_included() {
        let days = filter(&[], Some("2026-03-02"), Some("2026-03-02"));
        for (time, is_wanted) in
            [(DAY - 1, false), (DAY, true), (DAY + 24 * HOUR - 1, true), (DAY + 24 * HOUR, false)]
        {
            assert_eq!(days.wants(None, Some(time)), is_wanted, "{time}");
        }
        assert!(!days.wants(None, None), "a request without a time is outside every period");
        for until in ["2026-03-02T02:00:00Z", "2026-03-02 02:00:00", "2026-03-02T03:00:00+01:00"] {
            let hours = filter(&[], None, Some(until));
            assert!(hours.wants(None, Some(DAY + 2 * HOUR)), "{until}");
            assert!(!hours.wants(None, Some(DAY + 2 * HOUR + 1)), "{until}");
        }
    }

    #[test]
    fn a_wrong_time_or_an_empty_period_is_an_error() {
        let error = RequestFilter::new(&[], Some("March"), None).unwrap_err();
        assert!(error.starts_with("since is \"March\", expected a day or a time"), "{error}");
        assert!(RequestFilter::new(&[], None, Some("2026-02-30")).is_err());
        assert!(RequestFilter::new(&[], Some("2026-03-03"), Some("2026-03-02")).is_err());
    }
}
