//! The resource that the path of a request names.

use std::collections::BTreeSet;

/// The first parts of paths that name no resource.
const PREFIXES: [&str; 3] = ["api", "rest", "me"];

/// Parts that say how a resource is listed.
const LISTS: [&str; 8] = ["search", "find", "query", "list", "all", "index", "discover", "browse"];

/// Parts that are actions and not resources.
const ACTIONS: [&str; 30] = [
    "activate",
    "approve",
    "archive",
    "authenticate",
    "authorize",
    "cancel",
    "close",
    "complete",
    "confirm",
    "convert",
    "disable",
    "enable",
    "execute",
    "export",
    "import",
    "login",
    "logout",
    "merge",
    "next",
    "open",
    "pause",
    "play",
    "previous",
    "reject",
    "reset",
    "restart",
    "resume",
    "start",
    "stop",
    "validate",
];

/// A path as a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resource {
    /// The name of the table.
    pub(super) name: String,
    /// The variable that names one row, if the path ends in it.
    pub(super) key: Option<String>,
    /// Variables further left, with the tables whose rows they name.
    pub(super) parents: Vec<(String, String)>,
    /// The fixed part before the name, if no variable is between them.
    base: Option<String>,
    /// The last part of a path that selects rows of a table in a way of its own (`/movie/popular`), or is an action.
    pub(super) view: Option<String>,
    /// True if the view is an action.
    pub(super) is_action: bool,
}

impl Resource {
    /// Returns the resource of a path or an address; `None` if it has no fixed part.
    pub(super) fn of_path(path: &str) -> Option<Self> {
        let path = path
            .split_once("://")
            .map_or(path, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let mut names: Vec<(String, Option<String>)> = Vec::new();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let is_prefix = is_prefix(part, names.is_empty());
            match (variable(part), names.last_mut()) {
                (Some(variable), Some((_, key))) if key.is_none() => *key = Some(variable),
                // A variable without a name before it names no row.
                (Some(_), _) => {}
                (None, _) if is_prefix => {}
                (None, _) => names.push((table_name(part), None)),
            }
        }
        let is_list =
            |(name, key): &(String, Option<String>)| key.is_none() && LISTS.contains(&name.as_str());
        let is_only_lists = names.iter().all(is_list);
        names.retain(|name| is_only_lists || !is_list(name));
        let (mut name, mut key) = names.pop()?;
        let mut view = None;
        let is_action = key.is_none() && ACTIONS.contains(&name.as_str());
        if is_action {
            view = Some(name);
            (name, key) = names.pop().unwrap_or_default();
        }
        let base = names.last().filter(|(_, key)| key.is_none()).map(|(name, _)| name.clone());
        let parents = names.into_iter().filter_map(|(table, key)| Some((key?, table))).collect();
        (!name.is_empty()).then_some(Self { name, key, parents, base, view, is_action })
    }

    /// Returns the resource on a table of which other paths name single rows, if its name is a view of that table.
    pub(super) fn on_tables(&self, keyed: &BTreeSet<String>) -> Self {
        let mut resource = self.clone();
        let is_table = |name: &str| keyed.contains(&singular(name));
        let base =
            self.base.clone().filter(|base| is_table(base) && self.key.is_none() && !is_table(&self.name));
        if let Some(base) = base.filter(|_| !self.is_action) {
            resource.view = Some(std::mem::replace(&mut resource.name, base));
        }
        resource
    }

    /// Returns true if the path only says that something is listed.
    pub(super) fn is_only_a_list(&self) -> bool {
        LISTS.contains(&self.name.as_str())
    }
}

/// Returns the tables of which a path names single rows, in the singular.
pub(super) fn keyed(resources: &[Option<Resource>]) -> BTreeSet<String> {
    resources
        .iter()
        .flatten()
        .filter(|resource| resource.key.is_some())
        .map(|resource| singular(&resource.name))
        .collect()
}

/// Returns the name of a variable: `{id}` or `:id`.
fn variable(part: &str) -> Option<String> {
    let inner =
        part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).or_else(|| part.strip_prefix(':'))?;
    Some(inner.to_owned())
}

/// Returns true for a part that names no resource: a version, or a first word such as `api`.
fn is_prefix(part: &str, is_first: bool) -> bool {
    let digits = part.strip_prefix(['v', 'V']).unwrap_or(part);
    let is_version = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_version || is_first && PREFIXES.contains(&part.to_lowercase().as_str())
}

/// Returns a part of a path as the name of a table.
fn table_name(part: &str) -> String {
    let mut name = String::with_capacity(part.len());
    for c in part.chars() {
        if c.is_alphanumeric() {
            name.extend(c.to_lowercase());
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_matches('_').to_owned()
}

/// Returns a name in the singular, roughly: by it, `/pet/{id}` and `/pets` are one table.
pub(super) fn singular(name: &str) -> String {
    let stem = |end: &str, new: &str| {
        name.strip_suffix(end).filter(|stem| stem.len() > 2).map(|stem| format!("{stem}{new}"))
    };
    let sibilant = || {
        ["sses", "xes", "ches", "shes"]
            .iter()
            .find(|end| name.ends_with(**end))
            .map(|_| name[..name.len() - 2].to_owned())
    };
    if name.ends_with("ss") || name.ends_with("us") || name == "series" || name == "news" {
        return name.to_owned();
    }
    stem("ies", "y").or_else(sibilant).or_else(|| stem("s", "")).unwrap_or_else(|| name.to_owned())
}
