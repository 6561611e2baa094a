//! The name is a title or the host of an API, and the callable is in another key.

use std::collections::HashSet;

use serde_json::Value;

use crate::fix::called::{self, is_host};
use crate::fix::names::is_function_name;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::renames::Renamed;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_function;

/// The key of the callable.
const CALLABLE: &str = "api_call";

pub(super) static RULE: FixRule = FixRule {
    code: "schema/title-as-name",
    what: "The name is a title or the host of an API, and the callable is in another key.",
    why: "Calls use the callable (`api_call`), so it becomes the name. A chain of calls is reduced to its path \
          (`bells.tower(id).ring(times)` is `bells.tower.ring`), a web request to method and path (`GET /bells` is \
          `get_bells`). Other texts, such as a shell command, are not names.",
    safety: Safety::Safe,
    fires: r#"{"name": "Bell Ringer", "api_call": "bells.ring", "description": "d"}"#,
    quiet: r#"{"name": "Bell Ringer", "api_call": "bells --ring {times}", "description": "d"}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let names = functions.iter().filter_map(|function| function.get("name")?.as_str());
    let mut taken: HashSet<String> = names.map(str::to_owned).collect();
    each_function(functions, |pointer, function| {
        let (Some(before @ Value::String(name)), Some(callable @ Value::String(text))) =
            (function.get("name"), function.get(CALLABLE))
        else {
            return;
        };
        let Some(to) = name_from(name, text, &taken) else { return };
        let at = pointer.trim_start_matches('/').parse().unwrap_or_default();
        let change = Change::at(pointer).replace("name", before, to.as_str()).remove(CALLABLE, callable);
        taken.insert(to.clone());
        opinion.rename(change, vec![Renamed { function: at, parameter: None, to }]);
    });
}

/// Returns the name from the callable: always if it is a name itself, otherwise only in place of a title or a host.
fn name_from(name: &str, callable: &str, taken: &HashSet<String>) -> Option<String> {
    let is_host = is_host(name);
    if !is_function_name(callable) && is_function_name(name) && !is_host {
        return None;
    }
    let to = called::name(callable)?;
    if !taken.contains(&to) {
        return Some(to);
    }
    // A title distinguishes two requests of the same path, a host does not.
    let numbered = (2..=taken.len() + 2).map(|n| format!("{to}_{n}")).find(|to| !taken.contains(to));
    numbered.filter(|_| is_host)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    fn names(records: &[(&str, &str)]) -> Vec<String> {
        let function = |(n, (name, call)): (usize, &(&str, &str))| json!({"name": name, "api_call": call, "description": format!("d{n}")});
        let functions: Vec<_> = records.iter().enumerate().map(function).collect();
        let fixed = fix(&functions, Safety::Safe).functions;
        fixed.iter().map(|function| function["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_name_comes_from_the_call_and_never_from_a_host() {
        assert_eq!(names(&[("bells.com", "GET /bells/{id}")]), ["get_bells_id"]);
        assert_eq!(names(&[("Bells - Ring", "tower.bells().ring(id: str).execute()")]), ["tower.bells.ring"]);
        assert_eq!(names(&[("Bells - Ring", "bells --ring {times}")]), ["Bells_Ring"]);
        assert_eq!(names(&[("ring", "GET /bells")]), ["ring"]);
        assert_eq!(names(&[("ring", "bells.ring")]), ["bells.ring"]);
    }

    #[test]
    fn two_requests_with_the_same_name_stay_separate() {
        assert_eq!(names(&[("a.com", "GET /v1"), ("b.com", "GET /v1/")]), ["get_v1", "get_v1_2"]);
        assert_eq!(names(&[("Ring it", "GET /v1"), ("Toll it", "GET /v1/")]), ["get_v1", "Toll_it"]);
    }
}
