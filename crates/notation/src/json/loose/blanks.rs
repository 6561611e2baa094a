//! Text between tokens: whitespace, comments, ellipses.

use super::LooseReader;
use crate::json::marks::is_blank;

impl LooseReader<'_> {
    /// Skips whitespace and comments.
    pub(super) fn skip_blanks(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                '#' => {
                    self.notes.is_python = true;
                    self.skip_comment(1, "\n");
                }
                '/' if self.rest().starts_with("//") => self.skip_comment(2, "\n"),
                '/' if self.rest().starts_with("/*") => self.skip_comment(2, "*/"),
                '\\' => {
                    let Some(len) = written_blank(self.rest()) else { return };
                    self.slip();
                    self.at += len;
                }
                c if is_blank(c) => self.at += c.len_utf8(),
                _ => return,
            }
        }
    }

    /// Skips a comment; one that begins with dots stands for omitted content.
    fn skip_comment(&mut self, opening: usize, end: &str) {
        let body = &self.rest()[opening..];
        let says = body.trim_start_matches([' ', '\t', '*']);
        if says.starts_with('…') || says.starts_with("...") {
            self.notes.ellipsis.get_or_insert(self.at);
        }
        let length = if end == "\n" {
            body.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(body.len())
        } else {
            body.find(end).map_or(body.len(), |at| at + end.len())
        };
        self.at += opening + length;
    }

    /// Skips an ellipsis in place of a value or a member.
    pub(super) fn ellipsis(&mut self) -> bool {
        let rest = self.rest();
        let len = if rest.starts_with('…') {
            '…'.len_utf8()
        } else {
            rest.bytes().take_while(|b| *b == b'.').count()
        };
        // JavaScript spreads a value with three dots: its content is not in the text.
        if len < 3 {
            return false;
        }
        self.notes.ellipsis.get_or_insert(self.at);
        self.at += len;
        true
    }
}

/// Returns the length of an escaped line break or tab between tokens: `{\n  "name": …`.
fn written_blank(text: &str) -> Option<usize> {
    let mut chars = text.chars().skip(1);
    match chars.next()? {
        'n' | 'r' | 't' => chars.next().is_none_or(|next| !next.is_alphanumeric()).then_some(2),
        '\n' => Some(2),
        _ => None,
    }
}
