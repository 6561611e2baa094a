//! A collection: the tools of several sources, each function once, with legal names.
//!
//! Sources are joined in the order of their names, so the result does not depend on the order in which they were read.
//! Tools with equal category, collection, name and host are one. Functions of one tool are one if their requests and docs
//! are equal; a schema of the response that only one of them has is kept. Schemas of responses that came without their
//! functions are attached by the standard form of names.

use std::collections::BTreeMap;

use callsieve_text::content_hash::content_hash;
use serde::Serialize;

use crate::counts::Counts;
use crate::fault::{FaultKind, ReadFault};
use crate::names::{self, NameEntry};
use crate::read::Read;
use crate::tool::{Api, LooseResponse, Tool};

/// The tools of several sources.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Collection {
    /// The tools, in the order of their sources.
    pub tools: Vec<Tool>,
    /// The legal name of every function, in the order of the tools.
    pub names: Vec<NameEntry>,
    /// What could not be read.
    pub faults: Vec<ReadFault>,
    /// The counts of all sources.
    pub counts: Counts,
    /// Functions that were equal to one of another source.
    pub merged_functions: usize,
    /// Schemas of responses that were attached to functions.
    pub attached_responses: usize,
}

/// What makes a tool another one.
type ToolKey = (Option<String>, Option<String>, String, Option<String>);

impl Collection {
    /// Joins what was read from sources.
    pub fn of(mut reads: Vec<Read>) -> Self {
        reads.sort_by(|a, b| a.source.cmp(&b.source));
        let mut collection = Self::default();
        let mut joined = Joined::default();
        let mut responses = Vec::new();
        for read in reads {
            collection.counts += &read.counts;
            collection.faults.extend(read.faults);
            responses.extend(read.responses);
            for tool in read.tools {
                collection.merged_functions += joined.add(tool, &mut collection.tools);
            }
        }
        collection.attach(responses);
        collection.names = names::assign(&mut collection.tools);
        collection
    }

    /// Returns the number of functions.
    pub fn n_functions(&self) -> usize {
        self.tools.iter().map(|tool| tool.functions.len()).sum()
    }

    /// Adds schemas of responses to the functions of the tools that their files name.
    fn attach(&mut self, responses: Vec<LooseResponse>) {
        let mut at: BTreeMap<(String, String), Vec<(usize, usize)>> = BTreeMap::new();
        for (index, tool) in self.tools.iter().enumerate() {
            for (function, api) in tool.functions.iter().enumerate() {
                let key = (standard_form(&tool.name), standard_form(&api.original_name));
                at.entry(key).or_default().push((index, function));
            }
        }
        for response in responses {
            let key = (standard_form(&response.tool), standard_form(&response.function));
            let is_same = |tool: &Tool| {
                let categories = [&tool.category, &response.category].map(Option::as_deref);
                let [ours, theirs] = categories.map(|name| name.map(standard_form));
                ours.is_none() || theirs.is_none() || ours == theirs
            };
            let mut n_attached = 0;
            for (tool, function) in at.get(&key).into_iter().flatten() {
                if is_same(&self.tools[*tool]) {
                    self.tools[*tool].functions[*function]
                        .response
                        .get_or_insert_with(|| response.response.clone());
                    n_attached += 1;
                }
            }
            if n_attached > 0 {
                self.attached_responses += 1;
            } else {
                let message = format!("no function {:?} of a tool {:?}", response.function, response.tool);
                self.faults.push(ReadFault {
                    origin: response.origin,
                    kind: FaultKind::LooseResponse,
                    message,
                });
            }
        }
    }
}

/// Where the tools and functions of the earlier sources are.
#[derive(Default)]
struct Joined {
    tools: BTreeMap<ToolKey, usize>,
    functions: BTreeMap<(usize, u128), usize>,
}

impl Joined {
    /// Adds a tool, and returns how many of its functions are known. Equal functions of one source stay separate.
    fn add(&mut self, tool: Tool, tools: &mut Vec<Tool>) -> usize {
        let key = (tool.category.clone(), tool.collection.clone(), tool.name.clone(), tool.host.clone());
        let at = *self.tools.entry(key).or_insert(tools.len());
        if at == tools.len() {
            tools.push(Tool { functions: Vec::new(), ..tool.clone() });
        }
        let known = &mut tools[at];
        if known.description.is_empty() {
            known.description = tool.description;
        }
        known.title = known.title.take().or(tool.title);
        known.licence = known.licence.take().or(tool.licence);
        let mut n_merged = 0;
        let before = known.functions.len();
        for api in tool.functions {
            let place = *self.functions.entry((at, content(&api))).or_insert(known.functions.len());
            match known.functions.get_mut(place).filter(|_| place < before) {
                Some(earlier) => {
                    earlier.response = earlier.response.take().or(api.response);
                    earlier.example = earlier.example.take().or(api.example);
                    n_merged += 1;
                }
                None => known.functions.push(api),
            }
        }
        n_merged
    }
}

/// Returns a hash of what makes a function another one: its request and its doc, whatever its legal name.
fn content(api: &Api) -> u128 {
    let doc = (api.doc.get("description"), api.doc.get("parameters"));
    let request = (&api.original_name, &api.method, &api.path);
    content_hash(serde_json::to_vec(&(request, doc)).expect("texts and JSON are JSON"))
}

/// Returns a name in the form of ToolBench's files: letters and digits in lower case, `_` between words.
pub(crate) fn standard_form(name: &str) -> String {
    let mut standard = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_alphanumeric() {
            standard.extend(c.to_lowercase());
        } else if !standard.ends_with('_') {
            standard.push('_');
        }
    }
    let standard = standard.trim_matches('_');
    let standard = standard
        .strip_prefix("get_")
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(standard);
    standard.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read::{read_text, read_value};

    fn queries(name: &str, response: Option<&str>) -> Read {
        let mut entry = json!({"category_name": "Music", "tool_name": "3D Bells!", "api_name": "Ring it",
            "api_description": "Rings.", "required_parameters": [], "optional_parameters": [], "method": "GET"});
        if let Some(response) = response {
            entry["template_response"] = json!({"sound": response});
        }
        read_value(name, json!([{"query": "Ring.", "api_list": [entry]}]))
    }

    #[test]
    fn a_function_of_two_files_is_one_with_the_response_of_either() {
        let reads = vec![queries("b", Some("str")), queries("a", None)];
        let collection = Collection::of(reads);
        assert_eq!(
            (collection.tools.len(), collection.n_functions(), collection.merged_functions),
            (1, 1, 1)
        );
        let response = collection.tools[0].functions[0].response.clone().unwrap();
        assert_eq!(response["properties"]["sound"]["type"], "string");
        let reversed = Collection::of(vec![queries("a", None), queries("b", Some("str"))]);
        assert_eq!(reversed, collection);
    }

    #[test]
    fn a_schema_of_a_response_is_attached_by_its_file() {
        let schema = r#"{"api_list": [{"name": "Ring it", "schema": {"sound": "str"}}, {"name": "Stop", "schema": {"a": "int"}}]}"#;
        let reads = vec![queries("a", None), read_text("response_examples/Music/get_3d_bells.json", schema)];
        let collection = Collection::of(reads);
        assert_eq!(collection.attached_responses, 1);
        assert!(collection.tools[0].functions[0].response.is_some());
        let kinds: Vec<_> =
            collection.faults.iter().map(|fault| (fault.kind, fault.origin.at.as_str())).collect();
        assert_eq!(kinds, [(FaultKind::LooseResponse, "/api_list/1")]);
    }
}
