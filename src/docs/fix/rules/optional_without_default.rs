//! A parameter may be left out, and nothing says what is taken then.

use serde_json::Value;

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::names;
use crate::docs::fix::values::mentions_default;
use crate::docs::fix::walk::{Place, each_schema};
use crate::docs::fix::{Rule, Safety};

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
    let mut required = None;
    each_schema(opinion.functions, |site, schema| match site.place {
        Place::Parameters => required = names(schema),
        Place::Parameter(name) => {
            let is_optional = required.as_ref().is_some_and(|required| !required.contains(name));
            if is_optional && !schema.contains_key("default") && !mentions_default(schema) {
                opinion.change(Change::at(site.pointer).add("default", Value::Null));
            }
        }
        Place::Member(_) | Place::Items => {}
    });
}
