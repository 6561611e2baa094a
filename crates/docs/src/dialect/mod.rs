//! Unwraps functions from the formats of other APIs and of people.
//!
//! `tables` has one row per word: containers (`{"tools": […]}`), wrappers of one function (`{"type": "function",
//! "function": {…}}`) and other names for a function's own keys (`input_schema`). A new dialect is a new row. Only
//! wrappers are removed; the inside of a function is unchanged and left to `fix`. An element that is not a function
//! makes the whole list unreadable, with two exceptions: switches of a server's own tools are omitted with a step, and
//! unreadable operations of an API description are reported in a fault. An entry of a server catalogue contributes the
//! tools it lists. Repeated keys in a string with JSON are faults that accompany the functions.

mod by_name;
mod catalogue;
mod held;
mod inner;
mod own_keys;
mod prose;
mod server;
mod tables;

use serde_json::{Map, Value};

use crate::holders::HOLDERS;
use crate::json_type;
use crate::parse::fault::{ParseFault, ParseFaultKind};
use crate::parse::step::{self, ParseStep};
use crate::parse::trail::MAX_REPEATED;
use crate::{source, spec};
use by_name::{members_by_name, named_by_key};
use callsieve_notation::allowance::Allowance;
use callsieve_notation::repeated::Repeated;
use held::{held, inherit, is_container};
use inner::Inner;

/// The maximum number of nested wrappers.
const MAX_FRAMES: usize = 8;

/// Returns the functions of a value, each an object with a name; `steps` records the removed wrappers.
///
/// # Errors
/// If there is no function, or an element is not a function: a part of a list is not what was sent.
pub fn functions(value: Value, steps: &mut Vec<ParseStep>) -> Result<Vec<Value>, ParseFault> {
    let mut faults = Vec::new();
    let functions = readable_functions(value, steps, &mut faults, &Allowance::of(""))?;
    faults.into_iter().next().map_or(Ok(functions), Err)
}

/// Returns the functions of a value like [`functions`], within an allowance that several values share.
///
/// # Errors
/// As [`functions`], and if the functions would take more than the allowance.
pub fn functions_within(
    value: Value,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Result<Vec<Value>, ParseFault> {
    let mut faults = Vec::new();
    let functions = readable_functions(value, steps, &mut faults, allowance)?;
    if allowance.is_exceeded() {
        return Err(ParseFault::new(
            ParseFaultKind::TooLarge,
            "the functions take far more memory than their text",
        ));
    }
    faults.into_iter().next().map_or(Ok(functions), Err)
}

/// Returns the readable functions; `faults` records the faults despite which they were read.
///
/// # Errors
/// If there is no function, or an element of a list is not a function.
pub(crate) fn readable_functions(
    value: Value,
    steps: &mut Vec<ParseStep>,
    faults: &mut Vec<ParseFault>,
    allowance: &Allowance,
) -> Result<Vec<Value>, ParseFault> {
    let n_faults = faults.len();
    let mut collector = Collector { functions: Vec::new(), steps, faults, allowance };
    match value {
        Value::Array(_) => {}
        Value::Object(_) => collector.note(ParseStep::BareObject),
        _ => {
            return Err(ParseFault::new(
                ParseFaultKind::NoFunctions,
                format!("the value is {}", json_type::phrase(&value)),
            ));
        }
    }
    collector.collect(value, MAX_FRAMES)?;
    let functions = collector.functions;
    if functions.is_empty() {
        let none = || ParseFault::new(ParseFaultKind::NoFunctions, "the text contains no function");
        return Err(faults.drain(n_faults..).next().unwrap_or_else(none));
    }
    Ok(functions)
}

struct Collector<'s> {
    functions: Vec<Value>,
    steps: &'s mut Vec<ParseStep>,
    faults: &'s mut Vec<ParseFault>,
    allowance: &'s Allowance,
}

impl Collector<'_> {
    fn collect(&mut self, value: Value, frames: usize) -> Result<(), ParseFault> {
        let Some(frames) = frames.checked_sub(1) else {
            let message = format!("more than {MAX_FRAMES} wrappers around a function");
            return Err(ParseFault::new(ParseFaultKind::TooDeep, message));
        };
        match value {
            Value::Array(values) => {
                if values.iter().any(Value::is_array) {
                    self.note(ParseStep::NestedList);
                }
                values.into_iter().try_for_each(|value| self.collect(value, frames))
            }
            Value::Object(map) => self.collect_object(map, frames),
            Value::String(text) => self.collect_text(&text, frames),
            other => Err(self.not_a_function(json_type::phrase(&other))),
        }
    }

    fn collect_text(&mut self, text: &str, frames: usize) -> Result<(), ParseFault> {
        if let Some(inner) = Inner::read(text, self.allowance) {
            self.note(ParseStep::JsonString);
            self.note_repeated(&inner.repeated);
            return self.collect(inner.value, frames);
        }
        match source::functions(text, self.steps, self.allowance) {
            Some(source) => {
                let source = source?;
                // Places are offsets in the string, which is not a part of the text as sent.
                self.faults.extend(source.faults.into_iter().map(|fault| ParseFault { at: None, ..fault }));
                self.collect(Value::Array(source.functions), frames)
            }
            None => Err(self.not_a_function("a string")),
        }
    }

    fn collect_object(&mut self, mut map: Map<String, Value>, frames: usize) -> Result<(), ParseFault> {
        if map.is_empty() {
            let message = "an object without keys, expected a function";
            return Err(ParseFault::new(ParseFaultKind::NoFunctions, message));
        }
        if server::is_switch(&map) {
            self.note(ParseStep::ServerToolLeftOut);
            return Ok(());
        }
        if !is_named(&map)
            && let Some((functions, fault)) = spec::functions(&map, self.steps, self.allowance)
        {
            self.functions.extend(functions);
            self.faults.extend(fault);
            return Ok(());
        }
        // An object with parameters is a function, whatever else it has.
        let is_server = catalogue::is_server(&map);
        let is_function = holds_parameters(&map) && !is_server;
        let mut held = if is_function { Vec::new() } else { held(&mut map) };
        if !held.is_empty() {
            inherit(&mut held, &map);
            if server::has_switches(&map) {
                self.note(ParseStep::ServerToolLeftOut);
            }
            return self.collect_held(held, frames);
        }
        if is_server || is_map_of_servers(&map) {
            return Err(no_tools(&map));
        }
        let map = self.with_own_keys(map);
        if is_named(&map) {
            self.functions.push(Value::Object(map));
            return Ok(());
        }
        self.collect_map(map, frames)
    }

    /// Collects the values under several keys of an object; equal lists count once.
    fn collect_held(&mut self, held: Vec<(Value, ParseStep)>, frames: usize) -> Result<(), ParseFault> {
        let start = self.functions.len();
        for (inner, step) in held {
            self.note(step);
            let end = self.functions.len();
            self.collect(inner, frames)?;
            let (earlier, new) = self.functions[start..].split_at(end - start);
            if earlier == new {
                self.functions.truncate(end);
            }
        }
        Ok(())
    }

    /// Collects from an object that is not a function: a map from names to functions, prose or servers.
    fn collect_map(&mut self, map: Map<String, Value>, frames: usize) -> Result<(), ParseFault> {
        if let Some((functions, repeated)) = prose::functions(&map, self.allowance) {
            self.note_repeated(&repeated);
            self.note(ParseStep::ProseMap);
            return self.collect(Value::Array(functions), frames);
        }
        if map.values().all(is_container) {
            self.note(ParseStep::ServerMap);
            return map.into_iter().try_for_each(|(_, value)| self.collect(value, frames));
        }
        if let Some(members) = members_by_name(&map, self.allowance) {
            self.note(ParseStep::FunctionMap);
            for (name, (member, repeated)) in members {
                self.note_repeated(&repeated);
                let member = self.with_own_keys(member);
                if is_named(&member) && member.get("name").is_some_and(|own| *own != name) {
                    self.note(ParseStep::OwnName);
                }
                self.functions.push(named_by_key(name, member));
            }
            return Ok(());
        }
        let found = match map.get("name") {
            Some(Value::String(_)) => "its name is empty".to_owned(),
            Some(other) => format!("its name is {}", json_type::phrase(other)),
            None => format!("its keys are {}", listed(map.keys())),
        };
        let message = format!("function {} has no name: {found}", self.functions.len());
        Err(ParseFault::new(ParseFaultKind::MissingName, message))
    }

    fn note_repeated(&mut self, repeated: &[Repeated]) {
        self.faults
            .extend(repeated.iter().take(MAX_REPEATED).map(|repeated| ParseFault::repeated(&repeated.key)));
    }

    fn not_a_function(&self, found: &str) -> ParseFault {
        let message = format!("function {} is {found}, not an object", self.functions.len());
        ParseFault::new(ParseFaultKind::NotAFunction, message)
    }

    /// Records a step once, for any number of functions.
    fn note(&mut self, step: ParseStep) {
        step::note(self.steps, step);
    }
}

/// Returns true if the object has parameters, under any name.
fn holds_parameters(map: &Map<String, Value>) -> bool {
    map.contains_key("parameters") || HOLDERS.iter().any(|key| map.contains_key(*key))
}

/// Returns true if the object maps names to servers, none of which lists tools.
fn is_map_of_servers(map: &Map<String, Value>) -> bool {
    let is_bare = |value: &Value| {
        value.as_object().is_some_and(|server| catalogue::is_server(server) && !is_container(value))
    };
    !map.is_empty() && map.values().all(is_bare)
}

/// Returns the fault of a server, or a map of servers, without tools.
fn no_tools(map: &Map<String, Value>) -> ParseFault {
    let name = map.get("name").and_then(Value::as_str).or_else(|| map.keys().next().map(String::as_str));
    let name: String = name.unwrap_or_default().chars().take(40).collect();
    ParseFault::new(
        ParseFaultKind::NoFunctions,
        format!("server {name:?} lists no tools, so there is nothing to call"),
    )
}

fn is_named(map: &Map<String, Value>) -> bool {
    map.get("name").and_then(Value::as_str).is_some_and(|name| !name.trim().is_empty())
}

fn listed<'a>(keys: impl Iterator<Item = &'a String>) -> String {
    keys.take(5)
        .map(|key| format!("{:?}", key.chars().take(40).collect::<String>()))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests;
