//! What a format has read so far, and the pieces that formats share: texts of records, functions, faults.

use callsieve_notation::MAX_DEPTH;
use callsieve_notation::levels::{MAX_KEPT, is_within};
use serde_json::{Map, Value};

use crate::document::{Source, fault};
use crate::fault::{FaultKind, ReadFault};
use crate::tool::{Api, LooseResponse, Tool};

/// The tools and faults of one source.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) source: Source,
    pub(crate) tools: Vec<Tool>,
    pub(crate) responses: Vec<LooseResponse>,
    pub(crate) faults: Vec<ReadFault>,
}

impl Reading {
    pub(crate) fn of(source: Source) -> Self {
        Self { source, ..Self::default() }
    }

    pub(crate) fn fault(&mut self, at: &str, kind: FaultKind, message: impl Into<String>) {
        self.faults.push(fault(&self.source, at, kind, message));
    }

    /// Adds a function to a tool, unless it is too deep to be stored.
    pub(crate) fn add(&mut self, tool: &mut Tool, mut api: Api) {
        let is_deep = api.doc.values().any(|value| !is_within(value, MAX_KEPT - 2));
        if is_deep {
            let message = format!("function {:?} is nested too deep", cut(&api.original_name));
            return self.fault(&api.origin.at.clone(), FaultKind::TooDeep, message);
        }
        // A response is not needed to call the function.
        api.response = api.response.filter(|response| is_within(response, MAX_DEPTH));
        tool.functions.push(api);
    }

    /// Returns the name of a record; a missing or blank one is a fault.
    pub(crate) fn name<'v>(
        &mut self,
        map: &'v Map<String, Value>,
        keys: &[&str],
        at: &str,
    ) -> Option<&'v str> {
        let name = text(map, keys);
        if name.is_none() {
            let found: Vec<String> = map.keys().take(5).map(|key| format!("{:?}", cut(key))).collect();
            let message = format!("expected {}, found {}", keys[0], found.join(", "));
            self.fault(at, FaultKind::MissingName, message);
        }
        name
    }

    /// Returns a record as an object; anything else is a fault.
    pub(crate) fn object<'v>(&mut self, value: &'v Value, at: &str) -> Option<&'v Map<String, Value>> {
        let map = value.as_object();
        if map.is_none() {
            self.fault(at, FaultKind::NotAFunction, "expected an object");
        }
        map
    }
}

/// Returns the first of several keys whose value is a text that is not blank.
pub(crate) fn text<'v>(map: &'v Map<String, Value>, keys: &[&str]) -> Option<&'v str> {
    keys.iter().filter_map(|key| map.get(*key)?.as_str()).find(|text| !text.trim().is_empty())
}

/// Returns the first of several keys whose value is a text that is not blank, as an owned text.
pub(crate) fn owned(map: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    text(map, keys).map(|text| text.trim().to_owned())
}

/// Returns the first of several keys with a value other than null.
pub(crate) fn value<'v>(map: &'v Map<String, Value>, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().filter_map(|key| map.get(*key)).find(|value| !value.is_null())
}

/// Returns the start of a text for a message.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
