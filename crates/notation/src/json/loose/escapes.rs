//! Escapes in strings, as JSON, JavaScript and Python write them.
//!
//! An unknown escape keeps its backslash, as in `\d` or `80\%`. An incomplete one at the end of the text is dropped.
//! Half of a surrogate pair has no meaning and is refused.

use super::{LooseReader, Stop, StopKind};

impl LooseReader<'_> {
    /// Reads the escape at the backslash; drops an incomplete one at the end of the text.
    pub(super) fn escape(&mut self, text: &mut String) -> Result<(), Stop> {
        self.at += 1;
        let Some(letter) = self.peek() else { return Ok(()) };
        self.at += letter.len_utf8();
        match letter {
            '"' | '\'' | '\\' | '/' | '`' => text.push(letter),
            'b' => text.push('\x08'),
            'f' => text.push('\x0c'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'v' => text.push('\x0b'),
            '\r' if self.eat('\n') => {}
            '\n' | '\r' | '\u{2028}' | '\u{2029}' => {}
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => text.push('\0'),
            'x' | 'u' => self.numbered(letter, text)?,
            other => {
                self.slip();
                text.extend(['\\', other]);
            }
        }
        Ok(())
    }

    /// Reads the digits of `\xNN` or `\uNNNN`, and the second half if they are the first half of a surrogate pair.
    fn numbered(&mut self, letter: char, text: &mut String) -> Result<(), Stop> {
        let n_digits = if letter == 'x' { 2 } else { 4 };
        let Some(first) = self.hex(n_digits) else {
            if self.rest().len() < n_digits && self.rest().chars().all(|c| c.is_ascii_hexdigit()) {
                self.at = self.text.len();
                return Ok(());
            }
            self.slip();
            text.extend(['\\', letter]);
            return Ok(());
        };
        let is_high = (0xD800..0xDC00).contains(&first);
        let rest = self.rest();
        if is_high && ("\\u".starts_with(rest) || (rest.starts_with("\\u") && rest.len() < 6)) {
            // The second half is truncated, and the first means nothing alone.
            self.at = self.text.len();
            return Ok(());
        }
        let mut units = vec![first];
        if is_high && self.rest().starts_with("\\u") {
            self.at += 2;
            units.extend(self.hex(4));
        }
        let Some(Ok(c)) = char::decode_utf16(units).next() else {
            let message = "half of a surrogate pair".to_owned();
            return Err(Stop { kind: StopKind::Beyond, at: self.at, message });
        };
        text.push(c);
        Ok(())
    }

    fn hex(&mut self, n_digits: usize) -> Option<u16> {
        let digits =
            self.rest().get(..n_digits).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += n_digits;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// The escapes in one string: `C:\Users\new` probably does not contain a line break.
#[derive(Default)]
pub(super) struct Escapes {
    has_blank: bool,
    has_unknown: bool,
}

impl Escapes {
    pub(super) fn note(&mut self, text: &str) {
        match text[1..].chars().next() {
            Some('b' | 'f' | 'n' | 'r' | 't' | 'v') => self.has_blank = true,
            Some(c) if c.is_alphabetic() && !matches!(c, 'u' | 'x') => self.has_unknown = true,
            _ => {}
        }
    }

    pub(super) fn are_doubtful(&self) -> bool {
        self.has_blank && self.has_unknown
    }
}
