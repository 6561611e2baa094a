//! Who has which number: the same value the same in a whole run, in the order in which values first occur.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Found, Kind, Standing};

/// The numbers of the values met so far.
#[derive(Debug, Default)]
pub struct Numbers {
    given: FxHashMap<(Kind, String), u64>,
    taken: FxHashSet<(Kind, u64)>,
    last: FxHashMap<Kind, u64>,
}

/// Keys and tokens are numbered together: one secret can be announced as either.
pub(super) fn space(kind: Kind) -> Kind {
    if kind == Kind::Token { Kind::Key } else { kind }
}

impl Numbers {
    /// Notes that a placeholder of ours stands in the log already. All are to be noted before the first number is given.
    pub fn take(&mut self, kind: Kind, number: u64) {
        self.taken.insert((space(kind), number));
    }

    /// Gives a value a number, if it has none.
    pub fn learn(&mut self, kind: Kind, value: &str) {
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

    /// The number of a personal value; `None` for a placeholder and for a value not met before.
    pub fn of(&self, found: &Found) -> Option<u64> {
        if found.standing != Standing::Personal {
            return None;
        }
        self.given.get(&(space(found.kind), found.value.clone())).copied()
    }
}
