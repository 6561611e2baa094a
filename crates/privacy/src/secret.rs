//! A secret in a text, and its placeholder.

use std::ops::Range;

use super::vendors::{VENDORS, WEBHOOKS};
use super::{FoundValue, PrivacyKind, ValueStatus};

/// In the middle of a `RapidAPI` key: 10 letters and digits, `msh`, 15, `p1`, 6, `jsn`, 11.
pub(super) const RAPID_API: &str = "msh";
pub(super) const RAPID_API_LENGTH: usize = 50;
pub(super) const RAPID_API_MARKS: [(usize, &str); 3] = [(10, "msh"), (28, "p1"), (36, "jsn")];
/// The start of a JSON web token, its minimum length, and its number of parts: signed, and encrypted.
pub(super) const JWT: &str = "eyJ";
pub(super) const LEAST_JWT: usize = 20;
pub(super) const JWT_PARTS: [usize; 2] = [3, 5];
/// The start and the end of a private key.
pub(super) const PEM: &str = "-----BEGIN ";
pub(super) const PEM_END: &str = "-----END ";
pub(super) const DASHES: &str = "-----";
/// Bytes by which a long value is judged.
pub(super) const MAX_JUDGED: usize = 512;
/// Minimum number of zeros that identify a placeholder of ours.
const LEAST_ZEROS: usize = 3;

/// Returns the part of a value by which it is judged.
pub(super) fn head(value: &str) -> &str {
    &value[..value.floor_char_boundary(MAX_JUDGED)]
}

pub(super) fn secret(text: &str, span: Range<usize>, kind: PrivacyKind) -> FoundValue {
    let value = &text[span.clone()];
    let status = number(value).map_or(ValueStatus::Personal, |number| ValueStatus::Placeholder(Some(number)));
    FoundValue::new(kind, span.start, span.end, value, status)
}

/// Returns the parts of a secret that identify its service, which are not replaced.
fn kept(value: &str) -> Vec<Range<usize>> {
    if is_rapid_api(value) {
        return RAPID_API_MARKS.iter().map(|&(at, mark)| at..at + mark.len()).collect();
    }
    if value.starts_with(PEM) {
        return pem_borders(value);
    }
    // Few values have a slash, and few begin like a vendor's.
    let webhook = |(mark, _): &(&str, _)| head(value).find(mark).map(|at| at + mark.len());
    if value.contains('/')
        && let Some(end) = WEBHOOKS.iter().find_map(webhook)
    {
        return vec![Range { start: 0, end }];
    }
    let starts = VENDORS.iter().map(|vendor| vendor.start).chain([JWT]);
    let first = value.as_bytes().first();
    let begins = |start: &&str| start.as_bytes().first() == first && value.starts_with(start);
    let longest = starts.filter(begins).map(str::len).max();
    longest.map(|end| 0..end).into_iter().collect()
}

/// Returns the characters of a secret that are replaced: letters and digits outside of kept parts and of escapes.
fn body(value: &str) -> impl Iterator<Item = (usize, char)> {
    let kept = kept(value);
    value.char_indices().filter(move |&(at, c)| {
        c.is_alphanumeric() && !kept.iter().any(|range| range.contains(&at)) && !value[..at].ends_with('\\')
    })
}

/// Returns the number of a placeholder of ours: zeros, and the number at the end.
pub(super) fn number(value: &str) -> Option<u64> {
    // Most words that are checked have no zero.
    memchr::memchr(b'0', value.as_bytes())?;
    let body: String = body(value).map(|(_, c)| c).collect();
    let digits = body.trim_start_matches('0');
    // A short one has fewer zeros.
    let least = LEAST_ZEROS.min(body.len().saturating_sub(1)).max(1);
    let is_ours = body.len() - digits.len() >= least && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_ours.then(|| if digits.is_empty() { Some(0) } else { digits.parse().ok() }).flatten()
}

/// Returns the placeholder: the same length, prefix and separators, with zeros and the number for the rest.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let places: Vec<usize> = body(written).map(|(at, _)| at).collect();
    let width = places.len();
    let capacity = 10_u64.checked_pow(u32::try_from(width.saturating_sub(LEAST_ZEROS)).unwrap_or(u32::MAX));
    let digits = capacity.map_or(number, |capacity| number % capacity).to_string();
    // A token can be wider than a format.
    let zeros = std::iter::repeat_n('0', width.saturating_sub(digits.len()));
    let mut digits = zeros.chain(digits.chars());
    let mut places = places.into_iter().peekable();
    let mut new = String::with_capacity(written.len());
    for (at, c) in written.char_indices() {
        let is_replaced = places.next_if_eq(&at).is_some();
        new.push(if is_replaced { digits.next().unwrap_or('0') } else { c });
    }
    new
}

/// Returns the kept parts of a private key: its first line, and its last.
fn pem_borders(value: &str) -> Vec<Range<usize>> {
    let first = value[PEM.len()..].find(DASHES).map_or(PEM.len(), |at| PEM.len() + at + DASHES.len());
    let last = value[first..].find(PEM_END).map_or(value.len(), |at| first + at);
    vec![0..first, last..value.len()]
}

pub(super) fn is_rapid_api(word: &str) -> bool {
    word.len() == RAPID_API_LENGTH
        && RAPID_API_MARKS.iter().all(|&(at, mark)| word.get(at..at + mark.len()) == Some(mark))
}
