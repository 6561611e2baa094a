//! Each API's rules for names.
//!
//! Only dots are replaced, as in BFCL's own converter. A name that is still refused is unchanged and reported as a
//! fault: a shortened or transliterated name would be an invention.

use std::collections::HashMap;

use serde_json::Value;

use super::reasons::{COLLIDING_NAME, REFUSED_NAME};
use super::{Api, ConversionFault};
use crate::fix::walk::{SchemaPlace, each_function, each_schema};

/// Characters allowed in names other than ASCII letters, digits and underscores, and the maximum length.
struct NameRule {
    other_chars: &'static [char],
    max_chars: usize,
}

impl Api {
    /// Returns the rule for names of functions.
    fn function_names(self) -> NameRule {
        match self {
            // Gemini's documentation allows dots today; earlier versions of the API refuse them.
            Self::OpenAi | Self::Gemini => NameRule { other_chars: &['-'], max_chars: 64 },
            Self::Anthropic => NameRule { other_chars: &['-'], max_chars: 128 },
            Self::Mcp => NameRule { other_chars: &['-', '.'], max_chars: 128 },
        }
    }

    /// Returns the rule for names of parameters, if the API has one.
    fn parameter_names(self) -> Option<NameRule> {
        match self {
            Self::Anthropic => Some(NameRule { other_chars: &['-', '.'], max_chars: 64 }),
            Self::Gemini => Some(NameRule { other_chars: &[], max_chars: 64 }),
            Self::OpenAi | Self::Mcp => None,
        }
    }
}

impl NameRule {
    fn takes(&self, c: char) -> bool {
        c == '_' || c.is_ascii_alphanumeric() || self.other_chars.contains(&c)
    }

    /// Returns the reason for which the API refuses a name.
    fn problem(&self, name: &str) -> Option<String> {
        if let Some(c) = name.chars().find(|c| !self.takes(*c)) {
            return Some(format!("{name:?} has the character {c:?}, which the API does not allow"));
        }
        let n_chars = name.chars().count();
        (n_chars > self.max_chars)
            .then(|| format!("{name:?} has {n_chars} characters, the API takes {}", self.max_chars))
    }
}

/// Returns the name of a function in the API.
pub(super) fn name_in(api: Api, name: &str) -> String {
    if api.function_names().takes('.') { name.to_owned() } else { name.replace('.', "_") }
}

/// Returns the names of functions and parameters that the API refuses.
pub(super) fn refused(functions: &[Value], api: Api) -> Vec<ConversionFault> {
    let mut faults = Vec::new();
    let mut add = |at: String, problem: Option<String>| {
        faults.extend(problem.map(|message| ConversionFault { reason: REFUSED_NAME.code, at, message }));
    };
    each_function(functions, |at, function| {
        if let Some(name) = function.get("name").and_then(Value::as_str) {
            add(format!("{at}/name"), api.function_names().problem(&name_in(api, name)));
        }
    });
    if let Some(rule) = api.parameter_names() {
        each_schema(functions, |site, _| {
            if let SchemaPlace::Parameter(name) = site.place {
                add(site.pointer.to_owned(), rule.problem(name));
            }
        });
    }
    faults
}

/// Returns functions with different names in BFCL and the same name in the API.
pub(super) fn colliding(functions: &[Value], api: Api) -> Vec<ConversionFault> {
    let mut first_names: HashMap<String, &str> = HashMap::new();
    let mut faults = Vec::new();
    each_function(functions, |at, function| {
        let Some(name) = function.get("name").and_then(Value::as_str) else { return };
        let converted = name_in(api, name);
        let other = *first_names.entry(converted.clone()).or_insert(name);
        if other != name {
            let message = format!("{other:?} and {name:?} both become {converted:?}");
            faults.push(ConversionFault { reason: COLLIDING_NAME.code, at: format!("{at}/name"), message });
        }
    });
    faults
}
