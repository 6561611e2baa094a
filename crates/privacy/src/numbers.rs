//! Assigns numbers to values: the same value has the same number in the whole run, in the order of first occurrence.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{FoundValue, PrivacyKind, ValueStatus};

/// The numbers of all values so far.
#[derive(Debug, Default)]
pub struct Numbers {
    given: FxHashMap<(PrivacyKind, String), u64>,
    taken: FxHashSet<(PrivacyKind, u64)>,
    last: FxHashMap<PrivacyKind, u64>,
}

/// Returns the kind under which a kind is numbered: keys and tokens share numbers, as words announce a secret as
/// either.
pub(super) fn space(kind: PrivacyKind) -> PrivacyKind {
    if kind == PrivacyKind::Token { PrivacyKind::Key } else { kind }
}

impl Numbers {
    /// Reserves the number of a placeholder that is already in the log. All have to be reserved before the first
    /// assignment.
    pub fn take(&mut self, kind: PrivacyKind, number: u64) {
        self.taken.insert((space(kind), number));
    }

    /// Assigns a number to a value, if it has none.
    pub fn learn(&mut self, kind: PrivacyKind, value: &str) {
        let kind = space(kind);
        let key = (kind, value.to_owned());
        if self.given.contains_key(&key) {
            return;
        }
        let last = self.last.entry(kind).or_default();
        *last += 1;
        while self.taken.contains(&(kind, *last)) {
            *last += 1;
        }
        self.given.insert(key, *last);
    }

    /// Returns the number of a personal value; `None` for a placeholder and for an unknown value.
    pub fn of(&self, found: &FoundValue) -> Option<u64> {
        if found.status != ValueStatus::Personal {
            return None;
        }
        self.given.get(&(space(found.kind), found.value.clone())).copied()
    }
}
