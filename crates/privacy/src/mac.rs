//! MAC addresses: `00:1b:44:11:3a:b7`, `00-1B-44-11-3A-B7`, `001b.4411.3ab7`.
//!
//! Multicast addresses are not personal. Longer sequences of hex digits are fingerprints and IPv6 addresses; six pairs
//! of decimal digits may be a date and a time, so they need a word nearby.

use memchr::memchr3_iter;

use super::context::{announces_mac, came_before, goes_on};
use super::{FoundValue, PrivacyKind, ValueStatus};

/// Pairs of hex digits, and groups if each has two pairs.
const PAIRS: usize = 6;
const QUADS: usize = 3;
/// The documentation range (RFC 9542), with a free last byte.
const DOCUMENTATION: [u8; 5] = [0x00, 0x00, 0x5e, 0x00, 0x53];
/// The prefix of further placeholders: locally administered addresses, which no maker assigns.
const LOCAL: [u8; 3] = [0x02, 0x00, 0x5e];

/// Finds the addresses of a text.
pub(super) fn find(text: &str, found: &mut Vec<FoundValue>) {
    let mut done = 0;
    for (at, size) in starts(text.as_bytes()) {
        if at < done {
            continue;
        }
        if let Some(value) = address(text, at, size) {
            done = value.end;
            found.push(value);
        }
    }
}

/// Returns true if the text may contain an address.
pub(super) fn may_hold(text: &str) -> bool {
    starts(text.as_bytes()).next().is_some()
}

/// Returns the starts of sequences of hex digits with separators that may be an address, and the size of their groups.
fn starts(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    memchr3_iter(b':', b'-', b'.', bytes).filter_map(|at| {
        let size = if bytes[at] == b'.' { 4 } else { 2 };
        let start = at.checked_sub(size)?;
        (bytes.get(at + size + 1) == Some(&bytes[at]) && bytes[start..at].iter().all(u8::is_ascii_hexdigit))
            .then_some((start, size))
    })
}

fn address(text: &str, start: usize, size: usize) -> Option<FoundValue> {
    let bytes = text.as_bytes();
    let joint = bytes[start + size];
    let n_groups = if size == 4 { QUADS } else { PAIRS };
    let end = start + n_groups * (size + 1) - 1;
    let written = text.get(start..end)?;
    let is_shaped = written
        .bytes()
        .enumerate()
        .all(|(at, byte)| if at % (size + 1) == size { byte == joint } else { byte.is_ascii_hexdigit() });
    if !is_shaped || came_before(bytes, start, &[joint]) || goes_on(bytes, end, &[joint]) {
        return None;
    }
    let octets = octets(written)?;
    let is_decimal = written.bytes().all(|byte| byte == joint || byte.is_ascii_digit());
    let is_nobodys = octets == [0; PAIRS] || octets[0] & 1 == 1;
    if is_nobodys || (is_decimal && number(octets).is_none() && !announces_mac(text, start)) {
        return None;
    }
    let value = octets.map(|octet| format!("{octet:02x}")).join(":");
    let status =
        number(octets).map_or(ValueStatus::Personal, |number| ValueStatus::Placeholder(Some(number)));
    Some(FoundValue::new(PrivacyKind::Mac, start, end, value, status))
}

fn octets(written: &str) -> Option<[u8; PAIRS]> {
    let digits: String = written.chars().filter(char::is_ascii_hexdigit).collect();
    let mut octets = [0; PAIRS];
    for (at, octet) in octets.iter_mut().enumerate() {
        *octet = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(octets)
}

/// Returns the number of a placeholder.
fn number(octets: [u8; PAIRS]) -> Option<u64> {
    if octets[..5] == DOCUMENTATION {
        return Some(u64::from(octets[5]));
    }
    (octets[..3] == LOCAL)
        .then(|| octets[3..].iter().fold(0, |number, &octet| (number << 8) + u64::from(octet)))
}

/// Returns the placeholder: with the same separators and case.
pub(super) fn stand_in(written: &str, number: u64) -> String {
    let [.., high, middle, low] = number.to_be_bytes();
    let octets = if u8::try_from(number).is_ok() {
        [DOCUMENTATION[0], DOCUMENTATION[1], DOCUMENTATION[2], DOCUMENTATION[3], DOCUMENTATION[4], low]
    } else {
        [LOCAL[0], LOCAL[1], LOCAL[2], high, middle, low]
    };
    let is_upper = written.contains(|c: char| c.is_ascii_uppercase());
    let digits =
        octets.map(|octet| if is_upper { format!("{octet:02X}") } else { format!("{octet:02x}") }).concat();
    let mut digits = digits.chars();
    written.chars().map(|c| if c.is_ascii_hexdigit() { digits.next().unwrap_or(c) } else { c }).collect()
}
