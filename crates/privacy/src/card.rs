//! Numbers of payment cards: 12 to 19 digits with the prefix of an issuer and a valid check digit (Luhn).
//!
//! Published test numbers are unchanged. A number with 13 digits is a barcode more often than a card, so it needs a
//! word nearby, as do numbers of debit cards and of issuers of a single country.

use std::cell::LazyCell;
use std::ops::Deref;

use super::context::{announces_card, announces_other, came_before, goes_on};
use super::run::Run;
use super::runs::next_digit;
use super::series::is_series;
use super::{FoundValue, PrivacyKind, ValueStatus};

/// The prefix of our placeholders: a range used only for tests.
const OURS: &str = "400000";
/// Well-known test numbers.
const TEST_CARDS: [&str; 22] = [
    "4111111111111111",
    "4242424242424242",
    "4012888888881881",
    "4222222222222",
    "5555555555554444",
    "5105105105105100",
    "2223003122003222",
    "5200828282828210",
    "378282246310005",
    "371449635398431",
    "378734493671000",
    "6011111111111117",
    "6011000990139424",
    "6011000000000004",
    "30569309025904",
    "38520000023237",
    "3566002020360505",
    "3530111333300000",
    "3566111111111113",
    "6200000000000005",
    "4000056655665556",
    "4917610000000000",
];
/// Number of digits from which a number needs no word nearby.
const SURE_DIGITS: usize = 14;
/// Digits per printed group.
const GROUP: usize = 4;
const FEWEST_DIGITS: usize = 12;
const MOST_DIGITS: usize = 19;

/// Finds the cards of a run.
pub(super) fn find(text: &str, run: &Run, found: &mut Vec<FoundValue>) {
    let bytes = text.as_bytes();
    let mut first = 0;
    let is_announced =
        LazyCell::new(|| announces_card(text, run.groups[0].0, run.groups[run.groups.len() - 1].1));
    while first < run.groups.len() {
        let last =
            (first..run.groups.len()).rev().find(|&last| is_card(text, run, first, last, &is_announced));
        let Some(last) = last else {
            first += 1;
            continue;
        };
        let (start, end) = (run.groups[first].0, run.groups[last].1);
        first = last + 1;
        // The second track of a card's magnetic strip: `;…=`.
        let is_track = start > 0 && bytes[start - 1] == b';' && matches!(bytes.get(end), Some(b'=' | b'D'));
        if came_before(bytes, start, b"-./")
            || goes_on(bytes, end, b"-.")
            || (!is_track && announces_other(text, start))
        {
            continue;
        }
        let digits: String = text[start..end].chars().filter(char::is_ascii_digit).collect();
        let status = if digits.starts_with(OURS) {
            ValueStatus::Placeholder(digits[OURS.len()..digits.len() - 1].parse().ok())
        } else if TEST_CARDS.contains(&digits.as_str()) {
            ValueStatus::Placeholder(None)
        } else {
            ValueStatus::Personal
        };
        found.push(FoundValue::new(PrivacyKind::Card, start, end, digits, status));
    }
}

fn is_card(
    text: &str,
    run: &Run,
    first: usize,
    last: usize,
    is_announced: &dyn Deref<Target = bool>,
) -> bool {
    let n_digits = run.n_digits(first, last);
    if !(FEWEST_DIGITS..=MOST_DIGITS).contains(&n_digits)
        || !is_grouped(text, run, first, last)
        || is_series(text, run, first, last)
    {
        return false;
    }
    let digits = run.digits(text, first, last);
    if !luhn(&digits) {
        return false;
    }
    let is_sure = n_digits >= SURE_DIGITS && has_issuer(&digits);
    is_sure || ((has_issuer(&digits) || has_rare_issuer(&digits)) && **is_announced)
}

/// Returns true for one piece, or the groups printed on cards, with one separator between.
fn is_grouped(text: &str, run: &Run, first: usize, last: usize) -> bool {
    let gaps: Vec<&str> = (first..last).map(|at| run.gap(text, at)).collect();
    let Some(gap) = gaps.first() else { return true };
    let sizes: Vec<usize> = run.groups[first..=last].iter().map(|(start, end)| end - start).collect();
    let is_printed = matches!(
        sizes[..],
        [4, 4, 4] | [4, 4, 4, 1..=7] | [4, 6, 4 | 5] | [4, 4, 4, 4, 1..=3] | [6, 10 | 13] | [8, 5 | 8]
    );
    let bare = |gap: &str| gap.trim_matches([' ', '\u{a0}']).to_owned();
    is_printed
        && matches!(&*bare(gap), "" | "-" | "." | "/")
        && gaps.iter().all(|other| bare(other) == bare(gap))
}

/// Finds cards with sixteen digits in groups of four whose separators are too long for a run: line breaks, or a sign
/// that no other number has as separator.
pub(super) fn find_apart(text: &str, found: &mut Vec<FoundValue>) {
    each_apart(text, |start, end| {
        let digits: String = text[start..end].chars().filter(char::is_ascii_digit).collect();
        if !has_issuer(&digits) || !luhn(&digits) || announces_other(text, start) {
            return;
        }
        let status = if digits.starts_with(OURS) {
            ValueStatus::Placeholder(digits[OURS.len()..digits.len() - 1].parse().ok())
        } else {
            ValueStatus::Personal
        };
        found.push(FoundValue::new(PrivacyKind::Card, start, end, digits, status));
    });
}

/// Returns true if the text has such groups.
pub(super) fn may_hold_apart(text: &str) -> bool {
    let mut any = false;
    each_apart(text, |_, _| any = true);
    any
}

/// Visits four groups of four digits with the same sign, or a line break, between.
fn each_apart(text: &str, mut visit: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = 0;
    while let Some(start) = next_digit(bytes, at) {
        at = start + digits(start);
        let Some(&sign) = bytes.get(at).filter(|_| at - start == GROUP) else { continue };
        if !matches!(sign, b'_' | b',' | b'|' | b'\n' | b'*' | b':' | b';' | b'+') {
            continue;
        }
        let ends: Vec<usize> = (1..4)
            .map(|group| start + group * (GROUP + 1))
            .take_while(|&next| {
                bytes.get(next - 1) == Some(&sign) && next < bytes.len() && digits(next) == GROUP
            })
            .map(|next| next + GROUP)
            .collect();
        let Some(&end) = ends.get(2) else { continue };
        let goes_on = bytes.get(end) == Some(&sign) && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        let came = start > 1 && bytes[start - 1] == sign && bytes[start - 2].is_ascii_digit();
        if !goes_on && !came {
            visit(start, end);
            at = end;
        }
    }
}

fn has_issuer(digits: &str) -> bool {
    let prefix = |n: usize| digits[..n].parse::<u32>().unwrap_or_default();
    if digits.starts_with(OURS) {
        return true;
    }
    match digits.len() {
        13 => prefix(1) == 4,
        14 => matches!(prefix(3), 300..=305) || matches!(prefix(2), 36 | 38 | 39),
        15 => matches!(prefix(2), 34 | 37),
        16 => {
            prefix(1) == 4
                || matches!(prefix(2), 51..=55 | 35 | 62 | 65)
                || matches!(prefix(4), 2200..=2204 | 2221..=2720 | 6011)
                || matches!(prefix(3), 644..=649)
        }
        _ => prefix(2) == 62 || (digits.len() == 19 && (prefix(1) == 4 || prefix(4) == 6011)),
    }
}

/// Issuers whose numbers need a word nearby: debit cards, and those of one country.
fn has_rare_issuer(digits: &str) -> bool {
    let prefix = |n: usize| digits[..n].parse::<u32>().unwrap_or_default();
    matches!(prefix(2), 50 | 56..=58 | 60 | 61 | 63 | 65..=69 | 81 | 82 | 62 | 35 | 36 | 38 | 39)
        || matches!(prefix(4), 2200..=2204 | 9792 | 3095 | 6011)
        || matches!(prefix(3), 508 | 300..=305 | 309)
        || (prefix(1) == 4 && digits.len() >= 13)
}

fn luhn(digits: &str) -> bool {
    checksum(digits).is_multiple_of(10)
}

fn checksum(digits: &str) -> u32 {
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let digits = digits.bytes().rev().map(|byte| u32::from(byte - b'0'));
    digits.enumerate().map(|(at, digit)| if at % 2 == 1 { doubled(digit) } else { digit }).sum()
}

/// Returns the placeholder: the same length and grouping, with a valid check digit.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let n_digits = written.bytes().filter(u8::is_ascii_digit).count();
    let width = n_digits - OURS.len() - 1;
    let body = format!("{OURS}{:0width$}", number % 10_u64.pow(u32::try_from(width).unwrap_or(9)));
    let check = (10 - checksum(&format!("{body}0")) % 10) % 10;
    fill(written, &format!("{body}{check}"))
}

/// Returns the text with its digits replaced one by one.
pub(super) fn fill(written: &str, digits: &str) -> String {
    let mut digits = digits.chars();
    written.chars().map(|c| if c.is_ascii_digit() { digits.next().unwrap_or(c) } else { c }).collect()
}
