//! Markup inside words: tags of HTML and signs of Markdown that change how letters look.
//!
//! All letters of a word may be marked, and each by itself. Signs that stand between words stay: they may end a sentence.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::{memchr3, memmem};

/// Names of elements that change how letters look.
const INLINE: [&str; 34] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font",
    "i", "ins", "kbd", "label", "mark", "nobr", "ruby", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
];
/// The most bytes of a tag.
const MAX_TAG: usize = 200;
/// The most bytes of a comment.
const MAX_COMMENT: usize = 1000;

/// Returns the tags of inline elements, if one of them, or several in a row, are inside a word.
pub(super) fn tags_inside_words(text: &str) -> Vec<Range<usize>> {
    let (mut tags, mut is_inside_word, mut row) = (Vec::new(), false, 0..0);
    for (at, _) in text.match_indices('<') {
        // Inside a comment.
        if at < row.end {
            continue;
        }
        let Some(length) = tag(&text[at..]) else { continue };
        let is_next = !tags.is_empty() && at == row.end;
        row = if is_next { row.start } else { at }..at + length;
        is_inside_word |= text[..row.start].ends_with(char::is_alphabetic)
            && text[row.end..].starts_with(char::is_alphabetic);
        tags.push(at..row.end);
    }
    if is_inside_word { tags } else { Vec::new() }
}

/// Returns the length of the tag of an inline element that a text begins with, or of a comment.
fn tag(text: &str) -> Option<usize> {
    if let Some(comment) = text.strip_prefix("<!--") {
        let bytes = comment.as_bytes();
        let end = memmem::find(&bytes[..bytes.len().min(MAX_COMMENT)], b"-->")?;
        return Some("<!--".len() + end + "-->".len());
    }
    let end = text.bytes().take(MAX_TAG).position(|byte| byte == b'>')?;
    let inside = text[1..end].trim_start_matches('/');
    let name = inside.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    INLINE.iter().any(|known| known.eq_ignore_ascii_case(name)).then_some(end + 1)
}

/// Signs of emphasis of one kind in a chunk, by their number.
#[derive(Debug, Default, Clone, Copy)]
struct Signs {
    all: usize,
    inside: usize,
    edge: usize,
}

/// Returns the marks of emphasis in words of which a part is emphasised: `**B**ell`, `**B****e****l****l**`, not `a*b`.
pub(super) fn emphasis_inside_words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if memchr3(b'*', b'_', b'`', text.as_bytes()).is_none() && !text.contains('~') {
        return found;
    }
    let mut start = 0;
    for chunk in text.split(char::is_whitespace) {
        // The separators are characters of any length; the chunk is a part of the text.
        let at = start + text[start..].find(chunk).unwrap_or_default();
        start = at + chunk.len();
        let marks = marks(chunk);
        if marks.len() < 2 {
            continue;
        }
        let places: Vec<(bool, bool)> = places(chunk, &marks);
        let kind = |mark: &Range<usize>| (chunk.as_bytes()[mark.start], plain_length(mark.len()));
        let mut kinds: BTreeMap<(u8, usize), Signs> = BTreeMap::new();
        for (mark, (is_inside, is_edge)) in marks.iter().zip(&places) {
            let signs = kinds.entry(kind(mark)).or_default();
            signs.all += 1;
            signs.inside += usize::from(*is_inside);
            signs.edge += usize::from(*is_edge);
        }
        let of_kind = |kind| kinds.get(&kind).copied().unwrap_or_default();
        for (mark, (is_inside, is_edge)) in marks.iter().zip(&places) {
            let (sign, length) = kind(mark);
            let signs = of_kind((sign, length));
            // A single star is also a sign of multiplication, unless it opens or closes the word. Two of them may be the end of
            // one emphasis and the start of the next.
            let is_of_emphasis = match (length, is_inside) {
                (1, true) => signs.edge > 0,
                (1, false) => {
                    *is_edge && (signs.inside > 0 || (signs.all > 1 && of_kind((sign, 2)).inside > 0))
                }
                (_, true) => signs.all > 1 || (length == 2 && of_kind((sign, 1)).edge > 1),
                (_, false) => signs.inside > 0,
            };
            if is_of_emphasis {
                found.push(at + mark.start..at + mark.end);
            }
        }
    }
    found
}

/// Returns the length of one of the two signs that a run of four or six is: the end of an emphasis and the start of the next.
fn plain_length(length: usize) -> usize {
    if length > 3 { length / 2 } else { length }
}

/// The most signs of emphasis around another one.
const MOST_AROUND: usize = 12;

/// Returns of each mark whether it is inside a word, and whether it opens or closes the chunk.
fn places(chunk: &str, marks: &[Range<usize>]) -> Vec<(bool, bool)> {
    let is_sign = |c: &char| matches!(c, '*' | '_' | '`' | '~');
    let first = chunk.find(char::is_alphanumeric).unwrap_or(chunk.len());
    let last = chunk.rfind(char::is_alphanumeric).unwrap_or_default();
    let place = |mark: &Range<usize>| {
        let before = chunk[..mark.start].chars().rev().take(MOST_AROUND).find(|c| !is_sign(c));
        let after = chunk[mark.end..].chars().take(MOST_AROUND).find(|c| !is_sign(c));
        let is_inside = [before, after].into_iter().all(|c| c.is_some_and(char::is_alphabetic));
        (is_inside, mark.end <= first || mark.start > last)
    };
    marks.iter().map(place).collect()
}

/// Returns the runs of signs of emphasis in a text without blanks.
fn marks(chunk: &str) -> Vec<Range<usize>> {
    let bytes = chunk.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    let is_star = |at: Option<&u8>| matches!(at, Some(b'*' | b'~'));
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| **byte == bytes[at]).count();
        let is_mark = match bytes[at] {
            b'*' => matches!(length, 1..=4 | 6),
            // Alone it is a part of names.
            b'_' if length == 1 => {
                is_star(at.checked_sub(1).and_then(|at| bytes.get(at))) || is_star(bytes.get(at + 1))
            }
            b'_' | b'~' => matches!(length, 2..=4 | 6),
            b'`' => matches!(length, 1 | 2 | 4),
            _ => false,
        };
        if is_mark {
            found.push(at..at + length);
        }
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, parts: Vec<Range<usize>>) -> String {
        let (mut rest, mut done) = (String::new(), 0);
        for part in parts {
            rest += &text[done..part.start];
            done = part.end;
        }
        rest + &text[done..]
    }

    #[test]
    fn tags_around_every_letter_and_comments_are_removed() {
        for (text, expected) in [
            ("<b>C</b><b>o</b><b>u</b><b>l</b><b>d</b> <i>you</i>", "Could you"),
            ("C<span style=\"color: red\"><b>o</b></span>uld", "Could"),
            ("w<!-- a > b -->ord", "word"),
            ("C<wbr>ou<!-- <b> -->ld", "Could"),
        ] {
            assert_eq!(without(text, tags_inside_words(text)), expected);
        }
        for text in
            ["<b>Note</b> this", "a < b > c", "<b>a</b>, <i>b</i>", "x <!-- y --> z", "a<br>b", "a<div>b"]
        {
            assert!(tags_inside_words(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn emphasis_on_every_letter_is_removed() {
        for (text, expected) in [
            ("**C****o****u****l****d** you", "Could you"),
            ("**C****o**uld", "Could"),
            ("*C**o**u**l**d*", "Could"),
            ("*C**ould*", "Could"),
            ("__C____o____u__ld", "Could"),
            ("~~C~~~~o~~uld", "Could"),
            ("`C``o``u``l``d`", "Could"),
            ("***C******o***uld", "Could"),
            ("**_C_****_o_**uld", "Could"),
            ("**i**n**t**e**r**n**a**t**i**o**n**a**l**i**s**a**t**i**o**n", "internationalisation"),
        ] {
            assert_eq!(without(text, emphasis_inside_words(text)), expected);
        }
        for text in [
            "a*b*c*d",
            "2**3**4",
            "f(*args, **kwargs)",
            "**Note** *this*",
            "snake_case_name",
            "a****b",
            "x ** y",
        ] {
            assert!(emphasis_inside_words(text).is_empty(), "{text}");
        }
    }
}
