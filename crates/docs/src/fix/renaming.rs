//! Renames parameters, in the properties and in the list of required ones.
//!
//! Every new name is also a `Renamed`, which is applied to recorded calls. If the new name already exists, nothing is
//! renamed and `illegal_name` reports it.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::opinion::{Change, Opinion};
use super::renames::Renamed;
use super::walk::each_parameters;
use crate::patch::token;

/// Renames the parameters for which `to` returns a name, in the properties and in the list of required ones.
pub(super) fn rename_parameters(opinion: &mut Opinion<'_>, to: impl Fn(&str) -> Option<String>) {
    each_parameters(opinion.functions, |site, schema| {
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        let places = places_in_required(schema);
        let mut taken: HashSet<_> = properties.keys().cloned().collect();
        for (name, property) in properties {
            let Some(new) = to(name).filter(|new| taken.insert(new.clone())) else { continue };
            let change = Change::at(site.pointer);
            let change = change.rename(&inside(name), property, &inside(&new));
            let listed = places.get(name.as_str()).into_iter().flatten();
            let change = listed
                .fold(change, |change, n| change.replace(&format!("required/{n}"), &json!(name), json!(new)));
            let renamed = Renamed { function: site.function, parameter: Some(name.clone()), to: new };
            opinion.rename(change, vec![renamed]);
        }
    });
}

/// Returns the places of each name in the list of required ones.
fn places_in_required(schema: &Map<String, Value>) -> HashMap<&str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().enumerate();
    for (n, name) in required.filter_map(|(n, name)| Some((n, name.as_str()?))) {
        places.entry(name).or_default().push(n);
    }
    places
}

fn inside(name: &str) -> String {
    format!("properties/{}", token(name))
}
