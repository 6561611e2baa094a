//! A text without its escapes: of JSON and programs, of addresses and of HTML, also several times encoded.
//!
//! A view with a mapping back, for the search of secrets in what servers send. What is no escape stays as it is.

use std::ops::Range;

/// Most times that a text is decoded: an escape of an escape needs a second time.
const MAX_TIMES: usize = 4;

/// A decoded text.
pub(super) struct Decoded {
    pub(super) text: String,
    /// The byte of the original at which each byte of the text begins, and at the end its length.
    starts: Vec<usize>,
}

impl Decoded {
    /// Returns the place in the original of a place in the text.
    pub(super) fn back(&self, place: Range<usize>) -> Range<usize> {
        self.starts[place.start]..self.starts[place.end]
    }
}

/// Decodes a text; `None` if it has nothing to decode.
pub(super) fn decoded(text: &str) -> Option<Decoded> {
    let mut whole = once(text)?;
    for _ in 1..MAX_TIMES {
        let Some(next) = once(&whole.text) else { break };
        let starts = next.starts.iter().map(|&at| whole.starts[at]).collect();
        whole = Decoded { text: next.text, starts };
    }
    Some(whole)
}

fn once(text: &str) -> Option<Decoded> {
    let marks =
        |from: usize| memchr::memchr3(b'\\', b'%', b'&', &text.as_bytes()[from..]).map(|at| from + at);
    let mut decoded = Decoded { text: String::new(), starts: Vec::new() };
    let (mut done, mut from) = (0, 0);
    while let Some(at) = marks(from) {
        let Some((c, length)) = escape(&text[at..]) else {
            from = at + 1;
            continue;
        };
        decoded.copy(text, done..at);
        decoded.text.push(c);
        decoded.starts.resize(decoded.text.len(), at);
        done = at + length;
        from = done;
    }
    if done == 0 {
        return None;
    }
    decoded.copy(text, done..text.len());
    decoded.starts.push(text.len());
    Some(decoded)
}

impl Decoded {
    fn copy(&mut self, text: &str, part: Range<usize>) {
        self.text.push_str(&text[part.clone()]);
        self.starts.extend(part);
    }
}

/// Returns the character that an escape at the start of a text means, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let code = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    let ascii = |digits: Option<&str>| digits.and_then(code).filter(char::is_ascii);
    let bytes = text.as_bytes();
    match (bytes[0], bytes.get(1)?) {
        (b'\\', b'u') => Some((text.get(2..6).and_then(code)?, 6)),
        (b'\\', b'x') => Some((ascii(text.get(2..4))?, 4)),
        (b'\\', b'n' | b'r' | b't') => Some((' ', 2)),
        (b'\\', &sign) if sign.is_ascii_punctuation() => Some((char::from(sign), 2)),
        (b'%', _) => Some((ascii(text.get(1..3))?, 3)),
        (b'&', b'#') => {
            let end = text.bytes().take(10).position(|byte| byte == b';')?;
            let number = text.get(2..end)?;
            let c = match number.strip_prefix(['x', 'X']) {
                Some(digits) => code(digits),
                None => number.parse().ok().and_then(char::from_u32),
            };
            Some((c?, end + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_and_mapped_back() {
        for (written, expected) in [
            (r"\u0073k\/x", "sk/x"),
            (r"\\u0073k", "sk"),
            ("%73%6B", "sk"),
            ("%2573k", "sk"),
            ("&#115;k&#x2d;", "sk-"),
            (r"\x73k", "sk"),
            (r#"\"a\""#, r#""a""#),
        ] {
            let view = decoded(written).expect(written);
            assert_eq!(view.text, expected, "{written}");
            assert_eq!(view.back(0..view.text.len()), 0..written.len(), "{written}");
        }
        let view = decoded("ü %73k é").unwrap();
        let at = view.text.find("sk").unwrap();
        assert_eq!(view.back(at..at + 2), 3..7);
        for plain in ["", "100% & more", r"C:\users", "%zz &#; &#xx;", "\\"] {
            assert!(decoded(plain).is_none(), "{plain}");
        }
    }
}
