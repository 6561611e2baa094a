//! Reads functions from API descriptions: `OpenAPI` 3, Swagger 2 and Postman collections.
//!
//! Each operation is one function. All inputs of a call (path, query, header, cookie, body) become its parameters;
//! responses, servers and security do not. Schemas are unchanged, for `fix`, except that references are resolved, as
//! they lead out of the function. Unreadable operations are reported in one fault.

mod body;
mod function;
mod openapi;
mod postman;
mod schema;
mod swagger;

use serde_json::{Map, Value};

use super::parse::fault::{Fault, ParseFault};
use super::parse::step::ParseStep;
use callsieve_notation::allowance::{Allowance, ELEMENT_BYTES, bytes_of};
use callsieve_notation::json::strict::{self, Strict};

/// The key under which collections of tools have an API description as text.
const DOCUMENTATION: &str = "Documentation";

/// The maximum number of unreadable operations that a fault lists.
const MAX_NAMED: usize = 5;

/// A reader of an API description.
type DescriptionReader = fn(&Map<String, Value>, &mut Vec<ParseStep>, &Allowance) -> Read;

/// The readable functions, and the fault with the unreadable operations.
pub(crate) type Read = (Vec<Value>, Option<Fault>);

/// Returns the functions of an object that is an API description, otherwise `None`.
pub(crate) fn functions(
    map: &Map<String, Value>,
    steps: &mut Vec<ParseStep>,
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
    note(steps, ParseStep::JsonString);
    Some(reader(&inner, steps, allowance))
}

fn reader(map: &Map<String, Value>) -> Option<DescriptionReader> {
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

/// Records a step once.
fn note(steps: &mut Vec<ParseStep>, step: ParseStep) {
    if !steps.contains(&step) {
        steps.push(step);
    }
}

/// The reason for which an operation is unreadable, as a message.
type Unreadable = String;

/// The operations read so far.
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

    /// Adds a function, or records an unreadable operation; `name` is called only for the latter.
    fn add(&mut self, name: impl FnOnce() -> String, function: Result<Value, Unreadable>) {
        match function {
            // Beyond the allowance, the whole text is refused.
            Ok(function) if self.allowance.take(ELEMENT_BYTES + bytes_of(&function)) => {
                self.functions.push(function);
            }
            Ok(_) => {}
            Err(_) if self.bad.len() == MAX_NAMED => self.n_more_bad += 1,
            Err(message) => self.bad.push(format!("{}: {message}", name())),
        }
    }

    /// Returns the functions, and the fault with the unreadable operations.
    fn finish(self) -> Read {
        if self.bad.is_empty() {
            return (self.functions, None);
        }
        let mut message = self.bad.join("; ");
        if self.n_more_bad > 0 {
            message += &format!("; and {} more", self.n_more_bad);
        }
        (self.functions, Some(Fault::new(ParseFault::UnreadableOperation, message)))
    }
}

#[cfg(test)]
mod tests;
