//! Names from a list: the only way names are found, since no rule tells a person from a place.

use aho_corasick::{AhoCorasick, MatchKind};

use super::context::{is_joined_before, is_joined_behind};
use super::{Found, Kind, Standing};

/// Some names to look for, whatever their case.
#[derive(Debug, Default)]
pub struct Names {
    matcher: Option<AhoCorasick>,
    names: Vec<String>,
}

impl Names {
    /// Looks for these names; the longest at a place is taken.
    ///
    /// # Errors
    /// The list is too long for a matcher.
    pub fn new(names: &[String]) -> Result<Self, String> {
        if names.is_empty() {
            return Ok(Self::default());
        }
        let mut builder = AhoCorasick::builder();
        let builder = builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest);
        let matcher = builder.build(names).map_err(|error| error.to_string())?;
        Ok(Self { matcher: Some(matcher), names: names.iter().map(|name| name.to_lowercase()).collect() })
    }

    pub(super) fn find(&self, text: &str, found: &mut Vec<Found>) {
        let Some(matcher) = &self.matcher else { return };
        for hit in matcher.find_iter(text) {
            let is_whole = !is_joined_before(text.as_bytes(), hit.start())
                && !is_joined_behind(text.as_bytes(), hit.end());
            if is_whole {
                let name = &self.names[hit.pattern().as_usize()];
                found.push(Found::new(Kind::Name, hit.start(), hit.end(), name, Standing::Personal));
            }
        }
    }
}

/// The placeholder.
pub(super) fn stand_in(number: u64) -> String {
    format!("Person {number}")
}
