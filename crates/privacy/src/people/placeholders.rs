//! The placeholders of names and street addresses: `Person 7`, `7 Example Street`.

use std::sync::LazyLock;

use regex::Regex;

use crate::{FoundValue, PrivacyKind, ValueStatus};

/// The word of a name's placeholder, and the street of an address's.
const PERSON: &str = "Person ";
const STREET: &str = " Example Street";

/// Returns the placeholder of a street address.
pub(crate) fn street(number: u64) -> String {
    format!("{number}{STREET}")
}

/// Returns true if a text is such a placeholder or has one in it.
pub fn is_placeholder(text: &str) -> bool {
    let mut found = Vec::new();
    find(text, &mut found);
    !found.is_empty()
}

/// Returns true if a text may have such a placeholder.
pub(crate) fn may_hold(text: &str) -> bool {
    text.contains(PERSON) || text.contains(STREET)
}

/// Finds the placeholders in a text.
pub(crate) fn find(text: &str, found: &mut Vec<FoundValue>) {
    static PLACEHOLDERS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?-u:\b)(?:Person ([0-9]{1,9})|([0-9]{1,9}) Example Street)(?-u:\b)")
            .expect("it is a pattern")
    });
    if !may_hold(text) {
        return;
    }
    for captures in PLACEHOLDERS.captures_iter(text) {
        let kinds = [(1, PrivacyKind::Name), (2, PrivacyKind::StreetAddress)];
        let Some(whole) = captures.get(0) else { continue };
        for (group, kind) in kinds {
            if let Some(number) = captures.get(group).and_then(|digits| digits.as_str().parse().ok()) {
                let status = ValueStatus::Placeholder(Some(number));
                found.push(FoundValue::new(kind, whole.start(), whole.end(), "", status));
            }
        }
    }
}
