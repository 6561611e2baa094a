//! E-mail addresses in base64: `bWlyYUBxdWlsbHBvc3QubmV0` is an address to everyone who decodes it.
//!
//! A run of base64 is an address if it decodes to readable text that has one. It becomes the base64 of the same text with the
//! placeholder, so a question about the encoding keeps its right answer. Other encodings are part of the normal view.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{FoundValue, PrivacyKind, ValueStatus, email};

/// Fewest and most letters of such a run: the shortest address, and a page of text.
const LETTERS: std::ops::RangeInclusive<usize> = 12..=16_384;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG.with_encode_padding(false));
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG.with_encode_padding(false));

/// Finds the encoded addresses of a text.
pub(super) fn find(text: &str, found: &mut Vec<FoundValue>) {
    each_run(text, |run| {
        let Some(decoded) = decoded(&text[run.clone()]) else { return };
        let addresses = addresses(&decoded);
        let first = addresses.iter().find(|address| address.is_personal()).or(addresses.first());
        if let Some(first) = first {
            found.push(FoundValue { start: run.start, end: run.end, ..first.clone() });
        }
    });
}

/// Returns true if the text may contain an encoded address.
pub(super) fn may_hold(text: &str) -> bool {
    let mut any = false;
    each_run(text, |run| any |= !any && decoded(&text[run]).is_some());
    any
}

/// Returns the base64 of the same text with the placeholder; `None` if the value is no base64.
pub(super) fn stand_in(written: &str, number: u64) -> Option<String> {
    let decoded = decoded(written)?;
    let (mut new, mut done) = (String::new(), 0);
    for address in addresses(&decoded).iter().filter(|address| address.is_personal()) {
        new += &decoded[done..address.start];
        new += &super::address::stand_in(&decoded[address.start..address.end], number);
        done = address.end;
    }
    new += &decoded[done..];
    let engine = if written.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    let mut encoded = engine.encode(new);
    // A run without a sign at its end shows only for some lengths that it has none.
    if written.ends_with('=') || (written.len().is_multiple_of(4) && !written.contains(['-', '_'])) {
        while !encoded.len().is_multiple_of(4) {
            encoded.push('=');
        }
    }
    Some(encoded)
}

fn addresses(decoded: &str) -> Vec<FoundValue> {
    let mut addresses = Vec::new();
    email::find(decoded, &mut addresses);
    addresses
        .retain(|value| value.kind == PrivacyKind::Email && value.status != ValueStatus::Placeholder(None));
    addresses
}

/// Returns the text that a run encodes, if it is readable and may have an address.
fn decoded(run: &str) -> Option<String> {
    if !LETTERS.contains(&run.len()) || !begins_as_text(run) {
        return None;
    }
    let engine = if memchr::memchr2(b'-', b'_', run.as_bytes()).is_some() { URL_SAFE } else { STANDARD };
    let text = String::from_utf8(engine.decode(run).ok()?).ok()?;
    let is_readable = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (text.contains('@') && text.chars().all(is_readable)).then_some(text)
}

/// Returns false if the first twelve letters, nine bytes, cannot begin UTF-8. Nearly all long names in a log end here.
fn begins_as_text(run: &str) -> bool {
    let mut letters = [0_u8; *LETTERS.start()];
    letters.copy_from_slice(&run.as_bytes()[..*LETTERS.start()]);
    for letter in &mut letters {
        *letter = match *letter {
            b'-' => b'+',
            b'_' => b'/',
            letter => letter,
        };
    }
    let mut bytes = [0_u8; *LETTERS.start() / 4 * 3];
    // Padding so early is too short to hold an address.
    let Ok(length) = STANDARD.decode_slice(letters, &mut bytes) else { return false };
    std::str::from_utf8(&bytes[..length]).err().is_none_or(|error| error.error_len().is_none())
}

/// Visits the runs of base64 with their padding. After a slash a run may begin anew: it is part of an address.
fn each_run(text: &str, mut visit: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let mut at = 0;
    while at + LETTERS.start() <= bytes.len() {
        // A run that begins in the next bytes and is long enough has the last of them.
        let last = at + LETTERS.start() - 1;
        if !is_letter(bytes[last]) {
            at = last + 1;
            continue;
        }
        at = last - bytes[at..last].iter().rev().take_while(|&&byte| is_letter(byte)).count();
        let length = bytes[at..].iter().take_while(|&&byte| is_letter(byte)).count();
        let end = at + length;
        let padding = bytes[end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
        if length >= *LETTERS.start() {
            let whole = at..end + padding;
            let is_sign = |byte: &u8| matches!(byte, b'/' | b'-' | b'_' | b'+');
            let last = bytes[at..end].iter().rposition(is_sign).map(|cut| at + cut + 1..end + padding);
            visit(match last {
                Some(last)
                    if decoded(&text[whole.clone()]).is_none() && decoded(&text[last.clone()]).is_some() =>
                {
                    last
                }
                _ => whole,
            });
        }
        at = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<(String, &str, String)> {
        let mut found = Vec::new();
        find(text, &mut found);
        let of = |value: FoundValue| {
            let written = &text[value.start..value.end];
            (value.value, written, stand_in(written, 3).unwrap_or_default())
        };
        found.into_iter().map(of).collect()
    }

    proptest! {
        #[test]
        fn every_long_run_of_letters_is_visited_once(text in "([a-zA-Z0-9+/_=-]{1,30}[ .,é=]{1,3}){0,6}") {
            let mut visited = 0;
            each_run(&text, |_| visited += 1);
            let is_letter = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
            let long = text.split(|c| !is_letter(c)).filter(|run| run.len() >= *LETTERS.start());
            prop_assert_eq!(visited, long.count());
        }
    }

    #[test]
    fn no_text_is_refused_for_its_beginning() {
        // Characters of one to four bytes, cut by the ninth byte at every place.
        for text in ["é@", "日本@", "a😀b@", "😀@😀"].map(|part| part.repeat(9)) {
            for start in text.char_indices().map(|(at, _)| at) {
                for engine in [STANDARD, URL_SAFE] {
                    let run = engine.encode(&text[start..]);
                    if LETTERS.contains(&run.len()) {
                        assert!(begins_as_text(&run), "{run}");
                    }
                }
            }
        }
        assert!(!begins_as_text("get_weather_forecast") && !begins_as_text("CalculateTheDistance"));
    }

    #[test]
    fn an_encoded_address_is_found_and_its_placeholder_is_encoded_as_well() {
        let address = "bWlyYS5rZWxsZXJAcXVpbGxwb3N0Lm5ldA==";
        let placeholder = "dXNlcjNAZXhhbXBsZS5jb20=";
        for text in [
            format!("decode {address} for me"),
            format!("data:text/plain;base64,{address}"),
            format!("https://a.test/unsubscribe/{address}?x=1"),
            format!("{{\"to\": \"{address}\"}}"),
        ] {
            let expected = ("mira.keller@quillpost.net".to_owned(), address, placeholder.to_owned());
            assert_eq!(found(&text), [expected], "{text}");
        }
        // In JSON, and an address whose base64 needs no padding: that of the placeholder does.
        let (json, bare) = ("eyJ0byI6Im1pcmFAcXVpbGxwb3N0Lm5ldCJ9", "bWlyYUBxdWlsbHBvc3QubmV0");
        assert_eq!(found(json)[0].0, "mira@quillpost.net");
        let new = String::from_utf8(STANDARD.decode(found(json)[0].2.as_bytes()).unwrap()).unwrap();
        assert_eq!(new, r#"{"to":"user3@example.com"}"#);
        assert_eq!(found(bare)[0].2, "dXNlcjNAZXhhbXBsZS5jb20=");
        for text in [
            "a commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "the internationalisation of counterrevolutionaries",
            // `no address here` and `a @ b, and so on`.
            "bm8gYWRkcmVzcyBoZXJl YSBAIGIsIGFuZCBzbyBvbg==",
            "https://quillpost.net/unsubscribe/all/of/them",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
        let mut ours = Vec::new();
        find(placeholder, &mut ours);
        assert_eq!(ours[0].status, ValueStatus::Placeholder(Some(3)));
    }
}
