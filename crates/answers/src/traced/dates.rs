//! Dates in texts, and days that words such as "tomorrow" mean.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan as _};

use callsieve_text::calendar::{RELATIVE_DAYS, WEEKDAYS, month_of};

/// Words around a number of days or weeks: "in 3 days".
const DAYS: &[&str] =
    &["day", "tag", "día", "dia", "jour", "giorn", "dag", "дн", "gün", "hari", "天", "日後"];

/// Returns the date that a value is: `2025-11-05`, with or without a time of day; `05.11.2025`, `11/05/2025` by their only
/// reading or as a day and a month.
pub(super) fn date_of(value: &str) -> Option<Date> {
    if value.contains('年') && value.ends_with(['日', '号']) {
        return han_dates(value).pop();
    }
    let day = value.split(['t', ' ']).next()?;
    let is_alone = day.len() == value.len() || value[day.len()..].contains(':');
    let parts: Vec<&str> = day.split(['-', '/', '.']).collect();
    let [a, b, c] = parts[..] else { return None };
    if !is_alone
        || !parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return None;
    }
    numeric_dates(a, b, c).next()
}

/// The dates of a text in Chinese or Japanese: `2025年11月5日`.
fn han_dates(text: &str) -> Vec<Date> {
    let number_before = |text: &str| -> Option<i16> {
        let digits: Vec<char> = text.chars().rev().take_while(char::is_ascii_digit).collect();
        digits.into_iter().rev().collect::<String>().parse().ok()
    };
    let mut dates = Vec::new();
    for (at, sign) in text.match_indices('年') {
        let rest = &text[at + sign.len()..];
        let parts = rest.split_once('月').and_then(|(month, rest)| {
            let day: String = rest.chars().take_while(char::is_ascii_digit).collect();
            Some((number_before(&text[..at])?, month.trim().parse::<i8>().ok()?, day.parse::<i8>().ok()?))
        });
        dates.extend(parts.and_then(|(year, month, day)| Date::new(year, month, day).ok()));
    }
    dates
}

/// The dates that three numbers can be.
fn numeric_dates(a: &str, b: &str, c: &str) -> impl Iterator<Item = Date> + use<> {
    let number = |part: &str| part.parse::<i16>().unwrap_or_default();
    let (year_first, year_last) = (a.len() == 4, c.len() == 4);
    let [a, b, c] = [number(a), number(b), number(c)];
    let readings = match (year_first, year_last) {
        (true, _) => vec![(a, b, c)],
        (false, true) => vec![(c, b, a), (c, a, b)],
        (false, false) => Vec::new(),
    };
    let small = |number: i16| i8::try_from(number).unwrap_or_default();
    readings.into_iter().filter_map(move |(year, month, day)| Date::new(year, small(month), small(day)).ok())
}

/// Returns the dates that a text in lower case writes out: with numbers, or with the name of a month and a year.
pub(super) fn dates_in(lower: &str) -> Vec<Date> {
    let mut dates = han_dates(lower);
    for part in lower.split(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '/' | '.'))) {
        let parts: Vec<&str> = part.trim_matches(['-', '/', '.']).split(['-', '/', '.']).collect();
        if let [a, b, c] = parts[..] {
            dates.extend(numeric_dates(a, b, c));
        }
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number = |word: &&str| -> Option<i16> {
        let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
        digits.parse().ok()
    };
    for (at, word) in words.iter().enumerate() {
        let Some(month) = month_of(word) else { continue };
        let around = words[at.saturating_sub(2)..(at + 4).min(words.len())].iter();
        let numbers: Vec<i16> = around.filter_map(number).collect();
        let years: Vec<i16> =
            numbers.iter().copied().filter(|number| (1900..2200).contains(number)).collect();
        let days = numbers.iter().copied().filter(|number| (1..=31).contains(number));
        for day in days {
            let day = i8::try_from(day).unwrap_or_default();
            dates.extend(years.iter().filter_map(|&year| Date::new(year, month, day).ok()));
        }
    }
    dates
}

/// Returns the days that the words of a text in lower case mean, seen from a day.
pub(super) fn relative_dates(lower: &str, today: Date) -> Vec<Date> {
    let mut dates = Vec::new();
    let mut add = |span: Span| dates.extend(today.checked_add(span));
    for (distance, words) in RELATIVE_DAYS {
        if words.iter().any(|word| lower.contains(word)) {
            add(distance.days());
        }
    }
    for (nth, names) in WEEKDAYS.iter().enumerate() {
        if !names.iter().any(|name| lower.contains(name)) {
            continue;
        }
        let Ok(weekday) = Weekday::from_monday_zero_offset(i8::try_from(nth).unwrap_or_default()) else {
            continue;
        };
        let ahead = i64::from(today.weekday().until(weekday));
        for weeks in [0, 7, 14] {
            add((ahead + weeks).days());
        }
    }
    let words: Vec<&str> = lower.split_whitespace().collect();
    for pair in words.windows(2) {
        let number: Option<i64> = pair[0].parse().ok().filter(|number| (1..=366).contains(number));
        if let Some(number) = number
            && DAYS.iter().any(|day| pair[1].starts_with(day))
        {
            add(number.days());
        }
    }
    dates.extend(days_without_a_year(lower, today));
    dates
}

/// The next days that "5 December" and "the 5th" can be.
fn days_without_a_year(lower: &str, today: Date) -> Vec<Date> {
    let mut dates = Vec::new();
    let places: Vec<(usize, &str)> = words_with_places(lower);
    for (nth, &(at, word)) in places.iter().enumerate() {
        let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
        let Some(day) = digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day)) else { continue };
        let near = &places[nth.saturating_sub(1)..(nth + 3).min(places.len())];
        let month = near.iter().find_map(|(_, word)| month_of(word));
        let is_ordinal = digits.len() < word.len() || lower[at + word.len()..].starts_with(['.', 'º', '°']);
        let is_named = |date: &Date| month.map_or(is_ordinal, |month| month == date.month());
        let n_months = if month.is_some() { 12 } else { 2 };
        let of_months = (0..n_months).filter_map(|months: i64| {
            let first = today.first_of_month().checked_add(months.months()).ok()?;
            Date::new(first.year(), first.month(), day).ok()
        });
        dates.extend(of_months.filter(|date| *date >= today && is_named(date)));
    }
    dates
}

/// The words of a text, with the places at which they begin.
fn words_with_places(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words
}
