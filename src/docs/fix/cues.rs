//! What in a function could make a rule fire, found in one look at it.
//!
//! Most rules ask for one key, and most functions have none of those keys. So a function
//! is looked through once for all cues, and a rule visits only the functions that have
//! one of its own. A rule without cues visits all. Cues only save work: they never
//! decide, and a cue that is there for nothing costs no more than a visit.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::notation::TYPES;
use crate::docs::holders::HOLDERS;

/// A set of cues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cues(u128);

/// What a rule waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cue {
    /// A key, anywhere in the function.
    Key(&'static str),
    /// A type that is none of BFCL's words.
    ForeignType,
    /// A type that is no word at all.
    OddType,
    /// A part of a schema that is of another kind than its key asks for.
    OddPart,
    /// A `required` deeper than that of the parameters.
    DeeperRequired,
    /// Parameters under another key than their own.
    HeldElsewhere,
}

/// The keys that are cues, one bit each.
const KEYS: [&str; 47] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "const",
    "title",
    "api_call",
    "enum",
    "default",
    "required_parameters",
    "optional_parameters",
    "desc",
    "summary",
    "doc",
    "type_",
    "data_type",
    "dataType",
    "property",
    "prefixItems",
    "default_value",
    "defaultValue",
    "enums",
    "choices",
    "allowed_values",
    "allowedValues",
    "possible_values",
    "valid_values",
    "enum_values",
    "options",
    "values",
    "format_",
    "format",
    "pattern",
    "minimum",
    "min",
    "exclusiveMinimum",
    "maximum",
    "max",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "required",
];

static BITS: LazyLock<FxHashMap<&str, u32>> =
    LazyLock::new(|| KEYS.iter().zip(0..).map(|(key, bit)| (*key, bit)).collect());

/// How deep an object stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Function,
    Parameters,
    Deeper,
}

impl Cues {
    /// All cues at once.
    pub(super) const ALL: Self = Self(u128::MAX);

    /// The cues of a function.
    pub(super) fn of(function: &Value) -> Self {
        let mut cues = Self::default();
        if let Value::Object(members) = function {
            cues.look_at_members(members, Level::Function);
            cues.note(Cue::HeldElsewhere, members.keys().any(|key| HOLDERS.contains(&key.as_str())));
        }
        cues
    }

    /// The cues of a list of them; all where it is empty.
    pub(super) const fn among(list: &[Cue]) -> Self {
        if list.is_empty() {
            return Self::ALL;
        }
        let (mut cues, mut n) = (0, 0);
        while n < list.len() {
            cues |= 1 << list[n].bit();
            n += 1;
        }
        Self(cues)
    }

    /// Whether the two have one in common.
    pub(super) fn meet(self, other: Self) -> bool {
        other == Self::ALL || self.0 & other.0 != 0
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
            if let Some(bit) = BITS.get(key.as_str()) {
                self.0 |= 1 << bit;
            }
            self.note(Cue::DeeperRequired, key == "required" && level == Level::Deeper);
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
                self.note(Cue::ForeignType, !TYPES.contains(&word.as_str()));
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
        self.0 |= u128::from(is_there) << cue.bit();
    }
}

impl Cue {
    const fn bit(self) -> u32 {
        match self {
            Self::Key(key) => bit_of(key),
            Self::HeldElsewhere => 122,
            Self::ForeignType => 124,
            Self::OddType => 125,
            Self::OddPart => 126,
            Self::DeeperRequired => 127,
        }
    }
}

/// The bit of a key, told while compiling: so a key that is in no table does not compile.
const fn bit_of(key: &str) -> u32 {
    let (mut n, mut bit) = (0, 0);
    while n < KEYS.len() {
        if is_same(KEYS[n].as_bytes(), key.as_bytes()) {
            return bit;
        }
        n += 1;
        bit += 1;
    }
    panic!("every key that a rule waits for is in the table")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut n = 0;
    while n < a.len() && n < b.len() && a[n] == b[n] {
        n += 1;
    }
    a.len() == b.len() && n == a.len()
}
