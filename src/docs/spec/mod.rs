//! Functions out of API descriptions: `OpenAPI` 3, Swagger 2 and Postman collections.
//!
//! One function an operation. What a call may give (path, query, header, cookie, body)
//! becomes its parameters; answers, servers and security do not. Schemas stay as they
//! were sent, for `fix`, but for references, which lead out of the function and are put
//! in place. Operations that cannot be read are named by a fault beside the others.

mod body;
mod function;
mod openapi;
mod postman;
mod schema;
mod swagger;

use serde_json::{Map, Value};

use super::parse::fault::{Fault, ParseFault};
use super::parse::step::Step;
use super::parse::strict::{self, Strict};

/// A key under which collections of tools keep an API description as text.
const DOCUMENTATION: &str = "Documentation";

/// How many bad operations a fault names.
const MAX_NAMED: usize = 5;

/// What a reader makes of an API description.
type Reader = fn(&Map<String, Value>, &mut Vec<Step>) -> Read;

/// The functions that can be read, and the fault that names the operations which cannot.
pub(crate) type Read = (Vec<Value>, Option<Fault>);

/// The functions of an object that is an API description, and nothing where it is something else.
pub(crate) fn functions(map: &Map<String, Value>, steps: &mut Vec<Step>) -> Option<Read> {
    if let Some(reader) = reader(map) {
        return Some(reader(map, steps));
    }
    let text = map.get(DOCUMENTATION)?.as_str()?;
    let Ok(Strict { value: Value::Object(inner), repeated }) = strict::read(text) else { return None };
    let reader = reader(&inner)?;
    if let Some(first) = repeated.first() {
        return Some((Vec::new(), Some(Fault::repeated(&first.key))));
    }
    note(steps, Step::JsonString);
    Some(reader(&inner, steps))
}

fn reader(map: &Map<String, Value>) -> Option<Reader> {
    if openapi::is_one(map) {
        Some(openapi::functions)
    } else if swagger::is_one(map) {
        Some(swagger::functions)
    } else if postman::is_one(map) {
        Some(postman::functions)
    } else {
        None
    }
}

/// Takes note of a step once.
fn note(steps: &mut Vec<Step>, step: Step) {
    if !steps.contains(&step) {
        steps.push(step);
    }
}

/// Why one operation cannot be read, for people.
type Unreadable = String;

/// The functions, and the fault that names the operations which are none.
fn with_fault(read: impl Iterator<Item = (String, Result<Value, Unreadable>)>) -> Read {
    let (mut functions, mut bad) = (Vec::new(), Vec::new());
    for (operation, function) in read {
        match function {
            Ok(function) => functions.push(function),
            Err(message) => bad.push(format!("{operation}: {message}")),
        }
    }
    if bad.is_empty() {
        return (functions, None);
    }
    let more = bad.len().saturating_sub(MAX_NAMED);
    let mut message = bad[..bad.len() - more].join("; ");
    if more > 0 {
        message += &format!("; and {more} more");
    }
    (functions, Some(Fault::new(ParseFault::Operation, message)))
}

#[cfg(test)]
mod tests;
