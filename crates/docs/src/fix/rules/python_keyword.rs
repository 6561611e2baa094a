//! A parameter's name is a keyword of Python.

use crate::fix::names::is_keyword;
use crate::fix::opinion::Opinion;
use crate::fix::renaming::rename_parameters;
use crate::fix::rule::{FixRule, Safety};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/python-keyword",
    what: "A parameter's name is a keyword of Python.",
    why: "No Python call can use it. The name gets an underscore as prefix, as in the official data (`_class`).",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["class"], "properties": {
        "class": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {"class": {"type": "string", "description": "y"}}}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    rename_parameters(opinion, |name| is_keyword(name).then(|| format!("_{name}")));
}
