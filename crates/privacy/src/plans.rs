//! Numbering plans by region, and the order in which they are tried.
//!
//! The plans are from the crate `phonenumber`. It compiles their expressions when needed, with a lock shared by all
//! threads, so a number is first compared with the shape of a whole plan.

use std::str::FromStr;
use std::sync::{LazyLock, OnceLock};

use phonenumber::country;
use phonenumber::metadata::{DATABASE, Descriptor, Metadata};
use regex::{Regex, RegexBuilder};

/// Regions tried for a number without any hint to its region, in this order; the first is North America's.
const FIRST_REGIONS: &str = "US CN IN BR GB DE FR ES IT AU MX JP KR TR";
/// Regions tried after them if the number is written like a telephone number.
const OTHER_REGIONS: &str = "NL BE CH AT SE NO DK FI PL CZ HU RO GR PT RU UA IE NZ ZA NG KE EG SA AE IL PK BD ID MY TH VN TW SG \
    HK PH AR CO CL PE";

/// Number of compiled expressions of numbering plans that the crate caches.
const KEPT_EXPRESSIONS: usize = 2048;
/// Maximum number of digits before a national number: country code, trunk prefix, carrier code.
const MOST_BEFORE: usize = 8;
/// An upper bound of the number of regions.
const N_REGIONS: usize = 512;

/// The shape of a plan's numbers.
struct Shape {
    /// The number, without a prefix.
    national: Regex,
    /// The prefix for calls abroad.
    abroad: Regex,
}

/// The shape of each region's numbers; `None` if one expression cannot describe it.
static SHAPES: [OnceLock<Option<Shape>>; N_REGIONS] = [const { OnceLock::new() }; N_REGIONS];

/// Regions tried without a hint: those for any number, then those for numbers written like telephone numbers.
pub(super) static TRIED: LazyLock<(Vec<NumberingPlan>, Vec<NumberingPlan>)> =
    LazyLock::new(|| (regions(FIRST_REGIONS), regions(OTHER_REGIONS)));

/// Returns the plans of a space-separated list of regions.
pub(super) fn regions(list: &str) -> Vec<NumberingPlan> {
    // The crate caches too few compiled expressions for all regions.
    if let Ok(mut kept) = DATABASE.cache().lock() {
        kept.set_capacity(KEPT_EXPRESSIONS);
    }
    list.split_whitespace()
        .filter_map(|region| country::Id::from_str(region).ok())
        .map(NumberingPlan::of)
        .collect()
}

/// A region with its own numbering plan, and the lengths of its numbers without a trunk prefix, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberingPlan {
    pub(super) region: country::Id,
    lengths: u64,
}

impl NumberingPlan {
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
        // Without any length, all lengths are accepted.
        Self { region, lengths: if lengths == 0 { u64::MAX } else { lengths } }
    }

    /// Returns true if these digits may be a number of the plan. Called before the plan itself, which is slow.
    pub(super) fn may_hold(&self, digits: &str) -> bool {
        self.has_length(digits) && self.has_shape(digits)
    }

    fn has_length(&self, digits: &str) -> bool {
        let has = |length: usize| self.lengths >> length & 1 == 1;
        let n_digits = digits.len().min(63);
        // A trunk prefix has one digit, in Hungary two; in Argentina mobile numbers have two more inside.
        has(n_digits)
            || digits.starts_with(['0', '1', '8']) && (has(n_digits - 1) || n_digits > 2 && has(n_digits - 2))
            || n_digits > 2 && has(n_digits - 2) && digits.contains("15")
    }

    /// Returns true if the digits without a prefix begin like a number of the plan.
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

/// Returns one expression for all kinds of numbers of a plan and of plans with the same country code; `None` if a
/// national prefix is more than removed.
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

/// Returns an expression that matches one of several at the start of a text.
fn anchored(expressions: &[&str]) -> Option<Regex> {
    let any = format!("^(?:{})", expressions.join(")|^(?:"));
    RegexBuilder::new(&any).ignore_whitespace(true).unicode(false).build().ok()
}

/// Returns the expressions of all kinds of numbers that can be dialled.
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

    /// Returns true if the plan itself accepts the digits.
    fn is_valid(plan: NumberingPlan, digits: &str) -> bool {
        phonenumber::parse(Some(plan.region), digits).is_ok_and(|number| number.is_valid())
    }

    fn all() -> impl Iterator<Item = NumberingPlan> {
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
        fn digits_without_the_shape_are_never_valid(digits in "[0-9]{7,12}") {
            for plan in all().filter(|plan| !plan.has_shape(&digits)) {
                prop_assert!(!is_valid(plan, &digits), "{plan:?}");
            }
        }
    }
}
