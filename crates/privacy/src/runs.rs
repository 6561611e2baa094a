//! Runs of digit groups: `+1 (415) 555-2671`, `4111 1111 …`, `10.0.0.7`. All recognisers of numbers begin with them.
//!
//! Text is mostly letters, so blocks without a digit are skipped as a whole.

use super::iban;
use super::run::Run;

/// Bytes checked at once for a digit.
const BLOCK: usize = 32;
/// Maximum gap between two groups, in bytes.
const MAX_GAP: usize = 3;
/// Maximum number of groups of a run; a longer one is a table of numbers and is cut.
const MAX_GROUPS: usize = 20;
/// Minimum number of digits of any value, except dotted addresses.
const FEWEST_DIGITS: usize = 7;
/// Groups of a dotted address.
const ADDRESS_GROUPS: usize = 4;

/// Visits the runs of a text with enough digits.
pub(super) fn for_each(text: &str, mut visit: impl FnMut(&Run)) {
    let bytes = text.as_bytes();
    let mut run = Run::default();
    let mut at = 0;
    while let Some(start) = next_digit(bytes, at) {
        run.groups.clear();
        at = start;
        loop {
            let group = at;
            while at < bytes.len() && bytes[at].is_ascii_digit() {
                at += 1;
            }
            run.groups.push((group, at));
            match next_group(bytes, at) {
                Some(next) if run.groups.len() < MAX_GROUPS => at = next,
                _ => break,
            }
        }
        let last = run.groups.len() - 1;
        let is_long = run.groups.len() >= ADDRESS_GROUPS || run.n_digits(0, last) >= FEWEST_DIGITS;
        if is_long || may_be_account(bytes, start) {
            visit(&run);
        }
    }
}

/// Returns true if the text may have such a run.
pub(super) fn any(text: &str) -> bool {
    let mut any = false;
    for_each(text, |_| any = true);
    any
}

/// Returns the first digit from byte `at` on.
pub(super) fn next_digit(bytes: &[u8], mut at: usize) -> Option<usize> {
    while at + BLOCK <= bytes.len() {
        let block = &bytes[at..at + BLOCK];
        if block.iter().fold(false, |any, byte| any | byte.is_ascii_digit()) {
            break;
        }
        at += BLOCK;
    }
    bytes[at.min(bytes.len())..].iter().position(u8::is_ascii_digit).map(|offset| at + offset)
}

/// Returns the first byte of the next group, if only separators are between.
fn next_group(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < bytes.len() && at - from <= MAX_GAP {
        match bytes[at] {
            b'0'..=b'9' => return (at > from).then_some(at),
            b' ' | b'(' | b')' | b'.' | b'-' | b'/' => at += 1,
            // A non-breaking space.
            0xc2 if bytes.get(at + 1) == Some(&0xa0) => at += 2,
            _ => return None,
        }
    }
    None
}

/// Returns true if two capitals, or the lower-case code of a country and two digits, precede it, as in an account
/// number whose groups have letters.
fn may_be_account(bytes: &[u8], start: usize) -> bool {
    let Some(letters) = bytes[..start].last_chunk::<2>() else { return false };
    letters.iter().all(u8::is_ascii_uppercase)
        || (letters.iter().all(u8::is_ascii_alphabetic)
            && bytes.get(start + 1).is_some_and(u8::is_ascii_digit)
            && iban::is_country(*letters))
}
