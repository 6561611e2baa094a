//! The form in which functions are compared: see [`compared`].

use serde_json::Value;

use callsieve_docs::compared;
use callsieve_similarity::overlap::Function;

/// The version of the form and of the readers, raised when their results change; part of resume keys.
pub const VERSION: u32 = 4;

/// Returns a function in the form in which it is compared.
pub fn function(function: &Value) -> Function {
    let compared::ComparedFunction { name, parameters, text } = compared::ComparedFunction::of(function);
    Function { name, parameters, text }
}
