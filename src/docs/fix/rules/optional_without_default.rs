//! A parameter may be left out, and nothing says what is taken then.

use serde_json::Value;

use crate::docs::fix::opinion::Opinion;
use crate::docs::fix::required::each_without_default;
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::values::mentions_default;

pub(super) static RULE: Rule = Rule {
    code: "schema/optional-without-default",
    what: "A parameter may be left out, and nothing says what is taken then.",
    why: "The recipe wants a default, in its field or in the description. Null says that there is none.",
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
