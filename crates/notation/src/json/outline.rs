//! Finds the brackets of a text without parsing it.
//!
//! One pass, which recognises strings and comments as in JSON5. It finds the depth of the brackets (recursive readers
//! check it first), a text that ends before its brackets do, and complete values side by side. Outside of all brackets
//! quotes are ignored, as the text may be prose.

use std::ops::Range;

/// The maximum number of parts; no list of functions has nearly as many.
pub const MAX_PARTS: usize = 200_000;

/// The bracket structure of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The outermost bracketed parts, in order; the first [`MAX_PARTS`] of them.
    pub parts: Vec<Range<usize>>,
    /// The maximum number of open brackets.
    pub depth: usize,
    /// The place of the outermost bracket that is never closed.
    pub left_open: Option<usize>,
    /// The place of `...` instead of a value: content was omitted.
    pub ellipsis: Option<usize>,
}

/// Scans a text once.
fn outline(text: &str) -> Outline {
    let bytes = text.as_bytes();
    let mut outline = Outline::default();
    let (mut at, mut depth, mut start) = (0, 0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'[' | b'{' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
                outline.depth = outline.depth.max(depth);
            }
            b']' | b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 && outline.parts.len() < MAX_PARTS {
                    outline.parts.push(start..at + 1);
                }
            }
            b'"' | b'\'' if depth > 0 => at = string_end(bytes, at),
            b'/' => at = comment_end(bytes, at),
            b'.' if depth > 0 && bytes[at..].starts_with(b"...") => {
                outline.ellipsis.get_or_insert(at);
                at += 2;
            }
            _ => {}
        }
        at += 1;
    }
    outline.left_open = (depth > 0).then_some(start);
    outline
}

impl Outline {
    /// Returns the outline of a text.
    pub fn of(text: &str) -> Self {
        outline(text)
    }

    /// Returns true if the text is exactly one complete part.
    pub fn is_one_part(&self) -> bool {
        self.parts.len() == 1 && self.left_open.is_none()
    }

    /// Returns true if the text is several parts with only whitespace, commas and semicolons around them.
    pub fn is_concatenated(&self, text: &str) -> bool {
        self.parts.len() > 1
            && self.left_open.is_none()
            && self.gaps(text).all(|gap| gap.chars().all(|c| c.is_whitespace() || matches!(c, ',' | ';')))
    }

    /// Returns the pieces of text outside of all parts.
    pub fn gaps<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let starts = self.parts.iter().map(|part| part.start).chain([text.len()]);
        let ends = std::iter::once(0).chain(self.parts.iter().map(|part| part.end));
        ends.zip(starts).map(move |(end, start)| &text[end..start])
    }
}

/// Returns the index of the quote that ends the string begun at `open`, or of the last byte.
fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            _ if byte == bytes[open] => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Returns the index of the last byte of the comment begun at `open`, or `open` if no comment begins there.
fn comment_end(bytes: &[u8], open: usize) -> usize {
    let rest = &bytes[open..];
    let length = if rest.starts_with(b"/*") {
        rest[2..].windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
    } else if rest.starts_with(b"//") {
        (0..rest.len()).find(|at| ends_line(&rest[*at..])).unwrap_or(rest.len())
    } else {
        1
    };
    open + length - 1
}

/// Returns true if a line ends here by the rules of JSON5, which include U+2028 and U+2029.
fn ends_line(rest: &[u8]) -> bool {
    matches!(rest[0], b'\n' | b'\r')
        || rest.starts_with("\u{2028}".as_bytes())
        || rest.starts_with("\u{2029}".as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn brackets_inside_strings_and_comments_do_not_count() {
        let text = r#"{"a": "[[[", 'b': '\'{{', /* [[ */ "c": [1] // {{
        }"#;
        let outline = outline(text);
        assert_eq!((outline.parts.first(), outline.parts.len()), (Some(&(0..text.len())), 1));
        assert_eq!((outline.depth, outline.left_open), (2, None));
    }

    #[test]
    fn a_cut_text_has_a_bracket_left_open() {
        assert_eq!(outline(r#" [{"name": "f"#).left_open, Some(1));
        assert_eq!(outline(r#" [{"name": "f"}]"#).left_open, None);
    }

    #[test]
    fn an_ellipsis_counts_only_outside_strings() {
        assert_eq!(outline(r#"["a...", "b", ...]"#).ellipsis, Some(14));
        assert_eq!(outline(r#"["wait..."]... and more"#).ellipsis, None);
    }

    #[test]
    fn parts_side_by_side_are_concatenated_and_prose_between_them_is_not() {
        for (text, expected) in
            [("{}\n{}", true), ("{}, {};", true), ("{}", false), ("{} and {}", false), ("Use: {} {}", false)]
        {
            assert_eq!(outline(text).is_concatenated(text), expected, "{text}");
        }
    }

    #[test]
    fn a_comment_ends_where_json5_ends_it() {
        assert_eq!(outline("// it's\u{2028}[[[]]]").depth, 3);
        assert_eq!(outline("/* [ */[]").depth, 1);
        assert_eq!(outline("/*/ [ */[]").depth, 1);
    }

    proptest! {
        #[test]
        fn the_parts_of_any_outline_are_within_the_text(text in "[\\[\\]{}'\"/*\\\\.a\u{2028}\n, é]{0,40}") {
            let outline = outline(&text);
            for part in &outline.parts {
                prop_assert!(text.get(part.clone()).is_some());
            }
            outline.is_concatenated(&text);
        }
    }
}
