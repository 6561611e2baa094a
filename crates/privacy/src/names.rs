//! Names from a list. No rule distinguishes a person from a place, so other names need a recogniser (`people`).

use std::path::Path;

use aho_corasick::AhoCorasick;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::context::escape_before;
use super::{FoundValue, PrivacyKind, ValueStatus};
use callsieve_system::side_file;
use callsieve_text::os_error::cause_of;

/// Minimum length of a name in characters: shorter ones are parts of too many words.
const SHORTEST: usize = 2;

/// Names to search for, regardless of case, the encoding of accents, and the separators of words.
#[derive(Debug, Default)]
pub struct Names {
    matcher: Option<AhoCorasick>,
    names: Vec<String>,
}

/// A text in the form in which names are compared: lower case, accents as separate characters, and one space for each
/// run of whitespace or hyphens; with the place of each of its bytes in the text as written.
struct Lowered {
    text: String,
    places: Vec<usize>,
}

impl Names {
    /// Creates a list of names; of several names at a place, the longest is found.
    ///
    /// # Errors
    /// If the list is too long for a matcher.
    pub fn new(names: &[String]) -> Result<Self, String> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        let names: Vec<String> = names.iter().map(|name| Lowered::of(name).text).collect();
        let matcher = AhoCorasick::new(&names).map_err(|error| error.to_string())?;
        Ok(Self { matcher: Some(matcher), names })
    }

    /// Reads a file with one name per line; blank lines are skipped.
    ///
    /// # Errors
    /// If the file cannot be read or has no name, or a name is too short. Messages do not quote names.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text =
            side_file::read_text(path).map_err(|error| format!("names: {shown}: {}", cause_of(&error)))?;
        let mut names = Vec::new();
        for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let name = line.trim();
            if (1..SHORTEST).contains(&name.chars().count()) {
                return Err(format!(
                    "names: {shown}:{number}: a name must have {SHORTEST} characters or more"
                ));
            }
            if !name.is_empty() {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() {
            return Err(format!("names: {shown}: the file has no name"));
        }
        Self::new(&names).map_err(|error| format!("names: {shown}: {error}"))
    }

    pub(super) fn find(&self, text: &str, found: &mut Vec<FoundValue>) {
        let Some(matcher) = &self.matcher else { return };
        let lowered = Lowered::of(text);
        for hit in matcher.find_overlapping_iter(&lowered.text) {
            let (Some(start), Some(end)) = (lowered.place(hit.start()), lowered.place(hit.end())) else {
                continue;
            };
            if !is_joined(text, start, end) {
                let name = &self.names[hit.pattern().as_usize()];
                found.push(FoundValue::new(PrivacyKind::Name, start, end, name, ValueStatus::Personal));
            }
        }
    }

    /// Returns true if the text may contain one of the names.
    pub(super) fn may_hold(&self, text: &str) -> bool {
        self.matcher.as_ref().is_some_and(|matcher| matcher.is_match(&Lowered::of(text).text))
    }
}

impl Lowered {
    fn of(written: &str) -> Self {
        let mut lowered = Self {
            text: String::with_capacity(written.len()),
            places: Vec::with_capacity(written.len() + 1),
        };
        let is_blank = |c: char| c.is_whitespace() || matches!(c, '-' | '\u{2010}' | '\u{2011}');
        let mut is_after_blank = false;
        for (at, c) in written.char_indices() {
            if is_blank(c) {
                if !is_after_blank {
                    lowered.text.push(' ');
                }
            } else if c.is_ascii() {
                lowered.text.push(c.to_ascii_lowercase());
            } else {
                lowered.text.extend(c.to_lowercase().nfd());
            }
            is_after_blank = is_blank(c);
            lowered.places.resize(lowered.text.len(), at);
        }
        lowered.places.push(written.len());
        lowered
    }

    /// Returns the place of byte `at` in the text as written, if a character begins there.
    fn place(&self, at: usize) -> Option<usize> {
        let place = self.places[at];
        (at == 0 || self.places[at - 1] != place).then_some(place)
    }
}

/// Returns true if a word continues before or after.
pub(super) fn is_joined(text: &str, start: usize, end: usize) -> bool {
    // Scripts without spaces have no word boundaries.
    let is_word =
        |c: char| c == '_' || is_combining_mark(c) || (c.is_alphanumeric() && u32::from(c) < 0x0e00);
    let before = text[..start].chars().next_back().is_some_and(is_word);
    (before && escape_before(text.as_bytes(), start) == 0) || text[end..].chars().next().is_some_and(is_word)
}

/// Returns the placeholder.
pub(super) fn stand_in(number: u64) -> String {
    format!("Person {number}")
}
