//! Looks up whether letters are a part of a value: a suffix array over the letters of all values of a request.

use super::OriginalPart;
use super::original::Original;
use crate::FoundValue;

/// Letters by which suffixes are sorted; a longer piece is compared with those that begin like it.
const SORTED_LETTERS: usize = 64;
/// Maximum number of letters of which every suffix is in the index. Of more values, only suffixes that begin at a border
/// are.
const MAX_LETTERS: usize = 100_000;
/// Maximum number of parts compared for one piece.
const MAX_PARTS: usize = 32;
/// Maximum number of suffixes with the same sorted letters that are compared in full.
const MAX_COMPARED: usize = 1_000;
/// Minimum number of digits of the end of a number that is read as another number.
const LEAST_NUMBER: usize = 7;
/// Between two values.
const END: char = '\n';

/// The letters of the values of a request.
#[derive(Debug)]
pub(super) struct Index {
    originals: Vec<Original>,
    /// The letters of all, each with an end.
    text: Vec<char>,
    /// The first letter of each.
    starts: Vec<u32>,
    /// The first letters of the suffixes, in the order of their letters.
    suffixes: Vec<u32>,
    /// The ASCII letters and digits with which a suffix begins, as bits; most words of a text begin with none of a number.
    firsts: u128,
}

impl Index {
    pub(super) fn of(originals: Vec<Original>) -> Self {
        let mut index =
            Self { originals, text: Vec::new(), starts: Vec::new(), suffixes: Vec::new(), firsts: 0 };
        let n_letters: usize = index.originals.iter().map(|original| original.letters.len()).sum();
        for original in &index.originals {
            let start = index.text.len();
            index.starts.push(number(start));
            let is_in = |offset: &usize| n_letters <= MAX_LETTERS || original.has_border(*offset);
            let offsets = (0..original.letters.len()).filter(is_in);
            index.suffixes.extend(offsets.map(|offset| number(start + offset)));
            index.text.extend(&original.letters);
            index.text.push(END);
        }
        let text = &index.text;
        let firsts = index.suffixes.iter().filter_map(|&at| bit(text[at as usize]));
        index.firsts = firsts.fold(0, |bits, bit| bits | bit);
        let head = |&at: &u32| &text[at as usize..text.len().min(at as usize + SORTED_LETTERS)];
        index.suffixes.sort_by(|one, other| head(one).cmp(head(other)).then(one.cmp(other)));
        index
    }

    /// Returns whether a part of a value may begin with this letter.
    pub(super) fn may_start(&self, letter: char) -> bool {
        bit(letter).is_none_or(|bit| self.firsts & bit != 0)
    }

    /// Returns whether there are values of digits.
    pub(super) fn has_digits(&self) -> bool {
        ('0'..='9').any(|digit| self.may_start(digit))
    }

    /// Returns whether a part of a value begins with these letters.
    pub(super) fn starts(&self, letters: &[char]) -> bool {
        self.range(letters).next().is_some()
    }

    /// Returns the part of a value with these letters: a whole value first, then one between borders, then the earliest.
    pub(super) fn best_part(&self, letters: &[char]) -> Option<OriginalPart<'_>> {
        let parts = self.parts(letters);
        parts.min_by_key(|part| (!part.is_whole(), !part.is_natural()))
    }

    /// Returns the parts of values with these letters.
    pub(super) fn parts(&self, letters: &[char]) -> impl Iterator<Item = OriginalPart<'_>> + use<'_> {
        let length = letters.len();
        let mut found: Vec<u32> = self.range(letters).take(MAX_PARTS).collect();
        found.sort_unstable();
        found.into_iter().map(move |at| {
            let owner = self.starts.partition_point(|&start| start <= at) - 1;
            let from = (at - self.starts[owner]) as usize;
            OriginalPart { original: &self.originals[owner], from, to: from + length }
        })
    }

    /// Returns the part of a spelling of this value with these letters, one of the question first.
    pub(super) fn part_of(&self, letters: &[char], value: &FoundValue) -> Option<OriginalPart<'_>> {
        let is_of =
            |part: &OriginalPart<'_>| part.original.kind == value.kind && part.original.value == value.value;
        let of_value = self.parts(letters).filter(is_of);
        // A call may leave out the area, so that the rest is read as another number.
        let is_end = |part: &OriginalPart<'_>| {
            part.original.is_asked
                && part.is_natural()
                && part.len() >= LEAST_NUMBER
                && part.original.kind == value.kind
        };
        let of_value = of_value.min_by_key(|part| (!part.original.is_asked, !part.is_whole()));
        of_value.filter(|part| part.original.is_asked).or_else(|| self.parts(letters).find(is_end))
    }

    /// Returns the values.
    pub(super) fn originals(&self) -> &[Original] {
        &self.originals
    }

    /// Returns the first letters of suffixes that begin with these letters.
    fn range<'r>(&'r self, letters: &'r [char]) -> impl Iterator<Item = u32> + 'r {
        let head = |at: u32, length: usize| {
            let at = at as usize;
            &self.text[at..self.text.len().min(at + length)]
        };
        let sorted = &letters[..letters.len().min(SORTED_LETTERS)];
        let first = self.suffixes.partition_point(|&at| head(at, sorted.len()) < sorted);
        let alike =
            self.suffixes[first..].iter().copied().take(if sorted.is_empty() { 0 } else { MAX_COMPARED });
        let alike = alike.take_while(move |&at| head(at, sorted.len()) == sorted);
        alike.filter(move |&at| head(at, letters.len()) == letters)
    }
}

/// Returns the bit of an ASCII letter or digit.
fn bit(letter: char) -> Option<u128> {
    letter.is_ascii().then(|| 1 << u32::from(letter))
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
