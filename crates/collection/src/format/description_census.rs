//! Counts an API description without `docs::spec`: parameters, bodies and schemas, references followed.
//!
//! A key next to a reference has priority over that of its target, parts of `allOf` count as one schema, and a recursive
//! reference counts by its description. Parameters that only authenticate, the headers that the standard excludes, and
//! read-only members of a body are not inputs of a call and not counted.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::census::{Census, Kind};
use crate::reading::text;

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
const EXCLUDED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];
const MEDIA: [&str; 5] =
    ["application/json", "+json", "application/x-www-form-urlencoded", "multipart/form-data", "*/*"];
const COMBINING: [&str; 2] = ["anyOf", "oneOf"];
/// The most references of one chain, and the most levels.
const MAX_HOPS: usize = 16;
/// The most schemas that are counted of one operation; a description that refers to more is counted in part.
const MAX_SCHEMAS: usize = 100_000;
/// The most schemas that are counted of all operations.
const MAX_IN_ALL: usize = 5_000_000;

/// Returns what a description holds.
pub(super) fn count(root: &Map<String, Value>) -> Census {
    let mut counter = Counter {
        root,
        census: Census::default(),
        open: Vec::new(),
        left: Cell::new(0),
        left_in_all: Cell::new(MAX_IN_ALL),
    };
    let info = root.get("info").and_then(Value::as_object);
    let described = info.and_then(|info| text(info, &["description", "summary"])).map(str::trim);
    let title = info.and_then(|info| text(info, &["title"])).unwrap_or_default();
    counter.census.tool(title, described);
    let secrets = secrets(root);
    for (path, item) in root.get("paths").and_then(Value::as_object).into_iter().flatten() {
        let Some(item) = counter.target(item).filter(|_| !path.starts_with("x-")) else { continue };
        for method in METHODS {
            if let Some(operation) = item.get(method).and_then(Value::as_object) {
                counter.operation(path, method, item, operation, &secrets);
            }
        }
    }
    counter.census
}

/// Returns the places and names of parameters that authenticate.
fn secrets(root: &Map<String, Value>) -> BTreeSet<(&str, &str)> {
    let schemes = root.get("securityDefinitions").or_else(|| root.get("components")?.get("securitySchemes"));
    let schemes = schemes.and_then(Value::as_object).into_iter().flat_map(Map::values);
    schemes.filter_map(|scheme| Some((scheme.get("in")?.as_str()?, scheme.get("name")?.as_str()?))).collect()
}

struct Counter<'d> {
    root: &'d Map<String, Value>,
    census: Census,
    /// The references that lead to the current schema.
    open: Vec<&'d str>,
    /// How many more schemas are counted: of this operation, and in all.
    left: Cell<usize>,
    left_in_all: Cell<usize>,
}

impl<'d> Counter<'d> {
    /// Returns false if no more schemas are counted.
    fn may_count(&self) -> bool {
        let [left, left_in_all] =
            [&self.left, &self.left_in_all].map(|left| left.replace(left.get().saturating_sub(1)));
        left > 0 && left_in_all > 0
    }

    fn at(&self, reference: &str) -> Option<&'d Value> {
        let (first, rest) = reference.strip_prefix("#/")?.split_once('/')?;
        self.root.get(first)?.pointer(&format!("/{rest}"))
    }

    fn target(&self, value: &'d Value) -> Option<&'d Map<String, Value>> {
        let mut map = value.as_object()?;
        for _ in 0..MAX_HOPS {
            match map.get("$ref").and_then(Value::as_str) {
                Some(reference) => map = self.at(reference)?.as_object()?,
                None => return Some(map),
            }
        }
        None
    }

    fn operation(
        &mut self,
        path: &str,
        method: &str,
        item: &'d Map<String, Value>,
        operation: &'d Map<String, Value>,
        secrets: &BTreeSet<(&str, &str)>,
    ) {
        self.left.set(MAX_SCHEMAS);
        let of_path = || {
            let words = path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
        };
        let name = text(operation, &["operationId"]).map_or_else(of_path, str::to_owned);
        let keys = ["description", "summary"];
        self.census.function(&name, text(operation, &keys).or_else(|| text(item, &keys)));
        let mut inputs: Vec<&'d Map<String, Value>> = Vec::new();
        let place = |map: &Map<String, Value>| (map.get("in").cloned(), map.get("name").cloned());
        for list in [item, operation].map(|map| map.get("parameters").and_then(Value::as_array)) {
            for input in list.into_iter().flatten().filter_map(|value| self.target(value)) {
                inputs.retain(|earlier| place(earlier) != place(input));
                inputs.push(input);
            }
        }
        for input in inputs {
            let (place, name) =
                (text(input, &["in"]).unwrap_or_default(), text(input, &["name"]).unwrap_or_default());
            if !secrets.contains(&(place, name)) {
                self.input(place, name, input);
            }
        }
        if let Some(request) = operation.get("requestBody").and_then(|value| self.target(value)) {
            self.request(request);
        }
    }

    fn input(&mut self, place: &str, name: &str, input: &'d Map<String, Value>) {
        let is_version_3 = self.root.contains_key("openapi");
        let is_excluded = is_version_3 && place == "header";
        if is_excluded && EXCLUDED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            return;
        }
        if place == "body" {
            return self.body(input.get("schema"), text(input, &["description"]));
        }
        self.census.parameter();
        let content = || input.get("content")?.as_object()?.values().next()?.get("schema");
        let example = input.get("example").filter(|_| input.contains_key("schema"));
        match input.get("schema").or_else(content) {
            Some(schema) => self.schema(schema, text(input, &["description"]), example),
            None if is_version_3 => self.census.description(text(input, &["description"])),
            None => self.inside(input, None, None),
        }
    }

    fn request(&mut self, request: &'d Map<String, Value>) {
        let Some(content) = request.get("content").and_then(Value::as_object) else { return };
        let is = |name: &str, kind: &str| {
            let bare = name.split(';').next().unwrap_or_default().trim();
            bare == kind || kind.starts_with('+') && bare.ends_with(kind)
        };
        let preferred = MEDIA.iter().find_map(|kind| content.iter().find(|(name, _)| is(name, kind)));
        if let Some((_, media)) = preferred.or_else(|| content.iter().next()) {
            self.body(media.get("schema"), text(request, &["description"]));
        }
    }

    /// Counts a body: its members as parameters, if it has only members.
    fn body(&mut self, schema: Option<&'d Value>, description: Option<&'d str>) {
        let Some(schema) = schema else {
            self.census.parameter();
            return self.census.description(description);
        };
        let members = self.members(schema);
        let is_combined = COMBINING.iter().any(|key| !self.found(schema, key, 0).is_empty());
        if members.is_empty() || is_combined {
            self.census.parameter();
            return self.schema(schema, description, None);
        }
        let opened = self.enter(schema);
        for (_, member) in members {
            if member.get("readOnly") != Some(&Value::Bool(true)) {
                self.census.parameter();
                self.schema(member, None, None);
            }
        }
        self.open.truncate(opened);
    }

    /// Counts a schema; the description and the example of its parameter have priority over its own.
    fn schema(&mut self, schema: &'d Value, description: Option<&'d str>, example: Option<&'d Value>) {
        let is_repeated = self.references(schema).iter().any(|reference| self.open.contains(reference));
        let opened = self.enter(schema);
        if is_repeated || opened > 2 * MAX_HOPS {
            let own = self.found(schema, "description", 0).first().and_then(|text| text.as_str());
            self.census.description(description.or(own));
        } else if let Value::Object(map) = schema {
            self.inside(map, description, example);
        }
        self.open.truncate(opened);
    }

    fn inside(
        &mut self,
        map: &'d Map<String, Value>,
        description: Option<&'d str>,
        example: Option<&'d Value>,
    ) {
        let first = |key: &str| self.found_in(map, key, 0).into_iter().next();
        let own = || first("description").and_then(Value::as_str);
        let (default, values) = (first("default"), first("enum"));
        let examples = [example.or(first("example")), first("examples")];
        let described = description.or_else(own);
        self.census.description(described);
        if let Some(default) = default {
            self.census.value(Kind::Defaults, default);
        }
        if let Some(values @ Value::Array(_)) = values {
            self.census.value(Kind::Enums, values);
        }
        for example in examples.into_iter().flatten() {
            self.census.value(Kind::Examples, example);
        }
        for (_, member) in self.members_in(map) {
            self.census.parameter();
            self.schema(member, None, None);
        }
        for key in ["items", "additionalProperties", "not", "contains", "anyOf", "oneOf", "prefixItems"] {
            for inner in self.found_in(map, key, 0) {
                match inner {
                    Value::Array(all) => all.iter().for_each(|inner| self.schema(inner, None, None)),
                    inner => self.schema(inner, None, None),
                }
            }
        }
    }

    /// Returns the references of a schema to another, in their order.
    fn references(&self, schema: &'d Value) -> Vec<&'d str> {
        let mut found = Vec::new();
        let mut next = Some(schema);
        while let Some(reference) = next.and_then(|value| value.get("$ref")?.as_str()) {
            if found.contains(&reference) {
                break;
            }
            found.push(reference);
            next = self.at(reference);
        }
        found
    }

    /// Records the references of a schema as open, and returns how many were open before.
    fn enter(&mut self, schema: &'d Value) -> usize {
        let before = self.open.len();
        self.open.extend(self.references(schema));
        before
    }

    fn members(&self, schema: &'d Value) -> Vec<(&'d str, &'d Value)> {
        schema.as_object().map(|map| self.members_in(map)).unwrap_or_default()
    }

    /// Returns the properties of a schema, of its target and of the parts of its `allOf`, each name once.
    fn members_in(&self, map: &'d Map<String, Value>) -> Vec<(&'d str, &'d Value)> {
        let mut names = BTreeSet::new();
        let all = self.found_in(map, "properties", 0).into_iter().filter_map(Value::as_object).flatten();
        all.filter(|(name, _)| names.insert(name.as_str()))
            .map(|(name, value)| (name.as_str(), value))
            .collect()
    }

    fn found(&self, schema: &'d Value, key: &str, hops: usize) -> Vec<&'d Value> {
        schema.as_object().map(|map| self.found_in(map, key, hops)).unwrap_or_default()
    }

    /// Returns the values of a keyword: that of the schema or of its target, and those of the parts of its `allOf`.
    fn found_in(&self, map: &'d Map<String, Value>, key: &str, hops: usize) -> Vec<&'d Value> {
        if hops == MAX_HOPS || !self.may_count() {
            return Vec::new();
        }
        let mut found: Vec<&'d Value> = map.get(key).into_iter().collect();
        if found.is_empty()
            && let Some(target) =
                map.get("$ref").and_then(Value::as_str).and_then(|reference| self.at(reference))
        {
            found = self.found(target, key, hops + 1);
        }
        for part in map.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            found.extend(self.found(part, key, hops + 1));
        }
        found
    }
}
