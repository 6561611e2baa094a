//! Values in a text: addresses, dates, times, ids, numbers.
//!
//! One pass from left to right, longest reading first. The same scanner reads answers and their sources, so that a value written in
//! two forms is the same value. Places are in characters.

use std::ops::Range;

use super::ValueKind;
use super::dates::{self, Date};
use super::numbers::{self, Number};

/// A value as it reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Lower case, without scheme, `www.` and a final slash.
    Url(String),
    /// Lower case.
    Email(String),
    /// Lower case, letters and digits only.
    Id(String),
    /// Several readings if the order of day and month is open.
    Date(Vec<Date>),
    /// Minutes of the day; two readings if morning or afternoon is open.
    Time(Vec<u32>),
    /// A number in digits or words.
    Number(Number),
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mention {
    pub(super) value: Value,
    pub(super) span: Range<usize>,
}

impl Mention {
    pub(super) fn kind(&self) -> ValueKind {
        match self.value {
            Value::Url(_) => ValueKind::Url,
            Value::Email(_) => ValueKind::Email,
            Value::Id(_) => ValueKind::Id,
            Value::Date(_) => ValueKind::Date,
            Value::Time(_) => ValueKind::Time,
            Value::Number(_) => ValueKind::Number,
        }
    }
}

/// Digits that make an id without letters.
const MIN_ID_DIGITS: usize = 5;
/// Characters of an id of letters and digits.
const MIN_ID_CHARS: usize = 5;
/// Characters of a placeholder of an id.
const MIN_PLACEHOLDER: usize = 4;
/// Digits of a phone number.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 7..=15;
/// Beginnings of names of standards, which look like ids.
const STANDARDS: [&str; 9] = ["iso", "rfc", "covid", "utf", "sha", "ipv", "ieee", "http", "base"];

/// Returns the values of a text in order, without overlaps.
pub(super) fn mentions(chars: &[char]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let Some((value, end)) = value_at(chars, at) else {
            at = next_start(chars, at);
            continue;
        };
        found.push(Mention { value, span: at..end });
        at = end;
        // The time of `2024-03-05T18:15:00`.
        if chars.get(at) == Some(&'T') && digit(chars, at + 1) {
            at += 1;
        }
    }
    found
}

fn value_at(chars: &[char], at: usize) -> Option<(Value, usize)> {
    let first = chars[at];
    if !first.is_alphanumeric() && !matches!(first, '+' | '(' | '.') {
        return None;
    }
    url(chars, at)
        .or_else(|| email(chars, at))
        .or_else(|| dates::date(chars, at).map(|(dates, end)| (Value::Date(dates), end)))
        .or_else(|| phone(chars, at))
        .or_else(|| dates::time(chars, at).map(|(minutes, end)| (Value::Time(minutes), end)))
        .or_else(|| id(chars, at))
        .or_else(|| numbers::number(chars, at).map(|(number, end)| (Value::Number(number), end)))
}

/// Returns where the next value can begin: after the run of letters and digits, or after one other character.
fn next_start(chars: &[char], at: usize) -> usize {
    run_end(chars, at).max(at + 1)
}

/// Returns the end of the run of letters and digits at a place.
pub(super) fn run_end(chars: &[char], at: usize) -> usize {
    let at = at.min(chars.len());
    at + chars[at..].iter().take_while(|c| c.is_alphanumeric()).count()
}

/// Returns the end of the run of ASCII digits at a place.
pub(super) fn digits_end(chars: &[char], at: usize) -> usize {
    let at = at.min(chars.len());
    at + chars[at..].iter().take_while(|c| c.is_ascii_digit()).count()
}

/// Returns whether there is a digit at a place.
pub(super) fn digit(chars: &[char], at: usize) -> bool {
    chars.get(at).is_some_and(char::is_ascii_digit)
}

/// Returns the number of a short run of digits.
pub(super) fn small_number(digits: &[char]) -> Option<u32> {
    digits.iter().collect::<String>().parse().ok()
}

/// Returns a part of a text in lower case.
pub(super) fn lower(chars: &[char]) -> String {
    chars.iter().flat_map(|c| c.to_lowercase()).collect()
}

fn starts_with(chars: &[char], at: usize, text: &str) -> bool {
    let mut rest = chars[at..].iter();
    text.chars().all(|c| rest.next().is_some_and(|other| other.eq_ignore_ascii_case(&c)))
}

fn url(chars: &[char], at: usize) -> Option<(Value, usize)> {
    if !["http://", "https://", "www."].iter().any(|start| starts_with(chars, at, start)) {
        return None;
    }
    let ends = |c: &char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | ')' | ']' | '}' | '`' | '|' | '\\')
    };
    let mut end = chars[at..].iter().position(ends).map_or(chars.len(), |length| at + length);
    while end > at && matches!(chars[end - 1], '.' | ',' | ';' | ':' | '!' | '?' | '*' | '_') {
        end -= 1;
    }
    Some((Value::Url(plain_url(&lower(&chars[at..end]))), end))
}

/// Returns an address in lower case without its scheme, `www.` and a final slash.
fn plain_url(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.strip_prefix("www.").unwrap_or(rest).trim_end_matches('/').to_owned()
}

fn email(chars: &[char], at: usize) -> Option<(Value, usize)> {
    let in_name = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-');
    let in_host = |c: &char| c.is_alphanumeric() || matches!(c, '.' | '-');
    let sign = at + chars[at..].iter().take_while(|c| in_name(c)).count();
    if sign == at || chars.get(sign) != Some(&'@') {
        return None;
    }
    let mut end = sign + 1 + chars[sign + 1..].iter().take_while(|c| in_host(c)).count();
    while matches!(chars[end - 1], '.' | '-') {
        end -= 1;
    }
    let has_domain = end > sign && chars[sign + 1..end].contains(&'.');
    has_domain.then(|| (Value::Email(lower(&chars[at..end])), end))
}

/// Groups of digits after a `+` or in the form 555-123-4567 or (555) 123-4567.
fn phone(chars: &[char], at: usize) -> Option<(Value, usize)> {
    let is_marked = matches!(chars[at], '+' | '(');
    let mut groups: Vec<usize> = Vec::new();
    let mut digits = String::new();
    let mut next = at + usize::from(is_marked);
    let mut end = next;
    while digit(chars, next) {
        end = digits_end(chars, next);
        groups.push(end - next);
        digits.extend(&chars[next..end]);
        next = end;
        while next < chars.len() && next - end < 2 && is_phone_gap(chars[next], is_marked) {
            next += 1;
        }
    }
    let is_form = match chars[at] {
        '+' => !groups.is_empty(),
        '(' => groups.len() >= 2 && chars.get(at + 1 + groups[0]) == Some(&')'),
        _ => groups == [3, 3, 4],
    };
    let ends = chars.get(end).is_none_or(|c| !c.is_alphanumeric());
    (is_form && ends && PHONE_DIGITS.contains(&digits.len())).then_some((Value::Id(digits), end))
}

fn is_phone_gap(c: char, is_marked: bool) -> bool {
    matches!(c, '-' | '.') || (is_marked && matches!(c, ' ' | '(' | ')'))
}

/// Letters mixed with digits, parts joined by `-` or `_`, or a run of digits that is no number.
fn id(chars: &[char], at: usize) -> Option<(Value, usize)> {
    let mut end = run_end(chars, at);
    while end > at
        && matches!(chars.get(end), Some('-' | '_'))
        && chars.get(end + 1).is_some_and(|c| c.is_alphanumeric())
    {
        end = run_end(chars, end + 1);
    }
    let run = &chars[at..end];
    let is_id = is_placeholder(run)
        || if run.iter().all(char::is_ascii_digit) { is_digit_id(chars, at, end) } else { is_mixed_id(run) };
    is_id.then(|| (Value::Id(lower(run).chars().filter(|c| c.is_alphanumeric()).collect()), end))
}

/// `XXXX`: a placeholder for an id.
fn is_placeholder(run: &[char]) -> bool {
    run.len() >= MIN_PLACEHOLDER && run.iter().all(|c| matches!(c, 'X' | 'x' | '-'))
}

/// A run of digits without marks of a number: a separator, a sign of a currency, a unit, zeros at its end.
fn is_digit_id(chars: &[char], at: usize, end: usize) -> bool {
    let before = at.checked_sub(1).map(|before| chars[before]);
    let is_marked = before.is_some_and(|c| numbers::is_currency(c) || c == '.' || c == ',')
        || chars.get(end) == Some(&'%')
        || (matches!(chars.get(end), Some('.' | ',')) && digit(chars, end + 1));
    let is_round = chars[at..end].ends_with(&['0', '0', '0']);
    end - at >= MIN_ID_DIGITS && !is_marked && !is_round && !numbers::has_unit(chars, end)
}

fn is_mixed_id(run: &[char]) -> bool {
    let n_digits = run.iter().filter(|c| c.is_ascii_digit()).count();
    let text = lower(run);
    if n_digits < 2
        || text.chars().filter(|c| c.is_alphanumeric()).count() < MIN_ID_CHARS
        || !run.iter().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        || STANDARDS.iter().any(|standard| text.starts_with(standard))
    {
        return false;
    }
    let parts: Vec<&[char]> = run.split(|c| matches!(c, '-' | '_')).collect();
    parts.iter().any(|part| is_mixed_part(part)) || is_code(&parts)
}

/// A part such as `a1b2`, but not a number with a unit (`30min`), a name with a small number (`Windows11`) or a decade (`1990s`).
fn is_mixed_part(part: &[char]) -> bool {
    let n_letters = part.iter().filter(|c| c.is_ascii_alphabetic()).count();
    if n_letters == 0 || n_letters == part.len() {
        return false;
    }
    let first = part.iter().take_while(|c| c.is_ascii_digit()).count();
    let is_quantity = first > 0 && part[first..].iter().all(char::is_ascii_alphabetic) && n_letters <= 3;
    let letters = part.iter().take_while(|c| c.is_ascii_alphabetic()).count();
    let is_numbered_name = letters > 0
        && part[letters..].iter().all(char::is_ascii_digit)
        && (part.len() - letters <= 2 || letters == 1 && part.len() <= 4);
    !is_quantity && !is_numbered_name
}

/// Capitals joined with a number: `ORD-1234`.
fn is_code(parts: &[&[char]]) -> bool {
    parts.len() > 1
        && parts.iter().any(|part| part.len() >= 3 && part.iter().all(char::is_ascii_digit))
        && parts.iter().any(|part| part.iter().all(char::is_ascii_uppercase))
        && parts.iter().all(|part| part.iter().all(|c| !c.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let values = mentions(&chars).into_iter().map(|mention| mention.value);
        values.filter_map(|value| if let Value::Id(id) = value { Some(id) } else { None }).collect()
    }

    #[test]
    fn ids_are_mixed_or_long_and_quantities_names_and_dates_are_none() {
        assert_eq!(
            ids("Order APPT1234, code ORD-1234, no. 84252722 and B0BW8Z3N7R."),
            ["appt1234", "ord1234", "84252722", "b0bw8z3n7r"]
        );
        assert_eq!(
            ids("Call +687 27.25.92 or (555) 123-4567 or 555-123-4567"),
            ["687272592", "5551234567", "5551234567"]
        );
        let none = "30min 5-star COVID-19 iPhone14 Windows11 1990s 2020-2023 $12345 12,345 12345.5 50000 \
                    2024-03-05T18:15:00 9am-5pm a 1080p 4K MP3 100kg 12345 people ISO-8601 30-minute 72bpm";
        assert_eq!(ids(none), [""; 0]);
    }

    #[test]
    fn addresses_are_read_without_what_does_not_matter() {
        let chars: Vec<char> =
            "See https://www.Pier.example/a/, www.pier.example or A.b@Pier.example.".chars().collect();
        let values: Vec<Value> = mentions(&chars).into_iter().map(|mention| mention.value).collect();
        assert_eq!(
            values,
            [
                Value::Url("pier.example/a".to_owned()),
                Value::Url("pier.example".to_owned()),
                Value::Email("a.b@pier.example".to_owned())
            ]
        );
    }

    proptest! {
        #[test]
        fn spans_are_in_the_text_in_order_and_apart(text in "[A-Za-z0-9 .,:/@+()$%T-]{0,60}|\\PC{0,40}") {
            let chars: Vec<char> = text.chars().collect();
            let mut last = 0;
            for mention in mentions(&chars) {
                prop_assert!(last <= mention.span.start && mention.span.start < mention.span.end);
                prop_assert!(mention.span.end <= chars.len());
                last = mention.span.end;
            }
        }
    }
}
