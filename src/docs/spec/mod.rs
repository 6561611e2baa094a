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
use crate::allowance::{Allowance, ELEMENT_BYTES, bytes_of};
use crate::notation::json::strict::{self, Strict};

/// A key under which collections of tools keep an API description as text.
const DOCUMENTATION: &str = "Documentation";

/// How many bad operations a fault names.
const MAX_NAMED: usize = 5;

/// What a reader makes of an API description.
type Reader = fn(&Map<String, Value>, &mut Vec<Step>, &Allowance) -> Read;

/// The functions that can be read, and the fault that names the operations which cannot.
pub(crate) type Read = (Vec<Value>, Option<Fault>);

/// The functions of an object that is an API description, and nothing where it is something else.
pub(crate) fn functions(
    map: &Map<String, Value>,
    steps: &mut Vec<Step>,
    allowance: &Allowance,
) -> Option<Read> {
    if let Some(reader) = reader(map) {
        return Some(reader(map, steps, allowance));
    }
    let text = map.get(DOCUMENTATION)?.as_str()?;
    let Ok(Strict { value: Value::Object(inner), repeated }) = strict::read_within(text, allowance) else {
        return None;
    };
    let reader = reader(&inner)?;
    if let Some(first) = repeated.first() {
        return Some((Vec::new(), Some(Fault::repeated(&first.key))));
    }
    note(steps, Step::JsonString);
    Some(reader(&inner, steps, allowance))
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

/// What came of the operations so far.
struct Tally<'a> {
    functions: Vec<Value>,
    bad: Vec<String>,
    n_more_bad: usize,
    allowance: &'a Allowance,
}

impl<'a> Tally<'a> {
    fn new(allowance: &'a Allowance) -> Self {
        Self { functions: Vec::new(), bad: Vec::new(), n_more_bad: 0, allowance }
    }

    /// Takes a function, or notes the operation that is none; `name` is asked only then.
    fn add(&mut self, name: impl FnOnce() -> String, function: Result<Value, Unreadable>) {
        match function {
            // Where there is no room, the text is refused as a whole.
            Ok(function) if self.allowance.take(ELEMENT_BYTES + bytes_of(&function)) => {
                self.functions.push(function);
            }
            Ok(_) => {}
            Err(_) if self.bad.len() == MAX_NAMED => self.n_more_bad += 1,
            Err(message) => self.bad.push(format!("{}: {message}", name())),
        }
    }

    /// The functions, and the fault that names the operations which are none.
    fn finish(self) -> Read {
        if self.bad.is_empty() {
            return (self.functions, None);
        }
        let mut message = self.bad.join("; ");
        if self.n_more_bad > 0 {
            message += &format!("; and {} more", self.n_more_bad);
        }
        (self.functions, Some(Fault::new(ParseFault::Operation, message)))
    }
}

#[cfg(test)]
mod tests;
