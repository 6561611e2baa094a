//! `parameters` has no list of required parameters.

use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::{REQUIRED, with_required};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_parameters;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/missing-required",
    what: "`parameters` has no list of required parameters.",
    why: "In JSON Schema this means that none are required, and BFCL writes the empty list. Parameters with marks of \
          their own are added to it.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        if !schema.contains_key(REQUIRED) {
            opinion.change(with_required(Change::at(site.pointer), schema, Vec::new()));
        }
    });
}
