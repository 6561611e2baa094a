//! A text with its words as a reader sees them, and the places of its words in the text as written.
//!
//! A verbatim copy can be hidden from a comparison of words: by characters that are not shown, marks over every letter, entities, escapes
//! and markup inside words. The normal view (`text::view`) undoes what hides values; here follows what hides words of any language:
//! variation selectors and other invisible characters, combining marks that make no letter, percent-encoded letters, `\n` written as two
//! characters, and emphasis inside a word (`**B**ell`, `<b>B</b>ell`). Benchmark and training set are read in the same way. A text
//! without signs of it is itself, after one scan. Other alphabets, letters with blanks between them and base64 are not undone.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr2, memchr3, memchr3_iter};
use unicode_normalization::UnicodeNormalization as _;

use crate::text::view::{Offsets, normal_view};

/// A text as its words are compared.
pub(super) struct Shown<'t> {
    /// As a reader sees it.
    pub(super) text: Cow<'t, str>,
    /// From the text as written to this one.
    layers: Vec<Layer>,
}

/// One step of a text to its shown form.
enum Layer {
    View(Offsets),
    Edits(Vec<Piece>),
}

/// A stretch of an edited text.
struct Piece {
    /// Its first byte.
    at: usize,
    /// The bytes that it was made of.
    of: Range<usize>,
    /// The bytes are the same.
    is_copy: bool,
}

/// The most times that a text is decoded: `&amp;#39;` is encoded twice.
const MOST_STEPS: usize = 3;

impl<'t> Shown<'t> {
    /// Returns a text as it is shown.
    pub(super) fn of(text: &'t str) -> Self {
        let mut this = Self { text: Cow::Borrowed(text), layers: Vec::new() };
        if !has_sign(text) {
            return this;
        }
        for _ in 0..MOST_STEPS {
            let n_before = this.layers.len();
            if let (Cow::Owned(view), offsets) = normal_view(&this.text) {
                this.text = Cow::Owned(view);
                this.layers.push(Layer::View(offsets));
            }
            this.edit(decodings(&this.text));
            if this.layers.len() == n_before {
                break;
            }
        }
        let tags = tags_inside_words(&this.text);
        this.edit(tags.into_iter().map(|tag| (tag, String::new())).collect());
        let emphasis = emphasis_inside_words(&this.text);
        this.edit(emphasis.into_iter().map(|mark| (mark, String::new())).collect());
        this
    }

    /// Replaces parts of the text, ascending.
    fn edit(&mut self, edits: Vec<(Range<usize>, String)>) {
        if edits.is_empty() {
            return;
        }
        let (mut text, mut pieces, mut done) = (String::with_capacity(self.text.len()), Vec::new(), 0);
        let copy = |text: &mut String, pieces: &mut Vec<Piece>, of: Range<usize>| {
            if !of.is_empty() {
                pieces.push(Piece { at: text.len(), of: of.clone(), is_copy: true });
                text.push_str(&self.text[of]);
            }
        };
        for (of, written) in edits {
            copy(&mut text, &mut pieces, done..of.start);
            done = of.end;
            if !written.is_empty() {
                pieces.push(Piece { at: text.len(), of, is_copy: false });
                text.push_str(&written);
            }
        }
        copy(&mut text, &mut pieces, done..self.text.len());
        self.text = Cow::Owned(text);
        self.layers.push(Layer::Edits(pieces));
    }

    /// Returns the bytes of the text as written for these bytes of it as shown, which are not empty.
    pub(super) fn back(&self, shown: Range<usize>) -> Range<usize> {
        self.layers.iter().rev().fold(shown, |Range { start, end }, layer| match layer {
            Layer::View(offsets) => {
                let (start, end) = offsets.back(start, end);
                start..end
            }
            Layer::Edits(pieces) => {
                let piece = |at: usize| pieces[..pieces.partition_point(|piece| piece.at <= at)].last();
                let (Some(first), Some(last)) = (piece(start), piece(end - 1)) else { return start..end };
                let from = if first.is_copy { first.of.start + (start - first.at) } else { first.of.start };
                let to = if last.is_copy { last.of.start + (end - last.at) } else { last.of.end };
                from..to
            }
        })
    }

    /// Whether its places are those of the text as written.
    pub(super) fn is_as_written(&self) -> bool {
        self.layers.is_empty()
    }
}

/// Whether anything in a text may hide words.
fn has_sign(text: &str) -> bool {
    let bytes = text.as_bytes();
    !text.is_ascii()
        || memchr3(b'\\', b'&', b'%', bytes).is_some()
        || memchr3(b'*', b'<', b'`', bytes).is_some()
        || memchr2(b'_', b'~', bytes).is_some()
}

/// Finds what the normal view leaves encoded.
fn decodings(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    if text.is_ascii() {
        for at in memchr3_iter(b'\\', b'&', b'%', text.as_bytes()) {
            add(&mut found, decoded_ascii(text, at));
        }
        return found;
    }
    let mut characters = text.char_indices().peekable();
    let mut before = 0;
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' | '&' | '%' => add(&mut found, decoded_ascii(text, at)),
            _ if is_invisible(c) => add(&mut found, Some((at..at + c.len_utf8(), String::new()))),
            _ if is_mark(c) => {
                let mut end = at + c.len_utf8();
                while let Some((at, mark)) = characters.next_if(|(_, next)| is_mark(*next)) {
                    end = at + mark.len_utf8();
                }
                add(&mut found, without_marks(text, before..end));
            }
            _ => {}
        }
        before = at;
    }
    found
}

/// Adds an edit that begins after the last one.
fn add(found: &mut Vec<(Range<usize>, String)>, edit: Option<(Range<usize>, String)>) {
    let is_next = |of: &Range<usize>| found.last().is_none_or(|(last, _)| last.end <= of.start);
    if let Some(edit) = edit.filter(|(of, _)| is_next(of)) {
        found.push(edit);
    }
}

fn decoded_ascii(text: &str, at: usize) -> Option<(Range<usize>, String)> {
    let rest = &text[at..];
    match rest.as_bytes()[0] {
        b'\\' => {
            let written = match rest.as_bytes().get(1)? {
                b'n' | b'r' => "\n",
                b't' => " ",
                _ => return None,
            };
            Some((at..at + 2, written.to_owned()))
        }
        b'&' => {
            let (name, _) = rest[1..].get(..MAX_ENTITY.min(rest.len() - 1))?.split_once(';')?;
            let (_, written) = ENTITIES.iter().find(|(known, _)| *known == name)?;
            Some((at..at + name.len() + 2, (*written).to_owned()))
        }
        _ => {
            // Letters outside ASCII are several bytes, each with its own sign.
            let codes = rest.as_bytes().chunks_exact(3).map_while(|code| {
                let digits = code.strip_prefix(b"%")?;
                u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|byte| !byte.is_ascii())
            });
            let codes: Vec<u8> = codes.collect();
            let written = String::from_utf8(codes.clone()).ok().filter(|written| !written.is_empty())?;
            Some((at..at + 3 * codes.len(), written))
        }
    }
}

/// The most bytes of an entity's name with its semicolon.
const MAX_ENTITY: usize = 8;
/// Entities that end a word or stand inside one, besides those of the normal view.
const ENTITIES: [(&str, &str); 16] = [
    ("apos", "'"),
    ("bull", "•"),
    ("deg", "°"),
    ("emsp", " "),
    ("ensp", " "),
    ("euro", "€"),
    ("hellip", "…"),
    ("laquo", "«"),
    ("ldquo", "“"),
    ("lsquo", "‘"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("raquo", "»"),
    ("rdquo", "”"),
    ("rsquo", "’"),
    ("thinsp", " "),
];

/// Characters that are not shown, besides those of the normal view.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Marks of no script: accents, and strokes and dots over anything. Vowels of Arabic, Thai and the scripts of India are none.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Removes the marks that make no letter with the one before them.
fn without_marks(text: &str, of: Range<usize>) -> Option<(Range<usize>, String)> {
    let composed: String = text[of.clone()].nfc().collect();
    let first = composed.chars().next().map_or(0, char::len_utf8);
    composed[first..].contains(is_mark).then(|| {
        let letter = composed.chars().take(1).filter(|c| !is_mark(*c));
        (of, letter.chain(composed[first..].chars().filter(|c| !is_mark(*c))).collect())
    })
}

/// Names of elements that change how letters look.
const INLINE: [&str; 20] = [
    "a", "b", "big", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "s", "small", "span", "strong",
    "sub", "sup", "tt", "u", "wbr",
];
/// The most bytes of a tag.
const MAX_TAG: usize = 200;

/// Returns the tags of inline elements, if one of them is inside a word.
fn tags_inside_words(text: &str) -> Vec<Range<usize>> {
    let (mut tags, mut is_inside_word) = (Vec::new(), false);
    for (at, _) in text.match_indices('<') {
        let Some(length) = tag(&text[at..]) else { continue };
        let of = at..at + length;
        is_inside_word |= text[..of.start].ends_with(char::is_alphabetic)
            && text[of.end..].starts_with(char::is_alphabetic);
        tags.push(of);
    }
    if is_inside_word { tags } else { Vec::new() }
}

/// Returns the length of the tag of an inline element that a text begins with.
fn tag(text: &str) -> Option<usize> {
    let end = text.bytes().take(MAX_TAG).position(|byte| byte == b'>')?;
    let inside = text[1..end].trim_start_matches('/');
    let name = inside.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    INLINE.iter().any(|known| known.eq_ignore_ascii_case(name)).then_some(end + 1)
}

/// Returns the marks of emphasis in words of which a part is emphasised: `**B**ell`, not `a*b`.
fn emphasis_inside_words(text: &str) -> Vec<Range<usize>> {
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
        for mark in &marks {
            let is_pair =
                |other: &&Range<usize>| *other != mark && chunk[(*other).clone()] == chunk[mark.clone()];
            let is_inside = |of: &Range<usize>| {
                chunk[..of.start].ends_with(char::is_alphabetic)
                    && chunk[of.end..].starts_with(char::is_alphabetic)
            };
            // A single star is also a sign of multiplication, unless it opens or closes the word.
            let is_edge = |of: &Range<usize>| {
                !chunk[..of.start].contains(char::is_alphanumeric)
                    || !chunk[of.end..].contains(char::is_alphanumeric)
            };
            let is_sure = |other: &Range<usize>| mark.len() > 1 || is_edge(mark) || is_edge(other);
            if marks
                .iter()
                .filter(is_pair)
                .any(|other| (is_inside(mark) || is_inside(other)) && is_sure(other))
            {
                found.push(at + mark.start..at + mark.end);
            }
        }
    }
    found
}

/// Returns the runs of signs of emphasis in a text without blanks.
fn marks(chunk: &str) -> Vec<Range<usize>> {
    let bytes = chunk.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| **byte == bytes[at]).count();
        let is_mark = match bytes[at] {
            b'*' => length <= 3,
            b'_' | b'~' => (2..=3).contains(&length),
            b'`' => length <= 2,
            _ => false,
        };
        if is_mark {
            found.push(at..at + length);
        }
        at += length;
    }
    // Names of programs have many; emphasis has two signs, or four.
    if found.len() > MOST_MARKS { Vec::new() } else { found }
}

/// The most signs of emphasis in a word.
const MOST_MARKS: usize = 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_hides_words_is_undone_and_places_are_those_of_the_text_as_written() {
        for (written, expected) in [
            ("r\u{fe0f}i\u{fe0f}n\u{e0061}g the be\u{34f}ll", "ring the bell"),
            ("ri\u{336}n\u{336}g\u{336} the be\u{20dd}ll", "ring the bell"),
            ("ring%20the%20bell%20at%20Sk%C3%A5ne", "ring the bell at Skåne"),
            ("ring\\nthe\\r\\nbell\\ttoday", "ring\nthe\n\nbell today"),
            ("**R**ing the b**ell**, *b*oth", "Ring the bell, both"),
            ("__R__ing ~~the~~m `a`ll", "Ring them all"),
            ("<b>R</b>ing <span class=\"x\">the</span> bell", "Ring the bell"),
            ("don&amp;#39;t ring&hellip; the bell&rsquo;s", "don't ring… the bell’s"),
            ("ri&#8203;ng t&#104;e b&shy;ell", "ring the bell"),
            ("r\u{200b}i\u{feff}ng the\u{a0}bell", "ring the bell"),
        ] {
            let shown = Shown::of(written);
            assert_eq!(shown.text, expected);
            let first = expected.find(char::is_whitespace).unwrap();
            let back = shown.back(0..first);
            assert!(written[back.clone()].starts_with(['r', 'R', 'd', '*', '_', '<']), "{written}: {back:?}");
            assert!(
                !shown.is_as_written() && shown.back(0..expected.len()).len() + 4 > written.len(),
                "{written}"
            );
        }
        // A letter with its accent is one, and so are vowels of other scripts.
        for text in [
            "Zu\u{308}rich",
            "ภาษาไทย",
            "हिन्दी",
            "x*y*z and 2**3**4",
            "a*b",
            "<b>Note</b> this",
            "snake_case_name",
            "50% off & more",
        ] {
            assert_eq!(Shown::of(text).text, text);
        }
    }

    proptest! {
        #[test]
        fn places_are_parts_of_the_text(text in r"([a-zé ]|\\[nt]|%C3%A9|&[a-z]{2,5};|\*{1,2}|<b>|</b>|\u{336}|\u{fe0f}|\PC){0,24}") {
            let shown = Shown::of(&text);
            let borders: Vec<usize> =
                shown.text.char_indices().map(|(at, _)| at).chain([shown.text.len()]).collect();
            for pair in borders.windows(2) {
                let back = shown.back(pair[0]..pair[1]);
                prop_assert!(back.start < back.end && text.get(back.clone()).is_some(), "{back:?} of {text:?}");
            }
            prop_assert_eq!(shown.is_as_written(), shown.text == text.as_str() && shown.layers.is_empty());
        }
    }
}
