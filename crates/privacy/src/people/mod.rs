//! Names and street addresses of people, as a recogniser marks them in texts.
//!
//! A recogniser sees a text as the rules left it, with a neutral placeholder for each value. What it marks is learnt: a name
//! of two words or more and a street address are replaced in the whole run, a name of one word in its own request. Then the
//! text without these is read again, until nothing is found, so redacted text has nothing left to redact.
//!
//! Words that a doc list offers as values, such as those of an enumeration, stay in the list and in its requests, because a
//! call has to name them. In doc lists only descriptions are read. The name that a system prompt gives to the assistant stays
//! in its request, and so does a longer name of a function of which a name is a part.

mod assistant;
mod docs;
mod masked;
mod matcher;
mod own;
pub(super) mod placeholders;
mod plain;
mod street;

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

pub use self::assistant::AssistantNames;
pub use self::docs::OfferedValues;
pub(super) use self::docs::descriptions;
use self::masked::Masked;
use self::matcher::Matcher;
pub use self::own::OwnPeople;
pub use self::placeholders::is_placeholder;
use self::plain::Plain;
use super::{FoundValue, PrivacyKind, ValueStatus};

/// A name or a street address in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// [`PrivacyKind::Name`] or [`PrivacyKind::StreetAddress`].
    pub kind: PrivacyKind,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// Minimum length of a name in characters.
const LEAST_NAME: usize = 2;

impl Place {
    /// Returns whether the text at the place can be a value of its kind: a name has letters and no digit, a street address
    /// has both.
    pub fn is_sound(&self, written: &str) -> bool {
        let has_letter = written.chars().any(char::is_alphabetic);
        let has_digit = written.chars().any(char::is_numeric);
        match self.kind {
            PrivacyKind::StreetAddress => has_letter && has_digit,
            _ => has_letter && !has_digit && written.chars().count() >= LEAST_NAME,
        }
    }
}

/// What a recogniser made of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The places that it marked, in order.
    Places(Vec<Place>),
    /// It gave no usable answer; why.
    Failed(String),
}

/// A text to be read, and the key of its reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The key.
    pub key: u128,
    /// The text, with placeholders instead of the values that were found.
    pub text: String,
}

/// A name or street address that was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Person {
    /// The kind of value.
    pub kind: PrivacyKind,
    /// The normal form.
    pub value: String,
    /// The value as written.
    pub written: String,
    /// It was found because its row has it elsewhere, alone or as a part of a longer name.
    pub is_repeated: bool,
}

/// What one row has: filled while its texts are searched.
#[derive(Debug, Default)]
pub struct RowReading {
    /// Texts that no recogniser has read.
    pub unread: Vec<Unread>,
    /// The values, in order.
    pub people: Vec<Person>,
    /// Why a text could not be read.
    pub failed: Option<String>,
}

/// The names and street addresses that are known in a run.
#[derive(Debug, Default)]
pub struct People {
    /// Whether texts are read at all; otherwise only the rules find street addresses.
    is_read: bool,
    readings: FxHashMap<u128, Reading>,
    /// The values that are replaced in the whole run, by their normal form.
    everywhere: BTreeSet<(PrivacyKind, String)>,
    matcher: Matcher,
}

impl People {
    /// Returns what is known before any text was read: nothing. Without a recogniser only the rules are used.
    pub fn new(has_recogniser: bool) -> Self {
        Self { is_read: has_recogniser, ..Self::default() }
    }

    /// Adds what a recogniser made of a text.
    pub fn add_reading(&mut self, key: u128, reading: Reading) {
        self.readings.insert(key, reading);
    }

    /// Adds values of the whole run; returns whether one is new.
    ///
    /// # Errors
    /// There are too many for a matcher.
    pub fn learn<'p>(&mut self, people: impl IntoIterator<Item = &'p Person>) -> Result<bool, String> {
        let before = self.everywhere.len();
        let known = people.into_iter().filter(|person| is_known_everywhere(person));
        self.everywhere.extend(known.map(|person| (person.kind, person.value.clone())));
        let is_new = self.everywhere.len() > before;
        if is_new {
            self.matcher = Matcher::new(&self.everywhere)?;
        }
        Ok(is_new)
    }
}

/// Returns whether a value is too long for accidental matches.
fn is_known_everywhere(person: &Person) -> bool {
    person.kind == PrivacyKind::StreetAddress
        || person.value.split(' ').filter(|word| word.len() > 1).count() > 1
}

/// Returns the form in which values are compared and numbered.
fn normal(written: &str) -> String {
    Plain::of(written).words()
}

/// Finds names and street addresses in the texts of one row.
#[derive(Debug, Clone, Copy)]
pub struct PeopleOf<'a> {
    people: &'a People,
    own: Option<&'a OwnPeople>,
    offered: Option<&'a OfferedValues>,
    assistant: Option<&'a AssistantNames>,
    reading: Option<&'a Mutex<RowReading>>,
}

impl<'a> PeopleOf<'a> {
    /// Returns a search with what is known of a run.
    pub fn new(people: &'a People) -> Self {
        Self { people, own: None, offered: None, assistant: None, reading: None }
    }

    /// Adds the names of the row.
    #[must_use]
    pub fn with_own(self, own: Option<&'a OwnPeople>) -> Self {
        Self { own, ..self }
    }

    /// Adds the values that the doc list of the row offers, which stay.
    #[must_use]
    pub fn with_offered(self, offered: Option<&'a OfferedValues>) -> Self {
        Self { offered, ..self }
    }

    /// Adds the names of the assistant in the row, which stay.
    #[must_use]
    pub fn with_assistant(self, assistant: Option<&'a AssistantNames>) -> Self {
        Self { assistant, ..self }
    }

    /// Records what is found, and which texts are to be read.
    #[must_use]
    pub fn recording(self, reading: &'a Mutex<RowReading>) -> Self {
        Self { reading: Some(reading), ..self }
    }

    /// Adds the values of a text to those that the rules found, which are in order. `is_prose`: a recogniser reads it.
    pub(super) fn complete(&self, text: &str, found: &mut Vec<FoundValue>, is_prose: bool) {
        let before = found.len();
        let mut repeated: Vec<usize> = Vec::new();
        loop {
            let mut new = self.apart(text, found, self.people.matcher.find(text));
            if new.is_empty() {
                new = self.apart(text, found, street::find(text));
            }
            if new.is_empty() {
                let own = self.own.map_or_else(Vec::new, |own| own.find(text));
                new = self.apart(text, found, own);
                repeated.extend(new.iter().map(|value| value.start));
            }
            if new.is_empty() && is_prose && self.people.is_read {
                new = self.read(text, found);
            }
            if new.is_empty() {
                break;
            }
            found.extend(new);
            found.sort_by_key(|value| value.start);
        }
        if found.len() > before
            && let Some(reading) = self.reading
        {
            let is_person = |value: &&FoundValue| {
                matches!(value.kind, PrivacyKind::Name | PrivacyKind::StreetAddress) && value.is_personal()
            };
            let person = |value: &FoundValue| Person {
                kind: value.kind,
                value: value.value.clone(),
                written: text[value.start..value.end].to_owned(),
                is_repeated: repeated.contains(&value.start),
            };
            let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
            reading.people.extend(found.iter().filter(is_person).map(person));
        }
    }

    /// Returns what the recogniser marked in the text, or records that it has not read it.
    fn read(&self, text: &str, found: &[FoundValue]) -> Vec<FoundValue> {
        let masked = Masked::of(text, found);
        let record = |record: &dyn Fn(&mut RowReading)| {
            if let Some(reading) = self.reading {
                record(&mut reading.lock().unwrap_or_else(PoisonError::into_inner));
            }
        };
        match self.people.readings.get(&masked.key()) {
            Some(Reading::Places(places)) => {
                let back = |place: &Place| {
                    let (start, end) = masked.back(place.start, place.end)?;
                    Some(Place { start, end, ..*place })
                };
                self.apart(text, found, places.iter().filter_map(back).collect())
            }
            _ if !masked.has_words() => Vec::new(),
            Some(Reading::Failed(why)) => {
                record(&|row: &mut RowReading| row.failed = Some(why.clone()));
                Vec::new()
            }
            None => {
                let unread = Unread { key: masked.key(), text: masked.text.clone() };
                record(&move |row: &mut RowReading| row.unread.push(unread.clone()));
                Vec::new()
            }
        }
    }

    /// Returns the values at places that do not overlap with others, are not offered by the doc list, and are not the
    /// assistant's name.
    fn apart(&self, text: &str, found: &[FoundValue], places: Vec<Place>) -> Vec<FoundValue> {
        let mut new: Vec<FoundValue> = Vec::new();
        for Place { kind, start, end } in places {
            let Some(written) = text.get(start..end) else { continue };
            let meets = |other: &FoundValue| other.start < end && start < other.end;
            let stays = || {
                self.offered
                    .is_some_and(|offered| offered.has(written) || offered.has_function_at(text, start, end))
                    || self.assistant.is_some_and(|assistant| assistant.has(written))
            };
            if start < end && !found.iter().chain(&new).any(meets) && !stays() {
                new.push(FoundValue::new(kind, start, end, normal(written), ValueStatus::Personal));
            }
        }
        new
    }
}

#[cfg(test)]
mod tests;
