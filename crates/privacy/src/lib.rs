//! Finds personal values in text and replaces each with a numbered placeholder of the same format.
//!
//! Ten kinds of values are found, each by its own recogniser (and names from a list, if one is given). A recogniser
//! validates: check digits, numbering plans, address ranges. Existing placeholders are unchanged, as are dates, times,
//! postcodes, places, UUIDs, versions and order numbers: queries are about these.
//!
//! Placeholders are numbered in the order of first occurrence and never hashed: a hash of a small value space can be
//! reversed. Redacted text has nothing left to redact. `numbers` assigns the numbers; `apply` replaces in text and
//! JSON. No rule finds names; `people` adds what a recogniser marks.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod address;
mod announced;
mod apart;
pub mod apply;
mod asked;
mod card;
pub mod cell_contents;
mod context;
mod cookies;
pub mod declared;
mod email;
mod encoded;
mod forms;
mod iban;
mod ip;
mod key;
pub mod known;
mod mac;
mod marked;
mod names;
mod national;
mod noted;
pub mod numbers;
pub mod people;
mod phone;
pub mod pieces;
mod plans;
mod random;
mod run;
mod runs;
mod scanned;
mod secret;
mod secret_words;
mod series;
mod spelled;
mod ssn;
mod value_end;
mod vendors;
mod walk;
mod words;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use callsieve_text::view;
pub use names::Names;
pub use noted::NotedSpan;
pub use phone::Region;
pub use pieces::Piece;

/// Returns true if the caller no longer needs a result.
pub(crate) type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

/// Runs of digits between two checks for cancellation.
const RUNS_PER_CHECK: usize = 256;

/// The version of recognisers and placeholders; a higher one makes redaction run again.
pub const VERSION: u32 = 11;

/// A kind of personal value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrivacyKind {
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// The number of a payment card.
    Card,
    /// An international bank account number.
    Iban,
    /// A US social security number, or the national id of another country after its name.
    Ssn,
    /// An API key, a password, or another long-lived secret.
    Key,
    /// A bearer token, a JSON web token, or another secret of one session.
    Token,
    /// A public IPv4 address.
    Ipv4,
    /// A public IPv6 address.
    Ipv6,
    /// The MAC address of a device.
    Mac,
    /// A name from the list of names or of a recogniser; never found without one.
    #[serde(skip)]
    Name,
    /// A street address; never found without a recogniser.
    #[serde(skip)]
    StreetAddress,
}

impl PrivacyKind {
    /// The kinds that are found without a list.
    pub const ALL: [Self; 10] = [
        Self::Email,
        Self::Phone,
        Self::Card,
        Self::Iban,
        Self::Ssn,
        Self::Key,
        Self::Token,
        Self::Ipv4,
        Self::Ipv6,
        Self::Mac,
    ];

    /// Returns the kind's name in settings and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Card => "card",
            Self::Iban => "iban",
            Self::Ssn => "ssn",
            Self::Key => "key",
            Self::Token => "token",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Mac => "mac",
            Self::Name => "name",
            Self::StreetAddress => "street-address",
        }
    }

    /// Returns the kind with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain([Self::Name, Self::StreetAddress]).find(|kind| kind.name() == name)
    }

    /// Returns true if values of the two kinds share their numbers.
    pub fn is_numbered_with(self, other: Self) -> bool {
        numbers::space(self) == numbers::space(other)
    }

    /// Returns the priority in overlaps, lower first: stricter validation has priority.
    fn rank(self) -> u8 {
        match self {
            Self::Token => 0,
            Self::Key => 1,
            Self::Iban => 2,
            Self::Card => 3,
            Self::Email => 4,
            Self::Ipv6 => 5,
            Self::Ipv4 => 6,
            Self::Mac => 7,
            Self::Ssn => 8,
            Self::Phone => 9,
            Self::Name => 10,
            Self::StreetAddress => 11,
        }
    }
}

/// Whether a value is personal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueStatus {
    /// It has to be replaced.
    Personal,
    /// It is a placeholder already: one of our own, with its number, or another well-known one.
    Placeholder(Option<u64>),
}

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundValue {
    /// The kind of value.
    pub kind: PrivacyKind,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The normal form, equal for all spellings of a value.
    pub value: String,
    /// Whether it has to be replaced.
    pub status: ValueStatus,
    /// For a telephone number, the digits of the country code as written, with any 00 before; otherwise 0.
    pub code_digits: u8,
    /// For a piece of a value, or a value that has to fit its spelling in the question: the replacement.
    pub piece: Option<Piece>,
}

impl FoundValue {
    fn new(
        kind: PrivacyKind,
        start: usize,
        end: usize,
        value: impl Into<String>,
        status: ValueStatus,
    ) -> Self {
        Self { kind, start, end, value: value.into(), status, code_digits: 0, piece: None }
    }

    /// Returns true if it has to be replaced.
    pub fn is_personal(&self) -> bool {
        self.status == ValueStatus::Personal
    }

    /// Returns the placeholder with this number, in the format of `written`, the value as written in the text.
    pub fn stand_in(&self, written: &str, number: u64) -> String {
        if let Some(piece) = &self.piece {
            return piece.text.clone();
        }
        if self.kind == PrivacyKind::Email {
            return encoded::stand_in(written, number).unwrap_or_else(|| address::stand_in(written, number));
        }
        let written = &*view::plain(written);
        match self.kind {
            PrivacyKind::Email => address::stand_in(written, number),
            PrivacyKind::Mac => mac::stand_in(written, number),
            PrivacyKind::Phone => phone::stand_in(written, self, number),
            PrivacyKind::Card => card::stand_in(written, number),
            PrivacyKind::Iban => iban::stand_in(written, number),
            PrivacyKind::Ssn => ssn::stand_in(written, number),
            PrivacyKind::Key | PrivacyKind::Token => secret::stand_in(written, number),
            PrivacyKind::Ipv4 => ip::stand_in_v4(number),
            PrivacyKind::Ipv6 => ip::stand_in_v6(number),
            PrivacyKind::Name => names::stand_in(number),
            PrivacyKind::StreetAddress => people::placeholders::street(number),
        }
    }
}

/// Finds the values of some kinds.
#[derive(Debug)]
pub struct Scanner {
    kinds: Vec<PrivacyKind>,
    region: Option<Region>,
    names: Names,
    /// Whether placeholders of names and street addresses are found.
    with_people: bool,
}

impl Scanner {
    /// Creates a scanner for these kinds. Telephone numbers in national form are read as numbers of `region`; without a
    /// region they need a word nearby that announces them.
    pub fn new(kinds: &[PrivacyKind], region: Option<Region>, names: Names) -> Self {
        Self { kinds: kinds.to_vec(), region, names, with_people: false }
    }

    /// Also finds the placeholders of names and street addresses, if a recogniser looks for these.
    #[must_use]
    pub fn with_people(self, with_people: bool) -> Self {
        Self { with_people, ..self }
    }

    /// Loads the tables for these kinds, which otherwise happens at the first value.
    pub fn prepare(kinds: &[PrivacyKind]) {
        if kinds.contains(&PrivacyKind::Phone) {
            phone::prepare();
        }
    }

    fn wants(&self, kind: PrivacyKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Returns the values of a text, including placeholders, in order and without overlaps.
    ///
    /// The context of a value counts and may itself be a value: `v` in an account number makes the following address a
    /// version. So values found are masked and the rest is scanned again, until nothing is found. This guarantees that
    /// redacted text contains no further values.
    pub fn scan(&self, text: &str) -> Vec<FoundValue> {
        self.scan_until(&|| false, text)
    }

    /// Like [`Scanner::scan`]; incomplete if `is_cancelled` returns true before the end.
    fn scan_until(&self, is_cancelled: Cancelled<'_>, text: &str) -> Vec<FoundValue> {
        let mut found = self.scan_once(is_cancelled, text);
        while !is_cancelled() && found.iter().any(FoundValue::is_personal) {
            let more = self.scan_around(is_cancelled, text, &found);
            if more.is_empty() {
                break;
            }
            found.extend(more);
            found.sort_by_key(|value| value.start);
        }
        found
    }

    /// Returns the values found after replacing those already found with placeholders.
    fn scan_around(&self, is_cancelled: Cancelled<'_>, text: &str, found: &[FoundValue]) -> Vec<FoundValue> {
        let mut new = String::with_capacity(text.len());
        // Places of unchanged pieces in the old and the new text.
        let mut pieces: Vec<(usize, usize, usize)> = Vec::new();
        let mut done = 0;
        for value in found.iter().filter(|value| value.is_personal()) {
            pieces.push((done, new.len(), value.start - done));
            new.push_str(&text[done..value.start]);
            new.push_str(&value.stand_in(&text[value.start..value.end], 1));
            done = value.end;
        }
        pieces.push((done, new.len(), text.len() - done));
        new.push_str(&text[done..]);
        let back = |mut value: FoundValue| {
            let at = pieces.partition_point(|&(_, start, _)| start <= value.start).checked_sub(1)?;
            let (old, start, length) = pieces[at];
            if value.end > start + length {
                return None;
            }
            value.start = value.start - start + old;
            value.end = value.end - start + old;
            // They are sorted and disjoint: only the last one that begins before the end can overlap.
            let before = found.partition_point(|known| known.start < value.end);
            let is_new = found[..before].last().is_none_or(|known| known.end <= value.start);
            is_new.then_some(value)
        };
        self.scan_once(is_cancelled, &new)
            .into_iter()
            .filter(FoundValue::is_personal)
            .filter_map(back)
            .collect()
    }

    /// Returns true if a text may contain a value: it has a mark that every value of the kinds has. Fast and
    /// independent of context, but valid only for text without escapes.
    fn may_hold(&self, text: &str) -> bool {
        let (text, _) = view::normal_view(text);
        let text = &*text;
        let secrets = self.wants(PrivacyKind::Key) || self.wants(PrivacyKind::Token);
        ((self.wants(PrivacyKind::Email) || self.wants(PrivacyKind::Key)) && email::may_hold(text))
            || runs::any(text)
            || (self.wants(PrivacyKind::Card) && card::may_hold_apart(text))
            || (self.wants(PrivacyKind::Email) && (spelled::may_hold(text) || encoded::may_hold(text)))
            || (self.wants(PrivacyKind::Ipv6) && ip::may_hold_v6(text))
            || (self.wants(PrivacyKind::Mac) && mac::may_hold(text))
            || (secrets && key::may_hold(text))
            || (self.wants(PrivacyKind::Ssn) && national::may_hold(text))
            || (self.with_people && people::placeholders::may_hold(text))
            || self.names.may_hold(text)
    }

    /// Returns the values of a text, read in its normal view.
    fn scan_once(&self, is_cancelled: Cancelled<'_>, text: &str) -> Vec<FoundValue> {
        let (view, offsets) = view::normal_view(text);
        let mut found = self.scan_view(is_cancelled, &view);
        for value in &mut found {
            (value.start, value.end) = offsets.back(value.start, value.end);
        }
        found
    }

    fn scan_view(&self, is_cancelled: Cancelled<'_>, text: &str) -> Vec<FoundValue> {
        let mut found = Vec::new();
        if self.wants(PrivacyKind::Email) || self.wants(PrivacyKind::Key) {
            email::find(text, &mut found);
        }
        if self.wants(PrivacyKind::Email) {
            spelled::find(text, &mut found);
            encoded::find(text, &mut found);
        }
        if self.wants(PrivacyKind::Key) || self.wants(PrivacyKind::Token) {
            key::find(text, &mut found);
        }
        if self.wants(PrivacyKind::Ssn) {
            national::find(text, &mut found);
        }
        if self.wants(PrivacyKind::Ipv6) {
            ip::find_v6(text, &mut found);
        }
        if self.wants(PrivacyKind::Mac) {
            mac::find(text, &mut found);
        }
        if self.wants(PrivacyKind::Card) {
            card::find_apart(text, &mut found);
        }
        let mut n_runs = 0_usize;
        let mut is_stopped = false;
        runs::for_each(text, |run| {
            n_runs += 1;
            is_stopped |= n_runs.is_multiple_of(RUNS_PER_CHECK) && is_cancelled();
            if is_stopped {
                return;
            }
            if self.wants(PrivacyKind::Iban) {
                iban::find(text, run, &mut found);
            }
            if self.wants(PrivacyKind::Card) {
                card::find(text, run, &mut found);
            }
            if self.wants(PrivacyKind::Ipv4) {
                ip::find_v4(text, run, &mut found);
            }
            if self.wants(PrivacyKind::Ssn) {
                ssn::find(text, run, &mut found);
            }
            if self.wants(PrivacyKind::Phone) {
                phone::find(text, run, self.region, &mut found);
            }
        });
        self.names.find(text, &mut found);
        if self.with_people {
            people::placeholders::find(text, &mut found);
        }
        if found.is_empty() {
            return found;
        }
        let is_of_people = |kind| matches!(kind, PrivacyKind::Name | PrivacyKind::StreetAddress);
        found.retain(|value| is_of_people(value.kind) || self.wants(value.kind));
        keep_addresses(&mut found);
        without_overlaps(found)
    }

    /// Returns the values of a text under a key, such as an argument: the key may name the kind of value.
    fn scan_under(&self, is_cancelled: Cancelled<'_>, key: &str, text: &str) -> Vec<FoundValue> {
        if !context::says_something(key) {
            return self.scan_until(is_cancelled, text);
        }
        let keyed = format!("{key}: {text}");
        let shift = keyed.len() - text.len();
        let mut found = self.scan_until(is_cancelled, &keyed);
        found.retain(|value| value.start >= shift);
        for value in &mut found {
            value.start -= shift;
            value.end -= shift;
        }
        found
    }
}

/// Returns a text with its personal values replaced by their kind, `[email]`: for messages, where the text is not read
/// again.
pub fn masked(text: &str) -> String {
    static SCANNER: LazyLock<Scanner> =
        LazyLock::new(|| Scanner::new(&PrivacyKind::ALL, None, Names::default()));
    let mut masked = String::new();
    let mut done = 0;
    for value in SCANNER.scan(text).iter().filter(|value| value.is_personal()) {
        masked += &format!("{}[{}]", &text[done..value.start], value.kind.name());
        done = value.end;
    }
    masked + &text[done..]
}

/// Removes the secrets that are an e-mail address, which stays one: `"password": "mira@…"`.
fn keep_addresses(found: &mut Vec<FoundValue>) {
    let is_secret = |value: &FoundValue| matches!(value.kind, PrivacyKind::Key | PrivacyKind::Token);
    if !found.iter().any(is_secret) {
        return;
    }
    let addresses: FxHashSet<(usize, usize)> = found
        .iter()
        .filter(|value| value.kind == PrivacyKind::Email)
        .map(|value| (value.start, value.end))
        .collect();
    found.retain(|value| !is_secret(value) || !addresses.contains(&(value.start, value.end)));
}

fn without_overlaps(mut found: Vec<FoundValue>) -> Vec<FoundValue> {
    found.sort_by_key(|value| (value.kind.rank(), value.start, std::cmp::Reverse(value.end)));
    // By first byte; they are disjoint, so only the last one that begins before the end can overlap.
    let mut kept: BTreeMap<usize, FoundValue> = BTreeMap::new();
    for value in found {
        if kept.range(..value.end).next_back().is_none_or(|(_, other)| other.end <= value.start) {
            kept.insert(value.start, value);
        }
    }
    kept.into_values().collect()
}

#[cfg(test)]
mod tests;
