//! Numbering plans by region, and which are tried.
//!
//! The plans are those of the crate `phonenumber`. Its expressions are compiled one by one as they are needed, behind a lock
//! that all threads share, so a number is first held against the shape of a whole plan.

use std::str::FromStr;
use std::sync::{LazyLock, OnceLock};

use phonenumber::country;
use phonenumber::metadata::{DATABASE, Descriptor, Metadata};
use regex::{Regex, RegexBuilder};

/// Regions tried for a number whose words say nothing about where it is, in this order; the first is North America's.
const FIRST_REGIONS: &str = "US CN IN BR GB DE FR ES IT AU MX JP KR TR";
/// Tried after them where the number is written as one is.
const OTHER_REGIONS: &str = "NL BE CH AT SE NO DK FI PL CZ HU RO GR PT RU UA IE NZ ZA NG KE EG SA AE IL PK BD ID MY TH VN TW SG \
    HK PH AR CO CL PE";

/// Regular expressions of numbering plans that the crate keeps compiled.
const KEPT_EXPRESSIONS: usize = 2048;
/// Most digits before a national number: a country code, a trunk prefix, the code of a carrier.
const MOST_BEFORE: usize = 8;
/// More than there are regions.
const N_REGIONS: usize = 512;

/// What the numbers of a plan look like.
struct Shape {
    /// The number, without a prefix.
    national: Regex,
    /// What is dialled before the number of another country.
    abroad: Regex,
}

/// What the numbers of each region look like; `None` where that cannot be said with one expression.
static SHAPES: [OnceLock<Option<Shape>>; N_REGIONS] = [const { OnceLock::new() }; N_REGIONS];

/// Regions that are tried without a hint: those for any number, then those for numbers that are written as one.
pub(super) static TRIED: LazyLock<(Vec<Plan>, Vec<Plan>)> =
    LazyLock::new(|| (regions(FIRST_REGIONS), regions(OTHER_REGIONS)));

/// The plans of regions in a list with blanks.
pub(super) fn regions(list: &str) -> Vec<Plan> {
    // The crate keeps too few expressions compiled for all regions.
    if let Ok(mut kept) = DATABASE.cache().lock() {
        kept.set_capacity(KEPT_EXPRESSIONS);
    }
    list.split_whitespace().filter_map(|region| country::Id::from_str(region).ok()).map(Plan::of).collect()
}

/// A region with a numbering plan of its own, and the lengths of its numbers without a trunk prefix, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) region: country::Id,
    lengths: u64,
}

impl Plan {
    pub(super) fn of(region: country::Id) -> Self {
        let lengths = DATABASE.by_id(region.as_ref()).map_or(0, |metadata| {
            let kinds = metadata.descriptors();
            let kinds = [
                kinds.fixed_line(),
                kinds.mobile(),
                kinds.toll_free(),
                kinds.shared_cost(),
                kinds.voip(),
                kinds.uan(),
            ];
            let lengths = kinds.into_iter().flatten().flat_map(Descriptor::possible_length);
            lengths.filter(|&&length| length < 64).fold(0_u64, |all, length| all | 1 << length)
        });
        // Without a length any will do.
        Self { region, lengths: if lengths == 0 { u64::MAX } else { lengths } }
    }

    /// A number with these digits can be one of the plan: asked before the plan itself, which is slow.
    pub(super) fn may_hold(&self, digits: &str) -> bool {
        self.has_length(digits) && self.has_shape(digits)
    }

    fn has_length(&self, digits: &str) -> bool {
        let has = |length: usize| self.lengths >> length & 1 == 1;
        let n_digits = digits.len().min(63);
        // A trunk prefix has one digit, in Hungary two; in Argentina mobiles have two more inside.
        has(n_digits)
            || digits.starts_with(['0', '1', '8']) && (has(n_digits - 1) || n_digits > 2 && has(n_digits - 2))
            || n_digits > 2 && has(n_digits - 2) && digits.contains("15")
    }

    /// What is left of the digits without a prefix begins as a number of the plan does.
    fn has_shape(&self, digits: &str) -> bool {
        let Some(kept) = SHAPES.get(self.region as usize) else { return true };
        let kept = kept.get_or_init(|| DATABASE.by_id(self.region.as_ref()).and_then(shape));
        let is_shaped = |shape: &Shape| {
            let mut rests = (0..=MOST_BEFORE).filter_map(|at| digits.get(at..));
            shape.abroad.is_match(digits) || rests.any(|rest| shape.national.is_match(rest))
        };
        kept.as_ref().is_none_or(is_shaped)
    }
}

/// All kinds of numbers of a plan, and of those that share its country code, as one expression; `None` where a national
/// prefix is not only taken away.
fn shape(metadata: &Metadata) -> Option<Shape> {
    if metadata.national_prefix_transform_rule().is_some() {
        return None;
    }
    let plans = DATABASE.by_code(&metadata.country_code())?;
    let mut expressions: Vec<&str> = plans.iter().flat_map(|plan| kinds(plan)).collect();
    expressions.sort_unstable();
    expressions.dedup();
    let abroad = metadata.international_prefix().map_or("[^0-9]", |prefix| prefix.as_str());
    Some(Shape { national: anchored(&expressions)?, abroad: anchored(&[abroad])? })
}

/// One of some expressions at the start of a text.
fn anchored(expressions: &[&str]) -> Option<Regex> {
    let any = format!("^(?:{})", expressions.join(")|^(?:"));
    RegexBuilder::new(&any).ignore_whitespace(true).unicode(false).build().ok()
}

/// The expressions of all kinds of numbers that are dialled.
fn kinds(metadata: &Metadata) -> impl Iterator<Item = &str> {
    let kinds = metadata.descriptors();
    let kinds = [
        kinds.fixed_line(),
        kinds.mobile(),
        kinds.premium_rate(),
        kinds.toll_free(),
        kinds.shared_cost(),
        kinds.voip(),
        kinds.personal_number(),
        kinds.pager(),
        kinds.uan(),
        kinds.voicemail(),
    ];
    kinds.into_iter().flatten().map(|kind| kind.national_number().as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Digits that the plan itself takes for a number.
    fn is_valid(plan: Plan, digits: &str) -> bool {
        phonenumber::parse(Some(plan.region), digits).is_ok_and(|number| number.is_valid())
    }

    fn all() -> impl Iterator<Item = Plan> {
        TRIED.0.iter().chain(&TRIED.1).copied()
    }

    #[test]
    fn the_example_of_every_kind_and_region_has_the_shape_of_its_plan() {
        let mut n_examples = 0;
        for plan in all() {
            let metadata = DATABASE.by_id(plan.region.as_ref()).unwrap();
            let kinds = metadata.descriptors();
            let kinds =
                [kinds.fixed_line(), kinds.mobile(), kinds.toll_free(), kinds.premium_rate(), kinds.uan()];
            for example in kinds.into_iter().flatten().filter_map(Descriptor::example) {
                let prefix = metadata.national_prefix().unwrap_or_default();
                for digits in [example.to_owned(), format!("{prefix}{example}")] {
                    n_examples += usize::from(is_valid(plan, &digits));
                    assert!(!is_valid(plan, &digits) || plan.has_shape(&digits), "{plan:?} {digits}");
                }
            }
        }
        assert!(n_examples > 200, "{n_examples}");
    }

    proptest! {
        #[test]
        fn what_has_no_shape_is_no_number(digits in "[0-9]{7,12}") {
            for plan in all().filter(|plan| !plan.has_shape(&digits)) {
                prop_assert!(!is_valid(plan, &digits), "{plan:?}");
            }
        }
    }
}
