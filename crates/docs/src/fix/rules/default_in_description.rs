//! The default of an optional parameter is a note in its description.

use crate::fix::opinion::Opinion;
use crate::fix::required::each_without_default;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::wording::default::noted;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/default-in-description",
    what: "The default of an optional parameter is a note in its description.",
    why: "`(default: 10)` and `Default: 10.` state a default, which is copied to its field; the description is \
          unchanged. Only a literal of the parameter's type is copied. A sentence (`Default is 10.`) is BFCL's own \
          way to state a default and is enough.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "Page size (default: 10)"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "Page size. Default: as many as fit."}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_without_default(opinion, noted);
}
