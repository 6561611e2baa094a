//! The form in which functions are compared: see [`compared`].

use serde_json::Value;

use crate::docs::compared;
use crate::similarity::overlap::Function;

/// Raised when the form changes or a reader reads otherwise: whoever compares puts it into a resume key.
pub const VERSION: u32 = 2;

/// A function in the form in which it is compared.
pub fn function(function: &Value) -> Function {
    let compared::ComparedFunction { name, parameters, text } = compared::ComparedFunction::of(function);
    Function { name, parameters, text }
}
