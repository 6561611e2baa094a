//! Dates and times of day in texts.
//!
//! Read are ISO dates, days and months with slashes, dots or hyphens, and English names of months in either order. Of `03/05/2024`
//! both readings are kept. A date without a year is compatible with each year.

use super::mentions::{digit, digits_end, lower, run_end, small_number};

/// A day, or a month of a year if the day is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    pub(super) year: Option<u32>,
    pub(super) month: u32,
    pub(super) day: Option<u32>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Years that four digits of a date can be.
const YEARS: std::ops::RangeInclusive<u32> = 1000..=2999;
/// Two digits of a year are of this century.
const CENTURY: u32 = 2000;

impl Date {
    fn of(year: Option<u32>, month: u32, day: Option<u32>) -> Option<Self> {
        let is_valid = (1..=12).contains(&month)
            && day.is_none_or(|day| (1..=31).contains(&day))
            && year.is_none_or(|year| YEARS.contains(&year));
        is_valid.then_some(Self { year, month, day })
    }

    /// Returns whether two dates can be the same: what both have is equal.
    pub(super) fn agrees(self, other: Self) -> bool {
        let agree = |one: Option<u32>, other: Option<u32>| one.is_none() || other.is_none() || one == other;
        self.month == other.month && agree(self.day, other.day) && agree(self.year, other.year)
    }

    /// Returns the number of the day in the Gregorian calendar; none without a day. Without a year, of the year 2000.
    pub(super) fn day_number(self) -> Option<i64> {
        let (year, month, day) =
            (i64::from(self.year.unwrap_or(CENTURY)), i64::from(self.month), i64::from(self.day?));
        // Days from civil, with March as the first month.
        let year = if month <= 2 { year - 1 } else { year };
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Some(365 * year + year / 4 - year / 100 + year / 400 + of_year)
    }

    /// Returns the date of eight digits.
    pub(super) fn of_digits(digits: &str) -> Option<Self> {
        let chars: Vec<char> = digits.chars().collect();
        if chars.len() != 8 {
            return None;
        }
        Self::of(small_number(&chars[..4]), small_number(&chars[4..6])?, Some(small_number(&chars[6..])?))
    }
}

/// Returns the readings of the date at a place, and its end.
pub(super) fn date(chars: &[char], at: usize) -> Option<(Vec<Date>, usize)> {
    numeric(chars, at).or_else(|| month_first(chars, at)).or_else(|| day_first(chars, at))
}

fn numeric(chars: &[char], at: usize) -> Option<(Vec<Date>, usize)> {
    let (first, middle) = (digits_end(chars, at), digits_end(chars, at).checked_add(1)?);
    let separator = *chars.get(first).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let second = digits_end(chars, middle);
    if first == at || second == middle || chars.get(second) != Some(&separator) {
        return None;
    }
    let end = digits_end(chars, second + 1);
    let goes_on = chars.get(end) == Some(&separator) && digit(chars, end + 1);
    let number = |from: usize, to: usize| small_number(&chars[from..to]);
    let (one, two, three) = (number(at, first)?, number(middle, second)?, number(second + 1, end)?);
    let lengths = (first - at, second - middle, end - second - 1);
    let readings = match lengths {
        (4, 1..=2, 1..=2) => vec![Date::of(Some(one), two, Some(three))],
        (1..=2, 1..=2, 4) if separator == '.' => vec![Date::of(Some(three), two, Some(one))],
        (1..=2, 1..=2, 4) => both_orders(one, two, three),
        (1..=2, 1..=2, 2) if separator == '/' => both_orders(one, two, CENTURY + three),
        _ => return None,
    };
    let readings: Vec<Date> = readings.into_iter().flatten().collect();
    (!readings.is_empty() && !goes_on).then_some((readings, end))
}

fn both_orders(one: u32, two: u32, year: u32) -> Vec<Option<Date>> {
    let mut readings = vec![Date::of(Some(year), one, Some(two)), Date::of(Some(year), two, Some(one))];
    readings.dedup();
    readings
}

/// Returns the month named at a place, and the end of its name with a full stop.
fn month(chars: &[char], at: usize) -> Option<(u32, usize)> {
    let end = run_end(chars, at);
    let word = lower(&chars[at..end]);
    let is_name = |name: &str| name == word || (word.len() == 3 && name.starts_with(&word));
    let month = MONTHS.iter().position(|name| is_name(name)).or((word == "sept").then_some(8))?;
    let is_short = word.len() < MONTHS[month].len();
    let end = end + usize::from(is_short && chars.get(end) == Some(&'.'));
    Some((u32::try_from(month).ok()? + 1, end))
}

/// Returns the day at a place, with or without an ordinal suffix, and its end.
fn day(chars: &[char], at: usize) -> Option<(u32, usize)> {
    let end = digits_end(chars, at);
    let run = run_end(chars, at);
    let is_day =
        matches!(end - at, 1 | 2) && ["", "st", "nd", "rd", "th"].contains(&lower(&chars[end..run]).as_str());
    let is_other = matches!(chars.get(run), Some(':' | '.' | ',')) && digit(chars, run + 1);
    let day = small_number(&chars[at..end]).filter(|day| is_day && !is_other && (1..=31).contains(day))?;
    Some((day, run))
}

/// Returns the year after a comma or spaces, and its end.
fn year(chars: &[char], at: usize) -> Option<(u32, usize)> {
    let start = at + chars[at.min(chars.len())..].iter().take_while(|c| matches!(c, ',' | ' ')).count();
    let end = digits_end(chars, start);
    let is_year = start > at && end - start == 4 && run_end(chars, start) == end;
    let year = small_number(&chars[start..end]).filter(|year| is_year && YEARS.contains(year))?;
    (chars.get(end) != Some(&':')).then_some((year, end))
}

fn after_spaces(chars: &[char], at: usize) -> usize {
    let at = at.min(chars.len());
    at + chars[at..].iter().take_while(|c| **c == ' ').count()
}

/// `March 5, 2024`, `March 5th`, `March 2024`; `March 13-20` and `March 13 and 14` have two days.
fn month_first(chars: &[char], at: usize) -> Option<(Vec<Date>, usize)> {
    let (month, end) = month(chars, at)?;
    let start = after_spaces(chars, end);
    if let Some((day, end)) = day(chars, start) {
        let (year, end) = year(chars, end).map_or((None, end), |(year, end)| (Some(year), end));
        return Some((vec![Date::of(year, month, Some(day))?], end));
    }
    let (year, end) = year(chars, end)?;
    Some((vec![Date::of(Some(year), month, None)?], end))
}

/// `5 March 2024`, `the 5th of March`.
fn day_first(chars: &[char], at: usize) -> Option<(Vec<Date>, usize)> {
    let (day, end) = day(chars, at)?;
    let mut start = after_spaces(chars, end);
    if lower(&chars[start..run_end(chars, start)]) == "of" {
        start = after_spaces(chars, start + 2);
    }
    let (month, end) = month(chars, start).filter(|_| start > end)?;
    let (year, end) = year(chars, end).map_or((None, end), |(year, end)| (Some(year), end));
    Some((vec![Date::of(year, month, Some(day))?], end))
}

/// Minutes of half a day.
const HALF_DAY: u32 = 12 * 60;

/// Returns the minutes of the day at a place, and its end: `14:00`, `2:00:15 pm`, `2pm`, `noon`.
pub(super) fn time(chars: &[char], at: usize) -> Option<(Vec<u32>, usize)> {
    let word = lower(&chars[at..run_end(chars, at)]);
    if let Some(minutes) = [("noon", HALF_DAY), ("midnight", 0)].into_iter().find(|(name, _)| *name == word) {
        return Some((vec![minutes.1], at + word.len()));
    }
    let hours_end = digits_end(chars, at);
    let hours = small_number(&chars[at..hours_end]).filter(|hours| hours_end - at <= 2 && *hours <= 24)?;
    let (minutes, mut end) =
        minutes_after(chars, hours_end).map_or((None, hours_end), |(m, end)| (Some(m), end));
    if let Some((_, after)) = minutes.and_then(|_| minutes_after(chars, end)) {
        end = after;
        if chars.get(end) == Some(&'.') && digit(chars, end + 1) {
            end = digits_end(chars, end + 1);
        }
    }
    let of_day = hours * 60 + minutes.unwrap_or(0);
    match (half_day(chars, end), minutes) {
        (Some((is_afternoon, end)), _) if (1..=12).contains(&hours) => {
            let from_noon = of_day % HALF_DAY;
            Some((vec![if is_afternoon { from_noon + HALF_DAY } else { from_noon }], end))
        }
        (_, Some(_)) if hours < 13 => {
            Some((vec![of_day % (2 * HALF_DAY), (of_day + HALF_DAY) % (2 * HALF_DAY)], end))
        }
        (_, Some(_)) => Some((vec![of_day % (2 * HALF_DAY)], end)),
        _ => None,
    }
}

/// Returns the number after a colon, and its end.
fn minutes_after(chars: &[char], at: usize) -> Option<(u32, usize)> {
    let end = digits_end(chars, at + 1);
    let is_minutes = chars.get(at) == Some(&':') && end == at + 3;
    small_number(&chars[(at + 1).min(end)..end])
        .filter(|minutes| is_minutes && *minutes < 60)
        .map(|minutes| (minutes, end))
}

/// Returns whether `am` or `pm` follows: `true` for the afternoon, and the end.
fn half_day(chars: &[char], at: usize) -> Option<(bool, usize)> {
    let start = after_spaces(chars, at);
    let end = run_end(chars, start);
    match lower(&chars[start..end]).as_str() {
        "am" => Some((false, end)),
        "pm" => Some((true, end)),
        half @ ("a" | "p") if lower(&chars[end..chars.len().min(end + 3)]).starts_with(".m") => {
            Some((half == "p", chars.len().min(end + 3)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Date> {
        date(&text.chars().collect::<Vec<_>>(), 0).map(|(dates, _)| dates).unwrap_or_default()
    }

    fn minutes(text: &str) -> Vec<u32> {
        time(&text.chars().collect::<Vec<_>>(), 0).map(|(minutes, _)| minutes).unwrap_or_default()
    }

    #[test]
    fn forms_of_a_date_are_one_date() {
        let (year, month, day) = (Some(2024), 3, Some(5));
        let date = Date { year, month, day };
        for text in [
            "2024-03-05",
            "2024/3/5",
            "March 5, 2024",
            "Mar. 5th 2024",
            "5 March 2024",
            "5th of March, 2024",
            "5.3.2024",
        ] {
            assert_eq!(read(text), [date], "{text}");
        }
        assert_eq!(read("03/05/2024"), [date, Date { month: 5, day: Some(3), ..date }]);
        assert_eq!(read("March 5"), [Date { year: None, ..date }]);
        assert_eq!(read("March 2024"), [Date { day: None, ..date }]);
        assert_eq!(Date::of_digits("20240305"), Some(date));
        assert!(date.agrees(Date { year: None, ..date }) && !date.agrees(Date { year: Some(2023), ..date }));
        for text in ["2024-13-05", "1.2.3", "192.168.10.1", "March", "may be 5", "32 March", "March 5:30"] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    #[test]
    fn days_between_dates_follow_the_calendar() {
        let number = |text: &str| read(text)[0].day_number().unwrap();
        assert_eq!(number("2024-03-01") - number("2024-02-28"), 2);
        assert_eq!(number("2023-01-01") - number("2022-12-31"), 1);
    }

    #[test]
    fn forms_of_a_time_are_one_time() {
        for text in ["14:00", "2pm", "2 PM", "2:00 p.m.", "14:00:00", "14:00:00.5"] {
            assert_eq!(minutes(text), [840], "{text}");
        }
        assert_eq!(minutes("2:00"), [120, 840]);
        assert_eq!([minutes("12 am"), minutes("12pm"), minutes("noon")], [[0], [720], [720]]);
        for text in ["2", "25:00", "2:75", "3-1", "2:1", "14pm"] {
            assert_eq!(minutes(text), [0; 0], "{text}");
        }
    }
}
