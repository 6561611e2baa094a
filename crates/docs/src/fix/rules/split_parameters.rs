//! Required and optional parameters are in separate lists.

use serde_json::{Value, json};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::{OPTIONAL_LIST, REQUIRED_LIST, named_all};
use crate::fix::walk::each_function;
use crate::holders::takes_nothing;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/split-parameters",
    what: "Required and optional parameters are in separate lists.",
    why: "API collections write them like this. The lists are joined, the first one becomes `required`, and its \
          defaults are only examples, so they are removed.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "required_parameters": [{"name": "a", "type": "STRING", "description": "x"}]}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": null}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let list = |key: &str| function.get(key).and_then(Value::as_array);
        let (required, optional) = (list(REQUIRED_LIST), list(OPTIONAL_LIST));
        let parameters = function.get("parameters");
        if !parameters.is_none_or(takes_nothing) || (required.is_none() && optional.is_none()) {
            return;
        }
        let all = required.into_iter().chain(optional).flatten();
        let Some(mut properties) = named_all(all) else { return };
        let names: Vec<_> =
            required.into_iter().flatten().map(|parameter| parameter["name"].clone()).collect();
        for name in names.iter().filter_map(Value::as_str) {
            if let Some(Value::Object(property)) = properties.get_mut(name) {
                property.shift_remove("default");
            }
        }
        let mut change = Change::at(pointer);
        for key in [REQUIRED_LIST, OPTIONAL_LIST] {
            if let Some(before) = function.get(key) {
                change = change.remove(key, before);
            }
        }
        let schema = json!({"type": "dict", "required": names, "properties": properties});
        opinion.change(change.set(function, "parameters", schema));
    });
}
