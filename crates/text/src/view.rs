//! The normal view of a text: the text as shown to a reader, with a mapping back to the bytes as written.
//!
//! Values can be hidden by encoding: digits of other scripts and forms, signs that look like `@` and `.`, soft hyphens and other invisible characters, non-breaking
//! spaces, HTML entities (`&#64;`), percent-encoding (`%40`), and escapes of JSON, Python and PHP (`\u0040`, `\x40`,
//! `\/`). Recognisers read the view and ignore all of this. A text without such characters is its own view, after one
//! scan.

use std::borrow::Cow;

use memchr::memchr3_iter;

/// Maximum length of an entity's name or number.
const MAX_ENTITY: usize = 8;
/// Entities that can be part of a value or end one.
const ENTITIES: [(&str, char); 18] = [
    ("amp", '&'),
    ("at", '@'),
    ("commat", '@'),
    ("colon", ':'),
    ("equals", '='),
    ("gt", '>'),
    ("hyphen", '-'),
    ("lowbar", '_'),
    ("lpar", '('),
    ("lt", '<'),
    ("nbsp", ' '),
    ("num", '#'),
    ("percnt", '%'),
    ("period", '.'),
    ("plus", '+'),
    ("quot", '"'),
    ("rpar", ')'),
    ("sol", '/'),
];
/// Entities of invisible characters.
const INVISIBLE_ENTITIES: [&str; 4] = ["shy", "zwj", "zwnj", "ZeroWidthSpace"];
/// Entities of the Latin letters from U+00C0 on, in order.
const LATIN_ENTITIES: [&str; 64] = [
    "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc",
    "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde",
    "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig", "agrave",
    "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml",
    "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];
/// The zeros of the decimal digits of all scripts, and of those that mathematics and old computers have; nine others follow each.
const ZEROS: [u32; 76] = [
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6,
    0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0,
    0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30,
    0x10d40, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650, 0x116c0, 0x116d0,
    0x116da, 0x11730, 0x118e0, 0x11950, 0x11bf0, 0x11c50, 0x11d50, 0x11da0, 0x11f50, 0x16130, 0x16a60,
    0x16ac0, 0x16b50, 0x16d70, 0x1ccf0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0,
    0x1e4f0, 0x1e5f1, 0x1e950, 0x1fbf0, 0x2080,
];
/// The ones of digits in circles, in parentheses and with a full stop; eight others follow each.
const ONES: [u32; 8] = [0x2460, 0x2474, 0x2488, 0x24f5, 0x2776, 0x2780, 0x278a, 0x1f102];
/// Other digits: raised, and zeros in circles.
const OTHER_DIGITS: [(u32, u32); 15] = [
    (0xb2, 2),
    (0xb3, 3),
    (0xb9, 1),
    (0x2070, 0),
    (0x2074, 4),
    (0x2075, 5),
    (0x2076, 6),
    (0x2077, 7),
    (0x2078, 8),
    (0x2079, 9),
    (0x24ea, 0),
    (0x24ff, 0),
    (0x1f101, 0),
    (0x1f10b, 0),
    (0x1f10c, 0),
];
/// Most characters between two digits of a number in which one of them is raised or in a circle.
const MAX_BETWEEN: usize = 3;

/// The mapping from bytes of a view to bytes of the text.
#[derive(Debug, Default)]
pub struct Offsets {
    /// Pieces of the view in order; empty if the view is the text.
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    /// First byte in the view.
    view: usize,
    /// First byte in the text, and the byte after the last.
    start: usize,
    end: usize,
    /// Whether the bytes are those of the text; otherwise the piece is one decoded character.
    is_copy: bool,
}

impl Offsets {
    fn piece(&self, at: usize) -> Option<Piece> {
        let before = self.pieces.partition_point(|piece| piece.view <= at);
        self.pieces.get(before.checked_sub(1)?).copied()
    }

    /// Returns the bytes of the text for these bytes of the view.
    pub fn back(&self, start: usize, end: usize) -> (usize, usize) {
        let (Some(first), Some(last)) = (self.piece(start), end.checked_sub(1).and_then(|at| self.piece(at)))
        else {
            return (start, end);
        };
        let start = if first.is_copy { first.start + (start - first.view) } else { first.start };
        let end = if last.is_copy { last.start + (end - last.view) } else { last.end };
        (start, end)
    }
}

/// Returns the view of a text, and the mapping back.
pub fn normal_view(text: &str) -> (Cow<'_, str>, Offsets) {
    let mut view = String::new();
    let mut offsets = Offsets::default();
    let mut done = 0;
    let copy = |view: &mut String, offsets: &mut Offsets, start: usize, end: usize| {
        if start < end {
            offsets.pieces.push(Piece { view: view.len(), start, end, is_copy: true });
            view.push_str(&text[start..end]);
        }
    };
    for at in Marks::of(text) {
        if at < done {
            continue;
        }
        let Some((length, decoded)) = decoded(text, at) else { continue };
        if view.capacity() == 0 {
            view.reserve(text.len());
        }
        copy(&mut view, &mut offsets, done, at);
        done = at + length;
        if let Some(c) = decoded {
            offsets.pieces.push(Piece { view: view.len(), start: at, end: done, is_copy: false });
            view.push(c);
        }
    }
    if done == 0 {
        return (Cow::Borrowed(text), offsets);
    }
    copy(&mut view, &mut offsets, done, text.len());
    (Cow::Owned(view), offsets)
}

/// The bytes at which decoding may be needed, in order.
struct Marks<'t> {
    ascii: std::iter::Peekable<memchr::Memchr3<'t>>,
    other: Option<std::iter::Peekable<OtherMarks<'t>>>,
}

/// The characters outside ASCII.
struct OtherMarks<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Marks<'t> {
    fn of(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let ascii = memchr3_iter(b'\\', b'&', b'%', bytes).peekable();
        let other = (!text.is_ascii()).then(|| OtherMarks { bytes, at: 0 }.peekable());
        Self { ascii, other }
    }
}

impl Iterator for Marks<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let Some(other) = &mut self.other else { return self.ascii.next() };
        match (self.ascii.peek(), other.peek()) {
            (Some(ascii), Some(mark)) if ascii > mark => other.next(),
            (None, Some(_)) => other.next(),
            _ => self.ascii.next(),
        }
    }
}

impl Iterator for OtherMarks<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        // Lead bytes of the characters that `decoded_character` knows.
        let is_mark = |byte: u8| {
            matches!(byte, 0xc2 | 0xcd | 0xd8 | 0xd9 | 0xdb | 0xdf | 0xe0..=0xe3 | 0xea | 0xef | 0xf0)
        };
        let offset = self.bytes[self.at..].iter().position(|&byte| is_mark(byte))?;
        let at = self.at + offset;
        self.at = at + 1;
        Some(at)
    }
}

/// Decodes the characters at this byte, if needed: their length, and the character; `None` for an invisible one.
fn decoded(text: &str, at: usize) -> Option<(usize, Option<char>)> {
    match text.as_bytes()[at] {
        b'\\' => escape(text, at),
        b'&' => entity(text, at),
        b'%' => percent(text, at),
        _ => character(text, at),
    }
}

fn character(text: &str, at: usize) -> Option<(usize, Option<char>)> {
    let c = text.get(at..)?.chars().next()?;
    let length = c.len_utf8();
    let code = u32::from(c);
    let decoded = match c {
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}'
        // The sign of a key around a digit, and the choice of a picture for it.
        | '\u{20e3}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' => None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Some(' '),
        // A hyphen of words and domains.
        '\u{2010}' | '\u{2011}' => Some(if is_between(text, at, length, char::is_alphanumeric) { '-' } else { return None }),
        // The leader of a table, elsewhere than in an address.
        '\u{2024}' => Some(if is_between(text, at, length, char::is_alphanumeric) { '.' } else { return None }),
        // Only between digits: elsewhere a dash is punctuation.
        '\u{2012}' | '\u{2013}' | '\u{2212}' => {
            let follows = text[at + length..].chars().next().is_some_and(|next| next.is_ascii_digit());
            let before = text[..at].chars().next_back().is_some_and(|last| last.is_ascii_digit());
            Some(if follows && before { '-' } else { return None })
        }
        // The dot of a domain if Latin letters follow; elsewhere it ends a sentence.
        '\u{3002}' | '\u{ff61}' => {
            let follows = text[at + length..].starts_with(|next: char| next.is_ascii_alphanumeric());
            let before = text[..at].ends_with(|last: char| last.is_ascii_alphanumeric());
            Some(if follows && before { '.' } else { return None })
        }
        'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '＠' | '．' | '－' | '＋' | '＿' | '／' | '（' | '）' => {
            Some(char::from_u32(code - 0xfee0)?)
        }
        '﹫' => Some('@'),
        '﹒' => Some('.'),
        '﹣' => Some('-'),
        '﹢' => Some('+'),
        '﹍'..='﹏' => Some('_'),
        _ => match plain_digit(code) {
            Some(digit) => Some(digit),
            None => Some(shaped_digit(code).filter(|_| is_in_number(text, at, length))?),
        },
    };
    Some((length, decoded))
}

/// Returns a decimal digit of any script.
fn plain_digit(code: u32) -> Option<char> {
    let zero = ZEROS.iter().find(|&&zero| (zero..zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

/// Returns a digit that is raised, in a circle, or otherwise more than a digit.
fn shaped_digit(code: u32) -> Option<char> {
    let one = ONES.iter().find(|&&one| (one..one + 9).contains(&code)).map(|one| code - one + 1);
    let digit =
        one.or_else(|| OTHER_DIGITS.iter().find(|(known, _)| *known == code).map(|(_, digit)| *digit));
    char::from_digit(digit?, 10)
}

/// Returns whether another such digit is near: alone it is a footnote, a power, or a number of a list.
fn is_in_number(text: &str, at: usize, length: usize) -> bool {
    let is_joint =
        |c: &char| matches!(c, ' ' | '-' | '.' | '/' | '(' | ')' | '\u{a0}' | '\u{fe0f}' | '\u{200b}');
    let is_digit = |c: char| shaped_digit(u32::from(c)).is_some();
    let behind = text[at + length..].chars().take(MAX_BETWEEN + 1).find(|c| !is_joint(c));
    let before = text[..at].chars().rev().take(MAX_BETWEEN + 1).find(|c| !is_joint(c));
    behind.is_some_and(is_digit) || before.is_some_and(is_digit)
}

/// Returns whether such characters are directly before and after a character.
fn is_between(text: &str, at: usize, length: usize, is: fn(char) -> bool) -> bool {
    text[at + length..].starts_with(is) && text[..at].ends_with(is)
}

/// Decodes `\u0040`, `\x40`, `\/`, and Markdown's escapes (`\_`); the backslash may itself be escaped.
fn escape(text: &str, at: usize) -> Option<(usize, Option<char>)> {
    let bytes = text.as_bytes();
    if at > 0 && bytes[at - 1] == b'\\' {
        // Decoded with the first of them.
        return None;
    }
    let n_slashes = bytes[at..].iter().take_while(|&&byte| byte == b'\\').count();
    let sign = at + n_slashes;
    let (digits, decoded) = match bytes.get(sign)? {
        b'u' => (4, None),
        b'x' => (2, None),
        &byte @ (b'/' | b'_' | b'@' | b'-' | b'+' | b'.') => (0, Some(char::from(byte))),
        _ => return None,
    };
    let end = sign + 1 + digits;
    let decoded = match decoded {
        Some(c) => c,
        None => readable(text.get(sign + 1..end)?)?,
    };
    Some((end - at, visible(decoded)))
}

/// Decodes `&#64;`, `&#x40;`, `&commat;`.
fn entity(text: &str, at: usize) -> Option<(usize, Option<char>)> {
    let name = &text.as_bytes()[at + 1..];
    let length = name.iter().take(2 * MAX_ENTITY).position(|&byte| byte == b';')?;
    let name = text.get(at + 1..at + 1 + length)?;
    let length = length + 2;
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return Some((length, visible(char::from_u32(code).filter(|&c| is_text(c))?)));
    }
    if INVISIBLE_ENTITIES.contains(&name) {
        return Some((length, None));
    }
    let latin = (0xc0..).zip(LATIN_ENTITIES).find(|(_, known)| *known == name);
    let sign = || ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
    let c = latin.and_then(|(code, _)| char::from_u32(code)).or_else(sign)?;
    Some((length, Some(c)))
}

/// Decodes `%40`, `%2540`; a percent sign itself is unchanged.
fn percent(text: &str, at: usize) -> Option<(usize, Option<char>)> {
    let mut length = 3;
    let mut c = readable(text.get(at + 1..at + 3)?)?;
    // Encoded more than once: `%2540`.
    while c == '%' {
        c = readable(text.get(at + length..at + length + 2)?)?;
        length += 2;
    }
    c.is_ascii().then_some((length, Some(c)))
}

/// Returns the character with a code in hex digits, if it can be part of a value or end one.
fn readable(digits: &str) -> Option<char> {
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, 16).ok()?).filter(|&c| is_text(c))
}

/// Returns false for control characters, and for a backslash, which would begin a new escape.
fn is_text(c: char) -> bool {
    !c.is_control() && c != '\\'
}

/// Returns a decoded character as the view shows it; `None` for an invisible one.
fn visible(c: char) -> Option<char> {
    let mut buffer = [0; 4];
    let written: &str = c.encode_utf8(&mut buffer);
    character(written, 0).map_or(Some(c), |(_, decoded)| decoded)
}

/// Returns the text without the characters that the view removes or decodes.
pub fn plain(written: &str) -> Cow<'_, str> {
    normal_view(written).0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn encoded_values_are_decoded_and_mapped_back() {
        let cases = [
            ("mira&#64;quillpost.net", "mira@quillpost.net"),
            ("mira&#x40;quillpost&period;net", "mira@quillpost.net"),
            ("mira%40quillpost.net", "mira@quillpost.net"),
            ("mira%2540quillpost%25252enet", "mira@quillpost.net"),
            ("mira@quillpost。net", "mira@quillpost.net"),
            (r"mira\u0040quillpost\u002enet", "mira@quillpost.net"),
            (r"mira\\u0040quillpost\x2enet", "mira@quillpost.net"),
            (r"a\/b\_c", "a/b_c"),
            ("J&uuml;rgen &Aacute;lvarez &yuml;", "Jürgen Álvarez ÿ"),
            ("mira＠quillpost．net", "mira@quillpost.net"),
            ("mi\u{ad}ra\u{200b}@quill\u{2060}post.net", "mira@quillpost.net"),
            ("０１７１\u{a0}３９２００１２", "0171 3920012"),
            ("٠٥٠ ١٢٣", "050 123"),
            ("mira﹫quill\u{2010}post\u{2024}net", "mira@quill-post.net"),
            ("𝟎𝟏𝟕𝟏 ০১২ ߀߁ 𞥐𞥑", "0171 012 01 01"),
            ("⁴⁵³⁹ ①④⑧⑧ ⓪", "4539 1488 0"),
            ("4\u{fe0f}\u{20e3}5\u{fe0f}\u{20e3}3", "453"),
            ("030\u{2011}23125321, Mo\u{2013}Fr", "030-23125321, Mo\u{2013}Fr"),
        ];
        for (written, expected) in cases {
            let (view, offsets) = normal_view(written);
            assert_eq!(view, expected);
            assert_eq!(offsets.back(0, view.len()), (0, written.len()), "{written}");
        }
        let (view, offsets) = normal_view("to mi\u{ad}ra&#64;quillpost.net\u{200b} now");
        let start = view.find("mira").unwrap();
        let (start, end) = offsets.back(start, start + "mira@quillpost.net".len());
        assert_eq!((start, end), (3, "to mi\u{ad}ra&#64;quillpost.net".len()));
    }

    #[test]
    fn similar_text_is_unchanged() {
        for text in [
            r"C:\users\new",
            "50% off & more;",
            "a&b;c",
            r"\n\t\x",
            "100%25",
            "x\u{2013}y",
            r"\u00zz",
            "谢谢，好的",
            "x² + y³, 5 m²",
            "① Call ② 4155552671¹",
            "Contents ․․․ 7",
        ] {
            assert!(matches!(normal_view(text).0, Cow::Borrowed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn spans_of_the_view_are_spans_of_the_text(text in r"([a-z0-9@. ]|\\u00[0-9a-f]{2}|&#6[0-9];|%[2-4][0-9a-f]|\PC|\u{ad}|\\){0,30}") {
            let (view, offsets) = normal_view(&text);
            let borders: Vec<usize> = view.char_indices().map(|(at, _)| at).chain([view.len()]).collect();
            for pair in borders.windows(2) {
                let (start, end) = offsets.back(pair[0], pair[1]);
                prop_assert!(start < end && text.get(start..end).is_some(), "{start}..{end} of {text:?}");
            }
        }
    }
}
