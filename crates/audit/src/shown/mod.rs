//! A text with its words as a reader sees them, and the places of its words in the text as written.
//!
//! A verbatim copy can be hidden from a comparison of words: by characters that are not shown, marks over every letter, entities, escapes
//! and markup inside words. The normal view (`text::view`) undoes what hides values; here follows what hides words of any language:
//! `decodings` removes other characters that are not shown and decodes other escapes, and `markup` removes emphasis inside words
//! (`**B**ell`, `<b>B</b>ell`). Benchmark and training set are read in the same way. A text without signs of it is itself, after one
//! scan. Other alphabets, letters with blanks between them, octal escapes, quoted-printable and base64 are not undone.

mod decodings;
mod markup;

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3, memmem};
use unicode_normalization::UnicodeNormalization as _;

use decodings::{decodings, has_hidden_control};
use markup::{emphasis_inside_words, tags_inside_words};

use callsieve_text::view::{Offsets, normal_view};

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
        || memchr(b'~', bytes).is_some()
        // One between letters is a part of a name, unless the others stand beside it.
        || memmem::find(bytes, b"__").is_some()
        || has_hidden_control(text)
}

/// Returns a value as a reader sees it: also with letters and digits in their plain form, which words get when they are folded.
pub(super) fn shown_value(written: &str) -> Cow<'_, str> {
    if !has_sign(written) {
        return Cow::Borrowed(written);
    }
    let shown = Shown::of(written).text;
    match shown {
        // A value of nothing else is not an empty one.
        _ if shown.trim().is_empty() => Cow::Borrowed(written),
        shown if shown.is_ascii() => shown,
        shown => Cow::Owned(shown.nfkc().collect()),
    }
}

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
            ("r\u{7f}i\u{1}ng\u{9c} the be\u{fffc}ll", "ring the bell"),
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

    #[test]
    fn markup_in_escapes_is_undone() {
        for written in [
            "&lt;b&gt;r&lt;/b&gt;&lt;b&gt;i&lt;/b&gt;ng",
            "&amp;lt;b&amp;gt;r&amp;lt;/b&amp;gt;ing",
            "&#42;&#42;r&#42;&#42;&ast;&ast;i&ast;&ast;ng",
            "r&#60!-- --&#62ing",
            r"\u003cb\u003er\u003c/b\u003e\U0000003cb\U0000003ei\u{3c}/b\u{3e}ng",
        ] {
            assert_eq!(Shown::of(written).text, "ring", "{written}");
        }
    }

    #[test]
    fn a_value_is_read_without_what_hides_it() {
        for written in [
            "Tromsø har\u{200b}bour",
            "Tromsø&nbsp;harbour",
            "Troms%C3%B8%20harbour",
            "Ｔｒｏｍｓø harbour",
            "𝐓romsø har\u{ad}bour",
            "Tromsø ha\u{336}rbour",
            "Troms&#248; **h**arbour",
        ] {
            assert_eq!(shown_value(written), "Tromsø harbour", "{written}");
        }
        for value in ["", "50% off & more", "a_b", "\u{200b}", " "] {
            assert_eq!(shown_value(value), value);
        }
    }

    proptest! {
        #[test]
        fn places_are_parts_of_the_text(text in r"([a-zé ]|\\[nt]|%C3%A9|&[a-z]{2,5};|\*{1,2}|<b>|</b>|<!-- -->|&#67|\\U00000043|\u{1b}\[1m|\u{7f}|\u{336}|\u{fe0f}|\PC){0,24}") {
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
