//! Visits every schema of every function.
//!
//! Schemas are `parameters`, each value of `properties` and each `items`, at any depth. Excluded are `parameters` in a
//! form that other rules convert first, definitions, and the branches of `anyOf`.

use std::ops::Deref;

use serde_json::{Map, Value};

use super::cues::Cues;
use super::form::is_schema;
use crate::patch::push_token;

/// The list for one rule: all functions, of which the rule visits those with its cues.
#[derive(Debug, Clone, Copy)]
pub(super) struct VisitedDocs<'f> {
    pub(super) functions: &'f [Value],
    /// The cues of each function; `None` for functions unchanged since the last visit.
    pub(super) awake: &'f [Option<Cues>],
    /// The cues of the rule.
    pub(super) wanted: Cues,
}

/// Functions that a walk visits, each with its index in the list.
pub(crate) trait Visited<'f> {
    /// Returns the functions to visit, in order.
    fn visited(self) -> impl Iterator<Item = (usize, &'f Value)>;
}

impl<'f> Visited<'f> for &'f [Value] {
    fn visited(self) -> impl Iterator<Item = (usize, &'f Value)> {
        self.iter().enumerate()
    }
}

impl<'f> Visited<'f> for VisitedDocs<'f> {
    fn visited(self) -> impl Iterator<Item = (usize, &'f Value)> {
        let concerns = move |cues: &Option<Cues>| cues.is_some_and(|cues| cues.meet(self.wanted));
        let all = self.functions.iter().zip(self.awake).enumerate();
        all.filter(move |(_, (_, cues))| concerns(cues)).map(|(n, (function, _))| (n, function))
    }
}

impl Deref for VisitedDocs<'_> {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        self.functions
    }
}

/// The place of a schema in the list.
#[derive(Debug)]
pub(crate) struct Site<'a> {
    /// The index of the function.
    pub(crate) function: usize,
    /// The pointer into the list.
    pub(crate) pointer: &'a str,
    /// What the schema describes.
    pub(crate) place: SchemaPlace<'a>,
}

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaPlace<'a> {
    /// All parameters of a function.
    Parameters,
    /// One parameter, by name.
    Parameter(&'a str),
    /// A member of a dict, by name.
    Member(&'a str),
    /// The elements of an array.
    Items,
}

/// Visits each function that is an object, with its pointer.
pub(crate) fn each_function<'f>(
    functions: impl Visited<'f>,
    mut look: impl FnMut(&str, &'f Map<String, Value>),
) {
    for (n, function) in functions.visited() {
        if let Value::Object(map) = function {
            look(&format!("/{n}"), map);
        }
    }
}

/// Visits the `parameters` of each function.
pub(crate) fn each_parameters<'f>(
    functions: impl Visited<'f>,
    mut look: impl FnMut(&Site<'_>, &'f Map<String, Value>),
) {
    for (function, value) in functions.visited() {
        if let Some(Value::Object(parameters)) = value.get("parameters").filter(|value| is_schema(value)) {
            let pointer = format!("/{function}/parameters");
            look(&Site { function, pointer: &pointer, place: SchemaPlace::Parameters }, parameters);
        }
    }
}

/// Visits every schema, outer ones first.
pub(crate) fn each_schema<'f>(
    functions: impl Visited<'f>,
    mut look: impl FnMut(&Site<'_>, &'f Map<String, Value>),
) {
    each_parameters(functions, |site, parameters| {
        descend(site.function, SchemaPlace::Parameters, parameters, &mut site.pointer.to_owned(), &mut look);
    });
}

fn descend<'f>(
    function: usize,
    place: SchemaPlace<'f>,
    schema: &'f Map<String, Value>,
    pointer: &mut String,
    look: &mut impl FnMut(&Site<'_>, &'f Map<String, Value>),
) {
    look(&Site { function, pointer, place }, schema);
    let length = pointer.len();
    if let Some(Value::Object(members)) = schema.get("properties") {
        for (name, member) in members {
            if let Value::Object(member) = member {
                let inner = if place == SchemaPlace::Parameters {
                    SchemaPlace::Parameter(name)
                } else {
                    SchemaPlace::Member(name)
                };
                pointer.push_str("/properties/");
                push_token(pointer, name);
                descend(function, inner, member, pointer, look);
                pointer.truncate(length);
            }
        }
    }
    if let Some(Value::Object(items)) = schema.get("items") {
        pointer.push_str("/items");
        descend(function, SchemaPlace::Items, items, pointer, look);
        pointer.truncate(length);
    }
}
