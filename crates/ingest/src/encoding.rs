//! Converts UTF-16 to UTF-8; any other text is passed on unchanged.
//!
//! Windows tools write UTF-16, mostly with a byte order mark. Without one it is detected by its zeros: in a log nearly
//! every other byte is zero. An invalid character (half a surrogate pair, half a unit at the end) becomes a byte that
//! is invalid in UTF-8, so that only its own line is reported as broken.

use std::io::{self, ErrorKind, Read};

/// The number of bytes in which UTF-16 without a mark is detected.
const HEAD_BYTES: usize = 512;
/// The number of bytes that are converted at a time.
const UNITS_BYTES: usize = 64 * 1024;
/// The minimum number of Latin letters in ten units, if there is no mark.
const LATIN_OF_TEN: usize = 9;
/// The byte in place of an invalid character.
const NO_CHARACTER: u8 = 0xff;

/// A reader of UTF-8.
pub(super) struct Recoded<R> {
    inner: R,
    /// The bytes that were read ahead or converted, and how many of them were passed on.
    ready: Vec<u8>,
    n_taken: usize,
    /// The reader of the following bytes.
    failed: Option<io::Error>,
    /// `None` until the first bytes were read.
    is_looked_at: bool,
    units: Option<Units>,
}

impl<R: Read> Recoded<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, ready: Vec::new(), n_taken: 0, failed: None, is_looked_at: false, units: None }
    }

    /// Returns a reader of text that is known to be UTF-8.
    pub(super) fn plain(inner: R) -> Self {
        Self { is_looked_at: true, ..Self::new(inner) }
    }

    pub(super) fn inner(&self) -> &R {
        &self.inner
    }

    pub(super) fn inner_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    fn look(&mut self) {
        self.is_looked_at = true;
        let mut head = vec![0; HEAD_BYTES];
        let mut n = 0;
        while n < HEAD_BYTES {
            match self.inner.read(&mut head[n..]) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        head.truncate(n);
        match Units::seen_in(&head) {
            None => self.ready = head,
            Some(mut units) => {
                units.recode(&head, &mut self.ready);
                self.units = Some(units);
            }
        }
    }
}

impl<R: Read> Read for Recoded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.is_looked_at {
            self.look();
        }
        loop {
            if self.n_taken < self.ready.len() {
                let n = into.len().min(self.ready.len() - self.n_taken);
                into[..n].copy_from_slice(&self.ready[self.n_taken..self.n_taken + n]);
                self.n_taken += n;
                return Ok(n);
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            let Some(units) = &mut self.units else { return self.inner.read(into) };
            (self.n_taken, self.ready) = (0, std::mem::take(&mut self.ready));
            self.ready.clear();
            let mut stored = vec![0; UNITS_BYTES];
            match self.inner.read(&mut stored)? {
                0 => {
                    units.finish(&mut self.ready);
                    if self.ready.is_empty() {
                        return Ok(0);
                    }
                }
                n => units.recode(&stored[..n], &mut self.ready),
            }
        }
    }
}

/// Returns `true` if a text that begins like this is UTF-16.
pub(super) fn is_utf16(head: &[u8]) -> bool {
    Units::seen_in(&head[..head.len().min(HEAD_BYTES)]).is_some()
}

/// The units of UTF-16 that were not yet written as UTF-8.
struct Units {
    is_little_endian: bool,
    half: Option<u8>,
    high_surrogate: Option<u16>,
}

impl Units {
    fn seen_in(head: &[u8]) -> Option<Self> {
        let units = |is_little_endian| Some(Self { is_little_endian, half: None, high_surrogate: None });
        let pairs: Vec<[u8; 2]> = head.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        match pairs.first() {
            // UTF-32 begins the same way, and no log uses it.
            Some([0xff, 0xfe]) => return units(true),
            Some([0xfe, 0xff]) => return units(false),
            _ => {}
        }
        let n_latin = |at: usize| pairs.iter().filter(|pair| pair[at] == 0 && pair[1 - at] != 0).count();
        let are_most = |n: usize| pairs.len() > 1 && n * 10 >= pairs.len() * LATIN_OF_TEN;
        match (are_most(n_latin(1)), are_most(n_latin(0))) {
            (true, _) => units(true),
            (_, true) => units(false),
            _ => None,
        }
    }

    fn recode(&mut self, stored: &[u8], text: &mut Vec<u8>) {
        for &byte in stored {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            let pair = [first, byte];
            self.unit(
                if self.is_little_endian { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) },
                text,
            );
        }
    }

    fn unit(&mut self, unit: u16, text: &mut Vec<u8>) {
        let is_low = (0xdc00..=0xdfff).contains(&unit);
        if let Some(high) = self.high_surrogate.take() {
            if is_low {
                return push(&[high, unit], text);
            }
            text.push(NO_CHARACTER);
        }
        if (0xd800..=0xdbff).contains(&unit) {
            self.high_surrogate = Some(unit);
        } else {
            push(&[unit], text);
        }
    }

    fn finish(&mut self, text: &mut Vec<u8>) {
        if self.half.take().is_some() | self.high_surrogate.take().is_some() {
            text.push(NO_CHARACTER);
        }
    }
}

fn push(units: &[u16], text: &mut Vec<u8>) {
    match char::decode_utf16(units.iter().copied()).next() {
        Some(Ok(character)) => {
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        _ => text.push(NO_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8(stored: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        Recoded::new(stored).read_to_end(&mut text).unwrap();
        text
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn both_orders_are_read_with_a_mark_and_without() {
        let text = "{\"prompt\": \"What about a café? \u{1f30a}\"}\n".repeat(3000);
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let marked = format!("\u{feff}{text}");
            assert_eq!(utf8(&utf16(&marked, bytes)), marked.as_bytes());
            assert_eq!(utf8(&utf16(&text, bytes)), text.as_bytes());
        }
    }

    #[test]
    fn an_invalid_character_affects_only_its_own_place() {
        let mut stored = utf16("\u{feff}ab", u16::to_le_bytes);
        stored.extend(0xd800_u16.to_le_bytes());
        stored.extend(utf16("c", u16::to_le_bytes));
        stored.push(b'd');
        assert_eq!(utf8(&stored), ["\u{feff}ab".as_bytes(), b"\xff", b"c\xff"].concat());
    }

    #[test]
    fn other_bytes_are_passed_on_unchanged() {
        let long = "x".repeat(100_000);
        for stored in [&b""[..], b"a", b"ab\0", b"\0\0\0\0", b"\xef\xbb\xbfa", long.as_bytes()] {
            assert_eq!(utf8(stored), stored);
        }
    }
}
