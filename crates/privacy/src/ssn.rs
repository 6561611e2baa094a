//! US social security numbers and taxpayer numbers, in groups of 3, 2 and 4 digits. Without dashes they need a word
//! nearby.

use super::card::fill;
use super::context::{announces_article, announces_other, announces_ssn, came_before, goes_on, names_ssn};
use super::national;
use super::run::Run;
use super::{FoundValue, PrivacyKind, ValueStatus};

/// Numbers printed on samples, or commonly typed as examples.
const EXAMPLES: [&str; 3] = ["078051120", "219099999", "123456789"];
/// First of the areas of placeholders, and their number. Their group is 00, which is never assigned; a number in the
/// area 000 would lose its zeros where it is written as a number.
const AREA: u64 = 900;
const N_AREAS: u64 = 100;
/// Digits of a number.
pub(super) const DIGITS: usize = 9;
/// Numbers per area with one group.
const SERIALS: u64 = 10_000;

/// Finds the numbers of a run.
pub(super) fn find(text: &str, run: &Run, found: &mut Vec<FoundValue>) {
    let bytes = text.as_bytes();
    for first in 0..run.groups.len() {
        let Some(last) = shape(text, run, first) else { continue };
        let (start, end) = (run.groups[first].0, run.groups[last].1);
        let is_named = names_ssn(text, start);
        if came_before(bytes, start, b"-./+")
            || goes_on(bytes, end, b"-./")
            || (!is_named && (announces_other(text, start) || announces_article(text, start, end)))
        {
            continue;
        }
        let digits = run.digits(text, first, last);
        // A number after its name is personal even if it has a typing error, or belongs to a taxpayer without a social
        // security number, which starts with nine.
        let is_number = is_named
            || &digits[..3] != "666"
                && !digits.starts_with('9')
                && &digits[3..5] != "00"
                && &digits[5..] != "0000";
        let status = if let Some(number) = digits.strip_prefix("000") {
            ValueStatus::Placeholder(number.parse().ok())
        } else if let Some(number) = number(&digits) {
            ValueStatus::Placeholder(Some(number))
        } else if EXAMPLES.contains(&digits.as_str()) {
            ValueStatus::Placeholder(None)
        } else if is_number {
            ValueStatus::Personal
        } else {
            continue;
        };
        found.push(FoundValue::new(PrivacyKind::Ssn, start, end, digits, status));
    }
}

/// Returns the last group of a number that starts with group `first`.
fn shape(text: &str, run: &Run, first: usize) -> Option<usize> {
    let size = |at: usize| run.groups.get(at).map(|(start, end)| end - start);
    if size(first) == Some(9) && announces_ssn(text, run.groups[first].0, run.groups[first].1) {
        return Some(first);
    }
    let is_shaped = size(first) == Some(3) && size(first + 1) == Some(2) && size(first + 2) == Some(4);
    if !is_shaped || run.gap(text, first) != run.gap(text, first + 1) {
        return None;
    }
    let gap = run.gap(text, first);
    let is_gap = gap == "-"
        || (matches!(gap, " " | ".") && announces_ssn(text, run.groups[first].0, run.groups[first + 2].1));
    is_gap.then_some(first + 2)
}

/// Returns the number of a placeholder.
pub(super) fn number(digits: &str) -> Option<u64> {
    let area = digits[..3].parse::<u64>().ok()?.checked_sub(AREA)?;
    let serial = digits[3..].strip_prefix("00")?.parse::<u64>().ok()?;
    Some(area * SERIALS + serial)
}

/// Returns the placeholder: in areas from 900 on, with the group 00. Ids of other countries have zeros.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let n_digits = written.bytes().filter(u8::is_ascii_digit).count();
    if n_digits != DIGITS || written.contains(|c: char| c.is_ascii_alphabetic()) {
        return national::stand_in(written, number);
    }
    let area = AREA + number / SERIALS % N_AREAS;
    fill(written, &format!("{area}00{:04}", number % SERIALS))
}
