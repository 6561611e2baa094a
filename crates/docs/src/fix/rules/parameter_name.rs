//! A parameter's name is not an identifier.

use crate::fix::names::{identifier, is_identifier};
use crate::fix::opinion::Opinion;
use crate::fix::renaming::rename_parameters;
use crate::fix::rule::{FixRule, Safety};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/parameter-name",
    what: "A parameter's name is not an identifier.",
    why: "No Python call can use it; invalid characters are replaced by an underscore.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["x-key"], "properties": {
        "x-key": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["año"], "properties": {
        "año": {"type": "integer", "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    rename_parameters(opinion, |name| if is_identifier(name) { None } else { identifier(name) });
}
