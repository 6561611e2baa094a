//! Two texts side by side, with the words marked that only one of them has, cut to a fixed length.
//!
//! Words that both texts share at the beginning and at the end are cut first, so that the first difference is shown
//! however long the texts are. Texts that differ in more words than the comparison allows are marked as a whole.

/// The most characters of a side.
const MAX_CHARS: usize = 220;
/// The most characters of a text that both sides share, before it loses its middle.
const SHARED_CHARS: usize = 60;
/// The most words of a side that are compared one by one.
const MAX_WORDS: usize = 300;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether the other side lacks it.
    pub is_different: bool,
}

/// A text with marked parts.
pub type Marked = Vec<Piece>;

/// A text without marks, cut.
pub(super) fn plain(text: &str) -> Marked {
    cut(vec![Piece { text: on_one_line(text), is_different: false }])
}

/// Both texts, with what differs marked.
pub(super) fn compared(one: &str, other: &str) -> (Marked, Marked) {
    let (one, other) = (on_one_line(one), on_one_line(other));
    let (a, b) = (words(&one), words(&other));
    let n_start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let n_end = a[n_start..].iter().rev().zip(b[n_start..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (inner_a, inner_b) = (&a[n_start..a.len() - n_end], &b[n_start..b.len() - n_end]);
    let (in_both_a, in_both_b) = shared(inner_a, inner_b);
    let side = |all: &[&str], in_both: &[bool]| {
        let mut pieces: Marked = Vec::new();
        let inner = in_both.iter().copied();
        let is_shared =
            std::iter::repeat_n(true, n_start).chain(inner).chain(std::iter::repeat_n(true, n_end));
        for (word, is_shared) in all.iter().zip(is_shared) {
            match pieces.last_mut() {
                Some(last) if last.is_different != is_shared => last.text += word,
                _ => pieces.push(Piece { text: (*word).to_owned(), is_different: !is_shared }),
            }
        }
        cut(pieces)
    };
    (side(&a, &in_both_a), side(&b, &in_both_b))
}

/// Line breaks and other control characters as blanks.
fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The words of a text, the blanks between them, and single other signs.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| if c.is_alphanumeric() || c == '_' { 1 } else { u8::from(c.is_whitespace()) * 2 };
    let mut found = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let class = class(c);
        if before.is_some_and(|before| before != class || class == 0) {
            found.push(&text[start..at]);
            start = at;
        }
        before = Some(class);
    }
    if start < text.len() {
        found.push(&text[start..]);
    }
    found
}

/// For each word of both sides, whether it is in their longest common subsequence; of none if they are too long.
fn shared(a: &[&str], b: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let (mut in_a, mut in_b) = (vec![false; a.len()], vec![false; b.len()]);
    if a.len() > MAX_WORDS || b.len() > MAX_WORDS {
        return (in_a, in_b);
    }
    // `longest[i][j]`: of the words from i and from j on.
    let width = b.len() + 1;
    let mut longest = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            longest[i * width + j] = if a[i] == b[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            (in_a[i], in_b[j]) = (true, true);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    // Blanks between two differences are part of them.
    for (side, words) in [(&mut in_a, a), (&mut in_b, b)] {
        for at in 1..side.len().saturating_sub(1) {
            if side[at] && words[at].trim().is_empty() && !side[at - 1] && !side[at + 1] {
                side[at] = false;
            }
        }
    }
    (in_a, in_b)
}

/// Shortens what both sides share, then the whole.
fn cut(pieces: Marked) -> Marked {
    let n_all = pieces.iter().map(|piece| piece.text.chars().count()).sum::<usize>();
    if n_all <= MAX_CHARS {
        return pieces;
    }
    let (n_pieces, is_alone) = (pieces.len(), pieces.len() == 1);
    let mut left = MAX_CHARS;
    let mut short = Marked::new();
    for (nth, piece) in pieces.into_iter().enumerate() {
        let text = match (piece.is_different, nth) {
            _ if is_alone => piece.text,
            (true, _) => piece.text,
            (false, 0) => last_chars(&piece.text, SHARED_CHARS),
            (false, nth) if nth + 1 == n_pieces => first_chars(&piece.text, SHARED_CHARS),
            _ => without_middle(&piece.text),
        };
        let n_chars = text.chars().count();
        short.push(Piece { text: first_chars(&text, left), is_different: piece.is_different });
        if n_chars >= left {
            break;
        }
        left -= n_chars;
    }
    short
}

fn first_chars(text: &str, n: usize) -> String {
    match text.char_indices().nth(n) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn last_chars(text: &str, n: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= n {
        return text.to_owned();
    }
    let start = text.char_indices().nth(n_chars - n).map_or(0, |(at, _)| at);
    format!("…{}", &text[start..])
}

fn without_middle(text: &str) -> String {
    if text.chars().count() <= SHARED_CHARS {
        return text.to_owned();
    }
    let half = SHARED_CHARS / 2;
    format!("{}{}", first_chars(text, half), last_chars(text, half).trim_start_matches('…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A side with what differs in brackets.
    fn bracketed(side: &Marked) -> String {
        let piece =
            |piece: &Piece| if piece.is_different { format!("[{}]", piece.text) } else { piece.text.clone() };
        side.iter().map(piece).collect()
    }

    fn both(one: &str, other: &str) -> (String, String) {
        let (one, other) = compared(one, other);
        (bracketed(&one), bracketed(&other))
    }

    #[test]
    fn words_that_one_side_lacks_are_marked() {
        let (one, other) = both("Ring the old bell at noon.", "Ring the bell at 5 o'clock.");
        assert_eq!(one, "Ring the [old ]bell at [noon].");
        assert_eq!(other, "Ring the bell at [5 o'clock].");
        assert_eq!(both("same", "same"), ("same".to_owned(), "same".to_owned()));
        assert_eq!(both("", "new\nline"), (String::new(), "[new line]".to_owned()));
    }

    #[test]
    fn the_first_difference_is_shown_in_long_texts_of_any_signs() {
        let long = "éß ".repeat(500);
        let (one, other) = both(&format!("{long}noon {long}"), &format!("{long}dusk {long}"));
        assert!(one.contains("[noon]") && other.contains("[dusk]"), "{one}\n{other}");
        assert!(one.starts_with('…') && one.ends_with('…'), "{one}");
        assert!(one.chars().count() <= MAX_CHARS + 10, "{one}");
        let words: String = (0..2_000).map(|n| format!("a{n} ")).collect();
        let others: String = (0..2_000).map(|n| format!("b{n} ")).collect();
        assert!(both(&words, &others).0.chars().count() <= MAX_CHARS + 3);
        assert_eq!(bracketed(&plain(&long)).chars().count(), MAX_CHARS + 1);
    }
}
