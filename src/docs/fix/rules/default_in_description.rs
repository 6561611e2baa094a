//! The default of an optional parameter is a note in its description.

use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::names;
use crate::docs::fix::walk::{Place, each_schema};
use crate::docs::fix::wording::default::noted;
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/default-in-description",
    what: "The default of an optional parameter is a note in its description.",
    why: "`(default: 10)` and `Default: 10.` name a default, which belongs into its field; the description stays. Only \
          a literal of the parameter's type is taken. A sentence (`Default is 10.`) is how BFCL itself states one, and \
          stays alone.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "Page size (default: 10)"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "Page size. Default: as many as fit."}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let mut required = None;
    each_schema(opinion.functions, |site, schema| match site.place {
        Place::Parameters => required = names(schema),
        Place::Parameter(name) => {
            let is_optional = required.as_ref().is_some_and(|required| !required.contains(name));
            if let Some(value) = noted(schema).filter(|_| is_optional && !schema.contains_key("default")) {
                opinion.change(Change::at(site.pointer).add("default", value));
            }
        }
        Place::Member(_) | Place::Items => {}
    });
}
