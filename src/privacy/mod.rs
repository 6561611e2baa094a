//! Finds personal values in text and replaces each with a numbered placeholder of the same format.
//!
//! Ten kinds of values are found, each by a recogniser of its own (and names from a list, where
//! one is given). A recogniser validates: check digits, numbering plans, address ranges. What is
//! a placeholder already stays as it is, and so do dates, times, postcodes, places, UUIDs,
//! versions and order numbers: these are what queries are about.
//!
//! Placeholders are numbered in the order in which values first occur, never hashed: a hash of a
//! small space can be reversed. Redacting redacted text finds nothing. `numbers` keeps who has
//! which number; `apply` replaces in text and JSON. No model is used, so names and street
//! addresses are not found.

mod address;
pub mod apply;
mod card;
mod context;
mod email;
mod forms;
mod iban;
mod ip;
mod key;
pub mod known;
mod mac;
mod names;
mod noted;
pub mod numbers;
mod phone;
mod plans;
mod random;
mod run;
mod runs;
mod secret;
mod secret_words;
mod seen;
pub mod sight;
mod spelled;
mod ssn;
mod value_end;
mod vendors;
mod view;
mod words;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use names::Names;
pub use noted::NotedSpan;
pub use phone::Region;

/// Raised when the recognisers or the placeholders change: redaction is then done anew.
pub const VERSION: u32 = 6;

/// A kind of personal value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// The number of a payment card.
    Card,
    /// An international bank account number.
    Iban,
    /// A US social security number.
    Ssn,
    /// An API key, a password, or another secret of many uses.
    Key,
    /// A bearer token, a JSON web token, or another secret of one session.
    Token,
    /// A public IPv4 address.
    Ipv4,
    /// A public IPv6 address.
    Ipv6,
    /// The MAC address of a device.
    Mac,
    /// A name from the list of names; never found without one.
    #[serde(skip)]
    Name,
}

impl Kind {
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

    /// The kind's name in settings and files.
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
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain([Self::Name]).find(|kind| kind.name() == name)
    }

    /// Values of the two kinds share their numbers.
    pub fn is_numbered_with(self, other: Self) -> bool {
        numbers::space(self) == numbers::space(other)
    }

    /// Where two values overlap the lower one stands: what is validated more strictly goes first.
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
        }
    }
}

/// Whether a value is someone's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is to be replaced.
    Personal,
    /// It stands for a value already, as one of our own numbered placeholders or in another well-known way.
    Placeholder(Option<u64>),
}

/// A value in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is.
    pub kind: Kind,
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// Its normal form: two spellings of one value have the same.
    pub value: String,
    /// Whether it is to be replaced.
    pub standing: Standing,
    /// For a telephone number: digits of the country code as written, with any 00 before; else 0.
    pub code_digits: u8,
}

impl Found {
    fn new(kind: Kind, start: usize, end: usize, value: impl Into<String>, standing: Standing) -> Self {
        Self { kind, start, end, value: value.into(), standing, code_digits: 0 }
    }

    /// It is to be replaced.
    pub fn is_personal(&self) -> bool {
        self.standing == Standing::Personal
    }

    /// The placeholder with this number, in the format of `written`, the value as it stands in the text.
    pub fn stand_in(&self, written: &str, number: u64) -> String {
        if self.kind == Kind::Email {
            return address::stand_in(written, number);
        }
        let written = &*view::plain(written);
        match self.kind {
            Kind::Email => address::stand_in(written, number),
            Kind::Mac => mac::stand_in(written, number),
            Kind::Phone => phone::stand_in(written, self, number),
            Kind::Card => card::stand_in(written, number),
            Kind::Iban => iban::stand_in(written, number),
            Kind::Ssn => ssn::stand_in(written, number),
            Kind::Key | Kind::Token => secret::stand_in(written, number),
            Kind::Ipv4 => ip::stand_in_v4(number),
            Kind::Ipv6 => ip::stand_in_v6(number),
            Kind::Name => names::stand_in(number),
        }
    }
}

/// Finds the values of some kinds.
#[derive(Debug)]
pub struct Scanner {
    kinds: Vec<Kind>,
    region: Option<Region>,
    names: Names,
}

impl Scanner {
    /// A scanner for these kinds. Telephone numbers in national form are read as of `region`; without one they need a
    /// word nearby that says what they are.
    pub fn new(kinds: &[Kind], region: Option<Region>, names: Names) -> Self {
        Self { kinds: kinds.to_vec(), region, names }
    }

    /// Reads the tables that are needed to look for these kinds, which else the first value that calls for them waits for.
    pub fn prepare(kinds: &[Kind]) {
        if kinds.contains(&Kind::Phone) {
            phone::prepare();
        }
    }

    fn wants(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The values of a text, placeholders too, in order and without overlaps.
    ///
    /// What stands around a value counts, and can be a value itself: `v` in an account number makes the address behind
    /// it a version. So what is found is looked away from, and the rest looked at again, until nothing is found: then a
    /// redacted text holds nothing either.
    pub fn scan(&self, text: &str) -> Vec<Found> {
        let mut found = self.scan_once(text);
        while found.iter().any(Found::is_personal) {
            let more = self.scan_around(text, &found);
            if more.is_empty() {
                break;
            }
            found.extend(more);
            found.sort_by_key(|value| value.start);
        }
        found
    }

    /// What else is found where placeholders stand for what is found already.
    fn scan_around(&self, text: &str, found: &[Found]) -> Vec<Found> {
        let mut new = String::with_capacity(text.len());
        // Where unchanged pieces stand in the old and the new text.
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
        let back = |mut value: Found| {
            let at = pieces.partition_point(|&(_, start, _)| start <= value.start).checked_sub(1)?;
            let (old, start, length) = pieces[at];
            if value.end > start + length {
                return None;
            }
            value.start = value.start - start + old;
            value.end = value.end - start + old;
            // They are in order and apart: the last that begins before the end is the one to meet.
            let before = found.partition_point(|known| known.start < value.end);
            let is_new = found[..before].last().is_none_or(|known| known.end <= value.start);
            is_new.then_some(value)
        };
        self.scan_once(&new).into_iter().filter(Found::is_personal).filter_map(back).collect()
    }

    /// A text may hold a value: it has a mark that no value of the kinds is without. Quick, and the same whatever stands around a
    /// value, but right only of text without escapes.
    fn may_hold(&self, text: &str) -> bool {
        let (text, _) = view::normal_view(text);
        let text = &*text;
        let secrets = self.wants(Kind::Key) || self.wants(Kind::Token);
        ((self.wants(Kind::Email) || self.wants(Kind::Key)) && email::may_hold(text))
            || runs::any(text)
            || (self.wants(Kind::Card) && card::may_hold_apart(text))
            || (self.wants(Kind::Email) && spelled::may_hold(text))
            || (self.wants(Kind::Ipv6) && ip::may_hold_v6(text))
            || (self.wants(Kind::Mac) && mac::may_hold(text))
            || (secrets && key::may_hold(text))
            || self.names.may_hold(text)
    }

    /// The values of a text, read in its normal view.
    fn scan_once(&self, text: &str) -> Vec<Found> {
        let (view, offsets) = view::normal_view(text);
        let mut found = self.scan_view(&view);
        for value in &mut found {
            (value.start, value.end) = offsets.back(value.start, value.end);
        }
        found
    }

    fn scan_view(&self, text: &str) -> Vec<Found> {
        let mut found = Vec::new();
        if self.wants(Kind::Email) || self.wants(Kind::Key) {
            email::find(text, &mut found);
        }
        if self.wants(Kind::Email) {
            spelled::find(text, &mut found);
        }
        if self.wants(Kind::Key) || self.wants(Kind::Token) {
            key::find(text, &mut found);
        }
        if self.wants(Kind::Ipv6) {
            ip::find_v6(text, &mut found);
        }
        if self.wants(Kind::Mac) {
            mac::find(text, &mut found);
        }
        if self.wants(Kind::Card) {
            card::find_apart(text, &mut found);
        }
        runs::for_each(text, |run| {
            if self.wants(Kind::Iban) {
                iban::find(text, run, &mut found);
            }
            if self.wants(Kind::Card) {
                card::find(text, run, &mut found);
            }
            if self.wants(Kind::Ipv4) {
                ip::find_v4(text, run, &mut found);
            }
            if self.wants(Kind::Ssn) {
                ssn::find(text, run, &mut found);
            }
            if self.wants(Kind::Phone) {
                phone::find(text, run, self.region, &mut found);
            }
        });
        self.names.find(text, &mut found);
        if found.is_empty() {
            return found;
        }
        found.retain(|value| value.kind == Kind::Name || self.wants(value.kind));
        without_overlaps(found)
    }

    /// The values of a text that stands under a key, such as an argument: the key may say what the value is.
    pub fn scan_under(&self, key: &str, text: &str) -> Vec<Found> {
        if !context::says_something(key) {
            return self.scan(text);
        }
        let keyed = format!("{key}: {text}");
        let shift = keyed.len() - text.len();
        let mut found = self.scan(&keyed);
        found.retain(|value| value.start >= shift);
        for value in &mut found {
            value.start -= shift;
            value.end -= shift;
        }
        found
    }
}

/// A text with its personal values masked by their kind, `[email]`: for messages about a text, where nothing has to be
/// read any more.
pub fn masked(text: &str) -> String {
    static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&Kind::ALL, None, Names::default()));
    let mut masked = String::new();
    let mut done = 0;
    for value in SCANNER.scan(text).iter().filter(|value| value.is_personal()) {
        masked += &format!("{}[{}]", &text[done..value.start], value.kind.name());
        done = value.end;
    }
    masked + &text[done..]
}

fn without_overlaps(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by_key(|value| (value.kind.rank(), value.start, std::cmp::Reverse(value.end)));
    // By first byte; they are apart, so the last that begins before the end of another is the one to meet.
    let mut kept: BTreeMap<usize, Found> = BTreeMap::new();
    for value in found {
        if kept.range(..value.end).next_back().is_none_or(|(_, other)| other.end <= value.start) {
            kept.insert(value.start, value);
        }
    }
    kept.into_values().collect()
}

#[cfg(test)]
mod tests;
