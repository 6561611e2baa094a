//! Cues: features of a function that could make a rule fire, collected in one pass.
//!
//! Most rules look for one key, and most functions have none of these keys. So each function is scanned once for all
//! cues, and a rule visits only functions with one of its own. A rule without cues visits the whole list. Cues only
//! save time and never decide: a cue without effect costs one visit.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::keys::{aliases, keywords};
use super::marks;
use super::regular::is_regular;
use crate::combining::COMBINING;
use callsieve_bfcl::types::Type;

/// A set of cues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cues(u32);

/// One feature that a rule looks for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cue {
    /// A function that deviates from the regular form in any way.
    Irregular,
    /// A key that combines schemas.
    Combining,
    /// An alias of a BFCL key.
    Alias,
    /// A constraint on a value.
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
    /// A type that is not one of BFCL's words.
    ForeignType,
    /// A type that is not a text.
    OddType,
    /// A part of a schema whose JSON type does not match its key.
    OddPart,
    /// A `required`, or a similar mark, in a nested schema.
    DeeperRequired,
}

/// The cues of each key, at any depth.
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

/// Returns all keys that are cues.
#[cfg(test)]
pub(crate) fn keys() -> Vec<&'static str> {
    let mut keys: Vec<_> = OF_KEY.keys().copied().collect();
    keys.sort_unstable();
    keys
}

/// The depth of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Function,
    Parameters,
    Deeper,
}

impl Cues {
    /// All cues.
    pub(super) const ALL: Self = Self(u32::MAX);

    /// Returns the cues of a function.
    pub(super) fn of(function: &Value) -> Self {
        let mut cues = Self::default();
        if let Value::Object(members) = function {
            cues.look_at_members(members, Level::Function);
        }
        cues.note(Cue::Irregular, !is_regular(function));
        cues
    }

    /// Returns the set of the cues in a list; all cues if it is empty.
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

    /// Returns true if two sets share a cue.
    pub(super) fn meet(self, other: Self) -> bool {
        other.are_all() || self.0 & other.0 != 0
    }

    /// Returns true for the set of all cues, with which a rule visits every list.
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
            if let Some(found) = OF_KEY.get(key.as_str()) {
                self.0 |= found.0;
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
