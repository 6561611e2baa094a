//! What in a function could make a rule fire, found in one look at it.
//!
//! Most rules ask for one key, and most functions have none of those keys. So a function
//! is looked through once for all cues, and a rule visits only the functions that have
//! one of its own. A rule without cues looks at the list as a whole. Cues only save work: they never
//! decide, and a cue that is there for nothing costs no more than a visit.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::keys::{aliases, keywords};
use super::marks;
use super::regular::is_regular;
use crate::bfcl::types::Type;
use crate::docs::combining::COMBINING;

/// A set of cues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cues(u32);

/// What a rule waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cue {
    /// A function that is not regular to the last key.
    Irregular,
    /// A key that puts a schema together from others.
    Combining,
    /// A key that is another word for one of BFCL's.
    Alias,
    /// A key that bounds a value.
    Constraint,
    /// `const`.
    Constant,
    /// `enum`.
    Enum,
    /// `default`.
    Default,
    /// `title`.
    Title,
    /// `api_call`.
    ApiCall,
    /// A type that is none of BFCL's words.
    ForeignType,
    /// A type that is no word at all.
    OddType,
    /// A part of a schema that is of another kind than its key asks for.
    OddPart,
    /// A `required`, or another mark of that kind, deeper than that of the parameters.
    DeeperRequired,
}

/// What each key tells, wherever it stands.
static OF_KEY: LazyLock<FxHashMap<&str, Cues>> = LazyLock::new(|| {
    let own = [("const", Cue::Constant), ("enum", Cue::Enum), ("default", Cue::Default)];
    let all = own.into_iter().chain([("title", Cue::Title), ("api_call", Cue::ApiCall)]);
    let all = all.chain(COMBINING.map(|key| (key, Cue::Combining)));
    let all = all.chain(aliases().map(|key| (key, Cue::Alias)));
    let all = all.chain(keywords().map(|key| (key, Cue::Constraint)));
    let mut of_key: FxHashMap<&str, Cues> = FxHashMap::default();
    for (key, cue) in all {
        of_key.entry(key).or_default().0 |= cue.bit();
    }
    of_key
});

/// All keys that wake a rule.
#[cfg(test)]
pub(crate) fn keys() -> Vec<&'static str> {
    let mut keys: Vec<_> = OF_KEY.keys().copied().collect();
    keys.sort_unstable();
    keys
}

/// How deep an object stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Function,
    Parameters,
    Deeper,
}

impl Cues {
    /// All cues at once.
    pub(super) const ALL: Self = Self(u32::MAX);

    /// The cues of a function.
    pub(super) fn of(function: &Value) -> Self {
        let mut cues = Self::default();
        if let Value::Object(members) = function {
            cues.look_at_members(members, Level::Function);
        }
        cues.note(Cue::Irregular, !is_regular(function));
        cues
    }

    /// The cues of a list of them; all where it is empty.
    pub(super) const fn among(list: &[Cue]) -> Self {
        if list.is_empty() {
            return Self::ALL;
        }
        let (mut cues, mut n) = (0, 0);
        while n < list.len() {
            cues |= list[n].bit();
            n += 1;
        }
        Self(cues)
    }

    /// Whether the two have one in common.
    pub(super) fn meet(self, other: Self) -> bool {
        other.are_all() || self.0 & other.0 != 0
    }

    /// Whether a rule that waits for these looks at every list.
    pub(super) fn are_all(self) -> bool {
        self == Self::ALL
    }

    fn look_at(&mut self, value: &Value) {
        match value {
            Value::Object(map) => self.look_at_members(map, Level::Deeper),
            Value::Array(values) => values.iter().for_each(|value| self.look_at(value)),
            _ => {}
        }
    }

    fn look_at_members(&mut self, map: &Map<String, Value>, level: Level) {
        for (key, value) in map {
            if let Some(told) = OF_KEY.get(key.as_str()) {
                self.0 |= told.0;
            }
            self.note(Cue::DeeperRequired, level == Level::Deeper && marks::is_word(key));
            self.look_at_part(key, value);
            match value {
                Value::Object(inner) if key == "parameters" && level == Level::Function => {
                    self.look_at_members(inner, Level::Parameters);
                }
                _ => self.look_at(value),
            }
        }
    }

    fn look_at_part(&mut self, key: &str, value: &Value) {
        match (key, value) {
            ("type", Value::String(word)) => {
                self.note(Cue::ForeignType, Type::named(word).is_none());
            }
            ("type", _) => self.note(Cue::OddType, true),
            ("properties", Value::Object(members)) => {
                self.note(Cue::OddPart, !members.values().all(Value::is_object));
            }
            ("enum" | "required", Value::Array(_)) | ("items", Value::Object(_)) => {}
            ("enum" | "required" | "items" | "properties", _) => self.note(Cue::OddPart, true),
            _ => {}
        }
    }

    fn note(&mut self, cue: Cue, is_there: bool) {
        if is_there {
            self.0 |= cue.bit();
        }
    }
}

impl Cue {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}
