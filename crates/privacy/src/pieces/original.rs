//! A value of a request, letter by letter, with the letters of its placeholder.
//!
//! Most placeholders have the length of their value, so a piece is replaced letter by letter. Addresses have other
//! lengths; their pieces are the local part, the domain, and the numbers of an IP address.

use super::words::{Group, blank, letters, with_letters};
use super::{LEAST_DIGITS, LEAST_LETTERS, LEAST_OF_SECRET, OriginalPart, Piece};
use crate::{FoundValue, PrivacyKind, phone};

/// Names of mailboxes that are words of their own: `"team": "support"` is no piece of `support@…`.
const COMMON_MAILBOXES: [&str; 45] = [
    "admin",
    "bestellung",
    "billing",
    "booking",
    "bookings",
    "buchhaltung",
    "buchung",
    "careers",
    "commande",
    "compras",
    "contact",
    "contacto",
    "customer",
    "customers",
    "events",
    "facturacion",
    "feedback",
    "finance",
    "hello",
    "hotel",
    "invoice",
    "invoices",
    "kontakt",
    "kundenservice",
    "legal",
    "marketing",
    "newsletter",
    "noreply",
    "office",
    "orders",
    "press",
    "privacy",
    "rechnung",
    "reservas",
    "reservations",
    "restaurant",
    "returns",
    "sales",
    "security",
    "service",
    "soporte",
    "store",
    "support",
    "ventas",
    "webmaster",
];
/// Names of domains of which anybody has addresses.
const PUBLIC_DOMAINS: [&str; 14] = [
    "aol",
    "fastmail",
    "gmail",
    "gmx",
    "googlemail",
    "hotmail",
    "icloud",
    "live",
    "outlook",
    "proton",
    "protonmail",
    "qq",
    "yahoo",
    "yandex",
];
/// The separator of a mailbox and its tag.
const TAG: char = '+';

/// A value in one spelling.
#[derive(Debug)]
pub(super) struct Original {
    pub(super) kind: PrivacyKind,
    /// The normal form.
    pub(super) value: String,
    /// Its letters and digits, in lower case.
    pub(super) letters: Vec<char>,
    /// The places between letters at which a reader sees a border: both ends, and those of its printed groups; in order.
    borders: Vec<usize>,
    image: Image,
    /// The digits at the end that are an extension, which stays.
    n_extension: usize,
    /// Whether the question has it, so that the answer has to follow this spelling.
    pub(super) is_asked: bool,
    /// The spelling and its placeholder.
    pub(super) spelled: (String, String),
}

/// The placeholder of an original.
#[derive(Debug)]
enum Image {
    /// A letter for each letter.
    Letters(Vec<char>),
    /// The local part, of this many letters with and without its tag, and the domain.
    Email { local: usize, mailbox: usize, user: String, domain: String },
    /// A number for each number of an IPv4 address.
    Octets(Vec<String>),
    /// Only the whole.
    Whole,
}

impl Original {
    /// Adds the spellings of a value in which its pieces are searched for.
    pub(super) fn all_of(found: &FoundValue, written: &str, number: u64, all: &mut Vec<Self>) {
        let placeholder = found.stand_in(written, number);
        match found.kind {
            PrivacyKind::Name | PrivacyKind::StreetAddress => {}
            PrivacyKind::Email => all.extend(Self::email(found, &placeholder)),
            PrivacyKind::Ipv4 => all.push(Self::octets(found, placeholder)),
            PrivacyKind::Phone => Self::phone(found, written, (placeholder, number), all),
            _ => all.push(Self::spelled(found, written, placeholder)),
        }
    }

    fn spelled(found: &FoundValue, written: &str, placeholder: String) -> Self {
        let letters = letters(written);
        let image: Vec<char> = placeholder.chars().filter(|c| c.is_alphanumeric()).collect();
        let image = if image.len() == letters.len() { Image::Letters(image) } else { Image::Whole };
        let borders = borders(written);
        let (kind, value) = (found.kind, found.value.clone());
        Self {
            kind,
            value,
            letters,
            borders,
            image,
            n_extension: 0,
            is_asked: false,
            spelled: (written.to_owned(), placeholder),
        }
    }

    /// Returns the telephone number with an extension directly after it.
    pub(super) fn with_extension(&self, digits: &str) -> Option<Self> {
        let Image::Letters(image) = &self.image else { return None };
        let letters: Vec<char> = self.letters.iter().copied().chain(digits.chars()).collect();
        let mut borders = self.borders.clone();
        borders.push(letters.len());
        let (written, placeholder) = &self.spelled;
        Some(Self {
            kind: self.kind,
            value: self.value.clone(),
            image: Image::Letters(image.iter().copied().chain(digits.chars()).collect()),
            letters,
            borders,
            n_extension: digits.len(),
            is_asked: self.is_asked,
            spelled: (format!("{written}{digits}"), format!("{placeholder}{digits}")),
        })
    }

    /// Returns whether it has an extension.
    pub(super) fn is_extended(&self) -> bool {
        self.n_extension > 0
    }

    fn email(found: &FoundValue, placeholder: &str) -> Option<Self> {
        let (local, domain) = found.value.rsplit_once('@')?;
        let placeholder = placeholder.replace("%40", "@");
        let (user, new_domain) = placeholder.rsplit_once('@')?;
        let mut all = letters(local);
        let n_local = all.len();
        let mailbox = letters(local.split(TAG).next().unwrap_or_default()).len();
        let mut borders = vec![0, mailbox, n_local];
        for label in domain.split('.') {
            all.extend(letters(label));
            borders.push(all.len());
        }
        let image =
            Image::Email { local: n_local, mailbox, user: user.to_owned(), domain: new_domain.to_owned() };
        let (kind, value) = (found.kind, found.value.clone());
        let spelled = (value.clone(), placeholder.clone());
        Some(Self { kind, value, letters: all, borders, image, n_extension: 0, is_asked: false, spelled })
    }

    fn octets(found: &FoundValue, placeholder: String) -> Self {
        let mut borders = vec![0];
        for octet in found.value.split('.') {
            borders.push(borders[borders.len() - 1] + octet.len());
        }
        let image = Image::Octets(placeholder.split('.').map(str::to_owned).collect());
        let (kind, value) = (found.kind, found.value.clone());
        let spelled = (value.clone(), placeholder);
        Self {
            kind,
            letters: letters(&value),
            value,
            borders,
            image,
            n_extension: 0,
            is_asked: false,
            spelled,
        }
    }

    /// A telephone number as written, and with its country code and its trunk zero. All have the digits of the
    /// placeholder in the question.
    fn phone(found: &FoundValue, written: &str, (placeholder, number): (String, u64), all: &mut Vec<Self>) {
        let new: String = placeholder.chars().filter(char::is_ascii_digit).collect();
        let as_written = Self::spelled(found, written, placeholder);
        let own: String = as_written.letters.iter().collect();
        let own_borders = as_written.borders.clone();
        all.push(as_written);
        let Some((code, national)) = phone::split(&found.value) else { return };
        let new_national = if own.ends_with(&national) && new.len() == own.len() {
            new[new.len() - national.len()..].to_owned()
        } else {
            let whole =
                FoundValue { code_digits: u8::try_from(code.len()).unwrap_or_default(), ..found.clone() };
            whole.stand_in(&format!("{code}{national}"), number)[code.len()..].to_owned()
        };
        // The borders of printed groups, from the end.
        let ends: Vec<usize> = own_borders.iter().map(|border| own.len() - border).collect();
        for prefix in [code.clone(), format!("00{code}"), "0".to_owned()] {
            let digits = format!("{prefix}{national}");
            if digits == own {
                continue;
            }
            let image = format!("{prefix}{new_national}");
            let mut spelling = Self::spelled(found, &digits, image.clone());
            spelling.borders.push(prefix.len());
            spelling
                .borders
                .extend(ends.iter().filter(|&&end| end < national.len()).map(|end| digits.len() - end));
            spelling.borders.sort_unstable();
            spelling.borders.dedup();
            if prefix == code {
                spelling.spelled = (format!("+{digits}"), format!("+{image}"));
            }
            all.push(spelling);
        }
    }

    /// Returns whether it is a telephone number of which the country is not known.
    pub(super) fn is_national(&self) -> bool {
        self.kind == PrivacyKind::Phone && !self.value.starts_with('+')
    }

    /// Returns the local part of an address.
    pub(super) fn mailbox(&self) -> Option<&str> {
        (self.kind == PrivacyKind::Email)
            .then(|| self.value.rsplit_once('@').map(|(local, _)| local))
            .flatten()
    }

    /// Returns the letters of the placeholder, if it has one for each letter.
    pub(super) fn image_letters(&self) -> Option<String> {
        let Image::Letters(image) = &self.image else { return None };
        Some(image.iter().collect())
    }

    /// Returns the signs before a letter and after the one before it.
    fn signs_at(&self, at: usize) -> String {
        let mut n_letters = 0;
        let mut signs = String::new();
        for c in self.spelled.0.chars() {
            if c.is_alphanumeric() {
                n_letters += 1;
            } else if n_letters == at {
                signs.push(c);
            }
        }
        signs
    }

    /// Returns whether it has a border here.
    pub(super) fn has_border(&self, at: usize) -> bool {
        self.borders.binary_search(&at).is_ok()
    }

    /// Returns the borders.
    pub(super) fn borders(&self) -> &[usize] {
        &self.borders
    }

    /// Returns whether a value of an address that has other lengths; its pieces may be short.
    pub(super) fn is_of_octets(&self) -> bool {
        matches!(self.image, Image::Octets(_))
    }
}

impl OriginalPart<'_> {
    pub(super) fn len(&self) -> usize {
        self.to - self.from
    }

    pub(super) fn letters(&self) -> &[char] {
        &self.original.letters[self.from..self.to]
    }

    pub(super) fn is_of_digits(&self) -> bool {
        self.letters().iter().all(char::is_ascii_digit)
    }

    /// Returns true if it is long enough not to be in any text.
    pub(super) fn is_long_enough(&self) -> bool {
        let least = if self.is_of_digits() { LEAST_DIGITS } else { LEAST_LETTERS };
        self.len() >= least || self.is_whole()
    }

    /// Returns true for all of the value.
    pub(super) fn is_whole(&self) -> bool {
        self.len() == self.original.letters.len()
    }

    /// Returns true for digits of an extension only.
    pub(super) fn is_of_extension(&self) -> bool {
        self.original.is_extended() && self.from >= self.original.letters.len() - self.original.n_extension
    }

    /// Returns true for the start or the end of a secret, of four characters or more that mix letters with digits or signs.
    /// The signs of the secret around the group count.
    pub(super) fn is_end_of_secret(&self, group: &Group, view: &str) -> bool {
        let original = self.original;
        let is_end = self.from == 0 || self.to == original.letters.len();
        if !matches!(original.kind, PrivacyKind::Key | PrivacyKind::Token) || !is_end || self.is_whole() {
            return false;
        }
        let before = common(view[..group.start].chars().rev(), original.signs_at(self.from).chars().rev());
        let behind = common(view[group.end..].chars(), original.signs_at(self.to).chars());
        let inside = &view[group.start..group.end];
        let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
        let n_chars = before + behind + inside.chars().count();
        let has_digit = inside.chars().any(|c| c.is_ascii_digit());
        let has_sign = before + behind > 0 || inside.chars().any(is_sign);
        let is_mixed = inside.chars().any(char::is_alphabetic) && (has_digit || has_sign);
        n_chars >= LEAST_OF_SECRET && is_mixed
    }

    /// Returns true if it begins and ends at borders, or is the last four digits.
    pub(super) fn is_natural(&self) -> bool {
        let ends = self.original.has_border(self.to);
        let is_last =
            self.to == self.original.letters.len() && self.len() == LEAST_DIGITS && self.is_of_digits();
        ends && (is_last || self.original.has_border(self.from))
    }

    /// Returns true if the text is not made of plain words, which the user may also write for another reason.
    pub(super) fn is_distinctive(&self, text: &str) -> bool {
        self.is_whole() || text.chars().any(|c| !c.is_alphabetic() && !c.is_whitespace())
    }

    /// Returns true if it is the name of a mailbox that is a word.
    pub(super) fn is_common_word(&self) -> bool {
        let word: String = self.letters().iter().collect();
        self.original.kind == PrivacyKind::Email && COMMON_MAILBOXES.contains(&word.as_str())
    }

    /// Returns true if it is a domain, or the name of one, of which anybody has addresses.
    pub(super) fn is_public_domain(&self) -> bool {
        let Image::Email { local, .. } = self.original.image else { return false };
        let name = || -> String {
            let end = self.original.borders.iter().find(|&&border| border > local);
            self.original.letters[local..*end.unwrap_or(&local)].iter().collect()
        };
        self.from >= local && PUBLIC_DOMAINS.contains(&name().as_str())
    }

    /// Returns the text with its letters replaced one by one.
    pub(super) fn fill(&self, written: &str) -> String {
        let Image::Letters(image) = &self.original.image else { return self.original.spelled.1.clone() };
        with_letters(written, image[self.from..self.to].iter().copied())
    }

    /// Returns the same piece of the placeholder, or a blank.
    pub(super) fn replacement(&self, group: &Group, view: &str) -> Piece {
        let written = &view[group.start..group.end];
        let new = match &self.original.image {
            Image::Letters(image) => Some(group.filled(view, &image[self.from..self.to])),
            // All of an address without its sign is a row of a table, or prose.
            Image::Email { .. } if self.is_whole() && !written.contains(['@', '(', '[', '<']) => None,
            Image::Email { local, mailbox, user, domain } => {
                self.piece_of_address(*local, *mailbox, user, domain)
            }
            Image::Octets(new) => self.octets(group, view, new),
            Image::Whole => self.is_whole().then(|| self.original.spelled.1.clone()),
        };
        match new {
            Some(text) => Piece { text, is_lost: false },
            None => Piece { text: blank(written), is_lost: true },
        }
    }

    fn piece_of_address(&self, local: usize, mailbox: usize, user: &str, domain: &str) -> Option<String> {
        if self.is_whole() {
            return Some(format!("{user}@{domain}"));
        }
        if self.from == 0 && (self.to == local || self.to == mailbox) {
            return Some(user.to_owned());
        }
        if self.from < local || !self.is_natural() {
            return None;
        }
        let is_end = self.to == self.original.letters.len();
        let name = domain.split('.').next().unwrap_or_default();
        Some(if is_end { domain } else { name }.to_owned())
    }

    fn octets(&self, group: &Group, view: &str, new: &[String]) -> Option<String> {
        let first = self.original.borders().iter().position(|&border| border == self.from)?;
        let mut text = String::new();
        let mut done = group.start;
        let mut at = self.from;
        for (&(start, end), (octet, &border)) in
            group.words.iter().zip(new[first..].iter().zip(&self.original.borders()[first + 1..]))
        {
            if end - start != border - at {
                return None;
            }
            text.push_str(&view[done..start]);
            text.push_str(octet);
            (done, at) = (end, border);
        }
        (at == self.to).then(|| text + &view[done..group.end])
    }
}

/// Returns the number of characters with which both begin.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// Returns the numbers of letters before each border: both ends, and those of printed groups.
fn borders(written: &str) -> Vec<usize> {
    let mut borders = vec![0];
    let mut n_letters = 0;
    let mut was_letter = false;
    for c in written.chars() {
        if c.is_alphanumeric() {
            n_letters += 1;
        } else if was_letter {
            borders.push(n_letters);
        }
        was_letter = c.is_alphanumeric();
    }
    borders.push(n_letters);
    borders
}
