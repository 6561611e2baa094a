//! Dates in texts, and days that words such as "tomorrow" mean.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use callsieve_text::calendar::{RELATIVE_DAYS, WEEKDAYS, month_of};
use callsieve_text::words::is_unspaced;

use super::number_words::of_words;

/// Beginnings of words after a number of days, of weeks and of months: "in 3 days".
const DAYS: &[&str] =
    &["day", "tag", "día", "dia", "jour", "giorn", "dag", "дн", "gün", "hari", "天", "日後"];
const WEEKS: &[&str] = &[
    "week",
    "woche",
    "semana",
    "semaine",
    "settiman",
    "weken",
    "недел",
    "hafta",
    "minggu",
    "周后",
    "週間後",
];
const MONTHS: &[&str] = &["month", "monat", "meses", "mesi", "mois", "mês", "maand", "месяц", "bulan"];
/// Words of order, which count no days.
const ORDINALS: &[&str] =
    &["first", "second", "third", "single", "double", "triple", "once", "twice", "both"];
/// Words by which a weekday is the one of the next week, beginnings in lower case.
const NEXT: &[&str] = &[
    "next",
    "nächst",
    "naechst",
    "próxim",
    "proxim",
    "prochain",
    "prossim",
    "viene",
    "volgende",
    "nästa",
    "næste",
    "neste",
    "następn",
    "přišt",
    "следующ",
    "наступн",
    "gelecek",
    "depan",
];
/// The same in scripts without spaces, before the weekday, and in Korean.
const UNSPACED_NEXT: &[&str] = &["下", "下个", "下個", "来週", "翌週", "다음", "다음주", "다음 주"];
/// Words around a weekday in which the word for next is looked for.
const NEAR: usize = 2;
/// Letters that may follow a word for a day, and parts of the day that German joins to a weekday.
const MOST_OF_AN_ENDING: usize = 3;
const JOINED: &[&str] = &["abend", "abends", "morgen", "vormittag", "nachmittag", "mittag", "nacht"];
/// Letters of a word from which it may have an ending.
const LEAST_INFLECTED: usize = 4;
/// Words after which "morgen" and "mañana" are the morning, and not tomorrow.
const BEFORE_MORNING: &[&str] = &["heute", "am", "gestern", "guten", "jeden", "la", "esta", "cada"];
/// Words of German and Dutch, where "hier" is here, and not yesterday.
const HIER_IS_HERE: &[&str] = &[
    "ich", "ist", "und", "der", "die", "das", "ein", "eine", "einen", "bitte", "für", "mich", "mir", "wir",
    "von", "zu", "auf", "mit", "bei", "nicht", "heute", "morgen", "ik", "het", "een", "voor", "mijn", "van",
];
/// German words before a day such as "22.12" without a point at its end.
const BEFORE_A_DAY: &[&str] = &["am", "vom", "zum", "bis", "ab", "den", "der", "dem", "seit"];

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
    for distance in relative_days(lower) {
        add(distance.days());
    }
    for (nth, names) in WEEKDAYS.iter().enumerate() {
        let Ok(weekday) = Weekday::from_monday_zero_offset(i8::try_from(nth).unwrap_or_default()) else {
            continue;
        };
        let ahead = i64::from(today.weekday().until(weekday));
        for at in names.iter().flat_map(|name| whole_words(lower, name)) {
            add(ahead.days());
            // On a Friday, "on Friday" hardly means today.
            if ahead == 0 || has_next(lower, &at) {
                add((ahead + 7).days());
            }
        }
    }
    let words: Vec<&str> = lower.split_whitespace().collect();
    for pair in words.windows(2) {
        let unit: fn(i64) -> Span = if begins(pair[1], DAYS) {
            ToSpan::days
        } else if begins(pair[1], WEEKS) {
            ToSpan::weeks
        } else if begins(pair[1], MONTHS) {
            ToSpan::months
        } else {
            continue;
        };
        if let Some(number) = small_number(pair[0]) {
            add(unit(number));
        }
    }
    dates.extend(days_without_a_year(lower, today));
    dates
}

fn begins(word: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| word.starts_with(beginning))
}

/// The number of days, weeks or months, in digits or as a word.
fn small_number(word: &str) -> Option<i64> {
    if ORDINALS.contains(&word) {
        return None;
    }
    let number = word.parse().ok().or_else(|| {
        let spoken = *of_words(word).whole.first()?;
        (1..=31_i32).find(|whole| (f64::from(*whole) - spoken).abs() < 1e-9).map(i64::from)
    });
    number.filter(|number| (1..=366).contains(number))
}

/// The distances from today that words name; a word inside of a longer one, as in "day after tomorrow", names none.
fn relative_days(lower: &str) -> Vec<i64> {
    let mut found: Vec<(i64, Range<usize>)> = Vec::new();
    for (distance, words) in RELATIVE_DAYS {
        for at in words.iter().flat_map(|word| whole_words(lower, word)) {
            if !is_another_word(lower, &at) {
                found.push((distance, at));
            }
        }
    }
    let is_inside = |at: &Range<usize>| {
        found
            .iter()
            .any(|(_, other)| other.start <= at.start && at.end <= other.end && at.len() < other.len())
    };
    found.iter().filter(|(_, at)| !is_inside(at)).map(|(distance, _)| *distance).collect()
}

/// Whether a word for a day means something else where it stands: the morning, or the German "here".
fn is_another_word(lower: &str, at: &Range<usize>) -> bool {
    let before = || lower[..at.start].split_whitespace().next_back().unwrap_or_default();
    match &lower[at.clone()] {
        "morgen" | "mañana" => BEFORE_MORNING.contains(&before()),
        "hier" => words_with_places(lower).iter().any(|(_, word)| HIER_IS_HERE.contains(word)),
        _ => false,
    }
}

/// The places of a word that is not only a part of another, but may have an ending. In scripts without spaces every place counts.
fn whole_words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = Range<usize>> + use<'t> {
    let is_spaced = |c: char| c.is_alphabetic() && !is_unspaced(c);
    // "morgens" is in the morning, "hiermit" is no day.
    let may_end = word.chars().count() >= LEAST_INFLECTED && !["morgen", "hier"].contains(&word);
    text.match_indices(word).map(move |(at, _)| at..at + word.len()).filter(move |at| {
        let after = &text[at.end..];
        let end = after.find(|c: char| !is_spaced(c)).unwrap_or(after.len());
        let ending = &after[..end];
        let is_end = ending.is_empty()
            || may_end && (ending.chars().count() <= MOST_OF_AN_ENDING || JOINED.contains(&ending));
        let begins = !text[..at.start].ends_with(is_spaced) || !word.starts_with(is_spaced);
        begins && (is_end || !word.ends_with(is_spaced))
    })
}

/// Whether a word for next stands near a weekday.
fn has_next(lower: &str, at: &Range<usize>) -> bool {
    let (before, after) = (&lower[..at.start], &lower[at.end..]);
    let is_next = |word: &str| begins(word, NEXT);
    UNSPACED_NEXT.iter().any(|next| before.trim_end().ends_with(next))
        || before.split_whitespace().rev().take(NEAR).any(is_next)
        || after.split_whitespace().take(NEAR).any(is_next)
}

/// The next days that "5 December", "22.12." and "the 5th" can be.
fn days_without_a_year(lower: &str, today: Date) -> Vec<Date> {
    let mut dates = Vec::new();
    let places: Vec<(usize, &str)> = words_with_places(lower);
    let mut of_a_day = None;
    for (nth, &(at, word)) in places.iter().enumerate() {
        let digits = word.trim_end_matches(|c: char| c.is_alphabetic());
        let Some(day) = digits.parse::<i8>().ok().filter(|day| (1..=31).contains(day)) else { continue };
        if of_a_day == Some(nth) {
            continue;
        }
        let numeric = month_after(lower, &places, nth);
        of_a_day = numeric.map(|_| nth + 1);
        let near = &places[nth.saturating_sub(1)..(nth + 3).min(places.len())];
        let month = numeric.or_else(|| near.iter().find_map(|(_, word)| month_of(word)));
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

/// The month of a day such as "22.12." or "am 22.12".
fn month_after(lower: &str, places: &[(usize, &str)], nth: usize) -> Option<i8> {
    let (&(at, day), &(next, month)) = (places.get(nth)?, places.get(nth + 1)?);
    let is_short = |word: &str| word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let between = &lower[at + day.len()..next];
    let after = &lower[next + month.len()..];
    let before = nth.checked_sub(1).map_or("", |before| places[before].1);
    let has_year = after.starts_with('.') && after[1..].starts_with(|c: char| c.is_ascii_digit());
    let is_day = is_short(day) && is_short(month) && matches!(between, "." | ". ") && !has_year;
    let is_sure = after.starts_with('.') || between == "." && BEFORE_A_DAY.contains(&before);
    let month: i8 = month.parse().ok()?;
    (is_day && is_sure && (1..=12).contains(&month)).then_some(month)
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

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn days_are_seen_from_today() {
        // A Thursday.
        let today = date(2025, 10, 9);
        let has = |text: &str, day: Date| relative_dates(text, today).contains(&day);
        for (text, month, day) in [
            ("tomorrow", 10, 10),
            ("the day after tomorrow", 10, 11),
            ("hier soir", 10, 8),
            ("this weekend, sunday", 10, 12),
            ("next sunday", 10, 19),
            ("vendredi prochain", 10, 17),
            ("freitagabend", 10, 10),
            ("on thursday", 10, 16),
            ("下周五", 10, 17),
            ("in 2 weeks", 10, 23),
            ("in zwei wochen", 10, 23),
            ("in 3 tagen", 10, 12),
            ("am 22.12.", 12, 22),
            ("am 22.12", 12, 22),
            ("vom 3. 11. bis 5.11.", 11, 3),
            ("on 5 december", 12, 5),
        ] {
            assert!(has(text, date(2025, month, day)), "{text}");
        }
        for (text, month, day) in [
            ("ich bin hier", 10, 8),
            ("erinnere mich heute abend hier an die wäsche", 10, 8),
            ("heute morgen", 10, 10),
            ("morgens um 7", 10, 10),
            ("por la mañana", 10, 10),
            ("the day after tomorrow", 10, 10),
            ("this weekend, sunday", 10, 19),
            ("this weekend, sunday", 10, 26),
            ("am 22.12.", 10, 22),
            ("am 22.12.", 10, 12),
            ("for 22.12 euros", 12, 22),
            ("prehier", 10, 8),
        ] {
            assert!(!has(text, date(2025, month, day)), "{text}");
        }
    }
}
