//! An optional parameter has no default.

use serde_json::Value;

use crate::fix::opinion::Opinion;
use crate::fix::required::each_without_default;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::mentions_default;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/optional-without-default",
    what: "An optional parameter has no default.",
    why: "The recipe requires a default, in its field or in the description. Null means that there is none.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "Page size. Default is 10."}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_without_default(opinion, |schema| (!mentions_default(schema)).then_some(Value::Null));
}
