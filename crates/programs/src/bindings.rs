//! `bindings.toml`: what a person adds to an environment, so that programs reach its functions and read well.
//!
//! ```toml
//! [functions.cancel_order]
//! phrase = "cancel {order_id}[ because of {reason}]"
//!
//! [functions.cancel_order.parameters.order_id]
//! from = ["state:orders[*].id", "result:find_orders:[*].id"]
//! noun = "order"
//!
//! [parameters.currency]           # of every function
//! values = ["EUR", "USD"]
//! ```
//!
//! What the file says of a parameter replaces what the environment knows of its values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr;

use callsieve_environment::environment::{Environment, Function, ValueSource};
use callsieve_environment::value_path::{Step, ValuePath};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::pool::{accepts, is_sayable};
use crate::wording::phrase::Phrase;
use crate::wording::text::Text;

/// The file. Empty bindings add nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bindings {
    /// By function.
    pub functions: BTreeMap<String, FunctionBinding>,
    /// Of every function that has a parameter of this name, unless the function has its own.
    pub parameters: BTreeMap<String, ParameterBinding>,
}

/// What is added to a function.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FunctionBinding {
    /// The request in the imperative, with `{parameter}` for values; what is in brackets is left out if a parameter in it
    /// has no value. `None` makes one of the description.
    pub phrase: Option<String>,
    /// It is never called.
    pub skip: bool,
    /// Functions that could do the same in another way. None of them is offered where this one is to be missing.
    pub also_done_by: Vec<String>,
    /// By parameter.
    pub parameters: BTreeMap<String, ParameterBinding>,
}

/// What is added to a parameter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ParameterBinding {
    /// Where its values come from.
    pub from: Vec<BoundSource>,
    /// Values that a user could give.
    pub values: Vec<Value>,
    /// What a value is: a value `7` is written as `order 7`, a value of an earlier result as `that order`.
    pub noun: Option<String>,
    /// The form of a value in a sentence.
    pub said: Option<Said>,
    /// The phrase for a value of an earlier result.
    pub linked: Option<String>,
    /// It is always left out, although it is optional.
    pub skip: bool,
}

/// The form of a value in a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Said {
    /// Of every value, with `{}` for it: `"{} EUR"`.
    Form(String),
    /// Of each value: `true = "with a piano"`. Others are said as they are.
    Each(BTreeMap<String, String>),
}

impl Said {
    /// Returns what is said of a value that is written in this way.
    pub(crate) fn text(&self, value: &Value, written: &Text) -> Text {
        match self {
            Self::Form(form) => Text::of_template(&form.replace("{}", "{value}"), &[("value", written)]),
            Self::Each(forms) => {
                let key = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                forms.get(&key).map_or_else(|| written.clone(), |form| written.reworded(form))
            }
        }
    }

    /// Returns what is wrong with it, and a hint.
    fn fault(&self) -> Option<(String, &'static str)> {
        match self {
            Self::Form(form) if !form.contains("{}") => Some((
                format!("said: found \"{form}\", which has no {{}} for the value"),
                "write \"{} EUR\", or a table with the words of each value: { true = \"with a piano\" }",
            )),
            Self::Each(forms) => forms.iter().find(|(_, words)| words.trim().is_empty()).map(|(value, _)| {
                (format!("said: found no words for {value}"), "write the words that a person would use")
            }),
            Self::Form(_) => None,
        }
    }
}

/// A place of values: `state:PATH` or `result:FUNCTION:PATH`.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundSource(pub ValueSource);

impl FromStr for BoundSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = |path: &str| path.parse::<ValuePath>().map_err(|fault| fault.to_string());
        if let Some(place) = text.strip_prefix("state:") {
            return Ok(Self(ValueSource::State { path: path(place)? }));
        }
        match text.strip_prefix("result:").and_then(|rest| rest.split_once(':')) {
            Some((function, place)) => {
                Ok(Self(ValueSource::Result { function: function.to_owned(), path: path(place)? }))
            }
            None => Err(format!("found \"{text}\", expected state:PATH or result:FUNCTION:PATH")),
        }
    }
}

impl<'de> Deserialize<'de> for BoundSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// Why bindings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BindingsError {
    /// The file cannot be read.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// What the system reports.
        cause: std::io::Error,
    },
    /// The file is not of this form.
    #[error("{file}: {what}")]
    Form {
        /// The file.
        file: String,
        /// The fault, with its line.
        what: String,
    },
    /// A name in it is none of the environment.
    #[error("{file}: {what}\nhint: {hint}")]
    Unknown {
        /// The file.
        file: String,
        /// The fault.
        what: String,
        /// How to go on.
        hint: String,
    },
}

impl Bindings {
    /// Reads a file, and checks its names against an environment.
    ///
    /// # Errors
    /// The file cannot be read, has another form, or names a function or a parameter that the environment does not have.
    pub fn read(path: &Path, environment: &dyn Environment) -> Result<Self, BindingsError> {
        let text = std::fs::read_to_string(path)
            .map_err(|cause| BindingsError::File { path: path.to_owned(), cause })?;
        Self::parse(&text, &path.display().to_string(), environment)
    }

    /// Reads the text of a file of this name.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(text: &str, file: &str, environment: &dyn Environment) -> Result<Self, BindingsError> {
        let form = |what: String| BindingsError::Form { file: file.to_owned(), what };
        let bindings: Self =
            toml::from_str(text).map_err(|fault| form(fault.to_string().trim_end().to_owned()))?;
        match bindings.unknown_name(environment) {
            None => Ok(bindings),
            Some((what, hint)) => Err(BindingsError::Unknown { file: file.to_owned(), what, hint }),
        }
    }

    /// A name that the environment does not have, with a hint.
    fn unknown_name(&self, environment: &dyn Environment) -> Option<(String, String)> {
        let by_name: BTreeMap<&str, BTreeSet<&str>> = environment
            .functions()
            .iter()
            .map(|function| (function.name(), function.parameters().map(|(name, _)| name).collect()))
            .collect();
        let functions =
            || format!("the functions of {} are {}", environment.name(), list(by_name.keys().copied()));
        for (name, binding) in &self.functions {
            let Some(parameters) = by_name.get(name.as_str()) else {
                return Some((format!("unknown function \"{name}\""), functions()));
            };
            if let Some(phrase) = &binding.phrase {
                let slots = match Phrase::parse(phrase) {
                    Ok(phrase) => phrase.slots().into_iter().map(str::to_owned).collect::<Vec<_>>(),
                    Err(fault) => {
                        return Some((
                            format!("phrase of {name}: {fault}"),
                            "write {parameter}, and brackets around what may be left out".to_owned(),
                        ));
                    }
                };
                if phrase.trim().is_empty() {
                    let hint = "write the request in the imperative, or remove the line".to_owned();
                    return Some((format!("phrase of {name}: it is empty"), hint));
                }
                if let Some(unknown) = slots.iter().find(|slot| !parameters.contains(slot.as_str())) {
                    let hint = format!("its parameters are {}", list(parameters.iter().copied()));
                    return Some((format!("phrase of {name}: it has no parameter \"{unknown}\""), hint));
                }
            }
            if let Some(unknown) =
                binding.also_done_by.iter().find(|other| !by_name.contains_key(other.as_str()))
            {
                return Some((
                    format!("also_done_by of {name}: unknown function \"{unknown}\""),
                    functions(),
                ));
            }
            let bound = binding.parameters.keys();
            if let Some(unknown) = bound.into_iter().find(|bound| !parameters.contains(bound.as_str())) {
                let hint = format!("its parameters are {}", list(parameters.iter().copied()));
                return Some((format!("function {name} has no parameter \"{unknown}\""), hint));
            }
        }
        let has = |parameter: &str| by_name.values().any(|parameters| parameters.contains(parameter));
        if let Some(unknown) = self.parameters.keys().find(|parameter| !has(parameter)) {
            let hint = "remove it, or write its name as in the docs of the functions".to_owned();
            return Some((format!("no function has a parameter \"{unknown}\""), hint));
        }
        let fault = self.all_parameters().filter_map(|bound| bound.said.as_ref()).find_map(Said::fault);
        if let Some((fault, hint)) = fault {
            return Some((fault, hint.to_owned()));
        }
        if let Some(fault) = self.unusable_value(environment) {
            return Some(fault);
        }
        let sources = self.all_parameters().flat_map(|parameter| &parameter.from);
        sources.into_iter().find_map(|BoundSource(source)| match source {
            ValueSource::Result { function, .. } if !by_name.contains_key(function.as_str()) => {
                Some((format!("result of an unknown function \"{function}\""), functions()))
            }
            ValueSource::State { path } => missing_place(path, environment),
            _ => None,
        })
    }

    /// A value that no function takes, or that no sentence can hold, with a hint.
    fn unusable_value(&self, environment: &dyn Environment) -> Option<(String, String)> {
        let schemas = |name: &str, function: Option<&str>| -> Vec<Value> {
            let of =
                environment.functions().iter().filter(|known| function.is_none_or(|f| known.name() == f));
            let named =
                |known: &Function| known.parameters().find(|(own, _)| *own == name).map(|(_, s)| s.clone());
            of.filter_map(named).collect()
        };
        let of_functions = self.functions.iter().flat_map(|(function, binding)| {
            let bound = binding.parameters.iter();
            bound.map(move |(name, bound)| {
                (format!("{function}.{name}"), schemas(name, Some(function)), bound)
            })
        });
        let of_all = self.parameters.iter().map(|(name, bound)| (name.clone(), schemas(name, None), bound));
        of_functions.chain(of_all).find_map(|(place, schemas, bound)| {
            let values = &bound.values;
            if let Some(value) = values.iter().find(|value| !schemas.iter().any(|schema| accepts(schema, value))) {
                let what = format!("values of {place}: found {value}, which its doc does not allow");
                let hint = schemas.first().map(expected).unwrap_or_default();
                return Some((what, hint));
            }
            let value = values.iter().find(|value| !is_sayable(value))?;
            let hint = "a value is at most 80 characters on one line, a list of 1 to 6 values, or an object of 1 to 4 members without objects in them";
            Some((format!("values of {place}: {value} cannot be put into a sentence"), hint.to_owned()))
        })
    }

    fn all_parameters(&self) -> impl Iterator<Item = &ParameterBinding> {
        let of_functions = self.functions.values().flat_map(|function| function.parameters.values());
        of_functions.chain(self.parameters.values())
    }

    /// Returns what is added to a function.
    pub fn function(&self, function: &str) -> Option<&FunctionBinding> {
        self.functions.get(function)
    }

    /// Returns what is added to a parameter of a function; what the function does not say is that of every function.
    pub fn parameter(&self, function: &str, parameter: &str) -> Option<ParameterBinding> {
        let own = self.functions.get(function).and_then(|function| function.parameters.get(parameter));
        let general = self.parameters.get(parameter);
        let (Some(own), Some(general)) = (own, general) else { return own.or(general).cloned() };
        let has_values = !(own.from.is_empty() && own.values.is_empty());
        let of_values = if has_values { own } else { general };
        Some(ParameterBinding {
            from: of_values.from.clone(),
            values: of_values.values.clone(),
            noun: own.noun.clone().or_else(|| general.noun.clone()),
            said: own.said.clone().or_else(|| general.said.clone()),
            linked: own.linked.clone().or_else(|| general.linked.clone()),
            skip: own.skip || general.skip,
        })
    }
}

/// What the doc of a parameter allows, in words.
fn expected(schema: &Value) -> String {
    match (schema["enum"].as_array(), &schema["type"]) {
        (Some(listed), _) => {
            let listed: Vec<String> = listed.iter().map(Value::to_string).collect();
            format!("expected one of {}", list(listed.iter().map(String::as_str)))
        }
        (None, Value::Null) => "expected a value that the doc of the parameter allows".to_owned(),
        (None, of_type) => format!("expected a value of type {of_type}"),
    }
}

/// What is wrong with a place that no initial state has. The elements of a list that is empty everywhere may be there later,
/// and an environment may show no state at all.
fn missing_place(path: &ValuePath, environment: &dyn Environment) -> Option<(String, String)> {
    let states = environment.initial_states();
    let is_shown = |value: &Value| value.as_object().is_some_and(|members| !members.is_empty());
    if !states.iter().any(|state| is_shown(&state.value)) {
        return None;
    }
    let is_somewhere = |n_steps: usize| {
        let part = ValuePath { steps: path.steps[..n_steps].to_vec() };
        states.iter().any(|state| !part.find(&state.value).is_empty())
    };
    let missing = (1..=path.steps.len()).find(|&n_steps| !is_somewhere(n_steps))?;
    let Step::Member(name) = &path.steps[missing - 1] else { return None };
    let around = ValuePath { steps: path.steps[..missing - 1].to_vec() };
    let mut members: BTreeSet<String> = BTreeSet::new();
    for value in states.iter().flat_map(|state| around.find(&state.value)) {
        members.extend(value.as_object().into_iter().flatten().map(|(name, _)| name.clone()));
    }
    let hint = format!("the names at this place are {}", list(members.iter().map(String::as_str)));
    Some((format!("state:{path}: no initial state has \"{name}\" there"), hint))
}

/// Names in a list, at most 40.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST: usize = 40;
    let names: Vec<&str> = names.collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MOST)].join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_words_of_each_value_are_said() {
        let said = |form: Value| serde_json::from_value::<Said>(form).unwrap();
        let text = |said: &Said, value: Value, written: &str| {
            let text = said.text(&value, &Text::value(written.to_owned(), 0, "piano"));
            let mention = &text.mentions[0];
            let found: String =
                text.text.chars().skip(mention.start).take(mention.end - mention.start).collect();
            (text.text.clone(), found)
        };
        let own = |words: &str| (words.to_owned(), words.to_owned());
        let each = said(json!({"true": "with a piano", "held": "past"}));
        assert_eq!(text(&each, json!(true), "yes"), own("with a piano"));
        assert_eq!(text(&each, json!("held"), "held"), own("past"));
        assert_eq!(text(&each, json!(false), "no"), own("no"));
        let of_all = said(json!("{} EUR"));
        assert_eq!(text(&of_all, json!(5), "5"), ("5 EUR".to_owned(), "5".to_owned()));
        assert_eq!((each.fault(), of_all.fault()), (None, None));
        for wrong in [json!("with a piano"), json!({"true": " "})] {
            assert!(said(wrong.clone()).fault().is_some(), "{wrong}");
        }
    }
}
