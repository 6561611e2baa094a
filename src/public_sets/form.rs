//! The form in which functions are compared: see [`compared`].

use serde_json::Value;

use crate::docs::compared;
use crate::similarity::overlap::Function;

/// Raised when the form changes or a reader reads otherwise: whoever compares puts it into a resume key.
pub const VERSION: u32 = 2;

/// A function in the form in which it is compared.
pub fn function(function: &Value) -> Function {
    of(&compared::Function::of(function))
}

/// What the comparison with sets needs of that form.
pub fn of(form: &compared::Function) -> Function {
    Function {
        name: form.name.clone(),
        parameters: form.parameters.clone(),
        // Texts of functions are compared as those of lists of one.
        text: format!("[{}]", form.text),
    }
}
