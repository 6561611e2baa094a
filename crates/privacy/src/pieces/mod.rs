//! Finds pieces of the values of a request, and their encoded forms: the last four digits of a card, the local part of an
//! address, a number split over arguments or turns, an address in base64, its MD5.
//!
//! A piece is replaced by the same piece of the placeholder, so a recorded call stays a right answer to its question.
//! Where the placeholder has no such piece (`Larsen` of `kim.larsen@…`), the piece is blanked and `is_lost`: the caller
//! holds the request. Pieces are searched for in their own request only, because short ones occur anywhere by accident.
//! Words that the user also writes apart from the value, or that the docs offer, are not pieces.

mod encoded;
mod extension;
mod index;
mod original;
mod tiles;
mod turns;
mod words;

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use self::index::Index;
use self::original::Original;
use self::words::{Group, each_group};
use super::apart::Spans;
use super::numbers::Numbers;
use super::walk::Place;
use super::{FoundValue, PrivacyKind, ValueStatus};
use callsieve_text::view::{normal_view, plain};

/// Minimum number of digits of a piece of digits, and of letters and digits of any other piece.
const LEAST_DIGITS: usize = 4;
const LEAST_LETTERS: usize = 5;
/// Minimum number of characters of the start or the end of a secret.
const LEAST_OF_SECRET: usize = 4;
/// The host in the address of a network.
const NETWORK: &str = "0";
/// Minimum number of digits of a national number to which a call may add a country code, and the digits of such a code,
/// with two zeros before it.
const LEAST_NATIONAL: usize = 7;
const COUNTRY_CODE: std::ops::RangeInclusive<usize> = 1..=5;
/// Letters that a login has besides a name, and the number of values whose logins are searched for.
const MAX_INITIALS: usize = 2;
const MAX_LABELLED: usize = 64;
/// Number of digits from which any part of a number is a piece; a shorter one must begin and end where a reader sees a
/// border.
const SURE_DIGITS: usize = 6;

/// The replacement of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The same piece of the placeholder, or a blank.
    pub text: String,
    /// Whether it is a blank, because the placeholder has no such piece.
    pub is_lost: bool,
}

/// A text of a request with the values found in it.
#[derive(Debug)]
pub(super) struct LeafOf {
    pub(super) text: String,
    pub(super) place: Place,
    /// Whether its key names a year or a date, so that four digits are one.
    pub(super) is_date: bool,
    /// Whether it is a number under a key that names no number of a card, a telephone and the like, so that a few digits may
    /// be an amount.
    pub(super) is_amount: bool,
    /// The values, in order and without overlaps; pieces are added.
    pub(super) found: Vec<FoundValue>,
}

/// Returns true if a key names a year, a date or a time.
pub(super) fn is_date_key(key: &str) -> bool {
    let key = key.to_lowercase();
    ["year", "date", "time", "jahr", "datum", "année", "año", "fecha"].iter().any(|word| key.contains(word))
}

/// Returns true if a key names a number that is not an amount, or a piece of one.
pub(super) fn is_number_key(key: &str) -> bool {
    const NAMES: [&str; 20] = [
        "last", "digit", "card", "phone", "tel", "mobil", "number", "nummer", "numero", "suffix", "prefix",
        "bin", "area", "line", "part", "ssn", "account", "group", "octet", "exchange",
    ];
    let key = key.to_lowercase();
    NAMES.iter().any(|word| key.contains(word))
}

/// Adds the pieces of all values of a request to the values of its texts. `docs` has the words of its doc list; see
/// [`words_of_docs`].
pub(super) fn complete(leaves: &mut [LeafOf], numbers: &Numbers, docs: &str) {
    let originals = originals(leaves, numbers);
    if originals.is_empty() {
        return;
    }
    turns::find(&originals, leaves);
    let search = Search {
        nationals: nationals(&originals),
        labels: labels(&originals),
        index: Index::of(originals),
        own: FxHashSet::default(),
        docs: docs.lines().collect(),
    };
    let search = Search { own: search.own_words(leaves), ..search };
    tiles::find(&search, leaves);
    for leaf in leaves.iter_mut().filter(|leaf| leaf.place != Place::Name) {
        search.align(leaf);
        let mut spans = Spans::of(&leaf.found);
        let mut new = Vec::new();
        encoded::find(&search, leaf, &mut |piece| spans.push(piece, &mut new));
        search.find_in(leaf, &mut |piece| spans.push(piece, &mut new));
        search.find_made(leaf, &mut |piece| spans.push(piece, &mut new));
        if !new.is_empty() {
            leaf.found.append(&mut new);
            leaf.found.sort_by_key(|value| value.start);
        }
    }
}

/// Returns the values of all texts, those of questions first, each once.
fn originals(leaves: &[LeafOf], numbers: &Numbers) -> Vec<Original> {
    let mut seen: FxHashSet<(PrivacyKind, Cow<'_, str>)> = FxHashSet::default();
    let mut originals = Vec::new();
    let is_question = |leaf: &&LeafOf| leaf.place == Place::Question;
    let ordered = leaves.iter().filter(is_question).chain(leaves.iter().filter(|leaf| !is_question(leaf)));
    for leaf in ordered {
        for found in leaf.found.iter().filter(|value| value.is_personal()) {
            let Some(number) = numbers.of(found) else { continue };
            let written = plain(&leaf.text[found.start..found.end]);
            if seen.insert((found.kind, written.clone())) {
                let before = originals.len();
                Original::all_of(found, &written, number, &mut originals);
                if found.kind == PrivacyKind::Phone
                    && let Some(digits) = extension::extension_in(&leaf.text[found.end..])
                {
                    let extended: Vec<Original> =
                        originals[before..].iter().filter_map(|it| it.with_extension(digits)).collect();
                    originals.extend(extended);
                }
                for original in &mut originals[before..] {
                    original.is_asked = is_question(&leaf);
                }
            }
        }
    }
    originals
}

/// Returns the telephone numbers of an unknown country by their digits without trunk zeros.
fn nationals(originals: &[Original]) -> FxHashMap<String, usize> {
    let mut nationals = FxHashMap::default();
    for (at, original) in originals.iter().enumerate().filter(|(_, original)| original.is_national()) {
        let digits: String = original.letters.iter().collect();
        let bare = digits.trim_start_matches('0');
        if bare.len() >= LEAST_NATIONAL {
            nationals.entry(bare.to_owned()).or_insert(at);
        }
    }
    nationals
}

/// Returns the words of mailboxes, which logins are made of: `mkestrel`.
fn labels(originals: &[Original]) -> Vec<(String, usize)> {
    let mut labels = Vec::new();
    for (at, original) in originals.iter().enumerate().take(MAX_LABELLED) {
        let mailbox = original.mailbox().unwrap_or_default().to_lowercase();
        let words = mailbox.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() >= LEAST_LETTERS);
        labels.extend(words.map(|word| (word.to_owned(), at)));
    }
    labels
}

/// The search for the pieces of the values of one request.
pub(super) struct Search<'a> {
    index: Index,
    /// The telephone numbers of an unknown country, by their digits without trunk zeros.
    nationals: FxHashMap<String, usize>,
    /// The words of mailboxes.
    labels: Vec<(String, usize)>,
    /// The words of the questions outside of values, in lower case.
    own: FxHashSet<String>,
    /// The words of the docs, in lower case.
    docs: FxHashSet<&'a str>,
}

/// A part of an original in a text: the first byte, the byte after the last, and the letters from `from` to `to`.
struct OriginalPart<'i> {
    original: &'i Original,
    from: usize,
    to: usize,
}

impl Search<'_> {
    /// Returns the words of the questions that are not part of a value.
    fn own_words(&self, leaves: &[LeafOf]) -> FxHashSet<String> {
        let mut own = FxHashSet::default();
        for leaf in leaves.iter().filter(|leaf| leaf.place == Place::Question) {
            let (view, offsets) = normal_view(&leaf.text);
            let mut taken = Spans::of(&leaf.found);
            self.find_in(leaf, &mut |piece| {
                taken.add(piece.start, piece.end);
            });
            let mut free = Vec::new();
            words::each(&view, |start, end| {
                let (from, to) = offsets.back(start, end);
                if !taken.meets(from, to) {
                    own.insert(view[start..end].to_lowercase());
                    free.push((start, end));
                }
            });
            own.extend(words::joined_numbers(&view, &free));
        }
        own
    }

    /// Gives the values of a reply the placeholder that fits the question: in the spelling of the question, and where the
    /// value is an encoded form or the network of one in the question.
    fn align(&self, leaf: &mut LeafOf) {
        if leaf.place == Place::Question {
            return;
        }
        for value in leaf.found.iter_mut().filter(|value| value.is_personal() && value.piece.is_none()) {
            let written = &leaf.text[value.start..value.end];
            let of_question = match value.kind {
                PrivacyKind::Phone => {
                    let letters = words::letters(&plain(written));
                    let part = self.index.part_of(&letters, value);
                    let with_code = || {
                        let (original, digits) = self.with_country_code(&letters)?;
                        let text = words::with_letters(written, digits.chars());
                        Some((original, Piece { text, is_lost: false }))
                    };
                    part.map(|part| part.aligned(part.fill(written))).or_else(with_code)
                }
                PrivacyKind::Ipv4 => self.network(written),
                PrivacyKind::Email => encoded::reversed_whole(self, written),
                PrivacyKind::Key | PrivacyKind::Token => encoded::whole(self, written),
                _ => None,
            };
            if let Some((original, piece)) = of_question {
                (value.kind, value.value) = (original.kind, original.value.clone());
                value.piece = Some(piece);
            }
        }
    }

    /// Returns the digits of the placeholder after the country code that a call has added to a national number.
    fn with_country_code(&self, letters: &[char]) -> Option<(&Original, String)> {
        let digits: String = letters.iter().collect();
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        COUNTRY_CODE.into_iter().find_map(|length| {
            let (code, national) = digits.split_at_checked(length)?;
            let original = &self.index.originals()[*self.nationals.get(national)?];
            let image = original.image_letters()?;
            Some((original, format!("{code}{}", &image[image.len() - national.len()..])))
        })
    }

    /// Visits what only a call makes of a value: a national number with a country code, and a login made of a name.
    fn find_made(&self, leaf: &LeafOf, visit: &mut dyn FnMut(FoundValue)) {
        if !matches!(leaf.place, Place::Argument(_) | Place::Answer | Place::Reply) {
            return;
        }
        let (view, offsets) = normal_view(&leaf.text);
        words::each(&view, |start, end| {
            let word = &view[start..end];
            let (from, to) = offsets.back(start, end);
            if let Some((original, text)) = self.with_country_code(&words::letters(word)) {
                visit(OriginalPart::whole(original).found(from, to, Piece { text, is_lost: false }));
            } else if let Some(original) = self.login(word).filter(|_| leaf.place != Place::Reply) {
                let text = words::blank(word);
                visit(OriginalPart::whole(original).found(from, to, Piece { text, is_lost: true }));
            }
        });
    }

    /// Returns the value whose name a login is made of, with initials or digits.
    fn login(&self, word: &str) -> Option<&Original> {
        if self.labels.is_empty() || word.len() <= LEAST_LETTERS || self.is_own(word) {
            return None;
        }
        let word = word.to_lowercase();
        // The name alone is a piece like others.
        if self.labels.iter().any(|(label, _)| *label == word) {
            return None;
        }
        let n_letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let is_made = |label: &str| word.contains(label) && n_letters <= label.chars().count() + MAX_INITIALS;
        let (_, at) = self.labels.iter().find(|(label, _)| is_made(label))?;
        Some(&self.index.originals()[*at])
    }

    /// Returns the network of the placeholder, if an IP address is the network of one in the question: `83.149.9.0`.
    fn network(&self, written: &str) -> Option<(&Original, Piece)> {
        let (front, host) = written.rsplit_once('.').filter(|(_, host)| *host == NETWORK)?;
        // The question has the address itself.
        let is_it = |it: &Original| it.is_asked && it.kind == PrivacyKind::Ipv4 && it.value == written;
        if self.index.originals().iter().any(is_it) {
            return None;
        }
        let mut network = None;
        self.parts_in(front, Place::Answer, &mut |start, end, part, piece| {
            if (start, end) == (0, front.len()) && part.original.is_of_octets() && !piece.is_lost {
                network = Some((part.original, Piece { text: format!("{}.{host}", piece.text), ..piece }));
            }
        });
        network
    }

    /// Visits the pieces in a text that is not encoded.
    fn find_in(&self, leaf: &LeafOf, visit: &mut dyn FnMut(FoundValue)) {
        let (view, offsets) = normal_view(&leaf.text);
        self.parts_in(&view, leaf.place, &mut |start, end, part, piece| {
            if leaf.is_date && words::is_year(part.letters()) {
                return;
            }
            // A few digits that are no printed group, or an amount, may be a number of their own: a person decides.
            let is_short = part.is_of_digits() && part.len() < SURE_DIGITS && !part.is_whole();
            let is_doubtful = is_short && (leaf.is_amount || !part.is_natural());
            let piece = Piece { is_lost: piece.is_lost || is_doubtful, ..piece };
            let (start, end) = offsets.back(start, end);
            visit(part.found(start, end, piece));
        });
    }

    /// Visits the pieces in the view of a text: the first byte, the byte after the last, the part, and its replacement.
    fn parts_in<'i>(
        &'i self,
        view: &str,
        place: Place,
        visit: &mut dyn FnMut(usize, usize, OriginalPart<'i>, Piece),
    ) {
        let accept = |group: &Group| {
            let piece =
                self.index.best_part(&group.letters).filter(|part| self.is_piece(part, group, view, place));
            piece.or_else(|| self.end_of_secret(group, view, place))
        };
        each_group(view, &self.index, &accept, &mut |group, part: OriginalPart<'i>| {
            let piece = part.replacement(group, view);
            visit(group.start, group.end, part, piece);
        });
    }

    /// Returns the start or the end of a secret in an argument.
    fn end_of_secret<'i>(&'i self, group: &Group, view: &str, place: Place) -> Option<OriginalPart<'i>> {
        let written = &view[group.start..group.end];
        if !matches!(place, Place::Argument(_) | Place::Answer) || self.is_own(written) {
            return None;
        }
        // The beginning that a placeholder keeps, such as `sk-`, is no secret.
        let is_secret = |part: &OriginalPart<'i>| {
            part.is_end_of_secret(group, view) && part.replacement(group, view).text != written
        };
        self.index.parts(&group.letters).find(is_secret)
    }

    /// Returns true if a part of a value at this place is a piece of it, not a word or number of its own.
    fn is_piece(&self, part: &OriginalPart<'_>, group: &Group, view: &str, place: Place) -> bool {
        if !part.is_long_enough() || part.is_of_extension() {
            return false;
        }
        let is_number = part.is_of_digits();
        // Groups that are printed otherwise are a date or an amount.
        if is_number && group.words.len() > 1 && !part.is_natural() {
            return false;
        }
        let is_whole_leaf = group.start == 0 && group.end == view.len();
        let is_argument = matches!(place, Place::Argument(_) | Place::Answer);
        // It identifies nobody, but an argument has to follow the placeholder.
        if part.is_public_domain() && !(is_argument && is_whole_leaf) {
            return false;
        }
        if place == Place::Question {
            return if is_number {
                part.len() >= SURE_DIGITS || (part.is_natural() && words::announces_piece(view, group))
            } else {
                part.is_natural() && part.is_distinctive(&view[group.start..group.end])
            };
        }
        if self.is_own(&view[group.start..group.end]) {
            return false;
        }
        if is_number && part.len() < SURE_DIGITS {
            let is_year = part.len() == LEAST_DIGITS && words::is_year(&group.letters);
            return part.is_natural()
                && (!is_year || is_argument && is_whole_leaf || words::announces_piece(view, group))
                || is_argument && is_whole_leaf && !is_year;
        }
        is_number || !part.is_common_word()
    }

    /// Returns true if the user writes all of these words apart from a value, or the docs have them.
    fn is_own(&self, text: &str) -> bool {
        if words::number_key(text).is_some_and(|key| self.own.contains(&key)) {
            return true;
        }
        let mut all = true;
        words::each(text, |start, end| {
            let word = text[start..end].to_lowercase();
            all &= self.own.contains(&word) || self.docs.contains(word.as_str());
        });
        all
    }
}

impl<'i> OriginalPart<'i> {
    fn whole(original: &'i Original) -> Self {
        OriginalPart { original, from: 0, to: original.letters.len() }
    }

    /// Returns the original with a replacement.
    fn aligned(&self, text: String) -> (&'i Original, Piece) {
        (self.original, Piece { text, is_lost: false })
    }

    fn found(&self, start: usize, end: usize, piece: Piece) -> FoundValue {
        FoundValue {
            kind: self.original.kind,
            start,
            end,
            value: self.original.value.clone(),
            status: ValueStatus::Personal,
            code_digits: 0,
            piece: Some(piece),
        }
    }
}

/// Returns the words of a text in lower case, each once and in a line of its own, as `redact_row` needs them.
pub fn words_of_docs(text: &str) -> String {
    let text = text.to_lowercase();
    let mut all: Vec<&str> = Vec::new();
    words::each(&text, |start, end| {
        if end - start >= LEAST_DIGITS {
            all.push(&text[start..end]);
        }
    });
    all.sort_unstable();
    all.dedup();
    all.join("\n")
}

#[cfg(test)]
mod tests;
