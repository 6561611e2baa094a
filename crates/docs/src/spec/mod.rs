//! Reads functions from API descriptions: `OpenAPI` 3, Swagger 2 and Postman collections.
//!
//! Each operation is one function. All inputs of a call (path, query, header, cookie, body) become its parameters;
//! responses, servers and security do not. Schemas are unchanged, for `fix`, except that references are resolved, as
//! they lead out of the function. Unreadable operations are reported in one fault. [`describe`] also returns the place of
//! each operation and of its parameters, for callers that read more of the description, with [`Resolver`] for its references.

mod body;
mod function;
mod openapi;
mod postman;
mod schema;
mod swagger;

use serde_json::{Map, Value};

use super::parse::fault::{ParseFault, ParseFaultKind};
use super::parse::step::ParseStep;
use callsieve_notation::allowance::{Allowance, ELEMENT_BYTES, bytes_of};
use callsieve_notation::json::strict::{self, Strict};
use function::Function;
pub use schema::Resolver;

/// The key under which collections of tools have an API description as text.
const DOCUMENTATION: &str = "Documentation";

/// The maximum number of unreadable operations that a fault lists.
const MAX_NAMED: usize = 5;

/// A reader of an API description.
type DescriptionReader = fn(&Map<String, Value>, &mut Vec<ParseStep>, &Allowance) -> Read;

/// The readable operations, and the fault with the unreadable ones.
type Read = (Vec<Operation>, Option<ParseFault>);

/// One operation of an API description.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The function: `name`, `description`, and `parameters` with all inputs of a call.
    pub function: Value,
    /// Where the operation is in the description, as a JSON pointer: `/paths/~1bells/get`, `/item/0/item/2`.
    pub at: String,
    /// Where each parameter is in a request, in the order of the parameters.
    pub inputs: Vec<Input>,
    /// The media type of the body, if it has one and it is not JSON.
    pub body_type: Option<String>,
}

/// Where a parameter of a function is in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The name of the parameter of the function.
    pub parameter: String,
    /// The place: `path`, `query`, `header`, `cookie`, `body` or `formData`.
    pub place: String,
    /// The name in the request, which several places may have in common.
    pub name: String,
    /// It is one of several parts of the body, not the whole.
    pub is_member: bool,
}

/// What an API description offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The readable operations, in the order of the description.
    pub operations: Vec<Operation>,
    /// The fault with the unreadable operations.
    pub fault: Option<ParseFault>,
    /// How they were read.
    pub steps: Vec<ParseStep>,
}

/// Returns the operations of an object that is an API description, otherwise `None`.
///
/// An API description as text in another object is not one.
pub fn describe(map: &Map<String, Value>, allowance: &Allowance) -> Option<Description> {
    let mut steps = Vec::new();
    let (operations, fault) = reader(map)?(map, &mut steps, allowance);
    Some(Description { operations, fault, steps })
}

/// Returns the functions of an object that is an API description, otherwise `None`, and the fault with the unreadable
/// operations.
pub(crate) fn functions(
    map: &Map<String, Value>,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Option<(Vec<Value>, Option<ParseFault>)> {
    let (operations, fault) = operations(map, steps, allowance)?;
    Some((operations.into_iter().map(|operation| operation.function).collect(), fault))
}

fn operations(map: &Map<String, Value>, steps: &mut Vec<ParseStep>, allowance: &Allowance) -> Option<Read> {
    if let Some(reader) = reader(map) {
        return Some(reader(map, steps, allowance));
    }
    let text = map.get(DOCUMENTATION)?.as_str()?;
    let Ok(Strict { value: Value::Object(inner), repeated }) = strict::read_within(text, allowance) else {
        return None;
    };
    let reader = reader(&inner)?;
    if let Some(first) = repeated.first() {
        return Some((Vec::new(), Some(ParseFault::repeated(&first.key))));
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
    operations: Vec<Operation>,
    bad: Vec<String>,
    n_more_bad: usize,
    allowance: &'a Allowance,
}

impl<'a> Tally<'a> {
    fn new(allowance: &'a Allowance) -> Self {
        Self { operations: Vec::new(), bad: Vec::new(), n_more_bad: 0, allowance }
    }

    /// Adds a function with its place, or records an unreadable operation; `name` is called only for the latter.
    fn add(
        &mut self,
        name: impl FnOnce() -> String,
        at: impl FnOnce() -> String,
        function: Result<Function, Unreadable>,
    ) {
        match function {
            // Beyond the allowance, the whole text is refused.
            Ok(function) if self.allowance.take(ELEMENT_BYTES + bytes_of(&function.doc)) => {
                let Function { doc: function, inputs, body_type } = function;
                self.operations.push(Operation { function, at: at(), inputs, body_type });
            }
            Ok(_) => {}
            Err(_) if self.bad.len() == MAX_NAMED => self.n_more_bad += 1,
            Err(message) => self.bad.push(format!("{}: {message}", name())),
        }
    }

    /// Returns the functions, and the fault with the unreadable operations.
    fn finish(self) -> Read {
        if self.bad.is_empty() {
            return (self.operations, None);
        }
        let mut message = self.bad.join("; ");
        if self.n_more_bad > 0 {
            message += &format!("; and {} more", self.n_more_bad);
        }
        (self.operations, Some(ParseFault::new(ParseFaultKind::UnreadableOperation, message)))
    }
}

#[cfg(test)]
mod tests;
