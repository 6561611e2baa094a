//! Maps from names to prose about functions, with the parameters as JSON in a separate line.
//!
//! ```text
//! "Rings a bell.\nParameters: {\"times\": \"Required. integer. How often.\"}\nOutput: A sound."
//! ```
//!
//! `fix` reads the type and the optionality from the text of each parameter.

use serde_json::{Map, Value, json};

use callsieve_notation::allowance::Allowance;
use callsieve_notation::json::strict;
use callsieve_notation::repeated::Repeated;

/// The key of such a map.
const KEY: &str = "Function_Description";
const PARAMETERS: &str = "Parameters:";
const OUTPUT: &str = "\nOutput:";

/// Returns the functions of the map, if the object has one and each text can be read, and the repeated keys in them.
pub(super) fn functions(
    map: &Map<String, Value>,
    allowance: &Allowance,
) -> Option<(Vec<Value>, Vec<Repeated>)> {
    let mut repeated = Vec::new();
    let texts = map.get(KEY)?.as_object()?;
    // Schemas shared by several results are also in the map and have no parameters.
    let functions =
        texts.iter().filter(|(_, text)| text.as_str().is_none_or(|text| text.contains(PARAMETERS)));
    let read: Option<Vec<Value>> =
        functions.map(|(name, text)| function(name, text.as_str()?, &mut repeated, allowance)).collect();
    Some((read?, repeated))
}

/// Returns the text before the line of the parameters, and the rest of that line after its first word.
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
    fn a_text_has_description_and_parameters() {
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
    fn a_map_with_an_unreadable_text_is_refused() {
        let record = json!({KEY: {"ring": "Rings.\nParameters: {times\nOutput: -"}});
        assert_eq!(functions(record.as_object().unwrap(), &Allowance::of("")), None);
    }
}
