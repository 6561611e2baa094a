//! Takes functions out of the frames that APIs and people put around them.
//!
//! `tables` has one row a word: containers (`{"tools": […]}`), frames around one function
//! (`{"type": "function", "function": {…}}`) and other names for a function's own keys
//! (`input_schema`). A new dialect is a new row. Only frames go; what is inside a function
//! stays as it was sent, and is for `fix`. An element that is no function refuses the whole
//! list, but for the switches of a server's own tools, which are left out with a step,
//! and for operations of an API description, which are named by a fault. Keys that stand
//! twice in a string that holds JSON are faults beside the functions.

mod prose;
mod server;
mod tables;

use serde_json::{Map, Value};

use crate::allowance::{Allowance, bytes_of};
use crate::docs::holders::{HOLDERS, are_held_for_fix};
use crate::docs::parse::fault::{Fault, ParseFault};
use crate::docs::parse::step::Step;
use crate::docs::parse::strict;
use crate::docs::parse::trail::MAX_REPEATED;
use crate::docs::patch::rename_key;
use crate::docs::{source, spec};
use crate::python;
use crate::python::repeated::Repeated;
use tables::{ABOUT_ANSWERS, ALIASES, CONTAINERS, FRAMES, PLACES, SCHEMA_HOLDERS, SCHEMA_PARTS};

/// How many frames may stand inside one another.
const MAX_FRAMES: usize = 8;

/// The functions of a value, each an object with a name; `steps` takes note of the frames that went.
///
/// # Errors
/// Where no function is found, or one of the elements is none: half a list is not what was sent.
pub fn functions(value: Value, steps: &mut Vec<Step>) -> Result<Vec<Value>, Fault> {
    let mut faults = Vec::new();
    let functions = readable_functions(value, steps, &mut faults, &Allowance::of(""))?;
    faults.into_iter().next().map_or(Ok(functions), Err)
}

/// The functions that can be read; `faults` takes note of that in spite of which they were.
///
/// # Errors
/// Where no function is found, or an element of a list is none.
pub(crate) fn readable_functions(
    value: Value,
    steps: &mut Vec<Step>,
    faults: &mut Vec<Fault>,
    allowance: &Allowance,
) -> Result<Vec<Value>, Fault> {
    let n_faults = faults.len();
    let mut collector = Collector { functions: Vec::new(), steps, faults, allowance };
    match value {
        Value::Array(_) => {}
        Value::Object(_) => collector.note(Step::BareObject),
        _ => return Err(Fault::new(ParseFault::NoFunctions, format!("the value is {}", kind(&value)))),
    }
    collector.collect(value, MAX_FRAMES)?;
    let functions = collector.functions;
    if functions.is_empty() {
        let none = || Fault::new(ParseFault::NoFunctions, "the text holds no function");
        return Err(faults.drain(n_faults..).next().unwrap_or_else(none));
    }
    Ok(functions)
}

struct Collector<'s> {
    functions: Vec<Value>,
    steps: &'s mut Vec<Step>,
    faults: &'s mut Vec<Fault>,
    allowance: &'s Allowance,
}

impl Collector<'_> {
    fn collect(&mut self, value: Value, frames: usize) -> Result<(), Fault> {
        let Some(frames) = frames.checked_sub(1) else {
            let message = format!("more than {MAX_FRAMES} frames around a function");
            return Err(Fault::new(ParseFault::TooDeep, message));
        };
        match value {
            Value::Array(values) => {
                if values.iter().any(Value::is_array) {
                    self.note(Step::NestedList);
                }
                values.into_iter().try_for_each(|value| self.collect(value, frames))
            }
            Value::Object(map) => self.collect_object(map, frames),
            Value::String(text) => self.collect_text(&text, frames),
            other => Err(self.not_a_function(kind(&other))),
        }
    }

    fn collect_text(&mut self, text: &str, frames: usize) -> Result<(), Fault> {
        if let Some(inner) = Inner::read(text, self.allowance) {
            self.note(Step::JsonString);
            self.note_repeated(&inner.repeated);
            return self.collect(inner.value, frames);
        }
        match source::functions(text, self.steps, self.allowance) {
            Some(functions) => self.collect(Value::Array(functions?), frames),
            None => Err(self.not_a_function("a string")),
        }
    }

    fn collect_object(&mut self, mut map: Map<String, Value>, frames: usize) -> Result<(), Fault> {
        if map.is_empty() {
            let message = "an object without keys stands where a function should be";
            return Err(Fault::new(ParseFault::NoFunctions, message));
        }
        if server::is_switch(&map) {
            self.note(Step::ServerToolLeftOut);
            return Ok(());
        }
        if !is_named(&map)
            && let Some((functions, fault)) = spec::functions(&map, self.steps, self.allowance)
        {
            self.functions.extend(functions);
            self.faults.extend(fault);
            return Ok(());
        }
        // What brings parameters is a function itself, whatever else it is called or holds.
        let mut held = if holds_parameters(&map) { Vec::new() } else { held(&mut map) };
        if !held.is_empty() {
            inherit(&mut held, &map);
            if server::stands_beside(&map) {
                self.note(Step::ServerToolLeftOut);
            }
            return self.collect_held(held, frames);
        }
        let map = self.with_own_keys(map);
        if is_named(&map) {
            self.functions.push(Value::Object(map));
            return Ok(());
        }
        self.collect_map(map, frames)
    }

    /// What an object holds under several keys; the same list under two of them is one.
    fn collect_held(&mut self, held: Vec<(Value, Step)>, frames: usize) -> Result<(), Fault> {
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

    /// An object that is no function: a map from names to functions, to prose or to whole servers.
    fn collect_map(&mut self, map: Map<String, Value>, frames: usize) -> Result<(), Fault> {
        if let Some((functions, repeated)) = prose::functions(&map, self.allowance) {
            self.note_repeated(&repeated);
            self.note(Step::ProseMap);
            return self.collect(Value::Array(functions), frames);
        }
        if map.values().all(is_container) {
            self.note(Step::ServerMap);
            return map.into_iter().try_for_each(|(_, value)| self.collect(value, frames));
        }
        if let Some(members) = members_by_name(&map, self.allowance) {
            self.note(Step::FunctionMap);
            for (name, (member, repeated)) in members {
                self.note_repeated(&repeated);
                let member = self.with_own_keys(member);
                if is_named(&member) && member.get("name").is_some_and(|own| *own != name) {
                    self.note(Step::OwnName);
                }
                self.functions.push(named_by_key(name, member));
            }
            return Ok(());
        }
        let found = match map.get("name") {
            Some(Value::String(_)) => "its name is empty".to_owned(),
            Some(other) => format!("its name is {}", kind(other)),
            None => format!("its keys are {}", listed(map.keys())),
        };
        let message = format!("function {} has no name: {found}", self.functions.len());
        Err(Fault::new(ParseFault::Nameless, message))
    }

    /// Renames what other APIs call a function's keys.
    fn with_own_keys(&mut self, mut map: Map<String, Value>) -> Map<String, Value> {
        for (alias, key, step) in ALIASES {
            let taken = map.contains_key(*key) || (*key == "parameters" && are_held_for_fix(&map));
            if !taken && map.get(*alias).is_some_and(|value| can_be(key, value)) {
                map = rename_key(map, alias, key);
                self.note(*step);
            }
        }
        if let Some(joined) = joined_places(&map, self.allowance) {
            map = joined;
            self.note(Step::ApiRecord);
        }
        if let Some(key) = only_schema(&map).map(str::to_owned) {
            map = rename_key(map, &key, "parameters");
            self.note(Step::ApiRecord);
        }
        if let Some(around) = schema_as_function(&map, self.allowance) {
            if !is_named(&map) {
                self.note(Step::NamedByTitle);
            }
            map = around;
        }
        unframe_schema(&mut map);
        map
    }

    fn note_repeated(&mut self, repeated: &[Repeated]) {
        self.faults.extend(repeated.iter().take(MAX_REPEATED).map(|repeated| Fault::repeated(&repeated.key)));
    }

    fn not_a_function(&self, found: &str) -> Fault {
        let message = format!("function {} is {found}, not an object", self.functions.len());
        Fault::new(ParseFault::NotAFunction, message)
    }

    /// Takes note of a step once, however many functions it was taken for.
    fn note(&mut self, step: Step) {
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }
}

/// Whether the object has parameters of its own, under any name.
fn holds_parameters(map: &Map<String, Value>) -> bool {
    map.contains_key("parameters") || HOLDERS.iter().any(|key| map.contains_key(*key))
}

/// Whether a value is of the kind that a function's key asks for.
fn can_be(key: &str, value: &Value) -> bool {
    match key {
        "parameters" => value.is_object() || value.is_array() || value.is_null() || value.is_string(),
        _ => value.as_str().is_some_and(|text| !text.trim().is_empty()),
    }
}

/// Takes out all that the object holds functions in, in the order of its keys.
fn held(map: &mut Map<String, Value>) -> Vec<(Value, Step)> {
    let containers = CONTAINERS.iter().map(|(path, step)| (*path, *step, holds_functions as Holds));
    let frames = FRAMES.iter().map(|(key, step)| (std::slice::from_ref(key), *step, holds_function as Holds));
    let place = |path: &[&str]| map.keys().position(|key| key == path[0]);
    let mut found: Vec<_> = containers
        .chain(frames)
        .filter(|(path, _, holds)| at_path(map, path).is_some_and(|inner| holds(path[path.len() - 1], inner)))
        .filter_map(|(path, step, _)| Some((place(path)?, path, step)))
        .collect();
    found.sort_by_key(|(place, ..)| *place);
    let mut held: Vec<_> =
        found.into_iter().filter_map(|(_, path, step)| Some((take_path(map, path)?, step))).collect();
    if held.len() > 1 {
        held.retain(|(inner, _)| !is_empty(inner));
    }
    held
}

/// Gives the only function in a frame the name and the description that stand on the frame.
fn inherit(held: &mut [(Value, Step)], frame: &Map<String, Value>) {
    let [(Value::Object(inner), step)] = held else { return };
    if !FRAMES.iter().any(|(_, of_frame)| of_frame == step) {
        return;
    }
    for key in ["name", "description"] {
        if let Some(value) = frame.get(key).filter(|value| value.is_string() && !inner.contains_key(key)) {
            inner.insert(key.to_owned(), value.clone());
        }
    }
}

/// Whether what stands under a key holds functions.
type Holds = fn(&str, &Value) -> bool;

fn at_path<'m>(map: &'m Map<String, Value>, path: &[&str]) -> Option<&'m Value> {
    let (first, below) = path.split_first()?;
    below.iter().try_fold(map.get(*first)?, |value, key| value.get(*key))
}

fn take_path(map: &mut Map<String, Value>, path: &[&str]) -> Option<Value> {
    let (last, above) = path.split_last()?;
    let holder = above.iter().try_fold(map, |map, key| map.get_mut(*key)?.as_object_mut())?;
    holder.shift_remove(*last)
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

/// Whether the value under a container's key is a list, or another form of one.
fn holds_functions(key: &str, value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        // One function under its frame's key is not a map of functions.
        Value::Object(_) => key != "function",
        Value::String(text) => text.trim_start().starts_with('['),
        _ => false,
    }
}

/// Whether the value under a frame's key is an object, or written as one.
fn holds_function(_: &str, value: &Value) -> bool {
    value.is_object() || value.as_str().is_some_and(|text| text.trim_start().starts_with('{'))
}

/// Whether a value is an object that holds a list of functions: one server's answer.
fn is_container(value: &Value) -> bool {
    value.as_object().is_some_and(|map| {
        !holds_parameters(map)
            && CONTAINERS
                .iter()
                .any(|(path, _)| path.len() == 1 && map.get(path[0]).is_some_and(Value::is_array))
    })
}

fn is_named(map: &Map<String, Value>) -> bool {
    map.get("name").and_then(Value::as_str).is_some_and(|name| !name.trim().is_empty())
}

/// The members of an object, and the keys that stand twice in the text of it.
type Members = (Map<String, Value>, Vec<Repeated>);

/// The members of an object from names to functions: every value describes one, and one at least has parameters.
fn members_by_name(map: &Map<String, Value>, allowance: &Allowance) -> Option<Vec<(String, Members)>> {
    let mut found = Vec::with_capacity(map.len());
    for (name, value) in map {
        let (member, repeated) = members(value, allowance).filter(|_| !name.trim().is_empty())?;
        let describes = member.contains_key("description") || holds_parameters(&member);
        found.push((name.clone(), describes.then_some((member, repeated))?));
    }
    found.iter().any(|(_, (member, _))| holds_parameters(member)).then_some(found)
}

/// The object, also where it is written as text.
fn members(value: &Value, allowance: &Allowance) -> Option<Members> {
    match value {
        Value::Object(map) => allowance.take(bytes_of(value)).then(|| (map.clone(), Vec::new())),
        Value::String(text) => match Inner::read(text, allowance)? {
            Inner { value: Value::Object(map), repeated } => Some((map, repeated)),
            _ => None,
        },
        _ => None,
    }
}

/// The function with its name in front: its own, or else its key.
fn named_by_key(key: String, mut members: Map<String, Value>) -> Value {
    let own = members.shift_remove("name");
    let is_name = |own: &Value| own.as_str().is_some_and(|own| !own.trim().is_empty());
    let name = own.filter(is_name).unwrap_or(Value::String(key));
    let mut function = Map::from_iter([("name".to_owned(), name)]);
    function.extend(members);
    Value::Object(function)
}

/// The object with the parameters of all places of a web request in one map; a name in two places is left.
fn joined_places(map: &Map<String, Value>, allowance: &Allowance) -> Option<Map<String, Value>> {
    if are_held_for_fix(map) {
        return None;
    }
    let mut joined = Map::new();
    let mut first = None;
    for (key, value) in map.iter().filter(|(key, _)| PLACES.contains(&key.as_str())) {
        first.get_or_insert(key);
        allowance.take(bytes_of(value)).then_some(())?;
        for (name, parameter) in value.as_object()? {
            if joined.insert(name.clone(), parameter.clone()).is_some() {
                return None;
            }
        }
    }
    let first = first?;
    let mut joined = Some(Value::Object(joined));
    let members = map.iter().filter_map(|(key, value)| match key {
        key if key == first => Some(("parameters".to_owned(), joined.take()?)),
        key if PLACES.contains(&key.as_str()) => None,
        _ => Some((key.clone(), value.clone())),
    });
    Some(members.collect())
}

/// The key of the one schema with properties that a function without parameters holds, whatever word it has.
fn only_schema(map: &Map<String, Value>) -> Option<&str> {
    if holds_parameters(map) || map.contains_key("properties") || !is_named(map) {
        return None;
    }
    let is_schema = |value: &Value| {
        let is_object = value.get("type").is_none_or(|kind| *kind == "object" || *kind == "dict");
        is_object && value.get("properties").is_some_and(Value::is_object)
    };
    let is_about_answers = |key: &str| {
        let key = key.to_ascii_lowercase();
        ABOUT_ANSWERS.iter().any(|word| key.contains(word))
    };
    let mut found = map.iter().filter(|(key, value)| !is_about_answers(key) && is_schema(value));
    match (found.next(), found.next()) {
        (Some((key, _)), None) => Some(key),
        _ => None,
    }
}

/// The function around a schema that stands in its place, as pydantic prints a class: the title is its name.
fn schema_as_function(map: &Map<String, Value>, allowance: &Allowance) -> Option<Map<String, Value>> {
    let properties = map.get("properties")?.as_object().filter(|_| !holds_parameters(map))?;
    let name = map.get("name").or_else(|| map.get("title")).filter(|name| can_be("name", name))?;
    // The form of a call, which prompts print beside their tools, is no function.
    if properties.len() == 2 && ["name", "arguments"].iter().all(|key| properties.contains_key(*key)) {
        return None;
    }
    let n_bytes: usize = map.values().map(bytes_of).sum();
    allowance.take(n_bytes).then_some(())?;
    let mut function = Map::new();
    function.insert("name".to_owned(), name.clone());
    let is_part = |key: &str| SCHEMA_PARTS.contains(&key);
    let others = map.iter().filter(|(key, _)| !is_part(key) && *key != "name" && *key != "title");
    function.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    let parts = map.iter().filter(|(key, _)| is_part(key)).map(|(key, value)| (key.clone(), value.clone()));
    let is_frame = |(key, value): &(String, Value)| key == "type" && value == "function";
    function.insert("parameters".to_owned(), Value::Object(parts.filter(|part| !is_frame(part)).collect()));
    Some(function)
}

/// Takes off the one object that some put around the schema.
fn unframe_schema(map: &mut Map<String, Value>) {
    if let Some(Value::Object(schema)) = map.get_mut("parameters")
        && schema.len() == 1
        && let Some(key) = SCHEMA_HOLDERS.iter().find(|key| schema.get(**key).is_some_and(Value::is_object))
    {
        let inner = schema.shift_remove(*key).unwrap_or_default();
        map.insert("parameters".to_owned(), inner);
    }
}

/// The object or list that a string holds.
struct Inner {
    value: Value,
    /// Keys that stand twice in one object with different values.
    repeated: Vec<Repeated>,
}

impl Inner {
    /// Reads JSON, or what Python prints.
    fn read(text: &str, allowance: &Allowance) -> Option<Self> {
        if !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        if let Ok(strict) = strict::read_within(text, allowance) {
            return Some(Self { value: strict.value, repeated: strict.repeated });
        }
        let literal =
            python::read_within(text, allowance).ok().filter(|literal| literal.doubtful_joint.is_none())?;
        let is_built = literal.value.is_object() || literal.value.is_array();
        is_built.then_some(Self { value: literal.value, repeated: literal.repeated })
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn listed<'a>(keys: impl Iterator<Item = &'a String>) -> String {
    keys.take(5)
        .map(|key| format!("{:?}", key.chars().take(40).collect::<String>()))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests;
