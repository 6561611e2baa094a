//! Finds the borders between the items of a text.
//!
//! A splitter reads each byte once and keeps its state between chunks, so an item may be longer than any buffer. It
//! does not validate items; that happens when they are parsed. Rows of a table end with a line feed, with a carriage
//! return, or with both; of a run of carriage returns the last ends the row, because a text that was converted twice has
//! two of them before each line feed.

use memchr::memchr;

/// The byte that ends a line. Old programs write only carriage returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// A line feed, with or without a carriage return before it.
    Feed,
    /// A carriage return alone.
    Return,
}

impl LineEnd {
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Feed => b'\n',
            Self::Return => b'\r',
        }
    }
}

/// The kind of the bytes up to a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// An item, including its line end, with its number of bytes in the chunk.
    Item(usize),
    /// The separators between items: brackets, commas and whitespace of a JSON array.
    Gap(usize),
}

/// The kind of the bytes after the last cut, at the end of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// An item without a line end.
    Item,
    /// Nothing, or whitespace.
    Gap,
    /// The text ends too early, for this reason.
    Cut(&'static str),
}

/// A way of splitting a text into items.
#[derive(Debug)]
pub(super) enum Splitter {
    /// Every line is an item.
    Lines(LineEnd),
    /// Every row of a table is an item; a quoted cell may hold line ends.
    Rows(Rows),
    /// Every JSON value is an item: elements of arrays, or values one after the other.
    Values(Values),
    /// The whole text is one item.
    Whole,
}

impl Splitter {
    pub(super) fn rows(delimiter: u8) -> Self {
        Self::Rows(Rows { delimiter, at: Cell::Start, line_end: None })
    }

    pub(super) fn values() -> Self {
        Self::Values(Values { in_array: false, depth: 0, at: Token::Gap })
    }

    /// Returns `true` if one line may hold several items, or one item several lines.
    pub(super) fn may_share_lines(&self) -> bool {
        matches!(self, Self::Rows(_) | Self::Values(_))
    }

    /// Returns the byte that ends lines; of a table the one after its first row.
    pub(super) fn line_end(&self) -> LineEnd {
        match self {
            Self::Lines(end) => *end,
            Self::Rows(rows) => rows.line_end.unwrap_or(LineEnd::Feed),
            Self::Values(_) | Self::Whole => LineEnd::Feed,
        }
    }

    /// Continues after the last cut or, after `None`, after the end of the last chunk.
    pub(super) fn next_cut(&mut self, text: &[u8]) -> Option<Cut> {
        match self {
            Self::Lines(end) => memchr(end.byte(), text).map(|at| Cut::Item(at + 1)),
            Self::Rows(rows) => rows.row_end(text).map(Cut::Item),
            Self::Values(values) => values.next_cut(text),
            Self::Whole => None,
        }
    }

    /// Returns the kind of the rest of a text that has ended; `is_empty` if no bytes follow the last cut.
    pub(super) fn rest(&self, is_empty: bool) -> Rest {
        match self {
            Self::Rows(Rows { at: Cell::Quoted, .. }) => Rest::Cut("a quote is opened and never closed"),
            Self::Values(Values { at: Token::Gap, in_array: true, .. }) => {
                Rest::Cut("the array is never closed")
            }
            Self::Values(Values { at: Token::Gap, .. }) => Rest::Gap,
            Self::Values(Values { at: Token::Nested | Token::Text | Token::Escape, .. }) => {
                Rest::Cut("the JSON value is never closed")
            }
            _ if is_empty => Rest::Gap,
            _ => Rest::Item,
        }
    }
}

/// Rows of a delimited table, by the rules of the `csv` crate: a quote opens a cell only at its start.
#[derive(Debug)]
pub(super) struct Rows {
    delimiter: u8,
    at: Cell,
    /// What ended the first row.
    line_end: Option<LineEnd>,
}

#[derive(Debug, Clone, Copy)]
enum Cell {
    Start,
    Plain,
    Quoted,
    QuoteInQuoted,
    /// After a carriage return: a line feed would belong to it.
    Return,
}

impl Rows {
    fn row_end(&mut self, text: &[u8]) -> Option<usize> {
        for (n, &byte) in text.iter().enumerate() {
            self.at = match (self.at, byte) {
                // The byte is left for the next call: it belongs to the next row.
                (Cell::Return, byte) if !matches!(byte, b'\r' | b'\n') => {
                    return Some(self.end_row(n, LineEnd::Return));
                }
                (Cell::Quoted, b'"') => Cell::QuoteInQuoted,
                (Cell::Quoted, _) | (Cell::Start | Cell::QuoteInQuoted, b'"') => Cell::Quoted,
                (_, b'\n') => return Some(self.end_row(n + 1, LineEnd::Feed)),
                (_, b'\r') => Cell::Return,
                (_, byte) if byte == self.delimiter => Cell::Start,
                _ => Cell::Plain,
            };
        }
        None
    }

    fn end_row(&mut self, n_bytes: usize, line_end: LineEnd) -> usize {
        self.at = Cell::Start;
        self.line_end.get_or_insert(line_end);
        n_bytes
    }
}

/// JSON values inside arrays or in sequence, found by brackets and quotes alone.
#[derive(Debug)]
pub(super) struct Values {
    in_array: bool,
    depth: usize,
    at: Token,
}

#[derive(Debug, Clone, Copy)]
enum Token {
    Gap,
    First,
    /// A number, a word or invalid text outside all brackets.
    Bare,
    Nested,
    Text,
    Escape,
}

impl Values {
    fn next_cut(&mut self, text: &[u8]) -> Option<Cut> {
        for (n, &byte) in text.iter().enumerate() {
            match (self.at, byte) {
                // The last three are a byte order mark, in concatenated files.
                (Token::Gap, b' ' | b'\t' | b'\r' | b'\n' | b',' | 0xef | 0xbb | 0xbf) => {}
                (Token::Gap, b'[') if !self.in_array => self.in_array = true,
                (Token::Gap, b']') if self.in_array => self.in_array = false,
                // The value's first byte is left for the next call: it belongs to the item.
                (Token::Gap, _) => return Some(self.cut(Token::First, Cut::Gap(n))),
                (Token::First | Token::Nested, b'{' | b'[') => {
                    self.depth += 1;
                    self.at = Token::Nested;
                }
                (Token::First | Token::Nested, b'"') | (Token::Escape, _) => self.at = Token::Text,
                (Token::First, _) => self.at = Token::Bare,
                (Token::Bare, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'"' | b'[' | b']' | b'{') => {
                    return Some(self.cut(Token::Gap, Cut::Item(n)));
                }
                (Token::Nested, b'}' | b']') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(self.cut(Token::Gap, Cut::Item(n + 1)));
                    }
                }
                (Token::Text, b'\\') => self.at = Token::Escape,
                (Token::Text, b'"') if self.depth == 0 => {
                    return Some(self.cut(Token::Gap, Cut::Item(n + 1)));
                }
                (Token::Text, b'"') => self.at = Token::Nested,
                (Token::Bare | Token::Nested | Token::Text, _) => {}
            }
        }
        None
    }

    fn cut(&mut self, at: Token, cut: Cut) -> Cut {
        self.at = at;
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the items of a text that is passed in chunks of `step` bytes, and the kind of the rest.
    fn items(mut splitter: Splitter, text: &str, step: usize) -> (Vec<String>, Rest) {
        let (bytes, mut found) = (text.as_bytes(), Vec::new());
        let (mut start, mut seen) = (0, 0);
        while seen < bytes.len() {
            let chunk_end = (seen + step).min(bytes.len());
            while let Some(cut) = splitter.next_cut(&bytes[seen..chunk_end]) {
                let (Cut::Item(n) | Cut::Gap(n)) = cut;
                if matches!(cut, Cut::Item(_)) {
                    found.push(text[start..seen + n].to_owned());
                }
                (start, seen) = (seen + n, seen + n);
            }
            seen = chunk_end;
        }
        (found, splitter.rest(start == bytes.len()))
    }

    #[test]
    fn items_do_not_depend_on_the_size_of_chunks() {
        let json = "[{\"a\": \"]}\\\"\"},\n 12, \"x\", [1, [2]]\n]";
        let csv = "a,b\n\"x\ny\"\"z\",1\n5\" pipe,2\n";
        for step in 1..40 {
            let (values, rest) = items(Splitter::values(), json, step);
            assert_eq!(values, ["{\"a\": \"]}\\\"\"}", "12", "\"x\"", "[1, [2]]"]);
            assert_eq!(rest, Rest::Gap);
            let (rows, rest) = items(Splitter::rows(b','), csv, step);
            assert_eq!(rows, ["a,b\n", "\"x\ny\"\"z\",1\n", "5\" pipe,2\n"]);
            assert_eq!(rest, Rest::Gap);
            let (lines, rest) = items(Splitter::Lines(LineEnd::Feed), "one\n\ntwo", step);
            assert_eq!(lines, ["one\n", "\n"]);
            assert_eq!(rest, Rest::Item);
        }
    }

    #[test]
    fn rows_end_with_a_carriage_return_a_line_feed_or_both_in_chunks_of_any_size() {
        for (text, expected) in [
            ("a,b\r1,\"x\ry\nz\"\r2,3", &["a,b\r", "1,\"x\ry\nz\"\r"][..]),
            ("a,b\r\n1,2\r3,4\n", &["a,b\r\n", "1,2\r", "3,4\n"]),
            ("a,b\r\r\n1,2\r\r\n", &["a,b\r\r\n", "1,2\r\r\n"]),
            ("a,b\n\r\n1,2\n", &["a,b\n", "\r\n", "1,2\n"]),
            ("\"a\"\r\"b\"\r", &["\"a\"\r"]),
        ] {
            for step in 1..12 {
                let (rows, rest) = items(Splitter::rows(b','), text, step);
                assert_eq!(rows, expected, "{text:?} in steps of {step}");
                let is_ended = text.ends_with('\n');
                assert_eq!(rest, if is_ended { Rest::Gap } else { Rest::Item }, "{text:?}");
            }
        }
        let (lines, rest) = items(Splitter::Lines(LineEnd::Return), "one\r\rtwo", 2);
        assert_eq!((lines, rest), (vec!["one\r".to_owned(), "\r".to_owned()], Rest::Item));
    }

    #[test]
    fn a_text_that_ends_too_early_has_a_reason() {
        let rest = |splitter, text| items(splitter, text, 7).1;
        assert_eq!(rest(Splitter::rows(b','), "a\n\"b"), Rest::Cut("a quote is opened and never closed"));
        assert_eq!(rest(Splitter::values(), "[1, 2"), Rest::Item);
        assert_eq!(rest(Splitter::values(), "[{}"), Rest::Cut("the array is never closed"));
        assert_eq!(rest(Splitter::values(), "{\"a\": "), Rest::Cut("the JSON value is never closed"));
        assert_eq!(rest(Splitter::values(), ""), Rest::Gap);
    }

    #[test]
    fn invalid_text_between_values_is_an_item_of_its_own() {
        let (found, _) = items(Splitter::values(), "{} } ]] oops\n{\"b\": 1}", 64);
        assert_eq!(found, ["{}", "}", "]", "]", "oops", "{\"b\": 1}"]);
    }
}
