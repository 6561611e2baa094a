//! Maps from names to prose about functions, with the parameters as JSON in a line of their own.
//!
//! ```text
//! "Rings a bell.\nParameters: {\"times\": \"Required. integer. How often.\"}\nOutput: A sound."
//! ```
//!
//! What each parameter's text says of its type and whether it is required is for `fix`.

use serde_json::{Map, Value, json};

use crate::allowance::Allowance;
use crate::notation::json::strict;
use crate::notation::repeated::Repeated;

/// The key under which such a map stands.
const KEY: &str = "Function_Description";
const PARAMETERS: &str = "Parameters:";
const OUTPUT: &str = "\nOutput:";

/// The functions of the map, if the object has one and each text in it can be read, and the keys that stand twice there.
pub(super) fn functions(
    map: &Map<String, Value>,
    allowance: &Allowance,
) -> Option<(Vec<Value>, Vec<Repeated>)> {
    let mut repeated = Vec::new();
    let texts = map.get(KEY)?.as_object()?;
    // Schemas that several results share stand in the map too, and tell of no parameters.
    let functions =
        texts.iter().filter(|(_, text)| text.as_str().is_none_or(|text| text.contains(PARAMETERS)));
    let read: Option<Vec<Value>> =
        functions.map(|(name, text)| function(name, text.as_str()?, &mut repeated, allowance)).collect();
    Some((read?, repeated))
}

/// What stands before the line of the parameters, and behind its first word.
fn cut(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix(PARAMETERS) {
        return Some(("", rest));
    }
    let at = text.match_indices(PARAMETERS).map(|(at, _)| at).find(|at| text[..*at].ends_with('\n'))?;
    Some((&text[..at - 1], &text[at + PARAMETERS.len()..]))
}

fn function(name: &str, text: &str, repeated: &mut Vec<Repeated>, allowance: &Allowance) -> Option<Value> {
    let (description, rest) = cut(text)?;
    let (parameters, output) = rest.split_once(OUTPUT).unwrap_or((rest, ""));
    let read = strict::read_within(parameters, allowance).ok().filter(|read| read.value.is_object())?;
    repeated.extend(read.repeated);
    let parameters = read.value;
    Some(json!({"name": name, "description": description, "parameters": parameters, "output": output.trim()}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gives_description_and_parameters() {
        let text =
            "Rings a bell.\nParameters: {\"times\": \"Required. integer. How often.\"}\nOutput: A sound.";
        let record = json!({KEY: {"ring": text, "components": "- Bell: Object{size}"}});
        let expected = json!({"name": "ring", "description": "Rings a bell.",
            "parameters": {"times": "Required. integer. How often."}, "output": "A sound."});
        assert_eq!(
            functions(record.as_object().unwrap(), &Allowance::of("")),
            Some((vec![expected], Vec::new()))
        );
    }

    #[test]
    fn one_text_that_cannot_be_read_is_no_map() {
        let record = json!({KEY: {"ring": "Rings.\nParameters: {times\nOutput: -"}});
        assert_eq!(functions(record.as_object().unwrap(), &Allowance::of("")), None);
    }
}
