//! Telephone numbers, each validated against the numbering plan of its country (crate `phonenumber`).
//!
//! With a country code (`+49 …`, `0049 …`) a number needs no context. In national form it needs a word nearby
//! (`words`), the region in the settings, the punctuation of North America, `(415) 555-2671`, or a trunk zero and
//! groups. With seven or eight digits the words directly at it suffice (`announced`). It is never a part of a longer number.
//! Numbers of the area 555, which is unassigned, are placeholders and unchanged.

use std::cell::LazyCell;
use std::str::FromStr;
use std::sync::LazyLock;

use phonenumber::{Mode, PhoneNumber, country};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::announced::names_phone;
use super::card::fill;
use super::context::{
    announces_article, announces_other, announces_phone, came_before, goes_on, line_above_announces_phone,
};
use super::plans::{NumberingPlan, TRIED};
use super::run::Run;
use super::series;
use super::words::{Hint, Strength};
use super::{FoundValue, PrivacyKind, ValueStatus};

/// Number of digits of a telephone number: minimum with a region, minimum without, maximum.
const FEWEST_DIGITS: usize = 7;
const FEWEST_DIGITS_ANYWHERE: usize = 9;
const MOST_DIGITS: usize = 15;
/// Minimum number of digits in national form, as in Denmark and Singapore.
const FEWEST_DIGITS_NATIONAL: usize = 8;
/// Maximum number of digits of a number in national form that is in no plan.
const MOST_DIGITS_ANNOUNCED: usize = 11;
/// Maximum number of digits of an extension.
const MOST_DIGITS_OF_EXTENSION: usize = 6;
/// Minimum and maximum number of digits of a number in no plan that only the words directly at it name.
const DIGITS_NAMED: std::ops::RangeInclusive<usize> = 7..=8;
/// Maximum number of digits of a group that is a quantity after a number, or its place in a list.
const MOST_DIGITS_OF_COUNT: usize = 2;
/// Prefixes of toll-free numbers.
const FREE: [&str; 5] = ["800", "0800", "1800", "1300", "400"];
/// The separator of two numbers.
const OTHER_NUMBER: &str = " / ";
/// The prefix of a number with country code in a chat link without a plus.
const CHAT_LINK: &str = "wa.me/";
/// Digits, with the country code, from which a number after a plus needs no valid plan.
const ENOUGH_DIGITS: usize = 10;
/// Maximum number of other groups of digits near a number in national form.
const MOST_OTHER_GROUPS: usize = 2;
/// Zeros that identify a placeholder outside North America.
const ZEROS: usize = 4;
/// The unassigned North American area of placeholders, and the first number in it.
const NO_AREA: &str = "555";
const FIRST_NUMBER: u64 = 5_550_000;
/// Typed in keyboard order: an example in docs.
const KEYS_IN_ORDER: &str = "23456789";

/// A region with its own numbering plan, as two letters: `US`, `DE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Region(country::Id);

impl TryFrom<String> for Region {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        country::Id::from_str(&name).map(Self).map_err(|_| {
            format!("default_region must be two capitals such as \"US\" or \"DE\", not \"{name}\"")
        })
    }
}

impl From<Region> for String {
    fn from(region: Region) -> Self {
        region.0.as_ref().to_owned()
    }
}

/// A candidate: some groups of a run.
struct Candidate<'t> {
    text: &'t str,
    run: &'t Run,
    first: usize,
    last: usize,
    /// The first byte, with `+` and brackets.
    start: usize,
    end: usize,
    has_plus: bool,
    digits: String,
}

/// Loads the numbering plans once, which takes some hundredths of a second.
pub(super) fn prepare() {
    LazyLock::force(&TRIED);
    let _ = phonenumber::parse(None, "+12125550100").map(|number| number.is_valid());
}

/// Finds the numbers of a run.
pub(super) fn find(text: &str, run: &Run, region: Option<Region>, found: &mut Vec<FoundValue>) {
    let mut first = 0;
    while first < run.groups.len() {
        let hit = (first..run.groups.len()).rev().find_map(|last| {
            Candidate::new(text, run, first, last).and_then(|it| Some((last, it.judge(region)?)))
        });
        match hit {
            Some((last, number)) => {
                found.push(number);
                first = last + 1;
            }
            None => first += 1,
        }
    }
}

impl<'t> Candidate<'t> {
    fn new(text: &'t str, run: &'t Run, first: usize, last: usize) -> Option<Self> {
        let n_digits = run.n_digits(first, last);
        if !(FEWEST_DIGITS..=MOST_DIGITS + 2).contains(&n_digits) {
            return None;
        }
        // Inside a run a number begins and ends at whitespace.
        let is_parted = |at: usize| run.gap(text, at).contains([' ', '\u{a0}']);
        let begins = first == 0 || is_parted(first - 1) || text[..run.groups[first].0].ends_with('+');
        if !begins || (last + 1 < run.groups.len() && !is_parted(last)) {
            return None;
        }
        let bytes = text.as_bytes();
        let (mut start, end) = (run.groups[first].0, run.groups[last].1);
        if start > 0 && bytes[start - 1] == b'(' && text[start..end].contains(')') {
            start -= 1;
        }
        let has_plus = start > 0 && bytes[start - 1] == b'+';
        if has_plus {
            start -= 1;
        }
        let is_after_comma = start >= 2 && bytes[start - 1] == b',' && bytes[start - 2].is_ascii_digit();
        let is_linked = text[..start].ends_with(CHAT_LINK);
        if is_after_comma
            || (came_before(bytes, start, b"-./#") && !is_linked)
            || (goes_on(bytes, end, b"-./,:%@") && !is_extension(&text[end..]))
        {
            return None;
        }
        Some(Self { text, run, first, last, start, end, has_plus, digits: run.digits(text, first, last) })
    }

    fn judge(&self, region: Option<Region>) -> Option<FoundValue> {
        if series::are_decimals(self.text, self.run, self.first, self.last, self.has_plus) {
            return None;
        }
        if self.has_plus || self.text[..self.start].ends_with(CHAT_LINK) {
            return self.international(0);
        }
        let is_named = LazyCell::new(|| self.is_named());
        let is_date = self.is_date() && !(self.first == self.last && !self.is_day() && *is_named);
        if announces_other(self.text, self.start) || is_date || self.is_address() || self.is_counted() {
            return None;
        }
        if let Some(number) = self.american_placeholder() {
            let status = ValueStatus::Placeholder(Some(number));
            return Some(FoundValue::new(
                PrivacyKind::Phone,
                self.start,
                self.end,
                self.digits.clone(),
                status,
            ));
        }
        if self.is_part() && !names_phone(self.text, self.start, self.end) {
            return None;
        }
        let hint = LazyCell::new(|| self.hint());
        if self.digits.starts_with("00")
            && self.digits.len() > FEWEST_DIGITS_ANYWHERE
            && (self.first < self.last || hint.strength.is_some())
            && let Some(found) = self.international(2)
        {
            return Some(found);
        }
        // A country code without a plus, too long for a national form.
        if self.digits.len() > MOST_DIGITS_ANNOUNCED
            && hint.strength == Some(Strength::Strong)
            && let Some(found) = self.international(0)
        {
            return Some(found);
        }
        if self.is_american() {
            let found = self.valid(*TRIED.0.first()?);
            let is_announced = hint.strength > Some(Strength::Script);
            if found.is_some() || (is_announced && self.may_be_american()) {
                return found.or_else(|| Some(self.unplanned()));
            }
        }
        if self.n_others() > MOST_OTHER_GROUPS {
            return None;
        }
        let is_in_region = region.is_some() && self.first < self.last && self.is_spaced();
        if self.is_ours() {
            return (hint.strength.is_some() || is_in_region || *is_named).then(|| self.placeholder(0));
        }
        let is_shaped = self.is_shaped();
        let is_trunk = self.digits.starts_with('0') && self.first < self.last;
        let found = match hint.strength {
            Some(Strength::Strong) => {
                let found = self.anywhere(region, &hint, is_shaped);
                found.or_else(|| (is_shaped && self.may_be_unplanned()).then(|| self.unplanned()))
            }
            Some(Strength::Weak) if is_shaped => {
                let found = self.anywhere(region, &hint, true);
                found.or_else(|| (is_trunk && self.may_be_unplanned()).then(|| self.unplanned()))
            }
            Some(Strength::Weak) if hint.is_foreign() => hint.regions().find_map(|plan| self.valid(plan)),
            Some(Strength::Script) if is_shaped => {
                let found = hint.regions().find_map(|plan| self.valid(plan));
                found.or_else(|| {
                    self.is_plain_in_sight().then(|| self.anywhere(region, &hint, true)).flatten()
                })
            }
            _ if is_in_region || self.is_plain_in_sight() => self.anywhere(region, &hint, true),
            _ => None,
        };
        found.or_else(|| is_named.then(|| self.unplanned()))
    }

    /// Returns true for seven or eight digits, alone and in even groups, that the words directly at them name: many countries
    /// have such numbers, and no plan tells them from others.
    fn is_named(&self) -> bool {
        DIGITS_NAMED.contains(&self.digits.len())
            && self.n_others() == 0
            && !self.digits.starts_with(NO_AREA)
            && self.is_even()
            && names_phone(self.text, self.start, self.end)
    }

    /// Returns true if its groups have two digits or more, and the same separator between them: blanks, dashes, or two dots
    /// or more.
    fn is_even(&self) -> bool {
        let mut gaps = self.gaps();
        let Some(first) = gaps.next() else { return true };
        let is_separator = matches!(first.trim(), "" | "-") || (first == "." && self.last - self.first >= 2);
        is_separator && gaps.all(|gap| gap == first) && self.sizes().iter().all(|&size| size >= 2)
    }

    /// Returns true for a member of a series, a count, and the number of an article in the form of a social security number.
    fn is_counted(&self) -> bool {
        self.sizes() == [3, 2, 4] && announces_article(self.text, self.start, self.end)
            || series::is_series(self.text, self.run, self.first, self.last)
            || series::is_count(self.text, self.run, self.first, self.last)
    }

    /// Returns true for eight digits of which the last four are a month and a day.
    fn is_day(&self) -> bool {
        let number =
            |place: std::ops::Range<usize>| self.digits.get(place).and_then(|part| part.parse::<u8>().ok());
        matches!(number(4..6), Some(1..=12)) && matches!(number(6..8), Some(1..=31))
    }

    /// Returns true if it is a part of a longer number, whose groups go on with the same separator before or after it: `2 84 05
    /// 75 115 042 68`. A count after it (`2 times`), a place in a list before it, and another number of the same form are not
    /// part of it.
    fn is_part(&self) -> bool {
        let gaps: Vec<&str> = self.gaps().collect();
        let size = |at: usize| self.run.groups[at].1 - self.run.groups[at].0;
        let sizes = self.sizes();
        let goes_on = |at: &usize| gaps.contains(&self.run.gap(self.text, *at));
        let mut before: Vec<usize> = (0..self.first).rev().take_while(goes_on).map(size).collect();
        before.reverse();
        let behind: Vec<usize> =
            (self.last..self.run.groups.len() - 1).take_while(goes_on).map(|at| size(at + 1)).collect();
        let is_count = |sizes: &[usize]| matches!(sizes, [digits] if *digits <= MOST_DIGITS_OF_COUNT);
        let end = self.run.groups[self.last + behind.len()].1;
        let is_counted = || {
            let next = self.text[end..].trim_start_matches(' ');
            next.starts_with(|c: char| c.is_alphabetic() || matches!(c, ':' | '%' | '€' | '$' | '£'))
        };
        let is_listed = || {
            let start = self.run.groups[self.first - before.len()].0;
            start == 0 || self.text[..start].ends_with('\n')
        };
        let is_free_before = before.is_empty()
            || before.ends_with(&sizes)
            || (is_count(&before) && behind.is_empty() && is_listed());
        let is_free_behind = behind.is_empty()
            || behind.starts_with(&sizes)
            || (is_count(&behind) && before.is_empty() && is_counted());
        !(is_free_before && is_free_behind)
    }

    /// Returns the hints in the words around; for a number in a list or table, also in those above it.
    fn hint(&self) -> Hint {
        let hint = announces_phone(self.text, self.start, self.end);
        if hint.strength > Some(Strength::Script) || self.n_others() > 0 {
            return hint;
        }
        line_above_announces_phone(self.text, self.start).unwrap_or(hint)
    }

    /// Returns the number of groups of digits nearby that are not part of it. Another number after a slash does not
    /// count.
    fn n_others(&self) -> usize {
        let is_apart = |at: &usize| self.run.gap(self.text, *at) == OTHER_NUMBER;
        let before = (0..self.first).rev().take_while(|at| !is_apart(at)).count();
        let behind = (self.last..self.run.groups.len() - 1).take_while(|at| !is_apart(at)).count();
        before + behind
    }

    /// Returns true if it is long enough for a number whose range is not yet in any plan.
    fn may_be_unplanned(&self) -> bool {
        (FEWEST_DIGITS_ANYWHERE..=MOST_DIGITS_ANNOUNCED).contains(&self.digits.len())
    }

    /// Returns the number if it is valid in the region of the settings, in a region of the words' language, or in one
    /// of many.
    fn anywhere(&self, region: Option<Region>, hint: &Hint, widely: bool) -> Option<FoundValue> {
        if !(FEWEST_DIGITS_NATIONAL..=12).contains(&self.digits.len()) {
            let spoken =
                hint.regions().filter(|_| hint.is_foreign() && hint.strength == Some(Strength::Strong));
            let spoken = spoken.filter(|_| self.first < self.last);
            let mut plans = region.map(|region| NumberingPlan::of(region.0)).into_iter().chain(spoken);
            return plans.find_map(|plan| self.valid(plan));
        }
        // A one before ten digits is dialled in North America and written only with dashes; Chinese mobile numbers have
        // it.
        let skipped = usize::from(self.digits.len() == 11);
        let hinted = region.map(|region| NumberingPlan::of(region.0)).into_iter().chain(hint.regions());
        let others = TRIED.1.iter().filter(|_| widely);
        let is_short = self.digits.len() < FEWEST_DIGITS_ANYWHERE;
        let unhinted = TRIED.0[skipped..].iter().chain(others).copied().filter(|_| !is_short);
        let tried: Vec<NumberingPlan> = hinted.chain(unhinted).collect();
        (0..tried.len())
            .filter(|&at| !(tried[..at].contains(&tried[at]) || skipped == 1 && tried[at] == TRIED.0[0]))
            .find_map(|at| self.valid(tried[at]))
    }

    /// Returns true for two or more groups, or a trunk zero.
    fn is_shaped(&self) -> bool {
        let is_grouped = self.first < self.last && self.sizes()[1..].iter().all(|&size| size >= 2);
        is_grouped || self.digits.starts_with('0')
    }

    /// Returns true if the number needs no word: a trunk zero and groups, an area in brackets, a toll-free number, or
    /// pairs after an area, without other numbers nearby. Other forms count alone in their line or after a colon.
    fn is_plain_in_sight(&self) -> bool {
        let sizes = self.sizes();
        if self.n_others() > 0
            || self.first == self.last
            || !(FEWEST_DIGITS_ANYWHERE..=11).contains(&self.digits.len())
            || self.gaps().skip(1).any(|gap| gap.contains('/'))
        {
            return false;
        }
        let is_area = !self.gaps().next().is_some_and(|gap| gap.contains('/'))
            || (self.digits.starts_with('0')
                && sizes[1] >= 3
                && !self.text[self.run.groups[self.first + 1].0..].starts_with("20"));
        if !is_area || (sizes == [5, 4] && self.run.gap(self.text, self.first) == "-") {
            return false;
        }
        let pairs: Vec<&str> = self.run.groups[self.first..=self.last]
            .iter()
            .map(|&(start, end)| &self.text[start..end])
            .collect();
        let number = |pair: &str| pair.parse::<u32>().unwrap_or_default();
        let is_row = sizes.iter().all(|&size| size <= 2)
            && (sizes.len() != 5 || pairs.windows(2).all(|pair| number(pair[1]) == number(pair[0]) + 1));
        let is_trunk = self.digits.starts_with('0') && !self.digits.starts_with("00");
        if is_trunk {
            return !is_row && sizes.iter().all(|&size| size >= 2);
        }
        let is_free =
            FREE.iter().any(|free| self.digits.starts_with(free)) && sizes[1..].iter().all(|&size| size >= 2);
        let is_bracketed = self.text[self.start..].starts_with('(') && sizes.len() >= 3;
        if is_free || is_bracketed || matches!(sizes[..], [3, 2 | 3, 2, 2]) {
            return true;
        }
        let before = self.text[..self.start].trim_end_matches(' ');
        let behind = self.text[self.end..].trim_start_matches(' ');
        let begins = before.is_empty() || before.ends_with(['\n', ':']);
        let ends = behind.is_empty() || behind.starts_with(['\n', ',', ';', '(', '—', '–']);
        sizes == [3, 3, 4] && begins && ends
    }

    /// Returns true for `(577) 836-9696`: an unassigned area, but written as a number of North America.
    fn may_be_american(&self) -> bool {
        let national = self.digits.strip_prefix('1').filter(|rest| rest.len() == 10).unwrap_or(&self.digits);
        let is_open = |at: usize| national.as_bytes().get(at).is_some_and(|&digit| digit >= b'2');
        is_open(0) && is_open(3)
    }

    /// Returns a number in no plan; its own digits are its normal form.
    fn unplanned(&self) -> FoundValue {
        FoundValue::new(PrivacyKind::Phone, self.start, self.end, self.digits.clone(), ValueStatus::Personal)
    }

    /// Returns a number with a country code after `skip` digits (`00`).
    fn international(&self, skip: usize) -> Option<FoundValue> {
        let written = &self.text[self.start..self.end];
        // The trunk zero that is not dialled from abroad: +44 (0)20 …
        let digits = if written.contains("(0)") { self.without_trunk_zero() } else { self.digits.clone() };
        let digits = &digits[skip..];
        if let Some(code_digits) = (1..=3).find(|&code| is_zeros(digits.get(code..).unwrap_or_default())) {
            return Some(self.placeholder(skip + code_digits));
        }
        // A placeholder in national form, to which a call has added the country code.
        let is_ours = |code: usize| {
            digits.get(code..).and_then(|national| national.strip_prefix('1')).is_some_and(is_zeros)
        };
        if let Some(code_digits) = (1..=3).find(|&code| is_ours(code))
            && phonenumber::parse(None, format!("+{digits}")).is_ok_and(|number| !number.is_valid())
        {
            return Some(self.placeholder(skip + code_digits));
        }
        // After a plus, a country and enough digits suffice: plans open new ranges, and fiction has its own.
        let is_enough = |number: &PhoneNumber| {
            number.is_valid() || (self.has_plus && (ENOUGH_DIGITS..=MOST_DIGITS).contains(&digits.len()))
        };
        let number = phonenumber::parse(None, format!("+{digits}")).ok().filter(is_enough)?;
        let mut found = self.found(&number);
        let code_digits = skip + number.country().code().to_string().len();
        found.code_digits = u8::try_from(code_digits).unwrap_or_default();
        Some(found)
    }

    fn without_trunk_zero(&self) -> String {
        let written = self.text[self.start..self.end].replacen("(0)", "", 1);
        written.chars().filter(char::is_ascii_digit).collect()
    }

    fn valid(&self, plan: NumberingPlan) -> Option<FoundValue> {
        if !plan.may_hold(&self.digits) {
            return None;
        }
        let number =
            phonenumber::parse(Some(plan.region), &self.digits).ok().filter(PhoneNumber::is_valid)?;
        Some(self.found(&number))
    }

    fn found(&self, number: &PhoneNumber) -> FoundValue {
        let value = number.format().mode(Mode::E164).to_string();
        let status = match value.strip_prefix("+1").and_then(american_number) {
            Some(number) => ValueStatus::Placeholder(Some(number)),
            None if value.contains(KEYS_IN_ORDER) => ValueStatus::Placeholder(None),
            None => ValueStatus::Personal,
        };
        FoundValue::new(PrivacyKind::Phone, self.start, self.end, value, status)
    }

    fn placeholder(&self, code_digits: usize) -> FoundValue {
        let number = self.digits[code_digits + 1..].parse().ok();
        let status = ValueStatus::Placeholder(number);
        FoundValue::new(PrivacyKind::Phone, self.start, self.end, self.digits.clone(), status)
    }

    /// Returns the number of a North American placeholder of ours in national form.
    fn american_placeholder(&self) -> Option<u64> {
        let national = if self.digits.len() == 11 { self.digits.strip_prefix('1')? } else { &self.digits };
        american_number(national)
    }

    /// Returns true for a placeholder of ours in national form.
    fn is_ours(&self) -> bool {
        (self.digits.starts_with(['0', '1']) || is_russian_trunk(&self.digits)) && is_zeros(&self.digits[1..])
    }

    fn sizes(&self) -> Vec<usize> {
        self.run.groups[self.first..=self.last].iter().map(|(start, end)| end - start).collect()
    }

    fn gaps(&self) -> impl Iterator<Item = &'t str> {
        (self.first..self.last).map(|at| self.run.gap(self.text, at))
    }

    /// Returns true for `(415) 555-2671`, `415-555-2671`, `1.415.555.2671`.
    fn is_american(&self) -> bool {
        let is_shaped = match self.sizes()[..] {
            [3, 3, 4] => true,
            [1, 3, 3, 4] => self.digits.starts_with('1'),
            _ => false,
        };
        is_shaped
            && !self.digits.starts_with('0')
            && self.gaps().any(|gap| gap != " ")
            && self.gaps().all(|gap| matches!(gap, "-" | "." | " " | ") " | ")" | " (" | "-("))
    }

    /// Returns true if its groups are separated by spaces, dashes or brackets: not a decimal number, not a path.
    fn is_spaced(&self) -> bool {
        self.gaps().all(|gap| !gap.contains(['.', '/']))
    }

    /// Returns true for four groups separated by dots, as in an IP address, which has its own recogniser. Pairs of
    /// digits do not count, as some countries write telephone numbers like this.
    fn is_address(&self) -> bool {
        self.last - self.first == 3
            && self.gaps().all(|gap| gap == ".")
            && self.sizes() != [2; 4]
            && self.run.groups[self.first..=self.last]
                .iter()
                .all(|&(start, end)| self.text[start..end].parse::<u8>().is_ok())
    }

    /// Returns true for 2024-02-26, 26.02.2024, 20240226, 2019 2024.
    fn is_date(&self) -> bool {
        let is_year = |at: usize| {
            let (start, end) = self.run.groups[at];
            end - start == 4 && matches!(&self.text[start..start + 2], "19" | "20")
        };
        match self.sizes()[..] {
            [8] => matches!(&self.digits[..2], "19" | "20"),
            [4, 1 | 2, 1 | 2, ..] => is_year(self.first),
            [1 | 2, 1 | 2, 4, ..] => is_year(self.first + 2),
            [4, 4, ..] => is_year(self.first) && is_year(self.first + 1),
            _ => false,
        }
    }
}

/// Returns the country code and the national digits of a number in its normal form; `None` if it is in no plan.
pub(super) fn split(value: &str) -> Option<(String, String)> {
    let digits = value.strip_prefix('+')?;
    let code = phonenumber::parse(None, value).ok()?.country().code().to_string();
    let national = digits.strip_prefix(&*code)?.to_owned();
    Some((code, national))
}

/// Returns true for an extension directly after a number: `x91`, `ext91`.
fn is_extension(behind: &str) -> bool {
    let digits = ["ext", "x", "X"].iter().find_map(|word| behind.strip_prefix(word)).unwrap_or_default();
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    (1..=MOST_DIGITS_OF_EXTENSION).contains(&length)
        && !digits[length..].starts_with(|c: char| c.is_alphanumeric())
}

/// Returns true for eleven digits with the trunk prefix of Russia.
fn is_russian_trunk(digits: &str) -> bool {
    digits.len() == 11 && digits.starts_with('8')
}

/// Returns true for zeros with a number at the end, as in a placeholder outside North America.
fn is_zeros(digits: &str) -> bool {
    digits.len() > ZEROS + 1 && digits.starts_with(&"0".repeat(ZEROS))
}

/// Returns the number in ten digits that are a North American placeholder.
fn american_number(digits: &str) -> Option<u64> {
    let local = digits.strip_prefix(NO_AREA).filter(|local| local.len() == 7)?;
    local.parse::<u64>().ok()?.checked_sub(FIRST_NUMBER)
}

/// Returns the placeholder: in North America a number of an unassigned area, elsewhere the country code, zeros and the
/// number; with the same length and punctuation. In national form it keeps a leading zero, or Russia's 8, or begins
/// with 1.
pub(super) fn stand_in(written: &str, found: &FoundValue, number: u64) -> String {
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    if found.value.starts_with("+1") && found.value.len() == 12 {
        let national = format!("{NO_AREA}{}", FIRST_NUMBER + number % (10_000_000 - FIRST_NUMBER));
        let before = digits.len().saturating_sub(national.len());
        return fill(written, &format!("{}{national}", &digits[..before]));
    }
    let code = usize::from(found.code_digits);
    let front = match (code, digits.starts_with('0')) {
        (0, true) => "0",
        (0, false) if is_russian_trunk(&digits) && found.value.starts_with("+7") => "8",
        (0, false) => "1",
        _ => &digits[..code],
    };
    let width = digits.len() - front.len();
    let capacity = 10_u64.checked_pow(u32::try_from(width.saturating_sub(ZEROS)).unwrap_or(u32::MAX));
    let number = capacity.map_or(number, |capacity| number % capacity);
    fill(written, &format!("{front}{number:0width$}"))
}
