//! Public IP addresses. Private, local and documentation ranges, versions and times are not included.

use std::net::{Ipv4Addr, Ipv6Addr};

use memchr::memchr_iter;

use super::context::{
    announces_address, announces_version, came_before, escape_before, is_joined_after, is_version_after,
};
use super::run::Run;
use super::{FoundValue, PrivacyKind, ValueStatus};

/// The documentation ranges, in the order of use, then the range for benchmarks.
const DOCUMENTATION: [[u8; 3]; 3] = [[192, 0, 2], [198, 51, 100], [203, 0, 113]];
const HOSTS: u64 = 254;
const MEASUREMENT: u32 = u32::from_be_bytes([198, 18, 0, 0]);
const MEASUREMENT_HOSTS: u64 = 1 << 17;
/// Well-known public resolvers.
const WELL_KNOWN: [[u8; 4]; 5] = [[8, 8, 8, 8], [8, 8, 4, 4], [1, 1, 1, 1], [1, 0, 0, 1], [9, 9, 9, 9]];
/// If all four numbers are below this, it is a version or a section unless a word announces an address.
const SMALL: u8 = 20;

/// Finds the IPv4 addresses of a run.
pub(super) fn find_v4(text: &str, run: &Run, found: &mut Vec<FoundValue>) {
    let bytes = text.as_bytes();
    let mut first = 0;
    while first + 3 < run.groups.len() {
        let last = first + 3;
        let is_dotted = (first..last).all(|at| run.gap(text, at) == ".");
        if !is_dotted {
            first += 1;
            continue;
        }
        let (start, end) = (run.groups[first].0, run.groups[last].1);
        let longer = last + 1 < run.groups.len() && run.gap(text, last) == ".";
        if longer {
            // A longer dotted number is not an address, and neither is any part of it.
            first = last + 1;
            while first < run.groups.len() && run.gap(text, first - 1) == "." {
                first += 1;
            }
            continue;
        }
        first = last + 1;
        let Ok(address) = text[start..end].parse::<Ipv4Addr>() else { continue };
        if came_before(bytes, start, b"./-") && !is_host(text, start) || is_joined_after(bytes, end) {
            continue;
        }
        let is_small = address.octets().iter().all(|&number| number < SMALL);
        if announces_version(text, start)
            || is_version_after(text, end)
            || (is_small && !announces_address(text, start))
        {
            continue;
        }
        if let Some(status) = status_v4(address) {
            found.push(FoundValue::new(PrivacyKind::Ipv4, start, end, address.to_string(), status));
        }
    }
}

/// Returns true if the address is the host of a URL.
fn is_host(text: &str, start: usize) -> bool {
    text[..start].ends_with("://") || text[..start].ends_with('@')
}

/// Returns the status of an address; `None` for a private, local or reserved one.
fn status_v4(address: Ipv4Addr) -> Option<ValueStatus> {
    let [a, b, ..] = address.octets();
    let nobodys = a == 0
        || a == 10
        || a == 127
        || a >= 224
        || (a == 100 && (64..128).contains(&b))
        || address.is_private()
        || address.is_link_local()
        || WELL_KNOWN.contains(&address.octets());
    if nobodys {
        return None;
    }
    match number_v4(address) {
        Some(number) => Some(ValueStatus::Placeholder(Some(number))),
        None => Some(ValueStatus::Personal),
    }
}

fn number_v4(address: Ipv4Addr) -> Option<u64> {
    let [a, b, c, d] = address.octets();
    if let Some(range) = (0..).zip(DOCUMENTATION).find_map(|(at, range)| (range == [a, b, c]).then_some(at)) {
        return Some(range * HOSTS + u64::from(d));
    }
    let offset = u64::from(u32::from(address).checked_sub(MEASUREMENT)?);
    (offset < MEASUREMENT_HOSTS).then_some(DOCUMENTATION.len() as u64 * HOSTS + offset)
}

/// Returns the placeholder, from the documentation ranges.
pub(super) fn stand_in_v4(number: u64) -> String {
    let at = number.saturating_sub(1);
    if let Some([a, b, c]) = usize::try_from(at / HOSTS).ok().and_then(|range| DOCUMENTATION.get(range)) {
        return format!("{a}.{b}.{c}.{}", at % HOSTS + 1);
    }
    let offset = (number - DOCUMENTATION.len() as u64 * HOSTS) % MEASUREMENT_HOSTS;
    Ipv4Addr::from(MEASUREMENT + u32::try_from(offset).unwrap_or_default()).to_string()
}

/// Finds the IPv6 addresses of a text.
pub(super) fn find_v6(text: &str, found: &mut Vec<FoundValue>) {
    let bytes = text.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
    let mut done = 0;
    for colon in memchr_iter(b':', bytes) {
        let before = colon.checked_sub(1).map(|at| bytes[at]);
        let behind = bytes.get(colon + 1).copied();
        if colon < done || !before.is_some_and(is_part) || !behind.is_some_and(is_part) {
            continue;
        }
        let mut start = colon;
        while start > 0 && is_part(bytes[start - 1]) && escape_before(bytes, start) == 0 {
            start -= 1;
        }
        let mut end = colon;
        while end < bytes.len() && is_part(bytes[end]) {
            end += 1;
        }
        done = end;
        // A colon before it ends a word: `ip:2a01::1`.
        if bytes[start] == b':' && bytes.get(start + 1) != Some(&b':') {
            start += 1;
        }
        let word = text[start..end].trim_end_matches(':');
        let word = if text[start..end].ends_with("::") { &text[start..start + word.len() + 2] } else { word };
        // The end of a word may look like hex digits: `ip6:2a01::1`.
        let (mut word, mut start) = (word, start);
        if came_before(bytes, start, b"")
            && let Some(colon) = word.find(':').filter(|&colon| !word[colon..].starts_with("::"))
        {
            start += colon + 1;
            word = &word[colon + 1..];
        }
        if came_before(bytes, start, b"") || is_joined_after(bytes, end) {
            continue;
        }
        let Ok(address) = word.parse::<Ipv6Addr>() else { continue };
        let end = start + word.len();
        let segments = address.segments();
        // Only this eighth of the address space is assigned.
        if !(0x2000..0x4000).contains(&segments[0]) {
            continue;
        }
        let status = if segments[..2] == [0x2001, 0xdb8] {
            let [.., high, low] = segments;
            let is_ours = segments[2..6].iter().all(|&segment| segment == 0);
            ValueStatus::Placeholder(is_ours.then(|| (u64::from(high) << 16) + u64::from(low)))
        } else {
            ValueStatus::Personal
        };
        found.push(FoundValue::new(PrivacyKind::Ipv6, start, end, address.to_string(), status));
    }
}

/// Returns true if the text may contain an IPv6 address: two adjacent colons, or seven with up to four hex digits
/// between.
pub(super) fn may_hold_v6(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut n_colons, mut last) = (0, None);
    for colon in memchr_iter(b':', bytes) {
        let goes_on = last.is_some_and(|last: usize| {
            colon - last <= 5 && bytes[last + 1..colon].iter().all(u8::is_ascii_hexdigit)
        });
        if last.is_some_and(|last| last + 1 == colon) {
            return true;
        }
        n_colons = if goes_on { n_colons + 1 } else { 1 };
        if n_colons == 7 {
            return true;
        }
        last = Some(colon);
    }
    false
}

/// Returns the placeholder, from the documentation range.
pub(super) fn stand_in_v6(number: u64) -> String {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    let [high, low] = [number >> 16, number & 0xffff].map(|half| u16::try_from(half).unwrap_or_default());
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, high, low).to_string()
}
