//! What a function does, by its method and the resource of its path.

use super::resource::{Resource, keyed};
use super::{LeftOut, Operation};
use crate::tool::{Api, Tool};

/// A function with its operation.
pub(super) struct Plan<'t> {
    pub(super) api: &'t Api,
    pub(super) resource: Resource,
    pub(super) operation: Operation,
    pub(super) notes: Vec<String>,
}

/// Returns the functions with an operation, and the others.
pub(super) fn plans(tool: &Tool) -> (Vec<Plan<'_>>, Vec<LeftOut>) {
    let of_path = |api: &Api| api.path.as_deref().and_then(Resource::of_path);
    let resources: Vec<Option<Resource>> = tool.functions.iter().map(of_path).collect();
    let keyed = keyed(&resources);
    let mut plans = Vec::new();
    let mut left_out = Vec::new();
    for (api, resource) in tool.functions.iter().zip(resources) {
        match planned(api, resource.map(|resource| resource.on_tables(&keyed))) {
            Ok(plan) => plans.push(plan),
            Err(why) => left_out.push(LeftOut { name: api.name.clone(), why }),
        }
    }
    (plans, left_out)
}

fn planned(api: &Api, resource: Option<Resource>) -> Result<Plan<'_>, String> {
    let resource = resource.ok_or("its path names no resource")?;
    if let (true, Some(action)) = (resource.is_action, &resource.view) {
        return Err(format!("{action:?} is an action, whose effect the description does not show"));
    }
    if resource.is_only_a_list() {
        return Err(format!("{:?} names no table", resource.name));
    }
    let has_key = resource.key.is_some();
    let mut notes = Vec::new();
    let operation = match api.method.as_deref().unwrap_or("GET") {
        "GET" if has_key => Operation::Read,
        "GET" => Operation::Find,
        "POST" if !has_key => Operation::Insert,
        "POST" => {
            notes.push("a POST to a row is taken as an update".to_owned());
            Operation::Update
        }
        "PUT" | "PATCH" => Operation::Update,
        "DELETE" => Operation::Delete,
        other => return Err(format!("the method {other} does nothing to a table")),
    };
    if matches!(operation, Operation::Update | Operation::Delete) && !has_key {
        notes.push("the path has no key: the rows are those that match the filters".to_owned());
    }
    if let Some(view) = &resource.view {
        notes.push(format!("the rows are those that the service calls {view:?}"));
    }
    Ok(Plan { api, resource, operation, notes })
}
